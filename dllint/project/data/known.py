"""How many items a class has that is called after a public data set, or that has its folder by default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.benchmarks import ITEMS
from dllint.model.facts import Expr
from dllint.project.data.list_files import ListFiles
from dllint.project.evaluate.abstract_values import Klass

if TYPE_CHECKING:
    from dllint.project import Project

_WORDS = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_PLACES = re.compile(r"root|path|dir|folder|name|base|prefix|url", re.IGNORECASE)
"""Parameters and attributes whose text says which data it is."""
_CUT_DOWN = frozenset({"small", "debug", "demo", "toy", "tiny", "mini", "dummy"})
_HELD_OUT = frozenset({
    "val", "valid", "validation", "test", "testing", "eval", "evaluation", "infer", "inference", "demo",
})  # fmt: skip
_GENERAL = frozenset({"dataset", "data", "set", "subset", "split", "loader", "datasets"})
_LONGEST = 4
"""So many words are the name of a data set at most."""
_FEWEST_LETTERS = 4
"""So long is the name of a data set whose version may be any number."""


class Known:
    """Answers which public data set a class is for."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.classes = project.evaluator.classes
        self.files = project.analysis(ListFiles)
        self._items: dict[tuple[str, str], tuple[str, int] | None] = {}

    def items(self, owner: str, path: str) -> tuple[str, int] | None:
        """The public data set that a class's name, its bases and its default folders name, and its number of items.

        If these name none, the class's file does: `datasets/cityscapes.py`. Of several the largest, but `kitti/object`
        is one, whatever the number of `kitti`.
        """
        key = owner, path
        if key not in self._items:
            keepers = self.classes.keepers(owner, path)
            bases = (base for klass in keepers for base in self.classes.mro(klass))
            files = (klass.module.path.rpartition("/")[2].removesuffix(".py") for klass in keepers)
            self._items[key] = _largest({owner, *(text for base in bases for text in _texts(base))}) or _largest(files)
        return self._items[key]

    def given(self, owner: str, path: str) -> tuple[str, int] | None:
        """The public data set in whose place the classes of a name are made."""
        return _largest(text for klass in self.classes.keepers(owner, path) for text in self._given(klass))

    def _given(self, klass: Klass) -> Iterator[str]:
        """The places that a class is given where it is made, with the defaults of options and settings."""
        init = klass.facts.methods.get("__init__")
        if init is None:
            return
        env = self.evaluator.generic(klass.module, init)
        places = {parameter.name for parameter in env.facts.parameters if _PLACES.search(parameter.name)}
        parts = (part for event in env.facts.events for part in event.walk() if part.kind == "name")
        first = {part.name: part for part in parts if part.name in places}
        for part in first.values():
            yield from self.files.texts(part, env)


def _largest(texts: Iterable[str]) -> tuple[str, int] | None:
    found = {name for text in texts for name in data_sets(text)}
    own = {name for name in found if not any(name != other and name in other for other in found)}
    return max(((name, ITEMS[name]) for name in sorted(own)), key=lambda item: item[1], default=None)


def is_cut_down(name: str) -> bool:
    """Whether a class is called after a part of some data: `SmallDataset`, `CocoMini`, but not `MiniBatches`."""
    words = _words(name)
    while words and words[-1] in _GENERAL:
        words.pop()
    return bool(words) and words[-1] in _CUT_DOWN


def is_held_out(name: str) -> bool:
    """Whether a class is called after data that nothing is trained on: `ItmValDataset`, but not `TrainValDataset`."""
    return not _HELD_OUT.isdisjoint(_words(name)) and not is_trained_on(name)


def is_trained_on(name: str) -> bool:
    """Whether a class is called after data for training: `SpeakerTrainSet`."""
    return not {"train", "training"}.isdisjoint(_words(name))


def is_benchmark(name: str) -> bool:
    """Whether a class is called after a benchmark of models, which asks some thousand questions: `MotionBench`."""
    return "bench" in _words(name)


def data_sets(text: str) -> Iterator[str]:
    """The public data sets that a text names, in one word or several: `LEVIR_CD`, `MICCAI_BraTS_2018_Data`."""
    words = _words(text)
    for start in range(len(words)):
        for end in range(start + 1, min(start + _LONGEST, len(words)) + 1):
            name = "".join(words[start:end])
            unversioned = name.rstrip("0123456789")
            if name in ITEMS:
                yield name
            elif len(unversioned) >= _FEWEST_LETTERS and unversioned in ITEMS:
                yield unversioned


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(text)]


def _texts(klass: Klass) -> Iterator[str]:
    """The names of a class and of its bases, and the folders and names that it has by default."""
    facts, module = klass.facts, klass.module
    yield facts.name
    yield from (base.name for base in facts.bases if base.kind in ("name", "attribute"))
    init = facts.methods.get("__init__")
    parameters = module.model.functions[init].parameters if init is not None else ()
    given = [(parameter.name, parameter.default) for parameter in parameters]
    given += [(event.target.name, event.value) for event in facts.events if event.target is not None]
    writes = module.self_writes.get(klass.index, {})
    given += [(name, write.event.value) for name, found in writes.items() for write in found]
    yield from (_text(value) for name, value in given if value is not None and _PLACES.search(name))


def _text(value: Expr) -> str:
    """The text that is written in an expression: `KITTI/object` of `os.path.join(root, "KITTI", "object")`."""
    return "/".join(part.value for part in value.walk() if isinstance(part.value, str))
