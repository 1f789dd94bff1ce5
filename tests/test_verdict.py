"""What an earlier run found is told again for the same files, rules and configuration, and for no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dllint.cache import makers
from dllint.engine import Request, Result, check, fixing, judge
from dllint.engine.corpus import Corpus
from dllint.registry import Layer
from tests.lint import ROOT
from tests.test_cache import HARMLESS, HAZARD, PLAIN, project, reads, run, settle, told, write
from tests.test_cli import check as report

__all__ = ["project", "reads", "settle"]
pytestmark = pytest.mark.usefixtures("settle")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The roots whose rules were asked."""
    asked: list[str] = []
    real = judge.Judge.judge

    def judging(self: judge.Judge, corpus: Corpus, *rest: object) -> judge.Judgement:
        asked.append(corpus.root)
        return real(self, corpus, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(judge.Judge, "judge", judging)
    return asked


def whole(result: Result) -> list[object]:
    """All that is told of a finding: its own words, its route, its fix."""
    return [
        (finding.code, finding.path, finding.span, finding.message, finding.notes, finding.anchors, fix)
        for finding, fix in result.findings
    ]


def test_the_rules_are_not_asked_twice_about_the_same_files(project: Path, judged: list[str]) -> None:
    first, second = run(project), run(project)
    assert len(judged) == 1
    assert whole(first) == whole(second)
    assert [fix is not None for _, fix in second.findings] == [True]
    assert second.checked == first.checked == 2


def test_another_file_that_matters_asks_again(project: Path, judged: list[str]) -> None:
    run(project)
    write(project / "train.py", HARMLESS)
    assert told(run(project)) == []
    write(project / "train.py", "#\n" + HAZARD)
    assert told(run(project)) == [f"train.py DLL103 {HAZARD.index('lambda') + 2}"]
    write(project / "more.py", HAZARD)
    assert len(told(run(project))) == 2
    (project / "more.py").unlink()
    assert len(told(run(project))) == 1
    assert len(judged) == 4, "the last state was judged before"


def test_a_file_that_does_not_matter_does_not_ask_again(project: Path, judged: list[str]) -> None:
    first = told(run(project))
    write(project / "plain.py", PLAIN + "# more\n")
    write(project / "new.py", PLAIN)
    second = run(project)
    assert (told(second), second.checked) == (first, 3)
    assert len(judged) == 1


def test_another_selection_or_configuration_asks_again(project: Path, judged: list[str]) -> None:
    assert len(told(run(project))) == 1
    assert told(run(project, layer=Layer(ignore=("DLL103",)))) == []
    write(project / "dllint.toml", 'target-platforms = ["linux"]\ntarget-python = "<3.14"\n')
    assert told(run(project)) == []
    assert len(judged) == 3


def test_other_rules_ask_again(project: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run(project)
    real = makers.of_verdicts
    new = ("rules/dll999_new.py", (1, 2, 3, 4))
    monkeypatch.setattr(makers, "of_verdicts", lambda folders: [*real(folders), new])
    run(project)
    assert len(judged) == 2


def test_what_a_full_run_found_answers_for_one_file(project: Path, judged: list[str]) -> None:
    write(project / "other.py", HAZARD)
    run(project)
    cache = os.environ["DLLINT_CACHE_DIR"]
    for path, count in (("other.py", 1), ("plain.py", 0)):
        one = check(Request(paths=(str(project / path),), cache=True, cache_dir=cache))
        assert len(one.findings) == count
    assert len(judged) == 1


def test_container_files_are_read_when_they_changed(project: Path, judged: list[str], reads: list[str]) -> None:
    def asked() -> list[str]:
        return told(run(project, layer=Layer(("DLL502",))))

    write(project / "train.py", HARMLESS)
    write(project / "run.sh", "docker run --gpus all train:1 python train.py\n")
    (project / "notes.md").write_bytes(b"docker run \xff\n")
    first = asked()
    assert [line.partition(" ")[0] for line in first] == ["run.sh"]
    reads.clear()
    assert asked() == first
    assert sorted(reads) == ["run.sh", "train.py"], "for what is quoted of them"
    write(project / "run.sh", "docker run --gpus all --ipc=host train:1 python train.py\n")
    assert asked() == []
    reads.clear()
    assert asked() == reads == []
    write(project / "run.sh", "docker run --gpus all train:1 python train.py\n")
    assert asked() == first
    assert len(judged) == 2, "the first state was judged before"


def test_a_named_file_that_does_not_matter_is_still_parsed(project: Path, judged: list[str]) -> None:
    run(project)
    write(project / "plain.py", "print(\n")
    cache = os.environ["DLLINT_CACHE_DIR"]
    one = check(Request(paths=(str(project / "plain.py"),), cache=True, cache_dir=cache))
    assert told(one) == ["plain.py DLL900 5"]
    assert told(run(project)) == [f"train.py DLL103 {HAZARD.index('lambda')}"]
    assert len(judged) == 2


def test_a_fix_that_nobody_asked_for_is_looked_for(project: Path, judged: list[str]) -> None:
    write(project / "other.py", HAZARD)
    cache = os.environ["DLLINT_CACHE_DIR"]
    check(Request(paths=(str(project / "other.py"),), cache=True, cache_dir=cache))
    assert all(fix is not None for _, fix in run(project).findings)
    assert len(judged) == 2


def test_a_report_without_fixes_makes_none(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = fixing.Remedies.fix
    monkeypatch.setattr(
        fixing.Remedies, "fix", lambda self, finding, of: made.append(finding.code) or real(self, finding, of)
    )
    root = str(project)
    bare = report("--no-cache", "--output-format", "concise", root)
    assert made == []
    assert "Up to 1 fixable: `--diff --unsafe-fixes` shows it." in bare.stderr
    shown = report("--no-cache", "--output-format", "full", root)
    assert made == ["DLL103"]
    assert "1 fixable with `--fix`." in shown.stderr
    write(project / "dllint.toml", 'output-format = "json"\n')
    assert json.loads(report("--no-cache", root).stdout)[0]["fix"]["edits"]


def test_a_verdict_without_fixes_answers_those_who_want_none(project: Path, judged: list[str]) -> None:
    first, second = run(project, remedies=False), run(project, remedies=False)
    assert (len(judged), whole(first)) == (1, whole(second))
    with_fixes = run(project)
    assert (len(judged), [fix is not None for _, fix in with_fixes.findings]) == (2, [True])
    assert [fix for _, fix in run(project, remedies=False).findings] == [None]
    assert whole(run(project)) == whole(with_fixes)
    assert len(judged) == 2, "both are kept"


def test_fixing_and_comments_and_stdin_are_never_remembered(project: Path, judged: list[str]) -> None:
    run(project)
    run(project, stdin=HAZARD.encode(), stdin_path=str(project / "train.py"))
    run(project, fix=True, write=False)
    run(project, add_noqa="", write=False)
    assert len(judged) >= 4


def test_a_crash_is_not_remembered(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(judge, "_ask", lambda rule, project, crashes: crashes.append("odd") or ())
        assert run(project).crashes
    result = run(project)
    assert not result.crashes
    assert len(result.findings) == 1


@pytest.mark.parametrize("damage", [b"", b"odd", b"\0\0\0\0\x92\x90\x80"])
def test_a_damaged_verdict_is_none(project: Path, judged: list[str], damage: bytes) -> None:
    first = told(run(project))
    (file,) = (project.parent / "cache").glob("facts-*/*/verdict-*")
    file.write_bytes(damage)
    assert told(run(project)) == first
    assert len(judged) == 2


def test_only_the_latest_are_kept(project: Path) -> None:
    for number in range(12):
        write(project / "train.py", HAZARD + f"x = {number}\n")
        run(project)
    assert len(list((project.parent / "cache").glob("facts-*/*/verdict-*"))) == 8


def test_a_run_that_knows_its_verdict_imports_neither_rules_nor_project(project: Path) -> None:
    write(project / "train.py", HAZARD, age_s=100)
    (project / ".git").mkdir()
    (project / ".gitignore").write_text("out/\n", encoding="utf-8")
    code = (
        "import sys, time\n"
        "from dllint.engine import reader\n"
        "reader.settled = lambda state, now: True\n"
        "from dllint.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ('dllint.project', 'dllint.collect', 'libcst', 'dllint_rules', 'importlib.metadata', 'pathspec')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, "check", "--output-format", "json", str(project)]
    paths = os.pathsep.join((str(ROOT), str(ROOT / "rules")))
    outputs = []
    for _ in range(2):
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}, timeout=120
        )
        found, _, modules = done.stdout.rstrip().rpartition("\n")
        outputs.append((json.loads(found), modules))
    (cold, _), (warm, modules) = outputs
    assert warm == cold and len(warm) == 1
    assert modules == "[]"
