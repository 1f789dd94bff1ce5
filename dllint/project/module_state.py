"""What only the main process changes in the project's own modules, and workers read: they import the modules afresh."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.boundaries import Loader
from dllint.project.evaluate import Evaluator
from dllint.project.events import flat_targets
from dllint.project.guarded import GuardedNames
from dllint.project.guards import only_in_main, under_main_guard
from dllint.project.loader_starts import LoaderStarts
from dllint.project.main_code import MainCode
from dllint.project.module import MUTATORS, Module, Site
from dllint.project.module_globals import ANY, Global, Globals, Step, key_of
from dllint.project.on_demand import OnDemand
from dllint.project.own_code import OwnCode, events_of
from dllint.project.reach import Reach, Running
from dllint.project.values import Const, Env, Inst
from dllint.targets import PICKLING

_CHANGING = MUTATORS | {"clear", "pop", "popitem", "remove", "discard", "sort", "reverse", "appendleft", "extendleft"}
_MERGING = frozenset({"merge_from_file", "merge_from_list", "merge_from_other_cfg", "merge_from_dict", "merge_with"})
"""Methods of configurations (yacs, fvcore, detectron2, mmcv, OmegaConf) that overwrite what they hold."""
_CONTENT = frozenset({"items", "keys", "values", "copy", "index", "count", "issubset", "intersection", "union"})
_CONSUMERS = frozenset({
    "len", "list", "tuple", "set", "sorted", "enumerate", "sum", "min", "max", "any", "all", "iter", "choice",
})  # fmt: skip
_TELLING = frozenset({"print", "debug", "info", "warning", "error", "log", "write", "pprint"})
"""What is read for these changes no batch."""
MAX_CALLERS = 3


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


class Unseen(NamedTuple):
    """A change that workers do not see, the code in workers that depends on it, and the loader that starts these."""

    change: Change
    read: Read
    loader: Loader
    initial: Const | None
    """What it is after import, where that is known."""
    script: Module
    """The program whose own process makes the change."""


class ModuleState:
    """Finds them."""

    def __init__(
        self, evaluator: Evaluator, main_code: MainCode, guarded: GuardedNames, loader_starts: LoaderStarts
    ) -> None:
        self.evaluator = evaluator
        self.main_code = main_code
        self.guarded = guarded
        self.loader_starts = loader_starts
        self.globals = Globals(evaluator)
        reach = Reach(evaluator)
        self._own_code: OnDemand[Module, OwnCode] = OnDemand(lambda script: OwnCode(reach, script))
        self._imported_code = OnDemand(self._run_on_import)

    def unseen(self, running: Iterable[Running]) -> Iterator[Unseen]:
        """The changes of the main scripts' own processes that these workers depend on."""
        by_loader: dict[Loader, list[Running]] = defaultdict(list)
        for code in running:
            if code.loader is not None and code.loader.methods & PICKLING and code.env.function >= 0:
                by_loader[code.loader].append(code)
        in_workers = {code.function for codes in by_loader.values() for code in codes}
        reads = {loader: self._read_by(codes) for loader, codes in by_loader.items()}
        roots = {read.place.root for found in reads.values() for read in found}
        for script in self._scripts({loader.path for loader, found in reads.items() if found}):
            changes = [change for change in self._changed_by(script, in_workers) if change.place.root in roots]
            for loader, found in reads.items() if changes else ():
                if self._own_code[script].makes(loader):
                    yield from self._joined(script, loader, changes, found)

    def _scripts(self, paths: set[str]) -> Iterator[Module]:
        """The programs that import one of these files, or are it, and have code of their own process."""
        found = {importer for path in paths for importer in self.evaluator.index.importers(path)}
        for path in sorted(found):
            module = self.evaluator.index.modules[path]
            if not module.is_test and self.guarded.has_guarded_part(module):
                yield module

    def _joined(self, script: Module, loader: Loader, changes: list[Change], reads: list[Read]) -> Iterator[Unseen]:
        for change in changes:
            read = next((read for read in reads if self._depends(read, change, script)), None)
            if read is None or self._too_late(change):
                continue
            initial = self._initial(change.place)
            if not (isinstance(initial, Const) and self._constant(change.value, change.running.env) == initial):
                yield Unseen(change, read, loader, initial, script)

    def _depends(self, read: Read, change: Change, script: Module) -> bool:
        if not read.place.shows(change.place) or self.guarded.missing(*change.place[:2]) is not None:
            return False
        # What others import of a script is another module than the one that runs.
        return change.place.module is not script or read.running.env.module is script

    # What worker code reads.

    def _read_by(self, codes: list[Running]) -> list[Read]:
        """What the code of one loader's workers reads, but for what it writes itself."""
        live = [(code, event) for code in codes for event in code.events if self._runs(code, event)]
        own = [place for code, event in live for place, _, _ in self._writes(event, code.env)]
        return [
            Read(place, at, code)
            for code, event in live
            if not only_in_main(code.env.module, code.env.function, event)
            for expr in (event.value, *_bases(event))
            if expr is not None and not _is_told(code.env.module, code.env.function, event)
            for place, at in self._reads(expr, code.env, event.kind == "for")
            if not any(place.shows(written) or written.shows(place) for written in own)
        ]

    def _runs(self, code: Running, event: Event) -> bool:
        return self.evaluator.conditions.may_run(code.env, event.start)

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

    # What the main process writes.

    def _changed_by(self, script: Module, in_workers: set[tuple[str, int]]) -> Iterator[Change]:
        """What the code of a script's own process changes, and neither an import nor a worker does."""
        for running in self._own_code[script].running:
            if running.env.module.is_test or running.function in in_workers or self._on_import(running, script):
                continue
            for event in events_of(running):
                if self._runs(running, event):
                    for place, at, value in self._writes(event, running.env):
                        yield Change(place, at, value, running, event)

    def _on_import(self, running: Running, script: Module) -> bool:
        """Whether importing what the script imports runs this code as well."""
        return running.env.function >= 0 and any(
            running.function in self._imported_code[path] for path in self.evaluator.index.imports(script.path)
        )

    def _run_on_import(self, path: str) -> frozenset[tuple[str, int]]:
        module = self.evaluator.index.modules[path]
        return frozenset(item.function for item in self.main_code.running(module))

    def _writes(self, event: Event, env: Env) -> Iterator[tuple[Global, Expr, Expr | None]]:
        """The places that an event changes, where, and to what."""
        if event.target is not None and event.kind in ("assign", "augment", "for", "with", "del"):
            for target in flat_targets(event.target):
                place = self._target(target, env)
                if place is not None:
                    plain = event.kind == "assign" and target is event.target
                    yield place, target, event.value if plain else None
        for expr in event.walk():
            if expr.kind == "call":
                yield from ((place, expr, None) for place in self._changed_by_call(expr, env))

    def _target(self, target: Expr, env: Env) -> Global | None:
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
        if callee.name == "setattr" and callee.kind == "name" and len(call.args) > 2:
            module, base = self.globals.module(call.args[1], env), self.globals.of(call.args[1], env)
            key = key_of(call.args[2])
            if base is not None:
                yield base.part(key)
            elif module is not None and isinstance(key, str):
                yield Global(module, key)
        elif callee.kind == "attribute" and callee.name in _CHANGING | _MERGING:
            owner = callee.args[0]
            inside = owner.kind == "attribute" and owner.name == "__dict__"
            base = self.globals.of(owner.args[0] if inside else owner, env)
            if base is not None and not self._own_method(owner, callee.name, env):
                yield from (base.part(key) for key in _keys_changed(call, callee.name))

    def _own_method(self, owner: Expr, name: str, env: Env) -> bool:
        """Whether the project says itself what a method does: the walk goes there."""
        values = self.evaluator.values(owner, env)
        return any(isinstance(item, Inst) and self.evaluator.classes.method(item, name) is not None for item in values)

    # What it is after import, and when it is changed.

    def _initial(self, place: Global) -> Const | None:
        """The constant that a place has when its module was imported."""
        module, found = place.module, None
        env = self.evaluator.env(module, -1)
        for event in module.model.events:
            target, value = event.target, event.value
            if event.kind != "assign" or target is None or value is None or under_main_guard(module, -1, event):
                continue
            if target.kind == "name" and target.name == place.name:
                found = _inside(value, place.path)
            elif target.kind != "name" and self._target(target, env) == place:
                found = value
        for item in module.model.classes:
            if item.name == place.name and item.parent < 0 and len(place.path) == 1:
                for event in item.events:
                    if event.kind == "assign" and event.target is not None and event.target.name == place.path[0]:
                        found = event.value
        return self._constant(found, env)

    def _constant(self, expr: Expr | None, env: Env) -> Const | None:
        values = self.evaluator.values(expr, env) if expr is not None else ()
        return values[0] if len(values) == 1 and isinstance(values[0], Const) else None

    def _too_late(self, change: Change) -> bool:
        """Whether all workers were started before, as far as the code around the change says."""
        site = Site(change.running.env.module, change.running.env.function, change.event, change.at)
        return self._ended_before(site, MAX_CALLERS) is True

    def _ended_before(self, site: Site, callers: int) -> bool | None:
        if self.loader_starts.around(site, 0) is not None or self.loader_starts.after(site) is not None:
            return False
        answers = set()
        if site.function >= 0 and callers:
            others = [other for other, _ in self.evaluator.call_sites.callers(site.module, site.function)]
            answers = {self._ended_before(other, callers - 1) for other in others}
        if False in answers:
            return False
        started = any(event.start < site.event.start for event, _ in self.loader_starts.of(site.module, site.function))
        return True if started or True in answers else None


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
