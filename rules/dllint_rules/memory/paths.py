"""Proof that a list only holds `Path` objects: of others, an array of strings would not give the same again."""

from __future__ import annotations

from dllint import Env, Expr, Ext, ExtInst, Opaque, Place, Project, Value
from dllint_rules.memory.text import MAX_DEPTH, Texts, has_only_text_keys, method_of

_LISTING = {"glob", "rglob", "iterdir"}
_OF_A_PATH = {"absolute", "expanduser", "joinpath", "resolve", "with_name", "with_suffix"}
_GIVING_STRINGS = {"readlines", "split", "namelist", "getnames", "astype"}
_STRINGS = {"glob.glob", "glob.iglob", "os.listdir", "builtins.open", "builtins.map", "csv.reader[]"}

_OPENING = (
    *("builtins.open", "builtins.str", "gzip.open", "io.open", "os.fspath", "os.path.", "h5py.File", "numpy.load"),
    *("pandas.read_csv", "pandas.read_parquet", "pandas.read_pickle", "torch.load", "torch.jit.load", "PIL.Image.open"),
)
"""What begins the names of functions that do the same with a string as with the path that has it."""


class Paths(Texts):
    """Asks of expressions whether they surely are lists of paths."""

    def is_item(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a path."""
        if depth > 0 and expr.kind == "binop":
            return expr.name == "/" and any(self.is_item(item, env, depth - 1) for item in expr.args)
        values = self.project.values(expr, env)
        return depth > 0 and bool(values) and all(self._text(value, depth - 1) for value in values)

    def _text(self, value: Value, depth: int) -> bool:
        if isinstance(value, Opaque) and value.expr.kind == "binop":
            return self.is_item(value.expr, value.env, depth)
        if not isinstance(value, ExtInst) or depth <= 0:
            return False
        if value.name == "pathlib.Path":
            return True
        if value.base is None:
            return False
        if value.name.endswith("[]"):
            return not _is_sliced(value) and self._items(value.base, depth - 1)
        return method_of(value) in _OF_A_PATH and self._text(value.base, depth - 1)

    def _items(self, value: Value, depth: int) -> bool:
        if isinstance(value, ExtInst) and value.base is not None and method_of(value) in _LISTING:
            return self._text(value.base, depth)
        return not _gives_strings(value) and super()._items(value, depth)

    def _list(self, value: Value, depth: int) -> bool:
        return not _gives_strings(value) and super()._list(value, depth)


def opens_item(place: Place, project: Project) -> bool:
    """Whether a use gives one item to a function to which the name of a file is as good as its path."""
    env = project.evaluator.generic(place.module, place.function)
    parts = (part for event in place.module.events(place.function) for part in event.walk())
    for call in (part for part in parts if part.kind == "call" and len(part.args) > 1):
        item = call.args[1]
        if item.kind == "subscript" and item.args[0].span == place.use.span and item.args[1].kind != "slice":
            called = project.values(call.args[0], env)
            return bool(called) and all(isinstance(one, Ext) and one.name.startswith(_OPENING) for one in called)
    return False


def _gives_strings(value: Value) -> bool:
    if not isinstance(value, ExtInst):
        return False
    return value.name in _STRINGS or method_of(value) in _GIVING_STRINGS or has_only_text_keys(value)


def _is_sliced(value: ExtInst) -> bool:
    return value.call.kind == "subscript" and value.call.args[1].kind == "slice"
