"""DLL103: a lambda given to the loader itself."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Project, Rule, unpicklable_function
from dllint_rules.pickling.unpicklable import a_function, finding


class LambdaToLoader(Rule):
    """`collate_fn` and `worker_init_fn` are pickled into every worker, through subclasses and keyword dicts too."""

    code = "DLL103"
    name = "lambda-to-loader"
    summary = "lambda is passed to the loader as `collate_fn` or `worker_init_fn`"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        for held in project.shipped:
            if held.holder.kind != "argument" or held.holder.name == "dataset":
                continue
            if unpicklable_function(held.value) == "lambda":
                found = finding(self, project, held, f"`lambda` as `{held.holder.name}`", a_function(project, held))
                if found is not None:
                    yield found

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.in_place import fix_shipped

        return fix_shipped(project, finding.data)
