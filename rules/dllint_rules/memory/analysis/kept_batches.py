"""Batches, and views of them, that the main process keeps: each holds its shared memory and its file descriptor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, Opaque, Seq
from dllint.project.execution.passes import Loop, batch_names
from dllint.project.loaders.boundaries import Loader
from dllint.source import Span
from dllint_rules.memory.analysis.batch_counts import BatchCounts
from dllint_rules.memory.analysis.batch_views import (
    LISTED,
    VIEW_METHODS,
    calls,
    calls_on_the_way,
    seen_as_tensor,
    views_in,
)

if TYPE_CHECKING:
    from dllint.project import Project

_JOINERS = frozenset({
    "torch.cat", "torch.stack", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack",
})  # fmt: skip
_NUMERIC = frozenset({"numpy.concatenate", "numpy.vstack", "numpy.hstack", "torch.tensor", "torch.as_tensor"})
_ARRAYS = frozenset({"numpy.array", "numpy.asarray", "numpy.stack"})
_LISTS = frozenset({
    "builtins.list", "builtins.dict", "collections.defaultdict", "collections.OrderedDict", "collections.deque",
})  # fmt: skip
FEW = 500
"""Batches of two tensors that the usual limit of 1024 open files allows."""
_EMPTIED = frozenset({"clear", "pop", "popleft", "popitem"})


class Kept(NamedTuple):
    """A batch, or a view of it, that outlives the step of the loop."""

    path: str
    at: Span
    expr: Expr
    loop: Expr
    loader: Loader
    joined: bool
    """Goes into a function that joins tensors, so it is one."""

    def copies(self) -> list[tuple[Expr, str]]:
        """What to write behind which expressions to keep copies; empty where it is not known what is kept."""
        return _copies(self.expr, self.joined)


def _copies(expr: Expr, tensor: bool) -> list[tuple[Expr, str]]:
    if expr.kind in ("tuple", "list"):
        parts = [_copies(part, False) for part in expr.args]
        return [item for found in parts for item in found] if all(parts) else []
    method = expr.args[0].name if expr.kind == "call" and expr.args[0].kind == "attribute" else ""
    if method == "numpy":
        return [(expr, ".copy()")]
    plain = expr.kind in ("name", "attribute", "subscript", "call")
    return [(expr, ".clone()")] if plain and (tensor or method in VIEW_METHODS - LISTED) else []


class _Put(NamedTuple):
    """A view of what a loop goes through, put into a container."""

    receiver: Expr
    kept: Expr
    at: Span
    users: tuple[Expr, ...]
    """The calls of the function that are given the container."""
    is_tensor: bool
    """The loop itself treats what is put there as a tensor."""


class KeptBatches:
    """Answers where batches are kept."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries
        self.passes = project.passes
        self.main_code = project.main_code
        self.counts = BatchCounts(project)
        last = {name.rpartition(".")[2] for name in _JOINERS | _NUMERIC | _ARRAYS}
        aliases = self.evaluator.index.aliases
        self._users = frozenset(last.union(*(aliases.get(name, ()) for name in last)))
        """What functions that tell what a container has may be called: cheaper to ask than what a loop goes through."""

    def kept(self) -> Iterator[Kept]:
        """The places where batches or views of them are put into a container that outlives the loop's step."""
        for one in self.passes.loops():
            puts = list(_puts(one, self._users))
            loader = self._loader(one.iterable, one.env) if puts else None
            if loader is not None:
                yield from self._kept_by(one, loader, puts)
        yield from self._joined()

    def _loader(self, iterable: Expr, env: Env) -> Loader | None:
        """A loader whose batches a loop goes through, where they are many and share their memory."""
        loader = next((one for one in self.main_code.loaders_in(iterable, env) if not self._few(one)), None)
        return loader if loader is not None and not self._copied_on_the_way(loader) else None

    def _copied_on_the_way(self, loader: Loader) -> bool:
        """Pinned batches are copies; whether `pin_memory` is set must be known to be sure that they are not."""
        found, _ = self.boundaries.argument(loader, "pin_memory")
        values = [value for pair in found for value in self.evaluator.values(*pair)]
        return any(not isinstance(value, Const) or bool(value.value) for value in values)

    def _few(self, loader: Loader) -> bool:
        """Whether a pass ends long before the files run out: by the dataset's known length, or by its parts.

        `batch_size=len(dataset) // workers` makes as many batches as workers.
        """
        most = self.counts.most(loader)
        if most is not None and most <= FEW:
            return True
        pairs = self.boundaries.argument(loader, "batch_size")[0]
        values = [value for pair in pairs for value in self.evaluator.values(*pair)]
        made = [item.expr for item in values if isinstance(item, Opaque)]
        made += [item.call for item in values if isinstance(item, ExtInst)]
        parts = (part for expr in (*made, *(expr for expr, _ in pairs)) for part in expr.walk())
        return any(part.kind == "call" and part.args[0].name == "len" for part in parts)

    def _kept_by(self, one: Loop, loader: Loader, puts: Iterable[_Put]) -> Iterator[Kept]:
        for put in puts:
            if not self._is_container(_base(put.receiver), one.env):
                continue
            joined = any(self._is_joiner(call, one.env) for call in put.users)
            numbers = not joined and self._made_numbers(put, one.env, loader)
            if joined or numbers or put.is_tensor:
                yield Kept(one.env.module.path, put.at, put.kept, one.iterable, loader, joined)

    def _is_container(self, base: Expr, env: Env) -> bool:
        for value in self.evaluator.values(base, env):
            if isinstance(value, Seq) and value.expr.kind in ("list", "dict"):
                return True
            if isinstance(value, ExtInst) and value.name in _LISTS:
                return value.call.keyword("maxlen") is None and not (
                    value.name == "collections.deque" and len(value.call.args) > 2
                )
        return False

    def _made_numbers(self, put: _Put, env: Env, loader: Loader) -> bool:
        """Whether the container becomes an array of numbers, as torch's own collate function makes tensors of them."""
        if self.boundaries.argument(loader, "collate_fn")[0] or self.boundaries.open_ended(loader):
            return False
        return any(
            isinstance(value, Ext) and (value.name in _NUMERIC or (value.name in _ARRAYS and _of_numbers(part)))
            for part in put.users
            for value in self.evaluator.values(part.args[0], env)
        )

    def _is_joiner(self, call: Expr, env: Env) -> bool:
        return any(
            isinstance(value, Ext) and value.name in _JOINERS for value in self.evaluator.values(call.args[0], env)
        )

    def _joined(self) -> Iterator[Kept]:
        """`torch.cat([batch for batch in loader])`: all batches at once."""
        for site in self.evaluator.index.calls_named(sorted({name.rpartition(".")[2] for name in _JOINERS})):
            env = self.evaluator.generic(site.module, site.function)
            given = site.expr.args[1] if len(site.expr.args) > 1 else None
            if given is None or given.kind != "comprehension":
                continue
            targets = [value for key, value in given.keywords if key == "for"]
            iterables = [value for key, value in given.keywords if key == "in"]
            views = len(targets) == 1 and self._element_is_view(given.args[0], batch_names(targets[0], iterables[0]))
            if not views or not self._is_joiner(site.expr, env):
                continue
            loader = self._loader(iterables[0], env)
            if loader is not None:
                yield Kept(site.module.path, given.span, given.args[0], iterables[0], loader, True)

    def _element_is_view(self, expr: Expr, names: frozenset[str]) -> bool:
        if expr.kind == "call":
            callee = expr.args[0]
            return (
                callee.kind == "attribute"
                and callee.name in VIEW_METHODS
                and self._element_is_view(callee.args[0], names)
            )
        if expr.kind == "subscript":
            return expr.args[1].kind in ("constant", "slice") and self._element_is_view(expr.args[0], names)
        return expr.kind == "name" and expr.name in names


