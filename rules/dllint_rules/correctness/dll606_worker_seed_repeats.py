"""DLL606: `worker_init_fn` gives the workers the seeds that they had in the last epoch, or ones that NumPy refuses."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Certainty, Const, Finding, Fix, Loader, Note, Project, Rule, Severity
from dllint_rules.correctness.analysis.random_state import RandomStates
from dllint_rules.correctness.analysis.reseeding import Reseed, Reseeding, Seeding
from dllint_rules.correctness.workers import gets_workers

_OF_STATE = ": torch (1.9+) seeds NumPy first, and the first word of NumPy's state is then always 2147483648"


class WorkerSeedRepeats(Rule):
    """torch has seeded every worker, differently in each epoch, before it calls `worker_init_fn`."""

    code = "DLL606"
    name = "worker-seed-repeats"
    summary = "`worker_init_fn` gives workers the same seed in every epoch, or one too large for NumPy"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        reseeding = project.analysis(Reseeding)
        for loader in project.loaders:
            if loader.in_tests or not gets_workers(loader):
                continue
            items = [running for running in project.running if running.loader is loader]
            for reseed in (*reseeding.reseeds(loader), *reseeding.by_items(items)):
                if reseed.what is Seeding.TOO_LARGE or _matters(project, loader, reseed):
                    little = reseed.what is Seeding.REPEATED and _decides_little(project, loader, reseed)
                    unsure = project.certainty(reseed.running, reseed.call) is Certainty.LIKELY
                    certainty = Certainty.LIKELY if unsure or _unseen(project, loader) else loader.certainty
                    yield self._finding(loader, reseed, certainty, little)
                    break

    def _finding(self, loader: Loader, reseed: Reseed, certainty: Certainty, little: bool) -> Finding:
        running, too_large = reseed.running, reseed.what is Seeding.TOO_LARGE
        started = running.route and not reseed.by_item
        in_init_fn = running.route[-1] if started else running.note(reseed.call, "")
        asks = "`{}(...)` starts the workers" if reseed.by_item else "`{}(...)` calls `worker_init_fn` in each worker"
        why = _OF_STATE if reseed.of_state else ""
        text = {
            Seeding.TOO_LARGE: "torch's seed has 64 bits, but NumPy accepts only 32: raises `ValueError` in the "
            "worker; use `torch.initial_seed() % 2**32`",
            Seeding.REPEATED: "seeds a worker with the same number in every epoch, so it draws the same random "
            f"numbers again{why}; {_remedy(reseed)}",
            Seeding.SHARED: "seeds all workers with the same number, in every epoch, so they draw the same random "
            f"numbers{why}; {_remedy(reseed)}",
        }[reseed.what]
        if little:
            text = (
                "seeds a worker with the same number in every epoch; its draws only decide between few "
                "outcomes, so this hardly matters if the data is shuffled; `torch.initial_seed() % 2**32` differs"
            )
        return Finding(
            code=self.code,
            path=in_init_fn.path,
            span=in_init_fn.span,
            message=text if too_large else f"this {text}",
            severity=Severity.ERROR if too_large else Severity.INFO if little else self.severity,
            certainty=certainty,
            outcomes=dict.fromkeys(sorted(loader.methods), "exception" if too_large else "corrupt"),
            notes=(
                *([running.note(reseed.call, "seeds here")] if started else []),
                *running.route[:-1],
                Note(loader.path, loader.span, asks.format(loader.name)),
            ),
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{in_init_fn.path}:{loader.name}",
            data=(loader, reseed),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.correctness.reseed import fix_seed

        loader, reseed = finding.data
        if reseed.by_item:
            return None
        return fix_seed(project, loader, reseed)


def _remedy(reseed: Reseed) -> str:
    """What to seed with: processes that seed torch alike differ by their rank alone."""
    if not reseed.has_rank:
        return "seed with `torch.initial_seed() % 2**32`"
    if reseed.what is Seeding.SHARED:
        return "add `torch.initial_seed()` to it, modulo 2**32"
    return "put `torch.initial_seed()` in place of the worker's number and keep the rank, modulo 2**32"


def _matters(project: Project, loader: Loader, reseed: Reseed) -> bool:
    """Whether a training may draw the same numbers again: workers restart, items are shuffled, something draws."""
    if reseed.what is Seeding.REPEATED and _surely(project, loader, "persistent_workers", True):
        return False
    if not reseed.libraries:
        return True  # who gives the dataset a generator of its own wants it to differ
    in_order = _surely(project, loader, "shuffle", False) and _surely(project, loader, "sampler", None)
    if in_order and _surely(project, loader, "batch_sampler", None) and not project.given.iterable(loader):
        return False
    return _unseen(project, loader) or not reseed.libraries.isdisjoint(_drawn(project, loader))


def _decides_little(project: Project, loader: Loader, reseed: Reseed) -> bool:
    """Whether every draw from what is seeded is like the flip of a coin, in another order of items each epoch."""
    if project.given.iterable(loader):
        return False
    drawn = _drawn(project, loader)
    seeded = reseed.libraries & drawn.keys()
    return bool(seeded) and not any(drawn[name] for name in seeded) and not _unseen(project, loader)


def _unseen(project: Project, loader: Loader) -> bool:
    """Whether a loader's dataset may be one that is not known, and so may what draws in it."""
    return loader in project.open_loaders


def _surely(project: Project, loader: Loader, name: str, wanted: bool | None) -> bool:
    """Whether an argument is known to be this; one that is not passed is False or None."""
    for item in project.given.alternatives(loader, name):
        if item.value is None:
            given: object = None
        elif isinstance(item.value, Const):
            given = item.value.value
        else:
            return False
        if bool(given) is not bool(wanted):
            return False
    return True


def _drawn(project: Project, loader: Loader) -> dict[str, bool]:
    """The libraries whose global generators the workers draw from, in code or in transforms that they hold.

    For each, whether a draw has more than a few outcomes.
    """
    started = {running.function for running in project.analysis(Reseeding).start_code(loader)}
    code = (item for item in project.running if item.loader is loader and item.function not in started)
    states = project.analysis(RandomStates)
    draws = [item for running in code for item in states.global_draws(running).items()]
    draws += [(name, True) for held in project.shipped_by(loader) for name in states.drawn_by(held.value)]
    return {name: any(many for other, many in draws if other == name) for name, _ in draws}
