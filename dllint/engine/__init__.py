"""The pipeline: files, models, project, rules, findings, fixes."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from dllint import cache as caches
from dllint import config, files, registry, ruff
from dllint.cache import Cache
from dllint.config import Config
from dllint.engine.corpus import Changed, Corpus, read_corpus
from dllint.engine.fixing import Applied, Fixer, Outcome, Remedies, written_out
from dllint.engine.judge import Judge, Judgement
from dllint.engine.silencing import Silenced, silence
from dllint.engine.write import NotWritten, write
from dllint.finding import Finding
from dllint.fix import Fix
from dllint.project import Project, Targets
from dllint.source import Source

Answer = TypeVar("Answer")
ATTEMPTS = 3
"""Runs that are begun while somebody writes the files."""

__all__ = ["Change", "Inspection", "Request", "Result", "check", "inspect", "why"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a run. `stdin` is the content of `stdin_path`, which need not exist."""

    paths: tuple[str, ...]
    layer: registry.Layer = registry.Layer()
    config: str = ""
    isolated: bool = False
    force_exclude: bool = False
    fix: bool = False
    unsafe_fixes: bool | None = None
    """None: as configured."""
    add_noqa: str | None = None
    """Silence what is reported with comments, which give this reason; None: do not."""
    write: bool = True
    stdin: bytes | None = None
    stdin_path: str = ""
    cache: bool = False
    cache_dir: str = ""
    """Instead of the configured one and the user's."""
    jobs: int = 1


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


class _Run:
    """One request on its way through the pipeline."""

    def __init__(self, request: Request) -> None:
        self.request = request
        paths = (*request.paths, *([request.stdin_path] if request.stdin is not None else []))
        loaded = config.load(paths, request.config, request.isolated)
        forced = loaded.force_exclude or request.force_exclude
        self.config = msgspec.structs.replace(loaded, force_exclude=forced)
        self.codes = registry.select(self.config.layer, request.layer)
        containers = any(rule.containers for rule in registry.rules() if rule.code in self.codes)
        self.selection = files.select(self.config, request.paths, request.stdin_path, containers)
        self.overlay = {path: request.stdin for path in self.selection.named if self._is_stdin(path)}
        self.judge = Judge(self.config, self.codes)
        self.remedies = Remedies(self.config)

    def _is_stdin(self, path: str) -> bool:
        same = os.path.realpath(os.path.join(self.config.root, path)) == os.path.realpath(self.request.stdin_path)
        return self.request.stdin is not None and same

    def corpus(self) -> Corpus:
        """Walked files through the filter over the bytes to models."""
        targets = self.config.targets
        triggers = [word for rule in registry.rules() if rule.code in self.codes for word in rule.triggers]
        if {"DLL901", "DLL902"} & self.codes:
            triggers += [b"dllint:", b"DLL"]
        names = (*targets.loaders, *targets.loader_classes, *targets.dataset_bases)
        overlay = {path: data for path, data in self.overlay.items() if data is not None}
        wanted, root = files.words(triggers, names), self.config.root
        cache = Cache()
        if self.request.cache:
            cache = caches.project(root, wanted, self.request.cache_dir or self.config.cache_dir)
        return read_corpus(self.selection, root, wanted, overlay, cache, self.request.jobs)

    def shown(self, corpus: Corpus, judged: Judgement) -> list[Finding]:
        """The findings that concern a target, and what the tool itself has to say, in reading order."""
        return sorted(
            (
                finding
                for finding in (*judged.findings, *self.judge.heard(corpus.root, corpus.problems))
                if {finding.path, *(path for path, _ in finding.anchors)} & self.selection.targets
            ),
            key=lambda finding: (finding.path, finding.span, finding.code),
        )

    def warnings(self) -> list[str]:
        """What is worth a line besides the findings."""
        told = [*self.config.warnings]
        told += [f"{path}: only DLL502 reads such files, and it is not selected" for path in self.selection.ignored]
        if not self.selection.targets and not self.selection.missing:
            told.append(f"no Python files found under {', '.join(self.request.paths) or '.'}")
        return told


def check(request: Request) -> Result:
    """Run the pipeline. Raises ConfigError, UnknownRule and RegistryError; nothing is written before all is decided."""
    return _undisturbed(lambda: _check(_Run(request)))


