"""Whether code treats what is kept as an array or as rows, where no code shows what is in the file it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Event, Expr
from dllint.project.data.per_item import PerItem
from dllint.project.escape.shipped import Held
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Klass, Value
from dllint.project.program.module import Module, Write

if TYPE_CHECKING:
    from dllint.project import Project

_OF_ARRAYS = frozenset({"shape", "dtype", "ndim", "astype", "reshape", "transpose", "squeeze", "permute", "unsqueeze"})
"""Attributes and methods that arrays and tensors have, and no Python container, number or text."""
_MAKERS = frozenset({
    "numpy.array", "numpy.asarray", "numpy.stack", "numpy.concatenate", "torch.tensor", "torch.as_tensor",
    "torch.from_numpy", "torch.stack", "torch.cat", "torch.Tensor", "torch.LongTensor", "torch.FloatTensor",
})  # fmt: skip
_JOINERS = frozenset({
    "numpy.concatenate", "numpy.stack", "numpy.vstack", "numpy.hstack", "torch.stack", "torch.cat", "torch.concat",
})  # fmt: skip
_MASKS = frozenset({
    "numpy.logical_and", "numpy.logical_or", "numpy.logical_not", "numpy.isin", "numpy.in1d", "numpy.where",
    "numpy.nonzero", "numpy.argsort", "numpy.arange", "numpy.array", "numpy.random.permutation", "torch.randperm",
    "torch.isin", "torch.nonzero",
})  # fmt: skip
"""What gives several indices, or which ones: a list raises where it is asked for these."""
_LOADS_ANYTHING = frozenset({"torch.load", "torch.serialization.load"})
"""What mostly loads weights or tensors."""

_TAKE_NAMES = frozenset({"join", "open", "imread", "Path", "read_image"})
"""Functions that are given the name of a file, by their names."""

_Asks = Callable[[Expr], Iterator[Expr]]
"""What an expression asks for something of a kind."""


class ArrayUses:
    """Answers whether something is used as only an array, or a container of arrays, can be; or as only rows can."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.per_item = project.analysis(PerItem)
        self._known: dict[tuple[str, str, str, Value], bool] = {}

    def shown(self, held: Held) -> bool:
        """Whether code shows that: of the class itself, or where others set the attribute."""
        key = held.holder.owner, held.holder.name, held.route[0].path, held.value
        return self.evaluator.kept(self._known, key, self._is_shown, *key)

    def _is_shown(self, owner: str, name: str, path: str, value: Value) -> bool:
        keepers = self.evaluator.classes.keepers(owner, path)
        inside = any(self._asked_for(part, env, value) for part, env in self._own_code(keepers, _asked_as_array))
        return inside or self._joined(keepers, name) or self._replaced(keepers, name)

    def shows_rows(self, held: Held) -> bool:
        """Whether code asks an item's element of what may be anything for a column: `self.boxes[index]["mouth"]`.

        Or takes text out of it: `name, box = self.boxes[index]`, `open(name)`.
        """
        return _is_loaded(held.value) and (self._asked_by_item(held) or self._names_file(held))

    def shows_dictionaries(self, held: Held) -> bool:
        """The same of an array in a file that NumPy may unpickle: only one of objects has dictionaries.

        An array with named fields needs no pickle.
        """
        return _may_unpickle(held.value) and self._asked_by_item(held)

    def _asked_by_item(self, held: Held) -> bool:
        """Whether code asks an item's own element of what is kept for a column."""
        keepers = self.evaluator.classes.keepers(held.holder.owner, held.route[0].path)
        return any(
            _is_element(value) and _is_same(value.base, held.value) and self._is_of_item(value)
            for part, env in self._own_code(keepers, _asked_as_row)
            for value in self.evaluator.values(part, env)
            if isinstance(value, ExtInst)
        )

    def _names_file(self, held: Held) -> bool:
        """Whether a part of an item's own element of what is kept is the name of a file."""
        keepers = self.evaluator.classes.keepers(held.holder.owner, held.route[0].path)
        return any(
            self._is_item(element.args[1], env) and _is_same(value, held.value)
            for asked, env in self._own_code(keepers, _asked_as_name)
            for element in _taken_from(asked, env)
            for value in self.evaluator.values(element.args[0], env)
        )

    def _is_of_item(self, element: ExtInst) -> bool:
        """Whether an element is an item's own: not what many items share, as `self.means[self.speakers[index]]`."""
        return self._is_item(element.call.args[1], element.env)

    def _is_item(self, index: Expr, env: Env) -> bool:
        shared = any(part.kind == "subscript" for part in index.walk())
        return not shared and self.per_item.varies(index, env) is Answer.YES

    def _own_code(self, keepers: list[Klass], asks: _Asks) -> Iterator[tuple[Expr, Env]]:
        """What the methods of classes and of their bases ask something."""
        for klass in dict.fromkeys(base for keeper in keepers for base in self.evaluator.classes.mro(keeper)):
            for function in klass.facts.methods.values():
                env = self.evaluator.generic(klass.module, function)
                for event in klass.module.events(function):
                    yield from ((asked, env) for part in event.walk() for asked in asks(part))

    def _asked_for(self, asked: Expr, env: Env, kept: Value) -> bool:
        """Whether what is asked is what is kept, or an element of it."""
        return any(
            _is_same(value, kept) or (_is_element(value) and _is_same(value.base, kept))
            for value in self.evaluator.values(asked, env)
            if isinstance(value, ExtInst)
        )

    def _joined(self, keepers: list[Klass], name: str) -> bool:
        """Whether the class sets the attribute to joined arrays elsewhere: of other files, it has the same."""
        return any(
            write.event.value is not None
            and self._is_any_of(write.event.value, self.evaluator.generic(klass.module, write.function), _JOINERS)
            for klass in keepers
            for write in klass.module.self_writes.get(klass.index, {}).get(name, ())
        )

    def _replaced(self, keepers: list[Klass], name: str) -> bool:
        """Whether other code makes an array of the attribute in its place, or leaves some of it by a mask."""
        writes = self.evaluator.index.outside_writes.get(name, ())
        return any(
            self._is_of(write, module, keepers) and self._makes_array(write, module)
            for module, write in writes
            if not module.is_test
        )

    def _makes_array(self, write: Write, module: Module) -> bool:
        value, own, env = write.event.value, write.target.dotted, self.evaluator.generic(module, write.function)
        if value is None or not own or value.kind not in ("call", "subscript"):
            return False
        if value.kind == "subscript":
            return value.args[0].dotted == own and self._is_any_of(value.args[1], env, _MASKS)
        return any(part.dotted == own for part in value.args[1:]) and self._is_any_of(value, env, _MAKERS)

    def _is_any_of(self, expr: Expr, env: Env, names: frozenset[str]) -> bool:
        values = self.evaluator.values(expr, env)
        return any(isinstance(value, ExtInst) and value.name in names for value in values)

    def _is_of(self, write: Write, module: Module, keepers: list[Klass]) -> bool:
        """Whether a write may be to one of these classes: to its object, or to one that hands all on to another."""
        values = self.evaluator.values(write.target.args[0], self.evaluator.generic(module, write.function))
        classes = [value.klass for value in values if isinstance(value, Inst)]
        return any(map(self._hands_on, classes)) or any(
            self.evaluator.classes.derives(keeper, klass) for keeper in keepers for klass in classes
        )

    def _hands_on(self, klass: Klass) -> bool:
        methods = (self.evaluator.classes.method(klass, name) for name in ("__getattr__", "__setattr__"))
        return all(method is not None for method in methods)


