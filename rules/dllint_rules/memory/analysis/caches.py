"""Containers that worker code fills, item by item, and that nothing empties."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from dllint.knowledge import MAP_METHODS
from dllint.model.facts import Event, Expr
from dllint.project.data.behind import assigned
from dllint.project.data.per_item import PerItem, around, runs_per_item
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Seq, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.execution.call_graph import Running
from dllint.project.loaders.arguments import conjuncts, event_of
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module
from dllint_rules.memory.analysis.memoizers import Memoizers

if TYPE_CHECKING:
    from dllint.project import Project

_CONTAINERS = frozenset({
    "builtins.dict", "builtins.list", "builtins.set", "collections.defaultdict", "collections.OrderedDict",
})  # fmt: skip
_EMPTYING = frozenset({"pop", "popitem", "clear", "popleft", "remove", "discard", "del"})
_FEW = re.compile(
    r"label|class|cls|categor|type|split|mode|scale|size|shape|device|worker|pid|rank|kind|lang|task|level"
    r"|dim|(?:^|_)(?:(?:sample_?|sampling_?|frame_?)?rate|sr|fs|fps|layout|channels)(?:_|$)",
    re.IGNORECASE,
)
"""Names of keys of which there are few: labels, settings, and what tensors have besides their elements."""
_MAX_NAMES = 4
"""How many local names are followed from a key to what it is made of."""
_OPTION = re.compile(r"cach|keep|preload|memor|ram|stor|lazy", re.IGNORECASE)
"""Names of options that ask for a cache."""
_LIGHT = frozenset({"len", "int", "float", "bool", "str", "sum", "time", "hash"})
_ADDING = {"append": 1, "setdefault": 1, "appendleft": 1, "insert": 2}
"""Methods that add to a container, with the position of the argument that says what or where.

What a set is given is hashed: names and numbers, which are there to be found again and no data.
"""


class Growth(NamedTuple):
    """A place where worker code adds to a container that outlives the item."""

    running: Running
    at: Expr
    name: str
    """The attribute or global name of the container, or the function whose results are kept."""
    empty: bool = False
    """What is put in is an empty container, to be filled later."""
    known: bool = True
    """Each item has an entry of its own, which isn't an object of the project's, as that may hold little."""


class Kept(NamedTuple):
    """A container by its name: an attribute of a class's own (its file and number), or anything else."""

    owner: tuple[str, int] | None
    name: str


