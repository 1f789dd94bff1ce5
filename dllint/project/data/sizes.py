"""Whether a container that grows with the data is likely small all the same: one name for many files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from dllint.model.facts import Event, Expr
from dllint.project.data.contents import Contents, Kind
from dllint.project.data.growth import LISTING, Growth
from dllint.project.data.known import Known, is_benchmark, is_cut_down, is_held_out
from dllint.project.data.list_files import ListFiles
from dllint.project.data.origins import Origins, lists_folder
from dllint.project.evaluate.abstract_values import Klass, Value
from dllint.project.program.module import Module

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
_ARCHIVES = frozenset({
    ("h5py", "File"), ("zarr", "open"), ("zarr", "open_group"), ("tables", "open_file"), ("tarfile", "open"),
    ("lmdb", "open"), ("nib", "load"), ("nibabel", "load"), ("sitk", "ReadImage"), ("SimpleITK", "ReadImage"),
})  # fmt: skip
"""What opens files of which there are few: each has many items, or is a volume or a recording."""
_NAME, _ROW = 125, 400
"""Bytes that a worker copies for a name and for a row: two to three small objects, mostly."""
_BYTES = {_NAME: 2, _ROW: 5}
"""Bytes that a worker copies for a byte of text: of a line, of a row in pieces."""
LEAST = 10_000_000
"""Bytes that a forked worker has of its own before it reads an item: less than that is little."""


class Sizes:
    """Answers why a container is likely small, and from how many elements on it matters."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.contents = project.analysis(Contents)
        self.growth = project.analysis(Growth)
        self.known = project.analysis(Known)
        self.origins = project.analysis(Origins)
        self.files = project.analysis(ListFiles)
        self._reasons: dict[tuple[str, str, str, Value], str] = {}

    def why_small(self, value: Value, owner: str, attribute: str, path: str) -> str:
        """Why what a class keeps under an attribute that is set in a file is likely small, in words, or ""."""
        key = owner, attribute, path, value
        if key not in self._reasons:
            self._reasons[key] = self._why_small(*key)
        return self._reasons[key]

    def _why_small(self, owner: str, attribute: str, path: str, value: Value) -> str:
        if is_benchmark(owner):
            return "a benchmark of few items"
        if _COARSE.search(attribute):
            return "one element has many files"
        classes = self.evaluator.classes
        keepers = classes.keepers(owner, path)
        if any(_lists_each(base, attribute) for klass in keepers for base in classes.mro(klass)):
            return "one name for each folder that `__init__` lists"
        if is_cut_down(owner):
            return "by its name a part of the data"
        counted = self._counted(value)
        if counted is not None:
            return counted
        if any(_opens_each(base, attribute) for klass in keepers for base in classes.mro(klass)):
            return "one element is a file of many items"
        whole = not self._has_more(value, attribute, keepers)
        own = self.known.items(owner, path)
        public = own or self.known.given(owner, path)
        if public is not None and whole and public[1] <= self.least(value):
            return self._of_public(*public, value)
        held_out = is_held_out(owner) or is_held_out(" ".join(path.rpartition(".")[0].split("/")[-2:]))
        if held_out and not _PARTS.search(attribute) and not self._is_index(value):
            return "by its name for validation or tests"
        if own is not None:
            return ""
        values = (value, *self._set_to(keepers, attribute))
        origins = [self.origins.of(item) for item in values if item is value or self.growth.grows(item)]
        listed = all(calls is not None and all(map(lists_folder, calls)) for calls in origins)
        return "one element for each entry of one folder" if listed else ""

    def _counted(self, value: Value) -> str | None:
        """What the files of the project say of which it has the lines: that it is small, or "" where it is large."""
        counts = [self.files.longest(call) for call in self.origins.of(value) or ()]
        known = [count for count in counts if count is not None]
        if not known or len(known) < len(counts):
            return None
        each = self._each(value)
        cost = sum(max(number * each, size * _BYTES[each]) for _, number, size in known)
        path, number, _ = max(known, key=lambda count: (count[1], count[0]))
        return f"`{path}` has {number:,} entries, {self._cost(cost)}" if cost <= LEAST else ""

    def _set_to(self, keepers: Iterable[Klass], attribute: str) -> Iterator[Value]:
        """What the classes, and those that they derive from, set an attribute to: one of them may be large."""
        for base in {base for klass in keepers for base in self.evaluator.classes.mro(klass)}:
            for write in base.module.self_writes.get(base.index, {}).get(attribute, ()):
                env = self.evaluator.generic(base.module, write.function)
                if write.event.value is not None and write.event.target is write.target:
                    yield from self.evaluator.values(write.event.value, env)

    def least(self, value: Value) -> int:
        """From how many elements on a worker copies much of a container."""
        return LEAST // self._each(value)

    def _each(self, value: Value) -> int:
        found = self.contents.of(value)
        return _ROW if found is None or found.kind is Kind.ROW else _NAME

    def _of_public(self, name: str, items: int, value: Value) -> str:
        return f"`{name}` has about {items:,} items, {self._cost(items * self._each(value))}"

    def _cost(self, size: int) -> str:
        """A number of bytes, in words."""
        return f"{max(size / 1e6, 0.1):.1f} MB in each worker"

    def _has_more(self, value: Value, attribute: str, keepers: Iterable[Klass]) -> bool:
        """Whether a container has more elements than there are items: one for each part, or for each mark in one."""
        if _MARKED.search(attribute) and not any(_is_per_item(klass, attribute) for klass in keepers):
            return True
        return bool(_PARTS.search(attribute)) or self._is_index(value)

    def _is_index(self, value: Value) -> bool:
        """Whether a container has an entry for each annotation, of which an image has many."""
        found = self.contents.of(value)
        return found is not None and "annotations" in found.source


