"""Programs that make CUDA the default device, and the loaders of theirs that draw a random order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.knowledge import DEFAULT_DEVICES
from dllint.model.facts import Class, Expr, Function
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.flow import LOOPS
from dllint.project.program.guards import under_main_guard
from dllint.project.program.module import Module, Site
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

_CPU = frozenset({None, "cpu", "torch.FloatTensor", "torch.DoubleTensor"})


class CudaDefault(NamedTuple):
    """A call that makes CUDA the default, and a loader of its program that shuffles without a generator."""

    module: Module
    call: Expr
    name: str
    loader: Loader


class _Place(NamedTuple):
    """Where a function makes a loader, itself or by a call."""

    offset: int
    """The end: what a call gets runs before it."""
    env: Env
    around: frozenset[int]


class DefaultDevice:
    """Joins them."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries
        self.devices = project.devices

    @at_rest
    def cuda_defaults(self) -> tuple[CudaDefault, ...]:
        """One entry for each call, with the first loader that it breaks."""
        found = []
        index = self.evaluator.index
        for site in self._setting:
            env = self.evaluator.generic(site.module, site.function)
            name = next((name for name in self._names(site, env) if self._to_cuda(site.expr, env, name)), "")
            path = site.module.path
            near = (
                loader
                for loader in self._shuffling
                if name and loader.path in index.imports(path) and self._used(loader, path)
                if self._comes_after(loader, site)
            )
            loader = next(near, None) or self._importing(site, name) or self._below_callers(site, name)
            if loader is not None:
                found.append(CudaDefault(site.module, site.expr, name, loader))
        return tuple(found)

    @cached_property
    def _setting(self) -> tuple[Site, ...]:
        """The calls that may set a default."""
        return tuple(self.evaluator.index.calls_named(sorted(name.rpartition(".")[2] for name in DEFAULT_DEVICES)))

    def _used(self, loader: Loader, program: str) -> bool:
        """Whether a program makes a loader itself, or names the function or class that does, outside of that.

        Or it names what names that, and so on: `from data import *` imports all that a package has.
        """
        waiting = [(loader.env.module, loader.env.function)]
        seen = set[tuple[str, Span]]()
        for module, function in waiting:
            definition = _definition(module, function)
            if definition is None or module.path == program:
                return True
            if (module.path, definition.span) not in seen:
                seen.add((module.path, definition.span))
                waiting += [
                    (other, user)
                    for other in map(self.evaluator.index.modules.__getitem__, self.evaluator.index.imports(program))
                    for user, part in _expressions(other)
                    if part.name == definition.name and not (other is module and _inside(part, definition.span))
                ]
        return False

    def _set_back(self, site: Site, loader: Loader) -> bool:
        """Whether the same code surely makes the CPU the default again between a call and where it makes a loader."""
        module, function = site.module, site.function
        place = _made_by(loader, module, function)
        if place is None:
            return False
        return any(
            other.function == function
            and site.expr.start < other.expr.start < place.offset
            and other.event.block in place.around
            and any(self._to_cpu(other.expr, place.env, setter) for setter in self._names(other, place.env))
            for other in self._setting
            if other.module is module
        )

    def _to_cpu(self, call: Expr, env: Env, name: str) -> bool:
        """Whether a call surely makes the CPU the default."""
        pairs = self.evaluator.arguments.argument(call, env, 0, DEFAULT_DEVICES[name])[0]
        values = [value for pair in pairs for value in self._device_names(*pair)]
        return bool(values) and all(isinstance(value, Const) and value.value in _CPU for value in values)

    def _device_names(self, expr: Expr, env: Env) -> Iterator[Value]:
        """What an expression may be; of a `torch.device`, its name."""
        for value in self.evaluator.values(expr, env):
            if isinstance(value, ExtInst) and value.name == "torch.device" and len(value.call.args) > 1:
                yield from self.evaluator.values(value.call.args[1], value.env)
            else:
                yield value

    def _importing(self, site: Site, name: str) -> Loader | None:
        """A loader in a file that imports this one, where the call runs on import: not under the main guard."""
        if not name or site.function >= 0 or under_main_guard(site.module, -1, site.event):
            return None
        index = self.evaluator.index
        importing = (item for item in self._shuffling if site.module.path in index.imports(item.path))
        return next((item for item in importing if self._comes_after(item, site)), None)

    def _below_callers(self, site: Site, name: str) -> Loader | None:
        """A loader that other code makes below where it calls the function of a call: `args = options.initialize()`."""
        if not name or site.function < 0 or self._ends_with_cpu(site):
            return None
        callers = [caller for caller, _ in self.evaluator.call_sites.callers(site.module, site.function)]
        return next((loader for loader in self._shuffling if any(self._is_below(loader, at) for at in callers)), None)

    def _ends_with_cpu(self, site: Site) -> bool:
        """Whether the function of a call makes the CPU the default again below it, in a `finally` perhaps."""
        module, env = site.module, self.evaluator.generic(site.module, site.function)
        around = {-1, *module.enclosing(site.event.block)}
        return any(
            (other.module, other.function) == (module, site.function)
            and other.expr.start > site.expr.start
            and (other.event.block in around or module.block(other.event.block).kind == "finally")
            and any(self._to_cpu(other.expr, env, setter) for setter in self._names(other, env))
            for other in self._setting
        )

    def _is_below(self, loader: Loader, call: Site) -> bool:
        """Whether code that makes a loader surely has run a call above, and then leaves the default alone."""
        place = _made_by(loader, call.module, call.function)
        above = place is not None and call.expr.end < place.offset and call.event.block in place.around
        return above and not self._set_back(call, loader)

    def _comes_after(self, loader: Loader, site: Site) -> bool:
        """Whether a loader may draw its order after a call, while the default is what that sets."""
        return not (self._set_back(site, loader) or _is_done(site, loader))

    def _names(self, site: Site, env: Env) -> Iterator[str]:
        for value in self.evaluator.values(site.expr.args[0], env):
            if isinstance(value, Ext) and value.name in DEFAULT_DEVICES:
                yield value.name

    def _to_cuda(self, call: Expr, env: Env, name: str) -> bool:
        for pair in self.evaluator.arguments.argument(call, env, 0, DEFAULT_DEVICES[name])[0]:
            if any(_cuda_type(value) for value in self.evaluator.values(*pair)) or self.devices.is_cuda(*pair):
                return True
        return False

    @at_rest
    def _shuffling(self) -> tuple[Loader, ...]:
        """Loaders that surely shuffle, with a generator of their sampler's own making."""
        return tuple(loader for loader in self.boundaries.loaders if not loader.in_tests and self._shuffles(loader))

    def _shuffles(self, loader: Loader) -> bool:
        found, surely = self.boundaries.argument(loader, "shuffle")
        values = [value for pair in found for value in self.evaluator.values(*pair)]
        shuffled = surely and bool(values) and all(_is_true(value) for value in values)
        hidden = any(key == "**" for key, _ in loader.call.keywords)
        given = self.boundaries.argument(loader, "generator")[0] or self.boundaries.argument(loader, "sampler")[0]
        return shuffled and not hidden and not given


