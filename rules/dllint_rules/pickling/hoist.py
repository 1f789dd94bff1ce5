"""The fixes of the pickling rules: a name that pickle can find, for a function that had none."""

from __future__ import annotations

from typing import Any

import msgspec

from dllint import Applicability, Edit, Finding, Fix, Function, Project
from dllint_rules.pickling.ready_made import ReadyMade, existing_callable, ready_made_factory


def fix_factory(finding: Finding, project: Project) -> Fix | None:
    """A type in place of a shipped lambda that makes default values, else a function at module level."""
    path, function = shipped(finding)
    ready = ready_made_factory(project.models[path], function)
    return (replace(project, path, function, ready) if ready else None) or hoist_lambda(project, path, function)


def fix_argument(finding: Finding, project: Project) -> Fix | None:
    """What a lambda given to the loader only passes its argument to, else a function at module level."""
    path, function = shipped(finding)
    # The loader collates lists, and nothing else: an equal one does.
    identity = "list" if finding.data.holder.name == "collate_fn" else ""
    ready = existing_callable(project.models[path], function, identity)
    return (replace(project, path, function, ready) if ready else None) or hoist_lambda(project, path, function)


def fix_lambda(finding: Finding, project: Project) -> Fix | None:
    """A function at module level in place of a shipped lambda."""
    return hoist_lambda(project, *shipped(finding))


def fix_function(finding: Finding, project: Project) -> Fix | None:
    """A shipped local function moved to module level."""
    return hoist_function(project, *shipped(finding))


def shipped(finding: Finding) -> tuple[str, Function]:
    """The file and the facts of the function that a finding is about."""
    value: Any = finding.data.value
    return value.module.path, value.facts


def replace(project: Project, path: str, function: Function, ready: ReadyMade) -> Fix | None:
    """Something that exists in place of a lambda; None where a comment would be lost."""
    if "#" in project.text(path, function.span):
        return None
    edit = Edit(path, function.span, ready.text)
    trust = Applicability.SAFE if ready.certain else Applicability.UNSAFE
    return Fix(f"Use `{ready.text}` instead of the lambda", (edit,), trust, ready.imports)


def hoist_lambda(project: Project, path: str, function: Function, name: str = "") -> Fix | None:
    """A lambda moved to module level: unsafe, for from then on the module decides what its name means."""
    from dllint import hoist_lambda as hoist

    fix = hoist(project.source(path), project.tree(path), project.models[path], function, name)
    return fix and msgspec.structs.replace(fix, applicability=Applicability.UNSAFE)


def hoist_function(project: Project, path: str, function: Function) -> Fix | None:
    """A nested function moved to module level, with `functools.partial` for what it captures."""
    from dllint import hoist_function as hoist

    return hoist(project.source(path), project.tree(path), project.models[path], function)
