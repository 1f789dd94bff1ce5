"""Ignore comments held against findings: what they silence, and which of them silence nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from dllint import registry
from dllint.finding import Finding, Severity
from dllint.model.facts import ModuleModel, Suppression
from dllint.source import Source, Span

_Key = tuple[str, Span, str]


class Suppressions:
    """The comments of all parsed files, and which of them were of use so far."""

    def __init__(self, models: Mapping[str, ModuleModel], source: Callable[[str], Source]) -> None:
        self._source = source
        self._by_file = {path: model.suppressions for path, model in models.items() if model.suppressions}
        self._used: set[_Key] = set()

    def silences(self, finding: Finding) -> bool:
        """Whether a comment at the cause or at any anchor silences the finding. Remembers which comments did."""
        return bool(self.comments(finding))

    def comments(self, finding: Finding) -> list[tuple[str, Suppression]]:
        """The comments that silence the finding, each with its file."""
        info = registry.by_code()[finding.code]
        found = []
        for path, span in ((finding.path, finding.span), *finding.anchors):
            for entry in self._by_file.get(path, ()):
                if entry.row not in (0, *self._rows(path, span)):
                    continue
                codes = [code for code in entry.codes or ("",) if not code or _covers(code, info)]
                self._used |= {(path, entry.span, code) for code in codes}
                if codes:
                    found.append((path, entry))
        return found

    def _rows(self, path: str, span: Span) -> tuple[int, int]:
        """The first and the last line: a comment may stand at either end of a long expression."""
        source = self._source(path)
        return source.location(span.start)[0], source.location(span.end)[0]

    def unused(self, selected: Collection[str]) -> Iterator[Finding]:
        """DLL901 for comments that name rules of this run and silenced nothing."""
        for path, span, code, own in self._entries():
            if (path, span, code) in self._used:
                continue
            meant = [info for info in _rules() if (_covers(code, info) if code else info.default)]
            if meant and (code or own) and all(info.code in selected for info in meant):
                word = f"`{code}`" if code else "this comment"
                yield _about("DLL901", path, span, f"{word} silences nothing here")

    def unknown(self) -> Iterator[Finding]:
        """DLL902 for codes that name no rule; those of other linters in a `noqa` are not ours."""
        for path, span, code, own in self._entries():
            ours = own or code.upper().startswith("DLL")
            if code and ours and not any(_covers(code, info) for info in registry.infos()):
                yield _about("DLL902", path, span, f"`{code}` names no rule, so it silences nothing")

    def _entries(self) -> Iterator[tuple[str, Span, str, bool]]:
        seen: set[_Key] = set()
        for path, entries in self._by_file.items():
            for entry in entries:
                for code in entry.codes or ("",):
                    key = (path, entry.span, code)
                    if key not in seen:
                        seen.add(key)
                        yield (*key, entry.own)


def _rules() -> Iterator[registry.RuleInfo]:
    return (info for info in registry.infos() if info not in registry.DIAGNOSTICS)


def _covers(code: str, info: registry.RuleInfo) -> bool:
    return code.upper() != registry.ALL and registry.matches(code, info)


def _about(code: str, path: str, span: Span, message: str) -> Finding:
    return Finding(code, path, span, message, Severity.WARNING, key=f"{code} {path} {message}")
