"""The places where a project starts workers: loaders, with what they ship, to how many workers, how started."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from dllint.finding import Certainty, Note
from dllint.knowledge import (
    LOADERS,
    OF_ONE_METHOD,
    PROCESS_CLASSES,
    PROCESSES,
    SPAWN_UNLESS_TOLD,
    STARTERS,
    Boundary,
    Starter,
)
from dllint.model.facts import Expr
from dllint.project.evaluate import Answer, Argument, Evaluator
from dllint.project.evaluate.abstract_values import (
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Free,
    Inst,
    Klass,
    Seq,
    Value,
    Values,
)
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.evaluate.shapes import decorated
from dllint.project.loaders.chosen_methods import ChosenMethods
from dllint.project.loaders.forgotten import Forgotten
from dllint.project.loaders.named_for import for_held_out
from dllint.project.loaders.option_defaults import Declared
from dllint.project.loaders.platform_names import names_in
from dllint.project.loaders.platform_needs import PlatformNeeds
from dllint.project.loaders.platform_workers import Elsewhere, Place, Scope, begun_by
from dllint.project.loaders.set_options import SetOptions
from dllint.project.loaders.told_apart import ToldApart
from dllint.project.loaders.worker_counts import WorkerCounts, Workers, join
from dllint.project.program.guards import must_raise
from dllint.project.program.index import Index
from dllint.project.program.module import Module, Site
from dllint.project.program.on_demand import OnDemand
from dllint.project.program.unnamed import Unnamed
from dllint.source import Span
from dllint.start_methods import ALL_METHODS
from dllint.targets import Targets

if TYPE_CHECKING:
    from dllint.documents.demands import Demand

_NAMED = ("name", "attribute")
_ASKING = frozenset({"isinstance", "issubclass", "cast", "super", "hasattr", "patch"})
"""Functions that get a class and make nothing of it."""
_READING = _ASKING | {"__new__", "getattr"}
"""Those, and functions that make an object of the class itself or read something of it."""
_OWN = "cls"
"""The name of its class in a class method."""
_GENERIC = LOADERS["torch.utils.data.DataLoader"]
_PROCESS = Boundary((), (), "", "multiprocessing.Process")


class Loader(msgspec.Struct, frozen=True, eq=False):
    """A call that makes a loader, in one activation of the code around it."""

    path: str
    span: Span
    """Where the loader is made: of a subclass of DataLoader, its construction."""
    name: str
    boundary: Boundary
    call: Expr
    given: Expr
    """The call, with one of the displays that the mapping it unpacks may be."""
    env: Env
    skip: int
    workers: Workers
    asked: bool
    """The call says something about workers, even where its value is not known."""
    methods: frozenset[str]
    """The start methods its workers may get on the declared targets."""
    chosen: bool
    """The code itself chooses the start method."""
    instance: Inst | None = None
    """The instance of a project's own loader class."""
    in_tests: bool = False
    platforms: tuple[str, ...] = ()
    """The declared targets on which it has workers."""
    decided: bool = True
    """Whether every test around its call, and around the calls that lead there, is known to let it run.

    And whether no number of its workers is from settings, of which a program may read others, or from the default of a
    parameter that nothing is seen to fill or to leave out.
    """
    demand: str = ""
    """The file and line that ask for its workers, in words, where nothing else does."""
    held_out: bool = False
    """Whether it is for validation or tests, by the names around it."""
    shuffles: bool = False
    for_users: bool = False
    """Its number of workers is a parameter of a function that nothing calls, and 0 unless users pass another."""

    @property
    def certainty(self) -> Certainty:
        """How sure it is that a hazard in its workers happens: they are there, or may be."""
        return Certainty.CERTAIN if self.workers is Workers.SOME and self.decided else Certainty.LIKELY

    @property
    def start(self) -> Note:
        """Where it starts its workers, and the option that asks for them where no program of the project sets it."""
        _, of_object, option = self.boundary.workers.rpartition(".")
        is_open = self.for_users or (of_object and self.workers is Workers.UNKNOWN)
        asked = f", with `{option}` above 0" if is_open else f": {self.demand}" if self.demand else ""
        return Note(self.path, self.span, f"`{self.name}(...)` starts the workers here{asked}")

    @property
    def rank(self) -> tuple[bool, bool, bool, bool, int]:
        """Which of several loaders is told: one that surely has workers, known ones, that trains, anywhere, least."""
        uncertain, unknown = self.certainty is not Certainty.CERTAIN, self.workers is not Workers.SOME
        return uncertain, unknown, self.held_out, not self.shuffles, -len(self.platforms)

    def is_made_after(self, site: Site) -> bool:
        """Whether code around it, or around a call that leads to it, runs this first."""
        env: Env | None = self.env
        at = self.call.start
        while env is not None:
            if env.module is site.module and env.function == site.function:
                return site.event.start < at
            at = env.call.start if env.call is not None else -1
            env = env.caller
        return False


def known_loaders(targets: Targets) -> Mapping[str, Boundary]:
    """The loaders of other packages: the built-in table, what plugins announce, what the configuration says."""
    return {**LOADERS, **targets.loaders}


