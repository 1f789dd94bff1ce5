"""DLL305: a start method is set where that raises."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint import ALL_METHODS, PICKLING, Applicability, Certainty, Edit, Finding, Fix, Project, Rule
from dllint_rules.start.analysis.start_methods import StartMethodProblem, StartMethods

_TEXTS = {
    "name": "{what} is not a start method: raises `ValueError`; the methods are fork, spawn and forkserver",
    "twice": 'the start method is set already: raises "context has already been set"; set it once',
    "late": 'the start method is already set by `{what}`: raises "context has already been set"; '
    "set it first, or give a context to what needs it",
    "again": "every spawned worker runs this line again, and its start method is set already: the workers die with "
    '"context has already been set"; put it under `if __name__ == "__main__":`',
}


class StartMethodMisset(Rule):
    """The start method is one for the whole process, and settled by its first use."""

    code = "DLL305"
    name = "start-method-misset"
    fixable = "sometimes"
    summary = "`set_start_method` raises: unknown name, set twice, set too late, or run again in every worker"

    def check(self, project: Project) -> Iterator[Finding]:
        for wrong in project.analysis(StartMethods).wrong:
            setting = wrong.setting
            failing = PICKLING if wrong.kind == "again" else ALL_METHODS
            scope = setting.env.facts.qualname if setting.env.function >= 0 else ""
            yield Finding(
                code=self.code,
                path=setting.module.path,
                span=setting.call.span,
                message=_TEXTS[wrong.kind].format(what=wrong.what),
                certainty=Certainty.CERTAIN if wrong.surely else Certainty.LIKELY,
                outcomes=dict.fromkeys(sorted(failing), "exception"),
                notes=wrong.notes,
                key=f"{self.code}:{setting.module.path}:{scope}:{wrong.kind}",
                data=wrong,
            )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import GUARD, into_guard, without_statement

        source, event = project.source(finding.path), finding.data.setting.event
        edits: tuple[Edit, ...] = ()
        if finding.data.kind == "again":
            title, edits = f"Set it under `{GUARD}`", into_guard(source, event.start)
        elif finding.data.kind == "twice" and _is_the_same(project, finding.data):
            title, edits = "Set it once", without_statement(source, event.start)
        return Fix(title, edits, Applicability.UNSAFE) if edits else _by_hand(project, finding.data)


def _by_hand(project: Project, wrong: StartMethodProblem) -> Fix:
    """What a person has to do, and where."""
    if wrong.kind == "name":
        return Fix.manual(f"Write `fork`, `spawn` or `forkserver`; which of them {wrong.what} stands for is not seen")
    if wrong.kind == "again":
        return Fix.manual("Set it under the main guard; its line has a comment or another statement")
    at = next(iter(wrong.notes), None)
    where = f"{at.path}:{project.source(at.path).place(at.span.start)}" if at is not None else "the other place"
    if wrong.kind == "late":
        return Fix.manual(f"Set it before {where} runs; dllint cannot tell what may precede it")
    if _is_the_same(project, wrong):
        return Fix.manual(f"Set it once; {where} sets the same, and this line has a comment or another statement")
    return Fix.manual(f"Set it once; {where} says another method, or the program chooses it")


def _is_the_same(project: Project, wrong: StartMethodProblem) -> bool:
    """Whether the call before sets the same method."""
    (note,) = wrong.notes
    written = re.search(r"""\(\s*(?:method=)?["'](\w+)["']\s*\)$""", project.text(note.path, note.span))
    return written is not None and wrong.setting.methods == {written[1]}
