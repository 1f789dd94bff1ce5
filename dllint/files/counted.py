"""How long the lists are that a project has in files: lines of text, elements of JSON, packed by gzip or not.

And what other files than Python give to options, in `demanded`, and which data READMEs name, in `readmes`.

Only files that the walk would not leave out count, regular ones that are really below the root, of a bounded size.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import msgspec

from dllint.config import Configs
from dllint.documents.demands import Demand, Passed
from dllint.files.demanded import Demands
from dllint.files.readmes import Named, largest_named
from dllint.files.walk import left_out
from dllint.reading import contents

MOST = 5 << 20
"""Bytes; a longer list isn't small, however many elements it has."""
_FEWEST = 10
"""A shorter list is an example of one."""
_FOLDERS, _STARS, _ENTRIES = 2, 3, 2_000
"""So many names in a pattern are not known, each in so many places, in folders of so many entries."""
_SETTINGS, _SETTINGS_BYTES = 50, 1 << 16
"""So many files of so many bytes are read for settings."""
_OF_KEY = re.compile(r"(?:(?P<folder>[^{}]+)/)?\{(?P<key>\w+)\}(?:/(?P<rest>.*))?", re.DOTALL)
_SUFFIX = re.compile(r"\.(?:txt|lst|list|csv|tsv|jsonl?|ndjson|scp)(?:\.gz)?$", re.IGNORECASE)
_POINTER = b"version https://git-lfs.github.com/"

Count = tuple[str, int, int]
"""A file by its path, the number of its elements, and of its bytes."""
_State = tuple[int, int, int, int]


class Answers(msgspec.Struct, array_like=True):
    """What was asked of files that aren't modules, with the answers: findings depend on them."""

    counts: dict[str, Count | None] = {}
    demands: dict[str, tuple[Demand, ...]] = {}
    passed: dict[str, tuple[Passed, ...]] = {}
    named: dict[str, Named | None] = {}


