"""What code reads and changes of the objects that modules keep: configurations, registries, class attributes."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Inst
from dllint.project.program.events import flat_targets
from dllint.project.program.module import MUTATORS, Module
from dllint.project.program.on_demand import OnDemand
from dllint_rules.correctness.analysis.module_globals import ANY, Global, Globals, Step, key_of

_CHANGING = MUTATORS | {"clear", "pop", "popitem", "remove", "discard", "sort", "reverse", "extendleft"}
_MERGING = frozenset({"merge_from_file", "merge_from_list", "merge_from_other_cfg", "merge_from_dict", "merge_with"})
"""Methods of configurations (yacs, fvcore, detectron2, mmcv, OmegaConf) that overwrite what they hold."""
_SETTERS = frozenset({"setattr", "__setattr__"})
_WRITERS = _CHANGING | _MERGING | _SETTERS
_CONTENT = frozenset({"items", "keys", "values", "copy", "index", "count", "issubset", "intersection", "union"})
_CONSUMERS = frozenset({
    "len", "list", "tuple", "set", "sorted", "enumerate", "sum", "min", "max", "any", "all", "iter", "choice",
})  # fmt: skip
_TELLING = frozenset({"print", "debug", "info", "warning", "error", "log", "write", "pprint"})
"""What is read for these changes no batch."""


class Access:
    """Finds both."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.globals = Globals(evaluator)
        self.writing = OnDemand(_may_write)
        """The events of a function, or of a module's own code (-1), that may change such an object."""

    def reads(self, event: Event, env: Env) -> Iterator[tuple[Global, Expr]]:
        """The places that an event reads, and where; not for messages alone."""
        if not _is_told(env.module, env.function, event):
            for expr in (event.value, *_bases(event)):
                if expr is not None:
                    yield from self._reads(expr, env, event.kind == "for")

    def _reads(self, expr: Expr, env: Env, content: bool) -> Iterator[tuple[Global, Expr]]:
        """The places that an expression reads; `content`: with all they hold."""
        if expr.kind in ("name", "attribute", "subscript"):
            place = self.globals.of(expr, env)
            if place is not None:
                yield (place.part(ANY) if content else place), expr
            parts = expr.args[1:] if place is not None else expr.args
            yield from (found for part in parts for found in self._reads(part, env, False))
        elif expr.kind == "call":
            yield from self._read_by_call(expr, env)
        elif expr.kind == "comprehension":
            yield from (found for part in expr.args for found in self._reads(part, env, False))
            for key, part in expr.keywords:
                yield from self._reads(part, env, key == "in")
        else:
            contained = expr.kind == "compare" and expr.name in ("in", "not in")
            for number, part in enumerate(expr.args):
                yield from self._reads(part, env, contained and number == 1)
            yield from (found for _, part in expr.keywords for found in self._reads(part, env, False))

    def _read_by_call(self, call: Expr, env: Env) -> Iterator[tuple[Global, Expr]]:
        callee = call.args[0]
        if callee.name in _TELLING:
            return
        base = self.globals.of(callee.args[0], env) if callee.kind == "attribute" else None
        if base is None:
            yield from self._reads(callee, env, False)
        elif callee.name == "get" and len(call.args) > 1:
            yield base.part(key_of(call.args[1])), callee.args[0]
        else:
            yield (base.part(ANY) if callee.name in _CONTENT else base), callee.args[0]
            yield base.part(callee.name), callee
        for part in (*call.args[1:], *(value for _, value in call.keywords)):
            yield from self._reads(part, env, callee.name in _CONSUMERS)

    def writes(self, event: Event, env: Env) -> Iterator[tuple[Global, Expr, Expr | None]]:
        """The places that an event changes, where, and to what."""
        if event.target is not None and event.kind in ("assign", "augment", "for", "with", "del"):
            for target in flat_targets(event.target):
                place = self.target(target, env)
                if place is not None:
                    plain = event.kind == "assign" and target is event.target
                    yield place, target, event.value if plain else None
        for expr in event.walk():
            if expr.kind == "call":
                yield from ((place, expr, None) for place in self._changed_by_call(expr, env))

    def target(self, target: Expr, env: Env) -> Global | None:
        """The place that is assigned to: not what its name means, but the name."""
        if target.kind == "name":
            own = env.function < 0 or target.name in env.facts.globals
            return Global(env.module, target.name) if own else None
        if target.kind not in ("attribute", "subscript"):
            return None
        module = self.globals.module(target.args[0], env) if target.kind == "attribute" else None
        if module is not None:
            return Global(module, target.name)
        base = self.globals.of(target.args[0], env)
        if base is None:
            return None
        return base.part(target.name if target.kind == "attribute" else key_of(target.args[1]))

    def _changed_by_call(self, call: Expr, env: Env) -> Iterator[Global]:
        callee = call.args[0]
        if callee.name in _SETTERS and len(call.args) > 2:
            yield from self._set_by_name(*_setting(call), env)
        elif callee.kind == "attribute" and callee.name in _WRITERS:
            owner = callee.args[0]
            inside = owner.kind == "attribute" and owner.name == "__dict__"
            base = self.globals.of(owner.args[0] if inside else owner, env)
            if base is not None and not self._own_method(owner, callee.name, env):
                yield from (base.part(key) for key in _keys_changed(call, callee.name))

    def _set_by_name(self, owner: Expr, name: Expr, value: Expr, env: Env) -> Iterator[Global]:
        """`setattr(owner, name, value)`. A constant under names that are not known is a flag for some of them."""
        keys = self._keys(name, env)
        if keys == [ANY] and value.kind == "constant":
            return
        module, base = self.globals.module(owner, env), self.globals.of(owner, env)
        for key in keys:
            if base is not None:
                yield base.part(key)
            elif module is not None and isinstance(key, str):
                yield Global(module, key)

    def _keys(self, name: Expr, env: Env) -> list[Step]:
        """The names that an expression may be, where all of them are known."""
        values = self.evaluator.values(name, env) if name.kind != "constant" else ()
        known: list[Step] = [item.value for item in values if isinstance(item, Const) and isinstance(item.value, str)]
        return known if known and len(known) == len(values) else [key_of(name)]

    def _own_method(self, owner: Expr, name: str, env: Env) -> bool:
        """Whether the project says itself what a method does: the walk goes there."""
        values = self.evaluator.values(owner, env)
        return any(isinstance(item, Inst) and self.evaluator.classes.method(item, name) is not None for item in values)


