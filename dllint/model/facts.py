"""The facts a module is reduced to: expressions, events, scopes. They carry no knowledge of torch and no trees.

The representation is a flat, serializable rendering of the program: every scope has a linear list of events in source
order, every event and expression carries its span, and nesting (branches, loops, guards) is kept as blocks. Flow
questions are answered over it by `dllint.project`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from dllint.source import Span

MAX_ELEMENTS = 1000
"""Longer displays are cut: tables of constants."""
MAX_STRING = 200
"""Longer strings are cut: no name, device or path pattern is that long."""
Constant = str | int | float | bool | None
ExprKind = Literal[
    "name", "attribute", "call", "constant", "bytes", "ellipsis", "fstring", "list", "tuple", "set", "dict", "star",
    "lambda", "comprehension", "ifexp", "boolop", "binop", "compare", "unary", "subscript", "slice", "none", "await",
    "yield", "yieldfrom", "walrus", "unknown", "passed", "chosen",
]  # fmt: skip
"""Decoded, words that are known are one object each: there are three in a line."""
EventKind = Literal[
    "assign", "augment", "annotate", "expr", "return", "test", "for", "with", "del", "raise", "assert", "global",
    "nonlocal", "import", "def", "class", "case", "except", "break", "continue",
]  # fmt: skip


class Expr(msgspec.Struct, frozen=True, eq=False, array_like=True, gc=False, omit_defaults=True):
    """An expression, which is no other one that reads the same: compared by identity.

    kind         name              args
    name         the identifier
    attribute    the attribute     (value,)
    call                           (callee, *positional); `keywords` hold the rest, `**x` under the name "**"
    constant                       `value` holds it; kind "bytes" and "ellipsis" carry none; complex is "unknown"
    fstring                        (the interpolated expressions); `value` is its literal text, joined
    list tuple set                 (elements); an element `*x` has kind "star"
    dict                           (key, value, key, value, ...); `**x` has key kind "star"
    lambda                         `ref`: index of the function in ModuleModel.functions
    comprehension list|set|dict|generator   (element,) or (key, value); its clauses, in order, are keywords named
                                   "for" (the target), "in" (the iterable) and "if"
    ifexp                          (test, body, orelse)
    boolop       and | or          (left, right)
    binop        the operator      (left, right)
    compare      operators joined with ","   (left, *comparators)
    unary        not | - | + | ~   (operand,)
    subscript                      (value, *indices)
    slice                          (lower, upper, step), absent ones have kind "none"
    await yield yieldfrom star walrus   (operand,); walrus: name and (value,)
    unknown                        whatever was too deep or is not modelled
    passed                         not of a module: an argument in another activation (`values.Passed`)
    chosen                         (mapping, display); not of a module: a mapping where it is this one of its displays
    """

    kind: ExprKind
    start: int
    end: int
    name: str = ""
    args: tuple[Expr, ...] = ()
    keywords: tuple[tuple[str, Expr], ...] = ()
    value: Constant = None
    ref: int = -1

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def keyword(self, name: str) -> Expr | None:
        """The value of a keyword argument written out in this call."""
        return next((value for key, value in self.keywords if key == name), None)

    def walk(self) -> Iterator[Expr]:
        """This expression and all below it, but not the bodies of lambdas and comprehensions' scopes."""
        return _walked([self])

    @property
    def dotted(self) -> str:
        """`a.b.c` for a chain of attributes on a name, else ""."""
        if self.kind == "name":
            return self.name
        if self.kind == "attribute":
            base = self.args[0].dotted
            return f"{base}.{self.name}" if base else ""
        return ""


