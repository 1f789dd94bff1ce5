"""Proof that a list only holds rows of data: records that are as good when they are pickled and made again."""

from __future__ import annotations

from dllint import Const, Env, Expr, ExtInst, Func, Inst, Klass, Opaque, Project, Seq, Value
from dllint_rules.memory.analysis.entries import Entries
from dllint_rules.memory.analysis.plain_objects import PlainObjects
from dllint_rules.memory.text import MAX_DEPTH, Texts, from_json, is_column, is_lines_of_json, is_slice, method_of

_COPIED = {"builtins.list", "builtins.sorted", "random.sample", "copy.copy", "copy.deepcopy"}
"""What returns a list of what it goes through."""
_ITERATED = {*_COPIED, "builtins.tuple", "builtins.reversed", "builtins.iter", "tqdm.tqdm", "tqdm.auto.tqdm"}
_OF_ROWS = {"builtins.zip", "builtins.enumerate", "csv.reader", "csv.DictReader"}
_OF_FOLDERS = {"torchvision.datasets.folder.make_dataset"}
"""What returns a list of pairs of a path and the number of a class."""
_OF_POOLS = {"multiprocessing.Pool().imap", "concurrent.futures.ProcessPoolExecutor().map"}
"""What gives the results of the tasks in their order."""
_ROW = {"builtins.dict", "builtins.list", "builtins.tuple", "builtins.sorted", "dataclasses.asdict"}
NUMBERS = {f"builtins.{name}" for name in ("int", "float", "bool", "len", "round", "abs", "range[]")}
_UNPICKLED = ("pickle.load", "dill.load", "numpy.load")
"""What comes from a pickle can be pickled again."""
_NO_DATA = ("torch.", "PIL.", "h5py.", "multiprocessing.", "threading.")
"""Tensors, which are better kept as one, and what cannot be pickled."""
_OPEN = {"builtins.open", "io.open", "gzip.open", "zipfile.ZipFile", "tarfile.open", "sqlite3.connect"}


