"""Tables of pandas: their text is Python objects, one a cell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.project.data.growth import FRAMES, Growth, chain
from dllint.project.evaluate.abstract_values import ExtInst, ExtMethod, Value

if TYPE_CHECKING:
    from dllint.project import Project

_MADE = ("pandas.DataFrame", "pandas.Series", "pandas.concat", "pandas.merge")
_ACCESS = frozenset({"loc", "iloc", "str", "T"})
"""Attributes that lead from a table to parts of it and aren't columns."""
_ROWS = (*FRAMES, *_MADE)
_NO_TABLE = frozenset({
    "tolist", "to_list", "to_dict", "sum", "mean", "std", "max", "min", "median", "nunique", "value_counts", "describe",
    "items", "iterrows", "itertuples", "groupby", "corr", "isnull", "isna", "head", "to_csv", "shape", "columns",
    "index", "dtypes", "get_dummies", "codes",
})  # fmt: skip
"""Methods whose result isn't a table, or is small."""


class Tables:
    """Answers which values are tables, columns of them, or arrays of their cells."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)

    def of(self, value: Value) -> bool:
        """Whether a value has a row for each of many: what it holds is not seen."""
        for part in chain(value):
            if isinstance(part, ExtMethod):
                if part.attribute in _NO_TABLE:
                    return False
            elif isinstance(part, ExtInst):
                if part.name.rpartition(".")[2] in _NO_TABLE:
                    return False
                if part.name in _MADE:
                    return any(self.growth.loops(arg, part.env) for arg in part.call.args[1:])
                if part.name.startswith(FRAMES):
                    return part.call.keyword("nrows") is None
        return False

    def has_rows(self, value: Value) -> bool:
        """Whether a value was taken from a table that was read, or that was made of something that grows."""
        parts = [part for part in chain(value) if isinstance(part, ExtInst) and part.name.startswith(_ROWS)]
        return any(part.name.startswith(FRAMES) or self.growth.grows(arg) for part in parts for arg in self._args(part))

    def _args(self, made: ExtInst) -> Iterator[Value]:
        for arg in made.call.args[1:]:
            yield from self.evaluator.values(arg, made.env)
        yield made

    def column(self, value: Value) -> str | None:
        """The name of a column, "" of a column or an array without one; None for what is neither."""
        array = False
        for part in chain(value):
            if isinstance(part, ExtMethod):
                if part.attribute in _NO_TABLE:
                    return None
                if part.attribute == "values":
                    array = True
                elif part.attribute not in _ACCESS:
                    return part.attribute if self.has_rows(part.base) else None
            elif isinstance(part, ExtInst) and part.call.kind == "subscript":
                key = part.call.args[1]
                if isinstance(key.value, str):
                    return key.value if self.has_rows(value) else None
                array = array or len(part.call.args) > 2 or key.kind in ("name", "constant")
            elif isinstance(part, ExtInst):
                if part.name.rpartition(".")[2] in _NO_TABLE:
                    return None
                array = array or part.name.endswith(".to_numpy")
        return "" if array and self.has_rows(value) else None
