"""What workers send back: the items of a dataset as a loader's collate function leaves them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.finding import Note
from dllint.project.escape.handles import handle_of
from dllint.project.escape.shipped import namedtuple_of, unpicklable_class, unpicklable_function
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Func, Inst, Method, Seq, Value
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.roles import is_example, is_test

if TYPE_CHECKING:
    from dllint.project import Project

_DEFAULTDICT = "collections.defaultdict"
_CONTAINERS = frozenset({_DEFAULTDICT, "builtins.dict", "collections.OrderedDict"})
_REBUILT = frozenset({"typing.NamedTuple", "builtins.dict", "builtins.list", "collections.OrderedDict"})
"""Bases of types that the default collate function recreates: an object of the same class, for the batch (measured)."""
_WRAPPERS = frozenset({
    "torch.utils.data.Subset", "torch.utils.data.ConcatDataset", "torch.utils.data.random_split",
    "torch.utils.data.ChainDataset",
})  # fmt: skip
"""Datasets whose items are those of the datasets that they are given first."""
MAX_WRAPPERS = 4


class Items:
    """Answers where it is seen; a collate function that makes something else of its items hides them."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries

    def unpicklable(self, loader: Loader) -> Iterator[tuple[Value, str]]:
        """What a loader's workers send back that pickle refuses, with what it is in words."""
        collates, surely = self.boundaries.argument(loader, "collate_fn")
        functions = [value for pair in collates for value in self.evaluator.values(*pair)]
        for function in functions:
            for called, env in self._called(function):
                if not unchanged(called):
                    yield from self._refused(self._returned(env))
        kept = surely and bool(functions) and all(map(self._passes_on, functions))
        kept = kept or (not collates and self._one_by_one(loader))
        default = not collates and not any(key == "**" for key, _ in loader.call.keywords)
        if kept or default:
            for pair in self.boundaries.argument(loader, "dataset")[0]:
                for value in self.evaluator.values(*pair):
                    yield from self._refused(self._items(value)) if kept else self.of_dataset(value)

    def shown(self) -> Iterator[tuple[Value, Note]]:
        """Datasets that only tests and examples load, which say nothing of workers: their users may say something."""
        loaded = [
            (loader, value)
            for loader in self.boundaries.loaders
            for pair in self.boundaries.argument(loader, "dataset")[0]
            for value in self.evaluator.values(*pair)
            if isinstance(value, Inst) and not _shows(value.klass.module.path)
        ]
        used = {value.klass for loader, value in loaded if loader.asked or not _shows(loader.path)}
        for loader, value in loaded:
            if value.klass not in used:
                yield value, Note(loader.path, loader.span, f"`{loader.name}(...)` loads it here, without workers")

    def of_dataset(self, dataset: Value) -> Iterator[tuple[Value, str]]:
        """What a dataset's items hold that pickle refuses and torch's default collate function keeps."""
        return (pair for pair in self._refused(self._items(dataset)) if self._survives(pair[0]))

    def of_functions(self, functions: Iterable[Value]) -> Iterator[tuple[Value, str, bool]]:
        """What functions of the project return that pickle refuses, and whether they return nothing else."""
        for function in functions:
            for called, env in self._called(function) if not unpicklable_function(function) else ():
                if called.facts.is_generator:
                    yield called, "a generator", True
                elif not unchanged(called):
                    returned = list(self._returned(env))
                    for value, what in self._refused(returned):
                        yield value, what, len(returned) == 1

    def _survives(self, value: Value) -> bool:
        """Whether the default collate function makes a batch of the value's own type, and raises for no other."""
        if isinstance(value, Inst):
            return self.evaluator.classes.is_a(value.klass, _REBUILT) is Answer.YES
        return namedtuple_of(value) is not None or (isinstance(value, ExtInst) and value.name == _DEFAULTDICT)

    def _called(self, function: Value, depth: int = 3) -> Iterator[tuple[Func, Env]]:
        """The functions of the project that calling a value runs, each in its activation."""
        match function:
            case Func():
                yield function, self.evaluator.activations.activation(function, None, None)
            case Method(owner=owner, func=func):
                yield func, self.evaluator.activations.method_env(owner, func.module, func.index)
            case Inst():
                method = self.evaluator.classes.method(function, "__call__")
                yield from self._called(method) if method is not None else ()
            case ExtInst(name="functools.partial", call=call, env=env) if depth and len(call.args) > 1:
                for target in self.evaluator.values(call.args[1], env):
                    yield from self._called(target, depth - 1)

    def _passes_on(self, function: Value) -> bool:
        called = [item for item, _ in self._called(function)]
        return bool(called) and all(map(unchanged, called))

    def _one_by_one(self, loader: Loader) -> bool:
        """`batch_size=None`: nothing collates the items."""
        sizes, surely = self.boundaries.argument(loader, "batch_size")
        values = [value for pair in sizes for value in self.evaluator.values(*pair)]
        return surely and bool(values) and all(isinstance(value, Const) and value.value is None for value in values)

    def _items(self, dataset: Value, depth: int = MAX_WRAPPERS) -> Iterator[Value]:
        """What a dataset answers with; one that wraps others answers with their items."""
        match dataset:
            case Inst():
                method = self.evaluator.classes.method(dataset, "__getitem__")
                method = method or self.evaluator.classes.method(dataset, "__iter__")
                if method is not None:
                    func = method.func
                    yield from self._returned(self.evaluator.activations.method_env(dataset, func.module, func.index))
            case ExtInst(name=name, call=call, env=env) if name in _WRAPPERS and depth and len(call.args) > 1:
                for value in self.evaluator.values(call.args[1], env):
                    yield from self._items(value, depth - 1)
            case ExtInst(base=base) if base is not None and dataset.name.endswith("[]"):
                yield from self._items(base, depth - 1) if depth else ()
            case Seq():
                for value in self.evaluator.containers.elements(dataset) if depth < MAX_WRAPPERS else ():
                    yield from self._items(value, depth - 1) if depth else ()

    def _returned(self, env: Env) -> Iterator[Value]:
        """What a function answers with, or yields where it is a generator."""
        for event in env.facts.events:
            if not self.evaluator.conditions.may_run(env, event.start):
                continue
            if env.facts.is_generator:
                answers = [part.args[0] for part in event.walk() if part.kind == "yield" and part.args]
            else:
                answers = [event.value] if event.kind == "return" and event.value is not None else []
            for answer in answers:
                yield from self.evaluator.values(answer, env)

    def _refused(self, values: Iterable[Value], depth: int = 3) -> Iterator[tuple[Value, str]]:
        for value in values:
            what = refused(value) or self._refused_factory(value)
            if what:
                yield value, what
            elif depth and _is_container(value):
                yield from self._refused(self.evaluator.containers.elements(value), depth - 1)

    def _refused_factory(self, value: Value) -> str:
        """`defaultdict(lambda: ...)` as an item; one that gets another factory later is not asked."""
        if not isinstance(value, ExtInst) or value.name != _DEFAULTDICT or len(value.call.args) < 2:
            return ""
        if any(self.evaluator.attributes.later_factories(value)):
            return ""
        kinds = map(unpicklable_function, self.evaluator.values(value.call.args[1], value.env))
        kind = next(filter(None, kinds), "")
        return f"a `defaultdict` of a {kind if kind == 'lambda' else 'local function'}" if kind else ""


