"""The pipeline: files, models, project, rules, findings, fixes."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from dllint import registry, ruff
from dllint.config import Config
from dllint.engine.corpus import Changed, Corpus
from dllint.engine.fixing import Applied, Fixer, Outcome, written_out
from dllint.engine.judge import Judge, Judgement
from dllint.engine.reader import Survey
from dllint.engine.session import Request, Session
from dllint.engine.silencing import Silenced, silence
from dllint.engine.verdict import Verdict
from dllint.engine.write import NotWritten, write
from dllint.finding import Finding
from dllint.fix import Fix
from dllint.garbage import uncollected
from dllint.source import Source
from dllint.targets import Targets

if TYPE_CHECKING:
    from dllint.project import Project

Answer = TypeVar("Answer")
ATTEMPTS = 3
"""Runs that are begun while somebody writes the files."""

__all__ = ["Change", "Inspection", "Plan", "Request", "Result", "check", "inspect", "plan", "why"]


class Change(msgspec.Struct, frozen=True):
    """A file before and after its fixes."""

    before: Source
    after: Source


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found. Paths are relative to `root`."""

    root: str
    config: Config
    findings: tuple[tuple[Finding, Fix | None], ...]
    source: Callable[[str], Source]
    checked: int
    """Number of files reported on."""
    targets: frozenset[str] = frozenset()
    """Those files."""
    codes: frozenset[str] = frozenset()
    """The rules that were asked."""
    changes: tuple[Change, ...] = ()
    applied: tuple[Applied, ...] = ()
    silenced: Mapping[str, int] = {}
    """Code to number of findings that got a comment."""
    crashes: tuple[str, ...] = ()
    """Why the exit status is 2 although the run came to its end: internal errors, missing paths, files not written."""
    warnings: tuple[str, ...] = ()

    @property
    def fixed(self) -> Counter[str]:
        """Code to number of findings that are gone."""
        return Counter(item.code for item in self.applied)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would read, report on, and ask."""

    config: Config
    codes: frozenset[str]
    files: tuple[str, ...]
    """The project, relative to the root."""
    targets: frozenset[str]


def plan(request: Request) -> Plan:
    """What `check` would do, without doing it. Raises what it raises."""
    session = Session(request)
    selection = session.selection
    return Plan(config=session.config, codes=session.codes, files=selection.files, targets=selection.targets)


def check(request: Request) -> Result:
    """Run the pipeline. Raises ConfigError, UnknownRule and RegistryError; nothing is written before all is decided."""
    return _undisturbed(lambda: _check(Session(request)))


def _undisturbed(ask: Callable[[], Answer]) -> Answer:
    """The answer of a run in which no file changed; such a run begins again. Raises Changed when that never ends."""
    with uncollected():
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(Changed):
                return ask()
        return ask()


def _check(session: Session) -> Result:
    survey = session.survey()
    known = session.recall(survey)
    return _recalled(session, survey, known) if known else _judged(session, survey)


def _recalled(session: Session, survey: Survey, known: Verdict) -> Result:
    """The result of a run that an earlier one already had."""
    concerned = [index for index, finding in enumerate(known.findings) if session.concerned(finding)]
    findings = [(known.findings[index], known.fixes[index]) for index in concerned]
    digests = {path: survey.seen[path].digest for path in survey.relevant}
    corpus = Corpus(session.config.root, {}, digests=digests, sources=survey.containers)
    _quote(corpus, [finding for finding, _ in findings])
    return _result(session, corpus, findings, crashes=tuple(session.missing()), warnings=tuple(session.warnings()))


def _result(session: Session, corpus: Corpus, findings: Iterable[tuple[Finding, Fix | None]], **what: Any) -> Result:
    return Result(
        root=corpus.root,
        config=session.config,
        findings=tuple(findings),
        source=corpus.source,
        checked=len(session.selection.targets),
        targets=session.selection.targets,
        codes=session.codes,
        **what,
    )


def _judged(session: Session, survey: Survey) -> Result:
    request = session.request
    corpus = first = session.read(survey)
    outcome = Outcome(corpus, (), ())
    if request.fix:
        unsafe = session.config.unsafe_fixes if request.unsafe_fixes is None else request.unsafe_fixes
        fixer = Fixer(session.judge, session.remedies, session.selection.targets, unsafe)
        outcome = fixer.run(corpus)
        corpus = outcome.corpus
    judged = session.judge.judge(corpus, outcome.project)
    silenced = Silenced(corpus, judged)
    if request.add_noqa is not None:
        silenced = silence(corpus, judged, session.judge, session.selection.targets, request.add_noqa)
        corpus, judged = silenced.corpus, silenced.judged
    if judged.crashes and corpus.remembered and not request.fix:
        # Whoever can write the cache can write facts that make no sense; they must not be what a run fails of.
        return _check(Session(msgspec.structs.replace(request, cache=False)))
    found = session.found(corpus, judged)
    findings = [*filter(session.concerned, found), *session.judge.heard(corpus.root, outcome.refused)]
    _quote(corpus, findings)
    changes = tuple(_changes(first, corpus))
    unwritten = [] if request.stdin is not None or not request.write else _write_all(corpus.root, changes)
    stuck = [] if outcome.converged else ["fixes were still possible after the last pass; run again"]
    fixes = {id(finding): fix for finding, fix in _with_fixes(session, findings, judged)}
    as_read = {path: survey.seen[path].digest for path in survey.relevant | survey.aside} == corpus.digests
    if as_read and not (request.fix or silenced.gone or corpus.crashes or judged.crashes or session.remedies.crashes):
        known = {index: fixes[id(finding)] for index, finding in enumerate(found) if id(finding) in fixes}
        session.remember(survey, found, known)
    return _result(
        session,
        corpus,
        [(finding, fixes[id(finding)]) for finding in findings],
        changes=changes,
        applied=outcome.applied,
        silenced=silenced.gone,
        crashes=(
            *session.missing(),
            *corpus.crashes,
            *judged.crashes,
            *dict.fromkeys(session.remedies.crashes),
            *silenced.problems,
            *unwritten,
        ),
        warnings=(*session.warnings(), *stuck, *_unwanted(corpus.root, silenced)),
    )


def _unwanted(root: str, silenced: Silenced) -> Iterable[str]:
    """Whether Ruff will delete the comments that were written."""
    file = ruff.deletes_comments(root) if silenced.gone else ""
    if file:
        yield f'{file}: Ruff takes `noqa: DLL...` for a mistake and deletes it (RUF100); add `lint.external = ["DLL"]`'


def _quote(corpus: Corpus, findings: Iterable[Finding]) -> None:
    """Read what a report quotes while the files are what they were. Raises Changed."""
    for path in {path for finding in findings for path in paths(finding)}:
        corpus.source(path)


def paths(finding: Finding) -> Iterable[str]:
    """The files that a report of a finding quotes."""
    yield finding.path
    yield from (path for path, _ in finding.anchors)
    yield from (note.path for note in finding.notes)


def _with_fixes(
    session: Session, findings: Iterable[Finding], judged: Judgement
) -> Iterable[tuple[Finding, Fix | None]]:
    for finding in findings:
        fix = session.remedies.fix(finding, judged.project)
        yield finding, written_out(fix, judged.project) if fix else None


def _changes(before: Corpus, after: Corpus) -> Iterable[Change]:
    for path in sorted(after.edited):
        old, new = before.source(path), after.source(path)
        if old.text != new.text:
            yield Change(old, new)


def _write_all(root: str, changes: Sequence[Change]) -> list[str]:
    problems = []
    for change in changes:
        before, after = change.before, change.after
        try:
            write(os.path.join(root, before.path), before.encode(), after.encode())
        except NotWritten as error:
            problems.append(f"{before.path}: not written: {error}")
    return problems


def why(request: Request, path: str, row: int, cell: int | None = None) -> list[str]:
    """Why a line is quiet, or what it is reported for; in a notebook, a line of a cell."""
    return _undisturbed(lambda: _why(Session(request), path, row, cell))


def _why(session: Session, path: str, row: int, cell: int | None) -> list[str]:
    relative = next(iter(session.selection.named), "")
    if not relative:
        ignored = session.selection.ignored
        return session.warnings() if ignored else [f"{path} is excluded or does not exist"]
    corpus = session.corpus()
    if not corpus.has(relative):
        return [f"{path}: {corpus.problem(relative)}"]
    if relative not in corpus.models:
        judged = session.judge.judge(corpus)
        told = [*_told(judged, corpus, relative, row), *judged.crashes]
        return told or ["no container starts on this line that is known to run workers and to lack shared memory"]
    source = corpus.source(relative)
    part = next((part for part in source.parts if part.cell == cell), None)
    if part is None:
        return [f"{path} has no Python in cell {cell}" if cell else f"{path} is a notebook: name the cell, too"]
    row += source.location(part.start)[0] - 1
    judged = session.judge.judge(corpus)
    return [*_told(judged, corpus, relative, row), *judged.project.why(relative, row), *judged.crashes]


def _told(judged: Judgement, corpus: Corpus, path: str, row: int) -> Iterable[str]:
    """The findings of a line, reported and silenced."""

    def here(finding: Finding) -> bool:
        source = corpus.source(finding.path)
        first, last = source.location(finding.span.start)[0], source.location(finding.span.end)[0]
        return finding.path == path and first <= row <= last

    for finding in filter(here, judged.findings):
        yield f"{finding.code} is reported here: {finding.message}"
    for finding in filter(here, judged.silenced):
        comments = [
            f"{place}:{corpus.source(place).place(entry.span.start).rpartition(':')[0]}"
            for place, entry in judged.suppressions.comments(finding)
        ]
        yield f"{finding.code} is silenced by the comment at {', '.join(comments)}: {finding.message}"


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


def inspect(request: Request) -> Inspection:
    """Ask every rule about the whole project, whatever the configuration selects, ignores and aims at."""
    every = registry.Layer(tuple(rule.code for rule in registry.rules()))
    return _undisturbed(lambda: _inspect(Session(msgspec.structs.replace(request, layer=every))))


def _inspect(session: Session) -> Inspection:
    anywhere = Targets()
    targets = msgspec.structs.replace(session.config.targets, platforms=anywhere.platforms, pythons="", start_method="")
    corpus = session.corpus()
    judged = Judge(Config(root=session.config.root, targets=targets), session.codes).judge(corpus)
    findings = (*judged.findings, *judged.silenced)
    for path in {path for finding in findings for path in paths(finding)}:
        corpus.source(path)

    def fix(finding: Finding) -> Fix | None:
        known = session.remedies.fix(finding, judged.project)
        return written_out(known, judged.project) if known else None

    return Inspection(
        root=corpus.root,
        project=judged.project,
        findings=findings,
        silenced=frozenset(map(id, judged.silenced)),
        source=corpus.source,
        fix=fix,
        crashes=(*corpus.crashes, *judged.crashes),
    )
