"""What only the main process changes in the project's own modules, and workers read: they import the modules afresh."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Const, Env, Ext, Seq
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.execution.call_graph import Running
from dllint.project.execution.guarded import failing_with_none
from dllint.project.execution.own_code import OwnCode, events_of
from dllint.project.execution.processes import Task
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.flow import LOOPS
from dllint.project.program.guards import only_in_main, under_main_guard
from dllint.project.program.handlers import end_of_error
from dllint.project.program.module import Module
from dllint_rules.correctness.analysis.module_globals import Global, Step
from dllint_rules.correctness.analysis.state_access import Access

if TYPE_CHECKING:
    from dllint.project import Project

Function = tuple[str, int]
Root = tuple[str, str]


class Change(NamedTuple):
    """An assignment or a call that changes a place."""

    place: Global
    at: Expr
    value: Expr | None
    """What is assigned, where that is written out."""
    running: Running
    event: Event


class Read(NamedTuple):
    """Worker code that depends on a place."""

    place: Global
    at: Expr
    running: Running
    event: Event


class Unseen(NamedTuple):
    """A change that workers do not see, the code in workers that depends on it, and what starts these."""

    change: Change
    read: Read
    starter: Loader | Task
    initial: Const | None
    """What it is after import, where that is known."""
    script: Module
    """The program whose own process makes the change."""
    together: tuple[Change, ...] = ()
    """All changes of the variable that this code depends on, in any program."""
    starters: tuple[Loader | Task, ...] = ()
    """All that start workers which run this code."""
    written: tuple[Change, ...] = ()
    """All changes of the variable by the programs that start these workers."""
    beside: tuple[Unseen, ...] = ()
    """All that the same workers do not see, this among them."""

    @property
    def raises(self) -> bool:
        """Whether workers fail: what they read is None still, they need more, and no handler goes on without it."""
        if self.initial is None or self.initial.value is not None:
            return False
        read, env = self.read, self.read.running.env
        needed = len(read.place.path) > len(self.change.place.path)
        needed = needed or any(expr is read.at for expr, _ in failing_with_none([read.event]))
        return needed and end_of_error(env.module, env.function, read.event) == "raised"


class Group(NamedTuple):
    """What starts workers, the code that these run, and what it reads."""

    starter: Loader | Task
    codes: list[Running]
    reads: list[Read]


Started = tuple[Loader | Task, list[Running]]
"""What starts workers, and the code that these run."""


class ModuleState:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.main_code = project.main_code
        self.guarded = project.guarded
        self.access = Access(project.evaluator)
        self._own_codes = project.own_codes
        self._imported_code = AtRest(self.evaluator, self._run_on_import)

    def unseen(self, started: Iterable[Started]) -> Iterator[Unseen]:
        """The changes of the main scripts' own processes that workers depend on: one for each variable and reader."""
        groups = [Group(starter, codes, self._read_by(codes)) for starter, codes in started]
        groups = [group for group in groups if group.reads]
        found: dict[tuple[Root, Function], list[Unseen]] = defaultdict(list)
        written: dict[Root, list[Change]] = defaultdict(list)
        for script in self._scripts({group.starter.path for group in groups}):
            own = self._own_codes.of(script)
            made = [group for group in groups if self._own_codes.makes(script, group.starter.env)]
            roots = {read.place.root for group in made for read in group.reads}
            changes = list(self._changed_by(own, roots))
            for change in changes:
                written[change.place.root].append(change)
            for group in made:
                for change, read in self._joined(script, changes, group):
                    if not self._too_late(change):
                        unseen = Unseen(change, read, group.starter, self._initial(change.place), script)
                        found[change.place.root, read.running.function].append(unseen)
        told = [_in_one(all_unseen, written[root]) for (root, _), all_unseen in found.items()]
        for unseen in told:
            beside = tuple(other for other in told if set(other.starters) == set(unseen.starters))
            yield unseen._replace(beside=beside)

    def _scripts(self, paths: set[str]) -> Iterator[Module]:
        """The programs that import one of these files, or are it, and have code of their own process."""
        found = {importer for path in paths for importer in self.evaluator.index.importers(path)}
        for path in sorted(found):
            module = self.evaluator.index.modules[path]
            if not module.is_test and self.guarded.has_guarded_part(module):
                yield module

    def _joined(self, script: Module, changes: list[Change], group: Group) -> Iterator[tuple[Change, Read]]:
        in_workers = {code.function for code in group.codes}
        for change in changes:
            if change.running.function in in_workers:
                continue
            read = next((read for read in group.reads if self._depends(read, change, script)), None)
            if read is not None:
                if not self._alike(change.value, change.running.env, *self._on_imports(change.place)):
                    yield change, read

    def _depends(self, read: Read, change: Change, script: Module) -> bool:
        if not read.place.shows(change.place) or not self._is_imported(change.place):
            return False
        # What others import of a script is another module than the one that runs.
        return change.place.module is not script or read.running.env.module is script

    def _is_imported(self, place: Global) -> bool:
        """Whether an import binds the variable at all; a name that workers do not have is another hazard."""
        bindings = place.module.bindings[-1, -1].get(place.name, ())
        return any(item.event is None or not under_main_guard(place.module, -1, item.event) for item in bindings)

    # What worker code reads.

    def _read_by(self, codes: list[Running]) -> list[Read]:
        """What the code of workers reads and the project may change, but for what it writes itself."""
        live = [(code, event) for code in codes if code.env.function >= 0 for event in code.events]
        live = [(code, event) for code, event in live if self._runs(code, event)]
        found = [
            Read(place, at, code, event)
            for code, event in live
            if not only_in_main(code.env.module, code.env.function, event)
            for place, at in self.access.reads(event, code.env)
            if self._may_change(place)
        ]
        own = [place for code, event in live for place, _, _ in self.access.writes(event, code.env)] if found else []
        return [read for read in found if not any(read.place.shows(item) or item.shows(read.place) for item in own)]

    def _runs(self, code: Running, event: Event) -> bool:
        return self.evaluator.conditions.may_run(code.env, event.start)

    def _may_change(self, place: Global) -> bool:
        """Whether the project may write a place, by its names alone, or by what it is."""
        if not self._assigned.isdisjoint((place.name, *place.path)):
            return True
        return bool(place.path) and self._is_container(place)

    @cached_property
    def _assigned(self) -> frozenset[Step]:
        """The names of all variables and attributes that are assigned to after import."""
        found: set[Step] = set()
        for module in self.evaluator.index:
            found |= module.attribute_writes.keys() | module.writers_of_globals.keys()
            for name, bindings in module.bindings[-1, -1].items():
                if any(item.event is not None and under_main_guard(module, -1, item.event) for item in bindings):
                    found.add(name)
        return frozenset(found)

    def _is_container(self, place: Global) -> bool:
        bindings = place.module.bindings[-1, -1].get(place.name, [])
        values = [item.event.value for item in bindings if item.event is not None and item.kind == "assign"]
        return any(value is not None and value.kind not in ("constant", "lambda", "fstring") for value in values)

    # What the main process writes.

    def _changed_by(self, own: OwnCode, roots: set[tuple[str, str]]) -> Iterator[Change]:
        """What a script's own process changes of some variables, and no import does."""
        for running in own.running if roots else ():
            if running.env.module.is_test:
                continue
            writing = self.access.writing[running.env.module, running.env.function]
            for event in writing if running.env.function >= 0 else events_of(running):
                for place, at, value in self.access.writes(event, running.env):
                    if place.root in roots and self._runs(running, event) and not self._on_import(running, own.script):
                        yield Change(place, at, value, running, event)

    def _on_import(self, running: Running, script: Module) -> bool:
        """Whether importing what the script imports runs this code as well."""
        return running.env.function >= 0 and any(
            running.function in self._imported_code[path] for path in self.evaluator.index.imports(script.path)
        )

    def _run_on_import(self, path: str) -> frozenset[tuple[str, int]]:
        module = self.evaluator.index.modules[path]
        return frozenset(item.function for item in self.main_code.running(module))

    # What it is after import, and when it is changed.

    def _initial(self, place: Global) -> Const | None:
        """The constant that a place has when its module was imported."""
        return self._constant(*self._on_imports(place))

    def _on_imports(self, place: Global) -> tuple[Expr | None, Env]:
        """What importing its module assigns to a place."""
        module, found = place.module, None
        env = self.evaluator.env(module, -1)
        for event in module.model.events:
            target, value = event.target, event.value
            if event.kind != "assign" or target is None or value is None or under_main_guard(module, -1, event):
                continue
            if target.kind == "name" and target.name == place.name:
                found = _inside(value, place.path)
            elif target.kind != "name" and _is_same(self.access.target(target, env), place):
                found = value
        for item in module.model.classes:
            if item.name == place.name and item.parent < 0 and len(place.path) == 1:
                for event in item.events:
                    if event.kind == "assign" and event.target is not None and event.target.name == place.path[0]:
                        found = event.value
        return found, env

    def _alike(self, one: Expr | None, env: Env, other: Expr | None, its: Env, depth: int = 3) -> bool:
        """Whether two expressions are surely equal: constants, names of libraries, tuples of such."""
        if one is None or other is None or depth == 0:
            return False
        values, others = self.evaluator.values(one, env), self.evaluator.values(other, its)
        if len(values) != 1 or len(others) != 1:
            return False
        match values[0], others[0]:
            case (Const() | Ext(), Const() | Ext()):
                return values[0] == others[0]
            case Seq(expr=first, env=inside), Seq(expr=second, env=within):
                parts = zip(first.args, second.args, strict=False)
                same = first.kind == second.kind == "tuple" and len(first.args) == len(second.args)
                return same and all(self._alike(a, inside, b, within, depth - 1) for a, b in parts)
        return False

    def _constant(self, expr: Expr | None, env: Env) -> Const | None:
        values = self.evaluator.values(expr, env) if expr is not None else ()
        return values[0] if len(values) == 1 and isinstance(values[0], Const) else None

    def _too_late(self, change: Change) -> bool:
        """Whether workers start before the change, in the functions that lead to it, and none after it."""
        env: Env | None = change.running.env
        at, before = change.event.start, False
        while env is not None:
            # What iterates the result of the call that leads to the change starts workers after it.
            iterating = [event for event, _ in self.main_code.begun_by(env)]
            calling = [edge.event for edge in self._own_codes.reach.edges(env) if self.main_code.begun_by(edge.env)]
            later = any(event.end > at for event in iterating) or any(event.start > at for event in calling)
            if later or any(_is_around(env.module, event, at) for event in (*iterating, *calling)):
                return False
            before = before or any(event.end <= at for event in (*iterating, *calling))
            at = env.call.start if env.call is not None else -1
            env = env.caller
        return before


