"""DLL608: `random.shuffle` on a table or a tensor, whose rows it overwrites."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Edit, Env, Ext, Finding, Fix, Project, Rule, Site, module_alias, reference
from dllint_rules.correctness.analysis.arrays import Arrays

_ARRAYS = frozenset({"numpy", "torch"})


class RowsLostByShuffle(Rule):
    """It swaps `x[i], x[j] = x[j], x[i]`; rows of arrays are views, so the first assignment changes both."""

    code = "DLL608"
    name = "rows-lost-by-shuffle"
    summary = "`random.shuffle` on a 2-D array or a tensor loses rows and repeats others"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        arrays = project.analysis(Arrays)
        for site in project.index.calls_named(("shuffle",)):
            if not any(item.module.partition(".")[0] in _ARRAYS for item in site.module.model.imports):
                continue  # such a file hardly shuffles arrays, and where its lists are from may take long to find
            env = project.evaluator.generic(site.module, site.function)
            if len(site.expr.args) == 2 and project.values(site.expr.args[0], env) == (Ext("random.shuffle"),):
                tensor = arrays.is_tensor(site.expr.args[1], env)
                if tensor or arrays.has_rows(site.expr.args[1], env):
                    yield self._finding(project, site, env, tensor)

    def _finding(self, project: Project, site: Site, env: Env, tensor: bool) -> Finding:
        name = project.text(site.module.path, site.expr.args[1].span)
        what, remedy = (
            (f"`{name}` is a tensor", f"index it with `torch.randperm(len({name}))`")
            if tensor
            else (f"`{name}` has rows", "use `np.random.shuffle`")
        )
        return Finding(
            code=self.code,
            path=site.module.path,
            span=site.expr.span,
            message=f"{what}: `random.shuffle` swaps views of it, so about half of it is lost and the rest repeats; "
            f"{remedy}",
            key=f"{self.code}:{site.module.path}:{name}",
            data=(site, tensor),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        site, tensor = finding.data
        model, shuffled = site.module.model, site.expr.args[1]
        if not tensor:
            numpy, imports = module_alias(model, "numpy", "np", site.event.start)
            edit = Edit(finding.path, site.expr.args[0].span, f"{numpy}.random.shuffle")
            return Fix("Shuffle with NumPy", (edit,), Applicability.UNSAFE, imports)
        if site.event.value is not site.expr or site.event.kind != "expr" or not shuffled.dotted:
            why_not = "the call is not a statement of its own, or its argument is not a name that can be assigned"
            return Fix.manual(f"Index with a random permutation; {why_not}")
        randperm, imports = reference(model, "torch", "randperm", site.event.start)
        text = f"{shuffled.dotted} = {shuffled.dotted}[{randperm}(len({shuffled.dotted}))]"
        edit = Edit(finding.path, site.expr.span, text)
        return Fix("Index with a random permutation", (edit,), Applicability.UNSAFE, imports)
