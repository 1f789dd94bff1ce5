"""DLL111: workers make an item that cannot be sent back."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    ALL_METHODS,
    Applicability,
    Certainty,
    ExtInst,
    Finding,
    Fix,
    Func,
    Inst,
    Note,
    Project,
    Rule,
    Seq,
    Span,
    Value,
    namedtuple_of,
)
from dllint_rules.pickling.analysis.items import Items


class UnpicklableItem(Rule):
    """What workers make goes back through a queue, and is pickled for that under every start method."""

    code = "DLL111"
    name = "unpicklable-item"
    summary = "workers send back a lambda, a generator or an object of a local class: loaders hang, pools fail"

    def check(self, project: Project) -> Iterator[Finding]:
        seen: set[tuple[str, Span]] = set()
        yield from self._items(project, seen)
        yield from self._results(project, seen)

    def _results(self, project: Project, seen: set[tuple[str, Span]]) -> Iterator[Finding]:
        """What the functions of a pool return: the caller gets an error in its place."""
        for task in project.processes.tasks:
            results = project.analysis(Items).of_functions(project.processes.functions(task)) if task.always else ()
            for value, what, only in results:
                place = project.place(value)
                if place is None or place in seen:
                    continue
                seen.add(place)
                yield Finding(
                    code=self.code,
                    path=place[0],
                    span=place[1],
                    message=f"{what} is the result of `{task.name}` and cannot be pickled: the call that asks for the "
                    "result fails, under every start method; return data, or an object of a class at module level",
                    certainty=Certainty.CERTAIN if task.decided and only else Certainty.LIKELY,
                    outcomes=dict.fromkeys(sorted(task.methods), "exception"),
                    notes=(task.note,),
                    anchors=((task.path, task.call.span),),
                    key=f"{self.code}:{place[0]}:{what}:{task.name}",
                    data=value,
                )

    def _items(self, project: Project, seen: set[tuple[str, Span]]) -> Iterator[Finding]:
        """What the workers of loaders make."""
        for value, what, workers, certainty, note in self._sent_back(project):
            place = project.place(value)
            if place is None or place in seen:
                continue
            seen.add(place)
            yield Finding(
                code=self.code,
                path=place[0],
                span=place[1],
                message=f"{what} is sent back by the workers of {workers} and cannot be pickled: the main "
                "process waits for it forever, under every start method; send data, or an object of a class at "
                "module level",
                certainty=certainty,
                outcomes=dict.fromkeys(sorted(ALL_METHODS), "hang"),
                notes=(note,),
                anchors=((note.path, note.span),),
                key=f"{self.code}:{place[0]}:{what}:{workers}",
                data=value,
            )

    def _sent_back(self, project: Project) -> Iterator[tuple[Value, str, str, Certainty, Note]]:
        """What is sent back, what it is, by whose workers, how sure that is, and where it is seen."""
        for loader in project.loaders:
            if project.starts_workers(loader):
                for value, what in project.analysis(Items).unpicklable(loader):
                    yield value, what, f"`{loader.name}`", loader.certainty, loader.start
        for dataset, note in (*project.users_datasets, *project.analysis(Items).shown()):
            for value, what in project.analysis(Items).of_dataset(dataset):
                yield value, what, "programs that load this dataset", Certainty.LIKELY, note

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import piece

        value = finding.data
        if namedtuple_of(value) is not None or isinstance(value, Inst):
            return Fix.manual(
                "Make its class at module level; the main process cannot find a class that a method creates"
            )
        if isinstance(value, ExtInst) and value.name == "collections.defaultdict":
            return Fix.manual(
                "Send back `dict(...)` of it, and of its content; code that receives it may rely on the defaults"
            )
        if isinstance(value, Func) and value.facts.is_generator:
            return Fix.manual("Collect what it yields in a list, and return that")
        if not isinstance(value, Seq) or value.expr.name != "generator":
            return Fix.manual("Send back data, not what makes it; what the main process does with it is not seen")
        snippet = f"[{piece(project.source(finding.path), finding.span)}]"
        return Fix("Send back a list", (), Applicability.MANUAL, snippet=snippet)
