"""A project as one request sees it, or an editor for as long as it is open."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from dllint import cache as caches
from dllint import config, files, registry
from dllint.cache import Cache
from dllint.engine.corpus import Corpus
from dllint.engine.reader import Reader, Survey
from dllint.engine.verdict import Verdict, Verdicts
from dllint.finding import Finding
from dllint.fix import Fix
from dllint.source import Source

if TYPE_CHECKING:
    from dllint.engine.fixing import Remedies
    from dllint.engine.judge import Judge, Judgement


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


class Session:
    """A request's configuration, files and rules. Raises ConfigError, UnknownRule and RegistryError.

    What is read stays known: when files change, only these are read again. `overlay` has the contents of files that are
    not taken from disk.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        paths = (*request.paths, *([request.stdin_path] if request.stdin is not None else []))
        loaded = config.load(paths, request.config, request.isolated)
        forced = loaded.force_exclude or request.force_exclude
        self.config = msgspec.structs.replace(loaded, force_exclude=forced)
        self.codes = registry.select(self.config.layer, request.layer)
        self.selection = self._select()
        self.overlay: dict[str, bytes] = {}
        if request.stdin is not None:
            self.overlay = {path: request.stdin for path in self.selection.named if self._is_stdin(path)}

    def _is_stdin(self, path: str) -> bool:
        return os.path.realpath(self.absolute(path)) == os.path.realpath(self.request.stdin_path)

    def _select(self) -> files.Selection:
        containers = any(info.containers for info in registry.infos() if info.code in self.codes)
        known = files.Listings(self._cache.listings)
        selection = files.select(self.config, self.request.paths, self.request.stdin_path, containers, known)
        if known.changed:
            self._cache.keep_listings(known.seen)
        return selection

    def absolute(self, path: str) -> str:
        """Where a file of the project lies."""
        return os.path.normpath(os.path.join(self.config.root, path))

    @cached_property
    def _words(self) -> files.Words:
        targets = self.config.targets
        triggers = [word for info in registry.infos() if info.code in self.codes for word in info.triggers]
        if {"DLL901", "DLL902"} & self.codes:
            triggers += [b"dllint:", b"DLL"]
        return files.words(triggers, (*targets.loaders, *targets.loader_classes, *targets.dataset_bases))

    @cached_property
    def _cache(self) -> Cache:
        if not self.request.cache:
            return Cache()
        return caches.project(self.config.root, self._words, self.request.cache_dir or self.config.cache_dir)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.config.root, self._words, self._cache, self.request.jobs)

    @cached_property
    def judge(self) -> Judge:
        """The rules that are asked."""
        from dllint.engine.judge import Judge  # a run that remembers its verdict asks none, and has the fixes

        return Judge(self.config, self.codes)

    @cached_property
    def remedies(self) -> Remedies:
        """The fixes of findings, as configured."""
        from dllint.engine.fixing import Remedies

        return Remedies(self.config)

    def walk(self) -> None:
        """Find the files anew: some came or went."""
        self.selection = self._select()

    def survey(self, stale: Collection[str] | None = None) -> Survey:
        """Walked files through the filter over the bytes; where `stale` is given, no other file changed."""
        return self._reader.survey(self.selection, self.overlay, stale)

    def read(self, survey: Survey) -> Corpus:
        """The files that matter, as models."""
        return self._reader.read(survey)

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
        if known is None or not self._reader.sound(survey):
            return None
        concerned = {index for index, finding in enumerate(known.findings) if self.concerned(finding)}
        return known if concerned <= known.fixes.keys() else None

    def remember(self, survey: Survey, findings: Sequence[Finding], fixes: Mapping[int, Fix | None]) -> None:
        """Keep what was found for `recall`."""
        if self.request.cache and survey.whole and not survey.overlay:
            self._verdicts.remember(survey, findings, fixes)

    @cached_property
    def _verdicts(self) -> Verdicts:
        return Verdicts(self._cache, self.config, self.codes)

    def found(self, corpus: Corpus, judged: Judgement) -> list[Finding]:
        """The findings in the whole project, and what the tool itself has to say, in reading order."""
        return sorted(
            (*judged.findings, *self.judge.heard(corpus.root, corpus.problems)),
            key=lambda finding: (finding.path, finding.span, finding.code),
        )

    def concerned(self, finding: Finding) -> bool:
        """Whether a finding is about a target."""
        return not self.selection.targets.isdisjoint((finding.path, *(path for path, _ in finding.anchors)))

    def shown(self, corpus: Corpus, judged: Judgement) -> list[Finding]:
        """The findings that concern a target."""
        return [finding for finding in self.found(corpus, judged) if self.concerned(finding)]

    def missing(self) -> list[str]:
        """Arguments that do not exist."""
        return [f"{path}: no such file or folder" for path in self.selection.missing]

    def warnings(self) -> list[str]:
        """What is worth a line besides the findings."""
        told = [*self.config.warnings]
        told += [f"{path}: only DLL502 reads such files, and it is not selected" for path in self.selection.ignored]
        if not (self.selection.targets or self.selection.missing or self.selection.ignored):
            told.append(f"no Python files found under {', '.join(self.request.paths) or '.'}")
        return told
