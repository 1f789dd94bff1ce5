"""Containers with an element for each entry of one folder, or each line of one file, and of which these are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.knowledge import FRAMES
from dllint.model.facts import Block, Event, Expr
from dllint.project.data.contents import Contents
from dllint.project.data.growth import MAKERS, READ, Growth, chain, opens, reads_rows
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Seq, Value
from dllint.project.evaluate.shapes import GENERATOR
from dllint.project.program.flow import LOOPS

if TYPE_CHECKING:
    from dllint.project import Project

_ENTRIES = frozenset({"listdir", "scandir", "iterdir", "walk"})
"""What gives an element for each entry of one folder; `os.walk` gives one for each folder."""
_MATCHES = frozenset({"glob", "iglob"})
_TABLES = (*FRAMES, "numpy.loadtxt", "numpy.genfromtxt")
_READ_TEXT = frozenset({"pathlib.Path.read_text", "pathlib.Path().read_text"})
_PAIRED = frozenset({"builtins.enumerate", "builtins.zip", "builtins.map"})
_WILD = re.compile(r"[*?\[]")
_DISPLAYS = ("list", "tuple", "set", "dict")
_FEW = 20
"""So many rounds of a loop, each over a folder of its own, are like a loop over as many names."""
_MAX_NAMES = 4
"""So many names are followed from a pattern to its text."""
_MAX_TEXTS = 8
"""So many texts of one pattern are told apart; of more, nothing is known."""

Found = frozenset[ExtInst] | None
"""The calls that list or open what a container is made of; None where there is more to it."""


class Origins:
    """Answers which folders and files a container has one element for each entry or line of."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)
        self.contents = project.analysis(Contents)
        self._known: dict[Value, Found] = {}
        self._files: dict[ExtInst, Found] = {}

    def of(self, value: Value) -> Found:
        """The calls that list one folder or open one file, if all that a container has many of are from these."""
        return self.evaluator.ask(self._known, value, None, self._of, value)

    def _of(self, value: Value) -> Found:
        match value:
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                clauses = [iterable for key, iterable in expr.keywords if key == "in"]
                one = len(clauses) == 1 and not self._is_many(expr.args[-1], env)
                return self._loop(clauses[0], env) if one else None
            case ExtInst(name=name) if name == GENERATOR:
                yields = self.evaluator.containers.yields(value)
                return _all([self._one_by_one(event, item, scope) for event, item, scope in yields])
            case ExtInst(name=name, call=call, env=env) if call.kind == "call" and not name.endswith("[]"):
                last = name.rpartition(".")[2]
                if last in _ENTRIES or last in _MATCHES:
                    one = not _goes_down(call) if last in _ENTRIES else self._is_one_level(call, env)
                    return frozenset({value}) if one else None
                if name in _PAIRED:
                    return next(filter(None, (self._loop(arg, env) for arg in call.args[1:])), None)
        read = self._read(value) if isinstance(value, ExtInst) else None
        if read:
            return read
        copied = [part for part in self.growth.copied(value) if self.growth.grows(part)]
        made = isinstance(value, Seq) or (isinstance(value, ExtInst) and value.name in MAKERS)
        added = list(self.growth.fillings(value)) if made else []
        found = [self.of(part) for part in copied]
        found += [
            None if one.grouped else self._added(one.event, one.what, one.env)
            for one in added
            if self.evaluator.values(one.what, one.env) != (value,)  # `names += list(found)`: that list
        ]
        return _all(found)

    def _read(self, value: ExtInst) -> Found:
        """The files that a value is all of: opened, read in lines or rows, or parsed; itself adds none to these."""
        return self.evaluator.ask(self._files, value, frozenset(), self._find_read, value)

    def _find_read(self, value: ExtInst) -> Found:
        if value.name.endswith("[]") and value.call.kind != "subscript":
            return None
        for part in chain(value):
            if not isinstance(part, ExtInst):
                continue
            if part.name.endswith(("[]", ".readline")) and part.call.kind != "subscript":
                return None  # one line, in pieces
            if opens(part.name) and not reads_rows(part.name):
                return frozenset({part})
            if part.name.startswith(_TABLES) or part.name in _READ_TEXT:
                return frozenset({part})
            if part.name in READ or reads_rows(part.name):
                given = self.evaluator.values(part.call.args[1], part.env) if len(part.call.args) > 1 else ()
                return _all([self._read(file) if isinstance(file, ExtInst) else None for file in given])
        return None

    def _loop(self, iterable: Expr, env: Env) -> Found:
        """Where the elements of an expression come from, as far as it gives many."""
        values = self.evaluator.values(iterable, env)
        return _all([self.of(value) for value in values if self.growth.grows(value)])

    def _is_many(self, element: Expr, env: Env) -> bool:
        """Whether an element is a long container itself, or has one: the frames of a video."""
        if element.kind in _DISPLAYS:
            return any(self._is_many(part, env) for part in element.args)
        return any(map(self.contents.of, self.evaluator.values(element, env)))

    def _added(self, event: Event, what: Expr, scope: Env) -> Found:
        """Where that comes from which is added to a container, once or in one loop."""
        if any(True for _ in self._loops_around(event, scope, called=True)):
            return None
        loops = list(self._loops_around(event, scope))
        whole = event.kind == "augment" and what.kind not in _DISPLAYS
        if whole or (what.kind == "call" and what.args[0].name in ("extend", "update")):
            given = (what,) if whole else what.args[1:]
            long = [self._loop(arg, scope) for arg in given if self.growth.loops(arg, scope)]
            return None if loops else _all(long, frozenset())
        return self._one_by_one(event, what.args[-1] if what.kind == "call" else what if whole else event.value, scope)

    def _one_by_one(self, event: Event, element: Expr | None, scope: Env) -> Found:
        """Where the elements come from that a place adds or yields one by one."""
        loops = list(self._loops_around(event, scope))
        if len(loops) > 1 or (element is not None and self._is_many(element, scope)):
            return None
        return _all([self._around(loop, scope) for loop in loops], frozenset())

    def _around(self, loop: Block, scope: Env) -> Found:
        """Where the elements come from that a loop goes over."""
        if loop.kind == "for":
            return self._loop(loop.test, scope) if loop.test is not None else None
        return _all([_opened(line) for line in self.growth.read_until(loop, scope)])

    def _loops_around(self, event: Event, env: Env, called: bool = False) -> Iterator[Block]:
        """The loops around an event, or around the calls of its function, but not those over what is written out."""
        places = self.growth.called_from(env) if called else ((event, env),)
        for at, scope in places:
            for index in scope.module.enclosing(at.block):
                block = scope.module.block(index)
                if block.kind in LOOPS and not (block.test is not None and self._is_written(block.test, scope)):
                    yield block

    def _is_written(self, iterable: Expr, env: Env) -> bool:
        """`for end in ("png", "jpg")`, `for name in names.split("+")`."""
        values = self.evaluator.values(iterable, env)
        return bool(values) and not any(map(self.growth.grows, values)) and all(map(_is_short, values))

    def _is_one_level(self, call: Expr, env: Env) -> bool:
        """Whether the pattern of a `glob` has wildcards in one part of the path only."""
        texts = self._texts(call.args[1], env) if len(call.args) > 1 else []
        return 0 < len(texts) <= _MAX_TEXTS and all(map(_is_wild_once, texts))

    def _texts(self, pattern: Expr, env: Env, names: int = _MAX_NAMES) -> list[str]:
        """What a pattern may have with wildcards in it: of more than `_MAX_TEXTS`, one too many is enough to tell."""
        texts = [""]
        for part in pattern.walk():
            if isinstance(part.value, str):
                texts = [f"{text}/{part.value}" if _WILD.search(part.value) else text for text in texts]
            elif part.kind in ("name", "attribute") and names and len(texts) <= _MAX_TEXTS:
                found = [
                    more for value in self.evaluator.values(part, env) for more in self._texts_in(value, pattern, names)
                ]
                texts = [f"{text}/{more}" if more else text for text in texts for more in dict.fromkeys(found or [""])]
        return [*dict.fromkeys(texts)][: _MAX_TEXTS + 1]

    def _texts_in(self, value: Value, pattern: Expr, names: int) -> list[str]:
        """The same of what a name in a pattern stands for."""
        if isinstance(value, Const) and isinstance(value.value, str):
            return [value.value if _WILD.search(value.value) else ""]
        if isinstance(value, ExtInst) and value.call.kind == "call" and value.call is not pattern:
            return self._texts(value.call, value.env, names - 1)
        return [""]


