"""DLL101: a `defaultdict` whose factory is a lambda, kept by something that goes to workers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Project, Rule, unpicklable_function
from dllint_rules.pickling.unpicklable import finding

REMEDY = "a named function or a class such as `int`"


class LambdaDefaultFactory(Rule):
    """The factory is pickled with the dictionary, and pickle finds functions by name: a lambda has none."""

    code = "DLL101"
    name = "lambda-default-factory"
    summary = "`defaultdict` with a lambda as factory is shipped to workers"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        for held in project.shipped:
            if held.holder.kind != "default_factory" or unpicklable_function(held.value) != "lambda":
                continue
            owner = f" kept as `{held.holder.name}`" + (f" of `{held.holder.owner}`" if held.holder.owner else "")
            what = f"`lambda` as factory of the `defaultdict`{owner if held.holder.name else ''}"
            notebook = project.index.modules[held.path].notebook
            remedy = "a class such as `int` or a function of a module that is imported" if notebook else REMEDY
            found = finding(self, project, held, what, f"use {remedy}")
            if found is not None:
                yield found

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.in_place import fix_shipped

        return fix_shipped(project, finding.data)
