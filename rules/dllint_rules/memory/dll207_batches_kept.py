"""DLL207: the main process keeps batches, or results of a pool, that are in shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Certainty, Edit, Finding, Fix, Note, Project, Rule, Severity, Span
from dllint_rules.memory.analysis import pool_results
from dllint_rules.memory.analysis.kept_batches import KeptBatches
from dllint_rules.memory.has_workers import gets_workers

_ARRAYS = "return arrays (`.numpy()`), and make tensors of them where they arrive"


class BatchesKept(Rule):
    """Every tensor that a worker sends holds an open file; a view of it holds the same one."""

    code = "DLL207"
    name = "batches-kept"
    summary = "batches, or views of them, are kept in the main process: file descriptors run out"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        yield from self._batches(project)
        yield from self._results(project)

    def _results(self, project: Project) -> Iterator[Finding]:
        """Tensors that functions of a pool return; pools of `multiprocessing` share them as those of torch do."""
        seen = set()
        for task, func in project.analysis(pool_results.PoolResults).kept():
            place = task.path, task.call.span
            if task.env.module.is_test or place in seen or _shares_by_files(project, task.path):
                continue
            seen.add(place)
            yield Finding(
                code=self.code,
                path=task.path,
                span=task.call.span,
                message=f"`{task.name}` collects tensors that `{func.facts.name}` returns, on Linux with an open file "
                f"for each: `Too many open files` after some hundred tasks; {_ARRAYS}",
                severity=self.severity,
                certainty=Certainty.LIKELY,
                outcomes=dict.fromkeys(sorted(task.methods), "exception"),
                notes=(Note(func.module.path, func.facts.span, f"`{func.facts.name}` returns a tensor"), task.note),
                key=f"{self.code}:{task.path}:{func.facts.name}",
            )

    def _batches(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for kept in project.analysis(KeptBatches).kept():
            loader = kept.loader
            if loader.in_tests or not gets_workers(loader) or (kept.path, kept.at) in seen:
                continue
            if _shares_by_files(project, kept.path):
                continue
            seen.add((kept.path, kept.at))
            what = project.text(kept.path, kept.expr.span)
            copies = " or ".join(sorted({f"`{text}`" for _, text in kept.copies()})) or "copy"
            yield Finding(
                code=self.code,
                path=kept.path,
                span=kept.at,
                message=f"`{what}` keeps the shared memory of every batch, and on Linux an open file for each: "
                f"`Too many open files` after some hundred batches; keep a {copies} of it",
                severity=self.severity,
                certainty=Certainty.LIKELY,  # how many batches there are is known when it runs
                outcomes=dict.fromkeys(sorted(loader.methods), "exception"),
                notes=(
                    Note(kept.path, kept.loop.span, "the loop over the batches"),
                    loader.start,
                ),
                anchors=((loader.path, loader.span),),
                key=f"{self.code}:{kept.path}:{what}",
                data=kept,
            )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        if finding.data is None:
            return Fix.manual(f"{_ARRAYS[:1].upper()}{_ARRAYS[1:]}; what else uses the results is not seen")
        copies = finding.data.copies()
        edits = tuple(Edit(finding.path, Span(expr.end, expr.end), text) for expr, text in copies)
        what = project.text(finding.path, finding.data.expr.span)
        why_not = f"whether `{what}` is a tensor or something that holds tensors is not seen"
        return Fix("Keep a copy", edits, Applicability.UNSAFE) if edits else Fix.manual(f"Keep a copy; {why_not}")


def _shares_by_files(project: Project, path: str) -> bool:
    """Whether a module chooses the sharing strategy `file_system`, under which a batch keeps no file open."""
    sites = project.index.modules[path].calls.get("set_sharing_strategy", ())
    return any(arg.value == "file_system" for site in sites for arg in site.expr.args[1:])
