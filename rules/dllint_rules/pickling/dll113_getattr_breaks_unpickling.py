"""DLL113: unpickling asks a new, empty object for a method, and its `__getattr__` asks itself forever."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Finding, Fix, Inst, Project, Rule
from dllint_rules.pickling.analysis.states import endless_getattr
from dllint_rules.pickling.unpicklable import finding

REMEDY = "raise AttributeError for names that start with `__` and for the attribute itself"


class GetattrBreaksUnpickling(Rule):
    """Pickle makes the object without `__init__` and asks for `__setstate__`: `__getattr__` runs and nothing is set."""

    code = "DLL113"
    name = "getattr-breaks-unpickling"
    summary = "`__getattr__` of something that is shipped to workers reads an attribute that is not there yet"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for held in project.shipped:
            read = endless_getattr(project, held.value) if isinstance(held.value, Inst) else None
            if read is None or (read[0].path, read[1].start) in seen:
                continue
            module, expr = read
            seen.add((module.path, expr.start))
            at = held.at(module.path, expr.span)
            what = f"`{project.text(module.path, expr.span)}` in `__getattr__` recurses infinitely"
            found = finding(self, project, at, what, REMEDY, "when a worker unpickles the object: fails")
            if found is not None:
                yield found

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import guard_getattr

        edit = guard_getattr(project.source(finding.path), finding.span.start)
        title = "Raise AttributeError for names that Python itself asks for and for what the method reads"
        why_not = "its body shares a line with the `def`, or what it reads has no name of its own"
        return Fix(title, (edit,), Applicability.UNSAFE) if edit else Fix.manual(f"{title}; {why_not}")
