"""Containers whose contents are all known: nothing changes them and nothing gets them, as far as the text says.

The evaluator's containers say what may be in them: of `a + b` and of `a[1:]` they are `a` itself, and what is appended
somewhere else isn't seen. What is in one for sure is known where it is only read: where it stands, or everywhere where
the only name stands that it is assigned to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import MAX_ELEMENTS, MAX_STRING, Event, Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Seq, Value, Values
from dllint.project.program.events import flat_targets
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_DISPLAYS = frozenset({"list", "tuple", "set", "dict"})
_MAKERS = {f"builtins.{kind}": kind for kind in ("list", "tuple", "set", "frozenset", "dict")}
_READERS = frozenset({
    "len", "bool", "any", "all", "sum", "sorted", "list", "tuple", "set", "frozenset", "dict",
    "enumerate", "isinstance", "print", "repr", "str", "type",
})  # fmt: skip
"""Builtin functions that read what they get: what they return is another object."""
_READING = frozenset({"get", "keys", "values", "items", "index", "count", "isdisjoint", "issubset", "issuperset"})
"""Methods of containers that read them."""
_OF_TEXT = frozenset({"join", "startswith", "endswith"})
_OPTIONS = frozenset({"choices", "**"})
"""Keywords whose values are only read."""


class _As(Enum):
    """What becomes of an expression's value where it stands."""

    TRUTH = "only its truth counts"
    READ = "it is read"
    HANDED = "it is kept, changed or handed on"


class Whole(NamedTuple):
    """All that a container has: the items, or a dictionary's keys. None: one of which only the place is known."""

    kind: str
    items: tuple[Const | None, ...]

    @property
    def constants(self) -> list[object] | None:
        """The items where all are known."""
        found: list[object] = [item.value for item in self.items if item is not None]
        return found if len(found) == len(self.items) else None

    @property
    def size(self) -> int | None:
        """How many there are: of a set, equal ones count once."""
        if self.kind in ("list", "tuple") or not self.items:
            return len(self.items)
        return None if self.constants is None else len(set(self.constants))

    def has(self, value: Value) -> bool | None:
        """Whether a constant is among the items; nothing is, if there are none."""
        if not isinstance(value, Const) or is_cut(value):
            return None if self.items else False
        if any(item is not None and item.value == value.value for item in self.items):
            return True
        return None if self.constants is None else False

    def equals(self, other: Whole) -> bool | None:
        """Whether it is equal to another container."""
        kinds = {"set" if whole.kind == "frozenset" else whole.kind for whole in (self, other)}
        if len(kinds) > 1:
            return None if "keys" in kinds else False
        if kinds <= {"list", "tuple"} and None not in (self.constants, other.constants):
            return self.constants == other.constants
        if None in (self.size, other.size) or self.size != other.size:
            return None if None in (self.size, other.size) else False
        return None if self.size else True


NOTHING_YET = Whole("", ())
"""What a container has in a cycle that has found nothing so far."""


class _Uses(NamedTuple):
    """What a function does with containers."""

    read: frozenset[int]
    """The displays and calls, by their identities, that are only read where they stand."""
    named: dict[int, tuple[str, ...]]
    """The names that those get which are assigned as they are; of a class's attribute, with a dot before it."""
    handed: frozenset[str]
    """The names whose values may be kept, changed or handed on."""


