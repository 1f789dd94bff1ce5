"""Which containers worker code reads item by item: indexed with the item's own index, or looped over in a stream."""

from __future__ import annotations

import re

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.flow import LOOPS
from dllint.project.reach import Running
from dllint.project.values import Env, ExtInst, Inst, Klass

_ENTRIES = frozenset({"__getitem__", "__getitems__", "get"})
_STREAMS = frozenset({"__iter__", "__next__"})
_INDEX_LIKE = re.compile(r"(^|_)(ind(ices|ex|exes)?|idxs?|perm\w*|order|ids?|keys?)$", re.IGNORECASE)
"""Attributes that hold indices or keys, by their names."""
_KEY = re.compile(
    r"^(?!.*(class|cat|label|type|kind|lang|speaker|spk|task|split|set|source|dom))(\w+_)?(id|uid|key|idx|index)$",
    re.IGNORECASE,
)
"""Entries of a row that lead to a record of its own; of classes, speakers and sources there are few."""
_DRAWS = (
    "random.choice", "random.randint", "random.randrange", "random.sample", "numpy.random.randint",
    "numpy.random.choice", "torch.randint",
)  # fmt: skip
_SAME = frozenset({"int", "str", "item", "tolist"})
MAX_STEPS = 8


class ItemReads:
    """Answers how worker code reads attributes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def read(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        """Where this code reads elements of `self.attribute` that change with the item."""
        receiver = running.env.receiver
        if not isinstance(receiver, Inst) or not self.evaluator.classes.derives(receiver.klass, klass):
            return None
        name = running.env.module.receiver_name(running.env.function)
        for event in running.events:
            streamed = running.env.facts.name in _STREAMS and event.kind == "for" and not _for_each(running.env, event)
            if streamed and event.value is not None and self._mentions(event.value, name, attribute):
                return event.value
            for part in event.walk():
                if self._by_item(part, name, attribute, running.env):
                    return part
        return None

    def _mentions(self, expr: Expr, name: str, attribute: str) -> bool:
        return any(_is_own(part, name, attribute) for part in expr.walk())

    def _by_item(self, part: Expr, name: str, attribute: str, env: Env) -> bool:
        if part.kind == "subscript" and _is_own(part.args[0], name, attribute):
            stepping = env.facts.name == "__next__" and part.args[1].kind in ("name", "attribute")
            return part.args[1].kind != "slice" and (stepping or self.is_index(part.args[1], env))
        if part.kind == "call" and len(part.args) > 1 and part.args[0].kind == "attribute":
            method = part.args[0]
            if method.name in ("get", "loadAnns", "loadImgs", "getAnnIds", "load_anns", "load_imgs", "get_ann_ids"):
                return _is_own(method.args[0], name, attribute) and (
                    method.name != "get" or self.is_index(part.args[1], env)
                )
            if method.name in ("choice", "sample"):
                return any(_is_own(arg, name, attribute) for arg in part.args[1:])
        return False

    def is_index(self, expr: Expr, env: Env, depth: int = MAX_STEPS) -> bool:
        """Whether an expression is the item's index, or drawn at random, or an index or key found under the index."""
        if depth == 0:
            return False
        match expr.kind:
            case "name":
                return self._name(expr, env, depth - 1)
            case "binop" | "unary" | "tuple":
                return any(self.is_index(arg, env, depth - 1) for arg in expr.args)
            case "ifexp":
                return any(self.is_index(arg, env, depth - 1) for arg in expr.args[1:])
            case "call":
                return self._call(expr, env, depth - 1)
            case "subscript":
                base = expr.args[0]
                if isinstance(expr.args[1].value, str):
                    return bool(_KEY.search(expr.args[1].value)) and self._is_row(base, env, depth - 1)
                index_like = base.kind in ("attribute", "name") and bool(_INDEX_LIKE.search(base.name))
                return index_like and self.is_index(expr.args[1], env, depth - 1)
        return False

    def _is_row(self, expr: Expr, env: Env, depth: int) -> bool:
        """Whether an expression is what stands under the item's index: `self.rows[index]`, `self.table.iloc[index]`."""
        if expr.kind == "subscript":
            return self.is_index(expr.args[1], env, depth)
        bindings = env.module.bindings[env.function, -1].get(expr.name, ()) if expr.kind == "name" and depth else ()
        values = [item.event.value for item in bindings if item.event is not None and item.event.kind == "assign"]
        return any(value is not None and value is not expr and self._is_row(value, env, depth - 1) for value in values)

    def _call(self, call: Expr, env: Env, depth: int) -> bool:
        values = self.evaluator.values(call, env)
        if any(isinstance(value, ExtInst) and value.name.startswith(_DRAWS) for value in values):
            return True
        callee = call.args[0]
        if callee.name not in _SAME:
            return False
        inner = callee.args[0] if callee.kind == "attribute" else call.args[1] if len(call.args) > 1 else None
        return inner is not None and self.is_index(inner, env, depth)

    def _name(self, expr: Expr, env: Env, depth: int) -> bool:
        for binding in env.module.bindings[env.function, -1].get(expr.name, ()):
            if binding.kind == "parameter":
                if self._parameter(expr.name, env, depth):
                    return True
            elif binding.event is not None and binding.event.kind == "assign" and binding.start <= expr.start:
                value = binding.event.value
                if value is not None and self.is_index(value, env, depth):
                    return True
        return False

    def _parameter(self, name: str, env: Env, depth: int) -> bool:
        facts = env.facts
        if facts.owner >= 0 and facts.name in _ENTRIES:
            return name != env.module.receiver_name(env.function)
        if env.call is None or env.caller is None or env.caller.function < 0:
            return False
        own = 1 if env.receiver is not None and facts.owner >= 0 else 0
        names = [parameter.name for parameter in facts.parameters]
        if name not in names[own:]:
            return False
        position = names.index(name) - own + env.skip
        found, _ = self.evaluator.arguments.argument(env.call, env.caller, position, name)
        return any(self.is_index(argument, where, depth) for argument, where in found)


def _for_each(env: Env, loop: Event) -> bool:
    """Whether a stream runs through a loop for each item that it yields: what is looped over is short then."""
    module = env.module
    yields = [part.start for event in env.facts.events for part in event.walk() if part.kind.startswith("yield")]
    around = [module.block(index) for index in module.enclosing(loop.block)]
    bodies = [block for block in module.model.blocks if block.parent == loop.block and block.test == loop.value]
    return any(
        block.kind in LOOPS and any(block.start <= at < block.end for at in yields) for block in around
    ) and not any(block.start <= at < block.end for block in bodies for at in yields)


def _is_own(expr: Expr, name: str, attribute: str) -> bool:
    """`self.attribute`."""
    return expr.kind == "attribute" and expr.name == attribute and expr.args[0].name == name != ""
