"""The meaning of a module's names in a process that imports the module again, as a spawned worker does."""

from __future__ import annotations

import ast
import builtins
from enum import Enum

from dllint.model.facts import ModuleModel
from dllint.syntax.outline import Outline
from dllint.syntax.scoping import bindings

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Fate(Enum):
    """The fate of a name in a fresh import.

    SAME: it is bound again. GUARDED: it is one variable of the main program, bound under its guard. GUARDED_IMPORT: an
    import there. OTHER: the main program may have changed it, or nothing is seen that binds it.
    """

    SAME = "same"
    GUARDED = "guarded"
    GUARDED_IMPORT = "guarded import"
    OTHER = "other"


class ModuleNames:
    """The names at the top level of one module."""

    def __init__(self, seen: Outline, model: ModuleModel) -> None:
        self._seen = seen
        self._bound = bindings(seen.tree)
        self._changed = {name for function in model.functions for name in function.globals}
        self._starred = any(item.bound == "*" for item in model.imports)

    def fate(self, name: str) -> Fate:
        """The fate of one name, and of everything that functions and classes of the module mean by it."""
        return self._fate(name, set())

    def _fate(self, name: str, known: set[str]) -> Fate:
        nodes = self._bound.get(name, [])
        if name in self._changed or not (nodes or self._starred or hasattr(builtins, name) or name == "__file__"):
            return Fate.OTHER
        known.add(name)
        guarded = [self._is_guarded(node) for node in nodes]
        if not any(guarded):
            return Fate.SAME if all(self._is_same_inside(node, known) for node in nodes) else Fate.OTHER
        if len(nodes) > 1 or isinstance(nodes[0], _DEFINITIONS):
            return Fate.OTHER
        return Fate.GUARDED_IMPORT if isinstance(nodes[0], ast.alias) else Fate.GUARDED

    def _is_guarded(self, node: ast.AST) -> bool:
        return any(
            isinstance(above, ast.If) and field == "body" and is_main_guard(above.test)
            for above, field in self._seen.path(node)
        )

    def _is_same_inside(self, node: ast.AST, known: set[str]) -> bool:
        """Whether the names that a function or class of the module reads mean the same, too."""
        if not isinstance(node, _DEFINITIONS):
            return True
        parts = list(ast.walk(node))
        names = [part for part in parts if isinstance(part, ast.Name)]
        own = {part.id for part in names if not isinstance(part.ctx, ast.Load)}
        own |= {part.arg for part in parts if isinstance(part, ast.arg)}
        own |= {part.name for part in parts if isinstance(part, (*_DEFINITIONS, ast.ExceptHandler)) and part.name}
        own |= {(part.asname or part.name).partition(".")[0] for part in parts if isinstance(part, ast.alias)}
        read = {part.id for part in names} - own - known
        return all(
            self._fate(name, known) is Fate.SAME for name in read if name in self._bound or name in self._changed
        )


def is_main_guard(test: ast.expr) -> bool:
    """`__name__ == "__main__"`, either way round."""
    return ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")