class Lists:
    """Counts the elements of list files, asks other files for options and data sets, and remembers what it was asked.

    Where not the `whole` project is walked, only lists are asked for.
    """

    def __init__(
        self,
        configs: Configs,
        whole: bool = True,
        known: dict[str, tuple[_State, Count | None]] | None = None,
        demands: Demands | None = None,
    ) -> None:
        self._configs = configs
        self._whole = whole
        self._known = {} if known is None else known
        self._demands = demands or Demands(configs)
        self.asked = Answers()

    def again(self) -> Lists:
        """The same lists, of which nothing was asked; those of unchanged files aren't read again."""
        return Lists(self._configs, self._whole, self._known, self._demands.again())

    def demands(self, names: str) -> tuple[Demand, ...]:
        """The numbers that files give to an option by any of its names, which spaces separate."""
        if names not in self.asked.demands:
            self.asked.demands[names] = self._demands.of(frozenset(names.split())) if self._whole else ()
        return self.asked.demands[names]

    def passed(self, names: str) -> tuple[Passed, ...]:
        """The texts that command lines in files give to an option by any of its names."""
        if names not in self.asked.passed:
            self.asked.passed[names] = self._demands.passed(frozenset(names.split())) if self._whole else ()
        return self.asked.passed[names]

    def data_set(self, folder: str) -> Named | None:
        """The largest public data set that the README of a folder names, or the nearest one above that names any."""
        if folder not in self.asked.named:
            here = largest_named(self._configs, folder) if self._whole else None
            around = folder.rpartition("/")[0]
            self.asked.named[folder] = self.data_set(around) if here is None and folder else here
        return self.asked.named[folder]

    @property
    def left(self) -> int:
        """How many files weren't asked for options, as there are too many."""
        return self._demands.left

    def longest(self, pattern: str) -> Count | None:
        """The longest list among the files that a pattern means, relative to the root, if all are lists.

        `*` is any name, or a part; `{key}` begins with what a JSON file of settings has under a key; `folder/{key}`
        with what the files of arguments in a folder give an option.
        """
        if pattern not in self.asked.counts:
            of_key = _OF_KEY.fullmatch(pattern)
            paths = self._by_key(of_key["key"], of_key["rest"] or "", of_key["folder"]) if of_key else None
            counts = [self._count(path) for path in (self._matches(pattern) if paths is None else paths)]
            known = [count for count in counts if count is not None]
            whole = bool(known) and len(known) == len(counts)
            self.asked.counts[pattern] = max(known, key=lambda count: (count[1], count[0])) if whole else None
        return self.asked.counts[pattern]

    def same(self, asked: Answers) -> bool:
        """Whether these were the answers to the same questions now."""
        now = self.again()
        counts = all(now.longest(pattern) == count for pattern, count in asked.counts.items())
        demands = all(now.demands(names) == found for names, found in asked.demands.items())
        passed = all(now.passed(names) == found for names, found in asked.passed.items())
        named = all(now.data_set(folder) == found for folder, found in asked.named.items())
        return counts and demands and passed and named

    def _matches(self, pattern: str) -> Iterator[str]:
        parts = re.sub(r"\*+", "*", pattern).split("/")
        wild = [part for part in parts if "*" in part]
        bad = {"", ".", ".."}.intersection(parts) or "*" in parts[0] or "\0" in pattern
        many = len(wild) > _FOLDERS or any(part.count("*") > _STARS for part in wild)
        if not (bad or many or parts[-1].startswith("*.")) and _SUFFIX.search(parts[-1]):
            yield from self._below("", parts)

    def _by_key(self, key: str, rest: str, folder: str | None) -> Iterator[str]:
        """The paths that begin with what settings have under a key, or what files in a folder give its option."""
        if folder is None:
            texts = {text for data in self._settings for text in _under(key, data)}
        else:
            texts = {posixpath.normpath(f"{folder}/{text}") for text in self._given(key, folder)}
        if "*" not in rest:
            yield from (f"{text}/{rest}" if rest else text for text in sorted(texts))

    def _given(self, option: str, folder: str) -> Iterator[str]:
        """What the files of arguments in a folder give an option, as `argparse` reads them by `@name`."""
        for path in list(self._below("" if folder == "." else f"{folder}/", ["*.txt"]))[:_SETTINGS]:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                data = contents(os.path.join(self._configs.root, path), _SETTINGS_BYTES)
                words = data.decode().replace("=", " ").split()
                if words and words[0].startswith("-"):
                    pairs = pairwise(words)
                    yield from (text for name, text in pairs if name.lstrip("-").replace("-", "_") == option != name)

    @cached_property
    def _settings(self) -> list[object]:
        """What the JSON files say that may be settings."""
        folders = ((), ("conf*",), ("conf*", "*"))
        places = [path for names in folders for path in self._below("", [*names, "*.json"])]
        found = []
        for path in places[:_SETTINGS]:
            with contextlib.suppress(OSError, ValueError, RecursionError):
                found.append(_parsed(contents(os.path.join(self._configs.root, path), _SETTINGS_BYTES)))
        return found

    def _below(self, folder: str, parts: list[str]) -> Iterator[str]:
        here, *rest = parts
        for name in self._named(folder, here) if "*" in here else (here,):
            path = f"{folder}{name}"
            if rest:
                yield from self._below(f"{path}/", rest)
            elif os.path.isfile(os.path.join(self._configs.root, path)):
                yield path

    def _named(self, folder: str, pattern: str) -> list[str]:
        glob = re.compile(".*".join(map(re.escape, pattern.split("*"))))
        place = os.path.join(self._configs.root, folder.rstrip("/"))
        try:
            names = [] if left_out(self._configs, place) else os.listdir(place)
        except OSError:
            return []
        return sorted(name for name in names if glob.fullmatch(name)) if len(names) <= _ENTRIES else []

    def _count(self, path: str) -> Count | None:
        place = os.path.join(self._configs.root, path)
        try:
            if not _SUFFIX.search(path) or left_out(self._configs, place):
                return None
            status = os.stat(place)
            state = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
            if path not in self._known or self._known[path][0] != state:
                self._known[path] = state, _counted(path, contents(place, MOST))
            return self._known[path][1]
        except (OSError, ValueError, RecursionError):
            return None


def _counted(path: str, data: bytes) -> Count | None:
    if data.startswith(_POINTER):
        return None
    name = path.lower()
    if name.endswith(".gz"):
        name, data = name.removesuffix(".gz"), _unpacked(data)
    number = _elements(_parsed(data)) if name.endswith(".json") else len(data.splitlines())
    return (path, number, len(data)) if number >= _FEWEST else None


def _unpacked(data: bytes) -> bytes:
    """What a file holds that gzip packed, of the same bounded size."""
    import zlib

    try:
        unpack = zlib.decompressobj(wbits=31)
        found = unpack.decompress(data, MOST + 1)
    except zlib.error as error:
        raise ValueError("not packed by gzip") from error
    if not unpack.eof or len(found) > MOST:
        raise ValueError("too long, or cut off")
    return found


def _parsed(data: bytes) -> object:
    import json  # a run that counts nothing does without

    return json.loads(data)


def _under(key: str, data: object) -> Iterator[str]:
    """The texts under a key, however deep."""
    waiting = [data]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            found = here.get(key)
            if isinstance(found, str):
                yield posixpath.normpath(found)
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here


def _elements(data: object) -> int:
    """How many elements a list or dictionary of JSON has, or the longest one in it: `{"images": [...]}`."""
    if not isinstance(data, (list, dict)):
        return 0
    inner = data.values() if isinstance(data, dict) else data
    return max((len(item) for item in (data, *inner) if isinstance(item, (list, dict))), default=0)