class Caches:
    """Answers where caches grow without bound."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.per_item = project.analysis(PerItem)
        self.memoizers = Memoizers(project.evaluator)

    def growing(self, running: Running, emptied: Collection[Kept]) -> Iterator[Growth]:
        """What code that runs per item adds to, with keys or values that change with the item."""
        for event in running.events:
            added = _added(event)
            if added is None or not runs_per_item(running, event):
                continue
            container, key, kept = added
            sought = _sought(event, container, running.env)
            key = sought or key
            if _is_light(kept) or not self._is_own_container(container, running.env):
                continue
            if not self._tells_items_apart(key, running.env) or self._is_optional(running, event):
                continue
            if self._is_filled_before(container, event, running.env) or _is_of_failures(container, event, running.env):
                continue
            if container.kind == "attribute" and self._is_made_anew(running.env.receiver):
                continue
            if not any(name in emptied for name in self._known_as(container, running.env)):
                values = self.evaluator.values(kept, running.env) if kept is not None else ()
                known = not any(isinstance(value, Inst) for value in values)
                known = known and ((sought is None and _is_appended(event)) or self._names_items(key, running.env))
                yield Growth(running, event.target or container, container.name, _is_empty(kept), known)

    def _is_made_anew(self, made: Value | None) -> bool:
        """Whether worker code makes an object for each item, which is then gone."""
        if not isinstance(made, Inst) or made.call is None or made.env is None or made in self._sent:
            return False
        making = event_of(made.env, made.call)
        running = self._in_workers.get((made.env.module.path, made.env.function))
        if making is None or running is None or not runs_per_item(running, making):
            return False
        ways = running, msgspec.structs.replace(running, env=made.env)
        return not any(self.per_item.remembers(way, making) for way in ways)

    @at_rest
    def _in_workers(self) -> dict[tuple[str, int], Running]:
        """The functions that workers run, each as it runs first."""
        return {running.function: running for running in reversed(list(self.project.running))}

    @at_rest
    def _sent(self) -> frozenset[Value]:
        return frozenset(held.value for held in self.project.shipped)

    def _is_filled_before(self, container: Expr, event: Event, env: Env) -> bool:
        """Whether making the object fills the container for the workers, in a loop: by this code or by other code."""
        setup = self._setup(env)
        sites = self.evaluator.call_sites.callers(env.module, env.function) if env.facts.name not in MAP_METHODS else ()
        if any((site.module, site.function) in setup and _in_loop(site.module, site.event) for site, _ in sites):
            return True
        blocks = map(env.module.block, env.module.enclosing(event.block))
        tests = (block.test for block in blocks if block.test is not None)
        if not any(part.name == container.name for test in tests for part in test.walk()):
            return False
        return any(
            item.receiver.name == container.name and item.what.kind == "subscript" and _in_loop(module, item.event)
            for module, function in setup
            for item in module.mutations[function]
            if item.event.value is not None and item.event.value.kind in ("call", "name")
        )

    def _setup(self, env: Env) -> set[tuple[Module, int]]:
        """The `__init__`s that make the object of a method, and what these call of its own methods."""
        classes = self.evaluator.classes.mro(env.receiver.klass) if isinstance(env.receiver, Inst) else ()
        methods = {
            name: (item.module, number) for item in reversed(classes) for name, number in item.facts.methods.items()
        }
        inits = {(item.module, item.facts.methods["__init__"]) for item in classes if "__init__" in item.facts.methods}
        called = {
            part.args[0].name
            for module, function in inits
            for event in module.events(function)
            for part in event.walk()
            if part.kind == "call" and part.args[0].dotted == f"{module.receiver_name(function)}.{part.args[0].name}"
        }
        return inits | {methods[name] for name in called & methods.keys()}

    def _known_as(self, container: Expr, env: Env) -> Iterator[Kept]:
        """The ways in which code may name a container when it takes from it."""
        yield Kept(None, container.name)
        if container.kind == "attribute" and isinstance(env.receiver, Inst):
            for klass in self.evaluator.classes.mro(env.receiver.klass):
                yield Kept((klass.module.path, klass.index), container.name)

    def memoized(self, running: Running) -> Growth | None:
        """A function that worker code calls with what changes with the item, and whose results are all kept."""
        env = running.env
        found = self.memoizers.of(env) if env.function >= 0 else None
        if found is None or not (env.facts.name in MAP_METHODS or self._called_with_many(env)):
            return None
        return Growth(running, found, env.facts.name)

    def _called_with_many(self, env: Env) -> bool:
        if env.call is None or env.caller is None:
            return False
        caller = env.caller
        names = [item.name for item in env.facts.parameters[1 if env.receiver is not None else 0 :]]
        given = [*zip_longest(names, env.call.args[1:], fillvalue=None), *env.call.keywords]
        many = [part for name, part in given if part is not None and not _FEW.search(name or "")]
        return any(self._tells_items_apart(part, caller) for part in many)

    def _tells_items_apart(self, key: Expr, env: Env, names: int = _MAX_NAMES) -> bool:
        """Whether a key changes with the item by more than a label, a setting or the device of the item's tensor."""
        if self.per_item.varies(key, env) is not Answer.YES:
            return False
        joined = _joined(key)
        if joined:
            return any(self._tells_items_apart(part, env, names) for part in joined)
        if any(_FEW.search(part.name) for part in key.walk() if part.kind in ("name", "attribute")):
            return False
        if any(_is_prefix(part) for part in (key, *assigned(key, env))):
            return False
        made = [part for part in assigned(key, env) if key.kind == "name" and names]
        if not all(part.kind in ("name", "attribute") or _joined(part) for part in made):
            return True
        return not made or any(self._tells_items_apart(part, env, names - 1) for part in made)

    def _names_items(self, key: Expr, env: Env, names: int = _MAX_NAMES) -> bool:
        """Whether a key is an item's number, or what stands under that: what many items have in common may vary too."""
        joined = _joined(key) or (key.args[1:] if key.kind == "call" and key.args[0].dotted == "int" else ())
        if joined:
            return any(self._names_items(part, env, names) for part in joined)
        made = assigned(key, env) if key.kind == "name" and names else []
        if made:
            return all(self._names_items(part, env, names - 1) for part in made)
        told = key.args[1] if key.kind == "subscript" else key if key.kind == "name" else None
        return told is not None and self.per_item.varies(told, env) is Answer.YES

    def _is_own_container(self, container: Expr, env: Env) -> bool:
        """Whether a container is an empty one that an object or the module keeps."""
        if container.kind == "name":
            if env.function >= 0 and container.name in env.facts.bound:
                return False
        elif container.kind != "attribute" or container.args[0].name != env.module.receiver_name(env.function):
            return False
        values = self.evaluator.values(container, env)
        return bool(values) and all(
            (isinstance(value, Seq) and value.expr.kind in ("dict", "list", "set") and not value.expr.args)
            or (isinstance(value, ExtInst) and value.name in _CONTAINERS)
            for value in values
        )

    def _is_optional(self, running: Running, event: Event) -> bool:
        """Whether a flag that is not known to be set, or a limit, decides over it."""
        for env, block in around(running, event):
            own = env is running.env
            for test in conjuncts(block.test) if block.kind in ("if", "else") and block.test is not None else ():
                flag = test.kind in ("name", "attribute") and (own or bool(_OPTION.search(test.name)))
                if flag and self.evaluator.conditions.truth(test, env) is not True:
                    return True
                if own and test.kind == "compare" and test.name in ("<", "<=", ">", ">="):
                    return True
        return False

    def emptied(self, code: Iterable[Running]) -> frozenset[Kept]:
        """The containers that worker code takes from, replaces, or looks at the length of.

        A function counts when something in the workers calls one of its name: what the main process empties is its own.
        """
        running = list(code)
        functions = {item.function for item in running}
        called = {part.args[0].name for item in running for event in item.events for part in event.walk() if part.args}
        called -= _EMPTYING  # any list has such methods: to call one of that name says nothing of the others
        return frozenset(
            _kept(module, function.index, container)
            for module in self.evaluator.index
            for function in module.model.functions
            if function.name in called or (module.path, function.index) in functions
            for event in function.events
            for container in _emptied_by(
                event, function.name in ("__init__", "__setstate__") or _is_first(module, event)
            )
        )