def _is_per_item(klass: Klass, attribute: str) -> bool:
    """Whether `__getitem__` takes from an attribute what the index of the item says: `self.objects[index]`."""
    function = klass.facts.methods.get("__getitem__")
    parameters = klass.module.model.functions[function].parameters if function is not None else ()
    if function is None or len(parameters) < 2:
        return False
    return any(
        part.kind == "subscript"
        and (part.args[0].kind, part.args[0].name) == ("attribute", attribute)
        and (part.args[1].kind, part.args[1].name) == ("name", parameters[1].name)
        for event in klass.module.events(function)
        for part in event.walk()
    )


def _lists_each(klass: Klass, attribute: str) -> bool:
    """Whether a class, when it is made, lists what is below the elements of an attribute: folders of many items."""
    init = klass.facts.methods.get("__init__")
    return init is not None and _Method(klass.module, init, attribute).lists_elements()


def _opens_each(klass: Klass, attribute: str) -> bool:
    """Whether a class opens the elements of an attribute as files that have many items, or a large one."""
    functions = klass.facts.methods.values()
    return any(_Method(klass.module, function, attribute).opens_elements() for function in functions)


class _Method:
    """What one method does with the elements of an attribute of its object."""

    def __init__(self, module: Module, function: int, attribute: str) -> None:
        self.events = module.events(function)
        self.clauses = [(clause.target, clause.iterable) for clause in module.comprehensions.get(function, ())]
        self.attribute = attribute
        given = [
            _looped(event.value)
            for event in self.events
            if event.value is not None and event.target is not None and self._is_it(event.target)
        ]
        self.aliases = {value.name for value in given if value.kind == "name"}

    def lists_elements(self) -> bool:
        """Whether it lists what is below one of them, or below a path that it makes of one."""
        elements = set(self._elements())
        elements |= {name for event in self.events for name in _paths_of(event, elements)}
        calls = (part for event in self.events for part in event.walk() if part.kind == "call")
        return any(call.args[0].name in LISTING and self._takes(call, elements) for call in calls)

    def opens_elements(self) -> bool:
        """Whether it opens one of them as an archive, a recording or a volume."""
        calls = [part for event in self.events for part in event.walk() if part.kind == "call" and _opens_many(part)]
        elements = set(self._elements()) if calls else set()
        return any(self._takes(call, elements) for call in calls)

    def _takes(self, call: Expr, elements: Set[str]) -> bool:
        """Whether a call is of an element, or is given one."""
        parts = list(call.walk())
        taken = any(part.kind == "subscript" and self._is_it(part.args[0]) for part in parts)
        return taken or any(part.kind == "name" and part.name in elements for part in parts)

    def _is_it(self, expr: Expr) -> bool:
        return expr.kind == "attribute" and expr.name == self.attribute

    def _is_known(self, expr: Expr) -> bool:
        return self._is_it(expr) or (expr.kind == "name" and expr.name in self.aliases)

    def _elements(self) -> Iterator[str]:
        """The names that stand for one of them: in loops, where one is picked, and where one is added."""
        loops = ((event.target, event.value) for event in self.events if event.kind == "for")
        for target, iterable in (*loops, *self.clauses):
            if target is not None and iterable is not None and self._is_known(_looped(iterable)):
                yield from _names(target)
        for event in self.events:
            value = event.value
            if value is None or value.kind not in ("call", "subscript"):
                continue
            if value.kind == "subscript" and self._is_known(value.args[0]) and event.target is not None:
                yield from _names(event.target)
            elif value.kind == "call" and value.args[0].name == "append" and self._is_known(value.args[0].args[0]):
                yield from (part.name for part in value.args[1:] if part.kind == "name")


def _opens_many(call: Expr) -> bool:
    callee = call.args[0]
    return callee.kind == "attribute" and (callee.args[0].name, callee.name) in _ARCHIVES


def _looped(iterable: Expr) -> Expr:
    """The expression that a loop iterates over: `names` of `enumerate(names)` and `tqdm(sorted(names))`."""
    while iterable.kind == "call" and iterable.args[0].kind == "name" and len(iterable.args) > 1:
        iterable = iterable.args[1]
    return iterable


def _names(target: Expr) -> Iterator[str]:
    return (part.name for part in target.walk() if part.kind == "name")


def _paths_of(event: Event, elements: Set[str]) -> Iterator[str]:
    """The name of a path that is made of an element: `folder = os.path.join(root, name)`."""
    value = event.value
    if event.kind != "assign" or event.target is None or value is None or event.target.kind != "name":
        return
    joins = value.kind in ("binop", "fstring") or (value.kind == "call" and value.args[0].name in ("join", "Path"))
    if joins and not elements.isdisjoint(_names(value)):
        yield event.target.name
