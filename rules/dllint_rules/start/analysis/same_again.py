"""Files that a script writes on import as they are: a worker that does so again puts the same into them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dllint.knowledge import PATH_JOINS
from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, Opaque, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.loaders.arguments import event_of
from dllint_rules.start.analysis.determined import Determined, Step

_DUMPS = frozenset({"json.dump", "pickle.dump", "yaml.dump", "yaml.safe_dump"})
_WRITES = frozenset({"write", "writelines"})
_ENDS = frozenset({"close", "flush"})
_MODES: dict[str, tuple[int | None, str]] = {
    "open": (1, "mode"), "File": (1, "mode"), "FileHandler": (1, "mode"), "basicConfig": (None, "filemode"),
    "to_csv": (None, "mode"),
}  # fmt: skip
"""What writes files, by its last name, and the parameter that says how."""
_APPENDING = frozenset({"FileHandler", "basicConfig"})
_NAMED = ("file", "filename", "name", "path_or_buf")
_JOINED = PATH_JOINS | {"builtins.str"}
_FIELD = re.compile(r"%(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]|\{[^{}]*\}")
_STEPS = frozenset({"else", "for", "if", "with"})
_Place = tuple[Expr, Env]


class SameAgain:
    """Answers which files a script's workers leave as they are when they write them again.

    What is written is determined by the command line and by files that are only read, and nothing else of the program
    writes the file.
    """

    def __init__(self, evaluator: Evaluator, on_import: list[Step], guarded: Callable[[], Iterator[Step]]) -> None:
        self.evaluator = evaluator
        self.on_import = on_import
        self.guarded = guarded
        self.determined = Determined(evaluator, on_import, self._is_written)

    def is_left(self, call: Expr, env: Env) -> bool:
        """Whether a file is as it was after a worker has opened it in this call to write it."""
        written = self._written(call, env)
        if not written or not all(self.determined.is_determined(part, env) for part in written):
            return False
        texts = (value for part in written for value in self.evaluator.values(part, env))
        if all(isinstance(text, Const) for text in texts):
            return False  # a header: what it begins comes later
        return not any(self._may_be_same(call, env, *other) for other in self._writers if other != (call, env))

    def _written(self, call: Expr, env: Env) -> list[Expr]:
        """What is written into the file that a call opens, and what decides that; nothing if it goes elsewhere."""
        event = event_of(env, call)
        if event is None or call.args[0].name != "open":
            return []
        if event.kind == "assign" and env.function < 0:
            return []  # other code may have it
        found: list[Expr] = []
        for step in env.module.events(env.function):
            handles = [part for part in _parts(step) if self._is_handle(part, call, env, step)]
            if not handles:
                continue
            used = [self._use(part, handles, env) for part in step.walk() if part.kind == "call"]
            uses = [given for given in used if given is not None]
            tests = self._tests(env, step, event)
            if len(uses) != len(handles) or tests is None:
                return []
            found += [part for given in uses for part in given]
            found += tests if any(uses) else []
        return found

    def _is_handle(self, part: Expr, call: Expr, env: Env, step: Event) -> bool:
        """Whether an expression is the open file, where it is not only bound to a name."""
        if part is call:
            return step.value is not call
        return part.kind == "name" and any(
            isinstance(value, ExtInst) and value.call is call for value in self.evaluator.values(part, env)
        )

    def _use(self, call: Expr, handles: list[Expr], env: Env) -> tuple[Expr, ...] | None:
        """What a call writes into the open file; None: it is not known to use it."""
        callee, *given = call.args
        if callee.kind == "attribute" and callee.args[0] in handles:
            return tuple(given) if callee.name in _WRITES else () if callee.name in _ENDS else None
        names = {value.name for value in self.evaluator.values(callee, env) if isinstance(value, Ext)}
        if names & _DUMPS and len(given) > 1 and given[1] in handles:
            return tuple(given[:1])
        return tuple(given) if names == {"builtins.print"} and call.keyword("file") in handles else None

    def _tests(self, env: Env, step: Event, opened: Event) -> list[Expr] | None:
        """What decides whether and how often an event runs where the file is open; None: what isn't followed."""
        module = env.module
        outside = set(module.enclosing(opened.block))
        blocks = [module.block(index) for index in module.enclosing(step.block) if index not in outside]
        if not all(block.kind in _STEPS for block in blocks):
            return None
        partners = [module.block(block.partner) for block in blocks if block.kind == "else" and block.partner >= 0]
        told = [block for block in (*blocks, *partners) if block.kind != "with"]
        return [block.test for block in told if block.test is not None]

    @at_rest
    def _writers(self) -> list[_Place]:
        """The calls of the program that write files."""
        steps = (*self.on_import, *self.guarded())
        calls = ((call, running.env) for running, event in steps for call in event.walk() if call.kind == "call")
        return [place for place in calls if self._writes(*place)]

    def _writes(self, call: Expr, env: Env) -> bool:
        name = call.args[0].name
        if name not in _MODES or (name == "basicConfig" and self._path(call, env) is None):
            return False
        position, parameter = _MODES[name]
        if position is not None and self._is_method(call, env):
            position -= 1
        modes, _ = self.evaluator.arguments.argument(call, env, position, parameter)
        told = {value.value for pair in modes for value in self.evaluator.values(*pair) if isinstance(value, Const)}
        texts = [mode for mode in told if isinstance(mode, str) and len(mode) <= len("w+b")]
        return name in _APPENDING if not told else any(set(mode) & set("wax+") for mode in texts)

    def _is_method(self, call: Expr, env: Env) -> bool:
        """Whether a call is a method of a path or a table, not a function that is given the file's name."""
        return not any(isinstance(value, Ext) for value in self.evaluator.values(call.args[0], env))

    def _is_written(self, call: Expr, env: Env) -> bool:
        """Whether the program writes a file that a call reads, as far as their names are known."""
        path = self._path(call, env)
        others = [other for other in (self._path(*writer) for writer in self._writers) if other is not None]
        return path is None or any(self._is_same(path, other) for other in others)

    def _is_same(self, path: _Place, other: _Place) -> bool:
        if self.evaluator.values(*path) == self.evaluator.values(*other):
            return True
        ends, others = self._ends(*path), self._ends(*other)
        return "" not in (*ends, *others) and _agree(ends, others)

    def _may_be_same(self, call: Expr, env: Env, other: Expr, where: Env) -> bool:
        """Whether two calls may open one file, for all that is known of how their names end."""
        path, another = self._path(call, env), self._path(other, where)
        return path is None or another is None or _agree(self._ends(*path), self._ends(*another))

    def _path(self, call: Expr, env: Env) -> _Place | None:
        """The name of the file that a call opens."""
        if call.args[0].name == "open" and self._is_method(call, env):
            return call.args[0].args[0], env
        asked = (self.evaluator.arguments.argument(call, env, 0, name)[0] for name in _NAMED)
        return next((found[0] for found in asked if found), None)

    def _ends(self, path: Expr, env: Env) -> set[str]:
        """How a name ends; "" where that isn't known."""
        values = self.evaluator.values(path, env)
        return {end for value in values for end in self._ends_of(value)} or {""}

    def _ends_of(self, value: Value) -> set[str]:
        match value:
            case Const(value=str(text)):
                return {text}
            case ExtInst(name=name, call=call, env=env) if name in _JOINED and len(call.args) > 1:
                slash = "/" if len(call.args) > 2 else ""
                return {end and slash + end for end in self._ends(call.args[-1], env)}
            case ExtInst(name="str.format", base=Const(value=str(text))):
                return {_FIELD.split(text)[-1]}
            case Opaque(expr=Expr(kind="binop", name="+" | "/", args=(_, last)), env=env):
                return self._ends(last, env)
            case Opaque(expr=Expr(kind="binop", name="%", args=(template, _)), env=env):
                return {_FIELD.split(text)[-1] for text in self._ends(template, env)}
            case Opaque(expr=Expr(kind="fstring", args=(*_, last), value=str(text)) as whole):
                suffix = text[text.rfind(".") :] if "." in text else ""
                return {suffix if whole.end - last.end > len(suffix) + 1 else ""}
        return {""}


def _parts(step: Event) -> Iterator[Expr]:
    return step.value.walk() if step.value is not None else iter(())


def _agree(ends: set[str], others: set[str]) -> bool:
    """Whether two names may be one, of each of which the end is known."""
    return any(end.endswith(other) or other.endswith(end) for end in ends for other in others)
