"""Call sites: every call in the project that may run a function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Expr, Function
from dllint.project.evaluate.abstract_values import Func, Klass, Method
from dllint.project.evaluate.shapes import decorated
from dllint.project.program.module import Binding, Module, Site
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


MAX_CALL_SITES = 400
"""Callers of one function that are asked what they pass; of one that has more, nothing is known."""
MAX_JOINED = 100
"""Callers of one function whose arguments are joined; what more of them pass is not known."""
MAX_ON_OBJECTS = 64
"""Calls of one name on objects that have to be found first; of a name that has more, only the others are followed."""


class _Called(NamedTuple):
    """The functions that a call may run, with the positional arguments to skip, and the classes of an `__init__`."""

    functions: dict[tuple[Module, int], int]
    classes: list[Klass]


_MAKING = ("__init__", "cls")
"""What a class calls to make or initialize one of its own."""
_NOTHING = _Called({}, [])


class CallSites:
    """Finds the calls of a function."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._callers: dict[tuple[str, int], list[tuple[Site, int]]] = {}
        self._own: dict[str, dict[tuple[Module, int], list[Site]]] = {}
        self._sites = OnDemand(self._find_sites)
        self._makers = OnDemand(self._find_makers)
        self._set_in_body = OnDemand(_is_set_in_body)
        self._called: dict[Expr, _Called] = {}
        self._run: dict[Expr, dict[tuple[Module, int], int]] = {}
        self._too_many: dict[tuple[Module, int], bool] = {}
        self._by_name: dict[tuple[tuple[str, ...], Module], dict[int, list[tuple[Site, int]]]] = {}

    def callers(self, module: Module, function: int) -> list[tuple[Site, int]]:
        """Every call in the project that may run this function, with the positional arguments to skip."""
        return self.evaluator.ask(self._callers, (module.path, function), [], self._find_callers, module, function)

    def _find_callers(self, module: Module, function: int) -> list[tuple[Site, int]]:
        facts = module.model.functions[function]
        names = tuple(sorted(self._call_names(module, facts)))
        if facts.name == "__init__":
            return self._constructions(names, module, function)
        called = self.evaluator.ask(self._by_name, (names, module), {}, self._called_by, names, module)
        named = called.get(function, [])
        return [*named, *self._by_value(module, function, {id(site.expr) for site, _ in named})]

    def _by_value(self, module: Module, function: int, named: set[int]) -> Iterator[tuple[Site, int]]:
        """The calls of values that run a function, perhaps by a partial: `job = partial(make, 2); job()`."""
        for site in self.evaluator.carried.calls(module, function):
            if id(site.expr) not in named and self._may_mean(site, module):
                skip = self.evaluator.ask(self._run, site.expr, {}, self._find_run, site).get((module, function))
                if skip is not None:
                    yield site, skip

    def _find_run(self, site: Site) -> dict[tuple[Module, int], int]:
        """The functions that a call of a value may run, with the positional arguments to skip."""
        found: dict[tuple[Module, int], int] = {}
        for value, _ in self.evaluator.calls.runs(site.expr, self.evaluator.generic(site.module, site.function)):
            func = value.func if isinstance(value, Method) else value
            if isinstance(func, Func):
                found.setdefault((func.module, func.index), int(value is func and _takes_its_object(func.facts)))
        return found

    def _constructions(self, names: tuple[str, ...], module: Module, function: int) -> list[tuple[Site, int]]:
        found = []
        for site in self._making(names, module, module.model.functions[function].owner):
            called = self._called_at(site)
            skip = called.functions.get((module, function))
            if skip is None and called.classes:
                skip = self._constructs(called, module, function)
            if skip is not None:
                found.append((site, skip))
        return found

    def _making(self, names: tuple[str, ...], module: Module, owner: int) -> list[Site]:
        """The calls that may make or initialize an object of a class or of one derived from it, in their order."""
        own: dict[tuple[Module, int], list[Site]] = self.evaluator.ask(self._own, "", {}, self._find_own)
        sites = [site for site in (*self._makers[names], *self._made_elsewhere) if self._may_mean(site, module)]
        sites += own.get((module, owner), ())
        return sorted(sites, key=lambda site: (site.module.path, site.expr.start))

    def _find_own(self) -> dict[tuple[Module, int], list[Site]]:
        """The calls that make or initialize an object of the class whose method makes them, by each of its bases."""
        found: dict[tuple[Module, int], list[Site]] = defaultdict(list)
        for site in self.evaluator.index.calls_named(_MAKING):
            if _makes_its_own(site):
                klass = self.evaluator.klass(site.module, site.module.method_owner(site.function))
                for base in self.evaluator.classes.mro(klass):
                    found[base.module, base.index].append(site)
        return dict(found)

    def _find_makers(self, names: tuple[str, ...]) -> tuple[Site, ...]:
        """The calls of classes by these names, but for those of what a method has as its own object or class."""
        sites = self.evaluator.index.calls_named(set(names).difference(_MAKING))
        return tuple(site for site in sites if not _makes_its_own(site))

    @cached_property
    def _made_elsewhere(self) -> tuple[Site, ...]:
        sites = self.evaluator.index.calls_named(_MAKING)
        return tuple(site for site in sites if not _makes_its_own(site))

    def _called_by(self, names: tuple[str, ...], module: Module) -> dict[int, list[tuple[Site, int]]]:
        """The callers of a module's functions of a name: asking for those of one follows all calls of that name."""
        found: dict[int, list[tuple[Site, int]]] = {}
        for site in self._followed(names, module):
            for (owner, function), skip in self._called_at(site).functions.items():
                if owner is module:
                    found.setdefault(function, []).append((site, skip))
        return found

    def _followed(self, names: tuple[str, ...], module: Module) -> Iterator[Site]:
        """The calls of a name that may mean what a module has; of a name that too many have, those on known objects."""
        if not self._are_many(names, module):
            return self._named(names, module)
        return (site for site, plain in self._sites[names] if plain and self._may_mean(site, module))

    def _are_many(self, names: tuple[str, ...], module: Module) -> bool:
        """Whether so many calls of a name are on objects that would have to be found first that none is followed."""
        on_objects = (site for site, plain in self._sites[names] if not plain and self._may_mean(site, module))
        return len(list(islice(on_objects, MAX_ON_OBJECTS + 1))) > MAX_ON_OBJECTS

    def _find_sites(self, names: tuple[str, ...]) -> list[tuple[Site, bool]]:
        """The calls of something that has one of these names, and whether no object has to be found to follow them."""
        return [(site, _is_plain(site)) for site in self.evaluator.index.calls_named(names)]

    def too_many(self, module: Module, function: int) -> bool:
        """Whether more calls may mean a function than are followed."""
        if len(self.known(module, function)) > MAX_CALL_SITES:
            return True
        return self.evaluator.kept(self._too_many, (module, function), self._find_too_many, module, function)

    def _find_too_many(self, module: Module, function: int) -> bool:
        facts = module.model.functions[function]
        return facts.name != "__init__" and self._are_many(tuple(sorted(self._call_names(module, facts))), module)

    def is_called(self, module: Module, function: int) -> bool:
        """Whether the project calls a function, or calls so much of its name that some of it may be that."""
        return bool(self.callers(module, function)) or self.too_many(module, function)

    def is_returned(self, module: Module, function: int) -> bool:
        """Whether some `return` calls this function: asked where few calls of its name are returned."""
        facts = module.model.functions[function]
        named = self._named(tuple(sorted(self._call_names(module, facts))), module)
        returns = (site for site in named if site.event.kind == "return")
        return any(self._runs(site, module, facts) is not None for site in returns)

    def _named(self, names: tuple[str, ...], module: Module) -> Iterator[Site]:
        """The calls of something that has one of these names, where it may be something that a module has."""
        return (site for site, _ in self._sites[names] if self._may_mean(site, module))

    def _may_mean(self, site: Site, module: Module) -> bool:
        """Whether a call may run what a module has: in no other program, and of no object declared to be another."""
        if not self.evaluator.programs.share(site.module, module):
            return False
        callee = site.expr.args[0]
        if callee.kind != "attribute":
            return True
        if _is_receiver(callee.args[0], site):
            return self._may_be_own(callee.name, site, module)
        return not self.evaluator.annotations.excludes(callee.args[0], site.module, site.function, module)

    def _may_be_own(self, name: str, site: Site, module: Module) -> bool:
        """Whether what a method calls on its own object may be a module's: a method, or kept as an attribute."""
        owner = self.evaluator.klass(site.module, site.module.method_owner(site.function))
        family = self.evaluator.classes.family(owner)
        return any(
            item is module or name in item.attribute_writes or self._set_in_body[name, item, index]
            for item, index in family
        )

    def known(self, module: Module, function: int) -> list[tuple[Site, int]]:
        """The calls that say what a function may be given. What tests pass is said of the tests alone."""
        callers = self.callers(module, function)
        return callers if module.is_test else [item for item in callers if not item[0].module.is_test]

    def _call_names(self, module: Module, facts: Function) -> set[str]:
        if facts.kind == "lambda":
            return set()
        names = {facts.name} | self.evaluator.index.aliases.get(facts.name, set())
        if facts.name == "__init__" and facts.owner >= 0:
            klass = self.evaluator.klass(module, facts.owner)
            for item in (klass, *self.evaluator.classes.subclasses(klass)):
                names |= {item.facts.name, *self.evaluator.index.aliases.get(item.facts.name, ())}
            names.add("cls")
        return names

    def _runs(self, site: Site, module: Module, facts: Function) -> int | None:
        called = self._called_at(site)
        skip = called.functions.get((module, facts.index))
        return self._constructs(called, module, facts.index) if skip is None and facts.name == "__init__" else skip

    def _constructs(self, called: _Called, module: Module, function: int) -> int | None:
        """0 where a call of a class runs this `__init__`."""
        for klass in called.classes:
            init = self.evaluator.classes.method(klass, "__init__")
            if init is not None and init.func.module is module and init.func.index == function:
                return 0
        return None

    def _called_at(self, site: Site) -> _Called:
        """The functions that a call may run. Functions often share a name, and all of them request the same calls."""
        return self.evaluator.ask(self._called, site.expr, _NOTHING, self._find_called, site)

    def _find_called(self, site: Site) -> _Called:
        values = self.evaluator.calls.callees(site.expr, self.evaluator.generic(site.module, site.function))
        functions: dict[tuple[Module, int], int] = {}
        for value in values:
            func = value.func if isinstance(value, Method) else value
            if isinstance(func, Func):
                functions.setdefault((func.module, func.index), int(value is func and _takes_its_object(func.facts)))
        return _Called(functions, [value for value in values if isinstance(value, Klass)])


