"""A case written to a folder and given to the engine, in this process."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dllint import engine
from dllint.engine import Request
from dllint.finding import Finding
from dllint.registry import Layer
from dllint.source import Source
from dllint.testing.pages import Case


class Crashed(Exception):
    """The engine itself failed; the message says how."""


@dataclass(frozen=True, order=True)
class Reported:
    """A finding in rows and columns, both from 1, ends exclusive; `steps` are its route."""

    path: str
    row: int
    column: int
    end_row: int
    end_column: int
    code: str
    message: str
    steps: tuple[tuple[str, int, str], ...]

    def __str__(self) -> str:
        return f"{self.path}:{self.row}:{self.column}-{self.end_column}: {self.code} {self.message}"


def page_code(path: Path) -> str:
    """The code of the rule that a page belongs to, "" for other pages."""
    match = re.match(r"(dll\d{3})_", path.name)
    return match[1].upper() if match else ""


@dataclass(frozen=True)
class Project:
    """A case in a folder. The rule of its page is selected in addition to the configuration's choice."""

    folder: Path
    paths: tuple[str, ...]
    code: str

    @classmethod
    def of(cls, case: Case, folder: Path) -> Project:
        """Write a case's files into an empty folder, given by its real path."""
        project = cls(folder, tuple(case.files), page_code(case.page))
        for path, text in {"dllint.toml": case.config, **case.files}.items():
            project.write(path, text)
        return project

    def write(self, path: str, text: str) -> None:
        """Replace a file, byte for byte."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8"))

    def files(self) -> dict[str, str]:
        """The files' texts as they are now."""
        return {path: (self.folder / path).read_bytes().decode("utf-8") for path in self.paths}

    def check(self, *codes: str) -> list[Reported]:
        """What is reported, with these rules also selected."""
        return self._run(codes)

    def fix(self, unsafe: bool) -> dict[str, str]:
        """The files' texts after `--fix`."""
        self._run((), fix=True, unsafe_fixes=unsafe)
        return self.files()

    def _run(self, codes: tuple[str, ...], fix: bool = False, unsafe_fixes: bool = False) -> list[Reported]:
        extra = Layer(extend_select=tuple(code for code in (self.code, *codes) if code))
        request = Request(
            paths=(str(self.folder),), layer=extra, in_full=True, fix=fix, remedies=fix, unsafe_fixes=unsafe_fixes
        )
        result = engine.check(request)
        if result.crashes:
            raise Crashed("; ".join(result.crashes))
        if result.root != str(self.folder):
            raise Crashed(f"the project's root is {result.root}, not {self.folder}")
        return sorted(_reported(finding, result.source) for finding, _ in result.findings)


def _reported(finding: Finding, source: Callable[[str], Source]) -> Reported:
    row, column = source(finding.path).location(finding.span.start)
    end_row, end_column = source(finding.path).location(finding.span.end)
    steps = tuple((note.path, source(note.path).location(note.span.start)[0], note.text) for note in finding.notes)
    return Reported(finding.path, row, column, end_row, end_column, finding.code, finding.message, steps)
