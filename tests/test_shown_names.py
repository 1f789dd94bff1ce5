"""Names of files are data: no terminal, log or page takes them for commands, whatever the format."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dllint.report import shown
from dllint.report.formats import FORMATS
from dllint.report.markdown import code, prose
from tests.test_cli import check, folder

__all__ = ["folder"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="such file names are a matter of Linux")

LOADER = "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=2, collate_fn=lambda b: [b])\n"
NAMES = {
    "escape": "a\x1b]0;title\x07\x1b[2J.py",
    "eight bits": "a\x9b2J.py",
    "direction": "a\u202eyp.b.py",
    "command": "::stop-commands::x.py",
    "second line": "a\n::stop-commands::x\r::error::y.py",
    "azure": "##vso[task.setvariable variable=x]y.py",
    "old github": "##[add-path]x.py",
    "team city": "##teamcity[message text='x'].py",
}
LOGGED = ("concise", "full", "grouped", "pylint", "github", "markdown", "junit", "azure")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("form", FORMATS)
def test_no_format_lets_a_name_speak(folder: Path, form: str, name: str) -> None:
    (folder / name).write_text(LOADER)
    done = check("--output-format", form, "--no-cache")
    assert done.exit_code == 1
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & {*done.output}
    for line in done.stdout.splitlines():
        if form == "github" and line.startswith(("::error file=", "::warning file=")):
            continue  # our own command; all of a name in it is a property
        assert not line.lstrip().startswith("::"), line
        if form in LOGGED:
            command = line.removeprefix("##vso[task.logissue type=") if form == "azure" else line
            assert not any(mark in command for mark in ("##[", "##teamcity[")), line
            assert form == "azure" or "##vso[" not in command, line


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_no_message_lets_a_name_speak(folder: Path, name: str) -> None:
    for words in (("check", name), ("check", "--baseline", name), ("check", "--config", name), ("explain", name)):
        done = subprocess.run(
            [sys.executable, "-m", "dllint", *words], cwd=folder, capture_output=True, text=True, check=False
        )
        message = words[0] == "explain" and " " in name  # perhaps one that is not known
        assert done.returncode == 2 or (message and done.returncode == 1)
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & {*done.stderr}, words
        assert not any(line.startswith("::") for line in done.stderr.splitlines())


def test_usual_text_stays_as_it_is() -> None:
    for text in ("a/b.py", "größe 中.py", "a::b.py", "# x ## y", "##x", "x[0](1)", "a b", ":a"):
        assert shown(text) == text


@pytest.mark.parametrize("name", ["a`b.py", "`.py", "a``b`.py", "<img src=x>`<b>.py", "a|b.py", "a](javascript:x)`.py"])
def test_a_name_in_markdown_is_code(folder: Path, name: str) -> None:
    markdown = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    (folder / name).write_text(LOADER)
    text = check("--output-format", "markdown", "--no-cache", "--select", "DLL103").stdout
    html = markdown.render(text)
    assert html.count("<tr>") == 2
    assert not any(tag in html for tag in ("<img", "<b>", "<a "))
    shown_name = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f"<code>{shown_name}:2:" in html


def test_prose_keeps_its_code_and_nothing_else() -> None:
    assert prose("`a[0]` and ``b`c`` are <b>") == "`a[0]` and ``b`c`` are &lt;b>"
    assert prose("one ` alone, [x](y)") == r"one \` alone, \[x\](y)"
    assert code("a`") == "`` a` ``"


def test_a_diff_quotes_names_as_git_does(folder: Path) -> None:
    names = ["a\tb\nc.py", 'a"b\\c.py', "plain é.py"]
    for name in names:
        (folder / name).write_text(LOADER, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    done = check("--diff", "--unsafe-fixes", "--no-cache")
    (folder / "made.patch").write_text(done.stdout, encoding="utf-8")
    subprocess.run(["git", "apply", "made.patch"], cwd=folder, check=True)
    assert all("def " in (folder / name).read_text(encoding="utf-8") for name in names)
    assert os.path.exists(folder / names[0])
