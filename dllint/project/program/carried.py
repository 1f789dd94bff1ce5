"""Where functions go as values: which calls of a value may run them, as far as the text tells.

A function is called through a value where its reference is taken other than by a call: given a name, put into a
container, passed, returned, decorated, handed to `partial`. The reference is followed from place to place (a variable
of a scope, an attribute of any object) up to the calls of what is read there. What their callee really is, the
evaluator says; here nothing is evaluated, so that the answer depends on no question that was asked before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from dllint.model.facts import Class, Event, Expr, Function, ImportedName
from dllint.project.program.events import flat_targets
from dllint.project.program.index import Index
from dllint.project.program.module import MUTATORS, Module, Site
from dllint.project.program.on_demand import OnDemand

MAX_PLACES = 200
"""So many places of one reference are followed; what is carried to more of them isn't found this way."""
MAX_CALLS = 64
"""So many calls of values that may run one function are asked; of one with more, none is."""
MAX_NAMESAKES = 8
"""What is passed to a call is followed into the functions of its name, unless they are more than this."""
MAX_RETURNS = 3
"""Functions that return functions, one in the other."""

Place = tuple[str, int, str]
"""A variable: a file, the function that binds it (-1: the module), its name. Without a file: an attribute."""
_NOT_FOLLOWED = -2
"""In place of a function: what is passed to functions of a name, of which there are too many."""
_HANDING_ON = frozenset({
    "partial", "dict", "list", "tuple", "set", "OrderedDict", "zip", "enumerate", "iter", "next", "reversed", "sorted",
    "cast", "copy", "deepcopy", "getattr", "SimpleNamespace", "namedtuple", "staticmethod", "MappingProxyType",
})  # fmt: skip
"""Calls whose result has what they are given, or a part of it."""
_FIELDS = ("annotate", "assign")
"""What the body of a dataclass has for each field, with or without a default."""
_READING = frozenset({"get", "pop", "values", "items", "setdefault", "copy", "popitem"})
"""Methods of containers whose result is what they hold."""
_THROUGH = frozenset({"list", "tuple", "set", "dict", "star", "ifexp", "boolop", "await", "walrus", "subscript"})
"""Expressions whose value is, or has, one of their parts; of a subscript, what it is a part of."""


class _Read(NamedTuple):
    """Where a name or attribute is read: its expression, the scope and the scope of what its event binds."""

    site: Site
    binds: int
    """The function whose variables the event's targets are."""
    in_class: bool


class _Steps(NamedTuple):
    """Where a value goes from a place or an expression."""

    places: tuple[Place, ...]
    returned_by: tuple[tuple[Module, int], ...]
    """The functions that return it."""
    called: tuple[_Read, ...]
    """The calls of it."""


