"""The contents of containers that grow with the data: names, paths, or rows of Python objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.knowledge import MAPPINGS
from dllint.model.facts import Expr
from dllint.project.data.elements import PAIRS, Elements, Kind, splits_text
from dllint.project.data.filled import COUNTED, FILLED, MADE, Content, Filled
from dllint.project.data.growth import Growth, maps_in_pool
from dllint.project.data.naming import means_choice, means_class
from dllint.project.data.sources import SETTINGS, Sources
from dllint.project.evaluate.abstract_values import (
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Func,
    Inst,
    Klass,
    Method,
    Opaque,
    Seq,
    Value,
)
from dllint.project.evaluate.shapes import GENERATOR

if TYPE_CHECKING:
    from dllint.project import Project

__all__ = ["COUNTED", "FILLED", "MADE", "Content", "Contents", "Kind"]

_SHUFFLED = frozenset({
    "numpy.random.choice().tolist", "numpy.random.permutation().tolist", "numpy.array().tolist", "numpy.sort().tolist",
    "numpy.unique().tolist", "numpy.asarray().tolist",
})  # fmt: skip
_MAPPINGS = MAPPINGS | {"collections.defaultdict"}
_LISTS = frozenset({"builtins.list", "builtins.set", "collections.deque"})


class Contents:
    """Answers what containers hold."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)
        self.sources = project.analysis(Sources)
        self.elements = Elements(project, self)
        self.filled = Filled(project, self, self.elements)
        self._known: dict[Value, Content | None] = {}

    def of(self, value: Value) -> Content | None:
        """The contents of a container of data-dependent length; None if it isn't known to be one."""
        return self.evaluator.ask(self._known, value, None, self._at_last, value)

    def _at_last(self, value: Value) -> Content | None:
        found = self._of(value)
        return None if found is not None and self.filled.made_blocks(value) else found

    def _among(self, values: Iterable[Value]) -> Content | None:
        return next(filter(None, map(self.of, values)), None)

    def of_any(self, expr: Expr, env: Env) -> Content | None:
        """What one of the containers holds that an expression may evaluate to."""
        return self._among(self.evaluator.values(expr, env))

    def _of(self, value: Value) -> Content | None:
        match value:
            case ExtInst():
                return self.sources.of(value) or self._external(value) or self._copied(value)
            case ExtMethod():
                return self.sources.of(value)
            case Inst(klass=klass):
                return self.sources.of_class(klass)
            case Seq() | Opaque() if is_place_for_each(value):
                return self.filled.of(value, mapping=False)
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                return self._comprehension(expr, env)
            case Seq(expr=expr) if expr.kind in ("list", "tuple", "dict"):
                filled = self.filled.of(value, mapping=expr.kind == "dict")
                return filled or self._copied(value) or self._written(value)
        return self._copied(value)

    def _copied(self, value: Value) -> Content | None:
        if any(splits_text(piece) for piece in self.growth.chained(value)):
            return Content(Kind.STR, MADE)
        called = isinstance(value, ExtInst) and value.call.kind == "call" and not value.name.endswith("copy")
        keys = isinstance(value, ExtInst) and value.name not in _MAPPINGS and not value.name.endswith("copy")
        for inner in self.growth.copied(value):
            found = self._keys(inner) if keys and is_mapping(inner) else self.of(inner)
            found = found or (self.sources.copied(inner) if called else None)
            if found is not None:
                return Content(found.kind, found.source)
        items = (item for piece in self.growth.chained(value) for item in self._repeated(piece))
        kind = next(filter(None, map(self.elements.kind, items)), None)
        return Content(kind, MADE) if kind is not None else None

    def _repeated(self, piece: Value) -> Iterator[Value]:
        """The elements of one of the lists that are joined: `row` of `[row] * count`."""
        lists = repeated(piece)
        values = self.evaluator.values(lists[0], piece.env) if lists and isinstance(piece, Opaque) else (piece,)
        for value in values:
            yield from self.elements_of(value)

    def _written(self, display: Seq) -> Content | None:
        """`{"train": os.listdir(train), "valid": os.listdir(valid)}`: few entries, but long ones."""
        parts = (part for part in display.expr.args if part.kind not in ("constant", "star"))
        long = any(self.of_any(part, display.env) for part in parts)
        return Content(Kind.ROW, MADE) if long else None

    def _keys(self, mapping: Value) -> Content | None:
        """The keys of a dictionary, which a list that copies it contains."""
        if isinstance(mapping, Seq) and mapping.expr.kind == "comprehension":
            kind = self.elements.of(mapping.expr.args[0], mapping.env) if self.growth.grows(mapping) else None
            return Content(kind, MADE) if kind is not None else None
        return self.filled.keys(mapping)

    def _external(self, value: ExtInst) -> Content | None:
        name, call, base = value.name, value.call, value.base
        last = name.rpartition(".")[2]
        if call.kind == "subscript" and base is not None:
            return self._part(call.args[1], base)
        if call.kind != "call" or name.endswith("[]"):
            return self._of_column(value) or (self._of_groups(value) if name == "builtins.list[]" else None)
        if name == GENERATOR:
            return self._yielded(value)
        if name in PAIRS and self.growth.grows(value):
            return Content(Kind.ROW, MADE)
        if _maps(value) and self.growth.grows(value):
            return self._mapped(call, value.env)
        if name in _SHUFFLED and isinstance(base, ExtInst):
            return self.of_any(base.call.args[1], base.env) if len(base.call.args) > 1 else None
        if last in ("values", "items", "get") and base is not None:
            return self._rows(self.of(base))
        if last == "keys" and base is not None:
            return self._keys(base) if is_mapping(base) else self._keys_read(base)
        if name in _MAPPINGS or name in _LISTS:
            return self.filled.of(value, mapping=name in _MAPPINGS)
        return None

    def _part(self, key: Expr, base: Value) -> Content | None:
        """The contents under a key of a file's or a container's contents."""
        if key.kind == "slice" or isinstance(key.value, int):
            return None
        found = self._rows(self.of(base))
        # The classes in a pickle are small numbers, of which Python keeps one object each.
        stored = found is not None and found.source in ("read from a pickle", "read from a NumPy file")
        name = key.value if stored and isinstance(key.value, str) else ""
        return None if means_class(name) or means_choice(name) else found

    def _keys_read(self, base: Value) -> Content | None:
        """The keys of what was read: names, as JSON has no others."""
        found = self.of(base)
        return Content(Kind.STR, found.source) if found is not None and "JSON" in found.source else None

    def _rows(self, found: Content | None) -> Content | None:
        return found if found is not None and found.kind is Kind.ROW and found.source != SETTINGS else None

    def _of_column(self, part: ExtInst) -> Content | None:
        """`names, labels = zip(*rows)`: each is as long as the rows."""
        made = part.base
        copies = self.growth.copied(made) if isinstance(made, ExtInst) and made.name != "builtins.zip" else (made,)
        for zipped in copies:
            if isinstance(zipped, ExtInst) and zipped.name == "builtins.zip" and len(zipped.call.args) == 2:
                rows = zipped.call.args[1]
                if rows.kind == "star" and self.of_any(rows.args[0], zipped.env):
                    return Content(Kind.ROW, MADE)
        return None

    def _of_groups(self, copy: ExtInst) -> Content | None:
        """The contents of an element of `list(groups.values())`."""
        made = copy.base
        if not isinstance(made, ExtInst) or len(made.call.args) < 2:
            return None
        for view in self.evaluator.values(made.call.args[1], made.env):
            if isinstance(view, ExtInst):
                found = self._among(self.evaluator.containers.viewed(view))
                if found is not None:
                    return found
        return None

    def _mapped(self, call: Expr, env: Env) -> Content | None:
        for function in self.evaluator.values(call.args[1], env):
            kind = None
            if isinstance(function, Ext):
                kind = {"builtins.str": Kind.STR, "pathlib.Path": Kind.PATH}.get(function.name)
            elif isinstance(function, Klass):
                kind = self.elements.kind(Inst(function))
            elif isinstance(function, (Func, Method)):
                kind = next(filter(None, map(self.elements.kind, self.returned(function))), None)
            if kind is not None:
                return Content(kind, MADE)
        return None

    def elements_of(self, container: Value) -> Iterator[Value]:
        """The elements of a container, those that `map` makes, too."""
        yield from self.evaluator.containers.elements(container)
        for part in (container, *self.growth.copied(container)):
            if isinstance(part, ExtInst) and _maps(part):
                for function in self.evaluator.values(part.call.args[1], part.env):
                    yield from self.returned(function) if isinstance(function, (Func, Method)) else ()

    def returned(self, function: Func | Method) -> Iterable[Value]:
        """What a function returns of whatever it is given."""
        if isinstance(function, Method):
            return self.evaluator.calls.returned(function.func, None, None, function.owner)
        return self.evaluator.calls.returned(function, None, None)

    def _yielded(self, generator: ExtInst) -> Content | None:
        for event, item, env in self.evaluator.containers.yields(generator):
            kind = self.elements.of(item, env) if self.growth.in_loop(event, env, 0) else None
            if kind is not None:
                return Content(kind, MADE)
        handed_on = (self.of_any(*given) for given in self.evaluator.containers.delegates(generator))
        return next(filter(None, handed_on), None)

    def _comprehension(self, expr: Expr, env: Env) -> Content | None:
        if not any(self.growth.loops(iterable, env) for key, iterable in expr.keywords if key == "in"):
            return None
        kind = None if _is_replaced(expr, env) else self.elements.of(expr.args[-1], env)
        vast = any(self.growth.is_vast(iterable, env) for key, iterable in expr.keywords if key == "in")
        if kind is None and vast and self._has_blocks(expr.args[-1], env):
            kind = Kind.ROW
        if expr.name == "dict":
            kind = Kind.ROW if kind or self._is_shared(expr, env) else None
        return Content(kind, MADE) if kind is not None else self._chosen(expr, env)

    def _has_blocks(self, element: Expr, env: Env) -> bool:
        """Whether an element is an array or a tensor, or has one."""
        parts = element.args if element.kind in ("tuple", "list", "dict") else (element,)
        return self.elements.blocks(parts, env)

    def _chosen(self, expr: Expr, env: Env) -> Content | None:
        """`[row for row in rows if row["size"]]`: some of what there is."""
        clauses = dict(expr.keywords)
        target, chosen = clauses["for"], expr.args[-1]
        only = [key for key, _ in expr.keywords].count("for") == 1 and target.kind == chosen.kind == "name"
        return self.of_any(clauses["in"], env) if only and target.name == chosen.name else None

    def _is_shared(self, expr: Expr, env: Env) -> bool:
        """`{name: dataset for name in names}`: an entry a name, whatever it leads to."""
        element = expr.args[-1]
        own = {part.name for key, target in expr.keywords if key == "for" for part in target.walk()}
        values = self.evaluator.values(element, env) if element.kind == "name" and element.name not in own else ()
        return any(isinstance(value, Inst) for value in values)


