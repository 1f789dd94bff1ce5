"""What a terminal gets: progress, links, completion, and checking again whenever a file changes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from dllint.engine.progress import observed, steps, track
from dllint.report.paint import Paint, has_links
from tests.test_cli import CONCISE, PROGRAM, REPOSITORY, dllint, folder, program

__all__ = ["folder", "program"]

posix = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals and signals are a matter of POSIX")


# Progress.


def test_progress_is_told_to_whoever_wants_to_know() -> None:
    told: list[tuple[str, int, int]] = []
    assert list(track("nobody asks", ["a"])) == ["a"]
    with observed(lambda *step: told.append(step)):
        assert list(track("reading", ["a", "b"])) == ["a", "b"]
        assert list(steps("asking", iter("c"), 1)) == ["c"]
    assert list(track("nobody asks any more", ["a"])) == ["a"]
    assert told == [("reading", 0, 2), ("reading", 1, 2), ("reading", 2, 2), ("asking", 0, 1), ("asking", 1, 1)]


def on_terminal(folder: Path, code: str, *args: str, **environment: str) -> str:
    """What a program writes to standard output and error when they are a terminal."""
    import pty

    parent, child = pty.openpty()
    keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS")}
    env = {**keep, "PYTHONPATH": str(REPOSITORY), "TERM": "xterm-256color", "PYTHONUTF8": "1", **environment}
    with subprocess.Popen([sys.executable, "-c", code, *args], cwd=folder, env=env, stdout=child, stderr=child):
        os.close(child)
        shown = b""
        try:
            while more := os.read(parent, 65536):
                shown += more
        except OSError:  # how a pseudo-terminal ends
            pass
    os.close(parent)
    return shown.decode()


WAITING = """
import time, dllint.report.progress as progress
progress.PATIENCE_S = 0.1
with progress.Bar() as bar:
    bar("finding files", 0, 0)
    time.sleep(1)
    bar("asking rules", 0, 70)
    time.sleep(1)
