"""The datasets, transforms and factories that a project offers to others, and no loader of its own reaches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from dllint.finding import Note
from dllint.knowledge import (
    DATASET_MODULES,
    DATASETS,
    LOADED_BY_THEIR_PACKAGE,
    PREFIXES,
    WORKER_METHODS,
    holds_arguments,
    is_of_datasets,
)
from dllint.model.facts import Expr, Function, Parameter
from dllint.project.escape.gone_through import GoneThrough
from dllint.project.escape.own_training import OwnTraining
from dllint.project.escape.shipped import Holder
from dllint.project.evaluate import Answer, Evaluator
from dllint.project.evaluate.abstract_values import ExtInst, Func, Inst, Klass, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.evaluate.names import is_wrapper
from dllint.project.program.guards import under_main_guard
from dllint.project.program.module import Module, Site
from dllint.project.program.unnamed import Unnamed
from dllint.targets import Targets

_FOR_WORKERS = re.compile(
    r"(?<![a-z])(pre_?process(ing)?(_fn)?|transforms?|collat(e|or)(_fn)?|augment(ation)?s?)(?![a-z])", re.IGNORECASE
)

_BARE = frozenset({
    "torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "builtins.object", "abc.ABC", "typing.Generic",
})  # fmt: skip
"""Bases that give a class neither items nor a length."""
_PROTOCOL = frozenset({*WORKER_METHODS, "__len__"})
_DECORATED = frozenset({"cls", "klass", "func", "fn", "function", "method"})


class Library:
    """Finds what is there for users."""

    def __init__(self, evaluator: Evaluator, targets: Targets, unnamed: Unnamed) -> None:
        self.evaluator = evaluator
        self._gone_through = GoneThrough(evaluator, unnamed)
        self._unnamed = unnamed
        self._own_training = OwnTraining(evaluator, unnamed, self.is_dataset)
        self.known = DATASETS | set(targets.dataset_bases)

    def is_dataset(self, klass: Klass) -> bool:
        """Whether a class surely is a dataset: by a base class known to be one."""
        if not self._imports_datasets:
            return False
        matches = self.evaluator.classes.is_a(klass, lambda name: name in self.known or is_of_datasets(name))
        return matches is Answer.YES

    @cached_property
    def _imports_datasets(self) -> bool:
        """Whether any file imports a package that has datasets: without one, no class needs to be looked into."""
        named = (*self.known, *DATASET_MODULES, *LOADED_BY_THEIR_PACKAGE, *PREFIXES)
        packages = {name.partition(".")[0] for name in named}
        return not packages.isdisjoint(self.evaluator.index.packages)

    @at_rest
    def gives_away(self) -> bool:
        """Whether a dataset of the project goes to the loaders of a package, by its base."""
        return any(map(self._is_loaded_elsewhere, self.evaluator.classes.all_classes))

    def _is_loaded_elsewhere(self, klass: Klass) -> bool:
        found = self.evaluator.classes.is_a(klass, lambda name: name.startswith(LOADED_BY_THEIR_PACKAGE))
        return found is Answer.YES and self.is_dataset(klass)

    def gives(self, value: Value) -> bool:
        """Whether something is a dataset that goes to the loaders of a package."""
        return isinstance(value, Inst) and self._is_loaded_elsewhere(value.klass)

    def _offers(self, klass: Klass) -> bool:
        """Whether a class is a dataset that others can import: not from a notebook."""
        return self.is_dataset(klass) and not klass.module.notebook and not self._is_never_loaded(klass)

    def _is_never_loaded(self, klass: Klass) -> bool:
        """Whether a class is a dataset by its base alone: without items or a length, and nothing derives from it."""
        classes = self.evaluator.classes
        if not classes.plain(klass) or not _BARE.issuperset(classes.external_bases(klass)):
            return False
        if next(classes.subclasses(klass), None) is not None:
            return False
        return all(_PROTOCOL.isdisjoint(_names(base)) for base in classes.mro(klass))

    def _stays(self, klass: Klass, runs: bool) -> bool:
        """Whether the project's own code goes through a dataset, in its own process, and nobody else has it."""
        own = self._own_training
        return self._gone_through.only(klass, runs) or own.has(klass) or own.takes_all(klass)

    def datasets(self, reached: set[Klass], runs: bool) -> Iterator[tuple[Value, Note]]:
        """Dataset classes that no loader reaches, neither themselves nor through a subclass.

        In an application that `runs`, because loaders reach others or used code makes loaders, not those that no code
        names.
        """
        for klass in self.evaluator.classes.all_classes:
            if klass in reached or not self._offers(klass) or "<locals>" in klass.facts.qualname:
                continue
            if self._stays(klass, runs) or (runs and self._unnamed.is_class(klass.module, klass.facts)):
                continue
            text = f"no loader was seen to take `{klass.facts.name}`; one with workers meets this"
            yield Inst(klass, users=True), Note(klass.module.path, klass.facts.header, text)

    def made(self, reached: set[Klass], known: bool, runs: bool) -> Iterator[tuple[Value, Note]]:
        """Datasets that the project makes and that no loader is seen to take: some loader's dataset is not known.

        Where the datasets of all loaders are `known`, those that the package of their base hands to loaders. Not what
        functions make that nothing in an application uses, if it `runs`: code that is used makes loaders.
        """
        for klass in self.evaluator.classes.all_classes:
            if known and not self._is_loaded_elsewhere(klass):
                continue
            if klass in reached or not self.is_dataset(klass) or self._stays(klass, runs):
                continue
            if self._is_never_loaded(klass):
                continue
            for site in self.evaluator.index.calls_named((klass.facts.name,)):
                env = self.evaluator.generic(site.module, site.function)
                if site.module.is_test or under_main_guard(site.module, site.function, site.event):
                    continue
                if runs and self._unnamed.is_function(site.module, site.function):
                    continue
                if site.event.kind == "return" and "<locals>" in klass.facts.qualname:
                    continue  # `returned` asks who calls the function
                if klass in self.evaluator.values(site.expr.args[0], env):
                    if self._gone_through.keeps_to_itself(klass, site):
                        continue
                    text = f"`{klass.facts.name}` is made here; the loader that takes it could not be followed"
                    yield Inst(klass, site.expr, env), Note(site.module.path, site.expr.span, text)

    def default_lambdas(self, runs: bool) -> Iterator[tuple[Value, Holder, tuple[Note, ...]]]:
        """Lambdas that are defaults of a dataset's parameters and kept: callers that pass nothing ship them.

        Of an application, which has no other callers, some call must pass nothing.
        """
        for klass in self.evaluator.classes.all_classes:
            index = klass.facts.methods.get("__init__")
            if index is None or not self._offers(klass) or "<locals>" in klass.facts.qualname:
                continue
            function = klass.module.model.functions[index]
            for parameter in function.parameters:
                if parameter.default is None or parameter.default.kind != "lambda":
                    continue
                if runs and not self._unnamed.is_installed(klass.module.path) and self._is_replaced(klass, parameter):
                    continue
                for write in klass.module.self_writes.get(klass.index, {}).get(parameter.name, ()):
                    if write.event.value is not None and write.event.value.name == parameter.name:
                        text = f"kept as `{write.target.name}` of `{klass.facts.name}` when nothing else is passed"
                        holder = Holder("attribute", write.target.name, klass.facts.name)
                        value = Func(klass.module, parameter.default.ref)
                        yield value, holder, (Note(klass.module.path, write.target.span, text),)

    def _is_replaced(self, klass: Klass, parameter: Parameter) -> bool:
        """Whether all calls that make objects of a class, and there are some, pass something for a parameter."""
        init = klass.facts.methods["__init__"]
        calls = [given for _, _, given in self.evaluator.arguments.passed_by_all(klass.module, init, parameter.name)]
        return bool(calls) and all(given and all(expr is not parameter.default for expr, _ in given) for given in calls)

    def returned(self, per_item: Callable[[Module, int], bool], runs: bool) -> Iterator[tuple[Value, Note]]:
        """Transforms, local datasets and local functions that a function returns to users of the project.

        Not those that are made `per_item`. Nor those of functions that nothing in an application uses.
        """
        for module in self.evaluator.index:
            for function in module.model.functions:
                offered = list(self._offered(module, function)) if function.kind == "def" else []
                if not offered or (runs and self._unnamed.is_function(module, function.index)):
                    continue
                if not per_item(module, function.index):
                    text = f"returned by `{function.qualname}`; a loader with workers that gets it meets this"
                    yield from ((value, Note(module.path, function.header, text)) for value in offered)

    def _offered(self, module: Module, function: Function) -> Iterator[Value]:
        if module.notebook or function.parent >= 0 or function.decorators or function.index not in module.nesting:
            return
        ends = (event.value for event in function.events if event.kind == "return" and event.value is not None)
        returned = [value for value in ends if self._may_be_offered(value, module, function)]
        if not returned:
            return
        env = self.evaluator.generic(module, function.index)
        values = (value for expr in returned for value in self.evaluator.values(expr, env))
        offered = [value for value in values if self._is_offered(value, module, function)]
        if offered and self._is_used_outside(module, function) and self._only_returned(module, function):
            yield from offered

    def _is_used_outside(self, module: Module, function: Function) -> bool:
        """Whether a function is public, or called at all."""
        private = function.name.startswith("_") or not self._importable(module)
        return not private or self.evaluator.call_sites.is_called(module, function.index)

    def _is_offered(self, value: Value, module: Module, function: Function) -> bool:
        wraps = isinstance(value, Func) and is_wrapper(value.facts)
        return not wraps and self._for_workers(value, module, function)

    def _importable(self, module: Module) -> bool:
        """Whether other projects can import a file as a part of a package, or of one file that is all there is."""
        folder = module.path.rpartition("/")[0]
        return folder != "" or len(self.evaluator.index.modules) == 1

    def _may_be_offered(self, expr: Expr, module: Module, function: Function) -> bool:
        """Whether what a function returns may be something that `_for_workers` takes, as far as the text tells."""
        local = (item.index for item in module.model.classes if item.parent == function.index)
        if any(self.is_dataset(self.evaluator.klass(module, index)) for index in local):
            return True
        if (module, function.index) in self._composing:
            return not _is_parameter(expr, module, function)  # its callers have that
        return is_named_for_workers(function) and _may_be_local(expr, module, function)

    @cached_property
    def _composing(self) -> frozenset[tuple[Module, int]]:
        """The functions that call something known as `Compose`."""
        index = self.evaluator.index
        sites = index.calls_named(("Compose", *index.aliases.get("Compose", ())))
        return frozenset((site.module, site.function) for site in sites)

    def _only_returned(self, module: Module, function: Function) -> bool:
        """Whether all that the project itself does with what a function returns is to return it."""
        call_sites = self.evaluator.call_sites
        # Of a method that is called on objects which cannot be followed, all calls of its name are taken for its own.
        named = self.evaluator.index.calls_named((function.name,)) if function.owner >= 0 else ()
        all_named = all(site.event.kind == "return" for site in named)
        if not all_named and not call_sites.is_returned(module, function.index):
            return False
        callers = call_sites.callers(module, function.index)
        if not callers:
            return all_named
        return all(site.event.kind == "return" and not self._is_taken(site) for site, _ in callers)

    def _is_taken(self, returning: Site, above: frozenset[tuple[str, int]] = frozenset()) -> bool:
        """Whether the project itself takes what a function returns on, so that its own loaders show who gets that.

        A package that offers something returns it to others as well.
        """
        place = returning.module.path, returning.function
        if returning.function < 0 or place in above or self._unnamed.is_offered(returning.module):
            return False
        callers = self.evaluator.call_sites.known(returning.module, returning.function)
        return any(site.event.kind != "return" or self._is_taken(site, above | {place}) for site, _ in callers)

    def _for_workers(self, value: Value, module: Module, function: Function) -> bool:
        match value:
            case ExtInst(name=name):
                return name.rpartition(".")[2] == "Compose" and holds_arguments(name)
            case Inst(klass=klass):
                return klass.facts.parent == function.index and klass.module is module and self.is_dataset(klass)
            case Func():
                local = value.facts.parent == function.index
                return local and is_named_for_workers(function) and not _decorates(value)
        return False


