"""DLL305: a start method is set where that raises."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import ALL_METHODS, PICKLING, Certainty, Finding, Project, Rule

_TEXTS = {
    "name": "{what} is no start method: raises `ValueError`; the methods are fork, spawn and forkserver",
    "twice": 'the start method is set already: raises "context has already been set"; set it once',
    "late": 'the start method is settled by `{what}` before: raises "context has already been set"; '
    "set it first, or give a context to what needs it",
    "again": "every spawned worker runs this line again, and its start method is set already: the workers die with "
    '"context has already been set"; put it under `if __name__ == "__main__":`',
}


class StartMethodMisset(Rule):
    """The start method is one for the whole process, and settled by its first use."""

    code = "DLL305"
    name = "start-method-misset"
    summary = "`set_start_method` raises: unknown name, set twice, set too late, or run again in every worker"

    def check(self, project: Project) -> Iterator[Finding]:
        for wrong in project.start_methods.wrong:
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
            )
