"""What the evaluator knows, written beside the code that asks for it, as in ty's tests.

In the programs of `reveals/`, `reveal(x)` asks for a value and `holds(test)` for a truth; the comment at the end of the
line says the answer:

* `# reveals: 1 | lambda | ?`: the values in the activation of which nothing is known, sorted; `?` is UNKNOWN;
* `# in contexts: 1; 'a'`: the values in each context in which the function is called, sorted;
* `# holds: yes`, `no` or `unknown`.

Below a call that starts workers or processes, each `# ships: lambda <- Rows.clean <- dataset` says one value that is
sent there and its way to the call; `perhaps` stands before what is only likely. Together they say all, or
`# ships: nothing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint.finding import Certainty, Note
from dllint.model.facts import Expr
from dllint.project import Project
from dllint.project.escape.shipped import Shipped
from dllint.project.evaluate.abstract_values import (
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Free,
    Func,
    Inst,
    Klass,
    Method,
    Mod,
    Opaque,
    Seq,
    Value,
)
from dllint.project.program.module import Site
from tests.project.facts import project_of

PROGRAMS = sorted(
    path for path in (Path(__file__).parent / "reveals").iterdir() if path.is_dir() and path.name[0] != "."
)
_SHIPS = re.compile(r"\s*# ships: (.*\S)\s*")
_ANSWER = re.compile(r"# (reveals|in contexts|holds): (.*\S)\s*$")
_TRUTHS = {True: "yes", False: "no", None: "unknown"}


def shown(value: Value) -> str:
    """A value as the comments write it."""
    match value:
        case Const(value=constant):
            return repr(constant)
        case Func(facts=facts):
            return "lambda" if facts.kind == "lambda" else facts.name
        case Klass(facts=facts):
            return f"type[{facts.name}]"
        case Inst(klass=klass):
            return klass.facts.name
        case Method(owner=owner, func=func):
            return f"{shown(owner)}.{func.facts.name}"
        case Ext(name=name):
            return name
        case ExtInst(name=name):
            return f"{name}()"
        case ExtMethod(base=base, attribute=attribute):
            return f"{shown(base)}.{attribute}"
        case Seq(expr=expr):
            return expr.name if expr.kind == "comprehension" else expr.kind
        case Mod(module=module):
            return f"module {module.path}"
        case Opaque() | Free():
            return "?"
    return type(value).__name__


def values(project: Project, asked: Expr, env: Env) -> str:
    return " | ".join(sorted({shown(value) for value in project.evaluator.values(asked, env)})) or "nothing"


def answer(project: Project, site: Site, kind: str) -> str:
    """What the evaluator says where a program asks."""
    asked, generic = site.expr.args[1], project.evaluator.generic(site.module, site.function)
    if kind == "holds":
        return _TRUTHS[project.evaluator.conditions.truth(asked, generic)]
    if kind == "reveals":
        return values(project, asked, generic)
    contexts = project.boundaries.contexts(site.module, site.function)
    return "; ".join(sorted(values(project, asked, env) for env in contexts))


def questions(project: Project) -> Iterator[tuple[Site, str, str, str]]:
    """Every question of a program: where it is asked, which one it is, the answer that is written, the line."""
    for site in project.index.calls_named(("reveal", "holds")):
        source = project.source(site.module.path)
        line = source.text[: site.expr.end].count("\n")
        text = source.text.split("\n")[line]
        written = _ANSWER.search(text)
        assert written, f"{site.module.path}:{line + 1}: no answer is written beside the question"
        yield site, written[1], written[2], f"{site.module.path}:{line + 1}"


def step(note: Note) -> str:
    """A step of a route: the names that it speaks of, the holder first."""
    names = re.findall(r"`([^`]+)`", note.text)
    return ".".join(reversed(names)) or re.sub(r"^an element of an? (.*)$", r"\1[]", note.text)


def shipped(project: Project) -> dict[str, list[str]]:
    """What each call ships, as the comments write it, by the line on which the call ends."""
    made = [
        (loader, loader.call, project.shipped_by(loader)) for loader in filter(project.starts_workers, project.loaders)
    ]
    started = [(task, task.call, project.processes.held(task)) for task in project.processes.tasks]
    found: dict[str, set[str]] = {}
    for maker, call, items in (*made, *started):
        line = project.source(maker.path).location(call.span.end)[0]
        for held in items:
            surely = "" if held.surely is Certainty.CERTAIN else "perhaps "
            way = [step(note) for note in held.route if note.span != call.span]
            found.setdefault(f"{maker.path}:{line}", set()).add(surely + " <- ".join((shown(held.value), *way)))
    return {place: sorted(ways) for place, ways in found.items()}


def ships(project: Project) -> dict[str, list[str]]:
    """What is written below calls, by the line above."""
    found: dict[str, list[str]] = {}
    for path in project.models:
        above = ""
        for number, line in enumerate(project.source(path).text.split("\n"), 1):
            written = _SHIPS.fullmatch(line)
            if written is None:
                above = f"{path}:{number}"
            else:
                found.setdefault(above, []).append(written[1])
    return {place: sorted(lines) for place, lines in found.items()}


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda path: path.name)
def test_reveals(folder: Path) -> None:
    project = project_of(folder)
    asked, escaping, known = list(questions(project)), ships(project), shipped(project)
    assert asked or escaping, "the program asks nothing"
    wrong = [
        f"{place}: {kind} {found}, not {written}"
        for site, kind, written, place in asked
        if (found := answer(project, site, kind)) != written
    ]
    wrong += [
        f"{place}: ships {found}, not {written}"
        for place, written in escaping.items()
        if (found := known.get(place, ["nothing"])) != written
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda path: path.name)
def test_reveals_the_same_when_asked_backwards(folder: Path) -> None:
    forwards, backwards = project_of(folder), project_of(folder)
    usual = {place: answer(forwards, site, kind) for site, kind, _, place in questions(forwards)}
    other = {place: answer(backwards, site, kind) for site, kind, _, place in reversed(list(questions(backwards)))}
    assert usual == other
    walk = Shipped(backwards.evaluator, backwards.boundaries)
    for loader in reversed(backwards.loaders):
        walk.by(loader)
    assert shipped(forwards) == shipped(backwards)
