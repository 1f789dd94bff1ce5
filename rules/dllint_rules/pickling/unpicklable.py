"""What the pickling rules share: from a shipped value that pickle refuses to a finding."""

from __future__ import annotations

from dllint import Certainty, Finding, Func, Held, Project, Rule, Severity, Unselected, Workers, outcomes

FAILS = "exception"


def finding(
    rule: Rule,
    project: Project,
    held: Held,
    what: str,
    remedy: str,
    how: str = "cannot be pickled: fails",
    severity: Severity = Severity.ERROR,
) -> Finding | None:
    """The finding for a shipped value that cannot be pickled; None where no target pickles it.

    `what` names the value; the message goes on with the consequence and the remedy. `severity`: where it is shipped.
    """
    failing = project.failing(held)
    if not failing:
        return None
    where = project.where(held.loader, failing)
    loader = held.loader
    whose = " in a loader with workers" if loader is None or loader.for_users else ""
    unselected = project.analysis(Unselected).clause(held)
    unsure = loader is None or loader.workers is Workers.UNKNOWN
    return Finding(
        code=rule.code,
        path=held.path,
        span=held.span,
        message=f"{what} {how} {where}{whose}{unselected}; {remedy}",
        severity=Severity.INFO if unselected else severity,
        certainty=Certainty.LIKELY if unsure else held.surely,
        outcomes=outcomes(failing, FAILS, loader is not None and loader.chosen),
        notes=held.route,
        anchors=((loader.path, loader.span),) if loader is not None else (),
        key=f"{rule.code}:{held.path}:{place(held)}:{loader.name if loader is not None else 'users'}",
        data=held,
    )


def a_function(project: Project, held: Held) -> str:
    """What to use for a lambda. Of a notebook, spawned workers find nothing, at whatever level it is."""
    notebook = project.index.modules[held.path].notebook
    return "use a function of a module that is imported" if notebook else "use a module-level function"


def to_module_level(project: Project, held: Held) -> str:
    """Where to move what is local."""
    return "to a module that is imported" if project.index.modules[held.path].notebook else "to module level"


def moved(project: Project, held: Held, func: Func) -> str:
    """What to do with a local function."""
    defaults = (item.default for item in func.facts.parameters if item.default is not None)
    given = {part.name for default in defaults for part in default.walk() if part.kind == "name"}
    names, imported = captured(func), _imported_around(func)
    takes = not imported.issuperset(names) or not given.isdisjoint(_bound_around(func))
    along = ", with `functools.partial` for what it captures" if takes else ""
    own = " and ".join(f"`{name}`" for name in names if name in imported)
    imports = f", and import {own} in it" if own else ""  # a module can't be pickled
    return f"move it {to_module_level(project, held)}{along}{imports}"


def captured(func: Func) -> list[str]:
    """The names of the functions around a function that it reads itself."""
    return sorted((func.facts.loads - func.facts.bound) & _bound_around(func))


def _bound_around(func: Func) -> set[str]:
    functions, parent = func.module.model.functions, func.facts.parent
    around = set[str]()
    while parent >= 0:
        around |= functions[parent].bound
        parent = functions[parent].parent
    return around


def _imported_around(func: Func) -> set[str]:
    """The names that imports in the functions around a function bind."""
    functions, parent = func.module.model.functions, func.facts.parent
    around = set[int]()
    while parent >= 0:
        around.add(parent)
        parent = functions[parent].parent
    return {item.bound for item in func.module.model.imports if item.function in around}


def place(held: Held) -> str:
    """A name of the place that survives edits above it."""
    value = held.value
    if isinstance(value, Func):
        return value.facts.qualname
    return held.holder.owner or held.holder.name


def keeper(held: Held) -> str:
    """Where a value is kept, in words."""
    match held.holder.kind:
        case "argument":
            return f"passed as `{held.holder.name}`"
        case "attribute":
            return f"kept as `{held.holder.name}` of `{held.holder.owner}`"
        case "returned":
            return "returned for use in workers"
        case "pickled":
            return f"returned by `{held.holder.name}` of `{held.holder.owner}`"
        case "kept":
            return f"kept by `{held.holder.name}`"
    return "kept in a container that is shipped to workers"
