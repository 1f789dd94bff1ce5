"""DLL602: a random generator kept by what is shipped, so that all workers draw the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import ALL_METHODS, Certainty, Finding, Held, Project, Rule, Running, Severity, Workers
from dllint_rules.correctness.workers import gets_workers


class RngOnDataset(Rule):
    """Every worker starts with a copy in the same state, in every epoch again."""

    code = "DLL602"
    name = "rng-on-dataset"
    summary = "dataset keeps a random generator that every worker copies and draws from per item"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for held in project.shipped:
            if held.holder.kind != "attribute" or not project.random_states.is_generator(held.value):
                continue
            if (held.path, held.span) not in seen and self._repeats(project, held):
                drawn = self._drawn(project, held)
                if drawn is not None:
                    seen.add((held.path, held.span))
                    yield self._finding(project, held, drawn)

    def _repeats(self, project: Project, held: Held) -> bool:
        """Whether several workers may start with the generator as it is, each for items of its own."""
        loader = held.loader
        if loader is None:
            return any(gets_workers(loader) for loader in project.open_loaders)
        seeded = project.random_states.prepared(loader, held.holder.name)
        return gets_workers(loader) and not project.given.iterable(loader) and not seeded

    def _drawn(self, project: Project, held: Held) -> Running | None:
        code = [running for running in project.running if running.loader is held.loader]
        code += project.users_running if held.loader is None else ()
        for klass in project.evaluator.classes.all_classes:
            if klass.facts.name == held.holder.owner:
                found = project.random_states.drawn(code, klass, held.holder.name)
                if found is not None:
                    return found
        return None

    def _finding(self, project: Project, held: Held, drawn: Running) -> Finding:
        loader = held.loader
        known = loader is not None and loader.workers is Workers.SOME
        return Finding(
            code=self.code,
            path=held.path,
            span=held.span,
            message=f"random generator kept as `{held.holder.name}` of `{held.holder.owner}`: every worker gets a "
            "copy in the same state, so all draw the same numbers; make it in the worker from `torch.initial_seed()`",
            severity=self.severity,
            certainty=Certainty.CERTAIN if known else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(project.failing(held, ALL_METHODS)), "corrupt"),
            notes=(*held.route, *drawn.route[:1]),
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{held.path}:{held.holder.owner}.{held.holder.name}",
        )
