"""Ignore comments matched with findings: what they silence, and which of them silence nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from dllint import registry
from dllint.finding import Finding, Severity
from dllint.model.facts import Suppression
from dllint.source import Source, Span

COMMENTS = frozenset({"DLL901", "DLL902"})
"""Diagnostics about comments, which are fixed by changing the comments."""
_FLAKE8 = "E999"
"""What flake8 calls a syntax error."""
_Key = tuple[str, Span, str]


def expects(comments: Iterable[Suppression], problem: Finding, row: int) -> bool:
    """Whether a comment of a file that does not parse silences its syntax error, by our code or by flake8's."""
    info = registry.by_code()[problem.code]
    codes = (code for entry in comments if entry.row in (0, row) for code in entry.codes or ("",))
    return any(not code or code.upper() == _FLAKE8 or _covers(code, info) for code in codes)


class Suppressions:
    """The comments of all parsed files, and which of them were of use so far."""

    def __init__(self, comments: Mapping[str, Sequence[Suppression]], source: Callable[[str], Source]) -> None:
        self._source = source
        self._by_file = {path: entries for path, entries in comments.items() if entries}
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
        """The first and the last line: a comment can be at either end of a long expression."""
        source = self._source(path)
        return source.location(span.start)[0], source.location(span.end)[0]

    def told(self, selected: Callable[[str], Collection[str]]) -> Iterator[Finding]:
        """Diagnostics about the comments themselves, after all findings were matched with them.

        `selected` has the rules that are asked of a file.
        """
        yield from self._unused(selected)
        yield from self._unknown()

    def _unused(self, selected: Callable[[str], Collection[str]]) -> Iterator[Finding]:
        """DLL901 for comments that name rules of this run and silenced nothing; `data` has the codes."""
        for path, span, codes, own in self._comments():
            vain = tuple(code for code in codes if self._in_vain(path, span, code, own, selected(path)))
            if vain:
                words = " and ".join(f"`{code}`" for code in vain if code) or "this comment"
                verb = "silence" if len(vain) > 1 else "silences"
                yield _about("DLL901", path, span, f"{words} {verb} nothing here", vain)

    def _in_vain(self, path: str, span: Span, code: str, own: bool, selected: Collection[str]) -> bool:
        meant = [info for info in _rules() if (_covers(code, info) if code else info.default)]
        known = bool(meant) and bool(code or own) and all(info.code in selected for info in meant)
        return known and (path, span, code) not in self._used

    def _unknown(self) -> Iterator[Finding]:
        """DLL902 for codes that name no rule; those of other linters in a `noqa` are not ours. `data` has the codes."""
        for path, span, codes, own in self._comments():
            ours = [code for code in codes if code and (own or code.upper().startswith("DLL"))]
            strange = tuple(code for code in ours if not any(_covers(code, info) for info in registry.infos()))
            if strange:
                words, one = " and ".join(f"`{code}`" for code in strange), len(strange) == 1
                told = "names no rule, so it silences nothing" if one else "name no rules, so they silence nothing"
                yield _about("DLL902", path, span, f"{words} {told}", strange)

    def _comments(self) -> Iterator[tuple[str, Span, tuple[str, ...], bool]]:
        """Each comment once, with its codes and whether it is of our own form."""
        for path, entries in self._by_file.items():
            for span, entry in {entry.span: entry for entry in entries}.items():
                yield path, span, tuple(dict.fromkeys(entry.codes)) or ("",), entry.own


def _rules() -> Iterator[registry.RuleInfo]:
    return (info for info in registry.infos() if info not in registry.DIAGNOSTICS)


def _covers(code: str, info: registry.RuleInfo) -> bool:
    return code.upper() != registry.ALL and registry.matches(code, info)


def _about(code: str, path: str, span: Span, message: str, codes: tuple[str, ...]) -> Finding:
    return Finding(code, path, span, message, Severity.WARNING, key=f"{code} {path} {message}", data=codes)
