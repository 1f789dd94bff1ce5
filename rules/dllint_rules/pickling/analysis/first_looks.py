"""What worker code opens on first use, where the first use is a look that the main process takes before the workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.finding import Note
from dllint.model.facts import Event, Expr
from dllint.project.escape.handle_table import Handle
from dllint.project.escape.handles import handle_of
from dllint.project.escape.pickle_state import left_out
from dllint.project.escape.shipped import Held, Holder
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Klass
from dllint.project.evaluate.at_rest import AtRest, at_rest
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.events import iterated_by
from dllint.project.program.module import Site, Write
from dllint.source import Span
from dllint_rules.pickling.analysis.read_through import ReadThrough

if TYPE_CHECKING:
    from dllint.project import Project


Functions = frozenset[tuple[str, int]]


class Kept(NamedTuple):
    """What reading an item makes, and keeps under an attribute."""

    attribute: str
    at: Span
    made: ExtInst


class Look(NamedTuple):
    """Something that an item is read through, made by a look at an item before the loader's workers start."""

    held: Held
    """What is made; the look is the second step of its route."""
    pickled: bool
    """Whether it goes to workers that are not forked; what `__getstate__` leaves out does not."""

    @property
    def handle(self) -> Handle | None:
        """What belongs to one process, if it is such."""
        return handle_of(self.held.value)


