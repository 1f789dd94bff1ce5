"""How many items a class has that is for a public data set, by its names, its default folders, or what it is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.benchmarks import ITEMS, data_sets, words
from dllint.model.facts import Event, Expr
from dllint.project.data.list_files import ListFiles
from dllint.project.data.naming import name_of
from dllint.project.evaluate.abstract_values import Env, Klass

if TYPE_CHECKING:
    from dllint.project import Project

_PLACES = re.compile(r"root|path|dir|folder|name|base|prefix|url|file|list|data_?set|corpus|^data$", re.IGNORECASE)
"""Parameters, attributes and options whose text says which data it is."""
_OTHER_PLACES = re.compile(
    r"model|(?:^|_)net(?:work)?(?:_|$)|pretrain|weight|ckpt|checkpoint|save|(?:^|_)logs?(?:_|dir|$)|(?:^|_)out(?:put)?"
    r"|backbone|(?:^|_)arch(?:_|$)|encoder|token|vocab",
    re.IGNORECASE,
)
"""The same of what isn't data: a model's weights say what it was trained on."""
_CUT_DOWN = frozenset({"small", "debug", "demo", "toy", "tiny", "mini", "dummy"})
_SPLITS = frozenset({"val", "valid", "validation", "test", "testing"})
_HELD_OUT = _SPLITS | {"eval", "evaluation", "infer", "inference", "demo"}
_GENERAL = frozenset({"dataset", "data", "set", "subset", "split", "loader", "datasets"})
_Known = tuple[str, int] | None
"""A public data set, and its number of items."""


class Known:
    """Answers which public data set a class is for."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.classes = project.evaluator.classes
        self.files = project.analysis(ListFiles)
        self._items: dict[tuple[str, str], _Known] = {}
        self._given: dict[tuple[str, str], _Known] = {}
        self._passed: dict[tuple[str, str], _Known] = {}

    def of(self, owner: str, path: str) -> _Known:
        """The public data set that the classes of a name are for, and its number of items.

        What is nearest to the class says it: its names and defaults, its file, what it is given, the file's folder.
        """
        folder = path.rpartition("/")[0].rpartition("/")[2]
        return self.items(owner, path) or self.given(owner, path) or largest((folder,))

    def items(self, owner: str, path: str) -> _Known:
        """The public data set that a class's name, its default folders and its bases name, each class before its bases.

        If these name none, the class's file does: `datasets/cityscapes.py`. Of several the largest, but `kitti/object`
        is one, whatever the number of `kitti`.
        """
        key = owner, path
        return self.evaluator.kept(self._items, key, self._find_items, *key)

    def _find_items(self, owner: str, path: str) -> _Known:
        keepers = self.classes.keepers(owner, path)
        named = _most(self._nearest(klass) for klass in keepers)
        files = (klass.module.path.rpartition("/")[2].removesuffix(".py") for klass in keepers)
        return largest((owner,)) or named or largest(files)

    def _nearest(self, klass: Klass) -> _Known:
        tiers = (tier for base in self.classes.mro(klass) for tier in _tiers(base))
        return next(filter(None, map(largest, tiers)), None)

    def given(self, owner: str, path: str) -> _Known:
        """The public data set in whose place the classes of a name are made."""
        key = owner, path
        return self.evaluator.kept(self._given, key, self._find_given, *key)

    def _find_given(self, owner: str, path: str) -> _Known:
        places = (place for klass in self.classes.keepers(owner, path) for place in self._places(klass))
        given = (list(self.files.texts(*place)) for place in places)
        return largest(text for texts in given if _tell(texts) for text in texts)

    def passed(self, owner: str, path: str) -> _Known:
        """The public data set that the project's command lines give such a class, if each of them names one."""
        key = owner, path
        return self.evaluator.kept(self._passed, key, self._find_passed, *key)

    def _find_passed(self, owner: str, path: str) -> _Known:
        keepers = self.classes.keepers(owner, path)
        given = [self.files.passed(*place, klass) for klass in keepers for place in self._places(klass)]
        named = (texts for texts in given if all(any(data_sets(text)) for text in texts))
        return largest(text for texts in named for text in texts)

    def _places(self, klass: Klass) -> Iterator[tuple[Expr, Env]]:
        """The places that a class is given where it is made, with the defaults of options and settings."""
        init = klass.facts.methods.get("__init__")
        if init is None:
            return
        env = self.evaluator.generic(klass.module, init)
        parameters = {parameter.name for parameter in env.facts.parameters}
        parts = (part for event in env.facts.events for part in _given_places(event, parameters))
        first = {(part.args[0].name if part.args else "", name_of(part)): part for part in parts}
        for part in first.values():
            yield part, env


