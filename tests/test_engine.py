"""The pipeline, with rules that report words: what is shown, silenced, fixed, refused and written."""

from __future__ import annotations

import math
import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dllint import collect as collecting
from dllint.engine import Request, Result, check, why
from dllint.engine.write import Interrupted, NotWritten, write
from dllint.registry import Layer
from tests.fakes import DATASET, words

__all__ = ["words"]
pytestmark = pytest.mark.usefixtures("words")


def make(root: Path, **files: str | bytes) -> None:
    """Write files: `a__b` is a/b.py."""
    for name, content in files.items():
        place = root / f"{name.replace('__', '/')}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else (DATASET + content).encode())


def run(root: Path, *paths: str, **options: Any) -> Result:
    (root / "dllint.toml").touch()
    return check(Request(paths=tuple(str(root / path) for path in paths or (".",)), **options))


def told(result: Result) -> list[str]:
    return [
        f"{finding.path}:{result.source(finding.path).location(finding.span.start)[0]} {finding.code}"
        for finding, _ in result.findings
    ]


def text(root: Path, name: str = "a") -> str:
    return (root / f"{name}.py").read_bytes().decode().removeprefix(DATASET)


def fixed(root: Path, code: str, **options: Any) -> str:
    """The file after its fixes."""
    make(root, a=code)
    run(root, fix=True, **options)
    return text(root)


# What is shown.


def test_findings_come_in_reading_order(tmp_path: Path) -> None:
    make(tmp_path, b="x = BAD_NONE\n", a="WORSE\nBAD_NONE\n")
    assert told(run(tmp_path)) == ["a.py:2 DLL802", "a.py:3 DLL801", "b.py:2 DLL801"]


def test_a_finding_is_shown_when_its_cause_or_its_boundary_is_a_target(tmp_path: Path) -> None:
    make(tmp_path, vocab="BAD_X\n", train="import vocab\nSTART(BAD_X)\n", other="BAD_Y\n")
    assert told(run(tmp_path, "train.py")) == ["vocab.py:2 DLL801"]
    assert told(run(tmp_path, "vocab.py")) == ["vocab.py:2 DLL801"]
    assert told(run(tmp_path, "other.py")) == ["other.py:2 DLL801"]


