"""The cache folder: its location, and how data is written there: atomically, with a checksum, and of a bounded size."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
import zlib
from collections.abc import Iterable, Iterator

from dllint.reading import contents
from dllint.source import hashed

MOST_BYTES = 1 << 30
"""Of all projects together; the ones that were not used for longest go first."""
_VERSION_FOLDER = re.compile(r"facts-[0-9a-f]{16}")


def user_folder() -> str:
    """Where the platform wants caches."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(base, "dllint", "Cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "dllint")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "dllint")


def ours(base: str) -> bool:
    """Whether no other user can have written there; a folder that doesn't exist yet will be ours."""
    try:
        status = os.stat(base)
    except OSError:
        return True
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def make(folder: str) -> None:
    """Make the folder of a project, in a cache that says what it is.

    A cache in a folder that was there before may share that with others, and speaks for its own part only.
    """
    if os.path.isdir(folder):
        return
    version = os.path.dirname(folder)
    base = os.path.dirname(version)
    told = version if os.path.isdir(base) else base
    os.makedirs(base, mode=0o700, exist_ok=True)
    os.makedirs(folder, exist_ok=True)
    for name, text in (("CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n"), (".gitignore", b"*\n")):
        with contextlib.suppress(FileExistsError), open(os.path.join(told, name), "xb") as stream:
            stream.write(text)


def checked(file: str) -> memoryview | None:
    """What `replace` wrote, if it is still that."""
    try:
        data = memoryview(contents(file, MOST_BYTES))
    except OSError:
        return None
    return data[4:] if zlib.crc32(data[4:]) == int.from_bytes(data[:4], "big") else None


def replace(file: str, data: bytes, checked: bool = True) -> None:
    """Write a file in one step, with a checksum in front unless its parts have their own."""
    from dllint.files.atomic import replace  # a run in which nothing changed writes nothing

    replace(file, zlib.crc32(data).to_bytes(4, "big") + data if checked else data)


def age(file: str) -> float:
    """Seconds since a file or folder was written."""
    return time.time() - os.stat(file).st_mtime


def touch(folder: str) -> None:
    """Note that a project was checked; once a day is enough."""
    if age(folder) > 86_400:
        os.utime(folder)


def held(folder: str) -> list[str]:
    """The files in a folder."""
    return [os.path.join(folder, name) for name in os.listdir(folder)]


def prune(base: str, own: str) -> None:
    """Remove the projects not checked for longest until the others fit."""
    projects = [folder for version in _versions(base) for folder in held(version) if os.path.isdir(folder)]
    total = 0
    for folder in sorted(projects, key=lambda folder: (folder != own, age(folder))):
        total += sum(os.stat(file).st_size for file in held(folder))
        if total > MOST_BYTES and folder != own:
            with contextlib.suppress(OSError):
                _remove(folder)


def clean(home: str = "") -> int:
    """Remove everything that was kept, of all projects and versions; the number of bytes. Other files stay."""
    return _freed(_versions(home or user_folder()))


def forget(root: str, home: str = "") -> int:
    """Remove what was kept of the project at `root`, by all versions; the number of bytes."""
    versions = list(_versions(home or user_folder()))
    return _freed(folder for version in versions for folder in held(version) if os.path.basename(folder) == name(root))


def name(root: str) -> str:
    """What the folder of the project at `root` is called."""
    return hashed(os.fsencode(root), 8)


def _freed(places: Iterable[str]) -> int:
    freed = 0
    for folder in places:
        for place, _, names in os.walk(folder):
            freed += sum(os.stat(os.path.join(place, name)).st_size for name in names)
        _remove(folder)
    return freed


def _remove(folder: str) -> None:
    from shutil import rmtree

    rmtree(folder)


def _versions(base: str) -> Iterator[str]:
    for folder in held(base) if os.path.isdir(base) else ():
        if _VERSION_FOLDER.fullmatch(os.path.basename(folder)) and os.path.isdir(folder):
            yield folder