def _made_by(loader: Loader, module: Module, function: int) -> _Place | None:
    """Where a function makes a loader; None: it isn't seen to."""
    span, env = loader.span, loader.env
    while (env.module, env.function) != (module, function):
        if env.call is None or env.caller is None:
            return None
        span, env = env.call.span, env.caller
    return _Place(span.end, env, frozenset({-1, *module.enclosing(module.block_at(function, span.start))}))


def _is_done(site: Site, loader: Loader) -> bool:
    """Whether a module makes a loader above the call, under names that nothing mentions from there on.

    It has drawn its order by then. A function that mentions one may be called later.
    """
    module = site.module
    if loader.env.module is not module or loader.env.function >= 0 or site.function >= 0:
        return False
    if any(module.block(block).kind in LOOPS for block in module.enclosing(site.event.block)):
        return False
    made = [event for event in module.events(-1) if event.value is not None and event.value.span == loader.call.span]
    if any(event.kind == "for" and event.end <= site.expr.start for event in made):
        return True
    targets = (event.target for event in made if event.kind == "assign" and event.target is not None)
    names = {target.name for target in targets if target.kind == "name"}
    mentions = (
        (function, part.start)
        for function, _, events in module.scopes
        for event in events
        for part in event.walk()
        if part.kind == "name" and part.name in names
    )
    return bool(names) and all(function < 0 and start < site.expr.start for function, start in mentions)


def _definition(module: Module, function: int) -> Class | Function | None:
    """The function or class of a module's top level that code is in; None: it runs on import."""
    while function >= 0 and module.model.functions[function].parent >= 0:
        function = module.model.functions[function].parent
    if function < 0:
        return None
    facts = module.model.functions[function]
    return module.model.classes[facts.owner] if facts.owner >= 0 else facts


def _expressions(module: Module) -> Iterator[tuple[int, Expr]]:
    """Every expression of a module, with the function that it is in."""
    for function, _, events in module.scopes:
        for event in events:
            yield from ((function, part) for part in event.walk())
    for item in module.model.classes:
        for base in item.bases:
            yield from ((-1, part) for part in base.walk())


def _inside(expr: Expr, span: Span) -> bool:
    return span.start <= expr.start and expr.end <= span.end


def _cuda_type(value: Value) -> bool:
    match value:
        case Const(value=text):
            return isinstance(text, str) and text.startswith("torch.cuda.")
        case Ext(name=name):
            return name.startswith("torch.cuda.") and name.endswith("Tensor")
    return False


def _is_true(value: Value) -> bool:
    return isinstance(value, Const) and value.value is True
