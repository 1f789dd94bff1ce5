"""DLL102: a lambda kept by something that goes to workers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Project, Rule, unpicklable_function
from dllint_rules.pickling.unpicklable import a_function, finding, keeper


class LambdaOnDataset(Rule):
    """Whatever a dataset, transform or helper keeps is pickled with it; a lambda has no name to be found by."""

    code = "DLL102"
    name = "lambda-on-dataset"
    summary = "lambda is kept by something that is shipped to workers"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        for held in project.shipped:
            if held.holder.kind in ("default_factory", "owner") or unpicklable_function(held.value) != "lambda":
                continue
            if held.holder.kind == "argument" and held.holder.name != "dataset":
                continue
            found = finding(self, project, held, f"`lambda` {keeper(held)}", a_function(project, held))
            if found is not None:
                yield found

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.in_place import fix_shipped

        return fix_shipped(project, finding.data)