def _is_wild_once(pattern: str) -> bool:
    """Whether a pattern has wildcards in one part of the path only."""
    wild = [part for part in re.split(r"[/\\]", pattern) if _WILD.search(part)]
    return len(wild) == 1 and "**" not in wild[0]


def _is_short(value: Value) -> bool:
    """Whether a value that doesn't grow with data is written out, in pieces, as one text, or as a range."""
    if isinstance(value, ExtInst) and value.name == "builtins.range":
        bounds = [bound.value for bound in value.call.args[1:]]
        return all(isinstance(bound, int) and bound <= _FEW for bound in bounds)
    if isinstance(value, ExtInst):
        return value.name.endswith(".split") and value.call.kind == "call"
    return isinstance(value, Seq) and value.expr.kind in _DISPLAYS and bool(value.expr.args)


def _opened(line: ExtInst) -> Found:
    """The file that a line is read from."""
    found = frozenset(part for part in chain(line) if isinstance(part, ExtInst) and opens(part.name))
    return found or None


def _all(found: list[Found], nothing: Found = None) -> Found:
    """All of these together, if each is known."""
    known = [one for one in found if one is not None]
    return frozenset().union(*known) if known and len(known) == len(found) else nothing if not found else None


def _goes_down(call: Expr) -> bool:
    """Whether a call lists the folders inside, too: `mmcv.scandir(folder, recursive=True)`."""
    recursive = call.keyword("recursive")
    return recursive is not None and recursive.value is True


def lists_folder(call: ExtInst) -> bool:
    """Whether an origin is a folder."""
    last = call.name.rpartition(".")[2]
    return last in _ENTRIES or last in _MATCHES