def _puts(one: Loop, users: Set[str]) -> Iterator[_Put]:
    """What a loop puts in every step into containers that outlive it: the part of the question that needs no values."""
    module = one.env.module
    for event, receiver, what in module.mutations[one.env.function]:
        inside = list(module.enclosing(event.block))
        if one.block not in inside or any(_is_case(one, index) for index in inside[: inside.index(one.block)]):
            continue
        kept, spread = _put(event, what)
        views = list(views_in(kept, one)) if kept is not None else []
        if kept is None or not views or (spread and calls(kept, "numpy")) or not _outlives(receiver, one):
            continue
        given = tuple(_given(receiver, one, users))
        is_tensor = any(calls_on_the_way(view, one, VIEW_METHODS) or seen_as_tensor(view, one) for view in views)
        if given or is_tensor:
            yield _Put(receiver, kept, what.span if event.kind == "expr" else kept.span, given, is_tensor)


def _base(receiver: Expr) -> Expr:
    return receiver.args[0] if receiver.kind == "subscript" else receiver


def _outlives(receiver: Expr, one: Loop) -> bool:
    """Whether a container is neither made nor emptied in the loop."""
    base = _base(receiver)
    if base.kind not in ("name", "attribute"):
        return False
    module, function = one.env.module, one.env.function
    body = module.block(one.block)
    if base.kind == "name":
        for binding in module.bindings[function, -1].get(base.name, ()):
            if binding.kind != "augment" and body.start <= binding.start < body.end:
                return False
    for event in module.events(function):
        if event.kind in ("assign", "del") and event.target is not None and body.start <= event.start < body.end:
            if event.target.dotted == base.dotted or event.kind == "del":
                return False
        for part in event.walk() if body.start <= event.start < body.end else ():
            if part.kind == "call" and part.args[0].name in _EMPTIED and part.args[0].kind == "attribute":
                if part.args[0].args[0].dotted == base.dotted:
                    return False
    return True


