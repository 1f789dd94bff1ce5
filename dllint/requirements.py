"""Which versions of a package a project asks for, in all the files that can say it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch

from dllint.reading import contents

_FILES = (
    *("pyproject.toml", "setup.py", "setup.cfg", "pixi.toml", "Pipfile", "*requirement*.txt", "*requirement*.in"),
    *("constraints*.txt", "environment*.yml", "environment*.yaml", "conda*.yml", "conda*.yaml"),
    *("Pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock", "pixi.lock", "pylock*.toml"),
)
_FOLDERS = ("requirements", "conda", "ci")
"""Where such files lie, too."""
_MOST = 20_000_000
"""Bytes of a file that is read."""
_ANY = ""


def only_from(package: str, major: int, root: str, path: str = "") -> bool:
    """Whether all that is said of a package rules out the major versions below one; False where nothing is said.

    What counts is in the folder of the file at `path`, relative to the root, or above it up to the root.
    """
    said = [text for file in _files(root, path) for text in _said(file, package)]
    return bool(said) and all(_excludes_below(text, major) for text in said)


def may_be_below(package: str, major: int, root: str, path: str = "") -> bool:
    """Whether a version is said of a package that leaves room below a major one."""
    said = [text for file in _files(root, path) for text in _said(file, package)]
    return any(text.strip() and not _excludes_below(text, major) for text in said)


def only_before(package: str, version: str, root: str, path: str = "") -> bool:
    """Whether all that is said of a package asks for releases before a version; False where nothing is said."""
    said = [text for file in _files(root, path) for text in _said(file, package)]
    return bool(said) and all(_ends_before(text, version) for text in said)


def _ends_before(text: str, version: str) -> bool:
    """Whether a clause of a specifier leaves out a version and all that come later."""
    wanted = _release(version)
    for part in text.split(","):
        match = re.fullmatch(r"\s*(===?|=|<=?|)\s*v?(\d+(?:\.\d+)*)\s*", part)
        end = _release(match[2]) if match else wanted
        if match and (end < wanted or (match[1] == "<" and end == wanted)):
            return True
    return False


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without zeros at the end."""
    return tuple(map(int, re.sub(r"(?:\.0+)+$", "", version).split(".")))


def _files(root: str, path: str) -> Iterator[str]:
    folder = os.path.dirname(os.path.join(root, path))
    while os.path.normpath(folder).startswith(os.path.normpath(root)):
        for place in (folder, *(os.path.join(folder, name) for name in _FOLDERS)):
            names = sorted(os.listdir(place)) if os.path.isdir(place) else []
            inside = place != folder
            for name in names:
                if any(fnmatch(name, kind) for kind in _FILES) or (inside and name.endswith((".txt", ".in"))):
                    yield os.path.join(place, name)
        if os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def _said(file: str, package: str) -> Iterator[str]:
    """The versions that a file names: specifiers as pip, Poetry or conda write them; "" for any version."""
    try:
        text = contents(file, _MOST).decode("utf-8", "replace")
    except OSError:
        return
    if package not in text.lower():
        return
    text = re.sub(r"(?m)(?:^|(?<=\s))#.*$", "", text)
    for pattern in _patterns(package):
        for match in pattern.finditer(text):
            yield (match[1] or _ANY) if match.re.groups else _ANY


def _patterns(package: str) -> Iterator[re.Pattern[str]]:
    name, version = rf"(?<![\w./-]){package}", r"\d[\w.*+!]*"
    flags = re.IGNORECASE | re.MULTILINE
    # numpy>=1.21,<2 as in lists of requirements, numpy=1.21=py38 as conda has it
    one = rf"[<>=~!]{{1,3}}[ \t]*{version}"
    yield re.compile(rf"{name}(?:\[[^\]]*\])?[ \t]*\(?({one}(?:[ \t]*,[ \t]*{one})*)", flags)
    # numpy = "^1.24", numpy = {version = "1.24"}, "numpy": {..., "version": "==1.26.4"}
    keyed = r"(?:\{[^}]*?[\"']?version[\"']?\s*[=:]\s*)?"
    yield re.compile(rf"(?:^[ \t]*|[\"']){package}[\"']?\s*[=:]\s*{keyed}[\"']([^\"']*)[\"']", flags)
    # name = "numpy", version = "1.26.4"
    quoted = rf"[\"']?{package}[\"']?\s*,?\s*[\"']?version[\"']?"
    yield re.compile(rf"name[\"']?\s*[=:]\s*{quoted}\s*[=:]\s*[\"']?({version})", flags)
    # a mere mention in a list
    listed, alone = rf"(?<!name = )[\"']{package}[ \t]*[\"'](?!\s*[=:])", rf"^[ \t-]*{package}[ \t]*(?:;.*)?$"
    yield re.compile(f"{listed}|{alone}", flags)


def _excludes_below(text: str, major: int) -> bool:
    """Whether a specifier leaves out every version below a major one."""
    return any(_starts_at(part.strip()) >= major for part in text.split(",") if part.strip())


def _starts_at(part: str) -> int:
    """The least major version that one clause allows."""
    match = re.match(r"(===?|~=|>=|=|>|\^|~|)\s*v?(\d+)", part)
    return int(match[2]) if match else 0
