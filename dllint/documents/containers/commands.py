"""`docker run` as a shell reads it: in scripts and Makefiles, and in what Markdown and GitLab CI quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.documents.containers.container import MOUNT, SIZE, Container, words_of
from dllint.fix import Edit
from dllint.source import Source, Span

_RUN = re.compile(
    r"(?:^|[;&|(]|\b(?:sudo|exec|then|do|else|time|nohup)\b)[ \t]*(?:-\w+[ \t]+)*(?:[A-Z_]+=\S*[ \t]+)*"
    r"(?P<run>(?P<tool>nvidia-docker|docker|podman)(?:[ \t]+container)?[ \t]+(?:run|create))(?=[ \t\\])"
)
LINE = re.compile(r"(?:[^\\\r\n]|\\(?:\r\n|.)?)*", re.DOTALL)
"""A line with those that a backslash at its end joins to it."""
WORD = re.compile(
    r"(?:[^\s\"'\\;&|()<>`$]|\\[^\r\n]|\"(?:\\.|[^\"\\])*\"|'[^']*'|\$\([^)]*\)|`[^`]*`|\$\{[^}]*\}|\$|<[^<>\s]*>)+",
    re.DOTALL,
)
GAP = re.compile(r"(?:[ \t]|\\\r?\n)+")
_SWITCHES = frozenset({
    *("--detach", "--disable-content-trust", "--help", "--init", "--interactive", "--no-healthcheck"),
    *("--oom-kill-disable", "--privileged", "--publish-all", "--quiet", "--read-only", "--rm", "--sig-proxy", "--tty"),
})  # fmt: skip
"""Options that take no value."""
_SHORT = "ditPq"
_VARIABLE = re.compile(r"\"?\$(?:[({]?)(\w+)(?:\[[@*]\])?[)}]?\"?$")
_IMAGE = re.compile(r"image|tag|repo|name|container", re.IGNORECASE)
_HERE = re.compile(
    r"(?:--volume=|-v|--mount=)?(?:[^,=]*=[^,]*,)*(?:source=|src=)?[\"']*(?:\$\(pwd\)|\$\(PWD\)|\$\(CURDIR\)|\$\{?PWD\}?|`pwd`|%cd%|\.)[\"']*(?=[:,]|$)"
)
"""What mounts the folder that a command is run in."""


class Run(NamedTuple):
    """One command: where it stands, its options, and the words from the image on."""

    tool: str
    span: Span
    options: tuple[str, ...]
    variables: tuple[str, ...]
    """Those that stand where options do, and not for the image."""
    rest: tuple[str, ...]


def containers(source: Source) -> Iterator[Container]:
    """The containers that a script runs."""
    return found_in(source, 0, len(source.text))


def found_in(source: Source, start: int, end: int, prompt: str = r"[@\-\s]*") -> Iterator[Container]:
    """The containers that the commands between two offsets run. Commands with unknown options yield nothing."""
    for run in _runs(source.text, start, end, re.compile(prompt)):
        given = [_assigned(source.text, name) for name in run.variables]
        if None in given:
            continue
        options = (*run.options, *(text for texts in given for text in texts or ()))
        yield Container(
            path=source.path,
            span=run.span,
            name="",
            what=f"`{' '.join(source.text[run.span.start : run.span.end].split())}`",
            enough=gives_memory(options),
            gpu=run.tool == "nvidia-docker" or wants_gpu(options),
            folder="" if any(map(_HERE.match, options)) else None,
            image="".join(run.rest[:1]),
            words=words_of(list(run.rest[1:])),
            remedy=f"`--shm-size={SIZE}` (or `--ipc=host`)",
            edits=(Edit(source.path, Span(run.span.end, run.span.end), f" --shm-size={SIZE}"),),
        )


def gives_memory(options: Iterable[str]) -> bool:
    """Whether some option is about shared memory, or mounts something there."""
    return any(word in option for option in options for word in ("--shm-size", "--ipc", MOUNT))


def wants_gpu(options: Iterable[str]) -> bool:
    """Whether some option asks for a GPU."""
    return any("--gpus" in option or "nvidia" in option for option in options)


def _runs(text: str, start: int, end: int, prompt: re.Pattern[str]) -> Iterator[Run]:
    at = start
    while at < end:
        line = LINE.match(text, at, end)
        assert line is not None
        begin = prompt.match(text, at, line.end())
        command = begin.end() if begin else at
        if not text.startswith("#", command):
            for match in _RUN.finditer(text[command : line.end()]):
                yield _run(text, command, line.end(), match)
        at = line.end() + 1


def _run(text: str, command: int, end: int, match: re.Match[str]) -> Run:
    options: list[str] = []
    variables: list[str] = []
    words = list(_words(text, command + match.end("run"), end))
    while words:
        variable = _VARIABLE.match(words[0])
        if variable and not _IMAGE.search(variable[1]):
            variables.append(variable[1])
        elif not words[0].startswith("-"):
            break
        count = 1 if variable or _is_alone(words[0]) else 2
        options += words[:count]
        del words[:count]
    span = Span(command + match.start("run"), command + match.end("run"))
    return Run(match["tool"], span, tuple(options), tuple(variables), tuple(words))


def _words(text: str, at: int, end: int) -> Iterator[str]:
    while at < end:
        gap = GAP.match(text, at, end)
        at = gap.end() if gap else at
        word = WORD.match(text, at, end)
        if word is None or word.group().startswith("#"):
            return
        yield word.group()
        at = word.end()


def _is_alone(option: str) -> bool:
    """Whether an option has its value in it, or takes none."""
    if option.startswith("--"):
        return "=" in option or option in _SWITCHES
    return len(option[1:].lstrip(_SHORT)) != 1


def _assigned(text: str, name: str) -> list[str] | None:
    """What a script assigns to a variable; None when it does not."""
    found = re.findall(rf"^[^#\r\n]*?\b{re.escape(name)}\+?\s*[:?]?=(.*(?:\n\s+-.*)*)", text, re.MULTILINE)
    return found or None