def _is_replaced(made: Expr, env: Env) -> bool:
    """Whether another loop above sets the part of each row that a comprehension takes to a number.

    `rows[i][1] = int(rows[i][1])`, then `[row[1] for row in rows]`.
    """
    clauses, part = dict(made.keywords), made.args[-1]
    rows, row = clauses["in"], clauses["for"]
    if part.kind != "subscript" or part.args[0].kind != "name" or rows.kind != "name" or part.args[0].name != row.name:
        return False
    return any(
        event.end <= made.start
        and event.kind == "assign"
        and event.target is not None
        and event.target.kind == "subscript"
        and event.target.args[0].kind == "subscript"
        and event.target.args[0].args[0].name == rows.name
        and event.target.args[1].kind == part.args[1].kind == "constant"
        and event.target.args[1].value == part.args[1].value
        and _makes_number(event.value)
        for event in env.module.events(env.function)
    )


def _makes_number(value: Expr | None) -> bool:
    return value is not None and value.kind == "call" and value.args[0].dotted in ("int", "float", "bool")


def _maps(made: ExtInst) -> bool:
    """Whether something has what a function returns for each element: `map(load, paths)`, `pool.imap(load, paths)`."""
    mapped = made.name == "builtins.map" or maps_in_pool(made.name)
    return mapped and made.call.kind == "call" and len(made.call.args) > 2


def is_mapping(value: Value) -> bool:
    """Whether a value is a dictionary."""
    if isinstance(value, Seq):
        return value.expr.kind == "dict" or (value.expr.kind, value.expr.name) == ("comprehension", "dict")
    return isinstance(value, ExtInst) and value.name in _MAPPINGS


def is_list(value: Value) -> bool:
    """Whether a value is a list or the like that was made to be filled, or filled where it is made."""
    if isinstance(value, Seq):
        return value.expr.kind in ("list", "set")
    return isinstance(value, ExtInst) and value.name in _LISTS


def is_place_for_each(value: Value) -> bool:
    """Whether a value is a list of places to put something in: `[None] * len(rows)`, `[None for _ in rows]`."""
    if isinstance(value, Seq) and value.expr.kind == "comprehension":
        return value.kind == "list" and value.expr.args[-1].kind == "constant"
    return any(part.args and part.args[0].kind == "constant" for part in repeated(value))


def repeated(value: Value) -> list[Expr]:
    """The list that is written out in `[row] * count`; nothing for other values."""
    is_product = isinstance(value, Opaque) and (value.expr.kind, value.expr.name) == ("binop", "*")
    return [part for part in value.expr.args if part.kind == "list"] if is_product and isinstance(value, Opaque) else []
