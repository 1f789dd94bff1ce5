"""DLL204: worker code keeps data of every item, and never releases it."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Certainty, Finding, Fix, Project, Rule, Severity
from dllint_rules.memory.analysis.caches import Caches, Growth
from dllint_rules.memory.analysis.kept_lines import KeptLines
from dllint_rules.memory.has_workers import gets_workers, offers_to_workers

_LIMIT = "limit it, for example with `lru_cache(maxsize=...)`, or remove it"
_SEEK = "keep the offset of each line in an array, and read the line with `seek` and `readline`"


class GrowingCache(Rule):
    """Every worker has a cache of its own: the memory of all items times the number of workers, in the end."""

    code = "DLL204"
    name = "growing-cache"
    summary = "worker code keeps data of every item and never releases it"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen: set[object] = set()
        caches, lines = project.analysis(Caches), project.analysis(KeptLines)
        emptied = caches.emptied(project.running)
        for running in project.running:
            loader = running.loader
            place = running.path, running.env.module.method_owner(running.env.function), running.env.function
            if place in seen or loader is None or loader.in_tests or not gets_workers(loader):
                continue
            memoized = caches.memoized(running)
            growing = sorted(caches.growing(running, emptied), key=lambda growth: growth.empty)
            found = [*growing, *([memoized] if memoized else [])]
            if found:
                seen.add(place)
                others = sorted({growth.name for growth in growing} - {found[0].name})
                yield self._finding(project, found[0], "memoized" if found[0] is memoized else "kept", others)
            elif read := lines.of(running):
                seen.add(place)
                yield self._finding(project, read, "lines", [])
        if offers_to_workers(project):
            for running in project.users_running:
                memoized = caches.memoized(running) if running.env.facts.name == running.entry else None
                if memoized is not None and (running.path, memoized.at.span) not in seen:
                    seen.add((running.path, memoized.at.span))
                    yield self._finding(project, memoized, "memoized", [])

    def _finding(self, project: Project, growth: Growth, how: str, others: list[str]) -> Finding:
        running, loader = growth.running, growth.running.loader
        names = f"`{growth.name}`" + (f" (and {', '.join(f'`{name}`' for name in others)})" if others else "")
        what = {
            "kept": f"{names} {'grow' if others else 'grows'} with every item",
            "memoized": f"results of `{growth.name}` are kept with every item",
            "lines": f"`{growth.name}` keeps all lines of every file that it reads",
        }[how]
        return Finding(
            code=self.code,
            path=running.path,
            span=growth.at.span,
            message=f"{what}, separately in each worker, and nothing is dropped: memory grows to the data times the "
            f"number of workers; {_SEEK if how == 'lines' else _LIMIT}",
            severity=self.severity,
            certainty=loader.certainty if loader is not None and growth.known else Certainty.LIKELY,
            outcomes=dict.fromkeys(
                sorted(loader.methods if loader is not None else project.targets.methods()), "bloat"
            ),
            notes=running.route,
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{running.path}:{growth.name}",
            data=(growth, how),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        growth, how = finding.data
        if how == "memoized":
            return Fix.manual(
                f"Limit what `{growth.name}` remembers; dllint can't tell how many results are worth their memory"
            )
        if how == "lines":
            return Fix.manual(f"{_SEEK[:1].upper()}{_SEEK[1:]}; dllint can't tell when the file changes")
        return Fix.manual(
            f"Drop entries of `{growth.name}` where it is filled; which of them are needed again is not seen"
        )
