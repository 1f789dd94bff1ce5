"""Programs that import a file with a syntax error: they fail before anything else, so what they do isn't certain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from dllint.engine.corpus import Corpus
from dllint.finding import Certainty, Finding

if TYPE_CHECKING:
    from dllint.model.facts import ImportedName
    from dllint.project import Project
    from dllint.project.program.index import Index
    from dllint.project.program.module import Module


def doubted(findings: Iterable[Finding], project: Project, corpus: Corpus) -> Iterator[Finding]:
    """The findings, likely where their way leads through a file that no program can import."""
    broken = {problem.path for problem in corpus.problems if problem.code == "DLL900" and problem.path.endswith(".py")}
    failing = _failing(_with_broken(project, broken), broken) if broken else frozenset()
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
    return Index({**empty, **project.models}, project.index.roots, project.index)


def _failing(index: Index, broken: set[str]) -> frozenset[str]:
    """The files that surely import a broken one, directly or not, and those that only such files import."""
    found, waiting = set(broken), [*broken]
    while waiting:
        for user, item in index.import_statements.get(waiting.pop(), ()):
            if user.path not in found and _always_runs(user, item):
                found.add(user.path)
                waiting.append(user.path)
    return frozenset(found | {path for path in index.modules if _programs(index, path) <= found})


def _always_runs(module: Module, item: ImportedName) -> bool:
    blocks = (module.block(block).kind for block in module.enclosing(item.block))
    return item.function < 0 and all(kind == "with" for kind in blocks)


def _programs(index: Index, path: str) -> set[str]:
    """The files that begin a program with a file: those that no other file imports."""
    return {user for user in index.importers(path) if not index.import_statements.get(user)} or {path}