def _tell(texts: list[str]) -> bool:
    """Whether texts may say which data it is: of names to choose from, each has to be one of a public data set."""
    return not all(map(str.isidentifier, texts)) or all(any(data_sets(text)) for text in texts)


def largest(texts: Iterable[str]) -> _Known:
    """The largest public data set that texts name; `kitti/object` is one, whatever the number of `kitti`."""
    found = {name for text in texts for name in data_sets(text)}
    own = {name for name in found if not any(name != other and name in other for other in found)}
    return _most((name, ITEMS[name]) for name in sorted(own))


def _most(known: Iterable[_Known]) -> _Known:
    return max(filter(None, known), key=lambda found: (found[1], found[0]), default=None)


def is_cut_down(name: str) -> bool:
    """Whether a class is called after a part of some data: `SmallDataset`, `CocoMini`, but not `MiniBatches`."""
    named = words(name)
    while named and named[-1] in _GENERAL:
        named.pop()
    return bool(named) and named[-1] in _CUT_DOWN


def is_held_out(name: str) -> bool:
    """Whether a class is called after data that nothing is trained on: `ItmValDataset`, but not `TrainValDataset`."""
    return not _HELD_OUT.isdisjoint(words(name)) and not is_trained_on(name)


def has_a_held_out_split(path: str) -> bool:
    """Whether a file is called after such a part of some data, not after what its code does: `evaluate/data.py`."""
    return not _SPLITS.isdisjoint(words(path)) and not is_trained_on(path)


def is_trained_on(name: str) -> bool:
    """Whether a class is called after data for training: `SpeakerTrainSet`."""
    return not {"train", "training"}.isdisjoint(words(name))


def is_benchmark(name: str) -> bool:
    """Whether a class is called after a benchmark of models, which asks some thousand questions: `MotionBench`."""
    return "bench" in words(name)


def _tiers(klass: Klass) -> Iterator[Iterable[str]]:
    """What a class says of its data: its name, then the folders and names that it has by default, then its bases."""
    facts, module = klass.facts, klass.module
    yield (facts.name,)
    init = facts.methods.get("__init__")
    parameters = module.model.functions[init].parameters if init is not None else ()
    given = [(parameter.name, parameter.default) for parameter in parameters]
    given += [(event.target.name, event.value) for event in facts.events if event.target is not None]
    writes = module.self_writes.get(klass.index, {})
    given += [(name, write.event.value) for name, found in writes.items() for write in found]
    local = (event for event in (module.events(init) if init is not None else ()) if event.kind == "assign")
    given += [(event.target.name, event.value) for event in local if event.target is not None]
    yield [_text(value) for name, value in given if value is not None and is_place(name)]
    yield [base.name for base in facts.bases if base.kind in ("name", "attribute")]


def is_place(name: str) -> bool:
    """Whether the text of a parameter, an attribute or an option says which data it is."""
    return bool(_PLACES.search(name)) and not _OTHER_PLACES.search(name)


def _given_places(event: Event, parameters: set[str]) -> Iterator[Expr]:
    """The places that a function is given: `root`, `args.filelist`, `settings["data_root"]`, what joins a path."""
    parts = list(event.walk())
    calls = (part for part in parts if part.kind == "call" and part.args[0].name in ("join", "joinpath"))
    joined = {id(arg) for call in calls for arg in call.args[1:]}
    for part in parts:
        name = name_of(part) if _is_given(part, parameters) else ""
        if is_place(name) or (id(part) in joined and name and not _OTHER_PLACES.search(name)):
            yield part


def _is_given(part: Expr, parameters: set[str]) -> bool:
    given = part if part.kind == "name" else part.args[0] if part.kind in ("attribute", "subscript") else None
    return given is not None and given.kind == "name" and given.name in parameters


def _text(value: Expr) -> str:
    """The text that is written in an expression: `KITTI/object` of `os.path.join(root, "KITTI", "object")`."""
    return "/".join(part.value for part in value.walk() if isinstance(part.value, str))
