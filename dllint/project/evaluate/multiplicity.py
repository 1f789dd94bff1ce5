"""How many activations and objects the program's text makes of each function and class, as far as names tell.

The text decides what is told apart, never what has been asked before: an unrelated file changes nothing.

No counter runs over the questions that were asked. Of what is called by other names, as properties, callbacks and the
methods of operators are, one call counts. Objects multiply contexts, as receivers of callers and of the function
itself. So where one call counts, nothing is known of the caller of a known object's method but where the call stands,
and that it runs on the same object where it does. More calls in a row count only while they come to `MAX_OBJECTS` at
most, taken for each place where such an object is made, and for each object of a method that calls another one. Of the
maker of an object that isn't told apart by it, nothing is known but the place. A method with too many calls is told
apart by its object alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice

from dllint.model.facts import Expr, Function
from dllint.project.evaluate.operators import OPERATOR_METHODS
from dllint.project.program.carried import Carried, known_as
from dllint.project.program.index import Index
from dllint.project.program.module import Module, Site
from dllint.project.program.on_demand import OnDemand

MAX_LEVELS = 5
"""Calls in a row that are told apart by their callers."""
MAX_CONTEXTS = 64
"""So many contexts of one function are told apart: one more level of callers counts only as long as the calls that have
the function's name come to no more."""
MAX_OWNERS = 3
"""Objects that make objects that make objects: so many are told apart."""
MAX_OBJECTS = 150
"""So many objects of one class are told apart, and so many contexts of a method, taken for each place where an object
is made: one more level counts only while the text has no more of them."""
MAX_CALLS = 64
"""A function that more calls may mean is not told apart by its calls either."""

_OWN_CLASS = ("cls", "__class__")
"""Names by which a class method and a method make objects of the class they were called on."""