def _takes_its_object(facts: Function) -> bool:
    """Whether a method that is called on its class gets the object as the first argument."""
    return facts.owner >= 0 and not decorated(facts, "staticmethod") and not decorated(facts, "classmethod")


def _is_set_in_body(place: tuple[str, Module, int]) -> bool:
    """Whether a class keeps something under a name that it doesn't define there: name, file and class."""
    name, module, klass = place
    return any(
        bound.kind != "def" for bound in module.bindings[module.model.classes[klass].parent, klass].get(name, ())
    )


def _receiver(site: Site) -> str:
    """The name of the object or class whose method makes a call, "" where that name may mean something else."""
    name = site.module.receiver_name(site.function)
    method = site.module.method_of(site.function)
    bound = [*site.module.bindings[method, -1].get(name, ())]
    if site.function != method:
        bound += site.module.bindings[site.function, -1].get(name, ())
    return name if len(bound) == 1 else ""


def _is_receiver(expr: Expr, site: Site) -> bool:
    return expr.kind == "name" and expr.name == _receiver(site)


def _makes_its_own(site: Site) -> bool:
    """Whether a call makes or initializes an object of the class whose method makes it."""
    callee = site.expr.args[0]
    if callee.kind != "attribute":
        return _is_receiver(callee, site)
    base = callee.args[0]
    if callee.name != "__init__" or site.module.method_owner(site.function) < 0:
        return False
    return _is_receiver(base, site) or _is_super(base)


def _is_super(expr: Expr) -> bool:
    return expr.kind == "call" and expr.args[0].dotted == "super"


def _is_plain(site: Site) -> bool:
    """Whether what a call runs is named without an object that has to be found first."""
    callee = site.expr.args[0]
    if callee.kind != "attribute":
        return True
    base = callee.args[0]
    if base.kind != "name":
        return _is_super(base)
    if _is_receiver(base, site):
        return True
    scope = site.function
    while scope >= 0:
        bound = site.module.bindings[scope, -1].get(base.name, ())
        if bound:
            return len(bound) == 1 and _is_made(bound[0])
        scope = site.module.model.functions[scope].parent
    return True


def _is_made(bound: Binding) -> bool:
    """Whether a name is bound to what is imported or defined there, or to an object that is made there."""
    if bound.kind == "parameter":
        return False
    value = bound.event.value if bound.event is not None else None
    if bound.kind != "assign":
        return bound.event is None or value is None
    return value is not None and value.kind == "call" and value.args[0].kind == "name"
