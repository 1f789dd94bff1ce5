"""From a source file to its facts: one parse, one pass for spans, one walk; the tree is dropped."""

from __future__ import annotations

from dllint.model.facts import ModuleModel
from dllint.source import Source


def collect(source: Source) -> ModuleModel:
    """The facts of a file. Raises dllint.syntax.parse.NotParsed."""
    from dllint.collect.comments import scan
    from dllint.collect.scopes import Scopes
    from dllint.collect.wanted import WANTED
    from dllint.syntax.parse import parse

    tree = parse(source)
    walk = Scopes(tree.spans(WANTED))
    walk.module(tree.module)
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
        faithful=tree.faithful,
    )
