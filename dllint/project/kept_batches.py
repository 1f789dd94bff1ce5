"""Batches, and views of them, that the main process keeps: each holds its shared memory and its file descriptor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.boundaries import Boundaries, Loader
from dllint.project.evaluate import Evaluator
from dllint.project.flow import reaching
from dllint.project.index import Module
from dllint.project.passes import Pass, Passes, batch_names
from dllint.project.values import Const, Env, Ext, ExtInst, Opaque, Seq
from dllint.source import Span

_VIEW_METHODS = frozenset({
    "cpu", "detach", "numpy", "squeeze", "unsqueeze", "view", "flatten", "transpose", "permute", "t", "expand",
    "narrow", "select", "unbind", "chunk", "detach_", "view_as", "squeeze_", "unsqueeze_",
})  # fmt: skip
"""Methods of tensors whose result shares the memory of a tensor on the CPU (measured: a batch kept through `cpu`,
`detach`, `numpy` or a slice keeps its descriptor)."""
_LISTED = frozenset({"unbind", "chunk"})
"""Those whose result is a tuple of tensors."""
_VIEW_ATTRIBUTES = frozenset({"data", "T", "mT"})
_TENSOR_ONLY = _VIEW_METHODS | {"cuda", "to", "size", "requires_grad_", "float", "long", "item"}
_JOINERS = frozenset({
    "torch.cat", "torch.stack", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack",
})  # fmt: skip
_LISTS = frozenset({
    "builtins.list", "builtins.dict", "collections.defaultdict", "collections.OrderedDict", "collections.deque",
})  # fmt: skip
_EMPTIED = frozenset({"clear", "pop", "popleft", "popitem"})
MAX_STEPS = 8


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
    return [(expr, ".clone()")] if plain and (tensor or method in _VIEW_METHODS - _LISTED) else []


class KeptBatches:
    """Answers where batches are kept."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries, passes: Passes) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.passes = passes

    def kept(self) -> Iterator[Kept]:
        """The places where batches or views of them are put into a container that outlives the loop's step."""
        for one in self.passes.passes():
            if not self._copied_on_the_way(one.loader) and not self._few(one.loader):
                yield from self._kept_by(one)
        yield from self._joined()

    def _copied_on_the_way(self, loader: Loader) -> bool:
        """Pinned batches are copies; whether `pin_memory` is set must be known to be sure that they are not."""
        found, _ = self.boundaries.argument(loader, "pin_memory")
        values = [value for pair in found for value in self.evaluator.values(*pair)]
        return any(not isinstance(value, Const) or bool(value.value) for value in values)

    def _few(self, loader: Loader) -> bool:
        """Whether the batches are parts of a whole: `batch_size=len(dataset) // workers` makes as many as workers."""
        pairs = self.boundaries.argument(loader, "batch_size")[0]
        values = [value for pair in pairs for value in self.evaluator.values(*pair)]
        made = [item.expr for item in values if isinstance(item, Opaque)]
        made += [item.call for item in values if isinstance(item, ExtInst)]
        parts = (part for expr in (*made, *(expr for expr, _ in pairs)) for part in expr.walk())
        return any(part.kind == "call" and part.args[0].name == "len" for part in parts)

    def _kept_by(self, one: Pass) -> Iterator[Kept]:
        module, function = one.env.module, one.env.function
        for _, event, receiver, what in module.mutations_by_function.get(function, ()):
            inside = list(module.enclosing(event.block))
            if one.block not in inside or not self._outlives(receiver, one):
                continue
            if any(self._is_case(module, index) for index in inside[: inside.index(one.block)]):
                continue
            kept, spread = _put(event, what)
            if kept is None or not self.is_view(kept, one) or (spread and _calls(kept, "numpy")):
                continue
            joined = self._joined_later(receiver, one)
            if joined or _calls(kept, *_VIEW_METHODS) or self._tensor(kept, one):
                at = what if event.kind == "expr" else kept
                assert one.event.value is not None
                yield Kept(module.path, at.span, kept, one.event.value, one.loader, joined)

    def _is_case(self, module: Module, index: int) -> bool:
        """A test that compares: some batches, not all."""
        block = module.block(index)
        if block.kind == "else":
            return True
        return block.kind == "if" and block.test is not None and any(x.kind == "compare" for x in block.test.walk())

    def _outlives(self, receiver: Expr, one: Pass) -> bool:
        """Whether a container was made before the loop and is not emptied in it."""
        base = receiver.args[0] if receiver.kind == "subscript" else receiver
        if base.kind not in ("name", "attribute") or not self._is_container(base, one.env):
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

    def _is_container(self, base: Expr, env: Env) -> bool:
        for value in self.evaluator.values(base, env):
            if isinstance(value, Seq) and value.expr.kind in ("list", "dict"):
                return True
            if isinstance(value, ExtInst) and value.name in _LISTS:
                return value.call.keyword("maxlen") is None and not (
                    value.name == "collections.deque" and len(value.call.args) > 2
                )
        return False

    def is_view(self, expr: Expr, one: Pass, depth: int = MAX_STEPS) -> bool:
        """Whether an expression is the batch, a part of it or a view of it."""
        if depth == 0:
            return False
        match expr.kind:
            case "name":
                return self._name_is_view(expr, one, depth - 1)
            case "tuple" | "list":
                return any(self.is_view(arg, one, depth - 1) for arg in expr.args)
            case "attribute":
                return expr.name in _VIEW_ATTRIBUTES and self.is_view(expr.args[0], one, depth - 1)
            case "subscript":
                plain = all(
                    index.kind in ("constant", "slice") or (index.kind == "unary" and index.name == "-")
                    for index in expr.args[1:]
                )
                return plain and self.is_view(expr.args[0], one, depth - 1)
            case "call":
                callee = expr.args[0]
                if callee.kind != "attribute" or expr.keyword("copy") is not None:
                    return False
                to_cpu = callee.name == "to" and len(expr.args) == 2 and expr.args[1].value == "cpu"
                return (callee.name in _VIEW_METHODS or to_cpu) and self.is_view(callee.args[0], one, depth - 1)
        return False

    def _name_is_view(self, expr: Expr, one: Pass, depth: int) -> bool:
        bindings = one.env.module.bindings[one.env.function, -1].get(expr.name, [])
        if not bindings:
            return expr.name in one.names
        seen = reaching(one.env.module, one.env.function, bindings, expr.start)
        before = [item for item in seen if item.start <= expr.start and item.start >= one.event.start]
        if not before:
            return False
        newest = before[0]
        event = newest.event
        if event is one.event:
            return expr.name in one.names
        if event is not None and event.kind in ("assign", "for") and event.value is not None:
            return self.is_view(event.value, one, depth)
        return False

    def _tensor(self, kept: Expr, one: Pass) -> bool:
        """Whether the loop treats what is kept as a tensor."""
        names = {part.name for part in kept.walk() if part.kind == "name"}
        body = one.env.module.block(one.block)
        return any(
            part.kind == "call"
            and part.args[0].kind == "attribute"
            and part.args[0].name in _TENSOR_ONLY
            and part.args[0].args[0].kind == "name"
            and part.args[0].args[0].name in names
            for event in one.env.module.events(one.env.function)
            if body.start <= event.start < body.end
            for part in event.walk()
        )

    def _joined_later(self, receiver: Expr, one: Pass) -> bool:
        return any(
            self._is_joiner(part, one.env) and len(part.args) > 1 and part.args[1].dotted == receiver.dotted != ""
            for event in one.env.module.events(one.env.function)
            for part in event.walk()
            if part.kind == "call"
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
            if given is None or given.kind != "comprehension" or not self._is_joiner(site.expr, env):
                continue
            targets = [value for key, value in given.keywords if key == "for"]
            iterables = [value for key, value in given.keywords if key == "in"]
            loader = self.passes.loader(iterables[0], env)
            if loader is None or self._copied_on_the_way(loader) or self._few(loader) or len(targets) > 1:
                continue
            if self._element_is_view(given.args[0], batch_names(targets[0], iterables[0])):
                yield Kept(site.module.path, given.span, given.args[0], iterables[0], loader, True)

    def _element_is_view(self, expr: Expr, names: frozenset[str]) -> bool:
        if expr.kind == "call":
            callee = expr.args[0]
            return (
                callee.kind == "attribute"
                and callee.name in _VIEW_METHODS
                and self._element_is_view(callee.args[0], names)
            )
        if expr.kind == "subscript":
            return expr.args[1].kind in ("constant", "slice") and self._element_is_view(expr.args[0], names)
        return expr.kind == "name" and expr.name in names


def _put(event: Event, what: Expr) -> tuple[Expr | None, bool]:
    """What a mutation puts into its container, and whether it is spread over it."""
    if event.kind == "augment":
        return (what.args[0], False) if what.kind == "list" and len(what.args) == 1 else (None, True)
    if what.kind == "subscript":
        return event.value, False
    if what.args[0].name in ("append", "extend", "appendleft", "add") and len(what.args) == 2:
        return what.args[1], what.args[0].name == "extend"
    return None, False


def _calls(expr: Expr, *methods: str) -> bool:
    return any(
        part.kind == "call" and part.args[0].kind == "attribute" and part.args[0].name in methods
        for part in expr.walk()
    )
