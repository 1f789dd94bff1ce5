"""From a source file to its facts: Python's own parser and one walk; the tree is dropped.

LibCST, whose trees keep every blank, takes ten times as long as Python's parser. It is asked only where a file is
fixed, or is written in a newer Python than the one that runs.
"""

from __future__ import annotations

import ast

import msgspec

from dllint.model.facts import ModuleModel
from dllint.source import Source
from dllint.syntax.guard import lenient_guard
from dllint.syntax.outline import parse_quietly


def collect(source: Source) -> ModuleModel:
    """The facts of a file. Raises dllint.syntax.guard.NotParsed."""
    text = lenient_guard(source.text)
    try:
        return _facts(source, text, parse_quietly(text))
    except (SyntaxError, ValueError):
        from dllint.syntax.new_python import downgraded

        text = downgraded(source)
        return _facts(source, text, parse_quietly(text))


def collect_old(source: Source) -> ModuleModel | None:
    """The facts of a file that only an old Python accepts; None for any other."""
    from dllint.syntax.old_python import readings

    for text, python_2 in readings(source.text):
        try:
            facts = _facts(source, text, parse_quietly(text))
            return msgspec.structs.replace(facts, old=python_2, until_3_6=not python_2)
        except (SyntaxError, ValueError):
            continue
    return None


def _facts(source: Source, text: str, tree: ast.Module) -> ModuleModel:
    from dllint.collect.comments import scan
    from dllint.collect.scopes import Scopes

    walk = Scopes(text)
    walk.body(tree.body)
    return ModuleModel(
        path=source.path,
        imports=tuple(walk.imports),
        functions=tuple(function for function in walk.functions if function is not None),
        classes=tuple(item for item in walk.classes if item is not None),
        events=tuple(walk.scope.events),
        blocks=tuple(walk.blocks),
        bound=frozenset(walk.scope.bound),
        exports=walk.exports,
        suppressions=scan(source),
        replaced=tuple(walk.replaced),
    )