def _asked_as_array(part: Expr) -> Iterator[Expr]:
    """What an expression asks for what only arrays have: `image.shape`, `image[:, 0]`, `Image.fromarray(image)`."""
    if part.kind == "attribute" and part.name in _OF_ARRAYS:
        yield from part.args[0].args if part.args[0].kind == "binop" else part.args[:1]
    elif part.kind == "subscript" and len(part.args) > 2 and any(key.kind == "slice" for key in part.args[1:]):
        yield part.args[0]
    elif part.kind == "call" and part.args[0].name == "fromarray":
        yield from part.args[1:2]


def _may_unpickle(value: Value | None) -> bool:
    """Whether a value is `np.load(path, allow_pickle=True)`, or a slice of that."""
    if not isinstance(value, ExtInst):
        return False
    if value.call.kind == "subscript":
        return value.call.args[1].kind == "slice" and _may_unpickle(value.base)
    allowed = value.call.keyword("allow_pickle") if value.name == "numpy.load" else None
    return allowed is not None and allowed.value is True


def _is_loaded(value: Value | None) -> bool:
    """Whether a value is what a file has that may have anything, or is kept in it under written keys."""
    if isinstance(value, ExtInst) and value.call.kind == "subscript" and _names_column(value.call):
        return _is_loaded(value.base)
    return isinstance(value, ExtInst) and value.name in _LOADS_ANYTHING


def _asked_as_name(part: Expr) -> Iterator[Expr]:
    """What is asked for the name of a file: `os.path.join(root, name)`, `open(name)`."""
    if part.kind == "call" and part.args[0].name in _TAKE_NAMES:
        yield from part.args[1:]


def _taken_from(part: Expr, env: Env) -> Iterator[Expr]:
    """The elements of which an expression is a part: `rows[i]` in `rows[i][0]`, also of `name, box = rows[i]`."""
    bindings = env.module.bindings[env.function, -1].get(part.name, ()) if part.kind == "name" else ()
    assigned = [item.event for item in bindings if item.kind == "assign" and item.event is not None]
    for whole in map(_whole, assigned) if part.kind == "name" else (_above(part),):
        if whole is not None and whole.kind == "subscript" and whole.args[1].kind not in ("slice", "constant"):
            yield whole


def _whole(event: Event) -> Expr | None:
    """Of what an assignment takes a part."""
    unpacks = event.target is not None and event.target.kind in ("tuple", "list")
    return event.value if unpacks or event.value is None else _above(event.value)


def _above(part: Expr) -> Expr | None:
    return part.args[0] if part.kind == "subscript" else None


def _asked_as_row(part: Expr) -> Iterator[Expr]:
    """What is asked for a column by its name."""
    if part.kind == "subscript" and _names_column(part):
        yield part.args[0]


def _names_column(subscript: Expr) -> bool:
    """Whether a subscript has a written key, which no f-string is."""
    return subscript.args[1].kind == "constant" and isinstance(subscript.args[1].value, str)


def _is_element(value: ExtInst) -> bool:
    """Whether a value is an element of another one, and no column that a written key names."""
    return value.call.kind == "subscript" and not _names_column(value.call)


def _is_same(value: Value | None, kept: Value) -> bool:
    """Whether two values come from one place in the text, whichever object's it is."""
    if not isinstance(value, ExtInst) or not isinstance(kept, ExtInst):
        return False
    return (value.name, value.call) == (kept.name, kept.call) and value.env.module is kept.env.module
