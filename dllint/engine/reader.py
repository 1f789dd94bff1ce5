"""The files of a project, read as far as they matter; and again, as far as they changed."""

from __future__ import annotations

import codecs
import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from dllint import files
from dllint.cache import Cache, Known, State, settled, state, unsettled
from dllint.engine.corpus import Changed, Corpus, containers_of, decoded
from dllint.engine.progress import began, steps, track
from dllint.files import Peek
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
    containers: Mapping[str, Known]
    """Container files, where a rule asks for them."""
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
        """What the peeks of the last time are known by, and the files that they made worth parsing."""
        self._peeks: dict[bytes, bytes] = {}
        """What files say that were read, packed, by what that is known by."""

    def survey(
        self, selection: files.Selection, overlay: Mapping[str, bytes], stale: Collection[str] | None = None
    ) -> Survey:
        """Look at the files of the project; only `stale` ones may have changed.

        `overlay` has the contents of files that are not taken from disk.
        """
        before = {} if stale is None else {path: known for path, known in self._seen.items() if path not in stale}
        self._seen = self._look_at(track("looking at files", selection.files), overlay, before)
        others = self._look_at(selection.containers, overlay, {})
        seen = {path: known for path, known in self._seen.items() if isinstance(known, Known)}
        containers = {path: known for path, known in others.items() if isinstance(known, Known)}
        problems = [told for told in (*self._seen.values(), *others.values()) if isinstance(told, Finding)]
        relevant = self._close(seen) & seen.keys()
        aside = (selection.named & seen.keys()) - relevant
        return Survey(seen, problems, relevant, aside, containers, overlay, stale is None)

    def read(self, survey: Survey, lists: files.Lists | None = None) -> Corpus:
        """Parse the files that matter. What is new is kept in the cache, unless only stale files were looked at.

        `lists` counts the elements of what other files list.
        """
        seen, overlay, needed = survey.seen, survey.overlay, survey.relevant | survey.aside
        old = {path: item for path, item in self._collected.items() if path in needed}
        self._collected = {path: item for path, item in old.items() if item[0] == seen[path].digest}
        remembered, new = self._recall(needed, seen), {}
        waiting = [(path, seen[path].state[0]) for path in sorted(needed - self._collected.keys())]
        for fresh in steps("reading files", self._collect(waiting, overlay), len(waiting), lambda fresh: fresh.path):
            self._collected[fresh.path] = fresh.digest, fresh.item
            if self._cache.on and fresh.item.lasting and fresh.path not in overlay:
                new[fresh.digest] = fresh.packed or pack(fresh.item)
        if survey.whole:
            self._save(survey, new)
        digests = {path: contents for path, (contents, _) in self._collected.items() if contents}
        sources = {path: decoded(path, data) for path, data in overlay.items() if path not in survey.containers}
        containers = self.texts(survey, survey.containers)
        corpus = Corpus(
            self._root,
            {path: self._collected[path][1] for path in sorted(self._collected)},
            survey.problems,
            digests,
            {**sources, **containers},
            {path: containers_of(text) for path, text in containers.items()},
            lists,
        )
        corpus.remembered = remembered
        return corpus

    def texts(self, survey: Survey, paths: Iterable[str]) -> dict[str, Source]:
        """The texts of those of the container files that are UTF-8. Raises Changed."""
        found = {}
        for path in paths:
            with contextlib.suppress(UnicodeDecodeError):
                found[path] = self._text(path, survey)
        return found

    def _text(self, path: str, survey: Survey) -> Source:
        try:
            data = survey.overlay[path] if path in survey.overlay else read(self._root, path)
        except OSError:
            raise Changed(path) from None
        if digest(path, data) != survey.containers[path].digest:
            raise Changed(path)
        return Source(path, data.decode("utf-8-sig"), bom=data.startswith(codecs.BOM_UTF8))

    def sound(self, survey: Survey) -> bool:
        """Whether nothing is to be said of the files aside; what was learned is kept."""
        new = set()
        for path in survey.aside:
            if survey.seen[path].digest not in self._cache.sound:
                fresh = collect_file(self._root, path)
                if fresh.item.model is None or fresh.item.problem or fresh.item.crash:
                    return False
                new.add(fresh.digest)
        if new:
            known = self._cache.sound | new
            self._cache.keep_sound({seen.digest for seen in survey.seen.values() if seen.digest in known})
        self._save(survey, {})
        return True

    def _collect(self, waiting: Sequence[tuple[str, int]], overlay: Mapping[str, bytes]) -> Iterable[Fresh]:
        if not waiting:
            return ()
        from dllint.reduce.pool import collect_files  # a run that knows all facts needs no processes

        return collect_files(self._root, waiting, overlay, self._jobs)

    def _look_at(
        self, paths: Iterable[str], overlay: Mapping[str, bytes], before: Mapping[str, Known | Finding]
    ) -> dict[str, Known | Finding]:
        """What is known of files; of those that were looked at `before`, that."""
        found = {}
        for path in paths:
            known = before.get(path)
            if known is None:
                try:
                    data = overlay.get(path)
                    known = self._look(path) if data is None else self._known(path, data)
                except OSError as error:
                    known = unreadable(path, str(error.strerror or error))
            found[path] = known
        return found

    def _look(self, path: str) -> Known:
        """What is known of a file, read only when it is not the one that an earlier run looked at. Raises OSError."""
        now = time.time_ns()
        known = self._cache.files.get(path)
        if known is not None and known.state == state(os.stat(f"{self._root}/{path}")):
            return known
        status = status_of(self._root, path)
        return self._known(path, read(self._root, path), state(status) if settled(state(status), now) else None)

    def _known(self, path: str, data: bytes, state: State | None = None) -> Known:
        packed = files.packed(files.peek(path, data, self._wanted))
        peek = digest(path, packed)
        self._peeks[peek] = packed
        return Known(state or unsettled(len(data)), digest(path, data), peek)

    def _close(self, seen: Mapping[str, Known]) -> frozenset[str]:
        peeks = {path: known.peek for path, known in seen.items()}
        if peeks != self._closed[0]:
            self._closed = peeks, self._closure(peeks)
        return self._closed[1]

    def _closure(self, peeks: Mapping[str, bytes]) -> frozenset[str]:
        """The files worth parsing, remembered: in a project of thousands of files, finding them takes a while."""
        try:
            told = msgspec.msgpack.encode((self._root, peeks)) if self._cache.on else b""
        except UnicodeEncodeError:  # a path that isn't text
            told = b""
        key = hashed(told)
        known = self._cache.entry("closure", key) if told else None
        with contextlib.suppress(msgspec.MsgspecError):
            if known is not None:
                return msgspec.msgpack.decode(known, type=frozenset[str])
        began("following imports")
        packed = {**self._cache.peeks, **self._peeks}
        found = files.close({path: self._unpacked(path, packed.get(peek)) for path, peek in peeks.items()}, self._root)
        if told:
            self._cache.keep("closure", key, msgspec.msgpack.encode(found))
            self._cache.keep_peeks({peek: packed[peek] for peek in peeks.values() if peek in packed})
        return found

    def _unpacked(self, path: str, packed: bytes | None) -> Peek:
        """A peek; that of a file which is known by one that was lost is taken again."""
        if packed is None:
            with contextlib.suppress(OSError):
                return files.peek(path, read(self._root, path), self._wanted)
        return files.unpacked(packed or b"")

    def _recall(self, needed: Collection[str], seen: Mapping[str, Known]) -> bool:
        """Take from the cache what it knows; whether that was anything."""
        remembered = False
        wanted: dict[bytes, list[str]] = defaultdict(list)
        for path in needed - self._collected.keys():
            wanted[seen[path].digest].append(path)
        for contents, packed in self._cache.facts(wanted):
            for path in wanted[contents]:
                with contextlib.suppress(Damaged):
                    self._collected[path] = contents, unpack(packed, path)
                    remembered = True
        return remembered

    def _save(self, survey: Survey, new: Mapping[bytes, bytes]) -> None:
        before = self._cache.files
        kept = {}
        for path, seen in (*survey.seen.items(), *survey.containers.items()):
            young = seen.state == unsettled(seen.state[0])  # or it is what an editor holds
            known = before.get(path) if young else seen
            if known is not None and (path in before or _is_text(path)):
                kept[path] = known
        self._cache.save(kept, new, {survey.seen[path].digest for path in survey.relevant | survey.aside})


def _is_text(path: str) -> bool:
    """Whether the path is made of characters: file systems do not ask for that."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)
