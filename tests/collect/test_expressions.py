"""Expressions as facts: every one stands where its text stands, and its text alone means the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint.collect import collect
from dllint.model.facts import Expr, ModuleModel
from dllint.model.stored import decode, encode
from dllint.source import Source

ROOT = Path(__file__).resolve().parent.parent.parent
OWN = sorted([*(ROOT / "dllint").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").rglob("*.py")])
PARTS = {"slice", "none", "star", "unknown"}
"""No expressions of their own."""


def facts(text: str) -> ModuleModel:
    return collect(Source("a.py", text))


def expressions(model: ModuleModel) -> Iterator[Expr]:
    """Every expression that a module's events, tests, parameters and decorators hold."""
    for events in (model.events, *(item.events for item in (*model.functions, *model.classes))):
        for event in events:
            yield from event.walk()
    for function in model.functions:
        for root in (*function.decorators, *(item.default for item in function.parameters), function.returns):
            yield from root.walk() if root else ()


def value(text: str) -> Expr:
    """The expression that a text is, or whose value it assigns."""
    *inner, event = facts(text).events  # a walrus is an event of its own, before
    assert event.value is not None and all(item.kind == "assign" for item in inner)
    return event.value


@pytest.mark.parametrize("file", OWN, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_text_of_every_span_is_the_expression(file: Path) -> None:
    source = Source.from_bytes("a.py", file.read_bytes())
    if "\f" in source.text:
        pytest.skip("rows of the text alone are others")
    for expr in expressions(collect(source)):
        if expr.kind in PARTS:
            continue
        alone = value(f"({source.text[expr.start : expr.end]}\n)")
        assert (alone.kind, alone.name, alone.value) == (expr.kind, expr.name, expr.value)
        assert len(alone.args) == len(expr.args)
        assert [key for key, _ in alone.keywords] == [key for key, _ in expr.keywords]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x = (a, b)", "a, b"),
        ("x = ( (a), b, # )\n)", "(a), b,"),
        ("x = (a), (b)", "(a), (b)"),
        ("x = ((a), (b))", "(a), (b)"),
        ("x = ()", "()"),
        ("f(a for a in b)", "f(a for a in b)"),
        ("x = (a for a in (b) )", "a for a in (b)"),
        ("x = ä, 'ö' + b", "ä, 'ö' + b"),
    ],
)
def test_brackets_are_no_part_of_what_stands_in_them(text: str, part: str) -> None:
    expr = value(text)
    assert text[expr.start : expr.end] == part


def test_a_chain_of_alternatives_is_pairs() -> None:
    text = "x = (a) or (b  # )\n) or c\n"
    expr = value(text)
    assert (expr.kind, expr.name, expr.args[1].name) == ("boolop", "or", "c")
    left = expr.args[0]
    assert text[left.start : left.end] == "(a) or (b  # )\n)"
    assert [part.name for part in left.args] == ["a", "b"]


def test_an_index_of_several_is_not_an_index_that_is_a_tuple() -> None:
    assert [part.name for part in value("x[a, b]").args] == ["x", "a", "b"]
    assert [part.kind for part in value("x[(a, b)]").args] == ["name", "tuple"]
    assert [part.kind for part in value("x[a:b, ::2]").args] == ["name", "slice", "slice"]


def test_the_parts_of_an_fstring_stand_in_it() -> None:
    text = 'x = """a""" f"""\n{b.c}""" "d" f"{e!r:>{width}}"\n'
    expr = value(text)
    assert (expr.kind, expr.value) == ("fstring", "a\nd")
    assert [part.kind for part in expr.args] == ["attribute", "name"]
    assert all(expr.start <= part.start < part.end <= expr.end for part in expr.args)


@pytest.mark.parametrize(
    ("text", "kind", "constant"),
    [
        ("-1", "constant", -1),
        ("2**70", "binop", None),
        (f"{2**70}", "constant", float(2**70)),
        ("1j", "unknown", None),
        ("b'a' b'b'", "bytes", None),
        ("'a' 'b'", "constant", "ab"),
        ("'\\ud800'", "constant", "?"),
        ("...", "ellipsis", None),
        ("None", "constant", None),
    ],
)
def test_constants(text: str, kind: str, constant: object) -> None:
    expr = value(text)
    assert (expr.kind, expr.value) == (kind, constant)
    assert type(expr.value) is type(constant)


def test_elif_is_an_else_with_an_if() -> None:
    model = facts("if a:\n    b\nelif c:\n    d\nelse:\n    if e:\n        f\n")
    assert [(block.kind, block.parent, block.partner) for block in model.blocks] == [
        ("if", -1, -1),
        ("else", -1, 0),
        ("if", 1, -1),
        ("else", 1, 2),
        ("if", 3, -1),
    ]


def test_definitions_begin_at_their_word_and_suites_at_their_decorators() -> None:
    text = "class A:\n    @first\n    @second(1)\n    async  def  method(self): return 1\n"
    (function,) = facts(text).functions
    assert text[function.header.start : function.header.end] == "async  def  method"
    assert text[function.span.start : function.span.end].endswith("return 1")
    assert text[function.body.start : function.body.end] == "return 1"
    (inner,) = facts(f"if x:\n    {text.splitlines()[1].strip()}\n    def f(): pass\n").blocks
    assert inner.start == len("if x:\n    ")


def test_what_an_except_binds_is_its_name() -> None:
    text = "try:\n    pass\nexcept (A, B) as error:\n    pass\n"
    (event,) = [event for event in facts(text).events if event.kind == "except"]
    assert (event.names, text[event.start : event.end]) == (("error",), "error")


def test_decoded_facts_share_the_words_of_their_kinds() -> None:
    text = "def f(a):\n    for b in a:\n        yield (c := b.d[1:])\n"
    decoded = decode(encode(facts(text)), "a.py")
    kinds = [item.kind for item in (*expressions(decoded), *decoded.functions[0].events)]
    assert len({id(kind) for kind in kinds}) == len(set(kinds)) < len(kinds)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"])
def test_every_operator_augments(operator: str) -> None:
    (event,) = facts(f"x {operator}= 1\n").events
    assert event.kind == "augment" and event.name and isinstance(ast.parse(f"x {operator}= 1").body[0], ast.AugAssign)
