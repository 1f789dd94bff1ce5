"""A notebook's definitions as a module beside it, which spawned workers import: a cell that writes the file."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping

from dllint.source import Source
from dllint.syntax.above_guard import needed
from dllint.syntax.outline import Outline, outline

_BUILTIN = set(dir(builtins))
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.expr_context, ast.unaryop)
_CELL = """\
%%writefile {module}.py
{imports}{text}


# and in the cell that uses it:
from {module} import {name}"""


def beside(source: Source, name: str, wanted: Mapping[str, str], module: str) -> str:
    """Two cells: one that writes a module with all that is wanted, with what this needs, one that imports a name.

    `wanted` are names, each with its definition, or "" where the notebook has it; one that needs something that is
    known only when the notebook runs is left out. "" where this is so for `name` itself.
    """
    seen = outline(source.text)
    found = _Gathered(seen) if seen is not None else None
    texts: dict[str, None] = {}
    if found is None or not all(found.copy().add(need) for need in _needs(name, wanted)):
        return ""
    for other in {**wanted, name: ""}:
        trial = found.copy()
        if all(map(trial.add, _needs(other, wanted))):
            found = trial
            texts |= dict.fromkeys([text.strip()] if (text := wanted.get(other)) else [])
    own = (source.text[start:end] for start, end in sorted(found.spans))
    ordered = sorted(found.imports, key=lambda line: (line.startswith("from"), line))
    head = "".join(f"{line}\n" for line in ordered) + ("\n\n" if ordered else "")
    return _CELL.format(module=module, imports=head, text="\n\n\n".join([*own, *texts]), name=name)


def _needs(name: str, wanted: Mapping[str, str]) -> list[str]:
    """The names of the notebook that a wanted one needs: itself, or those in its definition."""
    definition = wanted.get(name)
    return sorted(needed(definition) - _BUILTIN - {name}) if definition else [name]


class _Gathered:
    """Definitions and imports of a notebook, with what they need in turn."""

    def __init__(self, seen: Outline) -> None:
        self.seen = seen
        self.imports: dict[str, None] = {}
        self.spans: set[tuple[int, int]] = set()

    def copy(self) -> _Gathered:
        """The same, to try more."""
        other = _Gathered(self.seen)
        other.imports, other.spans = dict(self.imports), set(self.spans)
        return other

    def add(self, name: str) -> bool:
        """Take what binds a name along; False where that is not one import, definition or literal."""
        if name in _BUILTIN:
            return True
        made = [node for node in self.seen.tree.body if name in _bound(node)]
        texts = {ast.unparse(node) for node in made}
        if len(texts) != 1 or _bound_inside(self.seen, name) != len(made):
            return False
        node = made[-1]
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            alias = next(item for item in node.names if _name_of(node, item) == name)
            self.imports[_import(node, alias)] = None
            return True
        span = self._span(node)
        if span in self.spans:
            return True
        settled = isinstance(node, _DEFINED) or all(isinstance(part, _LITERAL) for part in ast.walk(_value(node)))
        if not settled:
            return False
        self.spans.add(span)
        return all(self.add(other) for other in sorted(needed(self.seen.offsets.text[span[0] : span[1]]) - {name}))

    def _span(self, node: ast.stmt) -> tuple[int, int]:
        start, end = self.seen.offsets.span(node)
        first = [self.seen.offsets.span(item)[0] for item in getattr(node, "decorator_list", ())]
        return min([start, *(at - 1 for at in first)]), end


def _bound(node: ast.stmt) -> list[str]:
    """The names that a statement at module level binds."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return [_name_of(node, alias) for alias in node.names]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _bound_inside(seen: Outline, name: str) -> int:
    """How often the module's own code binds a name, in whatever way."""
    stores = [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    ]
    own = [
        node for node in stores if not any(isinstance(above, (*_DEFINED, ast.Lambda)) for above, _ in seen.path(node))
    ]
    return len(own) + sum(name in _bound(node) for node in seen.tree.body if not isinstance(node, ast.Assign))


def _value(node: ast.stmt) -> ast.AST:
    value = getattr(node, "value", None)
    return value if isinstance(value, ast.AST) else node


def _name_of(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    return alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)


def _import(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    named = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    return (
        f"import {named}"
        if isinstance(node, ast.Import)
        else f"from {'.' * node.level}{node.module or ''} import {named}"
    )
