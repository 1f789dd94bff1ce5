"""Tables of pandas: their text is Python objects, one a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeGuard

from dllint.model.facts import Expr
from dllint.project.data.growth import Filling, Growth, chain, is_frame
from dllint.project.data.naming import means_text, means_text_or_identifier
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, ExtMethod, Func, Method, Seq, Value
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

_MADE = (
    "pandas.DataFrame", "pandas.DataFrame.from_dict", "pandas.DataFrame.from_records", "pandas.Series", "pandas.concat",
    "pandas.merge",
)  # fmt: skip
_SPLIT = "sklearn.model_selection.train_test_split"
_ACCESS = frozenset({"loc", "iloc", "str", "T"})
"""Attributes that lead from a table to parts of it and aren't columns."""
_NO_TABLE = frozenset({
    "tolist", "to_list", "to_dict", "sum", "mean", "std", "max", "min", "median", "nunique", "value_counts", "describe",
    "items", "iterrows", "itertuples", "groupby", "corr", "isnull", "isna", "head", "to_csv", "shape", "columns",
    "index", "dtypes", "get_dummies", "codes",
})  # fmt: skip
"""Methods whose result isn't a table, or is small."""
_ARRAYS = ("to_numpy", "array", "asarray")
_MADE_ARRAYS = ("numpy.array", "numpy.asarray")
_MAX_ARRAYS = 2
_CONVERTS = frozenset({"apply", "map", "transform"})
"""Methods that make another column, of what a function returns for each cell."""
_SAME_CELLS = frozenset({
    "values", "to_numpy", "iloc", "loc", "copy", "dropna", "drop_duplicates", "reset_index", "sort_values",
    "sample", "query",
})  # fmt: skip
"""What gives cells of a table as they are, perhaps fewer of them or in another order."""
_PARSERS = frozenset({
    "json.loads", "orjson.loads", "ujson.loads", "ast.literal_eval", "builtins.eval", "pickle.loads",
    "builtins.list", "builtins.tuple", "builtins.dict", "builtins.set",
})  # fmt: skip
"""What makes a Python container of a cell."""
_FIRST_OF_GROUPS = frozenset({"first", "last", "nth", "head", "tail", "sample"})


