"""The names that a module binds, in any scope, read from the tree."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from dllint.syntax.walk import walk

Binding = tuple[str, str, str]
"""The name bound, and what it is: module and attribute, "" and module for `import module`, else a space and ""."""


def binding(module: str, attribute: str, alias: str) -> Binding:
    """The names that an import binds. `import a.b` binds `a`."""
    if attribute or alias not in ("", module):
        return alias or attribute, module, attribute
    return module.partition(".")[0], "", module


def imported_names(node: cst.Import | cst.ImportFrom) -> Iterator[Binding]:
    """The bindings of an import statement."""
    if isinstance(node.names, cst.ImportStar):
        return
    for alias in node.names:
        if isinstance(node, cst.Import):
            yield binding(alias.evaluated_name, "", alias.evaluated_alias or "")
        else:
            module = "." * len(node.relative) + (_dotted(node.module) if node.module else "")
            yield binding(module, alias.evaluated_name, alias.evaluated_alias or "")


def _dotted(node: cst.Name | cst.Attribute) -> str:
    return node.value if isinstance(node, cst.Name) else f"{_dotted(node.value)}.{node.attr.value}"  # type: ignore[arg-type]


def bound_names(module: cst.Module) -> set[Binding]:
    """Every binding in the module: imports, assignments, definitions, parameters, patterns."""
    found: set[Binding] = set()
    aliases: set[cst.CSTNode] = set()
    for node in walk(module):
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            found.update(imported_names(node))
            if not isinstance(node.names, cst.ImportStar):
                aliases.update(alias.asname for alias in node.names if alias.asname)
        elif node not in aliases:
            found.update((name, " ", "") for name in _stored(node))
    return found


def _stored(node: cst.CSTNode) -> Iterator[str]:
    match node:
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name) | cst.Param(name=name) | cst.TypeAlias(name=name):
            yield name.value
        case cst.TypeVar(name=name) | cst.TypeVarTuple(name=name) | cst.ParamSpec(name=name):
            yield name.value
        case (
            cst.AssignTarget(target=target)
            | cst.AnnAssign(target=target)
            | cst.AugAssign(target=target)
            | cst.NamedExpr(target=target)
            | cst.For(target=target)
            | cst.CompFor(target=target)
            | cst.AsName(name=target)
        ):
            yield from _names(target)
        case cst.MatchAs(name=cst.Name(value=value)) | cst.MatchStar(name=cst.Name(value=value)):
            yield value
        case cst.MatchMapping(rest=cst.Name(value=value)):
            yield value


def _names(target: cst.CSTNode) -> Iterator[str]:
    match target:
        case cst.Name(value=value):
            yield value
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _names(element.value)
        case cst.StarredElement(value=value):
            yield from _names(value)