def _setting(call: Expr) -> tuple[Expr, Expr, Expr]:
    """The object, the name, the value of `setattr(o, n, v)`, `object.__setattr__(o, n, v)`, `o.__setattr__(n, v)`."""
    callee, given = call.args[0], call.args[1:]
    if len(given) == 2 and callee.kind == "attribute":
        given = (callee.args[0], *given)
    return given[0], given[1], given[-1]


def _may_write(scope: tuple[Module, int]) -> list[Event]:
    module, function = scope
    facts = module.function_at(function)
    names = facts.globals if facts is not None else module.model.bound
    found = []
    for event in module.events(function):
        targets = flat_targets(event.target) if event.target is not None else ()
        stores = any(item.name in names if item.kind == "name" else item.args for item in targets)
        if stores or any(part.kind == "call" and part.args[0].name in _WRITERS for part in event.walk()):
            found.append(event)
    return found


def _bases(event: Event) -> Iterator[Expr]:
    """What the targets of an event read: the object, the key."""
    for target in flat_targets(event.target) if event.target is not None else ():
        if target.kind in ("attribute", "subscript"):
            yield from target.args[1:]
        if event.kind == "augment":
            yield target


def _keys_changed(call: Expr, method: str) -> list[Step]:
    """The keys that a method of a container changes."""
    if method == "setdefault" and len(call.args) > 1:
        return [key_of(call.args[1])]
    if method != "update" or any(key == "**" for key, _ in call.keywords):
        return [ANY]
    keys: list[Step] = [key for key, _ in call.keywords]
    for given in call.args[1:]:
        if given.kind != "dict" or any(key.kind != "constant" for key in given.args[::2]):
            return [ANY]
        keys += [key.value for key in given.args[::2]]
    return keys


def _is_told(module: Module, function: int, event: Event) -> bool:
    """Whether what an event reads is for people alone: a test that decides over printing."""
    if event.kind == "assert":
        return True
    if event.kind != "test":
        return False
    blocks = {index for index, block in enumerate(module.model.blocks) if block.test is event.value}
    inside = [item for item in module.events(function) if blocks & set(module.enclosing(item.block))]
    return bool(inside) and all(_tells(item) for item in inside)


def _tells(event: Event) -> bool:
    call = event.value
    return event.kind == "raise" or (
        event.kind == "expr" and call is not None and call.kind == "call" and call.args[0].name in _TELLING
    )
