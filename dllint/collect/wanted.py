"""The node classes whose spans the facts need: every expression and every statement."""

from __future__ import annotations

import libcst as cst


def _leaves(base: type) -> set[type]:
    found: set[type] = {base}
    children: list[type] = base.__subclasses__()
    for child in children:
        found |= _leaves(child)
    return found


WANTED: frozenset[type] = frozenset(
    node
    for base in (cst.BaseExpression, cst.BaseSmallStatement, cst.BaseCompoundStatement)
    for node in _leaves(base)
    if node.__module__.startswith("libcst")
)
