"""What an editor offers to do about findings, and shows of them: fix, silence, explain, apply all safe fixes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from pathlib import Path

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    Command,
    OptionalVersionedTextDocumentIdentifier,
    Position,
    Range,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from dllint import registry
from dllint.editor import hover
from dllint.editor.documents import Documents
from dllint.editor.places import Places
from dllint.editor.reports import Reports
from dllint.editor.workbench import View
from dllint.finding import Finding
from dllint.fix import Applicability, Edit
from dllint.source import Part, Span

Place = tuple[View, str, int | None]
"""A project, a file of it, and the number of a notebook's cell."""
FIX_ALL = "source.fixAll.dllint"
FIX_NOTEBOOK = f"notebook.{FIX_ALL}"
EXPLAIN = "dllint.explain"
_FIRST_LINES = re.compile(r"(?:#!.*\n)?(?:[ \t\f]*#.*?coding[:=].*\n)?")
_WORD = re.compile(r"[\w-]+")


class Actions:
    """Makes the actions for a document of a view."""

    def __init__(self, documents: Documents, places: Places) -> None:
        self._documents = documents
        self._places = places
        self._reports = Reports(documents, places)

    def at(self, place: Place, where: Range) -> Iterator[CodeAction]:
        """The actions for the findings that a range touches."""
        view = place[0]
        for finding in self._findings(place, where.start, where.end):
            fix = view.fix(finding)
            diagnostics = [self._reports.diagnostic(view, finding)]
            if fix is not None and fix.edits:
                unsafe = "" if fix.applicability is Applicability.SAFE else f" ({fix.applicability.label})"
                yield CodeAction(
                    title=f"{self._named(finding)}: {fix.title}{unsafe}",
                    kind=CodeActionKind.QuickFix,
                    diagnostics=diagnostics,
                    is_preferred=fix.applicability is Applicability.SAFE,
                    edit=self.edit(view, fix.edits),
                )
            for title, edits in self._silencing(view, finding):
                yield CodeAction(title, CodeActionKind.QuickFix, diagnostics, edit=self.edit(view, edits))
            yield CodeAction(
                title=f"{self._named(finding)}: explain",
                kind=CodeActionKind.QuickFix,
                diagnostics=diagnostics,
                command=Command("Explain", EXPLAIN, arguments=[finding.code]),
            )

    def _named(self, finding: Finding) -> str:
        return f"dllint ({finding.code})"

    def _silencing(self, view: View, finding: Finding) -> Iterator[tuple[str, Sequence[Edit]]]:
        if finding.code in {info.code for info in registry.DIAGNOSTICS} or finding.path in view.behind:
            return
        line = view.silencing(finding)
        if line:
            yield f"{self._named(finding)}: disable for this line", line
        source = view.source(finding.path)
        if not source.masked or source.masked[0].start:
            first = _FIRST_LINES.match(source.text)
            at = first.end() if first else 0
            comment = f"# dllint: noqa: {finding.code}{source.newline}"
            yield f"{self._named(finding)}: disable for this file", [Edit(finding.path, Span(at, at), comment)]

    def _findings(self, place: Place, start: Position, end: Position) -> Iterator[Finding]:
        """The findings of a document that a range touches."""
        view, path, cell = place
        source = view.source(path)
        part = next((part for part in source.parts if part.cell == cell), None)
        if part is None:
            return
        first, last = self._places.offset(part, start), self._places.offset(part, end)
        for finding in view.findings:
            inside = finding.path == path and source.part(finding.span.start).cell == cell
            if inside and finding.span.start <= last and first <= finding.span.end:
                yield finding

    def fix_all(self, view: View, path: str) -> WorkspaceEdit | None:
        """All safe fixes of a file as one edit; None where there is none."""
        before, after = view.source(path), view.fixed(path)
        edits = [
            Edit(path, Span(old.start + start, old.start + end), text)
            for old, new in zip(before.parts, after.parts, strict=True)
            for start, end, text in _changes(old.source.text, new.source.text)
        ]
        return self.edit(view, edits) if edits else None

    def edit(self, view: View, edits: Iterable[Edit]) -> WorkspaceEdit:
        """Edits of files of the project as edits of documents."""
        by_address: dict[str, list[TextEdit]] = defaultdict(list)
        for address, edit in self._by_document(view, edits):
            by_address[address].append(edit)
        version = self._documents.version
        changes = [
            TextDocumentEdit(OptionalVersionedTextDocumentIdentifier(address, version(address)), own)
            for address, own in by_address.items()
        ]
        return WorkspaceEdit(document_changes=changes)

    def _by_document(self, view: View, edits: Iterable[Edit]) -> Iterator[tuple[str, TextEdit]]:
        for edit in sorted(set(edits)):
            part = view.source(edit.path).part(edit.span.start)
            span, text = _within(part, edit) if part.cell is not None else (edit.span, edit.text)
            yield self._reports.address(view, edit.path, part), TextEdit(self._places.range(part, span), text)

    def hover(self, place: Place, position: Position) -> str:
        """A summary of what is reported at a position, or the rule whose code is there in a comment."""
        view, known = place[0], registry.by_code()
        found = dict.fromkeys(
            hover.finding(finding, known[finding.code], view.fix(finding))
            for finding in self._findings(place, position, position)
        )
        return "\n\n---\n\n".join(found or map(hover.rule, self._in_comment(place, position)))

    def _in_comment(self, place: Place, position: Position) -> Iterator[registry.RuleInfo]:
        view, path, cell = place
        part = next((part for part in view.source(path).parts if part.cell == cell), None)
        if part is None:
            return
        at = self._places.offset(part, position) - part.start
        row, _ = part.source.location(at)
        line = part.source.row_span(row)
        for match in _WORD.finditer(part.source.text, line.start, line.end):
            if match.start() <= at <= match.end() and "#" in part.source.text[line.start : match.start()]:
                yield from (info for info in registry.infos() if match[0] in (info.code, info.name))


def _within(part: Part, edit: Edit) -> tuple[Span, str]:
    """An edit of a cell whose last newline is ours alone: the document in the editor ends without it."""
    last = part.start + len(part.source.text) - 1
    if edit.span.end <= last:
        return edit.span, edit.text
    text = edit.text.removesuffix("\n")
    return Span(min(edit.span.start, last), last), f"\n{text}" if edit.span.start > last and text else text


def rule_page(code: str) -> Path:
    """Where a rule's page lies."""
    return Path(registry.lookup(code).page)


def _changes(old: str, new: str) -> Iterator[tuple[int, int, str]]:
    """The lines that differ, as replacements."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    here, there = ([0, *accumulate(map(len, lines))] for lines in (before, after))
    for kind, first, last, start, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield here[first], here[last], new[there[start] : there[stop]]
