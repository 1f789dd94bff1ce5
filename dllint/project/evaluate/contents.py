"""Containers whose contents are all known: nothing changes them and nothing gets them, as far as the text says.

The evaluator's containers say what may be in them: of `a + b` and of `a[1:]` they are `a` itself, and what is appended
somewhere else isn't seen. What is in one for sure is known where it is only read: where it stands, or everywhere where
the only name stands that it is assigned to. Of one that stands in a call, it is known in the function that is called,
up to where the parameter is more than read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import MAX_ELEMENTS, MAX_STRING, Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Seq, Value, Values
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_DISPLAYS = frozenset({"list", "tuple", "set", "dict"})
_MAKERS = {f"builtins.{kind}": kind for kind in ("list", "tuple", "set", "frozenset", "dict")}


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


class Contents:
    """Answers what containers surely have."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._whole: dict[Value, Whole | None] = {}
        self._only_read = OnDemand(self._is_only_read)

    def of(self, value: Value) -> Whole | None:
        """All that a container has, if that is known."""
        if not isinstance(value, (Seq, ExtInst)):
            return None
        return self.evaluator.ask(self._whole, value, NOTHING_YET, self._find, value)

    def at(self, value: Value, name: Expr, env: Env) -> Whole | None:
        """All that a container has where a name of it stands."""
        whole = self.of(value)
        if whole is None and isinstance(value, Seq) and self._is_untouched(value, name, env):
            return self._of_display(value.expr, value.env)
        return whole

    def _is_untouched(self, value: Seq, name: Expr, env: Env) -> bool:
        """Whether a name is a parameter that was just given a display, and so far is only read. Nothing else has it."""
        call, module = env.call, env.module
        if call is None or value.env is not env.caller or name.kind != "name":
            return False
        if not any(given is value.expr for given in (*call.args[1:], *(given for _, given in call.keywords))):
            return False
        if [binding.kind for binding in module.bindings[env.function, -1].get(name.name, ())] != ["parameter"]:
            return False
        around = map(module.block, module.enclosing(module.block_at(env.function, name.start)))
        until = max((name.start, *(block.end for block in around if block.kind in LOOPS)))
        handed = {item.index: module.uses[item.index].handed.get(name.name) for item in module.inside(env.function)}
        first = handed.pop(env.function)
        return (first is None or first >= until) and not any(handed.values())

    def length(self, arg: Expr, value: Value, env: Env, unknown: Value) -> Values:
        """How long a text or a container is; `unknown` where that is not known."""
        if isinstance(value, Const) and isinstance(value.value, str) and not is_cut(value):
            return (Const(len(value.value), "int"),)
        whole = self.at(value, arg, env)
        if whole == NOTHING_YET:
            return self.evaluator.unless_open(unknown)
        size = whole.size if whole is not None else None
        return (unknown if size is None else Const(size, "int"),)

    def _find(self, value: Seq | ExtInst) -> Whole | None:
        if isinstance(value, Seq):
            known = self._is_known(value.expr, value.env, value.expr.kind)
            return self._of_display(value.expr, value.env) if known else None
        if value.name in _MAKERS:
            return self._of_call(value, _MAKERS[value.name])
        if value.name.endswith(".keys") and value.base is not None:
            return _as(self.of(value.base), "keys")
        return None

    def _of_display(self, expr: Expr, env: Env) -> Whole | None:
        parts = expr.args[::2] if expr.kind == "dict" else expr.args
        if expr.kind not in _DISPLAYS or len(parts) >= MAX_ELEMENTS or any(part.kind == "star" for part in parts):
            return None
        return self._of_parts(expr.kind, parts, env)

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
        uses = env.module.uses[env.function]
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
            return name[1:] not in module.uses[function].handed and self._is_read_as_attribute(name)
        if function >= 0 and name not in functions[function].globals:
            while functions[function].parent >= 0:
                function = functions[function].parent
            return all(name not in module.uses[item.index].handed for item in module.inside(function))
        users = [module]
        for user in users:  # grows with those that import it from there
            for other, item in self.evaluator.index.import_statements.get(user.path, ()):
                if item.attribute == name != item.bound:
                    return False
                if item.attribute in (name, "*") and other not in users:
                    users.append(other)
        return all(self._reads(user, name, module) for user in users) and self._is_read_as_attribute(f".{name}")

    def _reads(self, user: Module, name: str, module: Module) -> bool:
        """Whether the code of a module only reads what a global name of it, or of another one, means."""
        local = {item.index for item in user.model.functions if name in item.bound - item.globals}
        scopes = {-1, *(item.index for item in user.model.functions)}
        return all(name not in user.uses[item].handed for item in (scopes - local if user is module else scopes))

    def _is_read_as_attribute(self, name: str) -> bool:
        having = (module for module in self.evaluator.index if name[1:] in module.attributes)
        return all(
            name not in module.uses[function].handed
            for module in having
            for function in range(-1, len(module.model.functions))
        )


def _as(whole: Whole | None, kind: str) -> Whole | None:
    """The same items in another kind of container."""
    return whole._replace(kind=kind) if whole is not None and whole != NOTHING_YET else whole


def is_cut(value: Const) -> bool:
    """Whether a text may be longer than what is known of it."""
    return isinstance(value.value, str) and len(value.value) >= MAX_STRING
