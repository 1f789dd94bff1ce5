"""What classes do with the elements of their attributes: take one an item, list what is below them, open them."""

from __future__ import annotations

from collections.abc import Iterator, Set

from dllint.model.facts import Event, Expr
from dllint.project.data.growth import LISTING
from dllint.project.evaluate.abstract_values import Klass
from dllint.project.program.events import flat_targets
from dllint.project.program.module import Module

_ARCHIVES = frozenset({
    ("h5py", "File"), ("zarr", "open"), ("zarr", "open_group"), ("tables", "open_file"), ("tarfile", "open"),
    ("lmdb", "open"), ("nib", "load"), ("nibabel", "load"), ("sitk", "ReadImage"), ("SimpleITK", "ReadImage"),
})  # fmt: skip
"""What opens files of which there are few: each has many items, or is a volume or a recording."""


def is_per_item(klass: Klass, attribute: str) -> bool:
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


def has_its_length(klass: Klass, attribute: str) -> bool:
    """Whether a class has as many items as an attribute has elements: `return len(self.scenes)`."""
    function = klass.facts.methods.get("__len__")
    events = klass.module.events(function) if function is not None else ()
    returned = (event.value for event in events if event.kind == "return" and event.value is not None)
    counted = (value.args[1] for value in returned if is_length(value))
    return any((part.kind, part.name) == ("attribute", attribute) for part in counted)


def is_length(expr: Expr) -> bool:
    """Whether an expression asks for a length: `len(rows)`."""
    return expr.kind == "call" and expr.args[0].name == "len" and len(expr.args) == 2


def lists_each(klass: Klass, attribute: str) -> bool:
    """Whether a class, when it is made, lists what is below the elements of an attribute: folders of many items."""
    init = klass.facts.methods.get("__init__")
    return init is not None and _Method(klass.module, init, attribute).lists_elements()


def opens_each(klass: Klass, attribute: str) -> bool:
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
                yield from _bound(target)
        for event in self.events:
            value = event.value
            if value is None or value.kind not in ("call", "subscript"):
                continue
            if value.kind == "subscript" and self._is_known(value.args[0]) and event.target is not None:
                yield from _bound(event.target)
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


def _bound(target: Expr) -> Iterator[str]:
    """The names that a target binds: `self.rows = ...` and `rows[0] = ...` bind none."""
    return (part.name for part in flat_targets(target) if part.kind == "name")


def _names(expr: Expr) -> Iterator[str]:
    return (part.name for part in expr.walk() if part.kind == "name")


def _paths_of(event: Event, elements: Set[str]) -> Iterator[str]:
    """The name of a path that is made of an element: `folder = os.path.join(root, name)`."""
    value = event.value
    if event.kind != "assign" or event.target is None or value is None or event.target.kind != "name":
        return
    joins = value.kind in ("binop", "fstring") or (value.kind == "call" and value.args[0].name in ("join", "Path"))
    if joins and not elements.isdisjoint(_names(value)):
        yield event.target.name
