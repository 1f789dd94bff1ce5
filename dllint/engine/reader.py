"""The files of a project, read as far as they matter; and again, as far as they changed."""

from __future__ import annotations

import codecs
import contextlib
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from dllint import files
from dllint.cache import Cache, Known, State, settled, state, unsettled
from dllint.engine.corpus import Corpus, containers_of, decoded
from dllint.engine.progress import steps, track
from dllint.finding import Finding
from dllint.model import Damaged
from dllint.reduce import Collected, pack, unpack, unreadable
from dllint.reduce.disk import Fresh, collect_file, read, status_of
from dllint.source import Source, digest, hashed


class Survey(NamedTuple):
    """What the files of a project are, before any is parsed."""

    seen: Mapping[str, Known]
    problems: Sequence[Finding]
    """DLL903: files that could not be read."""
    relevant: frozenset[str]
    """Files that may matter to a loader."""
    aside: frozenset[str]
    """Files that were named and do not matter: they are parsed to see that they can be."""
    containers: Mapping[str, Source]
    """The texts of container files, where a rule asks for them."""
    overlay: Mapping[str, bytes]
    whole: bool
    """Every file was looked at."""


class Reader:
    """Reads a project's files, once or again and again: what did not change since is not even looked at."""

    def __init__(self, root: str, wanted: files.Words, cache: Cache, jobs: int = 1) -> None:
        self._root = root
        self._wanted = wanted
        self._cache = cache
        self._jobs = jobs
        self._seen: dict[str, Known | Finding] = {}
        self._collected: dict[str, tuple[bytes, Collected]] = {}
        """What became of a file, with the digest of its content."""
        self._closed: tuple[dict[str, bytes], frozenset[str]] = ({}, frozenset())
        """The peeks of the last time, and the files that they made worth parsing."""

    def survey(
        self, selection: files.Selection, overlay: Mapping[str, bytes], stale: Collection[str] | None = None
    ) -> Survey:
        """Look at the files of the project; only `stale` ones may have changed.

        `overlay` has the contents of files that are not taken from disk.
        """
        self._look_at(selection.files, overlay, stale)
        seen = {path: known for path, known in self._seen.items() if isinstance(known, Known)}
        problems = [told for told in self._seen.values() if isinstance(told, Finding)]
        relevant = self._close(seen) & seen.keys()
        texts = {path: text for path in selection.containers if (text := self._text(path, overlay, problems))}
        aside = (selection.named & seen.keys()) - relevant
        return Survey(seen, problems, relevant, aside, texts, overlay, stale is None)

    def read(self, survey: Survey) -> Corpus:
        """Parse the files that matter. What is new is kept in the cache, unless only stale files were looked at."""
        seen, overlay, needed = survey.seen, survey.overlay, survey.relevant | survey.aside
        old = {path: item for path, item in self._collected.items() if path in needed}
        self._collected = {path: item for path, item in old.items() if item[0] == seen[path].digest}
        remembered, new = self._recall(needed, seen), {}
        waiting = [(path, seen[path].state[0]) for path in sorted(needed - self._collected.keys())]
        for fresh in steps("reading files", self._collect(waiting, overlay), len(waiting)):
            self._collected[fresh.path] = fresh.digest, fresh.item
            if self._cache.on and fresh.item.lasting and fresh.path not in overlay:
                new[fresh.digest] = fresh.packed or pack(fresh.item)
        if survey.whole:
            self._save(survey, new)
        digests = {path: contents for path, (contents, _) in self._collected.items() if contents}
        sources = {path: decoded(path, data) for path, data in overlay.items() if path not in survey.containers}
        corpus = Corpus(
            self._root,
            {path: self._collected[path][1] for path in sorted(self._collected)},
            survey.problems,
            digests,
            {**sources, **survey.containers},
            {path: containers_of(text) for path, text in survey.containers.items()},
        )
        corpus.remembered = remembered
        return corpus

    def sound(self, survey: Survey) -> bool:
        """Whether nothing is to be said of the files aside; what was learned is kept."""
        new = {}
        for path in survey.aside:
            packed = self._cache.facts(survey.seen[path].digest)
            if packed is None:
                fresh = collect_file(self._root, path)
                packed = new[fresh.digest] = pack(fresh.item)
            with contextlib.suppress(Damaged):
                item = unpack(packed, path)
                if item.model is not None and not (item.problem or item.crash):
                    continue
            return False
        self._save(survey, new)
        return True

    def _collect(self, waiting: Sequence[tuple[str, int]], overlay: Mapping[str, bytes]) -> Iterable[Fresh]:
        if not waiting:
            return ()
        from dllint.reduce.pool import collect_files  # a run that knows all facts needs no processes

        return collect_files(self._root, waiting, overlay, self._jobs)

    def _look_at(self, paths: Collection[str], overlay: Mapping[str, bytes], stale: Collection[str] | None) -> None:
        before, self._seen = self._seen, {}
        for path in track("looking at files", paths):
            known = before.get(path)
            if stale is None or known is None or path in stale:
                try:
                    data = overlay.get(path)
                    known = self._look(path) if data is None else _peek(path, data, self._wanted)
                except OSError as error:
                    known = unreadable(path, str(error.strerror or error))
            self._seen[path] = known

    def _look(self, path: str) -> Known:
        """What is known of a file, read only when it is not the one that an earlier run looked at. Raises OSError."""
        now = time.time_ns()
        known = self._cache.files.get(path)
        if known is not None and known.state == state(os.stat(f"{self._root}/{path}")):
            return known
        status = status_of(self._root, path)
        return _peek(path, read(self._root, path), self._wanted, state(status) if settled(state(status), now) else None)

    def _close(self, seen: Mapping[str, Known]) -> frozenset[str]:
        peeks = {path: known.peek for path, known in seen.items()}
        if peeks != self._closed[0]:
            self._closed = peeks, self._closure(peeks)
        return self._closed[1]

    def _closure(self, peeks: Mapping[str, bytes]) -> frozenset[str]:
        """The files worth parsing, remembered: in a project of thousands of files, finding them takes a while."""
        try:
            told = msgspec.msgpack.encode((self._root, peeks)) if self._cache.on else b""
        except UnicodeEncodeError:  # a path that is no text
            told = b""
        key = hashed(told)
        known = self._cache.entry("closure", key) if told else None
        with contextlib.suppress(msgspec.MsgspecError):
            if known is not None:
                return msgspec.msgpack.decode(known, type=frozenset[str])
        found = files.close({path: files.unpacked(peek) for path, peek in peeks.items()}, self._root)
        if told:
            self._cache.keep("closure", key, msgspec.msgpack.encode(found))
        return found

    def _recall(self, needed: Collection[str], seen: Mapping[str, Known]) -> bool:
        """Take from the cache what it knows; whether that was anything."""
        remembered = False
        for path in needed - self._collected.keys():
            packed = self._cache.facts(seen[path].digest)
            with contextlib.suppress(Damaged):
                if packed is not None:
                    self._collected[path] = seen[path].digest, unpack(packed, path)
                    remembered = True
        return remembered

    def _save(self, survey: Survey, new: Mapping[bytes, bytes]) -> None:
        kept = {path: k for path, k in survey.seen.items() if k.state != unsettled(k.state[0]) and _is_text(path)}
        kept |= {path: self._cache.files[path] for path in survey.overlay if path in self._cache.files}
        self._cache.save(kept, new, {survey.seen[path].digest for path in survey.relevant | survey.aside})

    def _text(self, path: str, overlay: Mapping[str, bytes], problems: list[Finding]) -> Source | None:
        """A container file's text; None for one that is no UTF-8."""
        try:
            data = overlay[path] if path in overlay else read(self._root, path)
            return Source(path, data.decode("utf-8-sig"), bom=data.startswith(codecs.BOM_UTF8))
        except UnicodeDecodeError:
            return None
        except OSError as error:
            problems.append(unreadable(path, str(error.strerror or error)))
            return None


def _peek(path: str, data: bytes, wanted: files.Words, state: State | None = None) -> Known:
    return Known(state or unsettled(len(data)), digest(path, data), files.packed(files.peek(path, data, wanted)))


def _is_text(path: str) -> bool:
    """Whether the path is made of characters: file systems do not ask for that."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)
