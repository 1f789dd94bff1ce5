"""The walk: every semantic node once, in source order, none of the punctuation."""

from __future__ import annotations

import libcst as cst
import pytest

from dllint.syntax.spans import spans
from dllint.syntax.walk import children, semantic_fields, walk

SOURCE = """
@d
async def f(a, /, b: int = 1, *c, e=2, **g) -> h:
    with i as j, k: l(m, *n, o=p, **q)
    return [r for s in t if u] + (lambda v: w)  # x
match y:
    case A(b=1) | [2, *z] if aa: bb[cc:dd, ee] = f"{ff!r:{gg}}"
"""


class Everything(cst.CSTVisitor):
    def __init__(self) -> None:
        self.seen: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.seen.append(node)
        return True


def test_every_statement_and_expression_is_met_once() -> None:
    module = cst.parse_module(SOURCE)
    everything = Everything()
    module.visit(everything)
    meaning = (cst.BaseExpression, cst.BaseStatement, cst.BaseSmallStatement, cst.MatchPattern, cst.Arg, cst.Param)
    expected = [node for node in everything.seen if isinstance(node, meaning)]
    met = [node for node in walk(module) if isinstance(node, meaning)]
    assert len(met) == len(set(met))
    assert set(met) == set(expected)


def test_no_whitespace_and_punctuation() -> None:
    module = cst.parse_module(SOURCE)
    syntax = (cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Comma, cst.LeftParen)
    assert not [node for node in walk(module) if isinstance(node, syntax)]


def test_statements_come_in_source_order() -> None:
    module = cst.parse_module(SOURCE)
    positions = spans(module, frozenset({cst.Return, cst.With, cst.Match, cst.Assign, cst.Expr}))
    starts = [positions[node][0] for node in walk(module) if node in positions]
    assert starts == sorted(starts)


@pytest.mark.parametrize(
    ("node_type", "fields"),
    [
        (cst.Call, ("func", "args")),
        (cst.Lambda, ("params", "body")),
        (cst.DictElement, ("key", "value")),
        (cst.Name, ("value",)),
        (cst.Comma, ()),
    ],
)
def test_semantic_fields(node_type: type[cst.CSTNode], fields: tuple[str, ...]) -> None:
    assert semantic_fields(node_type) == fields


def test_children_of_a_leaf() -> None:
    assert children(cst.Name("a")) == []
