"""Programs that really fail, run and explained: the bus error, the lambda, the killed worker, the hang at the end."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.test_doctor import namespaces

TORCH = importlib.util.find_spec("torch") is not None
REQUIRED = bool(os.environ.get("DLLINT_REQUIRE_TORCH"))
EXPLAIN = (sys.executable, "-m", "dllint", "explain", "--no-cache", "--output-format", "json")
MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fork, signals and /dev/shm"),
    pytest.mark.skipif(not TORCH and not REQUIRED, reason="torch is not installed: pip install torch"),
]


def write(folder: Path, text: str, name: str = "train.py") -> None:
    (folder / name).write_text(dedent(text).lstrip(), encoding="utf-8")


def explained(folder: Path, *inside: str, before: str = "true", script: str = "train.py") -> dict[str, Any]:
    """What `explain --run` makes of the program."""
    command = f"{before} && exec {' '.join(EXPLAIN)} --run -- {sys.executable} {script}"
    done = subprocess.run([*inside, "sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=150)
    begun = done.stderr.find("\n{\n")
    assert begun >= 0, done.stderr
    document: dict[str, Any] = json.loads(done.stderr[begun:])
    return document


def message(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = {one["key"]: one for one in document["messages"]}
    assert key in found, list(found)
    return found[key]


def first(message: dict[str, Any]) -> tuple[str, int, str]:
    """File, row and rule of the likeliest cause."""
    candidate = message["candidates"][0]
    finding = candidate["finding"]
    return Path(candidate["filename"]).name, candidate["location"]["row"], finding["code"] if finding else ""


def test_the_lambda_of_a_vocabulary_under_spawn(tmp_path: Path) -> None:
    """A program that starts its training by `mp.spawn`, and its loader's workers by spawn in there."""
    write(
        tmp_path,
        """
        from collections import defaultdict

        UNK_ID = 1

        class Vocab:
            def load(self, words):
                self.word2id = defaultdict(lambda: UNK_ID)
                self.word2id.update(words)
                return self
        """,
        "vocab.py",
    )
    write(
        tmp_path,
        """
        import torch.multiprocessing as mp
        from torch.utils.data import DataLoader, Dataset

        from vocab import Vocab

        class Words(Dataset):
            def __init__(self):
                self.vocab = Vocab().load({"a": 2})

            def __len__(self):
                return 8

            def __getitem__(self, index):
                return self.vocab.word2id["a"]

        def main_worker(rank):
            for batch in DataLoader(Words(), num_workers=1, multiprocessing_context="spawn"):
                print(batch)

        if __name__ == "__main__":
            mp.spawn(main_worker)
        """,
    )
    document = explained(tmp_path)
    assert document["start_method"] == "spawn"
    one = message(document, "local-object")
    assert one["name"] == "Vocab.load.<locals>.<lambda>"
    assert first(one) == ("vocab.py", 7, "DLL101")
    assert one["candidates"][0]["finding"]["fix"] is not None


BUS = """
    import torch
    from multiprocessing import shared_memory
    from torch.utils.data import DataLoader, Dataset

    class Images(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            {item}

    if __name__ == "__main__":
        for batch in DataLoader(Images(), num_workers=2, batch_size=1):
            pass
    """
TOO_SMALL = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
COMPOSE = "services:\n  trainer:\n    build: .\n    command: python train.py\n"


@pytest.mark.skipif(not namespaces(), reason="needs root and mount namespaces")
def test_a_bus_error_for_want_of_shared_memory(tmp_path: Path) -> None:
    """Memory that nobody has set aside is written to: what torch did with its batches up to 2.0."""
    write(tmp_path, BUS.format(item="""block = shared_memory.SharedMemory(create=True, size=100 << 20)
            block.buf[:] = bytes(100 << 20)"""))  # fmt: skip
    (tmp_path / "compose.yaml").write_text(COMPOSE, encoding="utf-8")
    document = explained(tmp_path, "unshare", "-m", before=TOO_SMALL)
    one = message(document, "bus-error")
    assert one["text"].startswith("ERROR: Unexpected bus error encountered in worker")
    assert one["count"] >= 2, "the worker's line and the exception of the main process"
    assert first(one)[::2] == ("compose.yaml", "DLL502")
    assert one["checks"] == ["doctor"]