def _kept(module: Module, function: int, container: Expr) -> Kept:
    """How code of a function names a container."""
    owner = module.method_owner(function)
    own = container.kind == "attribute" and container.args[0].name == module.receiver_name(function) != ""
    return Kept((module.path, owner) if owner >= 0 and own else None, container.name)


def _in_loop(module: Module, event: Event) -> bool:
    return any(module.block(index).kind in LOOPS for index in module.enclosing(event.block))


def _added(event: Event) -> tuple[Expr, Expr, Expr | None] | None:
    """The container that an event adds to, the key or value that it adds, and what it keeps there."""
    target, value = event.target, event.value
    if event.kind == "assign" and target is not None and target.kind == "subscript":
        return target.args[0], target.args[1], value
    if event.kind == "expr" and value is not None and value.kind == "call" and value.args[0].kind == "attribute":
        position = _ADDING.get(value.args[0].name, 0)
        if position and len(value.args) > position:
            return value.args[0].args[0], value.args[position], value.args[-1]
    return None


def _is_appended(event: Event) -> bool:
    """Whether an event makes a list longer, whatever it adds."""
    called = event.value.args[0].name if event.kind == "expr" and event.value is not None else ""
    return called in _ADDING and called != "setdefault"


def _sought(event: Event, container: Expr, env: Env) -> Expr | None:
    """What entries are compared with before one is added: a loop over them leaves the function if one is equal."""
    module = env.module
    for left in env.facts.events if env.function >= 0 else ():
        if left.kind != "return" or left.end > event.start:
            continue
        blocks = [module.block(index) for index in module.enclosing(left.block)]
        loops = [block for block in blocks if block.kind == "for" and block.test is not None]
        if any(part.name == container.name for loop in loops for part in (loop.test or container).walk()):
            tests = (block.test for block in blocks if block.kind == "if" and block.test is not None)
            found = (test.args[1] for test in tests if test.kind == "compare" and test.name == "==")
            return next(found, None)
    return None


def _is_of_failures(container: Expr, event: Event, env: Env) -> bool:
    """Whether only an item that can't be made gets there: in a handler of an error that no look-up of it raises."""
    module = env.module
    handlers = (module.block(index) for index in module.enclosing(event.block) if module.block(index).kind == "except")
    tried = {handler.partner for handler in handlers}
    inside = (item for item in module.events(env.function) if not tried.isdisjoint(module.enclosing(item.block)))
    return bool(tried) and not any(part.name == container.name for item in inside for part in item.walk())


def _is_prefix(key: Expr) -> bool:
    """Whether a key is where another text begins, as that of an archive or a folder: many items have the same."""
    if key.kind != "subscript" or key.args[1].kind != "slice":
        return False
    lower, upper, _ = key.args[1].args
    return (lower.kind == "none" or lower.value == 0) and upper.kind not in ("none", "unary")


def _joined(key: Expr) -> tuple[Expr, ...]:
    """The parts of a key that is joined from several: `f"{path}_{size}"`, `"%s_%s" % (path, size)`, `str(path)`."""
    if key.kind == "call":
        return key.args[1:] if key.args[0].name in ("str", "format") else ()
    joins = key.kind in ("fstring", "tuple") or (key.kind == "binop" and key.name in "+%")
    return key.args if joins else ()


def _is_light(kept: Expr | None) -> bool:
    """Whether what is kept is a number or a truth value."""
    if kept is None:
        return False
    return kept.kind in ("constant", "compare") or (kept.kind == "call" and kept.args[0].name in _LIGHT)


def _is_empty(kept: Expr | None) -> bool:
    return kept is not None and kept.kind in ("list", "dict") and not kept.args


def _is_first(module: Module, event: Event) -> bool:
    """Whether a test around an event asks whether something is there yet."""
    tests = (module.block(index).test for index in module.enclosing(event.block))
    return any(
        (part.kind == "call" and part.args[0].name == "hasattr") or (part.kind == "constant" and part.value is None)
        for test in tests
        if test is not None
        for part in test.walk()
    )


def _emptied_by(event: Event, first: bool) -> Iterator[Expr]:
    if event.target is not None and event.kind == "del":
        yield from event.target.walk()
    if event.target is not None and event.kind in ("assign", "augment") and not first:
        yield event.target
    for part in event.walk():
        if part.kind == "call":
            callee = part.args[0]
            if callee.name in _EMPTYING and callee.kind == "attribute":
                yield callee.args[0]
            if callee.name == "len" and len(part.args) > 1 and event.kind in ("test", "assert"):
                yield part.args[1]