class Carried:
    """Follows references of functions and classes through a project's text."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._calls: dict[tuple[Module, int], tuple[tuple[Site, ...], str]] = {}
        self._reads = OnDemand(_find_reads)
        self._of_attribute = OnDemand(self._find_of_attribute)
        self._from_place = OnDemand(self._find_from_place)
        self._from_read = OnDemand(self._find_from_read)

    def calls(self, module: Module, function: int) -> tuple[Site, ...]:
        """The calls of something else than its name that may run a function; none where they are too many to ask."""
        return self._known(module, function)[0]

    def limit(self, module: Module, function: int) -> str:
        """Why it isn't known which calls of values may run a function: the limit that is met; "" for none."""
        return self._known(module, function)[1]

    def _known(self, module: Module, function: int) -> tuple[tuple[Site, ...], str]:
        known = self._calls.get((module, function))
        if known is None:
            known = self._calls[module, function] = self._find_calls(module, module.model.functions[function])
        return known

    def _find_calls(self, module: Module, facts: Function) -> tuple[tuple[Site, ...], str]:
        found, beyond = self._reached(self._references(module, facts))
        if found is None:
            return (), f"`{facts.name}` is carried to more than {MAX_PLACES} places, so its calls are not known"
        other = tuple(site for site in found if site.expr.args[0].name != facts.name or _decorates(site))
        if len(other) > MAX_CALLS:
            return (), f"more than {MAX_CALLS} calls of values may run `{facts.name}`, so they are not followed"
        return other, f"`{facts.name}` is {beyond[0]}, so not all of its calls are known" if beyond else ""

    def calls_of(self, name: str) -> Iterator[Site]:
        """The calls of something else that may run one of the functions of a name."""
        for module, facts, _ in self._named.get(name, ()):
            yield from self.calls(module, facts.index)

    def calls_of_classes(self, names: frozenset[str]) -> tuple[Site, ...]:
        """The calls of values that may make what is defined or imported under one of these names."""
        places = [
            *((module.path, item.function, item.bound) for module, item in self._imported if item.attribute in names),
            *((module.path, item.parent, item.name) for module, item in self._classes if item.name in names),
        ]
        reads = [read for name in sorted(names) for read in self._of_attribute[name] if _is_of_import(read)]
        begun = [*(_Steps((place,), (), ()) for place in places), *(self._from_read[read] for read in reads)]
        return tuple({site.expr: site for steps in begun for site in self._reached(steps)[0] or ()}.values())

    @property
    def _imported(self) -> Iterator[tuple[Module, ImportedName]]:
        return ((module, item) for module in self.index for item in module.model.imports)

    @property
    def _classes(self) -> Iterator[tuple[Module, Class]]:
        return ((module, item) for module in self.index for item in module.model.classes if item.owner < 0)

    def decoration(self, module: Module, function: int) -> Site | None:
        """The call that the decorators of a function stand for; None of one without decorators."""
        return self._reads[module].decorations.get(function)

    def _references(self, module: Module, facts: Function) -> _Steps:
        """Where the references of a function begin: its name, the lambda itself, what decorates it."""
        if facts.name.startswith("__") and facts.owner >= 0:
            return _Steps((), (), ())
        written = [self._from_read[read] for read in self._reads[module].of_function(facts.index)]
        places = {place for steps in written for place in steps.places}
        if facts.kind == "def":
            places.add(self._own_place(module, facts))
        returned = tuple(item for steps in written for item in steps.returned_by)
        return _Steps(tuple(sorted(places)), returned, tuple(read for steps in written for read in steps.called))

    def _own_place(self, module: Module, facts: Function) -> Place:
        return ("", -1, facts.name) if facts.owner >= 0 else (module.path, facts.parent, facts.name)

    def _reached(self, start: _Steps) -> tuple[tuple[Site, ...] | None, list[str]]:
        """The calls of what begins at a place, each once, None for too many places; and where it isn't followed.

        What a function returns is what its calls give.
        """
        beyond: set[str] = set()
        seen: set[tuple[Place | _Read, int]] = set()
        found: dict[int, Site] = {}
        waiting = [(start, 0)]
        while waiting:
            steps, returns = waiting.pop()
            more: list[tuple[Place | _Read, int]] = [(place, returns) for place in steps.places]
            if steps.returned_by and returns == MAX_RETURNS:
                beyond.add(f"returned by more than {MAX_RETURNS} functions that return functions")
            for module, function in steps.returned_by if returns < MAX_RETURNS else ():
                begun = self._references(module, module.model.functions[function])
                more += [(place, returns + 1) for place in begun.places]
                more += [(read, returns) for read in begun.called]
            for read in steps.called:
                if not returns:
                    found[id(read.site.expr)] = read.site
                else:
                    more.append((read, returns - 1))
            for item in more:
                if item not in seen:
                    seen.add(item)
                    place = item[0]
                    if not isinstance(place, _Read) and place[1] == _NOT_FOLLOWED:
                        beyond.add(f"passed to `{place[2]}`, a name that more than {MAX_NAMESAKES} functions have")
                        continue
                    step = self._from_read[place] if isinstance(place, _Read) else self._from_place[place]
                    waiting.append((step, item[1]))
            if len(seen) > MAX_PLACES:
                return None, []
        sites = sorted(found.values(), key=lambda site: (site.module.path, site.expr.start, site.expr.end))
        return tuple(sites), sorted(beyond)

    def _find_from_place(self, place: Place) -> _Steps:
        path, function, name = place
        if not path:
            reads = self._of_attribute[name]
            return _joined([self._from_read[read] for read in reads])
        module = self.index.modules[path]
        reads = [
            read for read in self._reads[module].of_name(name) if _binding(module, read.site.function, name) == function
        ]
        if function < 0:
            reads += [read for read in self._of_attribute[name] if _is_of_import(read)]
        steps = [self._from_read[read] for read in reads]
        if function < 0:
            steps.append(_Steps(tuple(self._handed_on(module, name)), (), ()))
        return _joined(steps)

    def _handed_on(self, module: Module, name: str) -> Iterator[Place]:
        """The names under which other files import a module's name."""
        for user, item in self.index.import_statements.get(module.path, ()):
            if item.attribute == name:
                yield user.path, item.function, item.bound
            elif item.attribute == "*" and name not in user.model.bound:
                yield user.path, -1, name

    @cached_property
    def _with_attribute(self) -> dict[str, list[Module]]:
        """The files that read an attribute of a name."""
        found: dict[str, list[Module]] = defaultdict(list)
        for module in self.index:
            for name in module.attributes:
                found[name].append(module)
        return found

    def _find_of_attribute(self, name: str) -> list[_Read]:
        return [
            read for module in self._with_attribute.get(name, ()) for read in self._reads[module].of_attribute(name)
        ]

    def _find_from_read(self, read: _Read) -> _Steps:
        """Where a value that is read goes from there."""
        places: list[Place] = []
        module, function, event, expr = read.site.module, read.site.function, read.site.event, read.site.expr
        parents = _parents(event)
        while (parent := parents.get(id(expr))) is not None:
            if parent.kind == "call" and parent.args[0] is expr:
                return _Steps(tuple(places), (), (read._replace(site=Site(module, function, event, parent)),))
            if parent.kind == "call":
                places += self._passed(module, parent, expr)
                callee = parent.args[0]
                if callee.kind == "attribute" and callee.name in MUTATORS:
                    places += _target(module, read, callee.args[0])
                made = Site(module, function, event, parent)
                if callee.name not in _HANDING_ON and not _decorates(made):
                    return _Steps(tuple(places), (), ())
            elif parent.kind == "attribute":
                call = parents.get(id(parent))
                reads = parent.name in _READING and call is not None and call.kind == "call" and call.args[0] is parent
                if not reads or call is None:
                    return _Steps(tuple(places), (), ())
                parent = call
            elif parent.kind == "comprehension":
                if not any(item is expr for item in parent.args):
                    over = zip(parent.keywords, parent.keywords[1:], strict=False)
                    targets = (target for (_, target), (_, iterable) in over if iterable is expr)
                    for target in targets:
                        places += [place for item in flat_targets(target) for place in _target(module, read, item)]
                    return _Steps(tuple(places), (), ())
            elif parent.kind in ("yield", "yieldfrom"):
                return _Steps(tuple(places), ((module, function),), ())
            elif parent.kind not in _THROUGH or (parent.kind == "subscript" and parent.args[0] is not expr):
                return _Steps(tuple(places), (), ())
            elif parent.kind == "walrus":
                places.append((module.path, _binding(module, function, parent.name), parent.name))
            expr = parent
        if event.kind == "return":
            return _Steps(tuple(places), ((module, function),), ())
        if event.target is not None and event.kind != "del":
            places += [place for item in flat_targets(event.target) for place in _target(module, read, item)]
        return _Steps(tuple(places), (), ())

    def _passed(self, module: Module, call: Expr, given: Expr) -> Iterator[Place]:
        """The parameters that an argument fills, of the functions that have the name of what is called."""
        callee = call.args[0]
        named = self._meant(module, callee)
        if len(named) > MAX_NAMESAKES:
            yield "", _NOT_FOLLOWED, callee.name
            return
        position = next((number for number, item in enumerate(call.args[1:]) if item is given), None)
        keyword = next((key for key, item in call.keywords if item is given), "")
        for fields in self._fields.get(callee.name, ()):
            yield from (
                ("", -1, name) for name in (fields[position : position + 1] if position is not None else [keyword])
            )
        for target, facts, bound in named:
            for parameter in _filled(facts, position, keyword, bound, given.kind == "star"):
                yield target.path, facts.index, parameter

    def _meant(self, module: Module, callee: Expr) -> list[tuple[Module, Function, int]]:
        if callee.kind == "call":  # what a function returns: one that is defined in it
            makers = {(target, facts.index) for target, facts, _ in self._meant(module, callee.args[0])}
            return [
                (target, facts, 0)
                for target in dict.fromkeys(target for target, _ in makers)
                for facts in target.model.functions
                if (target, facts.parent) in makers and facts.owner < 0
            ]
        named = self._named.get(callee.name, []) if callee.kind in ("name", "attribute") else []
        if callee.kind == "attribute":
            return named
        bound = {item.bound for item in module.model.imports}
        seen = [item for item in named if item[0] is module or callee.name in bound or "*" in bound]
        return seen or [item for name in _imported_as(module, callee.name) for item in self._named.get(name, ())]

    @cached_property
    def _fields(self) -> dict[str, list[list[str]]]:
        """What the bodies of classes without an `__init__` annotate, by the names of the classes, as dataclasses do."""
        found: dict[str, list[list[str]]] = defaultdict(list)
        for module in self.index:
            for klass in module.model.classes:
                named = [
                    event.target.name for event in klass.events if event.kind in _FIELDS and event.target is not None
                ]
                if named and "__init__" not in klass.methods:
                    found[klass.name].append(named)
        return dict(found)

    @cached_property
    def _named(self) -> dict[str, list[tuple[Module, Function, int]]]:
        """The functions that a call of a name may run, with the number of parameters that it doesn't fill."""
        found: dict[str, list[tuple[Module, Function, int]]] = defaultdict(list)
        for module in self.index:
            for facts in module.model.functions:
                static = facts.owner < 0 or any(item.name == "staticmethod" for item in facts.decorators)
                found[known_as(module, facts)].append((module, facts, 0 if static else 1))
            for klass in module.model.classes:
                if "__init__" in klass.methods:
                    found[klass.name].append((module, module.model.functions[klass.methods["__init__"]], 1))
        return dict(found)


