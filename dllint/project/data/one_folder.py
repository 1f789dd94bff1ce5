"""Containers with an element for each entry of one folder, not for what is in the folders below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Block, Event, Expr
from dllint.project.data.contents import Contents
from dllint.project.data.growth import MAKERS, Growth
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Seq, Value
from dllint.project.program.flow import LOOPS

if TYPE_CHECKING:
    from dllint.project import Project

_ENTRIES = frozenset({"listdir", "scandir", "iterdir", "walk"})
"""What gives an element for each entry of one folder; `os.walk` gives one for each folder."""
_MATCHES = frozenset({"glob", "iglob"})
_PAIRED = frozenset({"builtins.enumerate", "builtins.zip", "builtins.map"})
_WILD = re.compile(r"[*?\[]")
_DISPLAYS = ("list", "tuple", "set", "dict")
_MAX_NAMES = 4
"""So many names are followed from a pattern to its text."""


class OneFolder:
    """Answers whether containers only list one folder."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)
        self.contents = project.analysis(Contents)
        self._known: dict[Value, bool] = {}

    def lists(self, value: Value) -> bool:
        """Whether all that a container has many of are entries of one folder."""
        return self.evaluator.ask(self._known, value, False, self._lists, value)

    def _lists(self, value: Value) -> bool:
        match value:
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                clauses = [iterable for key, iterable in expr.keywords if key == "in"]
                return len(clauses) == 1 and self._loops(clauses[0], env) and not self._is_many(expr.args[-1], env)
            case ExtInst(name=name, call=call, env=env) if call.kind == "call" and not name.endswith("[]"):
                last = name.rpartition(".")[2]
                if last in _ENTRIES or last in _MATCHES:
                    return last in _ENTRIES or self._is_one_level(call, env)
                if name in _PAIRED:
                    return any(self._loops(arg, env) for arg in call.args[1:])
        copied = [part for part in self.growth.copied(value) if self.growth.grows(part)]
        made = isinstance(value, Seq) or (isinstance(value, ExtInst) and value.name in MAKERS)
        added = list(self.growth.fillings(value)) if made else []
        lists = all(map(self.lists, copied)) and all(
            not grouped and self._adds(event, what, scope) for scope, event, grouped, what in added
        )
        return bool(copied or added) and lists

    def _loops(self, iterable: Expr, env: Env) -> bool:
        """Whether an expression only gives entries of one folder, as far as it gives many."""
        many = [value for value in self.evaluator.values(iterable, env) if self.growth.grows(value)]
        return bool(many) and all(map(self.lists, many))

    def _is_many(self, element: Expr, env: Env) -> bool:
        """Whether an element is a long container itself, or has one: the frames of a video."""
        if element.kind in _DISPLAYS:
            return any(self._is_many(part, env) for part in element.args)
        return any(map(self.contents.of, self.evaluator.values(element, env)))

    def _adds(self, event: Event, what: Expr, scope: Env) -> bool:
        """Whether what is added to a container, once or in one loop, are entries of one folder."""
        if any(True for _ in self._loops_around(event, scope, called=True)):
            return False
        loops = list(self._loops_around(event, scope))
        whole = event.kind == "augment" and what.kind not in _DISPLAYS
        if whole or (what.kind == "call" and what.args[0].name in ("extend", "update")):
            given = (what,) if whole else what.args[1:]
            return not loops and all(self._loops(arg, scope) or not self.growth.loops(arg, scope) for arg in given)
        added = what.args[-1] if what.kind == "call" else what if whole else event.value
        if len(loops) > 1 or (added is not None and self._is_many(added, scope)):
            return False
        return all(loop.kind == "for" and loop.test is not None and self._loops(loop.test, scope) for loop in loops)

    def _loops_around(self, event: Event, env: Env, called: bool = False) -> Iterator[Block]:
        """The loops around an event, or around the calls of its function, but not those over what is written out."""
        places = self.growth.called_from(env) if called else ((event, env),)
        for at, scope in places:
            for index in scope.module.enclosing(at.block):
                block = scope.module.block(index)
                if block.kind in LOOPS and not (block.test is not None and self._is_written(block.test, scope)):
                    yield block

    def _is_written(self, iterable: Expr, env: Env) -> bool:
        """`for end in ("png", "jpg")`."""
        values = self.evaluator.values(iterable, env)
        return bool(values) and all(
            isinstance(value, Seq) and value.expr.kind in _DISPLAYS and value.expr.args and not self.growth.grows(value)
            for value in values
        )

    def _is_one_level(self, call: Expr, env: Env) -> bool:
        """Whether the pattern of a `glob` has wildcards in one part of the path only."""
        text = "/".join(self._texts(call.args[1], env)) if len(call.args) > 1 else ""
        wild = [part for part in re.split(r"[/\\]", text) if _WILD.search(part)]
        return len(wild) == 1 and "**" not in wild[0]

    def _texts(self, pattern: Expr, env: Env, names: int = _MAX_NAMES) -> Iterator[str]:
        """The text of a pattern, as far as it is written."""
        for part in pattern.walk():
            if isinstance(part.value, str):
                yield part.value
            elif part.kind in ("name", "attribute") and names:
                for value in list(self.evaluator.values(part, env))[:1]:
                    if isinstance(value, Const) and isinstance(value.value, str):
                        yield value.value
                    elif isinstance(value, ExtInst) and value.call.kind == "call" and value.call is not pattern:
                        yield from self._texts(value.call, value.env, names - 1)
