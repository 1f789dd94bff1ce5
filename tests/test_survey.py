"""`dllint survey`: which sources there are, what becomes of each, and that each has exactly one outcome."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from dllint.cli import cli
from dllint.survey import local, run, unit
from dllint.survey.database import Database, NotUsable
from dllint.survey.limits import Limits, Unfit
from dllint.survey.outcome import Outcome
from dllint.survey.progress import Pace
from dllint.survey.run import Plan, pending
from dllint.survey.trees import NoSource, Tree, identity, read, tree
from dllint.survey.unit import Settings, survey
from tests import surveys

REPOSITORY = Path(__file__).resolve().parent.parent
FAST = Plan(jobs=2)
unix = pytest.mark.skipif(sys.platform == "win32", reason="signals, links and names of Unix")


def dllint(*args: str | Path) -> Result:
    """Run `dllint survey` in this process."""
    return CliRunner().invoke(cli, ["survey", *map(str, args)])


def reported(outcome: Outcome) -> list[tuple[str, str, int]]:
    """Code, file and line of each finding."""
    return [(found.code, found.path, found.row) for found in outcome.findings]


def steady(place: Path) -> list[tuple[object, ...]]:
    """What a database holds that must not differ from run to run."""
    database = Database(str(place))
    sources = database.rows(
        "SELECT name, project, form, identity, tool, outcome, reason, files, omitted, warnings FROM source ORDER BY 1"
    )
    return [*sources, *database.rows("SELECT * FROM finding ORDER BY source, number")]


# Sources.


def test_every_form_of_a_source_has_the_same_findings(tmp_path: Path) -> None:
    surveys.repository(tmp_path / "train.git")
    places = {
        "folder": surveys.folder(tmp_path / "train"),
        "git": tmp_path / "train.git",
        "archive": surveys.sdist(tmp_path / "train-1.0.tar.gz"),
    }
    for form, place in places.items():
        given = tree(str(place))
        assert given.form == form
        found = survey(given, Settings())
        assert (found.kind, found.files, reported(found)) == ("ok", 1, [surveys.FOUND])
        assert found.identity == identity(given)
        assert str(tmp_path) not in msgspec.json.encode(found.findings).decode()
    (finding,) = found.findings
    assert finding.outcomes == {"fork": "ok", "forkserver": "exception", "spawn": "exception"}
    assert "collate_fn=lambda batch: batch" in finding.frame
    assert finding.route[-1].text == "`DataLoader(...)` starts the workers here"


def test_a_wheel(tmp_path: Path) -> None:
    found = survey(tree(str(surveys.wheel(tmp_path / "train-1.0-py3-none-any.whl"))), Settings())
    assert reported(found) == [surveys.FOUND]


def test_a_commit_is_read_without_a_work_tree(tmp_path: Path) -> None:
    old, new = surveys.repository(tmp_path / "r.git", surveys.PROGRAM, "import torch\n")
    before = sorted(tmp_path.rglob("*"))
    results = {revision: survey(tree(f"{tmp_path}/r.git@{revision}"), Settings()) for revision in (old, new, "HEAD")}
    assert [len(results[revision].findings) for revision in (old, new, "HEAD")] == [1, 0, 0]
    assert results["HEAD"].identity == results[new].identity == f"git:{new}"
    assert sorted(tmp_path.rglob("*")) == before
    missing = survey(tree(f"{tmp_path}/r.git@nothing"), Settings())
    assert (missing.kind, missing.reason) == ("broken", "git rev-parse: no such commit, or the repository is damaged")


def test_a_repository_that_lacks_objects_is_broken(tmp_path: Path) -> None:
    surveys.repository(tmp_path / "r.git")
    blob = surveys.git(tmp_path / "r.git", "rev-parse", "HEAD:train.py")
    place = tmp_path / "r.git" / "objects" / blob[:2] / blob[2:]
    place.unlink()
    found = survey(tree(str(tmp_path / "r.git")), Settings())
    assert (found.kind, found.reason) == ("broken", "train.py is missing from the repository")


def test_a_partial_clone_may_lack_what_is_not_read(tmp_path: Path) -> None:
    work = surveys.folder(tmp_path / "w")
    (work / "weights.bin").write_bytes(b"0" * 100)
    surveys.git(work, "init", "-q")
    surveys.git(work, "add", "-A")
    surveys.git(work, "commit", "-qm", "a commit")
    blob = surveys.git(work, "rev-parse", "HEAD:weights.bin")
    (work / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    found = survey(tree(f"{work}@HEAD"), Settings())
    assert (found.kind, reported(found)) == ("ok", [surveys.FOUND])


@unix
def test_links_and_submodules_of_a_commit_are_left_out(tmp_path: Path) -> None:
    work = surveys.folder(tmp_path / "w")
    (work / "passwords.py").symlink_to("/etc/passwd")
    (work / "again").symlink_to(".")
    surveys.git(work, "init", "-q")
    surveys.git(work, "add", "-A")
    surveys.git(work, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    surveys.git(work, "commit", "-qm", "a commit")
    found = survey(tree(f"{work}@HEAD"), Settings())
    assert (found.kind, found.files, reported(found)) == ("ok", 1, [surveys.FOUND])


def test_a_configuration_is_the_sources_own(tmp_path: Path) -> None:
    (tmp_path / "dllint.toml").write_text('ignore = ["ALL"]\n')
    place = surveys.sdist(tmp_path / "train-1.0.tar.gz")
    assert len(survey(tree(str(place)), Settings()).findings) == 1
    folder = surveys.folder(tmp_path / "train")
    (folder / "dllint.toml").write_text('ignore = ["DLL103"]\n')
    assert not survey(tree(str(folder)), Settings()).findings
    assert len(survey(tree(str(folder)), Settings(isolated=True)).findings) == 1
    (folder / "dllint.toml").write_text("nonsense = 1\n")
    found = survey(tree(str(folder)), Settings())
    assert found.kind == "broken"
    assert "unknown key `nonsense`" in found.reason


def test_a_list_names_sources_relative_to_itself(tmp_path: Path) -> None:
    surveys.folder(tmp_path / "lists" / "one")
    surveys.sdist(tmp_path / "lists" / "My_Pack.Age-1.0.tar.gz")
    text = "# a comment\n\none  # another\none/\nMy_Pack.Age-1.0.tar.gz\nnothing\n"
    (tmp_path / "lists" / "all.txt").write_text(text)
    found = read([str(tmp_path / "lists" / "all.txt")])
    assert [(tree.name, tree.form, tree.project) for tree in found] == [
        ("one", "folder", "one"),
        ("My_Pack.Age-1.0.tar.gz", "archive", "my-pack-age"),
        ("nothing", "missing", "nothing"),
    ]
    assert survey(found[2], Settings()).reason == "no such file or folder"


def test_an_argument_that_is_no_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    for name, told in (("a.py", "is not a folder, git repository"), ("b", "no such file or folder")):
        with pytest.raises(NoSource, match=told):
            read([str(tmp_path / name)])
        done = dllint("run", tmp_path / name, "-o", tmp_path / "r.db")
        assert done.exit_code == 2


def test_two_sources_of_one_name_are_two(tmp_path: Path) -> None:
    for place in ("x", "y"):
        surveys.folder(tmp_path / place / "same")
        (tmp_path / place / "l.txt").write_text("same\n")
    found = read([str(tmp_path / place / "l.txt") for place in ("x", "y", "x")])
    assert [tree.name for tree in found] == ["same", str(tmp_path / "y" / "same")]


# The database.


def saved(database: Database, name: str, outcome: Outcome, plan: Plan = FAST) -> None:
    database.save(Tree(name, "folder", f"/{name}"), outcome, "tool", plan.settings)


def test_one_outcome_a_source_the_last_one(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "r.db"), create=True)
    for given, outcome in surveys.outcomes(20):
        for _ in range(2):
            database.save(given, outcome, "tool", Settings())
    assert database.rows("SELECT count(*) FROM source")[0][0] == 20
    kept = sum(len(outcome.findings) for _, outcome in surveys.outcomes(20))
    assert database.rows("SELECT count(*) FROM finding")[0][0] == kept > 0


def test_a_file_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    for content in (b"not a database, but longer than the header of one" * 20, b""):
        place = tmp_path / "x.db"
        place.write_bytes(content)
        if content:
            with pytest.raises(NotUsable, match="file is not a database"):
                Database(str(place), create=True)
        assert place.read_bytes() == content
    import sqlite3

    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE x (y)")
    other.close()
    with pytest.raises(NotUsable, match="is not a database of `dllint survey`"):
        Database(str(tmp_path / "other.db"), create=True)
    assert dllint("report", tmp_path / "missing.db", "-o", tmp_path / "p.html").exit_code == 2
    assert not (tmp_path / "missing.db").exists()


@unix
def test_names_that_are_no_text_are_kept(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "r.db"), create=True)
    saved(database, os.fsdecode(b"caf\xe9"), Outcome(kind="ok"))
    assert database.rows("SELECT name FROM source") == [("caf\\udce9",)]


def test_what_is_known_and_unchanged_is_not_analysed_again(tmp_path: Path) -> None:
    folder = surveys.folder(tmp_path / "one")
    given = read([str(folder)])
    database = Database(str(tmp_path / "r.db"), create=True)
    assert pending(given, database, FAST) == given
    run.run(given, database, FAST, lambda tree, outcome: None)
    assert pending(given, database, FAST) == []
    assert pending(given, database, msgspec.structs.replace(FAST, again=True)) == given
    assert pending(given, database, Plan(settings=Settings(isolated=True))) == given
    os.utime(folder / "train.py", (1, 1))
    assert pending(given, database, FAST) == given


def test_another_tool_and_other_limits_are_another_matter(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "r.db"), create=True)
    given = Tree("one", "folder", "/one")
    saved(database, "one", Outcome(kind="over-time", identity="x"))
    assert database.current(given, "x", "tool", FAST.settings)
    assert not database.current(given, "x", "another", FAST.settings)
    assert not database.current(given, "y", "tool", FAST.settings)
    assert not database.current(given, "x", "tool", Settings(Limits(seconds=1)))
    saved(database, "one", Outcome(kind="ok", identity="x"))
    assert database.current(given, "x", "tool", Settings(Limits(seconds=1)))


# Runs.


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A list of six sources, one of them missing."""
    for number in range(5):
        text = surveys.PROGRAM if number % 2 else "import torch\n"
        surveys.wheel(tmp_path / f"p{number}-1.0-py3-none-any.whl", text)
    names = [f"p{number}-1.0-py3-none-any.whl" for number in range(5)]
    (tmp_path / "all.txt").write_text("\n".join([*names, "missing"]))
    return tmp_path / "all.txt"


