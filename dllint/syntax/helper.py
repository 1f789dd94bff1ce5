"""A new function at module level that a fix calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dllint.fix import Edit
from dllint.model.facts import ModuleModel
from dllint.source import Source
from dllint.syntax.definition import definition, insertion
from dllint.syntax.equal import defined_above
from dllint.syntax.names import free_name
from dllint.syntax.outline import outline
from dllint.syntax.parse import Tree


class Helper(NamedTuple):
    """How the function is called, the edits that define it, and the names that these add."""

    name: str
    edits: tuple[Edit, ...] = ()
    defines: tuple[str, ...] = ()


def helper(
    source: Source, tree: Tree, model: ModuleModel, use: int, wanted: str, parameters: str, body: Sequence[str]
) -> Helper | None:
    """A function for the code at an offset: the module's own where there is just such a one above, else a new one.

    `body` are its lines, a tab for each further level of indentation; None where the file cannot be read.
    """
    seen = outline(source.text)
    if seen is None or not tree.faithful:
        return None
    body = [line.replace("\t", source.unit) for line in body]
    same = defined_above(source, seen, model, use, parameters, body)
    if same:
        return Helper(same)
    name = free_name(model, wanted)
    text = definition(source, name, parameters, body)
    return Helper(name, insertion(source, tree, use, text, imports=False), (name,))
