"""What the evaluator knows, written beside the code that asks for it, as in ty's tests.

In the programs of `reveals/`, `reveal(x)` asks for a value and `holds(test)` for a truth; the comment at the end of the
line says the answer:

* `# reveals: 1 | lambda | ?`: the values in the activation of which nothing is known, sorted; `?` is UNKNOWN;
* `# in contexts: 1; 'a'`: the values in each context in which the function is called, sorted;
* `# holds: yes`, `no` or `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint.model.facts import Expr
from dllint.project import Project
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


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda path: path.name)
def test_reveals(folder: Path) -> None:
    project = project_of(folder)
    asked = list(questions(project))
    assert asked, "the program asks nothing"
    wrong = [
        f"{place}: {kind} {found}, not {written}"
        for site, kind, written, place in asked
        if (found := answer(project, site, kind)) != written
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda path: path.name)
def test_reveals_the_same_when_asked_backwards(folder: Path) -> None:
    forwards, backwards = project_of(folder), project_of(folder)
    usual = {place: answer(forwards, site, kind) for site, kind, _, place in questions(forwards)}
    other = {place: answer(backwards, site, kind) for site, kind, _, place in reversed(list(questions(backwards)))}
    assert usual == other
