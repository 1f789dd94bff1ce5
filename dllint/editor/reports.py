"""Findings as an editor shows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
)

from dllint import registry
from dllint.editor import hover
from dllint.editor.documents import Documents
from dllint.editor.places import Places
from dllint.editor.workbench import View
from dllint.finding import Finding, Severity
from dllint.report.designs import SAME
from dllint.source import Part, Span

SOURCE = "dllint"
MOST = 20
"""How many other places of a design each place lists."""
_SEVERITIES = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.INFO: DiagnosticSeverity.Information,
}


class Reports:
    """Writes the findings of a view as diagnostics."""

    def __init__(self, documents: Documents, places: Places) -> None:
        self._documents = documents
        self._places = places

    def by_document(self, view: View) -> dict[str, list[Diagnostic]]:
        """The diagnostics of every document that has some."""
        found: dict[str, list[Diagnostic]] = defaultdict(list)
        for finding in view.findings:
            part = view.source(finding.path).part(finding.span.start)
            found[self.address(view, finding.path, part)].append(self.diagnostic(view, finding))
        return found

    def address(self, view: View, path: str, part: Part) -> str:
        """The document that shows a part of a file of the project."""
        return self._documents.address(view.session.absolute(path), part)

    def diagnostic(self, view: View, finding: Finding) -> Diagnostic:
        """A finding; its route and the other places of its design as related information."""
        info = registry.by_code()[finding.code]
        part = view.source(finding.path).part(finding.span.start)
        address = hover.address(info, view.session.config.docs_url)
        return Diagnostic(
            range=self._places.range(part, finding.span),
            message=finding.message,
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            code_description=CodeDescription(address) if address else None,
            source=SOURCE,
            tags=[DiagnosticTag.Unnecessary] if finding.code == "DLL901" else None,
            related_information=[
                *(self._related(view, note.path, note.span, note.text) for note in finding.notes),
                *(self._related(view, same.path, same.span, SAME) for same in _same(view, finding)),
            ],
        )

    def _related(self, view: View, path: str, span: Span, text: str) -> DiagnosticRelatedInformation:
        return DiagnosticRelatedInformation(self.location(view, path, span), text)

    def location(self, view: View, path: str, span: Span) -> Location:
        """A place in a file of the project."""
        part = view.source(path).part(span.start)
        return Location(self.address(view, path, part), self._places.range(part, span))


def _same(view: View, finding: Finding) -> Iterator[Finding]:
    """The other places of a finding's design."""
    others = (one for one in view.findings if one.design and one.design == finding.design and one is not finding)
    return islice(others, MOST)
