"""Offsets of chosen nodes of a LibCST tree, from one run of its code generator.

The positions are PositionProvider's (without parentheses and outer whitespace), ten times faster, because only the
wanted nodes are looked at and only the number of tokens written so far is remembered. The code generator is private to
LibCST: where it has changed, PositionProvider itself is asked.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import accumulate
from typing import Any

import libcst as cst

from dllint.syntax.deep import recurse_deep

try:
    from libcst._nodes.internal import CodegenState
except ImportError:  # pragma: no cover - no released LibCST
    CodegenState = None  # type: ignore[assignment,misc]

Spans = dict[cst.CSTNode, tuple[int, int]]

_NOTHING = nullcontext()


def spans(module: cst.Module, wanted: frozenset[type]) -> Spans:
    """Start and end offset in `module.code` of every node whose type is in `wanted`."""
    return render(module, wanted)[1]


def render(module: cst.Module, wanted: frozenset[type]) -> tuple[str, Spans]:
    """`module.code` and the spans in it."""
    try:
        return recurse_deep(lambda: _generate(module, wanted))
    except (AttributeError, TypeError):  # the private interface is another one
        return recurse_deep(lambda: _provide(module, wanted))


def _generate(module: cst.Module, wanted: frozenset[type]) -> tuple[str, Spans]:
    state = _State(module, wanted)
    module._codegen(state)
    return "".join(state.tokens), state.offsets()


if CodegenState is not None:

    class _State(CodegenState):
        """A code generator's state that remembers after how many tokens the wanted nodes begin and end."""

        def __init__(self, module: cst.Module, wanted: frozenset[type]) -> None:
            super().__init__(module.default_indent, module.default_newline)
            self.wanted = wanted
            self.found: dict[cst.CSTNode, tuple[int, int]] = {}
            self.borders: set[cst.CSTNode] = set()
            """Nodes whose end is the end of a wanted node."""
            self.add_token = self.tokens.append  # type: ignore[assignment,method-assign]
            if all(map(_records, wanted)):
                # Called for every node: the cheapest callable that takes one argument and does nothing.
                self.before_codegen = self.after_codegen = callable  # type: ignore[assignment,method-assign]
            else:
                self.begun: dict[cst.CSTNode, int] = {}

        def before_codegen(self, node: cst.CSTNode) -> None:
            if type(node) in self.wanted:
                self.begun[node] = len(self.tokens)

        def after_codegen(self, node: cst.CSTNode) -> None:
            if type(node) in self.wanted and node not in self.found:
                self.found[node] = (self.begun[node], len(self.tokens))

        def record_syntactic_position(  # type: ignore[override]
            self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
        ) -> AbstractContextManager[None]:
            if type(node) in self.wanted or node in self.borders:
                return _Recording(self, node, start_node, end_node)
            return _NOTHING

        def offsets(self) -> Spans:
            """The spans in characters."""
            at = [0, *accumulate(map(len, self.tokens))]
            at.append(at[-1])  # the final newline may have been taken back
            wanted = self.wanted
            return {node: (at[start], at[end]) for node, (start, end) in self.found.items() if type(node) in wanted}


class _Recording:
    """The context in which LibCST writes what belongs to a node's syntactic position."""

    __slots__ = ("end_node", "node", "start", "start_node", "state")

    def __init__(
        self, state: _State, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.state, self.node, self.start_node, self.end_node = state, node, start_node, end_node

    def __enter__(self) -> None:
        if self.start_node is not None:
            self.state.borders.add(self.start_node)
        if self.end_node is not None:
            self.state.borders.add(self.end_node)
        self.start = len(self.state.tokens)

    def __exit__(self, *error: object) -> None:
        found, now = self.state.found, len(self.state.tokens)
        start = self.start if self.start_node is None else found.get(self.start_node, (self.start,))[0]
        # The star of `from x import *` is the one border that records nothing; it is what was written last.
        end = now if self.end_node is None else found.get(self.end_node, (0, now))[1]
        found[self.node] = (start, end)


@cache
def _records(node_type: type) -> bool:
    """Whether the class writes its syntactic position itself, so that it need not be watched from outside."""
    names = node_type._codegen_impl.__code__.co_names  # type: ignore[attr-defined]
    return not {"record_syntactic_position", "_parenthesize", "_codegen_impl"}.isdisjoint(names)


def _provide(module: cst.Module, wanted: frozenset[type]) -> tuple[str, Spans]:
    """The same through LibCST's public and slower PositionProvider."""
    from libcst.metadata import MetadataWrapper, PositionProvider

    code = module.code
    starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", code))]
    ranges: Any = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return code, {
        node: (starts[span.start.line - 1] + span.start.column, starts[span.end.line - 1] + span.end.column)
        for node, span in ranges.items()
        if type(node) in wanted
    }
