"""DLL610: settings of libraries that only the main process makes, and workers depend on."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import PICKLING, Certainty, Finding, Fix, Loader, Project, Rule, Severity, Task, outcomes
from dllint_rules.correctness.analysis.main_settings import MainSetting, MainSettings
from dllint_rules.correctness.started import processes, span_of, started, where


class SettingOnlyInMain(Rule):
    """A worker that is not forked imports libraries afresh: what `main` set in them is not there."""

    code = "DLL610"
    name = "setting-only-in-main"
    summary = "library setting that only the main process makes: spawned workers have the default"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for starter, codes in started(project):
            for setting in project.analysis(MainSettings).read_by(starter, codes):
                place = setting.module.path, setting.span
                if place not in seen:
                    seen.add(place)
                    yield self._finding(project, setting, starter)

    def _finding(self, project: Project, setting: MainSetting, starter: Loader | Task) -> Finding:
        remedy = "set it in a module they import" if setting.module.notebook else "set it at module level"
        remedy = remedy if setting.movable else "pass the value along, or do it again in each"
        what, outcome = setting.costs or "silently different", "bloat" if setting.costs else "corrupt"
        if setting.error:
            what, outcome = f"fails (`{setting.error}`)", "exception"
        path = setting.module.path
        return Finding(
            code=self.code,
            path=path,
            span=setting.span,
            message=f"`{setting.what}` is set in the main process only, and `{setting.reader}` depends on it in "
            f"spawned {processes(starter)}: {what} {where(project, starter)}; {remedy}",
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
            outcomes=outcomes(starter.methods & PICKLING, outcome, starter.chosen),
            notes=setting.notes,
            anchors=((starter.path, span_of(starter)),),
            key=f"{self.code}:{path}:{setting.what}",
            data=setting,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import above_guard

        setting = finding.data
        if setting.module.notebook:
            return Fix.manual("Set it in the module that the workers import; workers can't import a notebook")
        if not setting.movable:
            return Fix.manual(
                f"Pass on what `{setting.reader}` needs; `{setting.what}` depends on how this run was started"
            )
        snippet = above_guard(project.source(finding.path), finding.span.start)
        why_not = "" if snippet else "; it runs only in some cases, or needs values that don't exist there yet"
        guarded = project.guarded.has_guarded_part(setting.module)
        place = "above the main guard" if guarded else "at the level of its module, or of one that workers import"
        return Fix.manual(f"Put it {place}{why_not}", snippet)
