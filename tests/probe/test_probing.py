"""Loaders on real torch: what `dllint probe` says of good ones, and of those that break in every way they can."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

psutil = pytest.importorskip("psutil")

ROOT = Path(__file__).resolve().parent.parent.parent
REQUIRED = bool(os.environ.get("DLLINT_REQUIRE_TORCH"))
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(os.name != "posix", reason="fork and forkserver exist on Linux and macOS only"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None and not REQUIRED, reason="torch is not installed"),
]
ENV = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "rules"))),
    "OMP_NUM_THREADS": "1",
    "DLLINT_NO_CACHE": "1",
}

DATA = """\
import os
import random
import signal
import threading
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

PAUSE = 2  # a loader does not hear of a worker that dies before its handler of SIGCHLD is installed


class Numbers(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        return torch.full((8,), index)


class Kept(Numbers):
    def __init__(self):
        self.names = [f"images/{number:09d}.png" for number in range(50_000)]
        self.rng = np.random.default_rng(0)
        self.cache = {}

    def __getitem__(self, index):
        self.cache[index] = np.zeros(20_000) + index
        return len(self.names[index]) + self.rng.random()


class Hanging(Numbers):
    def __getitem__(self, index):
        if index == 40:
            threading.Event().wait()
        return index


class Aborting(Numbers):
    def __getitem__(self, index):
        if index == 40:
            time.sleep(PAUSE)
            os.abort()
        return index


class Killed(Numbers):
    def __getitem__(self, index):
        if index == 40:
            time.sleep(PAUSE)
            os.kill(os.getpid(), signal.SIGKILL)
        return index


class Loud(Numbers):
    def __getitem__(self, index):
        print("x" * 5_000_000)
        return index


class Refusing(Numbers):
    def __reduce__(self):
        raise ValueError("not me")


class Unsent(Numbers):
    def __getitem__(self, index):
        return {"number": index, "key": lambda: index}


class Ending(Numbers):
    def __init__(self):
        self.numbers = iter(range(100))

    def __getitem__(self, index):
        return next(self.numbers)


class Everything(IterableDataset):
    def __iter__(self):
        return iter(range(300))


class Seed:
    def __call__(self, worker):
        random.seed(worker)


class Jitter(Numbers):
    def __getitem__(self, index):
        return random.random()


def unsent():
    return DataLoader(Unsent(), num_workers=2, collate_fn=list)


def seeded():
    return DataLoader(Jitter(), num_workers=2, worker_init_fn=Seed(), batch_size=8)


def spawning():
    return DataLoader(Numbers(), num_workers=1, multiprocessing_context="spawn", batch_size=40)


def gives_up():
    raise ValueError("no data here")
"""
WAITS = DATA[: DATA.index("threading.Event().wait()")].count("\n") + 1
HANGS = f"hangs: nothing happened for 5 s, at data.py:{WAITS}"
BOMB = """\
from multiprocessing import Pool


class Numbers:
    def __len__(self):
        return 400

    def __getitem__(self, index):
        return index


with Pool(2) as pool:
    print(pool.map(abs, [1, 2]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dllint.toml").touch()
    (tmp_path / "data.py").write_text(DATA, encoding="utf-8")
    (tmp_path / "bomb.py").write_text(BOMB, encoding="utf-8")
    return tmp_path


def dllint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dllint", *arguments]
    return subprocess.run(command, cwd=folder, env=ENV, capture_output=True, text=True, timeout=500, check=False)


def probe(folder: Path, target: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit status and report."""
    done = dllint(folder, "probe", target, "--scaling", "", "--output-format", "json", *options)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def answer(report: dict[str, Any], question: str, method: str = "fork") -> dict[str, Any]:
    found = next(entry for entry in report["methods"] if entry["name"] == method)
    return next(entry for entry in found["answers"] if entry["question"] == question)


def test_a_dataset_under_fork(folder: Path) -> None:
    status, report = probe(folder, "data:Kept", "--start-method", "fork", "--check")
    assert status == 1
    verdicts = {entry["question"]: entry["verdict"] for entry in report["methods"][0]["answers"]}
    assert verdicts["workers start"] == verdicts["reads"] == verdicts["items come back"] == "ok"
    streams, memory = answer(report, "random streams differ"), answer(report, "memory")
    assert (streams["verdict"], streams["rule"]) == ("fails", "DLL602")
    assert streams["parts"][0]["path"] == "loader.dataset.rng"
    assert (memory["verdict"], memory["rule"]) == ("warns", "DLL204")
    assert memory["parts"][0]["path"] == "loader.dataset.cache"
    assert report["contents"]["holders"][0]["path"] == "loader.dataset.names"
    assert [report["methods"][0][name] for name in ("items", "descriptors")] == [400, 1.0]


def test_a_target_that_is_not_there_is_wrong_usage(folder: Path) -> None:
    done = dllint(folder, "probe", "data:Nothing")
    assert (done.returncode, done.stdout) == (2, "")
    first, last = done.stderr.splitlines()
    assert first.startswith("dllint probe runs code: it imports what data:Nothing names")
    assert last == "error: data:Nothing: data has no attribute 'Nothing'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "method", "question", "words", "rule"),
    [
        ("data:Hanging", "fork", "reads", HANGS, ""),
        ("data:Hanging", "spawn", "reads", HANGS, ""),
        ("data:Aborting", "fork", "reads", "a worker was killed by signal: Aborted", ""),
        ("data:Aborting", "forkserver", "reads", "a worker exited unexpectedly", ""),
        ("data:Killed", "fork", "reads", "a worker was killed by signal: Killed", ""),
        ("data:Killed", "spawn", "reads", "a worker was killed by signal: Killed", ""),
        ("data:Refusing", "spawn", "workers start", "ValueError: not me", ""),
        ("data:unsent", "fork", "items come back", "what workers read does not pickle", "DLL111"),
        ("data:unsent", "spawn", "items come back", "what workers read does not pickle", "DLL111"),
        ("data:Ending", "fork", "reads", "the epoch ended after ", "DLL407"),
        ("data:Everything", "spawn", "workers share the items", "256 of 256 items", "DLL601"),
        ("data:seeded", "forkserver", "random streams differ", "begins the same in every epoch", "DLL606"),
        ("data:gives_up", "fork", "loads", "ValueError: no data here", ""),
        ("bomb.py:Numbers", "spawn", "loads", "stopped: it started ", "DLL301"),
    ],
)
def test_what_breaks_is_told_and_bounded(
    folder: Path, target: str, method: str, question: str, words: str, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENV, "DLLINT_TEST", str(folder))
    status, report = probe(folder, target, "--start-method", method, "--idle", "5")
    found = answer(report, question, method)
    assert status == 1
    assert found["verdict"] == "fails"
    assert found["text"].startswith(words), found
    assert found["rule"] == rule
    assert not [process for process in psutil.process_iter() if environment(process).get("DLLINT_TEST") == str(folder)]


def environment(process: Any) -> dict[str, str]:
    """Of a process that lives and is ours."""
    try:
        return dict(process.environ())
    except (psutil.Error, OSError):
        return {}


@pytest.mark.slow
def test_gigabytes_of_output_are_read_and_dropped(folder: Path) -> None:
    _, report = probe(folder, "data:Loud", "--start-method", "fork", "--items", "320")
    assert report["methods"][0]["printed"] > 1_500_000_000
    assert len(json.dumps(report)) < 100_000
    assert answer(report, "reads")["verdict"] == "ok"


@pytest.mark.slow
def test_a_refusal_to_pickle_is_found_with_its_path(folder: Path) -> None:
    _, report = probe(folder, "data:Refusing", "--start-method", "spawn")
    (part,) = answer(report, "shipped objects pickle", "spawn")["parts"]
    assert (part["path"], part["error"]) == ("loader.dataset", "ValueError: not me")


@pytest.mark.slow
def test_the_loader_says_which_method_is_used(folder: Path) -> None:
    status, report = probe(folder, "data:spawning", "--start-method", "fork", "--start-method", "spawn")
    assert [(entry["name"], entry["used"]) for entry in report["methods"]] == [("fork", False), ("spawn", True)]
    assert (status, report["loaded"]["workers"]) == (0, 1)


PROBED = """\
import argparse
import glob
import os

from loaders import train_loader
from vocab import Vocab


def loader():
    args = argparse.Namespace(
        root="reviews", workers=2, start_method=None, batch_size=16, max_words=48, dropout=0.1
    )
    return train_loader(args, Vocab().build(sorted(glob.glob(os.path.join("reviews", "train", "*", "*.txt")))))
"""


@pytest.mark.slow
def test_the_example_before_and_after_its_fixes(tmp_path: Path) -> None:
    project = tmp_path / "training"
    shutil.copytree(ROOT / "examples" / "training", project, ignore=shutil.ignore_patterns("reviews", "__pycache__"))
    (project / "probed.py").write_text(PROBED, encoding="utf-8")
    assert subprocess.run([sys.executable, "make_reviews.py"], cwd=project, check=False).returncode == 0
    status, before = probe(project, "probed:loader", "--check")
    (tmp_path / "before.json").write_text(json.dumps(before), encoding="utf-8")
    assert status == 1
    for method in ("spawn", "forkserver"):
        pickles = answer(before, "shipped objects pickle", method)
        assert {(part["path"], part["rule"]) for part in pickles["parts"]} == {
            ("loader.dataset.labels['bad']", "DLL105"),
            ("loader.dataset.vocab.word2id.default_factory", "DLL101"),
            ("loader.dataset.transform.steps[0]", "DLL102"),
            ("loader.dataset.transform.steps[1]", "DLL104"),
            ("loader.collate_fn", "DLL103"),
            ("loader.worker_init_fn", "DLL104"),
        }
        assert answer(before, "workers start", method)["verdict"] == "fails"
    assert answer(before, "reads")["verdict"] == "ok"
    assert {(entry["code"], entry["verdict"]) for entry in before["checked"]} == {
        *((code, "confirmed") for code in ("DLL101", "DLL102", "DLL103", "DLL104", "DLL105")),
        *((code, "not testable here") for code in ("DLL201", "DLL301")),
    }
    assert dllint(project, "check", "--fix", "--unsafe-fixes", ".").returncode == 0
    done = dllint(project, "probe", "probed:loader", "--scaling", "", "--compare", str(tmp_path / "before.json"))
    assert done.returncode == 0, done.stdout
    assert "    spawn: shipped objects pickle: fails -> ok\n" in done.stdout
    assert "    forkserver: workers start: fails -> ok\n" in done.stdout


CONFIG = """\
SETTINGS = {"size": 224, "crop": {"scale": 1}}
MEAN = 0.5
"""
SIZES = """\
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, random_split

import config


class Sizes(Dataset):
    flip = False

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return config.SETTINGS["size"] + index, config.MEAN, self.flip


class Doubled(Dataset):
    def __init__(self, inner):
        self.inner = inner

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, index):
        return self.inner[index] * 2


def loader():
    config.SETTINGS["size"] = 64
    Sizes.flip = True
    train, test = DataLoader({train}, batch_size=2), DataLoader(Sizes(), batch_size=4)
    return train
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "train", ["Sizes()", "Subset(Sizes(), range(4))", "Doubled(random_split(ConcatDataset([Sizes()]), [4, 0])[0])"]
)
def test_state_that_only_the_main_process_changed_is_named(tmp_path: Path, train: str) -> None:
    (tmp_path / "config.py").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "sizes.py").write_text(SIZES.replace("{train}", train), encoding="utf-8")
    status, before = probe(tmp_path, "sizes:loader", "--start-method", "fork", "--start-method", "spawn")
    assert status == 1
    assert answer(before, "items survive", "fork")["verdict"] == "ok"
    spawned = answer(before, "items survive", "spawn")
    assert (spawned["verdict"], spawned["rule"]) == ("fails", "DLL609")
    assert "2 batches differ" in spawned["text"] and "[0, 1]" in spawned["text"] and "[2, 3]" in spawned["text"]
    assert {(part["path"], part["what"]) for part in spawned["parts"]} == {
        ("config.py: SETTINGS['size']", "64 in the main process, 224 in workers"),
        ("sizes.py: Sizes.flip", "True in the main process, False in workers"),
    }
    (tmp_path / "before.json").write_text(json.dumps(before), encoding="utf-8")
    compared = dllint(
        tmp_path,
        "probe",
        "sizes:loader",
        "--start-method",
        "fork",
        "--start-method",
        "spawn",
        "--scaling",
        "",
        "--compare",
        "before.json",
    )
    assert "    data, fork and spawn: 2 batches differ" in compared.stdout
    assert "        config.py: SETTINGS['size']: 64 in the main process, 224 in workers\n" in compared.stdout
