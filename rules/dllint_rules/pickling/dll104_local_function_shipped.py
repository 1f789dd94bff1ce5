"""DLL104: a function defined inside another function goes to workers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Func, Project, Rule, unpicklable_function
from dllint_rules.pickling.unpicklable import finding, keeper, moved


class LocalFunctionShipped(Rule):
    """Pickle stores a function as module and name; a nested one cannot be found again, whether it captures or not."""

    code = "DLL104"
    name = "local-function-shipped"
    summary = "function defined inside another function is shipped to workers"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        for held in project.shipped:
            if held.holder.kind == "owner" or unpicklable_function(held.value) != "local":
                continue
            assert isinstance(held.value, Func)
            what = f"local function `{held.value.facts.name}` {keeper(held)}"
            found = finding(self, project, held, what, moved(project, held, held.value))
            if found is not None:
                yield found

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.in_place import fix_shipped

        return fix_shipped(project, finding.data)
