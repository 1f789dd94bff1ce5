"""From a source file to its facts: one parse, one pass for spans, one walk; the tree is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import ModuleModel
from dllint.source import Source

if TYPE_CHECKING:
    from dllint.syntax.parse import Tree


def collect(source: Source) -> ModuleModel:
    """The facts of a file. Raises dllint.syntax.parse.NotParsed."""
    from dllint.syntax.parse import parse

    tree = parse(source)
    return _facts(source, tree, tree.faithful)


def collect_old(source: Source) -> ModuleModel | None:
    """The facts of a file that only an old Python accepts, which is not for fixes; None for any other."""
    from dllint.syntax.parse import parse_old

    tree = parse_old(source)
    return _facts(source, tree, faithful=False) if tree is not None else None


def _facts(source: Source, tree: Tree, faithful: bool) -> ModuleModel:
    from dllint.collect.comments import scan
    from dllint.collect.scopes import Scopes
    from dllint.collect.wanted import WANTED

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
        faithful=faithful,
    )
