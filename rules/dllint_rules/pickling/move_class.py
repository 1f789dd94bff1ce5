"""The fixes for classes that pickle cannot find by their names."""

from __future__ import annotations

import re

from dllint import Applicability, Edit, ExtInst, Finding, Fix, Held, Inst, Klass, Project, namedtuple_of

OUT_OF_NOTEBOOK = Fix(
    "Define it in a module and import it: spawned workers have nothing of a notebook", (), Applicability.MANUAL
)
"""Places where moving to module level does not help."""


def out_of_notebook(project: Project, path: str, name: str, definition: str = "") -> Fix:
    """A cell that writes what has this name into a module, and one that imports it; `definition` is new to the file."""
    from dllint import beside, beside_with

    source, module = project.source(path), _module_beside(project, path)
    text = beside_with(source, definition, name, module) if definition else beside(source, name, module)
    if not text:
        return Fix.manual(f"{OUT_OF_NOTEBOOK.title}; what it needs of the notebook must be passed to it")
    return Fix.manual(OUT_OF_NOTEBOOK.title, text)


def _module_beside(project: Project, path: str) -> str:
    """The name of a module for what a notebook's workers need: another one for each notebook of a folder."""
    folder, _, name = path.rpartition("/")
    others = (other.rpartition("/") for other, module in project.index.modules.items() if module.notebook)
    alone = all(other == name for where, _, other in others if where == folder)
    return "in_workers" if alone else "in_workers_of_" + re.sub(r"\W", "_", name.removesuffix(".ipynb"))


def by_hand(what: str, why: object, where: str = "to module level") -> Fix:
    """What a person has to do, and the obstacle to a fix."""
    return Fix(f"Move {what} {where}; {why}", (), Applicability.MANUAL)


def moved_beside(project: Project, path: str, fix: Fix) -> Fix:
    """What a fix for a script would define, for a module beside the notebook."""
    made = [edit.text for edit in fix.edits if any(f" {name}" in edit.text for name in fix.defines)]
    if len(made) != 1 or len(fix.defines) != 1:
        return OUT_OF_NOTEBOOK
    remedy = out_of_notebook(project, path, fix.defines[0], made[0])
    used = [edit.text for edit in fix.edits if fix.defines[0] in edit.text and edit.text != made[0]]
    return Fix.manual(remedy.title, f"{remedy.snippet}\n{used[0]}" if used and remedy.snippet else remedy.snippet)


def fix_class(finding: Finding, project: Project) -> Fix | None:
    """The local class at module level; a named tuple under the name of its variable."""
    held = finding.data
    assert isinstance(held, Held)
    if namedtuple_of(held.value) is not None:
        return _named_tuple(project, held)
    klass = held.value.klass if isinstance(held.value, Inst) else held.value
    assert isinstance(klass, Klass)
    return _moved(project, klass.module.path, klass.facts.span.start, klass.facts.parent, klass.facts.name)


def _named_tuple(project: Project, held: Held) -> Fix | None:
    """The name corrected, or the whole statement moved: never both, as the second is only right after the first."""
    tuple_type, made = namedtuple_of(held.value), held.value
    assert tuple_type is not None
    assert isinstance(made, ExtInst)
    assert isinstance(made.base, ExtInst)
    call, env = made.base.call, made.base.env
    statement = next((event for event in env.module.events(env.function) if event.value is call), None)
    if statement is None or statement.target is None or statement.target.kind != "name":
        return by_hand("the named tuple", "it has no name of its own")
    if tuple_type.local:
        same = tuple_type.typename == tuple_type.bound
        if not same:
            return by_hand("the named tuple", f"its name must be `{tuple_type.bound}`, too")
        return _moved(project, env.module.path, statement.start, env.function, tuple_type.bound)
    written = call.args[1].span
    literal = re.fullmatch(r"""(["'])\w+\1""", project.text(env.module.path, written))
    if literal is None:
        return Fix(f"Name it `{tuple_type.bound}`; its name is computed", (), Applicability.MANUAL)
    edit = Edit(env.module.path, written, f"{literal[1]}{tuple_type.bound}{literal[1]}")
    return Fix(f"Name it `{tuple_type.bound}`, as the variable is", (edit,), Applicability.UNSAFE)


def _moved(project: Project, path: str, start: int, around: int, name: str) -> Fix:
    from dllint import Refused, hoist_class

    try:
        fix = hoist_class(project.source(path), project.tree(path), project.models[path], start, around)
        return moved_beside(project, path, fix) if project.index.modules[path].notebook else fix
    except Refused as refused:
        return by_hand(f"`{name}`", refused)
