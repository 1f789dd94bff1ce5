"""DLL602: a random generator kept by what is shipped, so that all workers draw the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    ALL_METHODS,
    FORK,
    Certainty,
    Finding,
    Fix,
    Held,
    Loader,
    Project,
    Rule,
    Running,
    Severity,
    Span,
)
from dllint_rules.correctness.analysis.random_state import RandomStates
from dllint_rules.correctness.workers import gets_workers


class RngOnDataset(Rule):
    """Every worker starts with a copy in the same state, in every epoch again."""

    code = "DLL602"
    name = "rng-on-dataset"
    summary = "random generator of a dataset or a module that every worker copies and draws from per item"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for held in project.in_memory:
            if not project.analysis(RandomStates).is_generator(held.value):
                continue
            if (held.path, held.span) not in seen and self._repeats(project, held):
                drawn = self._drawn(project, held)
                if drawn is not None:
                    seen.add((held.path, held.span))
                    yield self._finding(project, held, *drawn)
        for loader in project.loaders:
            yield from self._module_level(project, loader, seen)

    def _module_level(self, project: Project, loader: Loader, seen: set[tuple[str, Span]]) -> Iterator[Finding]:
        """A seeded generator of a module repeats everywhere; one without a seed only where workers are forked."""
        if not gets_workers(loader) or loader.in_tests or project.given.iterable(loader):
            return
        code = (running for running in project.running if running.loader is loader)
        for made, name, running, at in project.analysis(RandomStates).module_level(code):
            path, span = made.env.module.path, made.call.span
            seeded = len(made.call.args) > 1 or bool(made.call.keywords)
            repeating = loader.methods & (ALL_METHODS if seeded else {FORK})
            short = name.rpartition(".")[2]
            if (path, span) in seen or not repeating or project.analysis(RandomStates).prepared(loader, short, short):
                continue
            seen.add((path, span))
            yield Finding(
                code=self.code,
                path=path,
                span=span,
                message=f"random generator `{short}` of the module: every worker has it in the same state, so all draw "
                "the same numbers; make one in the worker from `torch.initial_seed()`",
                severity=self.severity,
                certainty=project.certainty(running, at),
                outcomes=dict.fromkeys(sorted(repeating), "corrupt"),
                notes=(running.note(at, f"draws from `{short}`"), *running.route),
                anchors=((loader.path, loader.span),),
                key=f"{self.code}:{path}:{short}",
                data=short,
            )

    def _repeats(self, project: Project, held: Held) -> bool:
        """Whether several workers may start with the generator as it is, each for items of its own."""
        loader = held.loader
        if loader is None:
            loaders = (loader for loader in project.open_loaders if gets_workers(loader))
            return any(not project.analysis(RandomStates).prepared(loader, held.holder.name) for loader in loaders)
        seeded = project.analysis(RandomStates).prepared(loader, held.holder.name)
        return gets_workers(loader) and not project.given.iterable(loader) and not seeded

    def _drawn(self, project: Project, held: Held) -> tuple[Running, bool] | None:
        code = [running for running in project.running if running.loader is held.loader]
        code += project.users_running if held.loader is None else ()
        for klass in project.evaluator.classes.all_classes:
            if klass.facts.name == held.holder.owner:
                found = project.analysis(RandomStates).drawn(code, klass, held.holder.name)
                if found is not None:
                    return found
        return None

    def _finding(self, project: Project, held: Held, drawn: Running, surely: bool) -> Finding:
        loader = held.loader
        return Finding(
            code=self.code,
            path=held.path,
            span=held.span,
            message=f"random generator kept as `{held.holder.name}` of `{held.holder.owner}`: every worker gets a "
            "copy in the same state, so all draw the same numbers; make it in the worker from `torch.initial_seed()`",
            severity=self.severity,
            certainty=held.surely if loader is not None and surely else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(project.failing(held, ALL_METHODS)), "corrupt"),
            notes=(*held.route, *drawn.route[:1]),
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{held.path}:{held.holder.owner}.{held.holder.name}",
            data=held,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.correctness.lazy_rng import fix_rng

        if isinstance(finding.data, str):
            why_not = "all that reads it must ask for the worker's then"
            return Fix.manual(f"Make `{finding.data}` in the process that uses it, from torch's seed; {why_not}")
        return fix_rng(project, finding.data)
