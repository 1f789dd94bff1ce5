"""The assignments that run instead of another one: in the other arms of the `if` around it."""

from __future__ import annotations

from dllint import Expr, Module, Write


def other_arms(module: Module, write: Write) -> list[Write]:
    """The assignments of an attribute that run instead of one in the same function."""
    own = set(module.enclosing(write.event.block))
    writes = module.attribute_writes.get(write.target.name, ())
    return [other for other in writes if other.function == write.function and _run_instead(module, other, own)]


def _run_instead(module: Module, other: Write, own: set[int]) -> bool:
    around = set(module.enclosing(other.event.block))
    partners = {module.block(block).partner for block in around}
    return bool(partners & own or {module.block(block).partner for block in own} & around)


def makes_much(value: Expr | None) -> bool:
    """Whether what is set in place of a list may be a long one: not None, not an empty one."""
    return value is not None and value.kind != "constant" and not (value.kind == "list" and not value.args)