def _given(receiver: Expr, one: Loop, users: Set[str]) -> Iterator[Expr]:
    """The calls of some functions that get a container as their first argument, in the function that fills it."""
    for event in one.env.module.events(one.env.function) if receiver.dotted else ():
        for part in event.walk():
            if part.kind == "call" and part.args[0].name in users and len(part.args) > 1:
                if part.args[1].dotted == receiver.dotted:
                    yield part


def _is_case(one: Loop, index: int) -> bool:
    """A test that compares something of the batch: some batches, not all. What options say holds for all."""
    module, body = one.env.module, one.env.module.block(one.block)
    block = module.block(index)
    if block.kind != "if" or block.test is None:
        return block.kind == "else"
    parts = list(block.test.walk())
    bindings = module.bindings[one.env.function, -1]
    return any(part.kind == "compare" for part in parts) and any(
        body.start <= binding.start < body.end or binding.event is one.event
        for part in parts
        for binding in bindings.get(part.name if part.kind == "name" else "", ())
    )


def _put(event: Event, what: Expr) -> tuple[Expr | None, bool]:
    """What a mutation puts into its container, and whether it is spread over it."""
    if event.kind == "augment":
        return (what.args[0], False) if what.kind == "list" and len(what.args) == 1 else (None, True)
    if what.kind == "subscript":
        return event.value, False
    if what.args[0].name in ("append", "extend", "appendleft", "add") and len(what.args) == 2:
        return what.args[1], what.args[0].name == "extend"
    return None, False


def _of_numbers(call: Expr) -> bool:
    """`np.asarray(x, dtype=int)`."""
    dtype = call.keyword("dtype") or (call.args[2] if len(call.args) > 2 else None)
    written = str(dtype.value) if dtype is not None and dtype.kind == "constant" else dtype.name if dtype else ""
    return written.rstrip("0123456789_") in ("int", "uint", "float", "long", "double", "single", "bool")