class Tables:
    """Answers which values are tables, columns of them, or arrays of their cells."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)

    def of(self, value: Value) -> bool:
        """Whether a value has a row for each of many: what it holds is not seen."""
        of_group = cast = False
        for part in self._parts(value):
            last = _last(part)
            if last in ("values", "to_numpy") and (cast or _is_given_type(part)):
                return False  # not an array of objects, but of text or numbers
            cast = last == "astype"
            if last in _NO_TABLE - {"index"} and not (last == "groupby" and of_group and _is_by_item(part)):
                return False  # but `table.index` has a name for each row, or numbers
            of_group = last in _FIRST_OF_GROUPS
            if isinstance(part, ExtInst) and part.name in _MADE:
                return any(self._has_many(arg, part.env) for arg in part.call.args[1:])
            if isinstance(part, ExtInst) and is_frame(part):
                return not self._reads_few(part)
        return False

    def _has_many(self, rows: Expr, env: Env) -> bool:
        """Whether what a table is made of grows with data, itself or as a column: `{"path": paths}`."""
        return any(
            self.growth.grows(value)
            or (isinstance(value, Seq) and value.expr.kind == "dict" and self._has_long_column(value))
            for value in self.evaluator.values(rows, env)
        )

    def _has_long_column(self, columns: Seq) -> bool:
        return any(self.growth.loops(column, columns.env) for column in columns.expr.args[1::2])

    def _reads_few(self, read: ExtInst) -> bool:
        """Whether the number of rows to read is given, and not None."""
        rows = read.call.keyword("nrows")
        values = self.evaluator.values(rows, read.env) if rows is not None else ()
        return rows is not None and not any(isinstance(value, Const) and value.value is None for value in values)

    def is_array(self, value: Value) -> bool:
        """Whether a value is an array of a table's cells, or its index."""
        return any(_last(part) in ("values", "index", *_ARRAYS) for part in self._parts(value))

    def is_text(self, value: Value) -> bool:
        """Whether a value is a column, or an array of one, that is called after text."""
        name = self.column(value)
        return name is not None and means_text(name)

    def containers_at(self, value: Value) -> tuple[str, Span] | None:
        """Where code makes a Python container of each cell: `table["ids"] = table["ids"].apply(json.loads)`."""
        column = self.column(value)
        for part in chain(value):
            if self._is_of_containers(part):
                return part.env.module.path, part.call.span
            columns = [one for one in self.growth.fillings(part) if one.what.kind == "subscript" and one.event.value]
            for filling in columns:
                key, event = filling.what.args[1].value, filling.event
                later = (one for one in columns if one.env is filling.env and one.event.start > event.start)
                kept = column is None or column == key
                if (
                    kept
                    and self._sets(filling, self._is_of_containers)
                    and not any(one.what.args[1].value == key and self._sets(one, _converts) for one in later)
                ):
                    return filling.env.module.path, Span(event.start, event.end)
            if _last(part) not in _SAME_CELLS and not (isinstance(part, ExtInst) and part.call.kind == "subscript"):
                return None
        return None

    def _sets(self, filling: Filling, asked: Callable[[Value], bool]) -> bool:
        """Whether a column is set to something of a kind."""
        value = filling.event.value
        return value is not None and any(map(asked, self.evaluator.values(value, filling.env)))

    def _is_of_containers(self, column: Value) -> TypeGuard[ExtInst]:
        if isinstance(column, ExtInst) and column.call.kind == "call" and column.name.endswith(".str.split"):
            return column.call.keyword("expand") is None
        if not _converts(column) or column.call.keyword("result_type") is not None:
            return False
        return any(map(self._makes_container, self.evaluator.values(column.call.args[1], column.env)))

    def _makes_container(self, function: Value) -> bool:
        match function:
            case Ext(name=name):
                return name in _PARSERS
            case Func():
                return any(map(_is_container, self.evaluator.calls.returned(function, None, None)))
            case Method(func=func, owner=owner):
                return any(map(_is_container, self.evaluator.calls.returned(func, None, None, owner)))
            case ExtInst(name="functools.partial", call=call, env=env) if len(call.args) > 1:
                made = (
                    value for value in self.evaluator.values(call.args[1], env) if isinstance(value, (Func, Method))
                )
                return any(map(self._makes_container, made))
        return False

    def has_rows(self, value: Value) -> bool:
        """Whether a value was taken from a table that was read, or that was made of something that grows."""
        parts = [part for part in self._parts(value) if isinstance(part, ExtInst) and part.call.kind == "call"]
        if any(is_frame(part) for part in parts):
            return True
        made = (part for part in parts if part.name.startswith(_MADE))
        return any(self.growth.grows(arg) for part in made for arg in self._args(part))

    def _parts(self, value: Value, arrays: int = _MAX_ARRAYS) -> Iterator[Value]:
        """A value and what it was taken from: of `np.asarray(table["name"])` the column, too."""
        for part in chain(value):
            yield part
            if arrays and isinstance(part, ExtInst):
                given = (item for arg in _taken(part) for item in self.evaluator.values(arg, part.env))
                table = next((item for item in given if any(map(is_frame, chain(item)))), None)
                yield from self._parts(table, arrays - 1) if table is not None else ()

    def _args(self, made: ExtInst) -> Iterator[Value]:
        for arg in made.call.args[1:]:
            yield from self.evaluator.values(arg, made.env)
        yield made

    def column(self, value: Value) -> str | None:
        """The name of a column, "" of a column or an array without one; None for what is neither."""
        array = False
        for part in self._parts(value):
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
                array = array or _last(part) in _ARRAYS
        return "" if array and self.has_rows(value) else None


def _last(part: Value) -> str:
    """The last name of what something external was taken by: `values`, `first`."""
    if isinstance(part, ExtMethod):
        return part.attribute
    return part.name.rpartition(".")[2] if isinstance(part, ExtInst) else ""


def _converts(column: Value) -> TypeGuard[ExtInst]:
    """Whether a column was made by a function of each cell of another one."""
    if not isinstance(column, ExtInst) or column.call.kind != "call":
        return False
    return _last(column) in _CONVERTS and len(column.call.args) > 1


def _is_container(value: Value) -> bool:
    """Whether a value is a Python container of its own: a display, a comprehension, what is parsed or split."""
    if isinstance(value, Seq):
        return value.expr.name != "generator"
    return isinstance(value, ExtInst) and (value.name in _PARSERS or _last(value) == "split")


def _taken(made: ExtInst) -> tuple[Expr, ...]:
    """The arguments of a call that gives the cells of one of them: an array of the first, a part of any."""
    if made.name in _MADE_ARRAYS and not _has_type(made.call):
        return made.call.args[1:2]
    return made.call.args[1:] if made.name == _SPLIT else ()


def _has_type(call: Expr) -> bool:
    return len(call.args) > 2 or call.keyword("dtype") is not None


def _is_given_type(part: Value) -> bool:
    """Whether a call gives the type of an array: `to_numpy(dtype=str)`."""
    return isinstance(part, ExtInst) and bool(part.call.args[1:] or part.call.keyword("dtype"))


def _is_by_item(grouped: Value) -> bool:
    """Whether a call of `groupby` makes a group for each of many: each patient, each file."""
    keys = grouped.call.args[1:2] if isinstance(grouped, ExtInst) else ()
    return any(isinstance(key.value, str) and means_text_or_identifier(key.value) for key in keys)
