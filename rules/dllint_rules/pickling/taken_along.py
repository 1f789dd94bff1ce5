"""What a `functools.partial` in place of a function takes along, and pickle cannot find by its name either."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Fix, Func, Inst, Project, Value, unpicklable_class, unpicklable_function
from dllint_rules.pickling.unpicklable import captured


def local_capture(project: Project, func: Func, fix: Fix) -> str:
    """Why a partial of a moved function may not pickle: what it captures may be local, too. "" if none is seen to be.

    The fix may move local functions along, which are found by their names then, and take along what they capture.
    """
    moved, waiting = {func.index}, [func]
    while waiting:
        for name, value in _taken(project, waiting.pop()):
            if isinstance(value, Func) and _moves(fix, value):
                waiting += [value] * (value.index not in moved)
                moved.add(value.index)
            elif what := _local(value):
                return f"`{name}`, which it captures, may be {what}, which pickle can't find by its name either"
    return ""


def _taken(project: Project, func: Func) -> Iterator[tuple[str, Value]]:
    """The variables of the functions around that a function reads, and the attributes of these, with their values."""
    names = set(captured(func))
    env = project.evaluator.generic(func.module, func.index)
    parts = {part.dotted: part for event in func.facts.events for part in event.walk() if part.dotted}
    for dotted, part in parts.items():
        if dotted.partition(".")[0] in names:
            for value in project.values(part, env):
                yield dotted, value


def _moves(fix: Fix, func: Func) -> bool:
    """Whether a fix takes the definition of a function from its place."""
    path, start = func.module.path, func.facts.span.start
    return any(edit.path == path and edit.span.start <= start < edit.span.end for edit in fix.edits)


def _local(value: Value) -> str:
    """What a value is, in words, if pickle cannot find it by its name."""
    if isinstance(value, Func) and unpicklable_function(value):
        around = value.facts.parent
        where = f" of `{value.module.model.functions[around].name}`" if around >= 0 else ""
        return "a lambda" if value.facts.kind == "lambda" else f"the local function `{value.facts.name}`{where}"
    if isinstance(value, Inst) and unpicklable_class(value):
        return f"of the local class `{value.klass.facts.name}`"
    return ""
