"""What a run found, written for people and for programs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from dllint.finding import Finding
from dllint.fix import Applicability, Edit, Fix, merged
from dllint.report.paint import Paint
from dllint.rule import RuleInfo
from dllint.source import Source, Span, is_notebook

Findings = Sequence[tuple[Finding, Fix | None]]


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What moves a terminal's cursor, ends a line or turns its direction."""
_COMMAND = re.compile(r"^(?P<blank>\s*):(?=:)|#(?=#\w*\[)")
"""How the logs of GitHub, Azure and TeamCity know a command: at a line's beginning, or anywhere."""


def shown(text: str) -> str:
    """A text on one line, which no terminal and no log takes for anything but text."""
    text = _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)
    return _COMMAND.sub(lambda match: f"{match['blank'] or ''}\\x{ord(match[0][-1]):x}", text)


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What reporters need in addition to the findings."""

    root: str
    cwd: str
    rules: Mapping[str, RuleInfo]
    """By their codes."""
    source: Callable[[str], Source]
    paint: Paint = Paint(False)
    unsafe_fixes: bool = False
    """Whether unsafe fixes are wanted as suggestions."""
    problems: Sequence[str] = ()
    """What went wrong in the run itself."""
    touches: Callable[[str, Span], bool] = lambda path, span: True
    """Whether the change under review touches a place; everything does where there is none."""

    site: str = ""
    """The address of the documentation."""

    def url(self, code: str) -> str:
        """The address of a rule's page, or ""."""
        return self.rules[code].url(self.site) if code in self.rules else ""

    def shown(self, finding: Finding) -> tuple[str, Span]:
        """Where a reviewer sees a finding: at its cause, or else at the changed line that leads to it."""
        route = ((note.path, note.span) for note in finding.notes)
        for path, span in ((finding.path, finding.span), *finding.anchors, *route):
            if self.touches(path, self.first_line(path, span)):
                return path, span
            changed = next((line for line in self._lines(path, span) if self.touches(path, line)), None)
            if changed is not None:
                return path, changed
        return finding.path, finding.span

    def _lines(self, path: str, span: Span) -> Iterator[Span]:
        """The lines of a span, each as far as it belongs to it."""
        source = self.source(path)
        for row in range(source.location(span.start)[0], source.location(span.end)[0] + 1):
            line = source.row_span(row)
            yield Span(max(line.start, span.start), min(line.end, span.end))

    def absolute(self, path: str) -> str:
        """Where a file of the project lies."""
        return os.path.normpath(os.path.join(self.root, path))

    def relative(self, path: str, to: str = "") -> str:
        """The file as seen from a folder (the working directory), with forward slashes."""
        place = self.absolute(path)
        with contextlib.suppress(ValueError):  # another drive
            real = (os.path.realpath(place), os.path.realpath(to)) if to else (place, self.cwd)
            place = os.path.relpath(*real)
        return place.replace(os.sep, "/")

    def name(self, path: str) -> str:
        """The same, to be shown to people."""
        return shown(self.relative(path))

    @property
    def repository(self) -> str:
        """The nearest folder that holds the root and `.git`; the root itself where there is none."""
        folder = self.root
        while not os.path.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return self.root
            folder = parent
        return folder

    def location(self, path: str, offset: int) -> tuple[int, int]:
        """Row and column, both from 1, in the file on disk: in a notebook, those of its JSON."""
        source = self.source(path)
        return source.file.location(source.in_file(offset))

    def place(self, path: str, offset: int) -> str:
        """`path:row:column` for people, in a notebook `path:cell N:row:column`."""
        return f"{self.name(path)}:{self.source(path).place(offset)}"

    def first_line(self, path: str, span: Span) -> Span:
        """As much of a span as is on its first line: reviewers show a finding only where all its lines are changed."""
        source = self.source(path)
        return Span(span.start, max(span.start, min(span.end, source.row_span(source.location(span.start)[0]).end)))

    def offers(self, fix: Fix | None) -> bool:
        """Whether a reviewer can apply the fix with a click. Edits of a notebook aren't edits of its JSON."""
        least = Applicability.UNSAFE if self.unsafe_fixes else Applicability.SAFE
        if fix is None or not fix.edits or any(is_notebook(edit.path) for edit in fix.edits):
            return False
        return fix.applicability >= least

    def suggestion(self, finding: Finding, fix: Fix | None) -> Edit | None:
        """The fix as one edit of the finding's file, if it is offered and changes no other file."""
        if fix is None or not self.offers(fix) or {edit.path for edit in fix.edits} != {finding.path}:
            return None
        return merged(self.source(finding.path).text, fix.edits)


def by_hand(fix: Fix | None) -> str:
    """A remedy that only a person can apply, as plain text that is also Markdown; "" for any other."""
    if fix is None or fix.applicability is not Applicability.MANUAL:
        return ""
    return "\n".join((f"{fix.title} (by hand){':' if fix.snippet else ''}", *_indented(fix.snippet)))


def _indented(snippet: str) -> list[str]:
    return ["", *(f"    {line}".rstrip() for line in snippet.splitlines())] if snippet else []
