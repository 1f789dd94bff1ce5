"""Whether a container that grows with the data is likely small all the same: one name for many files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from dllint.benchmarks import data_sets
from dllint.knowledge import PATH_JOINS
from dllint.project.data.checked import Checked
from dllint.project.data.contents import Contents, Kind
from dllint.project.data.counted import Counted
from dllint.project.data.element_files import has_its_length, is_per_item, lists_each, opens_each
from dllint.project.data.growth import SMALL, Growth, chain
from dllint.project.data.known import (
    Known,
    has_a_held_out_split,
    is_benchmark,
    is_cut_down,
    is_held_out,
    is_place,
    is_trained_on,
    largest,
)
from dllint.project.data.limits import Limits
from dllint.project.data.list_files import ANY, ListFiles
from dllint.project.data.origins import Found, Origins, lists_folder
from dllint.project.escape.shipped import Held, Holder
from dllint.project.evaluate.abstract_values import ExtInst, Klass, Value
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

_COARSE = re.compile(
    r"(?:^|_)(?:folder|dir|directorie|directory|scene|scan|subject|patient|categorie|domain|episode|session|recording)s$",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"(?:^|_)(?:frame|slice|patche?|tile|crop|clip|window|chunk|token|segment|snippet|pair|triplet|boxe?|bboxe?|point"
    r"|caption|database)s?(?:_|\d*$)",
    re.IGNORECASE,
)
"""Names of parts of items, of which there are many more."""
_MARKED = re.compile(r"(?:^|_)(?:ann|anno|annotation|instance|object)s?(?:_|\d*$)", re.IGNORECASE)
"""Names of what is marked in an item, one by one or together."""
_VALID = re.compile(r"(?:^|_)valid(?:_|$)", re.IGNORECASE)
"""An attribute's name of what is right: `valid_frames`."""
_NAME, _ROW = 125, 400
"""Bytes that a worker copies for a name and for a row: two to three small objects, mostly."""
_BYTES = {_NAME: 2, _ROW: 5}
"""Bytes that a worker copies for a byte of text: of a line, of a row in pieces."""
LEAST = 10_000_000
"""Bytes that a forked worker has of its own before it reads an item: less than that is little."""
_ALONE = 3
"""The steps of a route on which a dataset goes to a loader as it is: kept, passed, the loader."""


