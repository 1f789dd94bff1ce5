"""DLL405: a process is joined before the queue that it fills is read."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Certainty, Finding, Fix, Note, Project, Rule, is_test
from dllint_rules.lifetime.analysis.draining import Draining


class JoinBeforeDrain(Rule):
    """A process that has put something on a queue does not end before it is read."""

    code = "DLL405"
    name = "join-before-drain"
    summary = "process is joined before the queue that it fills is read: both wait forever"

    def check(self, project: Project) -> Iterator[Finding]:
        for found in project.analysis(Draining).undrained():
            task = found.task
            if is_test(task.path):
                continue
            yield Finding(
                code=self.code,
                path=task.path,
                span=found.join.span,
                message=f"`{project.text(task.path, found.join.span)}` waits for a process that does not end before "
                f"`{found.queue}` is read: with more than 64 KiB both wait forever; read it first, then join",
                certainty=Certainty.LIKELY,
                outcomes=dict.fromkeys(sorted(task.methods), "hang"),
                notes=(
                    Note(found.put_path, found.put.span, f"the process fills `{found.queue}` here"),
                    Note(task.path, task.call.span, "the process gets the queue here"),
                    Note(task.path, found.get.span, "the queue is read only here"),
                ),
                anchors=((task.path, task.call.span),),
                key=f"{self.code}:{task.path}:{task.env.facts.qualname}:{found.queue}",
                data=found,
            )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        found, source = finding.data, project.source(finding.path)
        row = source.location(found.get.start)[0]
        read = project.text(finding.path, found.get.span)
        return Fix.manual(f"Read with `{read}` (line {row}) first; how many results there are must be known then")