def known_as(module: Module, facts: Function) -> str:
    """The name of a function, and of a lambda one that nothing else has."""
    return facts.name if facts.kind == "def" else f"{facts.name} {facts.index} {module.path}"


class _Reader(NamedTuple):
    """An event of a module that reads something. Few of the names that it reads are ever asked for."""

    module: Module
    function: int
    binds: int
    event: Event
    in_class: bool

    def reads(self, kind: str, name: str | int) -> Iterator[_Read]:
        """Where it reads a name, an attribute or a function."""
        assert self.event.value is not None
        for part in self.event.value.walk():
            if part.kind == kind and name == (part.ref if kind == "lambda" else part.name):
                yield _Read(Site(self.module, self.function, self.event, part), self.binds, self.in_class)


class _Reads(NamedTuple):
    """What the code of a module reads: names, attributes, and functions where they are written or decorated."""

    names: dict[str, list[_Reader]]
    attributes: dict[str, list[_Reader]]
    functions: dict[int, list[_Reader]]
    decorations: dict[int, Site]

    def of_name(self, name: str) -> Iterator[_Read]:
        return (read for reader in self.names.get(name, ()) for read in reader.reads("name", name))

    def of_attribute(self, name: str) -> Iterator[_Read]:
        return (read for reader in self.attributes.get(name, ()) for read in reader.reads("attribute", name))

    def of_function(self, function: int) -> Iterator[_Read]:
        return (read for reader in self.functions.get(function, ()) for read in reader.reads("lambda", function))


