"""DLL301: module-level code starts workers without the `__main__` guard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint import PICKLING, Certainty, Event, Finding, Fix, Module, Note, Project, Rule, Span, Start, outcomes
from dllint_rules.start.process_groups import joins_above

_ENDS = "dies", "fails", "exception"
_ENDLESS = "dies, and the pool replaces it forever", "hangs", "hang"
"""What becomes of the workers, and so of the program: an executor notices, `multiprocessing.Pool` starts others."""
_JOINS = "joins a process group: the guard must begin above it"


class MissingMainGuard(Rule):
    """A spawned worker imports the main script first; a script that starts workers on import starts them again."""

    code = "DLL301"
    name = "missing-main-guard"
    summary = 'module-level code starts workers without an `if __name__ == "__main__"` guard'
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        for module in project.index:
            if project.main_code.runs_on_import(module):
                starts = [start for start in project.main_code.starts(module) if start.methods & PICKLING]
                starts.sort(key=lambda start: start.event.start)
                if starts:
                    told = _told(module, starts)
                    yield self._finding(project, told, [start for start in starts if start is not told])

    def _finding(self, project: Project, start: Start, others: Iterable[Start]) -> Finding:
        failing, loader = start.methods & PICKLING, start.loader
        where = project.where(start, failing)
        joins = joins_above(project, start.path, start.event.start, _JOINS)
        moved = "it, and what joins a process group above it," if joins else "it"
        dies, fails, outcome = _ENDLESS if start.what == "a pool" else _ENDS
        return Finding(
            code=self.code,
            path=start.path,
            span=statement_head(start.event),
            message=f"this line starts {start.what} on import, so every spawned worker runs it again and {dies}: "
            f'{fails} {where}; put {moved} under `if __name__ == "__main__":`',
            certainty=Certainty.CERTAIN if _is_sure(start) else Certainty.LIKELY,
            outcomes=outcomes(failing, outcome, start.chosen),
            notes=(*start.route, *joins, *map(_note, others)),
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{start.path}",
            data=start,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.start.guard_tail import fix_start

        return fix_start(finding, project)


def _told(module: Module, starts: list[Start]) -> Start:
    """The first of the statements that start workers, of sure ones where there are some.

    One for validation or tests that an option may skip, as in `if args.evaluate:`, comes after one that trains.
    """
    candidates = [start for start in starts if _is_sure(start)] or starts
    trains = next((start for start in candidates if start.loader is None or not start.loader.held_out), candidates[0])
    around = _ways(module, trains)
    return next(start for start in candidates if start is trains or _ways(module, start) <= around)


def _ways(module: Module, start: Start) -> set[int]:
    """The blocks around a statement that may be skipped."""
    around = module.enclosing(start.event.block)
    return {index for index in around if module.block(index).kind not in ("with", "try", "finally")}


def _is_sure(start: Start) -> bool:
    return start.surely and (start.loader is None or start.loader.certainty is Certainty.CERTAIN)


def _note(start: Start) -> Note:
    """Another statement that must go under the guard: it does the same if only the first one does."""
    return Note(start.path, statement_head(start.event), f"starts {start.what} on import, too")


def statement_head(event: Event) -> Span:
    """The first part of a statement: of a loop, up to what it loops over."""
    if event.kind in ("for", "with", "test") and event.value is not None:
        return Span(event.start, event.value.end)
    return Span(event.start, event.end)
