"""Which files must be parsed: one regex over the bytes, then the closure over imports.

Parsing costs a hundred times what reading costs. A file is parsed when it names something of the field, when it belongs
to a program that does (it imports such a file, however indirectly), or when such a program imports it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from dllint import knowledge

_WORDS = (
    rb"[Dd]ata_?[Ll]oader|Loader\b|torch\.utils\.data|\bmultiprocess|concurrent\.futures|ProcessPoolExecutor|\bmp\.spawn"
    rb"|__getitem__|worker_init_fn|num_workers|Dataset|[Cc]ollate|DataPipe|DataModule|\bjoblib\b|\bbilliard\b"
    rb"|\bloky\b|get_worker_info|start_processes|notebook_launcher|\.share_memory_?\("
)
_IMPORT = re.compile(
    rb"(?:^|[\r;:])[ \t]*"
    rb"(?:from[ \t]+(?P<origin>[^\s#;()]+)[ \t]+import[ \t]*(?P<names>\([^)]*\)|(?:[^\\\r\n;]|\\\r?\n)*)"
    rb"|import[ \t]+(?P<modules>(?:[^\\\r\n;]|\\\r?\n)*))",
    re.MULTILINE,
)


class Peek(msgspec.Struct, frozen=True):
    """What the bytes of a file say: does it name something of the field, and which modules does it import.

    `from ..a import b` is `..a` and `..a.b`: from outside, b may be a name or a module.
    """

    passes: bool
    imports: tuple[str, ...]


def words(triggers: Iterable[bytes] = (), names: Iterable[str] = ()) -> re.Pattern[bytes]:
    """The filter: the field's own words, the rules' triggers, and the known and configured classes by their names."""
    extra = [re.escape(trigger) for trigger in triggers]
    known = (*knowledge.LOADERS, *knowledge.DATASETS, *names)
    extra += [rb"\b" + re.escape(name.rpartition(".")[2].encode()) + rb"\b" for name in known]
    return re.compile(b"|".join((_WORDS, *sorted(set(extra)))))


def peek(data: bytes, wanted: re.Pattern[bytes]) -> Peek:
    """Look at a file's bytes."""
    return Peek(wanted.search(data) is not None, tuple(sorted(set(_imports(data)))))


def _imports(data: bytes) -> Iterator[str]:
    for match in _IMPORT.finditer(data):
        origin = (match["origin"] or b"").decode("utf-8", "replace")
        if not origin:
            yield from _names(match["modules"])
            continue
        yield origin
        for name in _names(match["names"]):
            yield f"{origin}{name}" if origin.endswith(".") else f"{origin}.{name}"


def _names(listed: bytes) -> Iterator[str]:
    """`a as b, c` without the aliases, brackets and comments."""
    text = re.sub(r"#[^\r\n]*", "", listed.decode("utf-8", "replace"))
    for part in re.sub(r"[()\\]", " ", text).split(","):
        name = part.split(maxsplit=1)[:1]
        if name and name[0] != "*":
            yield name[0]


def close(peeks: Mapping[str, Peek], root: str) -> frozenset[str]:
    """The files to parse: those that pass, all that import them, and all that these import. Paths as in `peeks`."""
    imported = _graph(peeks, root)
    importers: dict[str, set[str]] = defaultdict(set)
    for path, targets in imported.items():
        for target in targets:
            importers[target].add(path)
    programs = _reach({path for path, seen in peeks.items() if seen.passes}, importers)
    return frozenset(_reach(programs, imported))


def _reach(start: set[str], edges: Mapping[str, set[str]]) -> set[str]:
    reached, waiting = set(start), list(start)
    while waiting:
        for path in edges.get(waiting.pop(), ()):
            if path not in reached:
                reached.add(path)
                waiting.append(path)
    return reached


def _graph(peeks: Mapping[str, Peek], root: str) -> dict[str, set[str]]:
    """Path to the paths it may import. Scripts run from anywhere, so a module is any file whose path ends like it."""
    outside = PurePosixPath(Path(root).as_posix()).parts
    modules = {path: _module((*outside, *PurePosixPath(path).parts)) for path in peeks}
    by_last: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for path, parts in modules.items():
        if parts:
            by_last[parts[-1]].append((path, parts))
    return {path: set(_targets(path, seen, modules, by_last)) - {path} for path, seen in peeks.items()}


def _module(parts: tuple[str, ...]) -> tuple[str, ...]:
    stem = parts[-1].partition(".")[0]
    return parts[:-1] if stem == "__init__" else (*parts[:-1], stem)


def _targets(
    path: str,
    seen: Peek,
    modules: Mapping[str, tuple[str, ...]],
    by_last: Mapping[str, list[tuple[str, tuple[str, ...]]]],
) -> Iterator[str]:
    own = modules[path]
    package = own if path.rpartition("/")[2].startswith("__init__.") else own[:-1]
    for name in seen.imports:
        dots = len(name) - len(name.lstrip("."))
        inner = tuple(part for part in name[dots:].split(".") if part)
        if dots:
            whole = (*package[: len(package) - dots + 1], *inner)
            yield from (other for other, parts in by_last.get(whole[-1] if whole else "", ()) if parts == whole)
            continue
        for end in range(1, len(inner) + 1):
            wanted = inner[:end]
            yield from (other for other, parts in by_last.get(wanted[-1], ()) if parts[-end:] == wanted)
