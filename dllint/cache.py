"""What earlier runs learned of a project's files: which are unchanged, what their bytes say, and their facts.

Two tables lie in a folder of the project's own under the user's cache folder. `files` says what a file with this state
on disk holds; `facts` says where the facts of a content are, in packs that are written once and never changed. Beside
them lie the verdicts on the project as it was lately. Tables
are replaced in one step, so runs beside each other lose at most what one of them learned. Everything is data with a
checksum, and what is damaged counts as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import sys
import time
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from dllint import __version__
from dllint.files.sieve import Peek, Words

State = tuple[int, int, int, int]
"""Size, modification time, change time (both in ns), inode."""

MOST_BYTES = 1 << 30
"""Of all projects together; the ones that were not used for longest go first."""
_MOST_PACKS = 16
_MOST_ENTRIES = 8
_SLACK = 1 << 20
"""Bytes of facts that no file needs now and that are kept, besides as many as are needed: branches are switched."""
_FORSAKEN_S = 600
"""A pack that no table names may be another run's that is about to write its table."""
_GRAIN_NS, _COARSE_GRAIN_NS = 100_000_000, 2_000_000_000
_VERSION_FOLDER = re.compile(r"facts-[0-9a-f]{16}")


class Known(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was read."""

    state: State
    digest: bytes
    peek: Peek


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """Where the facts of a content are."""

    pack: str
    start: int
    size: int
    check: int


class Cache:
    """The tables of one project. Without a folder nothing is known and nothing is kept."""

    def __init__(self, folder: Path | None = None, words: str = "") -> None:
        self._folder = folder
        self._files = f"files-{words}"
        self.files: Mapping[str, Known] = self._table(self._files, dict[str, Known])
        self._places: dict[bytes, _Place] = self._table("facts", dict[bytes, _Place])
        self._packs: dict[str, bytes] = {}

    @property
    def on(self) -> bool:
        """Whether anything is kept at all."""
        return self._folder is not None

    def facts(self, digest: bytes) -> bytes | None:
        """The facts of a content, if they are known."""
        place = self._places.get(digest)
        if place is None:
            return None
        data = self._pack(place.pack)[place.start : place.start + place.size]
        return data if zlib.crc32(data) == place.check else None

    def save(self, files: Mapping[str, Known], new: Mapping[bytes, bytes], needed: Collection[bytes]) -> None:
        """Keep what this run learned: its files, facts that were not known, and which contents need facts.

        A cache that cannot be written is none.
        """
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            _make(self._folder)
            if new:
                self._save_facts(new, needed)
            if files != self.files:
                _replace(self._folder / self._files, msgspec.msgpack.encode(files))
            _touch(self._folder)
            if new:
                _prune(self._folder.parent.parent, self._folder)

    def entry(self, kind: str, key: str) -> bytes | None:
        """What was kept under a key."""
        return None if self._folder is None else _checked(self._folder / f"{kind}-{key}")

    def keep(self, kind: str, key: str, data: bytes) -> None:
        """Keep something under a key, and of its kind only the latest few."""
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            _make(self._folder)
            _replace(self._folder / f"{kind}-{key}", data)
            for file in sorted(self._folder.glob(f"{kind}-*"), key=_age)[_MOST_ENTRIES:]:
                file.unlink(missing_ok=True)

    def _save_facts(self, new: Mapping[bytes, bytes], needed: Collection[bytes]) -> None:
        assert self._folder is not None
        places = self._table("facts", dict[bytes, _Place])  # as they are by now
        places.update(_write_pack(self._folder, new))
        live = {digest: place for digest, place in places.items() if digest in needed}
        packs = {place.pack for place in places.values()}
        if len(packs) > _MOST_PACKS or _bytes(places) > 2 * _bytes(live) + _SLACK:
            kept = {digest: data for digest in live if (data := new.get(digest) or self.facts(digest))}
            places = _write_pack(self._folder, kept)
        _replace(self._folder / "facts", msgspec.msgpack.encode(places))
        used = {place.pack for place in places.values()}
        for file in self._folder.glob("*.pack"):
            if file.name not in used and (file.name in packs or _age(file) > _FORSAKEN_S):
                file.unlink(missing_ok=True)

    def _table(self, name: str, form: Any) -> Any:
        data = None if self._folder is None else _checked(self._folder / name)
        try:
            return {} if data is None else msgspec.msgpack.decode(data, type=form)
        except msgspec.MsgspecError:
            return {}

    def _pack(self, name: str) -> bytes:
        if name not in self._packs:
            assert self._folder is not None
            try:
                self._packs[name] = (self._folder / Path(name).name).read_bytes()
            except OSError:
                self._packs[name] = b""
        return self._packs[name]


def project(root: str, words: Words, home: str = "") -> Cache:
    """The cache of the project at `root`, filtered by these words. `home` is another cache folder than the user's."""
    base = Path(home) if home else user_folder()
    if not _ours(base):
        return Cache()
    return Cache(base / f"facts-{_maker()}" / _short(os.fsencode(root)), _short(msgspec.msgpack.encode(words)))


def state(status: os.stat_result) -> State:
    """What of a file's status changes when the file does."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def settled(known: State, now: int) -> bool:
    """Whether a file that is changed from `now` on (in ns) will have another state: its clock has gone on since."""
    _, modified, changed, _ = known
    grain = _GRAIN_NS if modified % 1_000_000_000 else _COARSE_GRAIN_NS
    return max(modified, changed) + grain < now


def unsettled(size: int) -> State:
    """The state of a file so young that it may still change and look the same: no file ever has it."""
    return size, 0, 0, 0


def clean(home: str = "") -> int:
    """Remove everything that was kept, of all projects and versions; the number of bytes. Other files stay."""
    base = Path(home) if home else user_folder()
    freed = 0
    for version in _versions(base):
        freed += sum(file.stat().st_size for file in version.rglob("*") if file.is_file())
        _remove(version)
    return freed


def user_folder() -> Path:
    """Where the platform wants caches."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(base, "dllint", "Cache")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dllint"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "dllint")