def _in_one(all_unseen: list[Unseen], written: list[Change]) -> Unseen:
    """The first of what one reader does not see of a variable, with the others."""
    together = tuple(item.change for item in all_unseen)
    starters = tuple(dict.fromkeys(item.starter for item in all_unseen))
    return all_unseen[0]._replace(together=together, starters=starters, written=tuple(written))


def _is_same(target: Global | None, place: Global) -> bool:
    """Whether an assignment is to a place, by whatever names it is reached elsewhere."""
    return target is not None and (target.root, target.path) == (place.root, place.path)


def _is_around(module: Module, event: Event, at: int) -> bool:
    """Whether a place is in the loop that an event begins, or in a loop that both are in."""
    around = {index for index in module.enclosing(event.block) if module.block(index).kind in LOOPS}
    blocks = (block for index, block in enumerate(module.model.blocks) if index in around or block.test is event.value)
    return any(block.start <= at < block.end for block in blocks if block.kind in LOOPS)


def _inside(value: Expr, path: tuple[Step, ...]) -> Expr | None:
    """The part of a display to which keys lead."""
    for step in path:
        if value.kind == "call" and len(value.args) == 2:
            value = value.args[1]  # EasyDict({...})
        if value.kind != "dict":
            return value.keyword(str(step)) if value.kind == "call" else None
        pairs = zip(value.args[::2], value.args[1::2], strict=False)
        found = next((item for key, item in pairs if key.kind == "constant" and key.value == step), None)
        if found is None:
            return None
        value = found
    return value
