"""Other questions about a whole project: why a line has no finding, what may have happened."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from dllint.config import Config, Configs
from dllint.engine.corpus import Corpus
from dllint.engine.fixing import written_out
from dllint.engine.judge import Judge, Judgement
from dllint.engine.result import quote
from dllint.engine.session import Session
from dllint.finding import Finding
from dllint.fix import Fix
from dllint.reduce.disk import read
from dllint.source import Source, Span, is_settings
from dllint.targets import Targets

if TYPE_CHECKING:
    from dllint.project import Project


NOTHING = "nothing that could go to workers is created, kept or started on this line"


class NoLine(Exception):
    """A line was asked about that the file does not have."""


def why(session: Session, path: str, row: int, cell: int | None) -> list[str]:
    """Why a line is quiet, or what it is reported for; in a notebook, a line of a cell. Raises NoLine.

    Places are relative to the working directory.
    """
    named = (
        one for one in session.selection.named if os.path.realpath(session.absolute(one)) == os.path.realpath(path)
    )
    relative = next(named, "")
    if not relative:
        ignored = session.selection.ignored
        return session.warnings() if ignored else [f"{path} is excluded or does not exist"]
    corpus = session.corpus()
    if not corpus.has(relative):
        return [f"{path}: {corpus.problem(relative)}"]
    if is_settings(relative) or relative not in corpus.models:
        _refuse_beyond(corpus.source(relative), row, path)
        judged = session.judge.judge(corpus)
        told = [*_told(judged, corpus, relative, row), *judged.crashes]
        return told or ["no container that runs workers and lacks shared memory starts on this line"]
    source = corpus.source(relative)
    part = next((part for part in source.parts if part.cell == cell), None)
    if part is None:
        return [f"{path} has no Python in cell {cell}" if cell else f"{path} is a notebook: name the cell, too"]
    _refuse_beyond(part.source, row, path)
    row += source.location(part.start)[0] - 1
    judged = session.judge.judge(corpus)
    told = [*_told(judged, corpus, relative, row)]
    project = judged.project(relative)
    told += _told_elsewhere(judged, corpus, relative, row, project.kept_from(relative, row))
    reasons = project.why(relative, row, lambda one: _from_here(session.absolute(one)))
    return [*told, *(reasons or ([] if told else [NOTHING])), *judged.crashes]


def _refuse_beyond(source: Source, row: int, path: str) -> None:
    rows = len(source.line_starts) - (source.line_starts[-1] == len(source.text))
    if row > max(rows, 1):
        raise NoLine(f"{path} has no line {row}: it ends with line {rows}")


def _from_here(place: str) -> str:
    with contextlib.suppress(ValueError):  # another drive
        place = os.path.relpath(place)
    return place.replace(os.sep, "/")


def _told(judged: Judgement, corpus: Corpus, path: str, row: int) -> Iterable[str]:
    """The findings of a line, reported and silenced."""

    def here(finding: Finding) -> bool:
        return _is_on(finding, corpus, path, row)

    for finding in filter(here, judged.findings):
        yield f"{finding.code} is reported here: {finding.message}"
    for finding in filter(here, judged.withheld):
        yield f"{finding.code} has only info here, which `--extend-select {finding.code}` reports: {finding.message}"
    for finding in filter(here, judged.silenced):
        comments = [
            f"{_from_here(os.path.join(corpus.root, place))}:"
            f"{corpus.source(place).place(entry.span.start).rpartition(':')[0]}"
            for place, entry in judged.suppressions.comments(finding)
        ]
        yield f"{finding.code} is silenced by the comment at {', '.join(comments)}: {finding.message}"


def _told_elsewhere(
    judged: Judgement, corpus: Corpus, path: str, row: int, kept: set[tuple[str, Span]]
) -> Iterable[str]:
    """The findings of other lines on attributes that keep what this line makes or fills."""
    for finding in (*judged.findings, *judged.withheld):
        if kept.isdisjoint({(finding.path, finding.span), *finding.anchors}) or _is_on(finding, corpus, path, row):
            continue
        place = f"{_from_here(os.path.join(corpus.root, finding.path))}:"
        place += corpus.source(finding.path).place(finding.span.start)
        yield f"{finding.code} is about what this line makes or fills, at {place}: {finding.message}"


def _is_on(finding: Finding, corpus: Corpus, path: str, row: int) -> bool:
    source = corpus.source(finding.path)
    first, last = source.location(finding.span.start)[0], source.location(finding.span.end)[0]
    return finding.path == path and first <= row <= last


def _defining(session: Session, corpus: Corpus, names: Iterable[str]) -> set[str]:
    """The files that were not read and define something of these names, where no file that was read does."""
    models = corpus.models.values()
    known = {item.qualname for model in models for item in model.functions}
    known |= {item.qualname for model in models for item in model.classes}
    missing = {name for name in names if name and not any(f".{name}".endswith(f".{one}") for one in known)}
    outer = {name.partition(".<")[0].rpartition(".")[2] for name in missing} - {"", "<lambda>"}
    if not outer:
        return set()
    words = b"|".join(re.escape(word.encode()) for word in sorted(outer))
    wanted = re.compile(rb"\b(?:(?:class|def)[ \t]+(?:%b)\b|(?:%b)[ \t]*=)" % (words, words))
    found = set()
    for path in set(session.selection.files) - corpus.models.keys():
        with contextlib.suppress(OSError):
            if wanted.search(read(corpus.root, path)):
                found.add(path)
    return found


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """A whole project as all rules see it, on every platform: for questions that begin with something that happened."""

    root: str
    project: Project
    findings: tuple[Finding, ...]
    """Also those that comments silence."""
    silenced: frozenset[int]
    """The identities of those."""
    source: Callable[[str], Source]
    fix: Callable[[Finding], Fix | None]
    crashes: tuple[str, ...]


def inspect(session: Session, names: Iterable[str] = ()) -> Inspection:
    """Ask every rule of the session about the whole project, whatever the configuration aims at.

    What is called one of these names is looked for in every file, also in those that no loader leads to.
    """
    anywhere = Targets()
    targets = session.configs.targets(session.config)
    targets = msgspec.structs.replace(targets, platforms=anywhere.platforms, pythons="", start_method="")
    corpus = session.corpus()
    elsewhere = _defining(session, corpus, names)
    if elsewhere:
        selection = session.selection
        session.selection = msgspec.structs.replace(selection, named=selection.named | elsewhere)
        corpus = session.corpus()
    only = Configs.only(Config(root=session.config.root, targets=targets))
    judged = Judge(only, lambda config: session.codes).judge(corpus)
    project = judged.projects[0]
    findings = (*judged.findings, *judged.silenced)
    quote(corpus, findings)

    def fix(finding: Finding) -> Fix | None:
        known = session.remedies.fix(finding, project)
        return written_out(known, project) if known else None

    return Inspection(
        root=corpus.root,
        project=project,
        findings=findings,
        silenced=frozenset(map(id, judged.silenced)),
        source=corpus.source,
        fix=fix,
        crashes=(*corpus.crashes, *judged.crashes),
    )
