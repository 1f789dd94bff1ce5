"""What earlier runs learned of a project's files: which are unchanged, what their bytes say, and their facts.

Each project has its own folder with tables in the user's cache folder. `files` says what a file with this state
on disk holds; `facts` says where the facts of a content are, in packs that are written once and never changed. Beside
them lie the verdicts on the project as it was lately. Tables are replaced in one step, so runs beside each other lose
at most what one of them learned. Everything is data with a checksum, and what is damaged counts as not there.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from dllint.cache import folders, makers
from dllint.cache.folders import clean, forget, user_folder
from dllint.cache.makers import State, state
from dllint.files.sieve import Words
from dllint.reading import regular
from dllint.source import hashed

__all__ = ["Cache", "Known", "State", "clean", "forget", "project", "settled", "state", "unsettled", "user_folder"]

Table = TypeVar("Table", bound=Collection[Any])

_MOST_PACKS = 16
_MOST_ENTRIES = 8
_SLACK = 1 << 20
"""Bytes of facts that no file needs now and that are kept, besides as many as are needed."""
_FORSAKEN_S = 600
"""A pack that no table names may be another run's that is about to write its table."""
_GRAIN_NS, _COARSE_GRAIN_NS = 100_000_000, 2_000_000_000


class Known(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file as it was read."""

    state: State
    digest: bytes
    peek: bytes
    """What `files.peek` says of it is known by this."""


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """Where the facts of a content are."""

    pack: str
    start: int
    size: int
    check: int


class Cache:
    """The tables of one project. Without a folder nothing is known and nothing is kept."""

    def __init__(self, folder: str = "", words: str = "") -> None:
        self._folder = folder
        self._files = f"files-{words}"

    @cached_property
    def files(self) -> Mapping[str, Known]:
        """The files as they were read, by their paths."""
        return self._table(self._files, dict[str, Known])

    @cached_property
    def peeks(self) -> Mapping[bytes, bytes]:
        """What files say of themselves, packed, by what that is known by. Asked for where one says something new."""
        return self._table("peeks", dict[bytes, bytes])

    @cached_property
    def sound(self) -> frozenset[bytes]:
        """Contents that matter to no loader and are known to be Python."""
        return frozenset(self._table("sound", list[bytes]))

    @cached_property
    def _places(self) -> dict[bytes, _Place]:
        return self._table("facts", dict[bytes, _Place])

    @property
    def on(self) -> bool:
        """Whether anything is kept at all."""
        return bool(self._folder)

    def facts(self, digests: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Those of the contents whose facts are known, with the facts."""
        packs: dict[str, list[tuple[_Place, bytes]]] = defaultdict(list)
        for digest in digests:
            if digest in self._places:
                place = self._places[digest]
                packs[place.pack].append((place, digest))
        for name, wanted in packs.items():
            with contextlib.suppress(OSError), regular(self._place(os.path.basename(name)))[0] as stream:
                for place, digest in sorted(wanted, key=lambda item: item[0].start):
                    stream.seek(place.start)
                    data = stream.read(place.size)
                    if zlib.crc32(data) == place.check:
                        yield digest, data

    def save(self, files: Mapping[str, Known], new: Mapping[bytes, bytes], needed: Collection[bytes]) -> None:
        """Keep what this run learned: its files, facts that were not known, and which contents need facts.

        A cache that cannot be written is none.
        """
        if not self._folder:
            return
        with contextlib.suppress(OSError):
            folders.make(self._folder)
            if new:
                self._save_facts(new, needed)
            if files != self.files:
                self._keep_table(self._files, files)
            folders.touch(self._folder)
            if new:
                folders.prune(os.path.dirname(os.path.dirname(self._folder)), self._folder)

    def keep_peeks(self, peeks: Mapping[bytes, bytes]) -> None:
        """Keep what the files say of themselves now."""
        self._keep_table("peeks", peeks)

    def keep_sound(self, digests: Collection[bytes]) -> None:
        """Keep which contents are known to be Python."""
        self._keep_table("sound", list(digests))

    def keep_listings(self, listings: Mapping[str, Sequence[str]]) -> None:
        """Keep what patterns left this time."""
        self._keep_table("listings", listings)

    def _keep_table(self, name: str, table: Any) -> None:
        with contextlib.suppress(OSError, UnicodeEncodeError):  # a name that isn't text
            if self._folder:
                folders.make(self._folder)
                folders.replace(self._place(name), msgspec.msgpack.encode(table))

    def entry(self, kind: str, key: str) -> memoryview | None:
        """What was kept under a key."""
        return folders.checked(self._place(f"{kind}-{key}")) if self._folder else None

    def keep(self, kind: str, key: str, data: bytes) -> None:
        """Keep something under a key, and of its kind only the latest few."""
        if not self._folder:
            return
        with contextlib.suppress(OSError):
            folders.make(self._folder)
            folders.replace(self._place(f"{kind}-{key}"), data)
            like = [file for file in folders.held(self._folder) if os.path.basename(file).startswith(f"{kind}-")]
            for file in sorted(like, key=folders.age)[_MOST_ENTRIES:] if len(like) > _MOST_ENTRIES else ():
                os.unlink(file)

    @property
    def listings(self) -> Mapping[str, tuple[str, str, str]]:
        """What patterns left of the entries of folders (`files.Listings`)."""
        return self._table("listings", dict[str, tuple[str, str, str]])

    def _save_facts(self, new: Mapping[bytes, bytes], needed: Collection[bytes]) -> None:
        places = self._table("facts", dict[bytes, _Place])  # as they are by now
        places.update(_write_pack(self._folder, new))
        live = {digest: place for digest, place in places.items() if digest in needed}
        packs = {place.pack for place in places.values()}
        if len(packs) > _MOST_PACKS or _bytes(places) > 2 * _bytes(live) + _SLACK:
            old = dict(self.facts(live.keys() - new.keys()))
            places = _write_pack(self._folder, old | {digest: new[digest] for digest in live.keys() & new.keys()})
        self._keep_table("facts", places)
        used = {place.pack for place in places.values()}
        for file in folders.held(self._folder):
            name = os.path.basename(file)
            if name.endswith(".pack") and name not in used and (name in packs or folders.age(file) > _FORSAKEN_S):
                os.unlink(file)

    def _place(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _table(self, name: str, form: type[Table]) -> Table:
        """A table that is kept; an empty one where it is not, or where it is damaged."""
        data = folders.checked(self._place(name)) if self._folder else None
        try:
            return form() if data is None else msgspec.msgpack.decode(data, type=form)
        except msgspec.MsgspecError:
            return form()


def project(root: str, words: Words, home: str = "") -> Cache:
    """The cache of the project at `root`, filtered by these words. `home` is another cache folder than the user's."""
    base = home or user_folder()
    if not folders.ours(base):
        return Cache()
    folder = os.path.join(base, f"facts-{makers.of_facts()}", folders.name(root))
    return Cache(folder, hashed(msgspec.msgpack.encode(words), 8))


def settled(known: State, now: int) -> bool:
    """Whether a file that is changed from `now` on (in ns) will have another state: its clock has gone on since."""
    _, modified, changed, _ = known
    grain = _GRAIN_NS if modified % 1_000_000_000 else _COARSE_GRAIN_NS
    return max(modified, changed) + grain < now


def unsettled(size: int) -> State:
    """The state of a file so young that it may still change and look the same: no file ever has it."""
    return size, 0, 0, 0


def _write_pack(folder: str, contents: Mapping[bytes, bytes]) -> dict[bytes, _Place]:
    name = f"{os.urandom(8).hex()}.pack"
    places, start = {}, 0
    for digest, data in contents.items():
        places[digest] = _Place(name, start, len(data), zlib.crc32(data))
        start += len(data)
    folders.replace(os.path.join(folder, name), b"".join(contents.values()), checked=False)
    return places


def _bytes(places: Mapping[bytes, _Place]) -> int:
    return sum(place.size for place in places.values())