@pytest.mark.slow
@pytest.mark.skipif(not namespaces(), reason="needs root and mount namespaces")
def test_no_space_for_a_batch(tmp_path: Path) -> None:
    write(tmp_path, BUS.format(item="return torch.zeros(32 << 18)"))
    document = explained(tmp_path, "unshare", "-m", before=TOO_SMALL)
    one = message(document, "shared-memory-full")
    assert "No space left on device (28)" in one["text"]


OUT_OF_MEMORY = """
    import os
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Rows(Dataset):
        def __init__(self):
            self.kept = {{}}

        def __len__(self):
            return 4000

        def __getitem__(self, index):
            self.kept[index] = bytearray(4 << 20)
            {item}
            return index

    if __name__ == "__main__":
        for batch in DataLoader(Rows(), num_workers=2, batch_size=4):
            pass
    """


def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    """What the main process sees of the OOM killer: SIGKILL, if the worker is a child of its own."""
    write(tmp_path, OUT_OF_MEMORY.format(item="os.kill(os.getpid(), 9) if index == 3 else None"))
    is_child = multiprocessing.get_start_method() != "forkserver"
    one = message(explained(tmp_path), "killed" if is_child else "worker-exited")
    assert first(one) == ("train.py", 13, "DLL204")
    assert one["checks"][0] == "doctor"


@pytest.mark.slow
def test_the_kernel_kills_a_worker_whose_cache_fills_its_control_group(tmp_path: Path) -> None:
    group = MEMORY_GROUPS / f"dllint-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(900 << 20))
    except OSError as error:
        pytest.skip(f"no control groups of version 1: {error}")
    try:
        write(tmp_path, OUT_OF_MEMORY.format(item=""))
        document = explained(tmp_path, before=f"echo $$ > {group}/cgroup.procs")
    finally:
        time.sleep(1)
        group.rmdir()
    one = message(document, "killed")
    assert "killed by signal: Killed" in one["text"]
    assert first(one) == ("train.py", 13, "DLL204")


@pytest.mark.slow
def test_an_interrupted_hang_at_shutdown(tmp_path: Path) -> None:
    """Workers that are busy when their iterator goes: torch waits, and Ctrl-C shows where."""
    write(
        tmp_path,
        """
        import time
        from torch.utils.data import DataLoader, Dataset

        class Slow(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, index):
                time.sleep(120 if index > 1 else 0)
                return index

        def train():
            for batch in DataLoader(Slow(), num_workers=2, batch_size=1):
                print("leaving", flush=True)
                break

        if __name__ == "__main__":
            train()
        """,
    )
    program = subprocess.Popen(
        [*EXPLAIN, "--run", "--", sys.executable, "train.py"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert program.stdout is not None
    assert program.stdout.readline() == "leaving\n"
    time.sleep(2)
    os.killpg(program.pid, signal.SIGINT)
    _, told = program.communicate(timeout=60)
    document = json.loads(told[told.index("\n{\n") :])
    one = message(document, "hang-at-shutdown")
    assert "5 seconds" in one["happened"]


@pytest.mark.slow
def test_a_process_that_is_joined_before_its_queue_is_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        import multiprocessing as mp

        def work(queue):
            queue.put(bytes(8 << 20))

        def main():
            queue = mp.Queue()
            process = mp.Process(target=work, args=(queue,))
            process.start()
            process.join()
            print(len(queue.get()))

        if __name__ == "__main__":
            main()
        """,
    )
    command = [*EXPLAIN, "--timeout", "4", "--run", "--", sys.executable, "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 124
    document = json.loads(done.stderr[done.stderr.index("\n{\n") :])
    assert first(message(document, "did-not-end")) == ("train.py", 10, "DLL405")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_too_many_open_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Zeros(Dataset):
            def __len__(self):
                return 2000

            def __getitem__(self, index):
                return torch.zeros(4)

        if __name__ == "__main__":
            kept = []
            for batch in DataLoader(Zeros(), num_workers=2, batch_size=1):
                kept.append(batch.detach())
        """,
    )
    document = explained(tmp_path, before="ulimit -n 256")
    assert first(message(document, "too-many-open-files")) == ("train.py", 14, "DLL207")