def test_a_run_and_what_it_says(several: Path, tmp_path: Path) -> None:
    results = tmp_path / "r.db"
    done = dllint("run", several, "-o", results)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("6 sources, 5 files, 2 findings in 2 sources.\n5 analyzed\n1 could not be read\n")
    assert "2 break on Linux with Python 3.14, and not before (2 for certain)" in done.stdout
    again = dllint("run", several, "-o", results, "--output-format", "json")
    assert again.stderr == "5 of 6 sources are unchanged.\n"
    told = json.loads(again.stdout)
    assert (told["sources"], told["outcomes"], told["breaks_on_314"]) == (6, {"ok": 5, "broken": 1}, 2)
    assert told["rules"] == [{"code": "DLL103", "name": "lambda-to-loader", "findings": 2, "sources": 2}]


@unix
def test_an_interrupted_run_leaves_a_database_and_goes_on(several: Path, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.db", tmp_path / "parts.db"
    dllint("run", several, "-o", whole)
    command = [sys.executable, "-m", "dllint", "survey", "run", str(several), "-o", str(parts), "-j", "1"]
    env = {**os.environ, "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'rules'}"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while time.monotonic() < until and not (parts.exists() and 0 < _sources(parts) < 6):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "outcomes are written; run the same again to go on" in said
    assert "Traceback" not in said
    assert 0 < _sources(parts) < 6
    dllint("run", several, "-o", parts)
    assert steady(parts) == steady(whole)


def _sources(place: Path) -> int:
    try:
        return int(Database(str(place)).rows("SELECT count(*) FROM source")[0][0])
    except NotUsable:  # it is being made
        return 0


def test_a_machine_that_cannot_do_the_work_is_no_outcome(
    several: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(tree: Tree, settings: Settings, stopped: object) -> Outcome:
        raise Unfit("No space left on device")

    monkeypatch.setattr(local, "survey", full)
    done = dllint("run", several, "-o", tmp_path / "r.db")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == (
        "error: No space left on device; 0 of 6 outcomes are written; run the same again to go on"
    )
    assert _sources(tmp_path / "r.db") == 0


@unix
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("sys.stdin.readline(); os.abort()", "its process died: SIGABRT"),
        ("sys.stdin.readline(); os._exit(7)", "its process died: exit status 7"),
        ("os.kill(os.getpid(), 9)", "its process was killed again and again"),
        ("os._exit(1)", "its process died: exit status 1"),
    ],
)
def test_a_child_that_dies_is_an_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    folder = tree(str(surveys.folder(tmp_path / "one")))
    started = subprocess.Popen
    command = [sys.executable, "-S", "-c", f"import os, sys; {code}"]

    def start(given: list[str], **options: Any) -> subprocess.Popen[bytes]:
        child = started(command, **options)
        time.sleep(0.1)  # those that do not read are gone before they are written to
        return child

    monkeypatch.setattr(unit.subprocess, "Popen", start)
    found = survey(folder, Settings())
    assert (found.kind, found.reason) == ("failed", reason)


def test_pace() -> None:
    pace = Pace(100, now=0.0)
    assert pace.text(1.0) == "0 of 100 sources"
    for kind in ("ok", "ok", "broken", "ok"):
        pace.count(Outcome(kind=kind))  # type: ignore[arg-type]
    assert pace.text(60.0) == "4 of 100 sources, 4 a minute, 24 min left, 1 broken"


def test_git_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surveys.repository(tmp_path / "r.git")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("git") is None
    with pytest.raises(Unfit, match="git cannot be run"):
        survey(tree(str(tmp_path / "r.git")), Settings())


# Exports.


def test_json_lines_hold_every_source_with_its_findings(tmp_path: Path) -> None:
    surveys.database(tmp_path / "r.db", 50)
    done = dllint("export", tmp_path / "r.db", "-o", "-")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    made = {tree.name: outcome for tree, outcome in surveys.outcomes(50)}
    assert {row["name"]: row["outcome"] for row in rows} == {name: outcome.kind for name, outcome in made.items()}
    for row in rows:
        findings = made[row["name"]].findings
        assert [found["fingerprint"] for found in row["findings"]] == [found.fingerprint for found in findings]
        steps = [[step["message"] for step in found["route"]] for found in row["findings"]]
        assert steps == [[step.text for step in found.route] for found in findings]


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    surveys.database(tmp_path / "r.db", 50)
    assert dllint("export", tmp_path / "r.db", "-o", tmp_path / "r.parquet").exit_code == 0
    rows = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    made = {tree.name: outcome for tree, outcome in surveys.outcomes(50)}
    assert {row["name"] for row in rows} == set(made)
    found = [(row["name"], row["file"], row["line"]) for row in rows if row["code"]]
    assert found == [(name, f.path, f.row) for name in sorted(made) for f in made[name].findings]


def test_parquet_without_pyarrow_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surveys.database(tmp_path / "r.db", 1)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = dllint("export", tmp_path / "r.db", "-o", tmp_path / "r.parquet")
    assert (done.exit_code, done.stderr) == (2, "error: Parquet needs pyarrow: pip install pyarrow\n")
    assert not (tmp_path / "r.parquet").exists()
