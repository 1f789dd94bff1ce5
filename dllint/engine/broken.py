"""Programs that import a file with a syntax error: they fail before anything else, so what they do isn't certain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from dllint.engine.corpus import Corpus
from dllint.finding import Certainty, Finding

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.project.program.index import Index


def doubted(findings: Iterable[Finding], project: Project, corpus: Corpus) -> Iterator[Finding]:
    """The findings, likely where their way leads through a file that no program can import."""
    from dllint.project.program.failing import failing_with

    broken = {problem.path for problem in corpus.problems if problem.code == "DLL900" and problem.path.endswith(".py")}
    failing = failing_with(_with_broken(project, broken), broken | project.boundaries.chosen_methods.for_python_2)
    for finding in findings:
        files = (finding.path, *(note.path for note in finding.notes), *(path for path, _ in finding.anchors))
        if finding.certainty is Certainty.CERTAIN and not failing.isdisjoint(files):
            finding = msgspec.structs.replace(finding, certainty=Certainty.LIKELY)
        yield finding


def _with_broken(project: Project, broken: Iterable[str]) -> Index:
    """The modules of a project, with empty ones for the files that don't parse: imports find them."""
    from dllint.model.facts import ModuleModel
    from dllint.project.program.index import Index

    empty = {path: ModuleModel(path, (), (), (), (), (), frozenset(), None, ()) for path in broken}
    if empty.keys() <= project.models.keys():
        return project.index
    return Index({**empty, **project.models}, project.index.roots, project.index)