class Boundaries:
    """Finds the loaders of a project."""

    def __init__(self, evaluator: Evaluator, targets: Targets, declared: Declared) -> None:
        self.evaluator = evaluator
        self.index: Index = evaluator.index
        self.targets = targets
        self.declared = declared
        self._elsewhere: dict[str, Boundaries] = {}
        self._within: dict[Module, Boundaries] = {}
        self._unknowns: dict[tuple[int, int], bool] = {}
        self._in_activation: dict[tuple[Loader, ExtInst | Inst], Loader] = {}
        self._made_in: dict[tuple[Loader, ExtInst | Inst, Workers], Loader] = {}
        """Each once, as loaders are compared by identity: one that is asked for again is no other answer."""
        self._given_own = OnDemand(self._find_given_own)
        self.counts = WorkerCounts(evaluator, declared)
        self.set_options = SetOptions(evaluator, self.counts)
        self.chosen_methods = ChosenMethods(evaluator, targets)
        self.needs = PlatformNeeds(evaluator)
        self.elsewhere = Elsewhere(evaluator, targets, self._workers_on) if not evaluator.platform else None
        self.known = evaluator.loaders
        self.told_apart = ToldApart(evaluator, self._told)
        self.unnamed = Unnamed(evaluator.programs, targets.packages)
        self._forgotten = Forgotten(evaluator, self.unnamed)

    @at_rest
    def names(self) -> set[str]:
        """The last names under which a loader may be made: known ones, subclasses, aliases."""
        found, own = self._called
        return {*found, _OWN} if own else found

    @at_rest
    def _called(self) -> tuple[set[str], set[Module]]:
        """These names but `cls`, and the files in which that may be a class of loaders."""
        return self._also_called(self._own_names)

    @cached_property
    def _own_names(self) -> set[str]:
        found = {name.rpartition(".")[2] for name in self.known} | {"DataLoader"}
        return found | {
            name for module in self.index for name in module.calls if name.endswith(("DataLoader", "Dataloader"))
        }

    @cached_property
    def process_makers(self) -> tuple[str, ...]:
        """What makes processes, of those that code can mean: a builtin has the last name of a library's `map`."""
        packages = self.index.packages
        return tuple(name for name in PROCESSES if name not in SPAWN_UNLESS_TOLD or name.partition(".")[0] in packages)

    @cached_property
    def starting_calls(self) -> tuple[Site, ...]:
        """Calls that may be of methods that start processes themselves: they say how many."""
        imported = [known for package, known in STARTERS.items() if package in self.index.packages]
        return tuple(
            site
            for known in imported
            for site in self.index.calls_named(known.methods)
            if site.expr.keyword(known.workers) is not None
        )

    def starter(self, call: Expr, env: Env, callee: Value) -> Starter | None:
        """What is known of a method that starts processes itself, where a call asks for more than one."""
        if not isinstance(callee, ExtMethod) or not isinstance(callee.base, ExtInst):
            return None
        known = STARTERS.get(callee.base.name.partition(".")[0])
        number = call.keyword(known.workers) if known is not None and callee.attribute in known.methods else None
        if number is None or self.counts.of_expression(number, env) is not Workers.SOME:
            return None
        values = self.evaluator.values(number, env)
        return None if any(isinstance(value, Const) and value.value == 1 for value in values) else known

    def calls_another(self, site: Site, names: Collection[str]) -> bool:
        """Whether a call is of something of other libraries wherever its code runs, as `pty.spawn(shell)` is."""
        means = self.evaluator.names.of_module(site.expr.args[0], self.evaluator.generic(site.module, site.function))
        return bool(means) and all(isinstance(value, Ext) and value.name not in names for value in means or ())

    def also_called(self, names: set[str]) -> set[str]:
        """Names, and those that the project gives to what has them and to classes that derive from it."""
        found, own = self._also_called(names)
        return {*found, _OWN} if own else found

    def _also_called(self, names: set[str]) -> tuple[set[str], set[Module]]:
        """The same, but for `cls`, and the files in which that may be such a class: those of the class and its bases.

        In other files it's another class, unless they hand it on.
        """
        found, own = set(names), set[Module]()
        while True:
            named = (mapping.get(name, ()) for name in found for mapping in (self.index.aliases, self._handed_on))
            more = {alias for aliases in named for alias in aliases if alias}
            for klass in self.evaluator.classes.all_classes:
                if any(part.name in found for base in klass.facts.bases for part in base.walk()):
                    own |= {item.module for item in self.evaluator.classes.mro(klass)}
                    more.add(klass.facts.name)
            more = more.union(*(self._given_own[module] for module in own))
            if more <= found:
                return found, own
            found |= more

    @cached_property
    def _handed_on(self) -> dict[str, set[str]]:
        """Names that what has a name gets in other places: from `partial`, as a default, by a keyword."""
        found: dict[str, set[str]] = defaultdict(set)
        for module in self.index:
            for name, alias in _handed_on_in(module):
                found[name].add(alias)
        return found

    def _find_given_own(self, module: Module) -> set[str]:
        """The names that a file gives to `cls`, and its own where others may get it by that."""
        named = (*self.index.aliases_in(module), *_handed_on_in(module))
        found = {alias for name, alias in named if name == _OWN}
        making = (calls for name, calls in module.calls.items() if name not in _READING)
        passed = any(_is_own(arg) for calls in making for call in calls for arg in call.expr.args[1:])
        writes = module.attribute_writes.get(_OWN, ())
        kept = any(write.event.value is not None and _is_own(write.event.value) for write in writes)
        return {*found, _OWN} if passed or kept else found

    @property
    def loaders(self) -> tuple[Loader, ...]:
        """Every loader the project makes, once per activation that differs, but not in functions that nothing calls."""
        return self._used_or_not[0]

    @property
    def unused(self) -> tuple[Loader, ...]:
        """The loaders of functions that no code names, in a project that makes others without these."""
        return self._used_or_not[1]

    @at_rest
    def forgotten(self) -> tuple[Loader, ...]:
        """The loaders that nobody goes through, in a project that makes others without these."""
        sites = (site for site in self._sites if self._forgotten.has(site)) if self.has_used else ()
        return tuple(loader for site in sites for loader in self._made_at(site))

    @at_rest
    def has_used(self) -> bool:
        """Whether code that is used makes a loader, tests apart."""
        return any(not loader.in_tests and not self._is_unused(loader) for loader in self._all)

    @at_rest
    def has_handed_on(self) -> bool:
        """Whether code that is used hands a loader's class to what makes the loader: `configured(DataLoader)`."""
        return any(
            self._is_known(part, module, call.function)
            for module in self.index
            for name, calls in (module.calls.items() if not module.is_test else ())
            for call in (calls if name not in _ASKING else ())
            for part in (*call.expr.args[1:], *(value for _, value in call.expr.keywords))
            if part.name in self.names and not self.unnamed.is_function(module, call.function)
        )

    def _is_known(self, expr: Expr, module: Module, function: int) -> bool:
        if expr.kind not in ("name", "attribute"):
            return False
        values = self.evaluator.values(expr, self.evaluator.generic(module, function))
        return any(isinstance(value, Ext) and value.name in self.known for value in values)

    @at_rest
    def _used_or_not(self) -> tuple[tuple[Loader, ...], tuple[Loader, ...]]:
        if not self.has_used:
            return self._all, ()
        used = [loader for loader in self._all if not self._is_unused(loader)]
        return tuple(used), tuple(loader for loader in self._all if self._is_unused(loader))

    def _is_unused(self, loader: Loader) -> bool:
        return self.unnamed.is_function(*begun_by(loader.env))

    @at_rest
    def _all(self) -> tuple[Loader, ...]:
        found = [loader for site in self._sites if not self._forgotten.has(site) for loader in self._made_at(site)]
        found += self._processes()
        found += self._never_constructed({loader.instance.klass for loader in found if loader.instance is not None})
        return tuple(sorted(found, key=lambda loader: loader.rank))

    @at_rest
    def _sites(self) -> tuple[Site, ...]:
        """The calls that may make a loader."""
        names, files = self._called
        own = {module.model.classes[klass].name for module, klass in self._may_be_loaders}
        carried = self.evaluator.carried.calls_of_classes(frozenset(self._own_names | own))
        sites = self.index.calls_named(sorted({*names, _OWN}))
        named = (site for site in sites if site.expr.args[0].name in names or _is_of_own(site, files))
        return tuple({site.expr: site for site in (*named, *carried)}.values())

    def _made_at(self, site: Site) -> Iterator[Loader]:
        if self._makes_another(site):
            return
        for env in self.contexts(site.module, site.function):
            makers = self._makers(site.expr, env)
            if makers and self._may_be_reached(site.expr, env):
                for maker in makers:
                    yield from self._made_by(maker, site, site.expr, env)

    def _makes_another(self, site: Site) -> bool:
        """Whether a call makes no loader in any activation: its name means something else wherever the code runs.

        So does `cls` in a class that is no loader, and has no subclasses that are. Asked first, as the activations of
        a function that is called `read` or `load` may be many.
        """
        if site.function < 0:
            return False
        callee, facts = site.expr.args[0], site.module.model.functions[site.function]
        if _is_own(callee) and facts.owner >= 0 and decorated(facts, "classmethod"):
            own = self.evaluator.klass(site.module, facts.owner)
            return not any(map(self.is_loader, (own, *self.evaluator.classes.subclasses(own))))
        means = self.evaluator.names.of_module(callee, self.evaluator.generic(site.module, site.function))
        return means is not None and not any(self._may_make(value, site.expr) for value in means)

    def _makers(self, call: Expr, env: Env) -> list[Value]:
        """What a call runs that may make a loader: asked before the tests around the call, which say less for more."""
        return [value for value in self.evaluator.calls.callees(call, env) if self._may_make(value, call)]

    def _may_make(self, callee: Value, call: Expr) -> bool:
        """Whether calling a value may make a loader."""
        match callee:
            case Ext(name=name):
                return self.boundary(name, call) is not None
            case Klass():
                return self.is_loader(callee)
            case ExtInst(name="functools.partial"):
                return True
        return False

    def _may_be_reached(self, call: Expr, env: Env) -> bool:
        """Whether no test around a call, or around the calls that lead there, is surely against it, or must end before.

        Of a method that is not seen to be called, that isn't asked: subclasses may fill what its object holds.
        """
        where: Env | None = env
        while where is not None:
            unseen = where.call is None and where.module.method_owner(where.function) >= 0
            if not unseen and not self.evaluator.conditions.may_run(where, call.start):
                return False
            if must_raise(where.module, where.function, call.start):
                return False
            if where.call is None:
                return True
            call, where = where.call, where.caller
        return True

    def contexts(self, module: Module, function: int) -> tuple[Env, ...]:
        """The activations in which a function's code runs: one per known call, or the generic one."""
        return self.told_apart.of(module, function).envs

    def _told(self, env: Env) -> Hashable:
        """What a loader says of the call that leads to the code around it, besides what it gets from there."""
        assert env.call is not None and env.caller is not None
        call, caller = env.call, env.caller
        parameters = enumerate(env.facts.parameters)
        named = ((position, item) for position, item in parameters if item.kind not in ("args", "kwargs"))
        given = [pair for position, item in named for pair in self.evaluator.arguments.passed(env, position, item)]
        return (
            self._may_be_reached(call, caller),
            self.decided(call, caller),
            self.chosen_methods.asked_for(caller, call.start),
            self.needs.missing(caller, call.start),
            self.unnamed.is_function(*begun_by(caller)),
            self.counts.rests_on_settings(given),
            self._rests_on_callers(given),
            for_held_out(call, caller),
        )

    def _made_by(self, callee: Value, site: Site, call: Expr, env: Env, depth: int = 3) -> Iterator[Loader]:
        """The loaders that calling a value makes."""
        match callee:
            case Ext(name=name):
                boundary = self.boundary(name, call)
                if boundary is not None:
                    yield from self._loader(site, env, boundary, call, env, name.rpartition(".")[2])
            case Klass() if self.is_loader(callee):
                yield from self._subclass(site, Inst(callee, call, env))
            case ExtInst(name="functools.partial", call=made, env=where) if len(made.args) > 1 and depth:
                merged = self.evaluator.calls.merged_call(callee, call)
                for target in self.evaluator.values(made.args[1], where):
                    yield from self._made_by(target, site, merged, env, depth - 1)

    def _in_processes(self, boundary: Boundary, call: Expr, env: Env, skip: int = 0) -> Answer:
        """Whether a loader's workers are processes: threads are sent nothing, so what has only these is none."""
        answers = [self._is_one_of(boundary, call, env, skip, *item) for item in boundary.processes_when.items()]
        if Answer.NO in answers:
            return Answer.NO
        return Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.YES

    def _is_one_of(
        self, boundary: Boundary, call: Expr, env: Env, skip: int, name: str, wanted: tuple[object, ...]
    ) -> Answer:
        """Whether a parameter has one of the wanted values."""
        found, surely = self._argument(call, env, boundary, skip, name)
        values = [value for pair in found for value in self.evaluator.values(*pair)]
        if not surely:
            default = boundary.defaults.get(name)
            values.append(Const(default, type(default).__name__))
        if not all(isinstance(value, Const) for value in values) or self._open_ended(call, env):
            return Answer.UNKNOWN
        wished = {isinstance(value, Const) and value.value in wanted for value in values}
        return Answer.UNKNOWN if len(wished) > 1 else Answer.YES if True in wished else Answer.NO

    def makes_loader(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is a loader, in one case at least."""
        return any(map(self.is_made_loader, self.evaluator.values(expr, env)))

    def is_made_loader(self, value: Value) -> bool:
        """Whether a value is a loader."""
        return (isinstance(value, ExtInst) and value.name in self.known) or (
            isinstance(value, Inst) and self.is_loader(value.klass)
        )

    def boundary(self, name: str, call: Expr) -> Boundary | None:
        """The knowledge of an external loader; unknown classes named like one count when called like one."""
        known = self.known.get(name)
        if known is not None:
            return known
        if name.endswith(("DataLoader", "Dataloader")) and not name.startswith("builtins."):
            if call.keyword("num_workers") is not None or call.keyword("collate_fn") is not None:
                return _GENERIC
        return None

    def is_loader(self, klass: Klass) -> bool:
        """Whether a project's class is a loader."""
        if (klass.module, klass.index) not in self._may_be_loaders:
            return False
        return self.evaluator.classes.is_a(klass, lambda name: name in self.known) is Answer.YES

    @at_rest
    def _may_be_loaders(self) -> frozenset[tuple[Module, int]]:
        """The classes that may be loaders, as far as the text tells: most are not, and need not be looked into."""
        named = self.evaluator.classes.naming({name.rpartition(".")[2] for name in self.known})
        return frozenset((klass.module, klass.index) for klass in named)

    def _subclass(self, site: Site, inst: Inst) -> Iterator[Loader]:
        """A project's own loader class: what its `__init__` hands on to the external base."""
        call, env, skip = self.base_call(inst)
        boundary = next(
            self.known[name] for name in self.evaluator.classes.external_bases(inst.klass) if name in self.known
        )
        yield from self._loader(site, env, boundary, call, env, inst.klass.facts.name, inst, skip)

    def base_call(self, inst: Inst) -> tuple[Expr, Env, int]:
        """The call whose arguments the external base's `__init__` gets."""
        found: tuple[Expr, Env, int] | None = None
        if inst.call is not None and inst.env is not None:
            found = inst.call, inst.env, 0
        for (_, function), env in self.evaluator.activations.init_envs(inst).items():
            klass = self.evaluator.klass(env.module, env.module.model.functions[function].owner)
            following = self.evaluator.activations.super_init(klass, env)
            if following is not None:
                found = following[0], env, following[1]
        assert found is not None
        return found

    def _processes(self) -> Iterator[Loader]:
        """Objects of own `Process` classes: starting one ships the whole object."""
        for klass in self.evaluator.classes.naming({name.rpartition(".")[2] for name in PROCESS_CLASSES}):
            if self.evaluator.classes.is_a(klass, PROCESS_CLASSES) is not Answer.YES:
                continue
            for site in self.index.calls_named((klass.facts.name,)):
                env = self.evaluator.generic(site.module, site.function)
                if klass in self.evaluator.calls.callees(site.expr, env):
                    inst = Inst(klass, site.expr, env)
                    methods, chosen = self.process_methods(klass, site.module.path)
                    yield Loader(
                        site.module.path, site.expr.span, klass.facts.name, _PROCESS, site.expr, site.expr, env, 0,
                        Workers.SOME, True, methods, chosen, inst, site.module.is_test, self.targets.platforms,
                    )  # fmt: skip

    def process_methods(self, klass: Klass, path: str) -> tuple[frozenset[str], bool]:
        """The start methods that objects of an own `Process` class may have, and whether the code chooses them."""
        bases = self.evaluator.classes.external_bases(klass)
        own = frozenset(OF_ONE_METHOD[base] for base in bases if base in OF_ONE_METHOD)
        return (own, True) if own else self.chosen_methods.of(path)

    def _never_constructed(self, seen: set[Klass]) -> Iterator[Loader]:
        """Loader classes that the project defines but never makes: their users do.

        What derives from such a class, and is made, shows what it is given.
        """
        for klass in self.evaluator.classes.all_classes:
            if klass in seen or not self.is_loader(klass):
                continue
            if not seen.isdisjoint(self.evaluator.classes.subclasses(klass)):
                continue
            inst = Inst(klass)
            if self.evaluator.activations.init_envs(inst) and any(
                self.evaluator.activations.super_init(self.evaluator.klass(env.module, env.facts.owner), env)
                for env in self.evaluator.activations.init_envs(inst).values()
            ):
                call, env, skip = self.base_call(inst)
                boundary = next(
                    self.known[name] for name in self.evaluator.classes.external_bases(klass) if name in self.known
                )
                site = Site(klass.module, env.function, env.facts.events[0], call)
                yield from self._loader(site, env, boundary, call, env, klass.facts.name, inst, skip)

    def _loader(
        self,
        site: Site,
        around: Env,
        boundary: Boundary,
        call: Expr,
        env: Env,
        name: str,
        instance: Inst | None = None,
        skip: int = 0,
    ) -> Iterator[Loader]:
        if self._in_processes(boundary, call, env, skip) is Answer.NO:
            return
        methods, chosen = self._methods(call, env, boundary, skip)
        found, surely = self._given_workers(call, env, boundary, skip)
        workers = self._workers(call, env, boundary, skip, instance)
        left = methods & self.chosen_methods.asked_for(around, site.expr.start)
        if not left:
            return
        methods, chosen = left, chosen or left != methods
        platforms, decided = self.targets.platforms, self.decided(site.expr, around)
        known = surely or boundary.defaults.get(boundary.workers)
        left_out = bool(found) and not (known or self._open_ended(call, env))
        settled = workers is Workers.NONE or not (left_out or self.counts.may_be_none(found))
        if workers is not Workers.NONE and self.elsewhere is not None:
            saying = [*(expr for expr, _ in found), *(expr for key, expr in call.keywords if key == "**")]
            names = {boundary.workers, *(name for expr in saying for name in names_in(expr))}
            platforms, known_there = self.elsewhere.with_workers(site, () if settled else names, env)
            settled = settled or known_there  # else something else may choose the number
            lacking = self.needs.missing_in_use(around, site.expr)
            platforms = tuple(name for name in self.reaching(platforms, around, site.expr.start) if name not in lacking)
            methods = self.on_platforms(methods, chosen, platforms)
        demand = self._demand(call, env, boundary, skip) if workers is Workers.SOME else None
        said = _said(demand) if not self.counts.is_given(found) else ""
        by_callers = self._rests_on_callers(found)
        decided = decided and settled and demand is None
        decided = decided and not self.counts.rests_on_settings(found) and not by_callers
        made = Loader(
            site.module.path, site.expr.span, name, boundary, call, call, env, skip, workers, bool(found), methods,
            chosen, instance, site.module.is_test, platforms, decided, said, for_held_out(site.expr, around),
            self._shuffles(call, env, boundary, skip),
            workers is Workers.UNKNOWN and by_callers and self.counts.may_be_none(found),
        )  # fmt: skip
        yield from self._by_display(made)

    def missing(self, env: Env, offset: int) -> frozenset[str]:
        """The platforms on which no program comes to a place, or none that starts workers as it does today."""
        return self.needs.missing(env, offset) | self.chosen_methods.forking(env.module.path)

    def reaching(self, platforms: tuple[str, ...], env: Env, offset: int) -> tuple[str, ...]:
        """Those of platforms on which a program comes to a place and starts workers."""
        missing = self.missing(env, offset)
        return tuple(name for name in platforms if name not in missing)

    def on_platforms(self, methods: frozenset[str], chosen: bool, platforms: tuple[str, ...]) -> frozenset[str]:
        """Those of start methods that workers get on some of the declared platforms."""
        all_left = chosen or platforms == self.targets.platforms
        return methods if all_left else methods & self.targets.on(platforms).methods()

    def _by_display(self, made: Loader) -> Iterator[Loader]:
        """A loader, or one for each of the displays that the mapping its call unpacks may be."""
        cases = self.evaluator.arguments.by_display(made.call, made.env)
        for given, env in cases:
            workers = self._workers(given, env, made.boundary, made.skip, made.instance)
            yield msgspec.structs.replace(made, given=given, env=env, workers=workers) if len(cases) > 1 else made

    def _shuffles(self, call: Expr, env: Env, boundary: Boundary, skip: int) -> bool:
        """Whether a loader is told to draw its items at random, or may be given a sampler that does."""
        found = {
            name: [
                value
                for pair in self._argument(call, env, boundary, skip, name)[0]
                for value in self.evaluator.values(*pair)
            ]
            for name in ("shuffle", "sampler", "batch_sampler")
        }
        told = any(isinstance(value, Const) and value.value is True for value in found.pop("shuffle"))
        given = (value for values in found.values() for value in values if not isinstance(value, Const))
        return told or any("Sequential" not in getattr(value, "name", "") for value in given)

    def decided(self, call: Expr, env: Env) -> bool:
        """Whether a call is known to be reached: from the program's start, or from a public name without callers."""
        where: Env | None = env
        while where is not None:
            if not self.evaluator.conditions.decided(where, call.start) or self._is_one_of_several(call, where):
                return False
            if where.call is None:
                return not self._forgets_callers(where) and not self._made_by_settings(where)
            call, where = where.call, where.caller
        return True

    def _rests_on_callers(self, found: list[Argument]) -> bool:
        """Whether a number is the default of a parameter of a function that nothing calls."""
        return any(
            part.kind == "name" and any(part.name == item.name for item in env.facts.parameters)
            for expr, env in found
            if env.function >= 0 and env.call is None
            for part in expr.walk()
        )

    def _is_one_of_several(self, call: Expr, env: Env) -> bool:
        """Whether what is called may be something else: the method of one of two objects, of which one is made."""
        return len(self.evaluator.calls.callees(self.evaluator.calls.written(call), env)) > 1

    def _is_called(self, env: Env) -> bool:
        """Whether calls are known of the function that begins the way to an activation."""
        module, function = begun_by(env)
        return function >= 0 and self.evaluator.call_sites.is_called(module, function)

    def _forgets_callers(self, env: Env) -> bool:
        """Whether an activation merges what its callers pass: one of them may never make this loader."""
        return env.function >= 0 and self.evaluator.call_sites.is_called(env.module, env.function)

    def _made_by_settings(self, env: Env) -> bool:
        """Whether files of settings make the object whose method runs: of several, a program reads one."""
        owner = env.module.method_owner(env.function) if env.function >= 0 else -1
        klass = self.evaluator.klass(env.module, owner) if owner >= 0 else None
        init = self.evaluator.classes.method(klass, "__init__") if klass is not None else None
        callers = self.evaluator.call_sites.callers(init.func.module, init.func.index) if init is not None else ()
        return any(site.module.settings for site, _ in callers)

    def _workers_on(self, place: Place, begun: Scope, platform: str) -> list[tuple[Workers, bool]]:
        """The workers of a place's loaders on a platform, and whether it is sure that they start.

        `begun`: the code that leads there on others. Another function with callers is one whose calls don't run here.
        Computed lazily: few sites depend on the platform.
        """
        known = self._on(platform)
        sites = [site for site in self._sites if (site.module.path, site.expr.span) == place]
        made = [loader for site in sites for loader in known._made_at(site)] if sites else known.loaders
        here = (loader for loader in made if (loader.path, loader.span) == place)
        here = (loader for loader in here if begun_by(loader.env) == begun or not self._is_called(loader.env))
        return [(loader.workers, loader.certainty is Certainty.CERTAIN) for loader in here]

    def _on(self, platform: str) -> Boundaries:
        """The same project on a platform.

        Another platform's evaluator says nothing of it, even if it met nothing so far that tells the two apart: the
        next question may.
        """
        known = self._elsewhere.get(platform)
        if known is None:
            evaluator = Evaluator(self.index, self.known, platform, self.evaluator.call_sites)
            known = self._elsewhere[platform] = Boundaries(
                evaluator, self.targets, Declared(evaluator, self.declared.demanded.asked)
            )
        return known

    def in_activation(self, loader: Loader, made: ExtInst | Inst) -> Loader:
        """The loader that the same call makes in another activation."""
        return self.evaluator.kept(self._in_activation, (loader, made), self._made_again, loader, made)

    def _made_again(self, loader: Loader, made: ExtInst | Inst) -> Loader:
        call, env, skip = loader.call, made.env or loader.env, loader.skip
        instance = made if isinstance(made, Inst) else None
        if instance is not None:
            call, env, skip = self.base_call(instance)
        given = loader.given if call is loader.call else call
        workers = self._workers(given, env, loader.boundary, skip, instance)
        found = msgspec.structs.replace(loader, call=call, env=env, skip=skip, workers=workers, given=given)
        return self._made_in.setdefault((loader, made, workers), found)

    def has_workers_in(self, program: Module, loader: Loader) -> bool:
        """Whether a loader may have workers where a script runs: what other programs set isn't set there."""
        known = self._within.get(program)
        if known is None:
            known = self._within[program] = Boundaries(self.evaluator, self.targets, self.declared.within(program))
        workers = known._workers(loader.given, loader.env, loader.boundary, loader.skip, loader.instance)
        return workers is not Workers.NONE

    def argument(self, loader: Loader, name: str) -> tuple[list[Argument], bool]:
        """The values that a loader gets for a parameter."""
        return self._argument(loader.given, loader.env, loader.boundary, loader.skip, name)

    def _argument(self, call: Expr, env: Env, boundary: Boundary, skip: int, name: str) -> tuple[list[Argument], bool]:
        position = boundary.parameters.index(name) + skip if name in boundary.parameters else None
        return self.evaluator.arguments.argument(call, env, position, name)

    def _given_workers(self, call: Expr, env: Env, boundary: Boundary, skip: int) -> tuple[list[Argument], bool]:
        """The numbers of workers that a call may pass, those in files of settings among them."""
        found, surely = self._argument(call, env, boundary, skip, boundary.workers)
        mappings = _unpacked(call) if not surely else ()
        return [
            *found,
            *(pair for expr in mappings for pair in self.counts.in_unpacked(expr, env, boundary.workers)),
        ], surely

    def _demand_unpacked(self, call: Expr, env: Env, boundary: Boundary) -> Demand | None:
        """What JSON asks for in a mapping that a call unpacks."""
        mappings = _unpacked(call) if boundary.workers else ()
        asked = (self.counts.demand_unpacked(expr, env, boundary.workers) for expr in mappings)
        return next((demand for demand in asked if demand is not None), None)

    def _workers(self, call: Expr, env: Env, boundary: Boundary, skip: int, instance: Inst | None) -> Workers:
        """How many worker processes a loader has."""
        processes = self._in_processes(boundary, call, env, skip)
        count = self._count(call, env, boundary, skip, instance) if processes is not Answer.NO else Workers.NONE
        return Workers.UNKNOWN if count is Workers.SOME and processes is Answer.UNKNOWN else count

    def _count(self, call: Expr, env: Env, boundary: Boundary, skip: int, instance: Inst | None) -> Workers:
        if "." in boundary.workers:
            return self._workers_of_options(call, env, boundary, skip)
        found, surely = self._given_workers(call, env, boundary, skip)
        default = Workers.SOME if boundary.defaults.get(boundary.workers) else Workers.NONE
        first = self.counts.of_arguments(found, surely, self._open_ended(call, env), default)
        if not found and first is Workers.UNKNOWN and self._demand_unpacked(call, env, boundary) is not None:
            first = Workers.SOME
        made = instance.call if instance is not None else call
        later, always = self._set_later.get(id(made), (first, True))
        return later if always else join((first, later))

    @at_rest
    def _set_later(self) -> dict[int, tuple[Workers, bool]]:
        """The values stored as `num_workers` of an existing loader, by the call that creates it, and whether always."""
        found: dict[int, tuple[Workers, bool]] = {}
        for module in self.index:
            for write in module.attribute_writes.get("num_workers", ()):
                env, value = self.evaluator.generic(module, write.function), write.event.value
                for made in self.evaluator.values(write.target.args[0], env) if value is not None else ():
                    if isinstance(made, ExtInst | Inst) and made.call is not None and self.is_made_loader(made):
                        assert value is not None
                        found[id(made.call)] = self.counts.of_expression(value, env), write.event.block < 0
        return found

    def _workers_of_options(self, call: Expr, env: Env, boundary: Boundary, skip: int) -> Workers:
        option, options = boundary.workers.partition(".")[2], self._options(call, env, boundary, skip)
        if self.set_options.ask_for_none(options, option, call, env):
            return Workers.NONE
        return join([self._workers_of_object(value, option, env) for value in options])

    def has_none_for(self, loader: Loader, made: ExtInst | Inst) -> bool:
        """Whether the code that makes something leaves a loader that gets it without workers, by its options."""
        option = loader.boundary.workers.partition(".")[2]
        if not option or made.call is None or made.env is None:
            return False
        options = self._options(loader.given, loader.env, loader.boundary, loader.skip)
        return self.set_options.ask_for_none(options, option, made.call, made.env)

    def _options(self, call: Expr, env: Env, boundary: Boundary, skip: int) -> Values:
        """The objects of options that a loader may be given."""
        found, _ = self._argument(call, env, boundary, skip, boundary.workers.partition(".")[0])
        return tuple(value for pair in found for value in self.evaluator.values(*pair))

    def _demand(self, call: Expr, env: Env, boundary: Boundary, skip: int) -> Demand | None:
        """What a file of the project asks for, where the number is that of an option with 0 as its default."""
        option = boundary.workers.partition(".")[2]
        if not option:
            given, _ = self._given_workers(call, env, boundary, skip)
            return self.counts.demand(given) if given else self._demand_unpacked(call, env, boundary)
        options = self._options(call, env, boundary, skip)
        found = (self.declared.demand_of_library(option, value, env) for value in options)
        return next((demand for demand in found if demand is not None), None)

    def _workers_of_object(self, value: Value, option: str, env: Env) -> Workers:
        """The workers that an object of options asks for: none where the call that makes it doesn't, as their base."""
        classes = self.evaluator.classes
        made = isinstance(value, ExtInst) and value.call.kind == "call" and _holds_options(value.name)
        if isinstance(value, Inst) and option not in classes.dataclass_fields(value.klass):
            made = classes.is_a(value.klass, _holds_options) is Answer.YES
        if not made or not isinstance(value, ExtInst | Inst) or value.call is None or value.env is None:
            asked = self.declared.demand_of_library(option, value, env) is not None
            return Workers.SOME if asked else Workers.UNKNOWN
        if option in value.env.module.attribute_writes:
            return Workers.UNKNOWN  # it may be set on the object
        found, surely = self.evaluator.arguments.argument(value.call, value.env, None, option)
        return self.counts.of_arguments(found, surely, self._open_ended(value.call, value.env))

    def open_ended(self, loader: Loader) -> bool:
        """Whether a `**mapping` of unknown content is among a loader's arguments."""
        return self._open_ended(loader.given, loader.env)

    def _open_ended(self, call: Expr, env: Env) -> bool:
        """Whether a `**mapping` of unknown content is among the arguments."""
        return any(key == "**" and self._unknown(expr, env) for key, expr in call.keywords)

    def _unknown(self, mapping: Expr, env: Env) -> bool:
        key = id(mapping), id(env)
        return self.evaluator.ask(self._unknowns, key, False, self._find_unknown, mapping, env)

    def _find_unknown(self, mapping: Expr, env: Env) -> bool:
        values = self.evaluator.values(mapping, env)
        if not values:
            return not self.evaluator.fixpoint.is_open()
        return any(map(self._unknown_mapping, values)) or bool(self.counts.filling(mapping, env))

    def _unknown_mapping(self, value: Value) -> bool:
        if isinstance(value, Free):
            function = value.module.model.functions[value.function]
            return not self.evaluator.call_sites.is_called(value.module, function.index)
        if isinstance(value, ExtInst) and value.name == "builtins.dict":
            inner = [expr for key, expr in value.call.keywords if key == "**"] + list(value.call.args[1:])
        elif isinstance(value, Seq) and value.expr.kind == "dict":
            inner = [key.args[0] for key in value.expr.args[::2] if key.kind == "star"]
        else:
            return True
        return any(self._unknown(expr, value.env) for expr in inner)

    def _methods(self, call: Expr, env: Env, boundary: Boundary, skip: int) -> tuple[frozenset[str], bool]:
        """What `multiprocessing_context` says; an option that leaves a choice, and is None by default, says nothing."""
        found: set[str] = set()
        none = False
        for pair in self._argument(call, env, boundary, skip, "multiprocessing_context")[0]:
            for given in self.evaluator.values(*pair):
                values: Values = (given,)
                if isinstance(given, ExtInst) and given.name.endswith("get_context") and len(given.call.args) > 1:
                    values = self.evaluator.values(given.call.args[1], given.env)
                said = {value.value for value in values if isinstance(value, Const)}
                none = none or None in said
                found.update(str(method) for method in said if method in ALL_METHODS)
        if found and not (none and len(found) > 1):
            return frozenset(found), True
        return self.chosen_methods.of(env.module.path)


def _is_own(expr: Expr) -> bool:
    return expr.kind == "name" and expr.name == _OWN


def _is_of_own(site: Site, files: set[Module]) -> bool:
    """Whether a call is of `cls` in one of some files."""
    return site.module in files and _is_own(site.expr.args[0])


def _handed_on_in(module: Module) -> Iterator[tuple[str, str]]:
    """What a module hands on by another name, each with that name."""
    for site in module.calls.get("partial", ()):
        if len(site.expr.args) > 1 and site.event.target is not None:
            yield site.expr.args[1].name, site.event.target.name
    for function in module.model.functions:
        for parameter in function.parameters:
            if parameter.default is not None:
                yield parameter.default.name, parameter.name
    for calls in module.calls.values():
        for call in calls:
            for keyword, value in call.expr.keywords:
                if value.kind in _NAMED:
                    yield value.name, keyword


def _unpacked(call: Expr) -> Iterator[Expr]:
    """What a call unpacks: `options` of `f(**options)`."""
    return (expr for key, expr in call.keywords if key == "**")


def _said(demand: Demand | None) -> str:
    return f"`{demand.path}:{demand.line}` asks for {demand.number}" if demand is not None else ""


def _holds_options(name: str) -> bool:
    """Whether a class of a library is transformers' `TrainingArguments`, or derives from it (in their sources)."""
    package, _, last = name.rpartition(".")
    return last.endswith("TrainingArguments") or (package.partition(".")[0] == "trl" and last.endswith("Config"))
