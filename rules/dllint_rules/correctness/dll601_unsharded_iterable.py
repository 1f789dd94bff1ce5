"""DLL601: an iterable dataset that no worker takes only a share of."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Env, Finding, Fix, Held, Inst, Project, Rule, Severity
from dllint_rules.correctness.analysis.sharding import Sharding, asks_in_vain
from dllint_rules.correctness.workers import gets_several_workers

_SHARED = """\
from itertools import islice

from torch.utils.data import get_worker_info


def __iter__(self):
    info = get_worker_info()
    first, step = (info.id, info.num_workers) if info is not None else (0, 1)
    return islice(self.{name}(), first, None, step)


"""


class UnshardedIterable(Rule):
    """A loader cannot split a stream: each worker gets a copy of the dataset and goes through all of it."""

    code = "DLL601"
    name = "unsharded-iterable"
    summary = "iterable dataset yields all of its data in every worker"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for held in project.shipped:
            loader = held.loader
            if held.holder.name != "dataset" or loader is None or not isinstance(held.value, Inst):
                continue
            if loader.in_tests or not gets_several_workers(project, loader):
                continue
            code = [running for running in project.running if running.loader is loader]
            stream = project.analysis(Sharding).whole_stream(held.value, loader, code)
            if stream is not None:
                yield self._finding(held, held.value, stream)

    def _finding(self, held: Held, inst: Inst, stream: Env) -> Finding:
        loader, name = held.loader, inst.klass.facts.name
        assert loader is not None
        why = (
            "calls `get_worker_info()` and does not use the result"
            if asks_in_vain(stream)
            else "never checks which worker it runs in"
        )
        return Finding(
            code=self.code,
            path=stream.module.path,
            span=stream.facts.header,
            message=f"`{name}` yields all of its data in every worker, because it {why}: each item "
            "comes once per worker; take every n-th item, `islice(items, info.id, None, info.num_workers)`",
            severity=self.severity,
            certainty=held.surely,
            outcomes=dict.fromkeys(sorted(loader.methods), "corrupt"),
            notes=held.route,
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{stream.module.path}:{name}",
            data=(inst, stream),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import free_name, renamed

        inst, stream = finding.data
        name = free_name(stream.module.model, "whole_stream")
        whole = renamed(project.source(finding.path), stream.facts.header.start, name)
        if not whole:
            return None
        title = f"Let each worker take its share in `{inst.klass.facts.name}`; `{name}` is the old `__iter__`"
        return Fix(title, (), Applicability.MANUAL, snippet=_SHARED.format(name=name) + whole)