class Sizes:
    """Answers why a container is likely small, and from how many elements on it matters."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.contents = project.analysis(Contents)
        self.counted = project.analysis(Counted)
        self.growth = project.analysis(Growth)
        self.known = project.analysis(Known)
        self.origins = project.analysis(Origins)
        self.limits = project.analysis(Limits)
        self.files = project.analysis(ListFiles)
        self.checked = project.analysis(Checked)
        self.lists = project.lists
        self._is_installed = project.boundaries.unnamed.is_installed
        self._reasons: dict[tuple[Holder, str, Span, Value, bool], str] = {}

    def is_few(self, held: Held) -> bool:
        """Whether the code that keeps something checks that it has few elements."""
        limit = self.checked.of(held)
        return limit is not None and limit <= SMALL

    def why_small(self, held: Held) -> str:
        """Why what a class keeps under an attribute that is set in a file is likely small, in words, or ""."""
        key = held.holder, held.route[0].path, held.route[0].span, held.value, _is_alone(held)
        return self.evaluator.kept(self._reasons, key, self._why_small, held)

    def _why_small(self, held: Held) -> str:
        value, owner, attribute, path = held.value, held.holder.owner, held.holder.name, held.route[0].path
        counted = self._counted(value)
        if counted is not None:
            return counted
        keepers = self.evaluator.classes.keepers(owner, path)
        return (
            self._by_number(held)
            or self._by_element(owner, attribute, path, value, keepers)
            or self._by_round(held)
            or self._by_data(owner, attribute, path, value, keepers)
            or self._by_folder(owner, attribute, path, value, keepers)
            or self._by_readme(owner, attribute, path, value, keepers)
        )

    def _by_number(self, held: Held) -> str:
        limits = [limit for limit in (self.limits.of(held.value), self.checked.of(held)) if limit is not None]
        if not limits or min(limits) > self.least(held.value):
            return ""
        return f"by the code about {min(limits):,} entries, {_cost(min(limits) * self._each(held.value))}"

    def is_large(self, held: Held) -> bool:
        """Whether it is known that a container has many elements: by a file, a number, or the class's data set."""
        value, owner, path = held.value, held.holder.owner, held.route[0].path
        if self._counted(value) == "" or self.limits.is_long(value):
            return True
        keepers = self.evaluator.classes.keepers(owner, path)
        public = _counts_more(self.known.items(owner, path), self.least(value))
        return public and not self._is_beside(held.holder.name, keepers)

    def _by_element(self, owner: str, attribute: str, path: str, value: Value, keepers: Iterable[Klass]) -> str:
        """Whether there are few elements because each is a lot."""
        many = _counts_more(self.known.items(owner, path), self.least(value))
        if is_benchmark(owner) and not many:
            return "a benchmark of few items"
        bases = {base for klass in keepers for base in self.evaluator.classes.mro(klass)}
        if _COARSE.search(attribute) and not (many and any(has_its_length(base, attribute) for base in bases)):
            return "one element has many files"
        if any(lists_each(base, attribute) for base in bases):
            return "one name for each folder that `__init__` lists"
        if is_cut_down(owner):
            return "by its name a part of the data"
        return "one element is a file of many items" if any(opens_each(base, attribute) for base in bases) else ""

    def _by_data(self, owner: str, attribute: str, path: str, value: Value, keepers: Iterable[Klass]) -> str:
        """Whether the data is known to be small, or is the part that nothing is trained on."""
        public = self.known.of(owner, path) or self.known.passed(owner, path)
        if public is not None and public[1] <= self.least(value) and not self._has_more(value, attribute, keepers):
            name, items = public
            return f"`{name}` has about {items:,} items, {_cost(items * self._each(value))}"
        part = _PARTS.search(attribute) or self._is_index(value) or self._as_many_as_trained_on(value)
        held_out = self._is_held_out(owner, attribute, path, value) and not part
        return "by its name for validation or tests" if held_out else ""

    def _is_held_out(self, owner: str, attribute: str, path: str, value: Value) -> bool:
        """Whether a class, its file or the attribute is called after data that nothing is trained on.

        A test may keep several clips of each video, so an attribute's name counts only for a line or an entry each.
        """
        if is_held_out(owner) or is_trained_on(owner):
            return is_held_out(owner)
        named = is_held_out(attribute) and not _VALID.search(attribute)
        file = " ".join(path.rpartition(".")[0].split("/")[-2:])
        return has_a_held_out_split(file) or (named and self.origins.of(value) is not None)

    def _as_many_as_trained_on(self, value: Value) -> bool:
        """Whether the loop that fills a container puts as much into one for training: a split that leaves one out."""
        for filling in self.growth.fillings(value):
            for event, receiver, _ in filling.env.module.mutations[filling.env.function]:
                if event.block == filling.event.block and is_trained_on(receiver.name):
                    return True
        return False

    def _by_round(self, held: Held) -> str:
        """Whether a loop makes a dataset of each of many folders, and a loader takes it alone: of one video."""
        calls = self.origins.of(held.value) if _is_alone(held) else None
        one = bool(calls) and all(lists_folder(call) and self._is_of_round(call) for call in calls or ())
        return "one element for each entry of one of many folders" if one else ""

    def _is_of_round(self, listing: ExtInst) -> bool:
        """Whether a part of the name of a folder is another one in each round of a loop over names."""
        whole = [value for arg in listing.call.args[1:2] for value in self.evaluator.values(arg, listing.env)]
        joined = [value for value in whole if isinstance(value, ExtInst) and value.name in PATH_JOINS]
        given = ((arg, value.env) for value in joined for arg in value.call.args[1:])
        parts = (value for pair in given for value in self.evaluator.values(*pair))
        return any(self._is_of_element(value) for value in (*whole, *parts))

    def _is_of_element(self, value: Value) -> bool:
        """Whether a value is an element, or comes from one, of a container that grows with data and is looped over."""
        made = (part for part in chain(value) if isinstance(part, ExtInst) and part.base is not None)
        elements = (part for part in made if part.name.endswith("[]") and part.call.kind != "subscript")
        return any(part.base is not None and self.growth.grows(part.base) for part in elements)

    def _by_folder(self, owner: str, attribute: str, path: str, value: Value, keepers: Iterable[Klass]) -> str:
        """Whether it lists one folder, and of no public data set that is known to be large."""
        values = (value, *self._set_to(keepers, attribute))
        origins = [self.origins.of(item) for item in values if item is value or self.growth.grows(item)]
        elsewhere = self._is_beside(attribute, keepers) or self._is_elsewhere(owner, path, origins)
        if self.known.of(owner, path) is not None and not elsewhere:
            return ""
        if _counts_more(largest(filter(None, map(_folder_of_files, self._listed(origins)))), self.least(value)):
            return ""
        listed = all(calls is not None and all(map(lists_folder, calls)) for calls in origins)
        return "one element for each entry of one folder" if listed else ""

    def _by_readme(self, owner: str, attribute: str, path: str, value: Value, keepers: Iterable[Klass]) -> str:
        """Whether all public data sets are small that the nearest README names, where the class names none itself.

        That tells the names of files; how many rows or parts somebody makes of a file, it doesn't. A package that is
        installed is for data of others.
        """
        if self.lists is None or self._is_installed(path):
            return ""
        if self._each(value) != _NAME or self._has_more(value, attribute, keepers):
            return ""
        named = None if self.known.of(owner, path) else self.lists.data_set(path.rpartition("/")[0])
        if named is None or named[2] > self.least(value):
            return ""
        page, name, items = named
        return f"`{page}` names no data set that is larger than `{name}`: about {items:,} items, {_cost(items * _NAME)}"

    def _is_elsewhere(self, owner: str, path: str, origins: Iterable[Found]) -> bool:
        """Whether only a place says which data set a class is for, and it lists others: masks beside the images."""
        if self.known.items(owner, path) is not None or self.known.given(owner, path) is None:
            return False
        texts = self._listed(origins)
        return bool(texts) and not any(text.startswith((ANY, "{")) or any(data_sets(text)) for text in texts)

    def _listed(self, origins: Iterable[Found]) -> list[str]:
        """The paths that are listed, as far as the program says them."""
        calls = (call for found in origins for call in found or ())
        return [text for call in calls for arg in call.call.args[1:2] for text in self.files.texts(arg, call.env)]

    def _is_beside(self, attribute: str, keepers: Iterable[Klass]) -> bool:
        """Whether a list isn't that of the items, nor read by their number, and is of another place: masks to draw."""
        bases = list(dict.fromkeys(base for klass in keepers for base in self.evaluator.classes.mro(klass)))
        names = {name for base in bases for name in base.module.self_writes.get(base.index, {})}
        items = {name for name in names if any(has_its_length(base, name) for base in bases)}
        if attribute in items or any(is_per_item(base, attribute) for base in bases):
            return False
        own, others = _given_places(bases, {attribute}), _given_places(bases, items)
        return bool(own and others) and own.isdisjoint(others)

    def _counted(self, value: Value) -> str | None:
        """What the files of the project say of which it has the lines: that it is small, or "" where it is large."""
        if self.limits.is_repeated(value):
            return None
        counts = [self.files.longest(call) for call in self.origins.of(value) or ()]
        known = [count for count in counts if count is not None]
        if not known or len(known) < len(counts):
            return None
        each = self._each(value)
        cost = sum(max(number * each, size * _BYTES[each]) for _, number, size in known)
        path, number, _ = max(known, key=lambda count: (count[1], count[0]))
        return f"`{path}` has {number:,} entries, {_cost(cost)}" if cost <= LEAST else ""

    def _set_to(self, keepers: Iterable[Klass], attribute: str) -> Iterator[Value]:
        """What the classes, and those that they derive from, set an attribute to: one of them may be large."""
        for base in {base for klass in keepers for base in self.evaluator.classes.mro(klass)}:
            for write in base.module.self_writes.get(base.index, {}).get(attribute, ()):
                env = self.evaluator.generic(base.module, write.function)
                if write.event.value is not None and write.event.target is write.target:
                    yield from self.evaluator.values(write.event.value, env)

    def is_for_few(self, klass: Klass) -> bool:
        """Whether a class is for a public data set that has few items, whatever its rows are."""
        public = self.known.of(klass.facts.name, klass.module.path)
        return public is not None and not _counts_more(public, LEAST // _ROW)

    def least(self, value: Value) -> int:
        """From how many elements on a worker copies much of a container."""
        return LEAST // self._each(value)

    def _each(self, value: Value) -> int:
        found = self.contents.of(value) or self.counted.if_counted(value)
        return _ROW if found is None or found.kind is Kind.ROW else _NAME

    def _has_more(self, value: Value, attribute: str, keepers: Iterable[Klass]) -> bool:
        """Whether a container has more elements than there are items: for each part or mark, or of items repeated."""
        if _MARKED.search(attribute) and not any(is_per_item(klass, attribute) for klass in keepers):
            return True
        return bool(_PARTS.search(attribute)) or self._is_index(value) or self.limits.is_repeated(value)

    def _is_index(self, value: Value) -> bool:
        """Whether a container has an entry for each annotation, of which an image has many."""
        found = self.contents.of(value)
        return found is not None and "annotations" in found.source


def _is_alone(held: Held) -> bool:
    """Whether a loader takes a dataset as it is, not as a part of another one."""
    return held.loader is not None and len(held.route) == _ALONE


def _folder_of_files(pattern: str) -> str:
    """The folder in which a pattern finds files, `data/coco` of `data/coco/*.jpg`, or "": not one of many folders."""
    folder, _, name = pattern.rpartition("/")
    return folder if "." in name and ANY not in folder and "{" not in folder else ""


def _given_places(classes: Iterable[Klass], attributes: Set[str]) -> set[str]:
    """The parameters that say where attributes are from: `mask_root` of `self.masks = glob(f"{mask_root}/*.png")`."""
    found = set()
    for klass in classes:
        module = klass.module
        for write in (item for name in attributes for item in module.self_writes.get(klass.index, {}).get(name, ())):
            parameters = {item.name for item in module.model.functions[write.function].parameters}
            parts = write.event.value.walk() if write.event.value is not None else ()
            found |= {part.name for part in parts if part.name in parameters and is_place(part.name)}
    return found


def _counts_more(known: tuple[str, int] | None, least: int) -> bool:
    return known is not None and known[1] > least


def _cost(size: int) -> str:
    """A number of bytes, in words."""
    return f"{max(size / 1e6, 0.1):.1f} MB in each worker"
