"""The fixes of the pickling rules: at module level of a script, in a module beside a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from dllint import PICKLING, Edit, Fix, Func, Held, Inst, Klass, Project, unpicklable_class, unpicklable_function
from dllint_rules.pickling.alternatives import with_alternatives
from dllint_rules.pickling.from_guard import above_guard
from dllint_rules.pickling.hoist import fix_held, hoist_lambda

_TITLE = "Define it in a module and import it: spawned workers have nothing of a notebook"


def fix_shipped(project: Project, held: Held) -> Fix | None:
    """The fix of a shipped function or class that pickle cannot find by its name."""
    fix = fix_held(project, held)
    path = next((edit.path for edit in fix.edits), "") if fix is not None else ""
    if fix is not None and isinstance(held.value, Func) and path and not project.index.modules[path].notebook:
        return with_alternatives(project, held.value, fix)
    if fix is None or not fix.defines or not project.index.modules[path].notebook:
        return fix
    module = project.analysis(Notebooks).module(path)
    fix = module.named(held, fix)
    definition = _definition(fix)
    if definition is None or module.wanted.get(fix.defines[0]) != definition.text:
        return Fix.manual(_TITLE)
    remedy = out_of_notebook(project, path, fix.defines[0])
    used = [edit.text for edit in fix.edits if fix.defines[0] in edit.text and edit != definition]
    return Fix.manual(remedy.title, f"{remedy.snippet}\n{used[0]}" if used and remedy.snippet else remedy.snippet)


def fix_target(project: Project, held: Held) -> Fix | None:
    """A function at module level, and above the main guard, in place of the one that a process or a pool is sent."""
    func = held.value
    assert isinstance(func, Func)
    if func.facts.kind == "lambda" or func.facts.parent >= 0:
        return fix_shipped(project, held)
    if func.module.notebook:
        return out_of_notebook(project, func.module.path, func.facts.name)
    return above_guard(project, func)


def out_of_notebook(project: Project, path: str, name: str) -> Fix:
    """A cell that writes all that the notebook's workers need into a module, and one that imports a name from it."""
    from dllint import beside

    module = project.analysis(Notebooks).module(path)
    text = beside(project.source(path), name, module.wanted, module.name)
    return Fix.manual(_TITLE if text else f"{_TITLE}; what it needs of the notebook must be passed to it", text)


class Notebooks:
    """For each notebook, the module beside it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._modules: dict[str, _Module] = {}

    def module(self, path: str) -> _Module:
        """The module for what the workers of a notebook need."""
        return self._modules.setdefault(path, _Module(self.project, path))


class _Module:
    """All that the workers of one notebook need: every cell that writes the file writes the same."""

    def __init__(self, project: Project, path: str) -> None:
        self.project, self.path = project, path

    @cached_property
    def name(self) -> str:
        """Another one for each notebook of a folder."""
        folder, _, name = self.path.rpartition("/")
        modules = self.project.index.modules.items()
        others = (other.rpartition("/") for other, module in modules if module.notebook)
        alone = all(other == name for where, _, other in others if where == folder)
        return "in_workers" if alone else "in_workers_of_" + re.sub(r"\W", "_", name.removesuffix(".ipynb"))

    @cached_property
    def wanted(self) -> dict[str, str]:
        """The names, each with its definition where the notebook has none."""
        found = dict.fromkeys(self._defined(), "")
        for held in self._unpicklable():
            fix = self._under_free_name(held, found)
            definition = _definition(fix) if fix is not None else None
            if fix is not None and definition is not None:
                found.setdefault(fix.defines[0], definition.text)
        return found

    def named(self, held: Held, fix: Fix) -> Fix:
        """The fix of something shipped, under the name that the module has for it."""
        return self._under_free_name(held, self.wanted) or fix

    def _under_free_name(self, held: Held, found: dict[str, str]) -> Fix | None:
        """The fix under the first name that nothing else has."""
        fix = fix_held(self.project, held)
        definition = _definition(fix) if fix is not None else None
        if fix is None or definition is None:
            return None
        name, number = fix.defines[0], 1
        while found.get(fix.defines[0], definition.text) != definition.text and isinstance(held.value, Func):
            number += 1
            again = hoist_lambda(self.project, held.value, f"{name}_{number}")
            definition = _definition(again) if held.value.facts.kind == "lambda" else None
            if definition is None:
                return None
            fix = again
        return fix

    def _defined(self) -> Iterator[str]:
        """What the notebook itself defines."""
        guarded = self.project.guarded
        tasks = self.project.processes.tasks
        sent = [held for task in tasks if task.methods & PICKLING for held in self.project.processes.held(task)]
        shipped = (held for held in self.project.shipped if held.loader and held.loader.methods & PICKLING)
        for found in (guarded.defined(held.value) for held in sorted((*shipped, *sent), key=_place)):
            if found is not None and found.module.path == self.path:
                yield found.name

    def _unpicklable(self) -> list[Held]:
        """What is shipped, and is not found by its name."""
        tasks = self.project.processes.tasks
        sent = [held for task in tasks for held in self.project.processes.held(task)]
        found = {_place(held): held for held in (*sent, *self.project.shipped) if self._is_local(held)}
        return [found[place] for place in sorted(found)]

    def _is_local(self, held: Held) -> bool:
        value = held.value.klass if isinstance(held.value, Inst) else held.value
        if not isinstance(value, (Func, Klass)) or value.module.path != self.path or held.holder.kind == "owner":
            return False
        return bool(unpicklable_function(value) if isinstance(value, Func) else unpicklable_class(held.value))


def _place(held: Held) -> tuple[str, int, int]:
    return held.path, held.span.start, held.span.end


def _definition(fix: Fix) -> Edit | None:
    """The text that a fix for a script defines a name with; None where that is more than one."""
    made = [edit for edit in fix.edits if any(f" {name}" in edit.text for name in fix.defines)]
    return made[0] if len(made) == 1 and len(fix.defines) == 1 else None