class TextRows(Texts):
    """Asks of expressions whether they surely are lists of tuples of strings, all of one width."""

    each = "row of strings"
    whole = "list of rows of strings"

    def __init__(self, project: Project, width: int) -> None:
        super().__init__(project)
        self.texts = Texts(project)
        self.width = width

    def is_item(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a tuple of so many strings."""
        if expr.kind == "tuple":
            return len(expr.args) == self.width and all(self.texts.is_item(part, env, depth) for part in expr.args)
        values = self.project.values(expr, env) if depth > 0 else ()
        return bool(values) and all(
            isinstance(value, Seq) and value.expr.kind == "tuple" and self.is_item(value.expr, value.env, depth - 1)
            for value in values
        )

    def _external(self, value: ExtInst, depth: int) -> bool:
        copied = value.name in _COPIED and value.call.kind == "call"
        return copied and self._copies_items(value, depth)

    def _items(self, value: Value, depth: int) -> bool:
        return self._list(value, depth)


class IntegerRows(TextRows):
    """Asks of expressions whether they surely are lists of rows of integers that are written out, all of one width."""

    each = "row of integers"
    whole = "list of rows of integers"
    has_numbers = True

    def is_item(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a tuple or list of so many integers."""
        if expr.kind in ("tuple", "list"):
            is_integer = self.project.analysis(Entries).is_integer
            return len(expr.args) == self.width and all(is_integer(part, env) for part in expr.args)
        return super().is_item(expr, env, depth)


class Cells(Texts):
    """Asks of expressions whether they surely are lists of the cells of a column: text, numbers, what pandas reads."""

    each = "cell of a table"
    whole = "list of the cells of a column"
    has_numbers = True

    def is_item(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a cell: no other expression is known to be one."""
        return False

    def _external(self, value: ExtInst, depth: int) -> bool:
        if value.name == "builtins.list" and value.call.kind == "call":
            return self._copies_items(value, depth)
        return method_of(value) in ("tolist", "to_list") and value.base is not None and is_column(value.base)

    def _items(self, value: Value, depth: int) -> bool:
        return self._list(value, depth) or is_column(value)


class Rows(Texts):
    """Asks of expressions whether they surely are lists of rows.

    `indexed`: a number selects from what is kept, as it can from a list that comes from JSON, but not from a
    dictionary, whose keys are strings there.
    """

    each = "record"
    whole = "list of records"
    has_numbers = True

    def __init__(self, project: Project, indexed: bool) -> None:
        super().__init__(project)
        self.texts = Texts(project)
        self.indexed = indexed
        self._known: dict[Inst, bool] = {}

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
        return self._are_rows(self.project.values(expr, env), depth)

    def _external(self, value: ExtInst, depth: int) -> bool:
        call = value.call
        if value.name in _COPIED and call.kind == "call":
            return self._copies_items(value, depth)
        if value.name in _OF_FOLDERS:
            return True
        if value.name == "builtins.sum":
            return super()._external(value, depth)
        if method_of(value) == "to_dict":
            orient = call.args[1] if len(call.args) > 1 else call.keyword("orient")
            return orient is not None and orient.value == "records"
        return self.indexed and from_json(value)

    def _items(self, value: Value, depth: int) -> bool:
        if self._list(value, depth):
            return True
        match value:
            case Seq(expr=expr, env=env) if value.kind in ("generator", "list"):
                return expr.kind == "comprehension" and self.is_item(expr.args[0], env, depth)
            case ExtInst(name=name, call=call, env=env) if name in _ITERATED and call.kind == "call":
                return len(call.args) > 1 and self.gives_items(call.args[1], env, depth)
            case ExtInst(name=name, call=call, env=env) if name in _OF_POOLS and len(call.args) > 1:
                return self._returns_item(call.args[1], env, depth)
            case ExtInst(name=name):
                rows = name in _OF_ROWS or is_lines_of_json(value)
                return rows or method_of(value) == "items" or from_json(value)
        return False

    def _returns_item(self, task: Expr, env: Env, depth: int) -> bool:
        """Whether the function that a pool calls for each task surely returns a row."""
        functions, returned = self.project.values(task, env), self.project.evaluator.calls.returned
        return bool(functions) and all(
            isinstance(func, Func) and self._are_rows(returned(func, None, None), depth) for func in functions
        )

    def _are_rows(self, values: tuple[Value, ...], depth: int) -> bool:
        return bool(values) and all(
            self._item_of(value, depth - 1) or self.texts.is_text(value, depth - 1) for value in values
        )

    def _item_of(self, value: Value, depth: int) -> bool:
        match value:
            case Const():
                return value.value is not None
            case Inst():
                return self._is_record(value)
            case Opaque():
                return self.project.analysis(Entries).is_index(value)
            case Seq(expr=expr, env=env) if expr.kind in ("tuple", "list", "dict"):
                return all(self._is_data(part, env) for part in expr.args)
            case Seq(expr=expr, env=env) if value.kind in ("list", "dict"):
                return all(self._is_data(part, env) for part in expr.args[:2])
            case ExtInst(base=base, call=call) if base is not None and is_slice(call):
                return self._item_of(base, depth)
            case ExtInst(name=name, base=base) if name.endswith("[]") and base is not None:
                return name in NUMBERS or from_json(value) or self._items(base, depth)
            case ExtInst(name="copy.copy" | "copy.deepcopy", call=call, env=env) if len(call.args) == 2:
                return self.is_item(call.args[1], env, depth)
            case ExtInst(name=name, call=call):
                row = name in _ROW | NUMBERS or method_of(value) in ("split", "rsplit", "splitlines")
                return (row and call.kind == "call") or name.startswith(_UNPICKLED) or from_json(value)
        return False

    def _is_data(self, part: Expr, env: Env) -> bool:
        """Whether nothing shows that a part of a row is an array, an object that does more than keep data, or code."""
        return not any(map(self._is_no_data, self.project.values(part, env)))

    def _is_no_data(self, value: Value) -> bool:
        if isinstance(value, ExtInst):
            foreign = value.name.startswith(_NO_DATA) and not self.texts.is_text(value, MAX_DEPTH)
            return foreign or value.name in _OPEN
        return isinstance(value, Func | Klass) or (isinstance(value, Inst) and not self._is_record(value))

    def _is_record(self, made: Inst) -> bool:
        """Whether an object of a class of the project only keeps data: a `VideoRecord`, say."""
        return self.project.evaluator.ask(self._known, made, False, self._only_keeps_data, made)

    def _only_keeps_data(self, made: Inst) -> bool:
        if made.call is None or made.env is None:
            return False
        objects, generic = self.project.analysis(PlainObjects), self.project.evaluator.generic
        given = (*made.call.args[1:], *(value for _, value in made.call.keywords))
        return (
            objects.are_of(made)
            and all(self.is_item(part, made.env) for part in given)  # else all may share a large part
            and all(self._is_data(part, generic(module, function)) for part, module, function in objects.parts(made))
        )
