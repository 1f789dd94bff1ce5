"""DLL602: a random generator kept by what is shipped, so that all workers draw the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dllint import (
    ALL_METHODS,
    FORK,
    Certainty,
    Expr,
    ExtInst,
    Finding,
    Fix,
    Held,
    Loader,
    Project,
    Rule,
    Running,
    Severity,
    Span,
    Unselected,
)
from dllint_rules.correctness.analysis.augmenters import Augmenters
from dllint_rules.correctness.analysis.random_state import RandomStates, receiver_of
from dllint_rules.correctness.workers import gets_workers

_AUGMENTER = "imgaug augmenter "
SNIPPET = """\
import imgaug
import torch


def seed_imgaug(worker):
    imgaug.seed(torch.initial_seed() % 2**31)


# and for the loader:
worker_init_fn = seed_imgaug"""


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
        yield from self._augmenters(project, seen)

    def _augmenters(self, project: Project, seen: set[tuple[str, Span]]) -> Iterator[Finding]:
        """imgaug's generator, which objects keep with their augmenters, and modules have with theirs."""
        augmenters = project.analysis(Augmenters)
        for held in project.in_memory:
            if held.holder.kind != "attribute" or (held.path, held.span) in seen or not augmenters.draws(held.value):
                continue
            code = [running for running in project.running if running.loader is held.loader]
            if held.loader is None or not self._repeats(project, held) or augmenters.seeded(held.loader, code):
                continue
            drawn = self._drawn(project, held)
            if drawn is not None:
                seen.add((held.path, held.span))
                found = self._finding(project, held, drawn[0], False)
                whose = f"kept as `{held.holder.name}` of `{held.holder.owner}`"
                yield msgspec.structs.replace(found, message=_of_augmenter(whose), data=held.holder.name)
        for loader in project.loaders:
            code = [running for running in project.running if running.loader is loader]
            if not gets_workers(loader) or loader.in_tests or project.given.iterable(loader):
                continue
            made_here = project.analysis(RandomStates).module_level(code, augmenters.draws)
            for made, name, running, at in made_here if FORK in loader.methods else ():
                place = made.env.module.path, made.call.span
                if place in seen or augmenters.seeded(loader, code):
                    continue
                seen.add(place)
                yield self._of_module(project, loader, made, name, running, at, frozenset({FORK}))

    def _module_level(self, project: Project, loader: Loader, seen: set[tuple[str, Span]]) -> Iterator[Finding]:
        """A seeded generator of a module repeats everywhere; one without a seed only where workers are forked."""
        if not gets_workers(loader) or loader.in_tests or project.given.iterable(loader):
            return
        code = (running for running in project.running if running.loader is loader)
        states = project.analysis(RandomStates)
        for made, name, running, at in states.module_level(code, states.is_generator):
            path, span = made.env.module.path, made.call.span
            seeded = len(made.call.args) > 1 or bool(made.call.keywords)
            repeating = loader.methods & (ALL_METHODS if seeded else {FORK})
            short = name.rpartition(".")[2]
            if (path, span) in seen or not repeating or project.analysis(RandomStates).prepared(loader, short, short):
                continue
            seen.add((path, span))
            yield self._of_module(project, loader, made, name, running, at, repeating)

    def _of_module(
        self,
        project: Project,
        loader: Loader,
        made: ExtInst,
        name: str,
        running: Running,
        at: Expr,
        repeating: frozenset[str],
    ) -> Finding:
        path, augments = made.env.module.path, not project.analysis(RandomStates).is_generator(made)
        base, _, short = name.rpartition(".")
        whose = f"`{short}` of the {'class' if base and base == receiver_of(running) else 'module'}"
        return Finding(
            code=self.code,
            path=path,
            span=made.call.span,
            message=_of_augmenter(whose)
            if augments
            else f"random generator {whose}: every worker has it in the same state, so all draw "
            "the same numbers; make one in the worker from `torch.initial_seed()`",
            severity=self.severity,
            certainty=Certainty.LIKELY if augments else project.certainty(running, at),
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
        for klass in project.evaluator.classes.keepers(held.holder.owner, held.route[0].path):
            found = project.analysis(RandomStates).drawn(code, klass, held.holder.name)
            if found is not None:
                return found
        return None

    def _finding(self, project: Project, held: Held, drawn: Running, surely: bool) -> Finding:
        loader, unselected = held.loader, project.analysis(Unselected).clause(held)
        return Finding(
            code=self.code,
            path=held.path,
            span=held.span,
            message=f"random generator kept as `{held.holder.name}` of `{held.holder.owner}`: every worker gets a "
            f"copy in the same state, so all draw the same numbers{unselected}; make it in the worker from "
            "`torch.initial_seed()`",
            severity=Severity.INFO if unselected else self.severity,
            certainty=held.surely if loader is not None and surely else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(project.failing(held, ALL_METHODS)), "corrupt"),
            notes=(*held.route, *drawn.route[:1]),
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{held.path}:{held.holder.owner}.{held.holder.name}",
            data=held,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.correctness.lazy_rng import fix_rng

        if finding.message.startswith(_AUGMENTER):
            return Fix.manual(f"Seed imgaug in `worker_init_fn`, for `{finding.data}` and all others", SNIPPET)
        if isinstance(finding.data, str):
            why_not = "everything that reads it must then get the worker's own"
            return Fix.manual(f"Make `{finding.data}` in the process that uses it, from torch's seed; {why_not}")
        return fix_rng(project, finding.data)


def _of_augmenter(whose: str) -> str:
    return (
        f"{_AUGMENTER}{whose}: every worker has imgaug's generator in the same state, so all draw the same; "
        "call `imgaug.seed(torch.initial_seed() % 2**31)` in `worker_init_fn`"
    )