def _shows(path: str) -> bool:
    return is_test(path) or is_example(path)


def _is_container(value: Value) -> bool:
    if isinstance(value, Seq):
        return value.expr.kind in ("tuple", "list", "dict")
    return isinstance(value, ExtInst) and value.name in _CONTAINERS and value.call.kind == "call"


def unchanged(function: Func) -> bool:
    """Whether a function only returns its first parameter."""
    returned = [event.value for event in function.facts.events if event.kind == "return"]
    first = function.facts.parameters[0].name if function.facts.parameters else ""
    return bool(returned) and all(
        value is not None and value.kind == "name" and value.name == first for value in returned
    )


def refused(value: Value) -> str:
    """Why pickle refuses a value, in words; "" where it does not, as far as can be seen."""
    kind = unpicklable_function(value)
    if kind:
        return "a lambda" if kind == "lambda" else "a local function"
    if unpicklable_class(value) and isinstance(value, Inst):
        return f"an instance of the local class `{value.klass.facts.name}`"
    maker = namedtuple_of(value)
    if maker is not None and maker.local:
        return f"an instance of the local namedtuple `{maker.typename}`"
    if isinstance(value, Seq) and value.expr.kind == "comprehension" and value.expr.name == "generator":
        return "a generator"
    handle = handle_of(value)
    if handle is not None and isinstance(value, ExtInst):
        return f"{'an' if handle.what[0] in 'aeiou' else 'a'} {handle.what}"
    return ""
