"""Random programs that ship functions to workers: what the property tests of the fixes fix, run and pickle.

A program is a module with a dataset that keeps one function, made in `__init__` in some scope, in some way, in some
layout, and `run`, which uses it in this process. Everything that may go wrong when a function moves is in the blocks:
names that mean something else elsewhere, variables that change later, defaults, comprehensions, comments, odd layout.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "G", "größe", "list", "x", "self.a", "os", "f"])
"""Parameters, a local variable, a global one, a builtin that is rebound, the function's own parameter, its own name."""


def _expressions() -> st.SearchStrategy[str]:
    leaf = st.one_of(NAMES, st.sampled_from(["x", "1", "x + 1", "len(str(x))"]))

    def bigger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]}, {pair[1]})"),
            inner.map(lambda text: f"[{text} for y in range(2)]"),
            inner.map(lambda text: f"[a for a in ({text}, 2)]"),
            inner.map(lambda text: f"(lambda z: (z, {text}))(1)"),
            inner.map(lambda text: f"(lambda a=3: (a, {text}))()"),
            inner.map(lambda text: f"{{**{{'k': {text}}}}}"),
            inner.map(lambda text: f"(\n    {text}\n    if x else 0\n)"),
            inner.map(lambda text: f'f"{{{text}!r}} in {{x}}"'),
            inner.map(lambda text: f"str({text}).count('''\n  a''')"),
            inner.map(lambda text: f"(y := {text}, y)[1]"),
        )

    return st.recursive(leaf, bigger, max_leaves=4)


PARAMETERS = st.sampled_from(["x", "x, k=2", "x, *rest", "x, *, k=3, **more", "x, a=7", "*args, x=1", "x, /, y=0"])
COMMENTS = st.sampled_from(["", "  # why", "  # größe §"])


@st.composite
def _bodies(draw: st.DrawFn) -> list[str]:
    """The statements of a nested function."""
    value = draw(_expressions())
    extra = draw(
        st.sampled_from(
            [
                [],
                ['"""Told."""'],
                ["# a comment"],
                ["import os"],
                ["def inner(a):", "    return a, x", "x = inner(x)[1]"],
                ["class Inner:", "    a = 1", "x = (x, Inner.a)[0]"],
                ["nonlocal c", "c = c + 1"],
                ["global G"],
                ["if not x:", "    return f"],
                ["for c in range(2):", "    pass"],
                ["try:", "    x = x + 0", "except TypeError as c:", "    x = 0"],
            ]
        )
    )
    return [*extra, *f"return {value}".split("\n")]


class Program(NamedTuple):
    """A module's text, and whether it is one that the engine sees a function in."""

    text: str
    newline: str
    bom: bool


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Modules with a dataset that keeps a function."""
    comment, parameters = draw(COMMENTS), draw(PARAMETERS)
    before = draw(
        st.lists(st.sampled_from(["c = a * 2", "größe = b", "list = (a,)", "self.a = a", "import os"]), unique=True)
    )
    after = draw(st.lists(st.sampled_from(["c = 5", "a += 1", "self.a = 9", "del b", "G = 2"]), max_size=1))
    nested = draw(st.booleans())
    if nested:
        body = draw(_bodies())
        decorator = draw(st.sampled_from([[], [], [], ["@deco"]]))
        made = [*decorator, f"def f({parameters}):{comment}", *(f"    {line}" for line in body)]
        value = "f"
    else:
        made = []
        value = f"lambda {parameters}: {draw(_expressions())}"
    kept = draw(
        st.sampled_from(["{}", "partial({})", "[{}][0]", "dict(key={})['key']", "({})", "(\n    {}\n)"])
    ).format(value)
    store = f"self.fn = {kept}{comment}".split("\n")
    init = [*before, *made, *store, *after]
    guard = draw(st.sampled_from(['if __name__ == "__main__":', "def main():"]))
    head = draw(st.sampled_from([[], ["# a comment"], ['"""A module."""'], ["from __future__ import annotations"]]))
    top = draw(
        st.lists(st.sampled_from(["G = 3", "a = 11", "def _f():\n    return 8", "x = 1", "import os"]), unique=True)
    )
    lines = [
        *head,
        "from functools import partial",
        "from torch.utils.data import DataLoader, Dataset",
        *(line for block in top for line in block.split("\n")),
        "def deco(function):",
        "    return function",
        "",
        "class Data(Dataset):",
        "    def __init__(self, a, b):",
        *textwrap.indent("\n".join(init), " " * 8).split("\n"),
        "    def __len__(self):",
        "        return 3",
        "    def __getitem__(self, index):",
        "        return self.fn(index)",
        "",
        guard,
        "    list_ = [*DataLoader(Data(1, 2), num_workers=2)]",
    ]
    text = "\n".join(lines) + draw(st.sampled_from(["\n", ""]))
    if draw(st.booleans()):
        text = text.replace("    ", "\t")
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return Program(text.replace("\n", newline), newline, draw(st.booleans()))
