"""`--add-noqa`: comments for what is reported, tried in memory as fixes are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from dllint import noqa
from dllint.engine.corpus import Corpus
from dllint.engine.judge import Judge, Judgement
from dllint.finding import Finding
from dllint.fix import edited
from dllint.source import Source, Span
from dllint.suppress import COMMENTS


class Silenced(NamedTuple):
    """The corpus with the comments, what its rules say now, and how many findings of which rules are gone."""

    corpus: Corpus
    judged: Judgement
    gone: Mapping[str, int] = {}
    problems: tuple[str, ...] = ()
    """Files that got no comments, with the reason."""


def silence(corpus: Corpus, before: Judgement, judge: Judge, targets: Collection[str], reason: str) -> Silenced:
    """Give every finding that concerns a target a comment in a target: at its cause, else at an anchor."""
    sources, problems = {}, []
    for path, findings in _by_path(before.findings, targets).items():
        source = _commented(corpus, path, findings, reason)
        if isinstance(source, Source):
            sources[path] = source
        else:
            problems.append(f"{path}: not silenced: {source}")
    changed = corpus.changed(sources)
    after = judge.judge(changed, before.projects)
    return Silenced(changed, after, gone(before, after), tuple(problems))


def gone(before: Judgement, after: Judgement) -> Counter[str]:
    """How many findings of which rules are not there any more."""
    return Counter(one.code for one in before.findings) - Counter(one.code for one in after.findings)


def _by_path(findings: Iterable[Finding], targets: Collection[str]) -> dict[str, list[tuple[Span, str]]]:
    found: dict[str, list[tuple[Span, str]]] = defaultdict(list)
    for finding in findings:
        places = ((finding.path, finding.span), *finding.anchors)
        path, span = next((place for place in places if place[0] in targets), ("", None))
        if span and finding.code not in COMMENTS:
            found[path].append((span, finding.code))
    return found


def _commented(
    corpus: Corpus, path: str, findings: Iterable[tuple[Span, str]], reason: str
) -> Source | noqa.NotTokenized | UnicodeEncodeError:
    """A file with the comments, or why it gets none."""
    source = corpus.source(path)
    if path not in corpus.models:
        return noqa.NotTokenized("it is not a Python file")
    try:
        commented = edited(source, noqa.add(source, corpus.models[path].suppressions, findings, reason))
        commented.encode()
    except (noqa.NotTokenized, UnicodeEncodeError) as error:
        return error
    return commented
