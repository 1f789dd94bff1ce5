"""Positions: those of LibCST's own provider, for every kind of node, over real files."""

from __future__ import annotations

import inspect
import random
import sysconfig
from pathlib import Path

import libcst as cst
import pytest

from dllint.source import Source
from dllint.syntax import spans as module_under_test
from dllint.syntax.parse import parse
from dllint.syntax.spans import render, spans

BASES = (
    *(cst.BaseExpression, cst.BaseStatement, cst.BaseSmallStatement, cst.BaseSuite, cst.BaseElement),
    *(cst.Arg, cst.Param, cst.Decorator, cst.ExceptHandler, cst.Else, cst.Finally, cst.MatchCase, cst.WithItem),
    *(cst.ImportAlias, cst.CompFor, cst.DictElement, cst.AssignTarget, cst.Annotation, cst.MatchPattern, cst.AsName),
)
ALL = frozenset(kind for kind in vars(cst).values() if inspect.isclass(kind) and issubclass(kind, BASES))
SOME = frozenset({cst.Name, cst.Lambda, cst.Call, cst.FunctionDef, cst.ClassDef, cst.If, cst.Try, cst.Assign})
STANDARD_LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))

SAMPLE = '''
from a import *
@d(1)
class C(B, m=1):  # comment

    """doc"""
    x: int = (1)

    async def f(self, *a, b=(lambda: ((2))), **k) -> int:
        if (a): pass
        elif b: return ((yield))
        else:
            x = y = [*a, (b), {c: d, **e}, {f}]; del x
        # after
        for i, j in z: continue
        else: break
        try:
            with (o) as (p, q), r: raise E from None
        except (A, B) as e: assert x, y
        finally:
            global g

        match x:
            case [1, *_] | {"a": b, **c} if d: ...
            case C(x=1) as y:
                pass
        return (  # deep
            (a + b)[1:2, ...] @ f"{x!r:>{w}}" "y" if not a else await b
        )
'''


def check(text: str, wanted: frozenset[type]) -> int:
    module = cst.parse_module(text)
    code, found = render(module, wanted)
    assert code == module.code
    theirs = module_under_test._provide(module, wanted)[1]
    assert {node: text[start:end] for node, (start, end) in found.items()} == {
        node: text[start:end] for node, (start, end) in theirs.items()
    }
    assert found == theirs
    return len(found)


@pytest.mark.parametrize("wanted", [ALL, SOME, frozenset({cst.IndentedBlock, cst.SimpleStatementLine, cst.Parameters})])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["", "\n", "x", "# c"])
def test_positions_are_the_providers(wanted: frozenset[type], newline: str, ending: str) -> None:
    assert check((SAMPLE + ending).replace("\n", newline), wanted) > 5


@pytest.mark.parametrize("path", random.Random(7).sample(STANDARD_LIBRARY, 12), ids=lambda path: path.name)
def test_positions_are_the_providers_over_the_standard_library(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert check(text if len(text) < 60_000 else text[:60_000].rpartition("\n\n\n")[0] + "\n", ALL) > 0


@pytest.mark.torch
def test_positions_are_the_providers_over_torch() -> None:
    torch = pytest.importorskip("torch")
    files = sorted(Path(torch.__file__).parent.glob("utils/data/**/*.py"))
    assert sum(check(path.read_text(encoding="utf-8"), SOME) for path in files[:12]) > 500


@pytest.mark.parametrize(
    "text",
    ["x = a" + ".f()" * 500 + "\n", "x = " + "+".join("a" * 1_500) + "\n", "if a: b\n" + "elif a: b\n" * 900],
    ids=["calls", "sum", "elifs"],
)
def test_deep_trees_have_spans(text: str) -> None:
    tree = parse(Source("a.py", text))
    found = tree.spans(SOME)
    assert len(found) > 500
    assert all(text[start:end] == node.value for node, (start, end) in found.items() if isinstance(node, cst.Name))
    assert tree.faithful


def test_without_the_private_interface_the_provider_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    module = cst.parse_module(SAMPLE)
    expected = spans(module, SOME)

    def missing(module: cst.Module, wanted: frozenset[type]) -> None:
        raise AttributeError("_codegen")

    monkeypatch.setattr(module_under_test, "_generate", missing)
    assert spans(module, SOME) == expected


def test_only_wanted_nodes_have_spans() -> None:
    found = spans(cst.parse_module(SAMPLE), frozenset({cst.If}))
    assert {type(node) for node in found} == {cst.If}