def _names(klass: Klass) -> set[str]:
    """The methods of a class, and what its body assigns."""
    return {*klass.facts.methods, *(event.target.name for event in klass.facts.events if event.target is not None)}


def _is_parameter(expr: Expr, module: Module, function: Function) -> bool:
    """Whether an expression is a parameter that has the value it was given."""
    bindings = module.bindings[function.index, -1].get(expr.name, ()) if expr.kind == "name" else ()
    return [binding.kind for binding in bindings] == ["parameter"]


def _may_be_local(expr: Expr, module: Module, function: Function) -> bool:
    """Whether an expression may be a function that is defined in this one."""
    if expr.kind in ("ifexp", "boolop"):
        return any(_may_be_local(part, module, function) for part in expr.args[-2:])
    if expr.kind != "name":
        return expr.kind == "lambda"
    bindings = module.bindings[function.index, -1].get(expr.name, ())
    events = [item.event for item in bindings if item.event is not None]
    return any(
        event.kind == "def" or (event.value is not None and event.value.kind in ("name", "lambda", "ifexp", "boolop"))
        for event in events
    )


def is_named_for_workers(function: Function) -> bool:
    """Whether a factory's name says that it makes something for a dataset; `register_...` makes decorators."""
    return bool(_FOR_WORKERS.search(function.name)) and not function.name.startswith("register")


def _decorates(made: Func) -> bool:
    """Whether a local function is for decorating: it takes a class or a function, or makes another one."""
    first = made.facts.parameters[:1]
    if first and first[0].name in _DECORATED:
        return True
    model = made.module.model
    nested = any(item.parent == made.index and item.kind == "def" for item in model.functions)
    return nested or any(item.parent == made.index for item in model.classes)
