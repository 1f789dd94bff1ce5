"""Which files must be parsed: words in the bytes, then the closure over imports.

Parsing costs a hundred times what reading costs. A file is parsed when it names something of the field, when it belongs
to a program that does (it imports such a file, however indirectly), or when such a program imports it.

Many of the words are of other fields, too: `Compose`, `Subset`, `cycle(`. Where no file that has one names a package
that starts workers or is made for them, nothing in the project can, and nothing is parsed.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from dllint import knowledge
from dllint.documents.settings import is_telling
from dllint.source import is_notebook, is_settings

_WORDS = (
    *(b"Loader", b"ataloader", b"ata_loader", b"torch.utils.data", b"multiprocess", b"concurrent.futures"),
    *(b"ProcessPoolExecutor", b"mp.spawn", b"start_processes", b"notebook_launcher", b"joblib", b"billiard", b"loky"),
    *(b"worker_init_fn", b"num_workers", b"get_worker_info", b"ollate"),
    *(b"Dataset", b"DataPipe", b"DataModule", b".share_memory", b"torchvision", b"Compose"),
    *sorted({name.partition(".")[0].encode() for name in knowledge.PROCESSES} - {b"torch", b"concurrent"}),
)
_REPLAYING = (b"cycle(", b"tee(")
_NAMED_LOADER = re.compile(rb"loader|_dl(?![a-z])", re.IGNORECASE)
"""What is replayed matters where it is a loader, and of those that cannot be followed, where it is called one."""
_STARTING = tuple(name.encode() for name in knowledge.PROGRAM_STARTERS)
_LAUNCHED = re.compile(rb"""(?:\.py|-m["'\s,]{1,9}[\w.]{1,99})["'\s\\,+()]{1,99}(?:f["'])?(?:-|[+\w.]{1,99}=)""")
"""What starts programs matters where it gives options to a script, or to a module: that may be one that has workers."""
_COMMENTS = (b"dllint:", b"DLL")
_COMMENT = re.compile(rb"dllint:|noqa[^\r\n]*DLL")
_PACKAGES = frozenset(
    name.partition(".")[0]
    for name in (
        *(*knowledge.LOADERS, *knowledge.PROCESSES, *knowledge.STARTERS, *knowledge.DATASETS),
        *(*knowledge.DATASET_MODULES, *knowledge.HOLDING_ROOTS, *knowledge.CHAINED, *knowledge.TRANSFORMED),
        *(*knowledge.PREFIXES, *knowledge.FORKING, "joblib", "billiard", "loky"),
    )
) - {"concurrent"}  # most of its users want threads; its class for processes is below
_OF_THE_FIELD = re.compile(
    rb"\b(?:%b)\b|ata_?[Ll]oader|Dataset|DataModule|num_workers|collate_fn|worker_init_fn|start_processes"
    rb"|ProcessPoolExecutor" % "|".join(sorted(_PACKAGES)).encode()
)
_BEFORE = re.compile(rb"(?:^|.*[\r;:])[ \t\f]*(?:from[ \t]+(\S+)[ \t]+)?$", re.DOTALL)
_AFTER = re.compile(rb"[ \t]*(\([^)]*\)|(?:[^\\\r\n;]|\\\r?\n)*)")
_BY_NAME = re.compile(rb"""\bimport_module\(\s*f?["']([\w.]+)(["']\s*,?\s*\))?""")
"""The evaluator knows which module that is, or which it may be, if the file is parsed."""
_BELOW = ".*"
"""Behind the package that a computed name begins with, any module of which may be imported."""


class Peek(msgspec.Struct, frozen=True):
    """What the bytes of a file say: does it name something of the field, and which modules does it import.

    `from ..a import b` is `..a` and `..a.b`: from outside, b may be a name or a module. `import_module(f"a.b.{c}")` is
    `a.b.*`.
    """

    passes: bool
    imports: tuple[str, ...]
    surely: bool = False
    """Whether what it names can only be of the field, in a file that passes."""


class Words(msgspec.Struct, frozen=True):
    """The words that let a file pass. Finding a literal is far faster than any pattern with alternatives."""

    anywhere: tuple[bytes, ...]
    whole: tuple[bytes, ...]
    """These must be whole words: class names such as `Trainer`, and parameters."""
    sure: tuple[bytes, ...] = ()
    """Words of other rules, and names in configurations: their authors want such files to be read."""

    def found(self, data: bytes) -> bool:
        """Whether the file has one of them."""
        if any(word in data for word in self.anywhere):
            return True
        if any(word in data for word in _STARTING) and _LAUNCHED.search(data):
            return True
        return any(re.search(rb"\b" + re.escape(word) + rb"\b", data) for word in self.whole if word in data)

    def surely(self, data: bytes) -> bool:
        """Whether a file that has one of them speaks of the field, and not of another one that has the word as well."""
        if _OF_THE_FIELD.search(data) or any(word in data for word in self.sure):
            return True
        if any(word in data for word in _REPLAYING) and _NAMED_LOADER.search(data):
            return True
        return not set(_COMMENTS).isdisjoint(self.anywhere) and bool(_COMMENT.search(data))


def words(triggers: Iterable[bytes] = (), names: Iterable[str] = ()) -> Words:
    """The field's own words, the rules' triggers, and the known and configured classes by their last names.

    And the parameters that say how many processes a method starts.
    """
    known = (*knowledge.LOADERS, *knowledge.DATASETS, *names)
    triggers, names = set(triggers), list(names)
    anywhere = (*_WORDS, *sorted(triggers))
    sure = {*triggers.difference(_REPLAYING, _COMMENTS), *(name.rpartition(".")[2].encode() for name in names)}
    last = {name.rpartition(".")[2].encode() for name in known}
    last |= {starter.workers.encode() for starter in knowledge.STARTERS.values()}
    whole = (name for name in last if not any(word in name for word in anywhere))  # those would be found anyway
    return Words(anywhere, tuple(sorted(whole)), tuple(sorted(sure)))


def peek(path: str, data: bytes, wanted: Words) -> Peek:
    """Look at a file's bytes. The JSON of a notebook is taken for its lines, outputs and all: that is quick."""
    if is_settings(path):
        return Peek(is_telling(data), ())
    data = _lines(path, data)
    passes = wanted.found(data)
    return Peek(passes, tuple(sorted(set(_imports(data)))), passes and wanted.surely(data))


def imported(path: str, data: bytes) -> set[str]:
    """The modules that a file may import, as `Peek` has them."""
    return set() if is_settings(path) else set(_imports(_lines(path, data)))


def _lines(path: str, data: bytes) -> bytes:
    return data.replace(b"\\n", b"\n").replace(b'"', b"\n") if is_notebook(path) else data


def packed(seen: Peek) -> bytes:
    """A peek as bytes."""
    return msgspec.msgpack.encode(seen)


def unpacked(data: bytes) -> Peek:
    """The peek that was packed. Data that can't be decoded counts as relevant, so that the file is read."""
    try:
        return msgspec.msgpack.decode(data, type=Peek)
    except msgspec.MsgspecError:
        return Peek(True, (), True)


def _imports(data: bytes) -> Iterator[str]:
    for match in re.finditer(rb"import[ \t(\\]", data):
        at = match.start()
        before = _BEFORE.match(data[data.rfind(b"\n", 0, at) + 1 : at])
        after = _AFTER.match(data, match.end() - 1)
        if not before or not after:
            continue
        names = _names(after[1])
        if before[1] is None:
            yield from names
            continue
        origin = before[1].decode("utf-8", "replace")
        yield origin
        for name in names:
            yield f"{origin}{name}" if origin.endswith(".") else f"{origin}.{name}"
    for match in _BY_NAME.finditer(data):
        name = match[1].decode("utf-8", "replace")
        package = name.rpartition(".")[0]
        if match[2]:
            yield name
        elif package.strip("."):
            yield f"{package}{_BELOW}"


def _names(listed: bytes) -> Iterator[str]:
    """`a as b, c` without the aliases, brackets and comments."""
    text = re.sub(r"#[^\r\n]*", "", listed.decode("utf-8", "replace"))
    for part in re.sub(r"[()\\]", " ", text).split(","):
        name = part.split(maxsplit=1)[:1]
        if name and name[0] != "*":
            yield name[0]


def close(peeks: Mapping[str, Peek], root: str) -> frozenset[str]:
    """The files to parse: those that pass, all that import them, and all that these import. Paths as in `peeks`.

    None, where no file that passes is surely of the field.
    """
    if not any(seen.surely for seen in peeks.values()):
        return frozenset()
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
    outside = root.replace(os.sep, "/").rstrip("/").split("/")
    modules = {path: _module((*outside, *path.split("/"))) for path in peeks}
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
        inner = tuple(part for part in name[dots:].removesuffix(_BELOW).split(".") if part)
        wanted = (*package[: len(package) - dots + 1], *inner) if dots else inner
        if name.endswith(_BELOW):
            yield from (other for other, parts in modules.items() if _is_below(parts, wanted, anywhere=not dots))
        elif dots:
            yield from (other for other, parts in by_last.get(wanted[-1] if wanted else "", ()) if parts == wanted)
        if not dots:
            for end in range(1, len(wanted) + 1):
                ends = by_last.get(wanted[end - 1], ())
                yield from (other for other, parts in ends if parts[-end:] == wanted[:end])


def _is_below(parts: tuple[str, ...], package: tuple[str, ...], anywhere: bool) -> bool:
    """Whether a module is in a package, which begins at the root, or anywhere."""
    length = len(package)
    begins = range(len(parts) - length) if anywhere else range(min(1, len(parts) - length))
    return any(parts[at : at + length] == package for at in begins)