class FirstLooks:
    """Finds them. `images[0]`, `next(iter(images))`, `for image in images`, `images.__getitem__(0)` are looks."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.read_through = ReadThrough(project.evaluator)
        self._looks_in = AtRest(self.evaluator, self._looks_of)
        self._asking = AtRest(self.evaluator, self._asks_for_process)
        self.looks = tuple(self._find())

    def _find(self) -> Iterator[Look]:
        seen: set[tuple[object, Span]] = set()
        for held in self.project.every_route():
            inst, loader = held.value, held.loader
            if not isinstance(inst, Inst) or loader is None or held.assumed or held.method is not None:
                continue
            if loader.in_tests or not self.project.starts_workers(loader):
                continue
            for kept in self._lazy(inst):
                site = self._before(inst, loader) if (kept.made.call, kept.at) not in seen else None
                if site is not None:
                    seen.add((kept.made.call, kept.at))
                    yield self._look(held, inst, kept, site)

    def _look(self, held: Held, inst: Inst, lazy: Kept, site: Site) -> Look:
        attribute, at, made = lazy
        path, owner = made.env.module.path, inst.klass.facts.name
        kept = Note(path, at, f"kept as `{attribute}` of `{owner}`")
        looked = Note(site.module.path, site.expr.span, "the main process reads an item here, before workers start")
        sure = self.evaluator.reached.always(self._where(site), site.event.start)
        found = Held(
            made, Holder("attribute", attribute, owner), path, made.call.span, (kept, looked, *held.route),
            held.loader, held.certainty, None, False, held.sent, held.decided and sure,
        )  # fmt: skip
        dropped = left_out(self.evaluator, inst)
        return Look(found, dropped is not None and attribute not in dropped)

    def _lazy(self, inst: Inst) -> Iterator[Kept]:
        """What only the code that reads items creates and keeps, and never releases."""
        per_item = self.evaluator.classes.per_item_only(inst.klass)
        if not per_item or self._asking[inst.klass]:
            return
        for kept in (*self._assigned(inst, per_item), *self._cached(inst, per_item)):
            if not self.project.handles.is_released(inst.klass, kept.attribute):
                yield kept

    def _assigned(self, inst: Inst, per_item: Functions) -> Iterator[Kept]:
        """`self.x = open(...)`."""
        for klass in self.evaluator.classes.mro(inst.klass):
            for name, writes in klass.module.self_writes.get(klass.index, {}).items():
                for write in writes:
                    if (klass.module.path, write.function) in per_item:
                        env = self.evaluator.activations.method_env(inst, klass.module, write.function)
                        yield from (Kept(name, write.target.span, made) for made in self._made(write, env))

    def _cached(self, inst: Inst, per_item: Functions) -> Iterator[Kept]:
        """What a cached property returns."""
        for klass in self.evaluator.classes.mro(inst.klass):
            for name, index in klass.facts.methods.items():
                facts = klass.module.model.functions[index]
                cached = any(part.name == "cached_property" for part in facts.decorators)
                if cached and (klass.module.path, index) in per_item:
                    for value in self.evaluator.attributes.instance_attribute(inst, name):
                        if isinstance(value, ExtInst):
                            yield Kept(name, facts.header, value)

    def _made(self, write: Write, env: Env) -> Iterator[ExtInst]:
        value = write.event.value
        if value is None or write.event.kind != "assign" or write.target is not write.event.target:
            return
        if self.evaluator.conditions.may_run(env, write.event.start):
            for made in self.evaluator.values(value, env):
                if isinstance(made, ExtInst):
                    yield made

    def _asks_for_process(self, klass: Klass) -> bool:
        """Whether code of a class asks in which process it is: it opens again where that is another one."""
        return any(
            part.name in ("getpid", "get_worker_info", "current_process")
            for item in self.evaluator.classes.mro(klass)
            for function in item.facts.methods.values()
            for event in item.module.events(function)
            for part in event.walk()
        )

    def _before(self, inst: Inst, loader: Loader) -> Site | None:
        """Where the main process looks at an item of an object before a loader starts its workers."""
        for site in self._sites(inst):
            if loader.is_made_after(site) or self._is_started_after(loader, site):
                return site
        return None

    def _is_started_after(self, loader: Loader, site: Site) -> bool:
        place = loader.path, loader.span
        return any(
            event.start > site.event.start and (other.path, other.span) == place
            for event, other in self.project.loader_starts.of(site.module, site.function)
        )

    def _sites(self, inst: Inst) -> Iterator[Site]:
        """Where code other than that of workers and tests looks at an item of an object."""
        if inst.env is None or inst.call is None:
            return
        for path in sorted(self.evaluator.index.importers(inst.env.module.path)):
            for site in self._looks_in[path].get((id(inst.call), inst.klass), ()):
                if self.evaluator.conditions.may_run(self._where(site), site.event.start):
                    yield site

    def _looks_of(self, path: str) -> dict[tuple[int, Klass], list[Site]]:
        """The looks in a file, by the calls and classes of the objects that they are taken at."""
        found: dict[tuple[int, Klass], list[Site]] = defaultdict(list)
        module = self.evaluator.index.modules[path]
        for function, _, events in module.scopes if not module.is_test else ():
            if (path, function) not in self._in_workers:
                for event in events:
                    for expr in looked_at(event):
                        site = Site(module, function, event, expr)
                        for key in dict.fromkeys(self._objects(site)):
                            found[key].append(site)
        return dict(found)

    def _objects(self, site: Site) -> Iterator[tuple[int, Klass]]:
        """The objects whose item a look may mean, by their calls and classes."""
        for value in self.evaluator.values(site.expr, self._where(site)):
            for found in self.read_through.objects(value):
                if found.call is not None:
                    yield id(found.call), found.klass

    def _where(self, site: Site) -> Env:
        return self.evaluator.generic(site.module, site.function)

    @at_rest
    def _in_workers(self) -> Functions:
        return frozenset(item.function for item in self.project.running)


def looked_at(event: Event) -> Iterator[Expr]:
    """The names and attributes of which an event reads an item, or all."""
    yield from (expr for expr in iterated_by(event) if expr.kind in ("name", "attribute"))
    for expr in event.walk():
        callee = expr.args[0] if expr.args else expr
        subject = None
        if expr.kind == "subscript" and expr is not event.target and expr.args[1].kind != "slice":
            subject = callee
        elif expr.kind == "call" and callee.kind == "attribute" and callee.name == "__getitem__":
            subject = callee.args[0]
        elif expr.kind == "call" and callee.name == "enumerate" and len(expr.args) > 1:
            subject = expr.args[1]
        if subject is not None and subject.kind in ("name", "attribute"):
            yield subject
