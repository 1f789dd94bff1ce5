"""DLL604: arguments that a loader refuses."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Certainty, Edit, Expr, Finding, Fix, Loader, Note, Project, Rule, Span
from dllint_rules.correctness.conflicts import Conflict, conflicts, is_given
from dllint_rules.correctness.dropped import without_argument

_WITHOUT_WORKERS = {
    "persistent_workers": "False",
    "prefetch_factor": "None",
    "multiprocessing_context": "None",
    "timeout": "0",
}
"""What torch accepts where there are no workers."""


class LoaderArgumentConflict(Rule):
    """torch checks a loader's arguments when it is made, and some only when it is iterated."""

    code = "DLL604"
    name = "loader-argument-conflict"
    summary = "loader gets arguments that it rejects"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for loader in project.loaders:
            if loader.in_tests or not project.given.checked_by_torch(loader) or not project.given.runs(loader):
                continue
            for conflict in conflicts(project, loader):
                finding = self._finding(loader, conflict)
                if (finding.path, finding.span, conflict.name) not in seen:
                    seen.add((finding.path, finding.span, conflict.name))
                    yield finding

    def _finding(self, loader: Loader, conflict: Conflict) -> Finding:
        place = next((item for item in conflict.items if item.expr is not None and item.env is not None), None)
        path, span = loader.path, loader.span
        if place is not None and place.expr is not None and place.env is not None:
            path, span = place.env.module.path, place.expr.span
        return Finding(
            code=self.code,
            path=path,
            span=span,
            message=f"`{conflict.name}` {conflict.text}; {conflict.remedy}",
            severity=self.severity,
            certainty=Certainty.CERTAIN if loader.decided and conflict.sure else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(loader.methods), "exception"),
            notes=(Note(loader.path, loader.span, f"`{loader.name}(...)` is made here"),),
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{path}:{loader.name}:{conflict.name}",
            data=(loader, conflict),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        loader, conflict = finding.data
        value = loader.call.keyword(conflict.name)
        if conflict.correction:
            fix = _corrected(project, loader, conflict, finding)
            return fix or _by_hand(conflict, "it is not written in the call, or it has a meaning for other callers")
        fix = _with_workers(project, loader, conflict)
        if fix is not None:
            return fix
        why_not = _why_not(project, loader, conflict, finding)
        if why_not or value is None:
            return _by_hand(conflict, why_not)
        if conflict.partner and not _is_surely_given(project, loader, conflict.partner):
            fix = _unless_given(project, loader, conflict, value)
            return fix or _by_hand(conflict, f"whether there is a `{conflict.partner}` is known only when it runs")
        edit = without_argument(project, finding.path, loader.call, conflict.name, value)
        safe = Applicability.SAFE if conflict.removable == "safe" else Applicability.UNSAFE
        fix = Fix(f"Drop `{conflict.name}`", (edit,), safe) if edit is not None else None
        return fix or _by_hand(conflict, "a comment beside it would be lost")


def _why_not(project: Project, loader: Loader, conflict: Conflict, finding: Finding) -> str:
    """Why an argument cannot be dropped, in words; "" where it can."""
    value = loader.call.keyword(conflict.name)
    if not conflict.removable:
        return (
            "dllint can't tell which of the two is meant"
            if conflict.because
            else "dllint can't tell which value is meant"
        )
    if value is None or loader.instance is not None or loader.call.keyword("**") is not None:
        return "the arguments come from elsewhere, and other calls may use them, too"
    if value.kind != "constant" or finding.span != value.span:
        return "its value is not written in the call"
    return "" if _in_every_case(project, loader, conflict) else "the same call is correct when other code runs it"


def _with_workers(project: Project, loader: Loader, conflict: Conflict) -> Fix | None:
    """`4 if workers > 0 else None`: as it was where there are workers, where their number is given as a variable."""
    value, workers = loader.call.keyword(conflict.name), loader.call.keyword("num_workers")
    if (
        not conflict.because
        or conflict.removable
        or conflict.name not in _WITHOUT_WORKERS
        or value is None
        or workers is None
    ):
        return None
    plain = value.kind == "constant" or value.dotted
    if not plain or not workers.dotted or loader.instance is not None or loader.call.keyword("**") is not None:
        return None
    some, own = f"{workers.dotted} > 0", project.text(loader.path, value.span)
    if conflict.name == "persistent_workers":
        text = some if value.kind == "constant" else f"{own} and {some}"
    else:
        text = f"{own} if {some} else {_WITHOUT_WORKERS[conflict.name]}"
    edit = Edit(loader.path, value.span, text)
    if conflict.name == "prefetch_factor" and project.targets.may_have_torch_1(loader.path):
        edit = _left_out(project, loader.path, value, conflict.name, some)
    return Fix(f"Pass `{conflict.name}` only where there are workers", (edit,), Applicability.UNSAFE)


def _left_out(project: Project, path: str, value: Expr, name: str, some: str) -> Edit:
    """An argument that is left out where there are no workers: torch 1 takes no `None` for `prefetch_factor`."""
    from dllint import in_quotes

    source = project.source(path)
    start = source.text.rindex(name, 0, value.start)
    text = in_quotes(source, f'**({{"{name}": {project.text(path, value.span)}}} if {some} else {{}})')
    return Edit(path, Span(start, value.end), text)


def _by_hand(conflict: Conflict, why_not: str) -> Fix:
    return Fix.manual(f"{conflict.remedy[:1].upper()}{conflict.remedy[1:]}; {why_not}")


def _corrected(project: Project, loader: Loader, conflict: Conflict, finding: Finding) -> Fix | None:
    """What must have been meant, where the value is written in the call."""
    value = loader.call.keyword(conflict.name)
    parts = [] if value is None else [value, *(value.args if value.kind == "ifexp" else ())]
    if all(part.span != finding.span or part.kind == "ifexp" for part in parts):
        return None
    if loader.instance is not None or not _in_every_case(project, loader, conflict):
        return None
    edit = Edit(finding.path, finding.span, conflict.correction)
    return Fix(f"Write `{conflict.correction}`", (edit,), Applicability.UNSAFE)


def _in_every_case(project: Project, loader: Loader, conflict: Conflict) -> bool:
    """Whether the call is refused whatever runs the code around it."""
    same = [other for other in project.loaders if other.call is loader.call]
    return all(conflict.name in [found.name for found in conflicts(project, other)] for other in same)


def _is_surely_given(project: Project, loader: Loader, name: str) -> bool:
    """Whether an argument surely is not None: what is made there, or in the only assignment to its name."""
    given, env = loader.call.keyword(name), loader.env
    if not all(map(is_given, project.given.alternatives(loader, name))):
        return False
    if given is not None and given.kind == "name":
        bound = env.module.bindings[env.function, -1].get(given.name, [])
        given = bound[0].event.value if len(bound) == 1 and bound[0].event and bound[0].kind == "assign" else None
    return given is not None and given.kind in ("call", "list")


def _unless_given(project: Project, loader: Loader, conflict: Conflict, value: Expr) -> Fix | None:
    """`shuffle=sampler is None`: as it was where there is no sampler."""
    sampler = loader.call.keyword(conflict.partner)
    if conflict.name != "shuffle" or conflict.partner != "sampler" or sampler is None or not sampler.dotted:
        return None
    edit = Edit(loader.path, value.span, f"{sampler.dotted} is None")
    return Fix("Shuffle only where there is no sampler", (edit,), Applicability.UNSAFE)