def _find_reads(module: Module) -> _Reads:
    found = _Reads(defaultdict(list), defaultdict(list), defaultdict(list), {})
    for function, klass, events in module.scopes:
        for event in events:
            if event.value is not None:
                _read(found, _Reader(module, function, function, event, klass >= 0))
    for facts in module.model.functions:
        for parameter in facts.parameters:
            if parameter.default is not None:
                target = Expr("name", facts.header.start, facts.header.end, parameter.name)
                event = Event("assign", facts.header.start, facts.header.end, facts.block, target, parameter.default)
                _read(found, _Reader(module, facts.parent, facts.index, event, False))
        if facts.decorators and facts.owner < 0:
            found.decorations[facts.index] = site = _decoration(module, facts)
            _read(found, _Reader(module, facts.parent, facts.parent, site.event, False))
    return found


def _decoration(module: Module, facts: Function) -> Site:
    """`f = outer(inner(f))`: what decorators stand for, with the function itself in the place of a lambda."""
    made = Expr("lambda", facts.header.start, facts.header.end, ref=facts.index)
    for decorator in reversed(facts.decorators):
        made = Expr("call", decorator.start, decorator.end, args=(decorator, made))
    target = Expr("name", facts.header.start, facts.header.end, facts.name)
    return Site(module, facts.parent, Event("assign", made.start, made.end, facts.block, target, made), made)