def test_one_finding_a_cause(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_BOTH\n")
    assert told(run(tmp_path)) == ["a.py:2 DLL801"]
    assert told(run(tmp_path, layer=Layer(ignore=("DLL801",)))) == ["a.py:2 DLL802"]


def test_opt_in_rules_bring_their_own_trigger_words(tmp_path: Path) -> None:
    make(tmp_path, a=b"SHY\n")
    assert told(run(tmp_path)) == []
    assert told(run(tmp_path, layer=Layer(extend_select=("shy-word",)))) == ["a.py:1 DLL803"]


def test_per_file_ignores_speak_of_the_file_with_the_cause(tmp_path: Path) -> None:
    make(tmp_path, tests__a="BAD_X\n", src__b="import tests.a\nBAD_Y\nSTART(BAD_X)\n")
    (tmp_path / "dllint.toml").write_text('[per-file-ignores]\n"tests/*" = ["DLL8"]\n')
    assert told(run(tmp_path)) == ["src/b.py:3 DLL801"]
    (tmp_path / "dllint.toml").write_text('[per-file-ignores]\n"!src/**" = ["bad-word"]\n')
    assert told(run(tmp_path)) == ["src/b.py:3 DLL801"]


def test_a_crash_in_a_rule_names_rule_and_place_and_hides_nothing_else(tmp_path: Path) -> None:
    make(tmp_path, a="WORSE\nBAD_RULE\n")
    result = run(tmp_path)
    assert told(result) == ["a.py:2 DLL802"]
    (crash,) = result.crashes
    assert crash.startswith("internal error in DLL801 (bad-word): RuntimeError: the rule broke (fakes.py:")


def test_a_crash_while_a_file_is_looked_at_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests import fakes

    def crash(self: fakes.Worse, project: Any) -> Any:
        for model in project.models.values():
            raise KeyError(model.exports)
        yield

    monkeypatch.setattr(fakes.Worse, "check", crash)
    make(tmp_path, a="BAD_X\n")
    result = run(tmp_path)
    assert told(result) == ["a.py:2 DLL801"]
    assert "internal error in DLL802 (worse-word) at a.py: KeyError" in result.crashes[0]


def test_a_crash_while_collecting_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def collect(source: Any) -> Any:
        if source.path == "a.py":
            raise ValueError("odd")
        return real(source)

    real = collecting.collect
    monkeypatch.setattr(collecting, "collect", collect)
    make(tmp_path, a="BAD_X\n", b="BAD_Y\n")
    result = run(tmp_path)
    assert told(result) == ["b.py:2 DLL801"]
    assert result.crashes[0].startswith("internal error while reading a.py: ValueError: odd (test_engine.py:")


# Ignore comments.


def test_comments_at_the_cause_silence(tmp_path: Path) -> None:
    lines = ["BAD_A  # noqa", "BAD_B  # noqa: DLL801", "BAD_C  # noqa: E501", "BAD_D  # noqa: DLL8"]
    lines += ["BAD_E  # dllint: ignore[bad-word]", "BAD_F  # dllint: ignore[DLL802]", "# dllint: ignore", "BAD_G"]
    lines += ["f(BAD_H,  # noqa: dll801", "  BAD_I)"]
    make(tmp_path, a="\n".join(lines) + "\n")
    assert told(run(tmp_path)) == ["a.py:4 DLL801", "a.py:7 DLL801", "a.py:11 DLL801"]


def test_a_comment_at_the_boundary_silences(tmp_path: Path) -> None:
    make(tmp_path, vocab="BAD_X\n", train="import vocab\nSTART(BAD_X)  # dllint: ignore[DLL801]\n")
    assert told(run(tmp_path)) == []


def test_comments_for_the_whole_file_silence(tmp_path: Path) -> None:
    make(tmp_path, a="# flake8: noqa\nBAD_X\n", b="# dllint: noqa: DLL802\nBAD_X\nWORSE\n")
    assert told(run(tmp_path)) == ["b.py:3 DLL801"]


def test_unused_and_unknown_comments_are_told_when_asked_for(tmp_path: Path) -> None:
    lines = ["BAD_A  # noqa: DLL801, E501", "x  # noqa: DLL801", "y  # dllint: ignore[DLL8, shy-word]"]
    lines += ["z  # noqa", "z  # dllint: ignore[no-such-rule]  ", "z  # noqa: DLL777,X100", "z  # dllint: ignore"]
    make(tmp_path, a="\n".join(lines) + "\n")
    assert told(run(tmp_path)) == []
    asked = run(tmp_path, layer=Layer(extend_select=("DLL901", "DLL902")))
    assert told(asked) == ["a.py:3 DLL901", "a.py:6 DLL902", "a.py:7 DLL902", "a.py:8 DLL901"]
    every = run(tmp_path, layer=Layer(select=("ALL",)))
    assert [line for line in told(every) if line.startswith("a.py:4")] == ["a.py:4 DLL901"]
    assert "`DLL8` and `shy-word` silence nothing here" in {finding.message for finding, _ in every.findings}
    assert {finding.message for finding, _ in asked.findings} == {
        "`DLL801` silences nothing here",
        "this comment silences nothing here",
        "`no-such-rule` names no rule, so it silences nothing",
        "`DLL777` names no rule, so it silences nothing",
    }


def test_unused_comments_are_found_in_files_that_nothing_else_would_parse(tmp_path: Path) -> None:
    make(tmp_path, a=b"x = 1  # noqa: DLL801\n")
    assert told(run(tmp_path, layer=Layer(extend_select=("DLL901",)))) == ["a.py:1 DLL901"]


# Files that cannot be checked.


def test_broken_files_are_findings_and_the_others_are_checked(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_X\n", syntax="x = (\n", python2='print "x"\n', binary=b"Dataset\0", latin=b"# Dataset \xe9\n")
    result = run(tmp_path)
    broken = ["binary.py:1 DLL903", "latin.py:1 DLL903", "python2.py:2 DLL900", "syntax.py:2 DLL900"]
    assert told(result) == ["a.py:2 DLL801", *broken]
    messages = {finding.path: finding.message for finding, _ in result.findings}
    assert "binary" in messages["binary.py"]
    assert "byte 0xe9" in messages["latin.py"]
    assert "`print x` is Python 2" in messages["python2.py"]
    assert result.crashes == ()


def certain(result: Result) -> list[str]:
    """The files with findings that are certain."""
    return [finding.path for finding, _ in result.findings if finding.certainty.value == "certain"]


def test_what_a_program_does_that_imports_a_broken_file_is_likely(tmp_path: Path) -> None:
    files = {"dies": "import middle\nBAD_X\n", "middle": "import syntax\nBAD_X\n", "syntax": "x = (\n"}
    make(tmp_path, **files, data="BAD_X\n", starts="import data\nBAD_X\n")
    assert certain(run(tmp_path)) == ["data.py", "starts.py", "syntax.py"]
    make(tmp_path, starts="import data\nimport middle\nBAD_X\n")
    assert certain(run(tmp_path)) == ["syntax.py"], "data.py is a part of no other program"
    make(tmp_path, starts="import data\ntry:\n    import middle\nexcept SyntaxError:\n    pass\nBAD_X\n")
    assert certain(run(tmp_path)) == ["data.py", "starts.py", "syntax.py"]


def test_files_that_matter_to_nobody_are_not_parsed_unless_named(tmp_path: Path) -> None:
    make(tmp_path, a=b"x = (\n", b="BAD_X\n")
    assert told(run(tmp_path)) == ["b.py:2 DLL801"]
    assert told(run(tmp_path, "a.py", "b.py")) == ["a.py:1 DLL900", "b.py:2 DLL801"]


def test_a_file_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dllint.engine import reader

    def read(root: str, path: str) -> bytes:
        if path == "a.py":
            raise PermissionError(13, "Permission denied")
        return real(root, path)

    real = reader.read
    monkeypatch.setattr(reader, "read", read)
    make(tmp_path, a="BAD_X\n", b="BAD_Y\n")
    result = run(tmp_path)
    assert told(result) == ["a.py:1 DLL903", "b.py:2 DLL801"]
    assert result.findings[0][0].message == "not analyzed: Permission denied"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    assert told(run(tmp_path, "a.py")) == ["a.py:1 DLL903"]


def test_missing_paths_do_not_hide_the_others(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_X\n")
    result = run(tmp_path, "a.py", "none.py")
    assert told(result) == ["a.py:2 DLL801"]
    assert result.crashes == (f"{tmp_path / 'none.py'}: no such file or folder",)


def test_nothing_to_check_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run(tmp_path, "empty").warnings == (f"no Python files found under {tmp_path / 'empty'}",)


# Fixes.


def test_safe_fixes_are_applied_and_unsafe_ones_when_asked_for(tmp_path: Path) -> None:
    code = "BAD_A  # kept\nBAD_UNSAFE\nBAD_MANUAL\nBAD_NONE\n"
    assert fixed(tmp_path, code) == "good_a  # kept\nBAD_UNSAFE\nBAD_MANUAL\nBAD_NONE\n"
    assert fixed(tmp_path, code, unsafe_fixes=True) == "good_a  # kept\ngood_unsafe\nBAD_MANUAL\nBAD_NONE\n"


@pytest.mark.parametrize(
    ("config", "after"),
    [
        ("unsafe-fixes = true", "good_a\ngood_unsafe\n"),
        ('extend-safe-fixes = ["DLL801"]', "good_a\ngood_unsafe\n"),
        ('extend-unsafe-fixes = ["DLL801"]', "BAD_A\nBAD_UNSAFE\n"),
        ('extend-unsafe-fixes = ["ALL"]\nextend-safe-fixes = ["bad-word"]', "good_a\ngood_unsafe\n"),
        ('unfixable = ["bad-word"]', "BAD_A\nBAD_UNSAFE\n"),
        ('fixable = ["DLL802"]', "BAD_A\nBAD_UNSAFE\n"),
        ('unfixable = ["DLL8"]\nfixable = ["DLL801"]', "good_a\nBAD_UNSAFE\n"),
    ],
)
def test_the_configuration_decides_what_fixes_are_worth(tmp_path: Path, config: str, after: str) -> None:
    (tmp_path / "dllint.toml").write_text(config)
    assert fixed(tmp_path, "BAD_A\nBAD_UNSAFE\n") == after


def test_the_result_says_what_is_left(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_A\nBAD_B\nBAD_NONE\n")
    result = run(tmp_path, fix=True)
    assert result.fixed == {"DLL801": 2}
    assert told(result) == ["a.py:4 DLL801"]
    assert [change.before.path for change in result.changes] == ["a.py"]
    again = run(tmp_path, fix=True)
    assert (again.fixed, again.changes) == ({}, ())


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("BAD_SYNTAX", "the result does not parse"),
        ("BAD_STAY", "DLL801 would still be reported in a.py"),
        ("BAD_WORSE", "DLL802 would be reported in a.py"),
    ],
)
def test_fixes_that_do_not_help_are_refused_one_by_one(tmp_path: Path, word: str, reason: str) -> None:
    make(tmp_path, a=f"BAD_A\nx = {word}\nBAD_B\nBAD_C\n")
    result = run(tmp_path, fix=True, layer=Layer(select=("DLL801",)))
    assert text(tmp_path) == f"good_a\nx = {word}\ngood_b\ngood_c\n"
    assert told(result) == ["a.py:3 DLL801", "a.py:3 DLL904"]
    assert f"the fix of DLL801 was not applied: {reason}" in result.findings[1][0].message
    span = result.findings[1][0].span
    assert result.source("a.py").text[span.start : span.end] == word, "told where it now is"


def test_what_two_fixes_define_is_written_once(tmp_path: Path) -> None:
    assert fixed(tmp_path, "x = BAD_SHARED\ny = BAD_SHARED\n") == "def _shared(): ...\nx = _shared\ny = _shared\n"


def test_what_a_refused_fix_would_have_defined_is_defined_by_the_next(tmp_path: Path) -> None:
    make(tmp_path, a="x = BAD_SHARED_WORSE\ny = BAD_SHARED\nz = BAD_SHARED\n")
    run(tmp_path, fix=True, layer=Layer(select=("DLL801",)))
    assert text(tmp_path) == "def _shared(): ...\nx = BAD_SHARED_WORSE\ny = _shared\nz = _shared\n"


def test_a_fix_may_not_edit_a_file_that_is_no_target(tmp_path: Path) -> None:
    make(tmp_path, vocab="BAD_X\n", train="import vocab\nSTART(BAD_X)\nBAD_Y\n")
    result = run(tmp_path, "train.py", fix=True)
    assert told(result) == ["vocab.py:2 DLL801"]
    assert (text(tmp_path, "vocab"), text(tmp_path, "train")) == ("BAD_X\n", "import vocab\nSTART(BAD_X)\ngood_y\n")


def test_imports_are_added_once_a_file(tmp_path: Path) -> None:
    assert fixed(tmp_path, "import os\n\nBAD_IMPORT\nBAD_IMPORT2\n") == (
        "import os\nfrom functools import partial\n\ngood_import\ngood_import2\n"
    )


def test_a_fix_without_a_place_in_the_encoding_is_refused(tmp_path: Path) -> None:
    make(tmp_path, a="# -*- coding: latin-1 -*-\nx = BAD_OMEGA  # é\n".encode("latin-1"))
    result = run(tmp_path, "a.py", fix=True)
    assert told(result) == ["a.py:2 DLL801", "a.py:2 DLL904"]
    assert "codec can't encode" in result.findings[1][0].message


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfBAD_A\r\nx = 1\r\n",
        b"# -*- coding: latin-1 -*-\nBAD_A = '\xe9'\n",
        b"BAD_A\nno_newline = 1",
        "BAD_A = '中'\n".encode(),
    ],
)
def test_bytes_are_kept_besides_the_fix(tmp_path: Path, content: bytes) -> None:
    make(tmp_path, a=content)
    run(tmp_path, "a.py", fix=True)
    assert (tmp_path / "a.py").read_bytes() == content.replace(b"BAD_A", b"good_a")


def test_files_that_cannot_be_printed_back_are_reported_and_not_fixed(tmp_path: Path) -> None:
    code = "x = 1\n\fdef f():\n    BAD_A\n"
    assert fixed(tmp_path, code) == code
    result = run(tmp_path)
    assert told(result) == ["a.py:4 DLL801"]
    fix = result.findings[0][1]
    assert fix is not None
    assert (fix.title, fix.edits) == ("replace `BAD_A`; this file has form feeds, which would be lost", ())


def test_a_file_with_old_line_ends_is_told(tmp_path: Path) -> None:
    code = "x = 1\rBAD_A\r"
    assert fixed(tmp_path, code) == code
    fix = run(tmp_path).findings[0][1]
    assert fix is not None
    assert fix.title == "replace `BAD_A`; lines of this file end with carriage returns alone"


def test_a_crash_in_a_fix_is_told_with_its_place(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_CRASH\nBAD_A\n")
    result = run(tmp_path, fix=True)
    assert text(tmp_path) == "BAD_CRASH\ngood_a\n"
    (crash,) = result.crashes
    assert crash.startswith("internal error in the fix of DLL801 at a.py:2:1: RuntimeError: the fix broke")


def test_nothing_is_written_when_not_asked_to(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_A\n")
    result = run(tmp_path, fix=True, write=False)
    assert text(tmp_path) == "BAD_A\n"
    assert result.changes[0].after.text == f"{DATASET}good_a\n"


def test_reports_carry_the_whole_fix(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_IMPORT\nBAD_MANUAL\n")
    (_, first), (_, second) = run(tmp_path).findings
    assert first is not None
    assert second is not None
    assert {edit.text.strip() for edit in first.edits} == {"good_import", "from functools import partial"}
    assert (second.applicability.label, second.snippet) == ("display-only", "good = 1\ngood = 2")


def test_a_fix_of_two_files_is_shown_and_not_applied(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_APART\n", b="y\n")
    result = run(tmp_path, fix=True, unsafe_fixes=True)
    assert (result.changes, told(result)) == ((), ["a.py:2 DLL801"])
    ((_, fix),) = result.findings
    assert fix is not None
    assert fix.applicability.label == "display-only"


def test_a_fix_of_two_files_that_could_do_with_one_is_applied(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_ALONE\n", b="y\n")
    run(tmp_path, "a.py", fix=True)
    assert (text(tmp_path), text(tmp_path, "b")) == ("good_alone\n", "y\n")
    make(tmp_path, a="BAD_ALONE\n", b="y\n")
    run(tmp_path, fix=True)
    assert (text(tmp_path), text(tmp_path, "b")) == ("shared\n", "shared = 1\ny\n")


# Writing.


def test_writing_keeps_mode_and_links(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_A\n", b="BAD_B\n")
    (tmp_path / "a.py").chmod(0o750)
    try:
        (tmp_path / "link.py").symlink_to("b.py")
    except OSError:
        pytest.skip("no symbolic links here")
    run(tmp_path, "a.py", "link.py", fix=True)
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == 0o750
    assert (tmp_path / "link.py").is_symlink()
    assert text(tmp_path, "b") == "good_b\n"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.py", "b.py", "dllint.toml", "link.py"]


def test_a_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "a.py"
    place.write_bytes(b"new")
    with pytest.raises(NotWritten, match="changed in the meantime"):
        write(str(tmp_path), "a.py", b"old", b"fixed")
    assert place.read_bytes() == b"new"


def test_a_file_that_would_lose_something_is_not_written(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside.py"
    project.mkdir()
    outside.write_bytes(b"old")
    (project / "link.py").symlink_to(outside)
    (project / "own.py").write_bytes(b"old")
    (project / "inside.py").symlink_to(project / "own.py")
    (project / "hard.py").write_bytes(b"old")
    os.link(project / "hard.py", project / "other.py")
    for name, reason in (("link.py", "outside the project"), ("hard.py", "other hard links")):
        with pytest.raises(NotWritten, match=reason):
            write(str(project), name, b"old", b"new")
    write(str(project), "inside.py", b"old", b"new")
    contents = {file.name: file.read_bytes() for file in project.iterdir()}
    assert contents == dict.fromkeys(contents, b"old") | {"own.py": b"new", "inside.py": b"new"}
    assert outside.read_bytes() == b"old"


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
def test_extended_attributes_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a.py"
    place.write_bytes(b"old")
    try:
        os.setxattr(place, "user.origin", b"here")
    except OSError:
        pytest.skip("this file system has none")
    write(str(tmp_path), "a.py", b"old", b"new")
    assert (place.read_bytes(), os.getxattr(place, "user.origin")) == (b"new", b"here")
    monkeypatch.setattr(os, "setxattr", refusing)
    with pytest.raises(NotWritten, match=r"`user\.origin` would be lost"):
        write(str(tmp_path), "a.py", b"new", b"newer")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a.py"
    place.write_bytes(b"old")
    os.chown(place, 1234, 2345)
    place.chmod(0o640)
    write(str(tmp_path), "a.py", b"old", b"new")
    status = place.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 2345, 0o640)
    monkeypatch.setattr(os, "chown", refusing)
    with pytest.raises(NotWritten, match="belongs to another user"):
        write(str(tmp_path), "a.py", b"new", b"newer")


def refusing(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_what_is_not_written_is_not_called_fixed(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_A\n", b="BAD_A\n")
    os.link(tmp_path / "a.py", tmp_path / "elsewhere.txt")
    result = run(tmp_path, fix=True)
    assert result.crashes == ("a.py: not written: it has other hard links, which would keep the old text",)
    assert [item.path for item in result.applied] == ["b.py"]
    assert told(result) == ["a.py:2 DLL801"]
    assert [change.after.path for change in result.changes] == ["b.py"]


def test_an_interrupt_says_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, a="BAD_A\n", b="BAD_A\n")
    real = os.replace

    def replace(source: str, place: str) -> None:
        if place.endswith("b.py"):
            raise KeyboardInterrupt
        real(source, place)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(Interrupted, match=r"1 of 2 files were written: a\.py"):
        run(tmp_path, fix=True)


def test_what_a_killed_run_has_left_goes_at_the_next_one(tmp_path: Path) -> None:
    make(tmp_path, a="BAD_A\n")
    left, fresh = (tmp_path / f".dllint-{digit * 16}.tmp" for digit in "0f")
    for file in (left, fresh):
        file.write_bytes(b"")
    os.utime(left, (0, 0))
    (tmp_path / ".dllint-mine.tmp").write_bytes(b"")
    run(tmp_path)
    assert left.exists()
    run(tmp_path, fix=True)
    assert (left.exists(), fresh.exists(), (tmp_path / ".dllint-mine.tmp").exists()) == (False, True, True)


def test_a_failed_write_leaves_the_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", replace)
    make(tmp_path, a="BAD_A\n")
    result = run(tmp_path, fix=True)
    assert result.crashes == ("a.py: not written: No space left on device",)
    assert text(tmp_path) == "BAD_A\n"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.py", "dllint.toml"]


def killed_after(seconds: float, work: Callable[[], object]) -> float:
    """Do something in a process that is killed after so long, or never; the time that it took."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    if seconds < math.inf:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return time.monotonic() - began


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("times", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_at_any_moment_every_file_is_old_or_new(times: int, tmp_path: Path) -> None:
    """A process that writes 200 files is killed at moments spread over the time that it takes."""
    old, new = b"old\n" * 2_000, b"new!\n" * 2_000
    files = [tmp_path / f"{number}.py" for number in range(200)]
    takes, partly = math.inf, 0

    def write_all() -> None:
        for file in files:
            write(str(tmp_path), file.name, old, new)

    for attempt in range(times):
        for file in files:
            file.write_bytes(old)
        took = killed_after(takes * attempt / times if attempt else math.inf, write_all)
        takes = takes if attempt else took
        contents = [file.read_bytes() for file in files]
        assert set(contents) <= {old, new}
        partly += len(set(contents)) == 2
    assert partly > times / 10, "it was hardly ever killed while it wrote"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("times", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_fixing_killed_at_any_moment_leaves_every_file_old_or_new(times: int, tmp_path: Path) -> None:
    """The whole run, which reads, asks, tries its fixes and then writes: killed at moments spread over its time."""
    names = [f"file_{number}" for number in range(200)]
    make(tmp_path, **dict.fromkeys(names, "BAD_A\n"))
    files = [tmp_path / f"{name}.py" for name in names]
    old = files[0].read_bytes()
    new = old.replace(b"BAD_A", b"good_a")
    takes = math.inf
    for attempt in range(times + 1):
        for file in files:
            file.write_bytes(old)
        took = killed_after(takes * attempt / times if attempt else math.inf, lambda: run(tmp_path, fix=True))
        takes = takes if attempt else took
        assert {file.read_bytes() for file in files} <= {old, new}
        assert attempt or files[-1].read_bytes() == new


# Standard input and questions.


def test_stdin_stands_in_for_a_file_of_the_project(tmp_path: Path) -> None:
    make(tmp_path, vocab="x\n", train="import vocab\nSTART(BAD_X)\n")
    place = str(tmp_path / "vocab.py")
    (tmp_path / "dllint.toml").touch()
    result = check(Request(paths=(), stdin=b"import os\nBAD_X\n", stdin_path=place, fix=True))
    assert result.fixed == {"DLL801": 1}
    assert result.changes[0].after.text == "import os\ngood_x\n"
    assert text(tmp_path, "vocab") == "x\n"


def test_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path, a="BAD_X\nBAD_Y  # noqa: DLL801\n", b=b"x = (\n")
    (tmp_path / "dllint.toml").touch()

    def asked(name: str, row: int) -> list[str]:
        return why(Request(paths=(name,)), name, row)

    assert asked("a.py", 2)[0] == "DLL801 is reported here: `BAD_X` is bad"
    assert asked("a.py", 3)[0] == "DLL801 is silenced by the comment at a.py:3: `BAD_Y` is bad"
    assert asked("b.py", 1) == ["b.py: syntax error: '(' was never closed"]


def test_why_tells_of_what_a_later_definition_replaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dllint.toml").touch()
    load = "def load(items):\n    return DataLoader(items, num_workers=2, collate_fn=lambda batch: batch)\n\n\n"
    (tmp_path / "a.py").write_text(f"from torch.utils.data import DataLoader\n\n{load}{load}", encoding="utf-8")
    reason = "this never runs: a later definition of the same name replaces it before anything uses it"
    assert why(Request(paths=("a.py",)), "a.py", 4) == [reason]
    assert reason not in why(Request(paths=("a.py",)), "a.py", 8)


def test_why_tells_of_callers_that_were_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dllint.toml").touch()
    calls = "\n".join(f"    words.clean('{number}')" for number in range(70))
    program = (
        "from torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Words(Dataset):\n"
        "    def clean(self, word):\n"
        "        return word.strip()\n\n"
        "    def __getitem__(self, index):\n"
        "        return self.clean(str(index))\n\n\n"
        "if __name__ == '__main__':\n"
        "    words = Words()\n{}\n"
        "    for batch in DataLoader(words, num_workers=2):\n        pass\n"
    )
    limit = "more than 64 calls may mean `clean`, so they are not told apart: nothing behind it is certain"
    for text, told in ((program.format(calls), True), (program.format("    words.clean('0')"), False)):
        (tmp_path / "words.py").write_text(text, encoding="utf-8")
        assert any(limit in line for line in why(Request(paths=("words.py",)), "words.py", 6)) is told
        assert not any(limit in line for line in why(Request(paths=("words.py",)), "words.py", 9))
