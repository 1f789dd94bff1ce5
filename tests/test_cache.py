"""What is kept between runs: the same findings, whatever happened to the files and to what was kept."""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from dllint import cache, files
from dllint.collect import collect
from dllint.engine import Request, Result, check
from dllint.engine import corpus as engine_corpus
from dllint.engine import reader as engine_reader
from dllint.model import stored
from dllint.model.facts import Expr, ModuleModel
from dllint.reduce import disk, pool
from dllint.source import Source
from dllint.syntax.guard import NotParsed
from tests.lint import ROOT, all_pages

LOADER = "from torch.utils.data import DataLoader\n"
HAZARD = LOADER + "loader = DataLoader([], num_workers=2, collate_fn=lambda batch: batch)\n"
HARMLESS = LOADER + "loader = DataLoader([], num_workers=2)\n"
PLAIN = "print('no loader here')\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a hazard, whose cache is in a folder beside it."""
    monkeypatch.setenv("DLLINT_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "project"
    root.mkdir()
    (root / "dllint.toml").touch()
    write(root / "train.py", HAZARD)
    write(root / "plain.py", PLAIN)
    return root


def write(file: Path, text: str, age_s: float = 10) -> None:
    """A file that was written a while ago."""
    file.write_text(text, encoding="utf-8")
    then = time.time() - age_s
    os.utime(file, (then, then))


def run(root: Path, **options: object) -> Result:
    folder = os.environ["DLLINT_CACHE_DIR"]
    given = {"paths": (str(root),), **options}
    return check(Request(cache=True, cache_dir=folder, **given))  # type: ignore[arg-type]


def told(result: Result) -> list[str]:
    return [f"{finding.path} {finding.code} {finding.span.start}" for finding, _ in result.findings]


@pytest.fixture
def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's change time cannot be set; here every file counts as old enough."""
    monkeypatch.setattr(engine_reader, "settled", lambda state, now: True)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that are read."""
    found: list[str] = []
    real = disk.read

    def read(root: str, path: str) -> bytes:
        found.append(path)
        return real(root, path)

    for module in (disk, engine_corpus, engine_reader):
        monkeypatch.setattr(module, "read", read)
    return found


def tables(root: Path) -> list[Path]:
    """The files of the cache."""
    return sorted(file for file in (root.parent / "cache").glob("facts-*/*/*") if file.is_file())


# What is in it.


def expressions(model: ModuleModel) -> list[Expr]:
    return [expr for root in stored._roots(model) for expr in root.walk()]


def plain(model: ModuleModel) -> object:
    """The facts as lists and dictionaries: expressions themselves are only equal to themselves."""
    return msgspec.to_builtins(model, order="deterministic")


def test_facts_come_back_as_they_were() -> None:
    """Equal, and the same expressions are one object: values are told apart by the expressions that make them."""
    files = [file for page in all_pages() for case in page.cases for file in case.files.items()]
    programs = [text for path, text in files if path.endswith(".py")]
    programs += ["a = b = [1]\nif (n := (f())) and (m := (k := 1)):\n    with a as c, d:\n        pass\n"]
    compared = 0
    for program in programs:
        try:
            model = collect(Source("a/b.py", program))
        except NotParsed:
            with pytest.raises(SyntaxError):  # it is written for Python 2, or for 3.6
                ast.parse(program)
            continue
        again = stored.decode(stored.encode(model), "a/b.py")
        assert plain(again) == plain(model)
        before, after = ([id(expr) for expr in expressions(one)] for one in (model, again))
        assert [before.index(one) for one in before] == [after.index(one) for one in after], program
        compared += 1
    assert compared > len(programs) - 20


def test_a_name_is_one_object_in_all_files() -> None:
    """Decoded names would each be another one, of which there are ten in a line."""
    texts = [f"def f{n}(some_name):\n    return other_name.some_name(some_name, some_name=x{n})\n" for n in range(2)]
    models = [collect(Source("a.py", text)) for text in texts]
    again = [stored.decode(stored.encode(model), "a.py") for model in models]
    named = [[expr for expr in expressions(model) if expr.name in ("some_name", "other_name")] for model in again]
    assert len(named[0]) == 3
    assert [one.name is other.name for one, other in zip(*named, strict=True)] == [True] * 3


@pytest.mark.parametrize("data", [b"", b"\x93", b"\xc1", b"\x93\x80\x90\x90", b"\x91" * 5000])
def test_what_is_no_facts_is_refused(data: bytes) -> None:
    with pytest.raises(stored.Damaged):
        stored.decode(data, "a.py")


def test_an_index_out_of_range_is_refused() -> None:
    good = msgspec.msgpack.decode(stored.encode(collect(Source("a.py", "if a:\n    b\n"))))
    good[1] = [[0, 7, 0]]
    with pytest.raises(stored.Damaged):
        stored.decode(msgspec.msgpack.encode(good), "a.py")


# Unchanged files.


@pytest.mark.usefixtures("settle")
def test_unchanged_files_are_not_read_and_say_the_same(project: Path, reads: list[str]) -> None:
    first = told(run(project))
    assert len(first) == 1
    reads.clear()
    assert told(run(project)) == first
    assert reads == ["train.py"], "for the text of the finding"
    write(project / "train.py", HARMLESS)
    assert told(run(project)) == []
    reads.clear()
    assert told(run(project)) == []
    assert reads == []


@pytest.mark.usefixtures("settle")
def test_which_files_matter_is_found_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, times = files.close, []
    monkeypatch.setattr(files, "close", lambda peeks, root: times.append(1) or real(peeks, root))
    first = told(run(project))
    assert told(run(project)) == first
    write(project / "train.py", HAZARD + "# what it imports is the same\n")
    assert told(run(project)) == first
    assert len(times) == 1
    write(project / "train.py", HAZARD + "import helper\n")
    assert told(run(project)) == first
    assert len(times) == 2


@pytest.mark.usefixtures("settle")
def test_a_change_that_keeps_size_and_time_is_seen(project: Path) -> None:
    run(project)
    status = (project / "train.py").stat()
    write(project / "train.py", HARMLESS + "#" * (len(HAZARD) - len(HARMLESS)))
    os.utime(project / "train.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (project / "train.py").stat().st_size == status.st_size
    assert told(run(project)) == []


def test_a_young_file_counts_as_changed(project: Path, reads: list[str]) -> None:
    run(project)  # the files' change time is now, whatever their modification time says
    reads.clear()
    run(project)
    assert {"train.py", "plain.py"} <= set(reads)


def test_when_a_file_is_settled() -> None:
    second = 1_000_000_000
    fine, coarse = 5 * second + 1, 5 * second
    assert not cache.settled((1, fine, fine, 1), fine)
    assert cache.settled((1, fine, fine, 1), fine + second)
    assert not cache.settled((1, coarse, coarse, 1), coarse + second)
    assert cache.settled((1, coarse, coarse, 1), coarse + 3 * second)
    assert not cache.settled((1, fine, fine + 9 * second, 1), fine + 5 * second), "changed after it was modified"
    assert not cache.settled((1, fine + 99 * second, fine, 1), fine + second), "from the future"


@pytest.mark.usefixtures("settle")
def test_a_file_that_moved_keeps_its_facts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(project)
    (project / "train.py").rename(project / "moved.py")
    monkeypatch.setattr(disk, "collect_bytes", None)
    assert told(run(project)) == [f"moved.py DLL103 {HAZARD.index('lambda')}"]


@pytest.mark.usefixtures("settle")
def test_a_syntax_error_is_remembered(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project / "broken.py", LOADER + "def f(:\n")
    first = run(project)
    (project / "broken.py").rename(project / "other.py")
    monkeypatch.setattr(disk, "collect_bytes", None)
    again = run(project)
    assert [text.replace("broken", "other") for text in told(first)] == told(again)
    assert "other.py" in next(finding.key for finding, _ in again.findings if finding.code == "DLL900")


@pytest.mark.usefixtures("settle")
def test_what_an_editor_holds_is_not_kept(project: Path) -> None:
    first = told(run(project))
    path = str(project / "train.py")
    options = {"cache": True, "cache_dir": os.environ["DLLINT_CACHE_DIR"], "stdin_path": path}
    before = [file.read_bytes() for file in tables(project)]
    result = check(Request(paths=(), stdin=HARMLESS.encode(), **options))  # type: ignore[arg-type]
    assert told(result) == []
    assert [file.read_bytes() for file in tables(project)] == before
    assert told(run(project)) == first


@pytest.mark.usefixtures("settle")
def test_other_words_ask_the_files_again(project: Path) -> None:
    write(project / "own.py", "loader = Feeder([], num_worker=2, collate_fn=lambda batch: batch)\n")
    assert len(told(run(project))) == 1
    (project / "dllint.toml").write_text('loader-classes = ["own.Feeder"]\n', encoding="utf-8")
    run(project)
    names = [file.name for file in tables(project) if file.name.startswith("files-")]
    assert len(names) == 2


# What happens to it.


@pytest.mark.usefixtures("settle")
@pytest.mark.parametrize("kind", ["files-", "facts", ".pack", "closure-", "peeks", "sound", "listings"])
@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "flipped", "folder"])
def test_what_is_damaged_counts_as_not_there(project: Path, kind: str, damage: str) -> None:
    (project / "dllint.toml").write_text('extend-exclude = ["out"]\n', encoding="utf-8")

    def both() -> list[list[str]]:
        return [told(run(project)), told(run(project, paths=(str(project / "plain.py"),)))]

    first = both()
    assert first == [[f"train.py DLL103 {HAZARD.index('lambda')}"], []]
    file = next(file for file in tables(project) if kind in file.name)
    if kind == "peeks":  # nobody asks for them while it is known which files matter
        next(file for file in tables(project) if "closure-" in file.name).unlink()
    data = file.read_bytes()
    file.unlink()
    if damage == "folder":
        file.mkdir()
    elif damage != "gone":
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        file.write_bytes({"empty": b"", "cut": data[:middle], "flipped": flipped}[damage])
    assert both() == first
    assert both() == first


@pytest.mark.usefixtures("settle")
def test_facts_that_make_no_sense_are_done_without(project: Path) -> None:
    """Well-formed, with a checksum, and the lambda that is passed on is not among the functions."""
    first = told(run(project))
    pack = next(file for file in tables(project) if file.suffix == ".pack")
    table = pack.with_name("facts")
    places = msgspec.msgpack.decode(table.read_bytes()[4:], type=dict[bytes, cache._Place])
    ((contents, place),) = places.items()
    packed = msgspec.msgpack.decode(pack.read_bytes()[place.start : place.start + place.size])
    facts = msgspec.msgpack.decode(packed[0])
    assert facts[0]["functions"]
    facts[0]["functions"] = []
    packed[0] = msgspec.msgpack.encode(facts)
    forged = cache._write_pack(str(pack.parent), {contents: msgspec.msgpack.encode(packed)})
    cache.folders.replace(str(table), msgspec.msgpack.encode(forged))
    again = run(project)
    assert told(again) == first
    assert not again.crashes


@pytest.mark.usefixtures("settle")
def test_packs_do_not_pile_up(project: Path) -> None:
    for number in range(3 * cache._MOST_PACKS):
        write(project / "train.py", HAZARD + f"x = {number}\n")
        assert len(told(run(project))) == 1
    assert len([file for file in tables(project) if file.suffix == ".pack"]) <= cache._MOST_PACKS + 1
    assert not list((project.parent / "cache").rglob(".??????*.tmp"))


@pytest.mark.usefixtures("settle")
def test_old_projects_make_room(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(project)
    (other := project.parent / "other").mkdir()
    (other / "dllint.toml").touch()
    write(other / "train.py", HAZARD)
    monkeypatch.setattr(cache.folders, "MOST_BYTES", 10)
    run(other)
    assert len({file.parent for file in tables(project)}) == 1
    assert len(told(run(project))) == 1


def test_a_folder_that_cannot_be_made_is_no_cache(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.parent / "file").touch()
    monkeypatch.setenv("DLLINT_CACHE_DIR", str(project.parent / "file" / "cache"))
    assert len(told(run(project))) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners of folders")
def test_the_folder_of_somebody_else_is_not_used(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.parent / "cache").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: -1)
    run(project)
    assert tables(project) == []


def test_a_file_that_changes_meanwhile_begins_the_run_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, rounds = pool.collect_files, []

    def change(*arguments: object) -> object:
        yield from real(*arguments)  # type: ignore[arg-type]
        if not rounds:
            write(project / "train.py", "\n" + HAZARD)
        rounds.append(1)

    monkeypatch.setattr(pool, "collect_files", change)
    assert told(run(project)) == [f"train.py DLL103 {HAZARD.index('lambda') + 1}"]
    assert len(rounds) == 2


def test_runs_beside_each_other(project: Path) -> None:
    for number in range(20):
        write(project / f"train{number}.py", HAZARD + f"x = {number}\n")
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(told(run(project)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result == results[0] and len(result) == 21 for result in results)
    assert told(run(project)) == results[0]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a process cannot be killed so here")
def test_runs_that_are_killed_leave_nothing_wrong(project: Path) -> None:
    for number in range(20):
        write(project / f"train{number}.py", HAZARD + f"x = {number}\n")
    right = told(check(Request(paths=(str(project),))))
    command = [sys.executable, "-m", "dllint", "check", "--cache-dir", os.environ["DLLINT_CACHE_DIR"], str(project)]
    chance = random.Random(1)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules")))}
    for _ in range(3):
        running = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for _ in range(8)]
        for process in running:
            time.sleep(chance.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert told(run(project)) == right
        write(project / "train0.py", HAZARD + f"x = {chance.random()}\n")


# The commands.


def dllint(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules")))}
    command = [sys.executable, "-m", "dllint", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


def test_no_cache_writes_nothing_and_clean_removes_all_but_what_is_not_ours(project: Path) -> None:
    folder = project.parent / "cache"
    assert dllint("check", "--no-cache", cwd=project).returncode == 1
    assert not folder.exists()
    cold = dllint("check", cwd=project)
    assert tables(project)
    assert dllint("check", cwd=project).stdout == cold.stdout
    (folder / "precious").touch()
    (folder / "facts-own").mkdir()
    other = project.parent / "other"
    other.mkdir()
    (other / "dllint.toml").touch()
    done = dllint("clean", str(other), cwd=project)
    assert done.returncode == 0 and done.stdout == f"Deleted 0.0 MB of cached data of {other}.\n"
    assert tables(project)
    done = dllint("clean", cwd=project)
    assert done.returncode == 0 and done.stdout.endswith(f" MB of cached data of {project}.\n")
    assert not tables(project)
    assert dllint("check", cwd=project).stdout == cold.stdout
    done = dllint("clean", "--all", cwd=other)
    assert done.returncode == 0 and done.stdout.endswith(" MB of cached data of all projects.\n")
    assert not tables(project)
    assert dllint("clean", "--all", "words.py", cwd=project).returncode == 2
    assert (folder / "precious").exists() and (folder / "facts-own").exists()


def test_the_configuration_says_where(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DLLINT_CACHE_DIR")
    (project / "dllint.toml").write_text('cache-dir = ".kept"\n', encoding="utf-8")
    assert dllint("check", cwd=project).returncode == 1
    assert list((project / ".kept").glob("facts-*/*/*.pack"))
    dllint("clean", cwd=project)
    assert not list((project / ".kept").glob("facts-*/*"))
