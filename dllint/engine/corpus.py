"""The files of a run: read, filtered, and those that matter reduced to their models."""

from __future__ import annotations

import codecs
import contextlib
import time
from collections.abc import Iterable, Mapping

from dllint import documents, files
from dllint.cache import Cache, Known, State, settled, state, unsettled
from dllint.documents.containers.container import Container, Containers
from dllint.finding import Finding
from dllint.model.facts import Suppression
from dllint.model.stored import Damaged
from dllint.reduce import Collected, collect_source, unpack, unreadable
from dllint.reduce.pool import collect_files, read, status_of
from dllint.source import Source, Unreadable, digest


class Changed(BaseException):
    """A file is not what it was when this run began: what was found does not hold. No error of whoever asked for it."""


class Corpus:
    """Everything known of the files. A changed file makes a new corpus that shares the rest."""

    def __init__(
        self,
        root: str,
        collected: Mapping[str, Collected],
        problems: Iterable[Finding] = (),
        digests: Mapping[str, bytes] | None = None,
        sources: Mapping[str, Source] | None = None,
        containers: Mapping[str, Containers] | None = None,
    ) -> None:
        self.root = root
        self._collected = dict(collected)
        self._digests = digests or {}
        self._sources = dict(sources or {})
        self._containers = dict(containers or {})
        self.edited: frozenset[str] = frozenset()
        """Files whose texts are not those on disk any more."""
        self.remembered = False
        """Some of the facts are an earlier run's."""
        self.models = {path: item.model for path, item in collected.items() if item.model}
        self._problems = tuple(problems)

    @property
    def containers(self) -> list[Container]:
        """What container files start, as far as they are read."""
        return [container for read in self._containers.values() for container in read.containers]

    @property
    def suppressions(self) -> dict[str, tuple[Suppression, ...]]:
        """The ignore comments of every file."""
        own = {path: model.suppressions for path, model in self.models.items()}
        return own | {path: read.suppressions for path, read in self._containers.items()}

    def has(self, path: str) -> bool:
        """Whether there are facts of a file."""
        return path in self.models or path in self._containers

    @property
    def problems(self) -> list[Finding]:
        """DLL900 and DLL903: files that could not be read or analysed."""
        return [*self._problems, *(item.problem for item in self._collected.values() if item.problem)]

    @property
    def crashes(self) -> list[str]:
        """Internal errors, one line each."""
        return [item.crash for item in self._collected.values() if item.crash]

    def source(self, path: str) -> Source:
        """A parsed file's text, read when it is asked for; an empty one for a file without facts. Raises Changed."""
        if path not in self._sources:
            self._sources[path] = self._read(path) if path in self._digests else Source(path, "")
        return self._sources[path]

    def _read(self, path: str) -> Source:
        try:
            data = read(self.root, path)
        except OSError:
            raise Changed(path) from None
        if digest(path, data) != self._digests[path]:
            raise Changed(path)
        return _decoded(path, data)

    def changed(self, sources: Mapping[str, Source]) -> Corpus:
        """The corpus with other contents of these files."""
        again = {path: collect_source(source) for path, source in sources.items() if path not in self._containers}
        reread = {path: _containers(source) for path, source in sources.items() if path in self._containers}
        corpus = Corpus(
            self.root,
            {**self._collected, **again},
            self._problems,
            self._digests,
            {**self._sources, **sources},
            {**self._containers, **reread},
        )
        corpus.edited = self.edited | sources.keys()
        return corpus

    def problem(self, path: str) -> str:
        """Why a file has no model, or ""."""
        told = [finding.message for finding in self.problems if finding.path == path]
        item = self._collected.get(path)
        return "; ".join((*told, item.crash) if item and item.crash else told)


def read_corpus(
    selection: files.Selection,
    root: str,
    wanted: files.Words,
    overlay: Mapping[str, bytes],
    cache: Cache,
    jobs: int = 1,
) -> Corpus:
    """Look at every file of the project, parse those that matter, as far as the cache does not know them."""
    seen: dict[str, Known] = {}
    problems = []
    for path in selection.files:
        try:
            data = overlay.get(path)
            seen[path] = _look(root, path, wanted, cache) if data is None else _peek(path, data, wanted)
        except OSError as error:
            problems.append(unreadable(path, str(error.strerror or error)))
    needed = (files.close({path: known.peek for path, known in seen.items()}, root) | selection.named) & seen.keys()
    collected, digests = {}, {}
    for path in needed:
        packed = cache.facts(seen[path].digest)
        with contextlib.suppress(Damaged):
            if packed is not None:
                collected[path], digests[path] = unpack(packed, path), seen[path].digest
    remembered = bool(collected)
    new = {}
    waiting = [(path, seen[path].state[0]) for path in sorted(needed - collected.keys())]
    for path, contents, packed in collect_files(root, waiting, overlay, jobs):
        collected[path] = unpack(packed, path)
        if contents:
            digests[path] = contents
        if collected[path].lasting and path not in overlay:
            new[contents] = packed
    kept = {path: known for path, known in seen.items() if known.state != unsettled(known.state[0]) and _is_text(path)}
    kept |= {path: cache.files[path] for path in overlay if path in cache.files}
    cache.save(kept, new, set(digests.values()))
    sources = {path: _decoded(path, data) for path, data in overlay.items() if path not in selection.containers}
    texts = {path: text for path in selection.containers if (text := _text(root, path, overlay, problems)) is not None}
    containers = {path: _containers(text) for path, text in texts.items()}
    everything = {path: collected[path] for path in sorted(collected)}
    corpus = Corpus(root, everything, problems, digests, {**sources, **texts}, containers)
    corpus.remembered = remembered
    return corpus


def _look(root: str, path: str, wanted: files.Words, cache: Cache) -> Known:
    """What is known of a file, read only when it is not the file that an earlier run looked at. Raises OSError."""
    now = time.time_ns()
    status = status_of(root, path)
    known = cache.files.get(path)
    if known is not None and known.state == state(status):
        return known
    return _peek(path, read(root, path), wanted, state(status) if settled(state(status), now) else None)


def _peek(path: str, data: bytes, wanted: files.Words, state: State | None = None) -> Known:
    return Known(state or unsettled(len(data)), digest(path, data), files.peek(path, data, wanted))


def _text(root: str, path: str, overlay: Mapping[str, bytes], problems: list[Finding]) -> Source | None:
    """A container file's text; None for one that is no UTF-8."""
    try:
        data = overlay[path] if path in overlay else read(root, path)
        return Source(path, data.decode("utf-8-sig"), bom=data.startswith(codecs.BOM_UTF8))
    except UnicodeDecodeError:
        return None
    except OSError as error:
        problems.append(unreadable(path, str(error.strerror or error)))
        return None


def _containers(source: Source) -> Containers:
    from dllint.documents import containers

    return containers.read(source)


def _is_text(path: str) -> bool:
    """Whether the path is made of characters: file systems do not ask for that."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)


def _decoded(path: str, data: bytes) -> Source:
    try:
        return documents.read(path, data)
    except Unreadable:
        return Source(path, "")
