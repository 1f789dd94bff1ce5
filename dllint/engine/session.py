"""A project as one request sees it, or an editor for as long as it is open."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from dllint import cache as caches
from dllint import files, registry
from dllint.cache import Cache
from dllint.config import Config, Configs
from dllint.engine.corpus import Corpus
from dllint.engine.progress import began
from dllint.engine.reader import Reader, Survey
from dllint.engine.result import Result
from dllint.engine.verdict import Verdict, Verdicts
from dllint.finding import Finding
from dllint.fix import Fix
from dllint.source import Source, is_template

if TYPE_CHECKING:
    from dllint.engine.fixing import Remedies
    from dllint.engine.judge import Judge, Judgement


SHOWN = 3
"""How many projects are named in a message."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a run. `stdin` is the content of `stdin_path`, which doesn't have to exist."""

    paths: tuple[str, ...]
    layer: registry.Layer = registry.Layer()
    in_full: bool = False
    """Report what is only `info` whatever selects the rules."""
    config: str = ""
    settings: tuple[str, ...] = ()
    """Keys of the configuration as lines of TOML, laid over every file."""
    isolated: bool = False
    beside: bool = False
    """Of folders in no project, only the files in them and what these import."""
    force_exclude: bool = False
    heed: bool = True
    """Whether comments silence."""
    fix: bool = False
    remedies: bool = True
    """Whether the report shows fixes: computing a fix takes longer than finding the problem."""
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