"""


@posix
def test_a_step_that_takes_long_is_shown_before_it_tells_of_anything(tmp_path: Path) -> None:
    shown = on_terminal(tmp_path, WAITING)
    assert "finding files" in shown and "asking rules" in shown and "0/70" in shown


MAIN = "import dllint.cli, dllint.report.progress\ndllint.report.progress.PATIENCE_S = {}\ndllint.cli.main()"


@posix
def test_a_long_run_shows_a_bar_and_takes_it_away(program: Path) -> None:
    shown = on_terminal(program, MAIN.format(0), "check", "--output-format", "concise")
    assert "asking rules" in shown
    assert "\033[2K" in shown, "the bar's lines are cleared"
    assert re.search(r"words\.py.*:8:35: .*DLL101", shown.rsplit("\033[2K", 1)[1]), "the findings come after"


@posix
def test_a_short_run_and_a_dumb_terminal_have_no_bar(program: Path) -> None:
    assert "asking" not in on_terminal(program, MAIN.format(60), "check")
    assert "asking" not in on_terminal(program, MAIN.format(0), "check", TERM="dumb")


def test_in_a_pipe_there_is_no_bar_however_long_it_takes(program: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", f"import sys\n{MAIN.format(0)}", "check"]
    done = subprocess.run(command, cwd=program, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(CONCISE)
    assert "asking" not in done.stdout + done.stderr


# Links.


@pytest.mark.parametrize(
    ("environment", "links"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"VTE_VERSION": "6800"}, True),
        ({"VTE_VERSION": "4800"}, False),
        ({"WT_SESSION": "1"}, True),
        ({"WT_SESSION": "1", "FORCE_HYPERLINK": "0"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_terminals_that_have_links(environment: dict[str, str], links: bool) -> None:
    assert has_links(environment) == links


def test_a_link_leads_to_a_file_that_is_there(tmp_path: Path) -> None:
    page = tmp_path / "a page.md"
    assert Paint(True, links=True).link("DLL101", str(page)) == "DLL101"
    page.touch()
    uri = page.as_uri()
    assert Paint(True, links=True).link("DLL101", str(page)) == f"\033]8;;{uri}\033\\DLL101\033]8;;\033\\"
    assert Paint(True).link("DLL101", str(page)) == "DLL101"


@posix
@pytest.mark.parametrize("form", ["concise", pytest.param("full", marks=pytest.mark.slow)])
def test_codes_are_links_on_such_a_terminal(program: Path, form: str) -> None:
    args = ("check", "--output-format", form)
    shown = on_terminal(program, MAIN.format(60), *args, FORCE_HYPERLINK="1")
    (uri,) = re.findall(r"\033\]8;;(file://[^\033]+)\033\\\033\[31;1mDLL101\033\[0m\033\]8;;\033\\", shown)
    assert uri.endswith("/dll101_lambda_default_factory.md")
    assert "\033]8" not in on_terminal(program, MAIN.format(60), *args, FORCE_HYPERLINK="1", NO_COLOR="1")
    assert "\033]8" not in dllint(program, *args, "--color", "always", FORCE_HYPERLINK="1").stdout, "not in pipes"


@posix
def test_why_fits_the_terminal_and_is_a_line_a_step_in_a_pipe(program: Path) -> None:
    args = ("check", "--why", "words.py:8")
    piped = dllint(program, *args).stdout
    assert max(map(len, piped.splitlines())) > 60
    shown = on_terminal(program, MAIN.format(60), *args, COLUMNS="60")
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.split() == piped.split()


# Completion.


def completed(words: str, shell: str = "bash") -> list[str]:
    """What a shell is offered for the last of these words."""
    count = str(len(words.split(" ")) - 1)
    variables = {"_DLLINT_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": count}
    return [line.removeprefix("plain,") for line in dllint(REPOSITORY, **variables).stdout.splitlines()]


def test_commands_options_and_rules_are_completed() -> None:
    assert "check" in completed("dllint ch")
    assert "--select" in completed("dllint check --sel")
    assert completed("dllint check --select DLL10")[:2] == ["DLL101", "DLL102"]
    assert completed("dllint check --select DLL101,DLL90")[:2] == ["DLL101,DLL900", "DLL101,DLL901"]
    assert completed("dllint check --ignore lambda-def") == ["lambda-default-factory"]
    assert completed("dllint check --extend-select al") == ["ALL"]
    assert "DLL101" in completed("dllint rule DLL")
    assert completed("dllint config target-pl") == ["target-platforms"]


@posix
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(folder: Path, shell: str) -> None:
    script = dllint(REPOSITORY, "completion", shell).stdout
    assert "_DLLINT_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    (folder / "script").write_text(script)
    subprocess.run([shell, "-n", "script"], cwd=folder, check=True)


@posix
def test_bash_completes_with_it(folder: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    (folder / "script").write_text(dllint(REPOSITORY, "completion", "bash").stdout)
    (folder / "dllint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dllint "$@"\n')
    (folder / "dllint").chmod(0o755)
    code = (
        "source script; COMP_WORDS=(dllint check --select DLL101,DLL90); COMP_CWORD=3\n"
        '_dllint_completion dllint; echo "${COMPREPLY[@]}"'
    )
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split()[:2] == ["DLL101,DLL900", "DLL101,DLL901"]


def test_a_shell_that_is_not_known() -> None:
    assert dllint(REPOSITORY, "completion", "tcsh").returncode == 2


# Watching.


@pytest.fixture
def watching(program: Path) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "dllint", "check", "--watch"],
        cwd=program,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield process
        process.kill()


def until(stream: IO[str] | None, text: str) -> str:
    """The lines up to one with this text."""
    assert stream is not None
    lines = ""
    for line in stream:
        lines += line
        if text in line:
            return lines
    raise AssertionError(f"{text!r} never came: {lines}")


@posix
def test_watching(program: Path, watching: subprocess.Popen[str]) -> None:
    shown = until(watching.stdout, "Watching for changes")
    assert "words.py:8:35: DLL101" in shown
    (program / "words.py").write_text(PROGRAM.replace("lambda: 0", "int"))
    assert "0 findings in 1 file." in until(watching.stdout, "Watching for changes")
    (program / "dllint.toml").write_text("selct = []\n")
    assert "error: " in until(watching.stdout, "Watching for changes")
    (program / "dllint.toml").write_text("")
    (program / "more.py").write_text(PROGRAM)
    while "more.py:8:35: DLL101" not in until(watching.stdout, "Watching for changes"):
        pass
    time.sleep(0.2)
    watching.send_signal(signal.SIGINT)
    assert watching.wait(timeout=20) == 130


@pytest.mark.parametrize("args", [["-"], ["--why", "a.py:1"]])
def test_what_cannot_be_watched(folder: Path, args: list[str]) -> None:
    (folder / "a.py").touch()
    done = dllint(folder, "check", "--watch", *args)
    assert done.returncode == 2
    assert "--watch cannot be combined" in done.stderr
