"""`dllint explain`: messages joined with a project's findings, and the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from dllint.cli import cli
from dllint.engine import Request, inspect
from dllint.runtime.explain import Candidate, Explained, explain
from dllint.runtime.explain.reading import read

PICKLING = 'Traceback (most recent call last):\n  File "/w/train.py", line 9, in main\n'

PROJECT = {
    "data/vocab.py": """
        from collections import defaultdict

        class Vocab:
            def load(self):
                self.word2id = defaultdict(lambda: 1)
                self.order = sorted([1, 2], key=lambda word: -word)
                return self
        """,
    "data/reviews.py": """
        import lmdb
        from torch.utils.data import Dataset

        class Reviews(Dataset):
            def __init__(self, vocab, path):
                self.vocab = vocab
                self.env = lmdb.open(path)
                self.log = open("log.txt", "a")

            def __getitem__(self, index):
                return index
        """,
    "train.py": """
        from torch.utils.data import DataLoader
        from data.reviews import Reviews
        from data.vocab import Vocab

        def main():
            def collate(batch):
                return batch
            loader = DataLoader(Reviews(Vocab().load(), "db"), num_workers=2, collate_fn=collate)
            for batch in loader:
                print(batch)

        main()
        """,
    "other/train.py": """
        from torch.utils.data import DataLoader

        def main(dataset):
            def collate(batch):
                return batch
            return DataLoader(dataset, num_workers=2, collate_fn=collate)
        """,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for path, text in PROJECT.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(dedent(text).lstrip(), encoding="utf-8")
    (folder / "dllint.toml").write_text('target-platforms = ["linux"]\ntarget-python = "3.11"\n', encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def explained(project: Path):  # type: ignore[no-untyped-def]
    inspection = inspect(Request(paths=(str(project),)))
    assert not inspection.crashes

    def ask(log: str) -> tuple[Explained, ...]:
        return explain(read([log.encode()]), inspection).explained

    return ask


def _place(candidate: Candidate) -> tuple[str, str]:
    return candidate.path, candidate.finding.code if candidate.finding else ""


def test_a_quoted_name_is_that_lambda_also_where_the_targets_never_pickle(explained) -> None:  # type: ignore[no-untyped-def]
    (one,) = explained("AttributeError: Can't pickle local object 'Vocab.load.<locals>.<lambda>'\n")
    first, *others = one.candidates
    assert _place(first) == ("data/vocab.py", "DLL101")
    assert [_place(other) for other in others] == [("data/vocab.py", "")], "the sort key has the same name"
    assert any("sorted" in told for told in others[0].told)


def test_a_name_that_two_files_define_is_told_apart_by_the_traceback(explained) -> None:  # type: ignore[no-untyped-def]
    error = "AttributeError: Can't get local object 'main.<locals>.collate'\n"
    for script in ("train.py", "other/train.py"):
        log = f'Traceback (most recent call last):\n  File "/home/somebody/code/{script}", line 9, in main\n{error}'
        (one,) = explained(log)
        assert _place(one.candidates[0]) == (script, "DLL104")
        assert len(one.candidates) == 2


def test_python_3_14_words_lead_to_the_same_line(explained) -> None:  # type: ignore[no-untyped-def]
    log = (
        "_pickle.PicklingError: Can't pickle local object <function Vocab.load.<locals>.<lambda> at 0x7f0>\n"
        "when serializing data.vocab.Vocab state\n"
    )
    (one,) = explained(log)
    assert _place(one.candidates[0]) == ("data/vocab.py", "DLL101")


@pytest.mark.parametrize(
    ("pickled", "line"), [("Environment", "lmdb.open"), ("_io.TextIOWrapper", "open("), ("TextIOWrapper", "open(")]
)
def test_the_type_that_cannot_be_pickled_chooses_among_handles(
    explained, project: Path, pickled: str, line: str
) -> None:  # type: ignore[no-untyped-def]
    (one,) = explained(f"TypeError: cannot pickle '{pickled}' object\n")
    (first,) = one.candidates
    assert _place(first) == ("data/reviews.py", "DLL106")
    text = (project / first.path).read_text()
    assert line in text[first.span.start : first.span.end + 40]


def test_a_name_that_is_not_in_the_project_is_nobodys(explained) -> None:  # type: ignore[no-untyped-def]
    (one,) = explained("AttributeError: Can't pickle local object 'Elsewhere.load.<locals>.<lambda>'\n")
    assert one.candidates == ()


def test_a_missing_guard_is_found_by_the_line_that_the_worker_ran_again(explained) -> None:  # type: ignore[no-untyped-def]
    log = (
        'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
        '  File "/usr/lib/python3.11/multiprocessing/spawn.py", line 122, in spawn_main\n'
        '  File "/w/train.py", line 12, in <module>\n    main()\n'
        "RuntimeError: \n        An attempt has been made to start a new process before the\n"
        "        current process has finished its bootstrapping phase.\n"
        "RuntimeError: DataLoader worker (pid(s) 7) exited unexpectedly\n"
    )
    (one,) = explained(log)
    assert one.seen.message.key == "missing-guard"
    assert _place(one.candidates[0]) == ("train.py", "DLL301")
    assert "the traceback passes through train.py:12" in one.candidates[0].reasons


def test_without_a_cause_the_consequence_is_explained(explained) -> None:  # type: ignore[no-untyped-def]
    (one,) = explained("RuntimeError: DataLoader worker (pid(s) 7) exited unexpectedly\n")
    assert one.seen.message.key == "worker-exited"
    assert _place(one.candidates[0]) == ("train.py", "DLL301")


def test_no_rule_but_a_traceback_shows_the_last_own_line(explained) -> None:  # type: ignore[no-untyped-def]
    log = (
        'Traceback (most recent call last):\n  File "/w/train.py", line 8, in main\n'
        '  File "/v/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 1, in __init__\n'
        "ValueError: num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.\n"
    )
    (one,) = explained(log)
    (only,) = one.candidates
    assert (only.finding, only.path) == (None, "train.py")


def test_an_installed_file_of_the_same_name_is_not_the_projects(explained) -> None:  # type: ignore[no-untyped-def]
    log = (
        'Traceback (most recent call last):\n  File "/v/lib/python3.11/site-packages/x/train.py", line 8, in main\n'
        "ValueError: num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.\n"
    )
    assert explained(log)[0].candidates == ()


# The command.


def run(*arguments: str, text: str | None = None) -> tuple[int, str]:
    """Exit status and output of `dllint explain`."""
    result = CliRunner().invoke(cli, ["explain", "--no-cache", *arguments], input=text)
    return result.exit_code, result.output


def test_a_log_is_explained_for_people(project: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("AttributeError: Can't pickle local object 'Vocab.load.<locals>.<lambda>'\n")
    status, told = run(str(log), "--project", str(project))
    assert status == 0
    assert "data/vocab.py:5:36" in told
    assert "kept as `word2id` of `Vocab`" in told
    assert "help: Replace" in told or "help: Move" in told


def test_a_log_is_explained_for_programs(project: Path) -> None:
    error = (
        "TypeError: cannot pickle 'Environment' object\nRuntimeError: DataLoader worker (pid(s) 7) exited unexpectedly"
    )
    status, told = run("-", "--project", str(project), "--output-format", "json", text=error)
    assert status == 0
    document = json.loads(told)
    (message,) = document["messages"]
    assert message["key"] == "unpicklable-handle"
    assert message["candidates"][0]["finding"]["code"] == "DLL106"
    assert message["candidates"][0]["location"] == {"row": 7, "column": 20}
    assert [follow["key"] for follow in document["follows"]] == ["worker-exited"]


def test_a_name_from_elsewhere_is_said_to_be_from_elsewhere(project: Path) -> None:
    error = 'Traceback (most recent call last):\n  File "train.py", line 8, in main\nAttributeError: '
    status, told = run("-", "--project", str(project), text=f"{error}Can't pickle local object 'far.<locals>.g'\n")
    assert status == 0
    assert "No `far.<locals>.g` is defined in this project" in told
    assert "train.py:8:1: the traceback's last line in the project" in told


def test_a_name_is_looked_up_in_files_that_no_loader_leads_to(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(dedent(PROJECT["train.py"]).lstrip(), encoding="utf-8")
    (tmp_path / "words.py").write_text(
        "class Words:\n    def load(self):\n        self.f = lambda x: x\n", encoding="utf-8"
    )
    (tmp_path / "noise.py").write_text("Words = None\n", encoding="utf-8")
    text = "AttributeError: Can't pickle local object 'Words.load.<locals>.<lambda>'\n"
    status, told = run("-", "--project", str(tmp_path), text=text)
    assert status == 0
    assert "is defined in this project" not in told
    assert "words.py:3:18" in told
    assert "no loader, dataset or transform that is shipped was found to keep it" in told


def test_a_message_is_explained_as_it_is(project: Path) -> None:
    status, told = run("ValueError: bad value(s) in fds_to_keep", "--project", str(project))
    assert status == 0
    assert told.startswith("1 line read.\n\nValueError: bad value(s) in fds_to_keep\n")


def test_a_log_without_a_known_message_is_said_to_have_none(project: Path) -> None:
    status, told = run("-", "--project", str(project), text="loss 0.3\n" * 3)
    assert (status, told) == (1, "3 lines read; dllint recognizes no message.\n")
    status, told = run("it does not work", "--project", str(project))
    assert status == 1 and "Give the whole line of the error" in told
    told = run("OSError: 'a/b.py' is gone", "--project", str(project))[1]
    assert told == "1 line read; dllint recognizes no message.\n", "a message may end with a path"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nowhere.log",), "nowhere.log: No such file"),
        (("my train.py",), "my train.py: No such file"),
        (("logs of today/run 1",), "logs of today/run 1: No such file"),
        (("a.log", "b.log"), "one log at a time"),
        (("--run",), "--run needs a command"),
        (("--timeout", "3", "-"), "--timeout needs --run"),
        (("-", "--project", "nowhere"), "nowhere"),
        (("--run", "--", "no-such-program"), "no-such-program: No such file"),
    ],
)
def test_wrong_use_is_told(arguments: tuple[str, ...], complaint: str) -> None:
    result = CliRunner().invoke(cli, ["explain", *arguments])
    assert result.exit_code == 2 or "No such" in complaint or "no-such" in complaint
    problem = result.output + (result.exception.format_message() if hasattr(result.exception, "format_message") else "")
    assert complaint in problem


def _program(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(dedent(text), encoding="utf-8")
    command = [sys.executable, "-m", "dllint", "explain", "--no-cache", *options, "--run", "--"]
    return subprocess.run(
        [*command, sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_a_program_is_run_and_explained(tmp_path: Path) -> None:
    done = _program(
        tmp_path,
        """
        import pickle

        def outer():
            print("one"), pickle.dumps(lambda: 0)

        outer()
        """,
    )
    assert done.returncode == 1, "the program's own status"
    assert done.stdout == "one\n", "and its own output"
    assert "Can't pickle local object" in done.stderr or "Can't get local object" in done.stderr
    assert "What happened" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_program_that_is_killed_is_explained(tmp_path: Path) -> None:
    done = _program(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert done.returncode == 128 + 9
    assert "because memory ran out" in " ".join(done.stderr.split())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_program_that_hangs_shows_its_stacks(tmp_path: Path) -> None:
    text = """
        import threading, time

        lock = threading.Lock()
        lock.acquire()
        other = threading.Thread(target=lock.acquire, daemon=True)
        other.start()
        other.join()
        """
    done = _program(tmp_path, text, "--timeout", "2")
    assert done.returncode == 124
    assert "The program hung, or needs more time" in done.stderr
