"""Proof that a list only holds rows of data: records that are as good when they are pickled and made again."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Const, Env, Expr, ExtInst, Func, Inst, Klass, Opaque, Project, Seq, Value
from dllint_rules.memory.text import Texts, from_json, method_of

MAX_DEPTH = 10
_COPIED = {"builtins.list", "builtins.sorted", "random.sample", "copy.copy", "copy.deepcopy"}
"""What returns a list of what it goes through."""
_ITERATED = {*_COPIED, "builtins.tuple", "builtins.reversed", "builtins.iter", "tqdm.tqdm", "tqdm.auto.tqdm"}
_OF_ROWS = {"builtins.zip", "builtins.enumerate", "csv.reader", "csv.DictReader"}
_ROW = {"builtins.dict", "builtins.list", "builtins.tuple", "builtins.sorted", "dataclasses.asdict"}
_NUMBERS = {f"builtins.{name}" for name in ("int", "float", "bool", "len", "round", "abs", "range[]")}
_UNPICKLED = ("pickle.load", "dill.load", "numpy.load")
"""What comes from a pickle can be pickled again."""
_NO_DATA = ("torch.", "PIL.", "h5py.", "multiprocessing.", "threading.")
"""Tensors, which are better kept as one, and what cannot be pickled."""
_OPEN = {"builtins.open", "io.open", "gzip.open", "zipfile.ZipFile", "tarfile.open", "sqlite3.connect"}


class Rows:
    """Asks of expressions whether they surely are lists of rows.

    `indexed`: the item's index selects from what is kept, as it can from a list that comes from JSON, but not from a
    dictionary, whose keys are strings there.
    """

    what = "records"

    def __init__(self, project: Project, indexed: bool) -> None:
        self.project = project
        self.texts = Texts(project)
        self.indexed = indexed

    def is_list(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a list of rows, possibly an empty one."""
        values = self.project.values(expr, env)
        return depth > 0 and bool(values) and all(self._list(value, depth - 1) for value in values)

    def others(self, made: Seq) -> Iterator[tuple[Expr, Env]]:
        """What puts something into a list that is not surely a row."""
        puts = self.texts.puts(made)
        return ((what, env) for kind, what, env in puts if not self._puts_row(kind, what, env, MAX_DEPTH))

    def has_some(self, made: Seq) -> bool:
        """Whether only some of what is put in is packed: never, since rows are packed together with anything else."""
        return False

    def is_item(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a row, a text or a number."""
        if depth <= 0:
            return False
        if expr.kind in ("tuple", "list", "dict"):
            return all(self._is_data(part, env) for part in expr.args)
        if self.texts.is_item(expr, env, depth - 1):
            return True
        values = self.project.values(expr, env)
        return bool(values) and all(self._item(value, depth - 1) for value in values)

    def _list(self, value: Value, depth: int) -> bool:
        match value:
            case Seq(expr=expr, env=env) if expr.kind == "list":
                puts = (self._puts_row(*put, depth) for put in self.texts.puts(value))
                return all(self.is_item(item, env, depth) for item in expr.args) and all(puts)
            case Seq(expr=expr, env=env) if value.kind == "list":
                return self.is_item(expr.args[0], env, depth)
            case Opaque(expr=expr, env=env) if expr.kind == "binop" and expr.name == "+":
                return all(self.is_list(item, env, depth) for item in expr.args)
            case Opaque(expr=expr, env=env) if expr.kind == "subscript" and expr.args[1].kind == "slice":
                return self.is_list(expr.args[0], env, depth)
            case ExtInst(base=base, call=call) if call.kind == "subscript" and call.args[1].kind == "slice":
                return base is not None and self._list(base, depth)
            case ExtInst(name=name, call=call, env=env) if name in _COPIED and call.kind == "call":
                return len(call.args) > 1 and self._gives_rows(call.args[1], env, depth)
            case ExtInst(call=call) if method_of(value) == "to_dict":
                orient = call.args[1] if len(call.args) > 1 else call.keyword("orient")
                return orient is not None and orient.value == "records"
            case ExtInst():
                return self.indexed and from_json(value)
        return False

    def _puts_row(self, kind: str, what: Expr, scope: Env, depth: int) -> bool:
        if kind == "augment":
            return self._gives_rows(what, scope, depth)
        if what.kind != "call" or len(what.args) != 2:
            return False
        put = self.is_item if what.args[0].name == "append" else self._gives_rows
        return what.args[0].name in ("append", "extend") and put(what.args[1], scope, depth)

    def _gives_rows(self, expr: Expr, env: Env, depth: int) -> bool:
        """Whether going through an expression gives rows only."""
        if expr.kind in ("list", "tuple"):
            return depth > 0 and all(self.is_item(item, env, depth - 1) for item in expr.args)
        values = self.project.values(expr, env)
        return depth > 0 and bool(values) and all(self._items(value, depth - 1) for value in values)

    def _items(self, value: Value, depth: int) -> bool:
        if self._list(value, depth):
            return True
        match value:
            case Seq(expr=expr, env=env) if value.kind in ("generator", "list"):
                return expr.kind == "comprehension" and self.is_item(expr.args[0], env, depth)
            case ExtInst(name=name, call=call, env=env) if name in _ITERATED and call.kind == "call":
                return len(call.args) > 1 and self._gives_rows(call.args[1], env, depth)
            case ExtInst(name=name):
                return name in _OF_ROWS or method_of(value) == "items" or from_json(value)
        return False

    def _item(self, value: Value, depth: int) -> bool:
        match value:
            case Const():
                return value.value is not None
            case Seq(expr=expr, env=env) if expr.kind in ("tuple", "list", "dict"):
                return all(self._is_data(part, env) for part in expr.args)
            case Seq(expr=expr, env=env) if value.kind in ("list", "dict"):
                return all(self._is_data(part, env) for part in expr.args[:2])
            case ExtInst(name=name, base=base) if name.endswith("[]") and base is not None:
                return name in _NUMBERS or from_json(value) or self._items(base, depth)
            case ExtInst(name=name, call=call):
                row = name in _ROW | _NUMBERS or method_of(value) in ("split", "rsplit", "splitlines")
                return (row and call.kind == "call") or name.startswith(_UNPICKLED) or from_json(value)
        return False

    def _is_data(self, part: Expr, env: Env) -> bool:
        """Whether nothing shows that a part of a row is an array, an object of a class or code."""
        return not any(_is_no_data(value) for value in self.project.values(part, env))


def _is_no_data(value: Value) -> bool:
    if isinstance(value, ExtInst):
        return value.name in _OPEN or value.name.startswith(_NO_DATA)
    return isinstance(value, Inst | Func | Klass)
