"""One module of a project, with the indexes that questions need."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from dllint.model.facts import Block, Event, Expr, Function, ImportedName, ModuleModel
from dllint.project.program.call_index import Call, Clause, Walked, walked
from dllint.project.program.events import event_names, flat_targets, holds_from, leaves, written_by_name
from dllint.project.program.on_demand import OnDemand
from dllint.project.program.roles import is_named_test, is_test
from dllint.project.program.uses import Uses, uses_of
from dllint.source import Span, is_notebook, is_settings


class Site(msgspec.Struct, frozen=True):
    """An expression where it stands: its module, the function whose code it is (-1: the module's), its event."""

    module: Module
    function: int
    event: Event
    expr: Expr


class Binding(msgspec.Struct, frozen=True, gc=False):
    """One way a name gets a value; kind as in Event, or parameter. It holds from offset `start` on."""

    kind: str
    start: int
    block: int
    event: Event | None
    imported: ImportedName | None = None


class Write(NamedTuple):
    """`base.attribute = value`, in a function or at module level (-1)."""

    function: int
    event: Event
    target: Expr


class Mutation(NamedTuple):
    """A change of a container: `receiver.append(...)`, with the call, or `receiver[k] = v`, with the target."""

    event: Event
    receiver: Expr
    what: Expr


_TARGETED = frozenset({"assign", "augment", "for", "with", "annotate", "del"})
TESTED = frozenset({"if", "case", "while"})
"""Blocks that run where their test holds."""
JUMPS = frozenset({"break", "continue"})
MUTATORS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft", "__setitem__"})


class Module:
    """A ModuleModel with the indexes that questions need, made on first use."""

    def __init__(self, model: ModuleModel) -> None:
        self.model = model
        self.path = model.path
        self.notebook = is_notebook(model.path)
        """Whether this is a notebook: it is never imported, and spawned workers have nothing of it."""
        self.settings = is_settings(model.path)
        """Whether these are settings: what they name is made by the code that reads them."""
        self.bindings = OnDemand(self._bindings)
        """(function, class) of a scope to its names' bindings, in source order."""
        self.mutations = OnDemand(self._mutations)
        """Every `x.append(...)`-like call and `x[k] = v` of a function."""
        self.leaving = OnDemand(self._leaving)
        """The branches of a function that end with `return`, `raise`, `exit()`, `continue` or `break`."""
        self.ending = OnDemand(self._ending)
        """The statements of a function that may end it, or an iteration: these, and each `assert`."""
        self.ended = OnDemand(self._ended)
        """Where the blocks of a function end before their last line: nothing runs below a `return`."""
        self.tested = OnDemand(self._tested)
        """The last names that the tests of a function speak of, and those of what it assigns to these."""
        self.means: OnDemand[int, dict[Expr, Any]] = OnDemand(lambda function: {})
        """The meanings of names wherever a function runs, as the evaluator finds them (`values.Meaning`)."""
        self.uses: OnDemand[int, Uses] = OnDemand(lambda function: uses_of(self, function))
        """What a function does with containers."""
        self.tests_around = OnDemand(self._tests_around)
        """The tests of the branches around a block, the block's own first, each with whether it must hold there."""
        self._receiver_names = OnDemand(self._receiver_name)
        self._order = OnDemand(self._ordered)

    def __repr__(self) -> str:
        return f"Module({self.path!r})"

    def function_at(self, index: int) -> Function | None:
        return None if index < 0 else self.model.functions[index]

    def inside(self, function: int) -> list[Function]:
        """A function, and those that are defined in it."""
        span = self.model.functions[function].span
        return [item for item in self.model.functions if span.start <= item.span.start and item.span.end <= span.end]

    def events(self, function: int) -> tuple[Event, ...]:
        """The events of a function, or of the module's own code (-1)."""
        return self.model.events if function < 0 else self.model.functions[function].events

    @cached_property
    def is_test(self) -> bool:
        """Whether it is a test: not a script that tests a model, whose name may say `test_` as well."""
        if not is_test(self.model.path) or not is_named_test(self.model.path):
            return is_test(self.model.path)
        return self.has_tests and not {"ArgumentParser", "parse_args"} & self.calls.keys()

    @cached_property
    def has_tests(self) -> bool:
        """Whether something in it is called like what test runners run."""
        functions = [item.name for item in self.model.functions if item.parent < 0 and item.owner < 0]
        names = functions + [item.name.lower() for item in self.model.classes]
        return any(name.startswith("test") for name in names)

    @cached_property
    def scopes(self) -> list[tuple[int, int, tuple[Event, ...]]]:
        """(function, class or -1, events) of every scope: the module, its functions, its class bodies."""
        found = [(-1, -1, self.model.events)]
        found += [(function.index, -1, function.events) for function in self.model.functions]
        found += [(item.parent, item.index, item.events) for item in self.model.classes]
        return found

    @cached_property
    def _walked(self) -> Walked:
        return walked(self.scopes, self.model.functions)

    @cached_property
    def calls(self) -> dict[str, list[Call]]:
        """Every call, under the last name of its callee."""
        return self._walked.calls

    @cached_property
    def comprehensions(self) -> dict[int, list[Clause]]:
        """Every clause of a comprehension, by the function around it; -1: the module."""
        return self._walked.comprehensions

    @property
    def choices(self) -> dict[int, list[Expr]]:
        """Every `a if test else b`, `test and a` and `[a for b in c if test]`, by the function; -1: the module."""
        return self._walked.choices

    def _bindings(self, scope: tuple[int, int]) -> dict[str, list[Binding]]:
        function, klass = scope
        facts = self.function_at(function)
        names: dict[str, list[Binding]] = defaultdict(list)
        if facts is not None and klass < 0:
            for parameter in facts.parameters:
                names[parameter.name].append(Binding("parameter", facts.span.start - 1, -1, None))
        imports = self._imports.get(function, {}) if klass < 0 else {}
        for event in self.events(function) if klass < 0 else self.model.classes[klass].events:
            for name in event_names(event):
                imported = imports.get((name, event.start)) if event.kind == "import" else None
                names[name].append(Binding(event.kind, holds_from(event), event.block, event, imported))
        return dict(names)

    @cached_property
    def _imports(self) -> dict[int, dict[tuple[str, int], ImportedName]]:
        """The bindings of the import statements of each function, by name and place."""
        found: dict[int, dict[tuple[str, int], ImportedName]] = defaultdict(dict)
        for imported in self.model.imports:
            found[imported.function][imported.bound, imported.span.start] = imported
        return dict(found)

    @cached_property
    def writers_of_globals(self) -> dict[str, list[tuple[int, Event]]]:
        """Names that functions assign under `global`, with the function and event."""
        found: dict[str, list[tuple[int, Event]]] = defaultdict(list)
        for function in self.model.functions:
            for event in function.events if function.globals else ():
                for name in event_names(event):
                    if name in function.globals:
                        found[name].append((function.index, event))
        return found

    @cached_property
    def star_imports(self) -> list[ImportedName]:
        """`from module import *`"""
        return [imported for imported in self.model.imports if imported.bound == "*"]

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names of the functions that it defines, methods aside, and of what it imports."""
        functions = [item.name for item in self.model.functions if item.kind == "def" and item.owner < 0]
        return frozenset(functions).union(imported.bound for imported in self.model.imports)

    @cached_property
    def nesting(self) -> frozenset[int]:
        """The functions in which other functions, lambdas or classes stand."""
        model = self.model
        return frozenset(item.parent for item in model.functions) | {item.parent for item in model.classes}

    @cached_property
    def negative_tests(self) -> list[int]:
        """The blocks, in no other block of their scope, whose test is a `!=` or a `not`."""
        outer = ((index, block.test) for index, block in enumerate(self.model.blocks) if block.parent < 0)
        return [index for index, test in outer if test is not None and test.name in ("!=", "not")]

    @cached_property
    def nonlocal_writers(self) -> dict[tuple[int, str], list[int]]:
        """The functions that assign a name under `nonlocal`, by the function around them and the name."""
        found: dict[tuple[int, str], list[int]] = defaultdict(list)
        for function in self.model.functions:
            for name in function.nonlocals:
                found[function.parent, name].append(function.index)
        return dict(found)

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names of all attributes that its code reads or writes."""
        events = (event for _, _, events in self.scopes for event in events)
        return frozenset(part.name for event in events for part in event.walk() if part.kind == "attribute")

    def write_at(self, name: str, target: Span) -> Write | None:
        """The assignment of an attribute whose target is at a span."""
        return next((write for write in self.attribute_writes.get(name, ()) if write.target.span == target), None)

    @cached_property
    def attribute_writes(self) -> dict[str, list[Write]]:
        """Every `base.attribute = value`, under the attribute's name; `del base.attribute` is one without a value."""
        found: dict[str, list[Write]] = defaultdict(list)
        for function, _, events in self.scopes:
            for event in events:
                target = event.target
                if target is not None and target.args and event.kind in _TARGETED:
                    for part in flat_targets(target):
                        if part.kind == "attribute":
                            found[part.name].append(Write(function, event, part))
                if event.kind != "expr" and (target is None or target.kind != "subscript"):
                    continue
                for name, base, at, value in written_by_name(event):
                    part = Expr("attribute", at.start, at.end, name, (base,))
                    made = Event("assign", event.start, event.end, event.block, part, value)
                    found[name].append(Write(function, made, part))
        return found

    @cached_property
    def writes_on_others(self) -> dict[str, list[Write]]:
        """Every `name.attribute = value` on another object than the receiver, under the attribute's name."""
        found: dict[str, list[Write]] = {}
        for attribute, writes in self.attribute_writes.items():
            names = [(write, write.target.args[0]) for write in writes if write.target.args[0].kind == "name"]
            others = [write for write, base in names if base.name != self.receiver_name(write.function)]
            if others:
                found[attribute] = others
        return found

    @cached_property
    def self_writes(self) -> dict[int, dict[str, list[Write]]]:
        """For each class, the attributes that its own methods set on their first parameter."""
        found: dict[int, dict[str, list[Write]]] = defaultdict(lambda: defaultdict(list))
        for attribute, writes in self.attribute_writes.items():
            for write in writes:
                owner = self.method_owner(write.function)
                if owner >= 0 and write.target.args[0].name == self.receiver_name(write.function):
                    found[owner][attribute].append(write)
        return found

    @cached_property
    def writers(self) -> dict[tuple[int, str], dict[int, list[Write]]]:
        """For each class and attribute, the methods that set it on their first parameter, each with what it writes."""
        found: dict[tuple[int, str], dict[int, list[Write]]] = defaultdict(dict)
        for owner, attributes in self.self_writes.items():
            for attribute, writes in attributes.items():
                for write in writes:
                    found[owner, attribute].setdefault(write.function, []).append(write)
        return dict(found)

    def _mutations(self, function: int) -> list[Mutation]:
        found = []
        for event in chain(self.events(function), *self._class_bodies.get(function, ())):
            value, target = event.value, event.target
            if value is not None and event.kind == "expr" and value.kind == "call":
                callee = value.args[0]
                if callee.kind == "attribute" and callee.name in MUTATORS:
                    found.append(Mutation(event, callee.args[0], value))
            if target is not None and target.kind == "subscript" and event.kind == "assign":
                found.append(Mutation(event, target.args[0], target))
            if target is not None and event.kind == "augment" and value is not None:
                found.append(Mutation(event, target, value))
        return found

    def _leaving(self, function: int) -> list[int]:
        last = {event.block: event for event in self.events(function)}
        return [
            index
            for index, event in last.items()
            if index >= 0 and self.block(index).kind in ("if", "else") and (leaves(event) or event.kind in JUMPS)
        ]

    def _ending(self, function: int) -> list[Event]:
        ending = JUMPS | {"assert"}
        return [event for event in self.events(function) if event.kind in ending or leaves(event)]

    def _ended(self, function: int) -> dict[int, int]:
        found: dict[int, int] = {}
        last = {event.block: event for event in self.events(function)}
        for event in self.events(function):
            if event is not last[event.block] and event.block not in found and leaves(event):
                found[event.block] = event.end
        return found

    def _tests_around(self, block: int) -> tuple[tuple[Expr, bool], ...]:
        tests = map(self.test_of, self.enclosing(block))
        return tuple(test for test in tests if test is not None)

    def test_of(self, index: int) -> tuple[Expr, bool] | None:
        """The test that a block itself depends on, and whether it must hold."""
        block = self.block(index)
        if block.kind in TESTED:
            return (block.test, True) if block.test is not None else None
        test = self.block(block.partner).test if block.kind == "else" and block.partner >= 0 else None
        return (test, False) if test is not None else None

    @cached_property
    def other_branches(self) -> dict[int, int]:
        """For each branch of an `if` with an `else`, the other one."""
        pairs = [(index, block.partner) for index, block in enumerate(self.model.blocks) if block.kind == "else"]
        return {one: other for pair in pairs for one, other in (pair, pair[::-1])}

    def _tested(self, function: int) -> frozenset[str]:
        events = self.events(function)
        tests = (event.value for event in events if event.kind == "test")
        found = frozenset(part.name for test in tests if test is not None for part in test.walk())
        named = (event for event in events if event.kind == "assign" and event.target and event.target.name in found)
        return found.union(part.name for event in named if event.value is not None for part in event.value.walk())

    def method_owner(self, function: int) -> int:
        """The class whose method this is (a function nested in a method counts too), or -1."""
        while function >= 0:
            facts = self.model.functions[function]
            if facts.owner >= 0:
                return facts.owner
            function = facts.parent
        return -1

    def method_of(self, function: int) -> int:
        """The method in which a function is nested, or which it is itself; -1 of any other."""
        while function >= 0 > self.model.functions[function].owner:
            function = self.model.functions[function].parent
        return function

    @cached_property
    def nested_in_methods(self) -> dict[int, list[int]]:
        """The functions that are nested in methods, by the class."""
        found: dict[int, list[int]] = defaultdict(list)
        for function in self.model.functions:
            if function.owner < 0 <= function.parent and function.kind == "def":
                found[self.method_owner(function.index)].append(function.index)
        return dict(found)

    def on_class(self, function: int) -> bool:
        """Whether the first parameter of a method is the class: what it sets there, pickle does not take along."""
        facts = self.function_at(function)
        if facts is None or facts.owner < 0:
            return False
        return facts.name in ("__new__", "__init_subclass__") or any(
            decorator.dotted == "classmethod" for decorator in facts.decorators
        )

    def receiver_name(self, function: int) -> str:
        """The name of `self` in a method or in a function nested in one; "" elsewhere and in static methods."""
        return self._receiver_names[function]

    def _receiver_name(self, function: int) -> str:
        while function >= 0:
            facts = self.model.functions[function]
            if facts.owner >= 0:
                static = any(decorator.dotted == "staticmethod" for decorator in facts.decorators)
                first = facts.parameters[:1]
                return first[0].name if first and not static and first[0].kind in ("positional", "posonly") else ""
            function = facts.parent
        return ""

    def _ordered(self, function: int) -> tuple[list[int], list[int]]:
        """Where the events of a function start, in order, and their blocks."""
        ordered = sorted((event.start, event.block) for event in self.events(function))
        return [start for start, _ in ordered], [block for _, block in ordered]

    def block_at(self, function: int, offset: int) -> int:
        """The block around an offset in the code of a function (-1: the module)."""
        starts, blocks = self._order[function]
        position = bisect_right(starts, offset)
        return blocks[position - 1] if position else -1

    @cached_property
    def _class_bodies(self) -> dict[int, list[tuple[Event, ...]]]:
        """The events of the classes in each function."""
        found: dict[int, list[tuple[Event, ...]]] = defaultdict(list)
        for item in self.model.classes:
            found[item.parent].append(item.events)
        return dict(found)

    def enclosing(self, block: int) -> Iterator[int]:
        """The block and all around it, innermost first."""
        while block >= 0:
            yield block
            block = self.model.blocks[block].parent

    def block(self, index: int) -> Block:
        return self.model.blocks[index]


def kept_locally(site: Site) -> tuple[str, list[Function]]:
    """The local name that a function gives what a call returns, and the functions whose code sees it; "" where none."""
    functions, event = site.module.model.functions, site.event
    if site.function < 0 or event.kind != "assign" or event.value is not site.expr:
        return "", []
    around, target = functions[site.function], event.target
    if target is None or target.kind != "name" or target.name not in around.bound:
        return "", []
    return target.name, site.module.inside(site.function)