def _maker() -> str:
    """What makes facts: this dllint with its collecting code, Python and LibCST. Other makers, other facts."""
    here = Path(__file__).parent
    code = [*here.glob("collect/*.py"), *here.glob("syntax/*.py"), *here.glob("model/*.py"), *here.glob("files/*.py")]
    code += here.glob("documents/**/*.py")
    code += [Path(__file__), here / "source.py", *libcst()]
    states = sorted((file.name, *state(file.stat())[:2]) for file in code)
    return _short(repr((__version__, sys.version, msgspec.__version__, states)).encode())


def code(folder: str) -> Iterator[tuple[str, State]]:
    """The Python files below a folder of code, with their states."""
    for place, folders, names in os.walk(folder):
        folders[:] = (name for name in folders if name != "__pycache__")
        files = (os.path.join(place, name) for name in names if name.endswith(".py"))
        yield from ((file, state(os.stat(file))) for file in files)


def libcst() -> list[Path]:
    """The file that tells one LibCST from another, without importing it."""
    spec = importlib.util.find_spec("libcst")
    return [Path(spec.origin)] if spec and spec.origin else []


def _short(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _make(folder: Path) -> None:
    base = folder.parent.parent
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"), (".gitignore", "*\n")):
        if not (base / name).exists():
            (base / name).write_text(text, encoding="utf-8")


def _ours(base: Path) -> bool:
    """Whether nobody else can have written there; a folder that is not there yet will be ours."""
    try:
        status = base.stat()
    except OSError:
        return True
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _write_pack(folder: Path, contents: Mapping[bytes, bytes]) -> dict[bytes, _Place]:
    name = f"{os.urandom(8).hex()}.pack"
    places, start = {}, 0
    for digest, data in contents.items():
        places[digest] = _Place(name, start, len(data), zlib.crc32(data))
        start += len(data)
    _replace(folder / name, b"".join(contents.values()), checked=False)
    return places


def _checked(file: Path) -> bytes | None:
    """What `_replace` wrote, if it is still that."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    return data[4:] if zlib.crc32(data[4:]) == int.from_bytes(data[:4], "big") else None


def _replace(file: Path, data: bytes, checked: bool = True) -> None:
    """Write a file in one step, with a checksum in front unless its parts have their own."""
    from dllint.files.atomic import replace  # a run in which nothing changed writes nothing

    replace(str(file), zlib.crc32(data).to_bytes(4, "big") + data if checked else data)


def _remove(folder: Path) -> None:
    from shutil import rmtree

    rmtree(folder)


def _bytes(places: Mapping[bytes, _Place]) -> int:
    return sum(place.size for place in places.values())


def _age(file: Path) -> float:
    """Seconds since a file or folder was written."""
    return time.time() - file.stat().st_mtime


def _touch(folder: Path) -> None:
    """Note that a project was checked; once a day is enough."""
    if _age(folder) > 86_400:
        os.utime(folder)


def _versions(base: Path) -> Iterator[Path]:
    if base.is_dir():
        yield from (entry for entry in base.iterdir() if _VERSION_FOLDER.fullmatch(entry.name) and entry.is_dir())


def _prune(base: Path, own: Path) -> None:
    """Remove the projects not checked for longest until the others fit."""
    projects = [folder for version in _versions(base) for folder in version.iterdir()]
    total = 0
    for folder in sorted(projects, key=lambda folder: (folder != own, _age(folder))):
        total += sum(file.stat().st_size for file in folder.iterdir())
        if total > MOST_BYTES and folder != own:
            with contextlib.suppress(OSError):
                _remove(folder)