def _walked(waiting: list[Expr]) -> Iterator[Expr]:
    while waiting:
        expr = waiting.pop()
        yield expr
        if expr.keywords:
            waiting += [value for _, value in reversed(expr.keywords)]
        if expr.args:
            waiting += expr.args[::-1]


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A nested suite: if, else, for, while, forelse, try, except, tryelse, finally, with, match, case.

    `parent` is the index of the enclosing block or -1 (the scope's top level); an `else` names the block of its `if`
    in `partner`. `test` is the condition, iterable, context expression or exception type; of a case, its guard, or the
    comparison of a name with a constant.
    """

    kind: str
    parent: int
    start: int
    end: int
    test: Expr | None = None
    partner: int = -1


class Event(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Something a scope does, in source order.

    kind: assign (target = value; one event a target), augment (`name` is the operator), annotate (no value), expr,
    return, test (the condition of an if or while), for (target in value), with (target or None, value), del (target),
    raise, assert, global, nonlocal (`names`), import (`names` are the names bound), def, class (`ref`: index of the
    function or class), case and except (`names` are the names bound).
    """

    kind: EventKind
    start: int
    end: int
    block: int = -1
    target: Expr | None = None
    value: Expr | None = None
    name: str = ""
    names: tuple[str, ...] = ()
    ref: int = -1

    def walk(self) -> Iterator[Expr]:
        """Every expression of the event: of the value, then of the target."""
        return _walked([expr for expr in (self.target, self.value) if expr is not None])


class Parameter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """kind: positional (may also be given by name), posonly, keyword, args (`*x`), kwargs (`**x`)."""

    name: str
    kind: str
    default: Expr | None = None
    annotation: Expr | None = None


class Function(msgspec.Struct, frozen=True):
    """A def or a lambda (kind)."""

    index: int
    kind: str
    name: str
    qualname: str
    """Python's own: `Vocab.load.<locals>.<lambda>`."""
    span: Span
    header: Span
    """From `def` to the end of the name: where a finding about the function points. A lambda's whole span."""
    body: Span
    parameters: tuple[Parameter, ...]
    decorators: tuple[Expr, ...]
    parent: int
    """Index of the enclosing function, or -1."""
    owner: int
    """Index of the class whose body holds it directly, or -1."""
    events: tuple[Event, ...]
    bound: frozenset[str]
    """Names local to it, parameters included."""
    loads: frozenset[str]
    """Names it reads itself (nested scopes not counted)."""
    globals: frozenset[str] = frozenset()
    nonlocals: frozenset[str] = frozenset()
    is_generator: bool = False
    returns: Expr | None = None
    block: int = -1
    """The block that contains the definition."""


class Class(msgspec.Struct, frozen=True):
    index: int
    name: str
    qualname: str
    span: Span
    header: Span
    bases: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]
    decorators: tuple[Expr, ...]
    parent: int
    """Index of the enclosing function, or -1."""
    owner: int
    """Index of the class whose body holds it directly, or -1."""
    methods: dict[str, int]
    """Name to function index; the last definition wins."""
    events: tuple[Event, ...]
    block: int = -1


class ImportedName(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`import module as bound` (attribute "") or `from module import attribute as bound`; `level` counts leading dots.

    A star import has attribute and bound "*". `function` is its scope (-1: the module), `block` its block.
    """

    bound: str
    module: str
    attribute: str
    level: int
    span: Span
    function: int = -1
    block: int = -1


class Suppression(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A comment that silences: `codes` empty means all; `row` 0 means the whole file."""

    row: int
    codes: tuple[str, ...]
    span: Span
    own: bool = False
    """True for `# dllint: ignore[...]`, False for `# noqa`."""


class ModuleModel(msgspec.Struct, frozen=True):
    """Everything the project knows of one file."""

    path: str
    imports: tuple[ImportedName, ...]
    functions: tuple[Function, ...]
    classes: tuple[Class, ...]
    events: tuple[Event, ...]
    blocks: tuple[Block, ...]
    bound: frozenset[str]
    exports: tuple[str, ...] | None
    """`__all__` when it is a literal, else None."""
    suppressions: tuple[Suppression, ...]
    digest: str = ""
    old: bool = False
    """Only Python 2 accepts the file: no Python that spawns torch's workers runs it as it is."""
    until_3_6: bool = False
    """Only Pythons before 3.7 accept the file, Python 3 among them."""
    replaced: tuple[Span, ...] = ()
    """The definitions that later ones replace before anything uses them: nothing else is known of them."""