class Session:
    """A request's configuration, files and rules. Raises ConfigError, UnknownRule and RegistryError.

    What is read stays known: when files change, only these are read again. `overlay` has the contents of files that are
    not taken from disk.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        paths = (*request.paths, *([request.stdin_path] if request.stdin is not None else []))
        self._paths = paths
        self._chosen: dict[registry.Layer, frozenset[str]] = {}
        self.configs = self._configured()
        self.selection = self._select()
        self.overlay: dict[str, bytes] = {}
        if request.stdin is not None:
            self.overlay = {path: request.stdin for path in self.selection.named if self._is_stdin(path)}

    def _configured(self) -> Configs:
        request = self.request
        return Configs(self._paths, request.config, request.isolated, request.settings)

    @property
    def config(self) -> Config:
        """The configuration of what the arguments have in common."""
        return self.configs.run

    def chosen(self, own: Config) -> frozenset[str]:
        """The rules that a configuration selects."""
        if own.layer not in self._chosen:
            self._chosen[own.layer] = registry.select(own.layer, self.request.layer)
        return self._chosen[own.layer]

    def in_full(self, own: Config) -> frozenset[str]:
        """The rules that report what is only `info`, too."""
        return self.chosen(own) if self.request.in_full else registry.in_full(own.layer, self.request.layer)

    @cached_property
    def codes(self) -> frozenset[str]:
        """The rules that are asked of any file."""
        return frozenset().union(*map(self.chosen, self.configs.all))

    def _is_stdin(self, path: str) -> bool:
        return os.path.realpath(self.absolute(path)) == os.path.realpath(self.request.stdin_path)

    def _select(self) -> files.Selection:
        asked = self._asks_containers()
        selection = self._walked(asked)
        if not asked and self._asks_containers():  # a configuration further down does
            selection = self._walked(True)
        return selection

    def _asks_containers(self) -> bool:
        reading = {info.code for info in registry.infos() if info.containers}
        return any(reading & self.chosen(own) for own in self.configs.all)

    def _walked(self, containers: bool) -> files.Selection:
        began("finding files")
        request, known = self.request, files.Listings(self._listings.listings)
        force, beside = request.force_exclude, request.beside
        selection = files.select(self.configs, request.paths, request.stdin_path, containers, known, force, beside)
        if known.changed:
            self._listings.keep_listings(known.seen)
        return selection

    def absolute(self, path: str) -> str:
        """Where a file of the project lies."""
        return os.path.normpath(os.path.join(self.config.root, path))

    @cached_property
    def _words(self) -> files.Words:
        triggers = [word for info in registry.infos() if info.code in self.codes for word in info.triggers]
        if {"DLL901", "DLL902"} & self.codes:
            triggers += [b"dllint:", b"DLL"]
        every = [own.targets for own in self.configs.all]
        own = [name for one in every for name in (*one.loaders, *one.dataset_bases)]
        return files.words(triggers, tuple(dict.fromkeys(own)))

    @cached_property
    def _listings(self) -> Cache:
        """What is kept of folders, whatever is looked for in their files."""
        if not self.request.cache:
            return Cache()
        return caches.project(self.config.root, files.words((), ()), self.request.cache_dir or self.config.cache_dir)

    @cached_property
    def _cache(self) -> Cache:
        if not self.request.cache:
            return Cache()
        return caches.project(self.config.root, self._words, self.request.cache_dir or self.config.cache_dir)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.config.root, self._words, self._cache, self.request.jobs)

    @cached_property
    def _lists(self) -> files.Lists:
        return files.Lists(self.configs, self.selection.whole)

    @cached_property
    def judge(self) -> Judge:
        """The rules that are asked."""
        from dllint.engine.judge import Judge  # a run that remembers its verdict asks none, and has the fixes

        return Judge(self.configs, self.chosen, self.request.heed, self.in_full)

    @cached_property
    def remedies(self) -> Remedies:
        """The fixes of findings, as configured."""
        from dllint.engine.fixing import Remedies

        return Remedies(self.configs, self.request.unsafe_fixes)

    def walk(self) -> bool:
        """Find the files again: some were added or removed. False if a configuration changed. Raises ConfigError."""
        before, files_before = self.configs, self.selection
        self.configs = self._configured()
        self.selection = self._select()
        same = self.configs == before
        self.configs = before  # what was made of them knows them by identity
        if not same:
            self.selection = files_before
        return same

    def survey(self, stale: Collection[str] | None = None) -> Survey:
        """Walked files through the filter over the bytes; where `stale` is given, no other file changed."""
        return self._reader.survey(self.selection, self.overlay, stale)

    def read(self, survey: Survey) -> Corpus:
        """The files that matter, as models."""
        return self._reader.read(survey, self._lists.again())

    def texts(self, survey: Survey, paths: Iterable[str]) -> dict[str, Source]:
        """The texts of those files that are container files. Raises Changed."""
        return self._reader.texts(survey, survey.containers.keys() & set(paths))

    def corpus(self, stale: Collection[str] | None = None) -> Corpus:
        """Both in one."""
        return self.read(self.survey(stale))

    @property
    def known(self) -> bool:
        """Whether an earlier run left anything."""
        return bool(self._cache.files)

    def recall(self, survey: Survey) -> Verdict | None:
        """What an earlier run found in these files, if nothing else is asked, and as far as the targets go."""
        request = self.request
        if not request.cache or request.fix or request.add_noqa is not None or request.stdin is not None:
            return None
        known = self._verdicts.recall(survey)
        if known is None or not self._lists.same(known.lists) or not self._reader.sound(survey):
            return None
        if not request.remedies:
            return known
        concerned = {index for index, finding in enumerate(known.findings) if self.concerned(finding)}
        return known if concerned <= known.fixes.keys() else None

    def remember(self, survey: Survey, verdict: Verdict) -> None:
        """Keep what was found for `recall`."""
        if self.request.cache and survey.whole and not survey.overlay:
            self._verdicts.remember(survey, verdict)

    @cached_property
    def _verdicts(self) -> Verdicts:
        choices = [(own, self.chosen(own), self.in_full(own)) for own in self.configs.all]
        return Verdicts(self._cache, choices, self.request.heed)

    def found(self, corpus: Corpus, judged: Judgement) -> list[Finding]:
        """The findings in the whole project, and what the tool itself has to say, in reading order. Raises Changed."""
        from dllint.engine import designs

        problems = (one for one in corpus.problems if one.code != "DLL900" or not self._expects(corpus, one))
        found = (*judged.findings, *self.judge.heard(corpus.root, problems))
        ordered = sorted(found, key=lambda finding: (finding.path, finding.span, finding.code))
        return designs.joined(ordered, judged.source)

    def _expects(self, corpus: Corpus, problem: Finding) -> bool:
        """Whether a file is not meant to parse: somebody fills it in first, or a comment says so."""
        if is_template(problem.path):
            return True
        if not self.request.heed:
            return False
        from dllint.collect.comments import scan  # other files' comments come with their facts
        from dllint.suppress import expects

        source = corpus.source(problem.path)
        return expects(scan(source), problem, source.location(problem.span.start)[0])

    def concerned(self, finding: Finding) -> bool:
        """Whether a finding is about a target."""
        return not self.selection.targets.isdisjoint((finding.path, *(path for path, _ in finding.anchors)))

    def shown(self, corpus: Corpus, judged: Judgement) -> list[Finding]:
        """The findings that concern a target."""
        return [finding for finding in self.found(corpus, judged) if self.concerned(finding)]

    def result(self, corpus: Corpus, findings: Iterable[tuple[Finding, Fix | None]], **what: Any) -> Result:
        """What a run comes to, with what every run says of itself. `what` are further fields of `Result`."""
        return Result(
            root=corpus.root,
            config=self.config,
            findings=tuple(findings),
            source=corpus.source,
            targets=self.selection.targets,
            codes=self.codes,
            **what,
        )

    def missing(self) -> list[str]:
        """Arguments that do not exist."""
        return [f"{path}: no such file or folder" for path in self.selection.missing]

    def _several(self) -> list[str]:
        """Whether what was checked as one project looks like several."""
        nothing = self.configs.marked or not self.selection.targets
        names = [] if nothing else files.alike(self.config.root, self.selection.files)
        if len(names) < 2:
            return []
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return [
            f"this looks like several projects ({', '.join(names[:SHOWN])}{more}) and is checked as one: "
            "name one of them, or put a dllint.toml here if they belong together"
        ]

    def warnings(self) -> list[str]:
        """Notes in addition to the findings."""
        told = [line for own in self.configs.all for line in own.warnings]
        told += registry.renamed(
            (*self.request.layer.words, *(word for own in self.configs.all for word in own.layer.words))
        )
        told += self._several()
        told += [f"{path}: only DLL502 reads such files, and it is not selected" for path in self.selection.ignored]
        if not (self.selection.targets or self.selection.missing or self.selection.ignored):
            told.append(f"no Python files found under {', '.join(self.request.paths) or '.'}")
        return told