class Contents:
    """Answers what containers surely have."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._uses = OnDemand(_find_uses)
        self._whole: dict[Value, Whole | None] = {}
        self._only_read = OnDemand(self._is_only_read)

    def of(self, value: Value) -> Whole | None:
        """All that a container has, if that is known."""
        if not isinstance(value, (Seq, ExtInst)):
            return None
        return self.evaluator.ask(self._whole, value, NOTHING_YET, self._find, value)

    def length(self, value: Value, unknown: Value) -> Values:
        """How long a text or a container is; `unknown` where that is not known."""
        if isinstance(value, Const) and isinstance(value.value, str) and not is_cut(value):
            return (Const(len(value.value), "int"),)
        whole = self.of(value)
        if whole == NOTHING_YET:
            return self.evaluator.unless_open(unknown)
        size = whole.size if whole is not None else None
        return (unknown if size is None else Const(size, "int"),)

    def _find(self, value: Seq | ExtInst) -> Whole | None:
        if isinstance(value, Seq):
            return self._of_display(value.expr, value.env)
        if value.name in _MAKERS:
            return self._of_call(value, _MAKERS[value.name])
        if value.name.endswith(".keys") and value.base is not None:
            return _as(self.of(value.base), "keys")
        return None

    def _of_display(self, expr: Expr, env: Env) -> Whole | None:
        parts = expr.args[::2] if expr.kind == "dict" else expr.args
        if expr.kind not in _DISPLAYS or len(parts) >= MAX_ELEMENTS or any(part.kind == "star" for part in parts):
            return None
        return self._of_parts(expr.kind, parts, env) if self._is_known(expr, env, expr.kind) else None

    def _of_call(self, made: ExtInst, kind: str) -> Whole | None:
        """What `frozenset(("a", "b"))`, `list()` and `dict(a=1)` have."""
        call, env = made.call, made.env
        names, given = [name for name, _ in call.keywords], call.args[1:]
        if "**" in names or len(given) + bool(names) > 1 or not self._is_known(call, env, kind):
            return None
        if not given:
            return Whole(kind, tuple(Const(name, "str") for name in names))
        values = self.evaluator.values(given[0], env)
        if not values:
            return NOTHING_YET
        inner = self.of(values[0]) if len(values) == 1 else None
        return None if kind == "dict" and inner is not None and inner.kind not in ("", kind) else _as(inner, kind)

    def _of_parts(self, kind: str, parts: tuple[Expr, ...], env: Env) -> Whole:
        items: list[Const | None] = []
        for part in parts:
            values = self.evaluator.values(part, env)
            if not values:
                return NOTHING_YET
            known = values[0] if len(values) == 1 else None
            items.append(known if isinstance(known, Const) and not is_cut(known) else None)
        return Whole(kind, tuple(items))

    def _is_known(self, made: Expr, env: Env, kind: str) -> bool:
        """Whether a container is only read, wherever it is known by a name."""
        uses = self._uses[env.module, env.function]
        names = uses.named.get(id(made), ())
        if id(made) in uses.read or not names:
            return id(made) in uses.read
        if kind not in ("tuple", "frozenset") and any(name[0] == "." for name in names):
            return False  # what an object has others reach
        return all(self._only_read[env.module, env.function, name] for name in names)

    def _is_only_read(self, key: tuple[Module, int, str]) -> bool:
        """Whether a name of a function, of a module (-1) or of a class stands only where its value is read."""
        module, function, name = key
        functions = module.model.functions
        if name[0] == ".":
            return name[1:] not in self._uses[module, function].handed and self._is_read_as_attribute(name)
        if function >= 0 and name not in functions[function].globals:
            while functions[function].parent >= 0:
                function = functions[function].parent
            span = functions[function].span
            inside = (item.index for item in functions if span.start <= item.span.start and item.span.end <= span.end)
            return all(name not in self._uses[module, index].handed for index in inside)
        users = [module]
        for user in users:  # grows with those that import it from there
            for other, item in self.evaluator.index.import_statements.get(user.path, ()):
                if item.attribute == name != item.bound:
                    return False
                if item.attribute in (name, "*") and other not in users:
                    users.append(other)
        return self._is_read_as_attribute(f".{name}") and all(self._reads(user, name, module) for user in users)

    def _reads(self, user: Module, name: str, module: Module) -> bool:
        """Whether the code of a module only reads what a global name of it, or of another one, means."""
        local = {item.index for item in user.model.functions if name in item.bound - item.globals}
        scopes = {-1, *(item.index for item in user.model.functions)}
        return all(name not in self._uses[user, item].handed for item in (scopes - local if user is module else scopes))

    def _is_read_as_attribute(self, name: str) -> bool:
        having = (module for module in self.evaluator.index if name[1:] in module.attributes)
        scopes = ((module, function) for module in having for function in range(-1, len(module.model.functions)))
        return all(name not in self._uses[scope].handed for scope in scopes)


def _as(whole: Whole | None, kind: str) -> Whole | None:
    """The same items in another kind of container."""
    return whole._replace(kind=kind) if whole is not None and whole != NOTHING_YET else whole


def is_cut(value: Const) -> bool:
    """Whether a text may be longer than what is known of it."""
    return isinstance(value.value, str) and len(value.value) >= MAX_STRING


def _find_uses(scope: tuple[Module, int]) -> _Uses:
    module, function = scope
    read: set[int] = set()
    named: dict[int, tuple[str, ...]] = defaultdict(tuple)
    handed: set[str] = set()
    bodies = [item for item in module.model.classes if item.parent == function]
    for dot, events in (("", module.events(function)), *((".", item.events) for item in bodies)):
        for event in events:
            handed.update(_changed(event))
            value, target = event.value, event.target
            if value is None:
                continue
            if event.kind in ("assign", "annotate") and target is not None and target.kind == "name":
                if value.kind in _DISPLAYS or value.kind == "call":
                    named[id(value)] += (f"{dot}{target.name}",)
            _look(value, _how(event), module, read, handed)
    for expr in _in_headers(module, function):
        _look(expr, _As.HANDED, module, read, handed)
    return _Uses(frozenset(read), dict(named), frozenset(handed))


def _in_headers(module: Module, function: int) -> Iterator[Expr]:
    """The defaults, bases and decorators of what is defined in a function."""
    for item in module.model.functions:
        if item.parent == function:
            yield from item.decorators
            yield from (parameter.default for parameter in item.parameters if parameter.default is not None)
    for klass in module.model.classes:
        if klass.parent == function:
            yield from (*klass.decorators, *klass.bases, *(value for _, value in klass.keywords))


def _how(event: Event) -> _As:
    """What an event does with its value."""
    if event.kind in ("test", "assert"):
        return _As.TRUTH
    return _As.READ if event.kind in ("for", "expr") else _As.HANDED


def _changed(event: Event) -> Iterator[str]:
    """The names in the targets of an event of which something is changed: `x[0] = 1`, `x.y = 1`, `x += y`."""
    for target in flat_targets(event.target) if event.target is not None else ():
        changed = target.walk() if event.kind == "augment" else (part for arg in target.args for part in arg.walk())
        yield from (_key(part) for part in changed if part.kind in ("name", "attribute"))


def _key(expr: Expr) -> str:
    return f".{expr.name}" if expr.kind == "attribute" else expr.name


def _look(expr: Expr, use: _As, module: Module, read: set[int], handed: set[str]) -> None:
    """Tell apart the parts of an expression that are read and those that are handed on."""
    stack = [(expr, use)]
    while stack:
        part, use = stack.pop()
        if use is _As.HANDED:
            if part.kind in ("name", "attribute"):
                handed.add(_key(part))
        elif part.kind in _DISPLAYS or part.kind == "call":
            read.add(id(part))
        stack += _parts(part, use, module)


def _parts(expr: Expr, use: _As, module: Module) -> Iterator[tuple[Expr, _As]]:
    """The parts of an expression, each with what becomes of it."""
    args, how = expr.args, _As.HANDED
    match expr.kind:
        case "compare" | "fstring":
            how = _As.READ
        case "star":
            how = _As.READ
        case "unary" if expr.name == "not":
            how = _As.TRUTH
        case "boolop":
            how = use
        case "ifexp":
            yield args[0], _As.TRUTH
            args, how = args[1:], use
        case "attribute":
            how = _As.READ if expr.name in _READING | _OF_TEXT else _As.HANDED
        case "subscript":
            sliced = any(index.kind == "slice" for index in args[1:])
            yield args[0], _As.HANDED if sliced else _As.READ
            args = args[1:]
        case "call":
            yield args[0], _As.READ
            callee, args = args[0], args[1:]
            builtin = callee.kind == "name" and callee.name in _READERS and callee.name not in module.model.bound
            if builtin or (callee.kind == "attribute" and callee.name in _OF_TEXT):
                how = _As.READ
    yield from ((arg, how) for arg in args)
    for name, value in expr.keywords:
        match expr.kind, name:
            case "comprehension", "in":
                yield value, _As.READ
            case "comprehension", "if":
                yield value, _As.TRUTH
            case _:
                yield value, _As.READ if name in _OPTIONS else _As.HANDED