def _decorates(site: Site) -> bool:
    """Whether a call is what a decorator stands for: the code doesn't have it."""
    functions = site.module.model.functions
    return any(item.kind == "lambda" and functions[item.ref].kind == "def" for item in site.expr.walk())


def _read(found: _Reads, reader: _Reader) -> None:
    assert reader.event.value is not None
    for part in reader.event.value.walk():
        if part.kind == "name":
            readers = found.names[part.name]
        elif part.kind == "attribute":
            readers = found.attributes[part.name]
        elif part.kind == "lambda":
            readers = found.functions[part.ref]
        else:
            continue
        if not readers or readers[-1] is not reader:
            readers.append(reader)


def _parents(event: Event) -> dict[int, Expr]:
    """What each part of an event's value is a part of."""
    found: dict[int, Expr] = {}
    assert event.value is not None
    for part in event.value.walk():
        for inner in part.args:
            found[id(inner)] = part
        for _, inner in part.keywords:
            found[id(inner)] = part
    return found


def _target(module: Module, read: _Read, target: Expr) -> Iterator[Place]:
    """The place that an assignment fills, or whose container it fills."""
    while target.kind == "subscript":
        target = target.args[0]
    if target.kind == "attribute" or (target.kind == "name" and read.in_class):
        yield "", -1, target.name
    elif target.kind == "name":
        yield module.path, _binding(module, read.binds, target.name), target.name


def _binding(module: Module, function: int, name: str) -> int:
    """The function that binds a name where it stands; -1: the module, or something else."""
    while function >= 0:
        facts = module.model.functions[function]
        if name in facts.globals:
            return -1
        if name in facts.bound and name not in facts.nonlocals:
            return function
        function = facts.parent
    return -1


def _filled(facts: Function, position: int | None, keyword: str, bound: int, star: bool) -> Iterator[str]:
    """The parameters of a function that an argument fills."""
    place = None if position is None else position + bound
    for number, parameter in enumerate(facts.parameters):
        positional = parameter.kind in ("positional", "posonly")
        if keyword == "**":
            if number >= bound:
                yield parameter.name
        elif keyword:
            if parameter.name == keyword or (parameter.kind == "kwargs" and not _has(facts, keyword)):
                yield parameter.name
        elif place is not None:
            if (number == place or (star and number > place)) if positional else parameter.kind == "args":
                yield parameter.name


def _is_of_import(read: _Read) -> bool:
    """Whether an attribute is of something that its file imports."""
    first = read.site.expr.dotted.partition(".")[0]
    return any(first == item.bound for item in read.site.module.model.imports)


def _has(facts: Function, name: str) -> bool:
    return any(item.name == name for item in facts.parameters)


def _imported_as(module: Module, name: str) -> set[str]:
    return {item.attribute for item in module.model.imports if item.bound == name and item.attribute}


def _joined(steps: list[_Steps]) -> _Steps:
    return _Steps(
        tuple(dict.fromkeys(place for item in steps for place in item.places)),
        tuple(dict.fromkeys(function for item in steps for function in item.returned_by)),
        tuple(dict.fromkeys(read for item in steps for read in item.called)),
    )
