"""Reads `# fact:` comments from programs and compares them with what the project model answers.

A folder is one project. Facts stand at the end of a line, several separated by `;`:

* `# fact: shipped`: a value made on this line (a lambda, function, object or container) goes to workers;
* `# fact: shipped by users`: it would go to the workers of whoever uses this library;
* `# fact: runs in worker`: the function that begins on this line runs in workers; `runs for users` likewise;
* `# fact: workers some`, `none` or `unknown`: the loader made on this line has workers, surely none, or may have some.

`via A.b, collate_fn` names steps of the route, the value's own first, by what stands in backquotes there: `A.b` is
"kept as `b` of `A`", `collate_fn` is "passed as `collate_fn`". Functions that are shipped, functions that run in
workers, and loaders are checked both ways: what the model knows of them must be written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dllint.collect import collect
from dllint.finding import Note
from dllint.project import Project, Targets
from dllint.project.evaluate.abstract_values import Func, Method
from dllint.source import Source, Span

_FACTS = re.compile(r"# fact: (.*\S)\s*$")
_FACT = re.compile(
    r"(?P<what>shipped|shipped by users|runs in worker|runs for users|workers (?:some|none|unknown))"
    r"(?: via (?P<via>.+))?"
)


@dataclass(frozen=True, order=True)
class Fact:
    """Something that is so on a line. `exact` facts must be written down; the others may be."""

    path: str
    row: int
    what: str
    exact: bool = True
    route: tuple[str, ...] = ()

    def __str__(self) -> str:
        route = f"\n        {' <- '.join(self.route)}" if self.route else ""
        return f"{self.path}:{self.row}: {self.what}{route}"


def project_of(folder: Path) -> Project:
    """All Python files of a folder as a project."""
    files = sorted(folder.rglob("*.py"))
    sources = {
        path.relative_to(folder).as_posix(): Source.from_bytes(path.relative_to(folder).as_posix(), path.read_bytes())
        for path in files
    }
    return Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)


def written(folder: Path) -> Iterator[Fact]:
    """The facts that a folder's programs state; `route` holds the words of `via`."""
    for path in sorted(folder.rglob("*.py")):
        for row, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            match = _FACTS.search(line)
            for text in match[1].split(";") if match else ():
                fact = _FACT.fullmatch(text.strip())
                assert fact, f"{path}:{row}: cannot read the fact {text!r}"
                via = tuple(step.strip() for step in (fact["via"] or "").split(",") if step)
                yield Fact(path.relative_to(folder).as_posix(), row, fact["what"], True, via)


def known(project: Project) -> Iterator[Fact]:
    """The facts that the model knows."""

    def row(path: str, span: Span) -> int:
        return project.source(path).location(span.start)[0]

    def route(notes: Iterable[Note]) -> tuple[str, ...]:
        return tuple(note.text for note in notes)

    for held in project.shipped:
        what = "shipped by users" if held.loader is None else "shipped"
        function = isinstance(held.value, Func | Method)
        yield Fact(held.path, row(held.path, held.span), what, function, route(held.route))
    for what, running in (("runs in worker", project.running), ("runs for users", project.users_running)):
        for item in running:
            path = item.env.module.path
            yield Fact(path, row(path, item.env.facts.header), what, True, route(item.route))
    for loader in project.loaders:
        yield Fact(loader.path, row(loader.path, loader.span), f"workers {loader.workers.value}")


def disagreements(folder: Path) -> list[str]:
    """What is written and not known, and what is known and not written, one line each."""
    stated, answers = list(written(folder)), sorted(set(known(project_of(folder))))
    wrong = [f"not known: {fact}" for fact in stated if not any(_means(fact, answer) for answer in answers)]
    places = {(fact.path, fact.row, fact.what) for fact in stated}
    wrong += [f"not written: {a}" for a in answers if a.exact and (a.path, a.row, a.what) not in places]
    return wrong


def _means(stated: Fact, answer: Fact) -> bool:
    same = (stated.path, stated.row, stated.what) == (answer.path, answer.row, answer.what)
    return same and _follows(stated.route, answer.route)


def _follows(steps: tuple[str, ...], route: tuple[str, ...]) -> bool:
    """Whether the steps occur in the route, in this order."""
    rest = iter(route)
    return all(any(_names(step, text) for text in rest) for step in steps)


def _names(step: str, text: str) -> bool:
    """Whether a step's text has the name in backquotes (perhaps qualified), or else each of its words."""
    quoted = {word.removesuffix("(...)") for word in re.findall(r"`([^`]+)`", text)}
    last = {word.rpartition(".")[2] for word in quoted}
    return step in quoted | last or ("." in step and set(step.split(".")) <= quoted)