def _undisturbed(ask: Callable[[], Answer]) -> Answer:
    """The answer of a run in which no file changed; such a run begins again. Raises Changed when that never ends."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(Changed):
            return ask()
    return ask()


def _check(run: _Run) -> Result:
    request = run.request
    corpus = first = run.corpus()
    outcome = Outcome(corpus, (), ())
    if request.fix:
        unsafe = run.config.unsafe_fixes if request.unsafe_fixes is None else request.unsafe_fixes
        fixer = Fixer(run.judge, run.remedies, run.selection.targets, unsafe)
        outcome = fixer.run(corpus)
        corpus = outcome.corpus
    judged = run.judge.judge(corpus, outcome.project)
    silenced = Silenced(corpus, judged)
    if request.add_noqa is not None:
        silenced = silence(corpus, judged, run.judge, run.selection.targets, request.add_noqa)
        corpus, judged = silenced.corpus, silenced.judged
    if judged.crashes and corpus.remembered and not request.fix:
        # Whoever can write the cache can write facts that make no sense; they must not be what a run fails of.
        return _check(_Run(msgspec.structs.replace(request, cache=False)))
    findings = [*run.shown(corpus, judged), *run.judge.heard(corpus.root, outcome.refused)]
    for path in {path for finding in findings for path in _paths(finding)}:
        corpus.source(path)  # for the report, while the file is what it was
    changes = tuple(_changes(first, corpus))
    unwritten = [] if request.stdin is not None or not request.write else _write_all(corpus.root, changes)
    stuck = [] if outcome.converged else ["fixes were still possible after the last pass; run again"]
    return Result(
        root=corpus.root,
        config=run.config,
        findings=tuple(_with_fixes(run, findings, judged)),
        source=corpus.source,
        checked=len(run.selection.targets),
        targets=run.selection.targets,
        codes=run.codes,
        changes=changes,
        applied=outcome.applied,
        silenced=silenced.gone,
        crashes=(
            *(f"{path}: no such file or folder" for path in run.selection.missing),
            *corpus.crashes,
            *judged.crashes,
            *dict.fromkeys(run.remedies.crashes),
            *silenced.problems,
            *unwritten,
        ),
        warnings=(*run.warnings(), *stuck, *_unwanted(corpus.root, silenced)),
    )


def _unwanted(root: str, silenced: Silenced) -> Iterable[str]:
    """Whether Ruff will delete the comments that were written."""
    file = ruff.deletes_comments(root) if silenced.gone else ""
    if file:
        yield f'{file}: Ruff takes `noqa: DLL...` for a mistake and deletes it (RUF100); add `lint.external = ["DLL"]`'


def _paths(finding: Finding) -> Iterable[str]:
    """The files that a report of a finding quotes."""
    yield finding.path
    yield from (path for path, _ in finding.anchors)
    yield from (note.path for note in finding.notes)


def _with_fixes(run: _Run, findings: Iterable[Finding], judged: Judgement) -> Iterable[tuple[Finding, Fix | None]]:
    for finding in findings:
        fix = run.remedies.fix(finding, judged.project)
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
    return _undisturbed(lambda: _why(_Run(request), path, row, cell))


def _why(run: _Run, path: str, row: int, cell: int | None) -> list[str]:
    relative = next(iter(run.selection.named), "")
    if not relative:
        return [f"{path} is excluded or does not exist"]
    corpus = run.corpus()
    if relative not in corpus.models:
        return [f"{path}: {corpus.problem(relative)}"]
    source = corpus.source(relative)
    part = next((part for part in source.parts if part.cell == cell), None)
    if part is None:
        return [f"{path} has no Python in cell {cell}" if cell else f"{path} is a notebook: name the cell, too"]
    row += source.location(part.start)[0] - 1
    judged = run.judge.judge(corpus)
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
    return _undisturbed(lambda: _inspect(_Run(request)))


def _inspect(run: _Run) -> Inspection:
    targets = msgspec.structs.replace(run.config.targets, platforms=Targets().platforms, pythons="", start_method="")
    codes = [rule.code for rule in registry.rules()]
    corpus = run.corpus()
    judged = Judge(Config(root=run.config.root, targets=targets), codes).judge(corpus)
    findings = (*judged.findings, *judged.silenced)
    for path in {path for finding in findings for path in _paths(finding)}:
        corpus.source(path)

    def fix(finding: Finding) -> Fix | None:
        known = run.remedies.fix(finding, judged.project)
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
