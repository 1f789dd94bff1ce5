"""DLL111: workers make an item that cannot be sent back."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import ALL_METHODS, Applicability, Finding, Fix, Note, Project, Rule, Seq


class UnpicklableItem(Rule):
    """What workers make goes back through a queue, and is pickled for that under every start method."""

    code = "DLL111"
    name = "unpicklable-item"
    summary = "workers send back a lambda, a generator or an object of a local class: the loader hangs"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for loader in project.loaders:
            if not project.starts_workers(loader):
                continue
            for value, what in project.items.unpicklable(loader):
                place = project.place(value)
                if place is None or place in seen:
                    continue
                seen.add(place)
                yield Finding(
                    code=self.code,
                    path=place[0],
                    span=place[1],
                    message=f"{what} is sent back by the workers of `{loader.name}` and cannot be pickled: the main "
                    "process waits for it for ever, under every start method; send data, or an object of a class at "
                    "module level",
                    certainty=loader.certainty,
                    outcomes=dict.fromkeys(sorted(ALL_METHODS), "hang"),
                    notes=(Note(loader.path, loader.span, f"`{loader.name}(...)` starts the workers here"),),
                    anchors=((loader.path, loader.span),),
                    key=f"{self.code}:{place[0]}:{what}:{loader.name}",
                    data=value,
                )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import piece

        if not isinstance(finding.data, Seq) or finding.data.expr.name != "generator":
            return None
        snippet = f"[{piece(project.source(finding.path), finding.span)}]"
        return Fix("Send back a list", (), Applicability.MANUAL, snippet=snippet)
