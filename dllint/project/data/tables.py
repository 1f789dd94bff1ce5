"""Tables of pandas: their text is Python objects, one a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.project.data.growth import FRAMES, Growth, chain
from dllint.project.evaluate.abstract_values import ExtInst, ExtMethod, Value

if TYPE_CHECKING:
    from dllint.project import Project

_MADE = ("pandas.DataFrame", "pandas.Series", "pandas.concat", "pandas.merge")
_NO_TABLE = frozenset({
    "tolist", "to_list", "to_dict", "sum", "mean", "std", "max", "min", "median", "nunique", "value_counts", "describe",
    "items", "iterrows", "itertuples", "groupby", "corr", "isnull", "isna", "head", "to_csv", "shape", "columns",
    "index", "dtypes", "get_dummies", "codes",
})  # fmt: skip
"""What makes something else of a table, or something small."""


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
