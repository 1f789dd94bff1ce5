"""Pages parsed into cases: each a project with everything that its page says of it. The format: `dllint.testing`."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from dllint.testing.expectations import METHODS, Clause, Expectation, PageError, RouteStep, clauses, strip

DEFAULT_PATH = "example.py"

_FENCE = re.compile(r"(`{3,})([^`]*)$")
_HEADING = re.compile(r"(#{1,6})\s+(.*\S)\s*$")
_PATH_LINE = re.compile(r"(`?)((?:[\w.-]+/)*[\w.-]*\.\w+)\1:?$")


@dataclass(frozen=True)
class Block:
    """A fenced block: `start` is the line of its opening fence (from 1), `path` the path line before it or ""."""

    language: str
    attributes: tuple[str, ...]
    path: str
    start: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The content, every line ended."""
        return "".join(line + "\n" for line in self.lines)


@dataclass(frozen=True)
class Section:
    """What stands between two headings; level 0 is what comes before the first. Blocks leave "```" in the prose."""

    level: int
    title: str
    start: int
    prose: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Case:
    """One project of a page, with everything the page says of it. `main` is the file that is run, if any."""

    page: Path
    name: str
    line: int
    files: dict[str, str] = field(default_factory=dict)
    config: str = ""
    expectations: tuple[Expectation, ...] = ()
    route: tuple[RouteStep, ...] = ()
    main: str = ""
    clauses: tuple[Clause, ...] = ()
    fixed_methods: tuple[str, ...] = METHODS
    diff: Block | None = None


@dataclass(frozen=True)
class Page:
    """A parsed page."""

    path: Path
    title: str
    sections: tuple[Section, ...]
    cases: tuple[Case, ...]


def read(path: Path) -> Page:
    """Parse a page. Raises PageError."""
    sections = tuple(_sections(path, path.read_text(encoding="utf-8").split("\n")))
    title = next((section.title for section in sections if section.level == 1), "")
    cases = [case for section in sections for case in _cases(path, section)]
    return Page(path, title, sections, tuple(_with_unique_names(cases)))


def below(folder: Path) -> list[Path]:
    """The files of the pages in a folder and its folders."""
    return sorted(path for path in folder.rglob("*.md") if path.name.lower() != "readme.md")


def write_diff(path: Path, block: Block, diff: str) -> None:
    """Replace the content of a diff block in the page's file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[block.start : block.start + len(block.lines)] = diff.splitlines()
    path.write_text("\n".join(lines), encoding="utf-8")


def unified(before: dict[str, str], after: dict[str, str]) -> str:
    """The unified diff of two states of a project."""
    parts: list[str] = []
    for path in sorted(before):
        old, new = before[path].splitlines(keepends=True), after[path].splitlines(keepends=True)
        parts.extend(difflib.unified_diff(old, new, path, path))
    return "".join(line if line.endswith("\n") else line + "\n" for line in parts)


def _sections(path: Path, lines: list[str]) -> Iterator[Section]:
    current = Section(0, "", 1)
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if heading := _HEADING.match(line):
            yield current
            current = Section(len(heading[1]), heading[2], number)
        elif fence := _FENCE.match(line):
            block = _block(path, lines, number, fence, _path_line(current.prose))
            current = replace(current, blocks=(*current.blocks, block), prose=(*current.prose, "```"))
            number = block.start + len(block.lines) + 1
        else:
            current = replace(current, prose=(*current.prose, line))
    yield current


def _block(path: Path, lines: list[str], start: int, fence: re.Match[str], file: str) -> Block:
    try:
        end = next(index for index in range(start, len(lines)) if lines[index].rstrip() == fence[1])
        info = shlex.split(fence[2])
    except StopIteration:
        raise PageError(f"{path}:{start}: this block is never closed") from None
    except ValueError as error:
        raise PageError(f"{path}:{start}: {error} in the info string") from None
    return Block(info[0] if info else "", tuple(info[1:]), file, start, tuple(lines[start:end]))


def _path_line(prose: tuple[str, ...]) -> str:
    """The path named by the last non-blank line before a block, or ""."""
    last = next((line.strip() for line in reversed(prose) if line.strip()), "")
    match = _PATH_LINE.match(last)
    return match[2] if match else ""


def _cases(path: Path, section: Section) -> Iterator[Case]:
    config = _config(path, section)
    current: Case | None = None
    for block in section.blocks:
        if block.language == "python":
            raise PageError(f"{path}:{block.start}: write `py` (checked) or `py prose` (only shown), not `python`")
        if block.language == "diff" and not block.path:
            if current is None or current.diff is not None:
                raise PageError(f"{path}:{block.start}: this diff follows no case of its section")
            current = replace(current, diff=block)
        elif name := _file_of(block):
            if current is None or name in current.files or current.diff is not None:
                if current is not None:
                    yield current
                current = Case(path, section.title, block.start, config=config)
            current = _with_file(current, name, block)
    if current is not None:
        yield current


def _config(path: Path, section: Section) -> str:
    found = [block for block in section.blocks if block.language == "toml" and not block.path]
    if len(found) > 1:
        raise PageError(f"{path}:{found[1].start}: a second configuration in one section")
    return found[0].text if found else ""


def _file_of(block: Block) -> str:
    """The path of a file block, "" for prose and configuration."""
    if "prose" in block.attributes:
        return ""
    return block.path or (DEFAULT_PATH if block.language == "py" else "")


def _with_file(case: Case, name: str, block: Block) -> Case:
    place = f"{case.page}:{block.start}"
    stripped = strip(str(case.page), block.start, name, block.lines)
    case = replace(
        case,
        files={**case.files, name: stripped.text},
        expectations=(*case.expectations, *stripped.expectations),
        route=(*case.route, *stripped.route),
    )
    found, fixed = clauses(place, block.attributes)
    if not found:
        return case
    if case.main:
        raise PageError(f"{place}: the case already has a main program, {case.main}")
    return replace(case, main=name, clauses=found, fixed_methods=fixed)


def _with_unique_names(cases: list[Case]) -> Iterator[Case]:
    """Number the cases that share a heading: `Examples`, `Examples 2`."""
    seen: dict[str, int] = {}
    for case in cases:
        seen[case.name] = seen.get(case.name, 0) + 1
        yield replace(case, name=f"{case.name} {seen[case.name]}") if seen[case.name] > 1 else case
