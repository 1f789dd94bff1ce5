"""What workers send back: the items of a dataset as a loader's collate function leaves them."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.project.boundaries import Boundaries, Loader
from dllint.project.evaluate import Evaluator
from dllint.project.handles import handle_of
from dllint.project.shipped import namedtuple_of, unpicklable_class, unpicklable_function
from dllint.project.values import Const, Env, ExtInst, Func, Inst, Seq, Value


class Items:
    """Answers where it is seen; a collate function that makes something else of its items hides them."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries

    def unpicklable(self, loader: Loader) -> Iterator[tuple[Value, str]]:
        """What a loader's workers send back that pickle refuses, with what it is in words."""
        collates, surely = self.boundaries.argument(loader, "collate_fn")
        functions = [value for pair in collates for value in self.evaluator.values(*pair)]
        for function in functions:
            if isinstance(function, Func) and not unchanged(function):
                env = self.evaluator.activations.activation(function, None, None)
                yield from self._refused(self._returned(env))
        kept = surely and bool(functions) and all(isinstance(item, Func) and unchanged(item) for item in functions)
        kept = kept or (not collates and self._one_by_one(loader))
        default = not collates and not any(key == "**" for key, _ in loader.call.keywords)
        if kept or default:
            found = self._refused(self._items(loader))
            yield from (pair for pair in found if kept or namedtuple_of(pair[0]) is not None)

    def _one_by_one(self, loader: Loader) -> bool:
        """`batch_size=None`: nothing collates the items."""
        sizes, surely = self.boundaries.argument(loader, "batch_size")
        values = [value for pair in sizes for value in self.evaluator.values(*pair)]
        return surely and bool(values) and all(isinstance(value, Const) and value.value is None for value in values)

    def _items(self, loader: Loader) -> Iterator[Value]:
        for pair in self.boundaries.argument(loader, "dataset")[0]:
            for value in self.evaluator.values(*pair):
                method = self.evaluator.classes.method(value, "__getitem__") if isinstance(value, Inst) else None
                if method is not None:
                    func = method.func
                    yield from self._returned(self.evaluator.activations.method_env(value, func.module, func.index))

    def _returned(self, env: Env) -> Iterator[Value]:
        for event in env.facts.events:
            if event.kind == "return" and event.value is not None:
                if self.evaluator.conditions.may_run(env, event.start):
                    yield from self.evaluator.values(event.value, env)

    def _refused(self, values: Iterator[Value], depth: int = 3) -> Iterator[tuple[Value, str]]:
        for value in values:
            what = refused(value)
            if what:
                yield value, what
            elif depth and isinstance(value, Seq) and value.expr.kind in ("tuple", "list", "dict"):
                inner = (
                    part
                    for expr, env in self.evaluator.containers.items(value)
                    for part in self.evaluator.values(expr, env)
                )
                yield from self._refused(inner, depth - 1)


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
