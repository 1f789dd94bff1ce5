"""DLL104: a function defined inside another function goes to workers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Project, Rule, unpicklable_function
from dllint_rules.pickling.unpicklable import finding, keeper, to_module_level


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
            what = f"local function `{held.value.facts.name}` {keeper(held)}"  # type: ignore[union-attr]
            remedy = f"move it {to_module_level(project, held)}, with `functools.partial` for what it captures"
            found = finding(self, project, held, what, remedy)
            if found is not None:
                yield found

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.in_place import fix_shipped

        return fix_shipped(project, finding.data)