class Multiplicity:
    """Counts by names; each count stops where it exceeds its limit."""

    def __init__(self, index: Index, carried: Carried) -> None:
        self.index = index
        self.carried = carried
        self._sites = OnDemand(self._find_sites)
        self._foreign = OnDemand(self._is_foreign)
        self._owners_of: dict[str, int] = {}
        self._made: dict[tuple[str, int], int] = {}
        self._levels: dict[tuple[str, int, bool], int] = {}
        self._levels_of: dict[tuple[str, int], int] = {}
        self._objects_of: dict[tuple[str, int], int] = {}
        self._contexts_of: dict[tuple[str, int, bool], int] = {}
        self._many_calls: dict[tuple[str, int], bool] = {}
        self._families: dict[str, tuple[str, ...]] = {}

    def levels(self, module: Module, function: int, of_object: bool) -> int:
        """How many calls in a row are told apart on the way to a function, or to a method of a known object.

        With none, the method is told apart by the object alone, and any other function by its call. A property, a
        callback or the method of an operator is called by other names, so that the text doesn't say how often: it has
        one.
        """
        asked = module.path, function, of_object
        if asked not in self._levels:
            name = called_as(module, function)
            owner = module.model.functions[function].owner
            objects = self._objects(module.model.classes[owner].name, 0) if of_object and owner >= 0 else 1
            key = name, objects
            if key not in self._levels_of:
                self._levels_of[key] = self._find_levels(name, objects)
            self._levels[asked] = self._levels_of[key]
        return self._levels[asked]

    def _find_levels(self, name: str, objects: int) -> int:
        first = self._contexts(name, 1)
        known = 1 if first <= MAX_CONTEXTS else 0
        while first and name not in OPERATOR_METHODS and 0 < known < MAX_LEVELS:
            if self._contexts(name, known + 1) > MAX_CONTEXTS:
                break
            if self._contexts(name, known + 1, with_objects=True) * objects > MAX_OBJECTS:
                break
            known += 1
        return known

    def has_many_callers(self, module: Module, function: int) -> bool:
        """Whether too many objects have the methods that call a function."""
        return self._contexts(called_as(module, function), 1, with_objects=True) > MAX_OBJECTS

    def owners(self, name: str) -> int:
        """How many of the objects that make one another are told apart on the way to an object of a class."""
        known = self._owners_of.get(name)
        if known is None:
            known = 0
            while known < MAX_OWNERS and self._made_of(name, known + 1) <= MAX_OBJECTS:
                known += 1
            self._owners_of[name] = known
        return known

    def forgets_calls(self, module: Module, function: int, of_object: bool) -> bool:
        """Whether a function isn't told apart by its calls, so that nothing is known of what they pass."""
        return self.levels(module, function, of_object) == 0 and self._has_many_calls(module, function)

    def _has_many_calls(self, module: Module, function: int) -> bool:
        """Whether too many calls may mean a function: of its name, where that may be the function's."""
        key = module.path, function
        if key not in self._many_calls:
            name = called_as(module, function)
            facts = module.model.functions[function]
            of_module = facts.owner < 0 and facts.parent < 0
            sites = (site for site in self.index.calls_named((name,)) if _may_mean(site, module, name, of_module))
            self._many_calls[key] = len(list(islice(sites, MAX_CALLS + 1))) > MAX_CALLS
        return self._many_calls[key]

    def _objects(self, name: str, owners: int) -> int:
        """How many objects have the methods of a class, when so many of their owners count."""
        key = name, owners
        if key not in self._objects_of:
            made = (self._made_of(each, owners) for each in self._family(name))
            self._objects_of[key] = _limited(made, MAX_OBJECTS)
        return self._objects_of[key]

    def _made_of(self, name: str, owners: int) -> int:
        """How many objects of a class itself are made, when so many of their owners count."""
        key = name, owners
        if key not in self._made:
            own = (site for base in _closure(name, self._bases) for site in self._own_makers.get(base, ()))
            makers = (self._makers(site, owners) for site in (*self.index.calls_named((name,)), *own))
            self._made[key] = max(1, _limited(makers, MAX_OBJECTS))
        return self._made[key]

    def _makers(self, site: Site, owners: int) -> int:
        """In how many activations a call stands: those of a method count for each of its objects."""
        functions, function = site.module.model.functions, site.function
        while function >= 0 and functions[function].owner < 0:
            function = functions[function].parent
        if function < 0 or not owners:
            return 1
        owner = site.module.model.classes[functions[function].owner].name
        calls = 1 if functions[function].name == "__init__" else max(1, self._contexts(functions[function].name, 1))
        return calls * self._objects(owner, owners - 1)

    def _contexts(self, name: str, levels: int, with_objects: bool = False) -> int:
        """In how many contexts functions of a name are called, when so many calls count.

        A method that calls another object's function does so for each object of its own, if those count, too.
        """
        key = name, levels, with_objects
        if key not in self._contexts_of:
            found = (self._calling(site, levels - 1, with_objects) for site in self._sites[name])
            self._contexts_of[key] = _limited(found, MAX_OBJECTS if with_objects else MAX_CONTEXTS)
        return self._contexts_of[key]

    def _find_sites(self, name: str) -> tuple[Site, ...]:
        """The calls of a name; of functions that no call has the name of, those of what they are carried to.

        What has the name in another package is none of them: `F.one_hot(labels)`.
        """
        own = (site for site in self.index.calls_named((name,)) if not self._foreign[site.module, _root(site)])
        return (*own,) or (*self.carried.calls_of(name),)

    def _is_foreign(self, named: tuple[Module, str]) -> bool:
        """Whether a name of a module is only ever what it imports from other packages."""
        module, name = named
        bindings = module.bindings[-1, -1].get(name, ())
        imported = [item.imported for item in bindings if item.imported is not None]
        return (
            0 < len(bindings) == len(imported)
            and not any(item.level or self.index.targets(module, item) for item in imported)
            and not any(name in facts.bound for facts in module.model.functions)
        )

    def _calling(self, site: Site, levels: int, with_objects: bool) -> int:
        """In how many contexts a call stands, when so many callers of the code around it count."""
        if site.function < 0 or not (levels or with_objects):
            return 1
        found = max(1, self._contexts(called_as(site.module, site.function), levels, with_objects)) if levels else 1
        facts = site.module.model.functions[site.function]
        if not with_objects or facts.owner < 0 or _is_own(site.expr.args[0], facts):
            return found
        return found * self._objects(site.module.model.classes[facts.owner].name, 0)

    def _family(self, name: str) -> tuple[str, ...]:
        """A class and all that derive from it, by their names."""
        if name not in self._families:
            self._families[name] = _closure(name, self._derived)
        return self._families[name]

    @cached_property
    def _bases(self) -> Mapping[str, list[str]]:
        """The last names of the bases of the classes of each name."""
        found: dict[str, list[str]] = defaultdict(list)
        for module in self.index:
            for facts in module.model.classes:
                found[facts.name] += [base.name for base in facts.bases if base.name]
        return dict(found)

    @cached_property
    def _derived(self) -> Mapping[str, list[str]]:
        """The classes that name each class as a base, by their names."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, bases in self._bases.items():
            for base in bases:
                found[base].append(name)
        return dict(found)

    @cached_property
    def _own_makers(self) -> Mapping[str, list[Site]]:
        """The calls in methods of each class that make an object of whatever class it was called on: `cls(...)`."""
        found: dict[str, list[Site]] = defaultdict(list)
        for site in self.index.calls_named(_OWN_CLASS):
            owner = site.module.model.functions[site.function].owner if site.function >= 0 else -1
            if owner >= 0:
                found[site.module.model.classes[owner].name].append(site)
        return dict(found)


def called_as(module: Module, function: int) -> str:
    """The name under which a function is called: for an `__init__`, its class's."""
    facts = module.model.functions[function]
    return (
        module.model.classes[facts.owner].name
        if facts.name == "__init__" and facts.owner >= 0
        else known_as(module, facts)
    )


def _root(site: Site) -> str:
    """The name that the callee of a call begins with, if it is a chain of attributes."""
    return site.expr.args[0].dotted.partition(".")[0]


def _limited(counts: Iterable[int], limit: int) -> int:
    """The sum; one more than the limit, if it exceeds that."""
    found = 0
    for count in counts:
        found += count
        if found > limit:
            return limit + 1
    return found


def _closure(name: str, edges: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """A name and all that it leads to."""
    found = {name: None}
    stack = [name]
    while stack:
        for other in edges.get(stack.pop(), ()):
            if other not in found:
                found[other] = None
                stack.append(other)
    return tuple(found)


def _is_own(callee: Expr, facts: Function) -> bool:
    """Whether a method calls one of its own object: `self.step`."""
    if callee.kind != "attribute" or not facts.parameters:
        return False
    return callee.args[0].kind == "name" and callee.args[0].name == facts.parameters[0].name


def _may_mean(site: Site, module: Module, name: str, of_module: bool) -> bool:
    """Whether a call may mean what a module defines, as far as imports tell.

    A plain name is defined there or imported. What comes from a module `of_module` level is no method: `model.train()`
    calls it where `model` is imported.
    """
    callee, imports = site.expr.args[0], site.module.model.imports
    if callee.kind == "attribute" and of_module:
        root = _root(site)
        return not root or any(root in (item.bound, item.bound.partition(".")[0]) for item in imports)
    if callee.kind != "name" or site.module is module:
        return True
    return any(name in (item.attribute, item.bound) or item.attribute == "*" for item in imports)
