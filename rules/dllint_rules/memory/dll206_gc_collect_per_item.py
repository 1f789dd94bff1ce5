"""DLL206: worker code runs the garbage collector for each item."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Block, Const, Expr, Ext, Finding, Fix, Project, Rule, Running, Severity
from dllint_rules.memory.has_workers import gets_workers


class GcCollectPerItem(Rule):
    """A full collection looks at every object and writes to most: slow, and it copies what forked workers share."""

    code = "DLL206"
    name = "gc-collect-per-item"
    summary = "`gc.collect()` in worker code runs for each item"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for running in project.running:
            loader = running.loader
            if loader is None or loader.in_tests or not gets_workers(loader) or "Process" in loader.boundary.base:
                continue
            for call in project.executed_calls(running):
                if (running.path, call.span) not in seen and _collects(project, running, call):
                    seen.add((running.path, call.span))
                    yield self._finding(project, running, call)

    def _finding(self, project: Project, running: Running, call: Expr) -> Finding:
        loader = running.loader
        assert loader is not None
        return Finding(
            code=self.code,
            path=running.path,
            span=call.span,
            message="`gc.collect()` runs for each item in every worker: 40 to 440 ms a call, and it copies the memory "
            "that forked workers share; remove it, or call `gc.freeze()` before the workers start and collect rarely",
            severity=self.severity,
            certainty=project.certainty(running, call),
            outcomes=dict.fromkeys(sorted(loader.methods), "bloat"),
            notes=running.route,
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{running.path}:{running.env.facts.qualname}",
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import without_statement

        edits = without_statement(project.source(finding.path), finding.span.start)
        title = "Remove the collection; where the code builds cycles, call `gc.freeze()` before the workers start"
        why_not = "its line has a comment or another statement, or its result is used"
        return Fix(title, edits, Applicability.UNSAFE) if edits else Fix.manual(f"Remove the collection; {why_not}")


def _collects(project: Project, running: Running, call: Expr) -> bool:
    """Whether a call is a full collection that no test guards, in code that runs once an item."""
    values = project.values(call.args[0], running.env)
    if len(call.args) > 1 or call.keywords or Ext("gc.collect") not in values:
        return False
    module = running.env.module
    blocks = [module.block(index) for index in module.enclosing(module.block_at(running.env.function, call.start))]
    around = [block.kind for block in blocks if not _is_every_first(project, running, block)]
    if any(kind in ("if", "else", "except", "case") for kind in around):
        return False
    once = any("worker_init_fn" in note.text or "__iter__` runs" in note.text for note in running.route)
    return not once or (running.env.facts.name == "__iter__" and any(kind in ("for", "while") for kind in around))


def _is_every_first(project: Project, running: Running, block: Block) -> bool:
    """Whether a test lets every item pass: `count >= self.every`, or `count % self.every == 0`, with a default of 1."""
    test = block.test
    if block.kind != "if" or test is None or test.kind != "compare" or test.name not in (">=", "=="):
        return False
    every = test.args[1]
    if test.name == "==":
        whole = test.args[0]
        if whole.kind != "binop" or whole.name != "%" or test.args[1].value != 0:
            return False
        every = whole.args[1]
    return any(isinstance(value, Const) and value.value == 1 for value in project.values(every, running.env))
