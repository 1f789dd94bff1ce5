"""Proof that a list only holds strings: an array would silently turn anything else into text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dllint import GENERATOR, MAPPINGS, Const, Env, Event, Expr, ExtInst, ExtMethod, Module, Opaque, Project, Seq, Value
from dllint_rules.memory.analysis.entries import Entries
from dllint_rules.memory.puts import puts
from dllint_rules.memory.saved import saved

MAX_DEPTH = 12
_LISTINGS = {"glob.glob", "os.listdir"}
_LISTING = {"namelist", "getnames"}
"""Methods of archives that return the names of their members."""
_REORDERED = {"builtins.sorted", "builtins.list", "natsort.natsorted", "natsort.os_sorted", "random.sample"} | {
    f"copy.{name}" for name in ("copy", "deepcopy")
}
_OF_JSON = {f"{library}.{name}" for library in ("json", "ujson", "orjson", "simplejson") for name in ("load", "loads")}
"""What returns dictionaries whose keys are strings."""
_LINES_OF_JSON = {"jsonlines.open", "jsonlines.Reader"}
"""What gives one value after another that JSON has: a dictionary whose keys are strings, or a list."""
_ITERATED = {*_REORDERED, "builtins.reversed", "builtins.set", "builtins.tuple", "builtins.iter", "tqdm.tqdm"}
_OPEN, _OPEN_PACKED = ("builtins.open", "io.open"), ("gzip.open", "bz2.open", "lzma.open")
"""What opens files."""
_TEXTS = {"builtins.str", "builtins.repr", "builtins.input", "os.fsdecode", "os.getcwd"} | {
    f"os.path.{name}" for name in ("join", "basename", "dirname", "abspath", "realpath", "normpath", "relpath")
}
"""What returns a `str`. (Paths of bytes are not expected.)"""
_SPLITTERS = {"split", "rsplit", "splitlines", "partition", "rpartition"}
_OF_TEXT = {
    *("strip", "rstrip", "lstrip", "replace", "lower", "upper", "format", "join"),
    *("removesuffix", "removeprefix", "title", "zfill"),
}
"""Methods of a `str` that return one."""
_TABLES = {f"pandas.read_{form}" for form in ("csv", "table", "fwf", "excel")}
_SAME_CELLS = {"values", "to_numpy", "astype", "iloc", "loc", "copy", "dropna", "reset_index", "drop_duplicates"}
"""What gives the cells of a table, perhaps fewer of them, or of another type."""
_OF_ANYTHING = {"as_posix", "decode", "read_text", "hexdigest"}
"""Methods that return a `str` whatever they belong to."""


_FORM = {"delimiter", "quotechar", "lineterminator"}
"""How a CSV file is written, which does not change what its fields become."""


class Texts:
    """Asks of expressions whether they surely are text, or lists of text."""

    each = "string"
    whole = "list of strings"
    has_numbers = False
    """Whether items may have numbers, which an array would multiply."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._asked: dict[Value, bool] = {}
        """What is asked about at the moment, and what is said of it meanwhile."""

    def is_list(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a list of strings, possibly an empty one."""
        values = self.project.values(expr, env)
        return depth > 0 and bool(values) and all(self._stays_list(value, depth - 1) for value in values)

    def _stays_list(self, value: Value, depth: int) -> bool:
        """Whether a value is such a list, also after what is put into one that another package gives."""
        return self._list(value, depth) and (not isinstance(value, ExtInst) or self._filled(value, depth))

    def is_item(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a string."""
        if expr.kind == "fstring" or isinstance(expr.value, str):
            return True
        if depth <= 0:
            return False
        if _replaces_text(expr):
            return True
        if expr.kind == "binop" and expr.name in "+%":
            # What is added to a string is one, or it raises.
            operands = expr.args if expr.name == "+" else expr.args[:1]
            return any(self.is_item(item, env, depth - 1) for item in operands)
        values = self.project.values(expr, env)
        return bool(values) and all(self._text(value, depth - 1) for value in values)

    def is_count(self, expr: Expr, env: Env) -> bool:
        """Whether what a list is multiplied by surely says how often it is repeated: nothing else multiplies text."""
        return not self.has_numbers or self.project.analysis(Entries).is_integer(expr, env)

    def gives_items(self, expr: Expr, env: Env, depth: int) -> bool:
        """Whether going through an expression gives such items only. A list that is written there has no other name."""
        if expr.kind in ("list", "tuple", "set"):
            return depth > 0 and self._are_items(expr, env, depth - 1)
        values = self.project.values(expr, env)
        return depth > 0 and bool(values) and all(self._items(value, depth - 1) for value in values)

    def _list(self, value: Value, depth: int) -> bool:
        if value in self._asked:
            return self._asked[value]
        displays = [other.expr for other in self._asked if isinstance(other, Seq)]
        # The next call of a function that calls itself is no step: only few of them are told apart.
        again = isinstance(value, Seq) and value.expr in displays
        with self._assumed(value):
            return self._is_made_of_items(value, depth + again)

    @contextmanager
    def _assumed(self, value: Value) -> Iterator[None]:
        """While it is asked whether a value is such a list, it is one as far as it is made of itself."""
        self._asked[value] = True
        try:
            yield
        finally:
            del self._asked[value]

    @contextmanager
    def _nothing_assumed(self) -> Iterator[None]:
        """While it is asked what a file has, which was there before the program made anything of it."""
        asked, self._asked = self._asked, dict.fromkeys(self._asked, False)
        try:
            yield
        finally:
            self._asked = asked

    def _is_made_of_items(self, value: Value, depth: int) -> bool:
        match value:
            case ExtInst(base=base, call=call) if is_slice(call):
                return base is not None and self._list(base, depth)
            case ExtInst():
                return self._external(value, depth) or self._saved(value, depth)
            case Opaque(expr=expr, env=env) if expr.kind == "binop" and expr.name == "+":
                return all(self.is_list(item, env, depth) for item in expr.args)
            case Opaque(expr=expr, env=env) if expr.kind == "binop" and expr.name == "*":
                one, other = expr.args
                return any(
                    self.is_count(count, env) and self.is_list(repeated, env, depth)
                    for repeated, count in ((one, other), (other, one))
                )
            case Opaque(expr=expr, env=env) if expr.kind == "subscript" and expr.args[1].kind == "slice":
                return self.is_list(expr.args[0], env, depth)
            case Seq(expr=expr, env=env) if expr.kind == "comprehension" and expr.name == "list":
                return self.is_item(expr.args[0], env, depth)
            case Seq(expr=expr, env=env) if expr.kind == "list":
                return self._are_items(expr, env, depth) and self._filled(value, depth)
        return False

    def _are_items(self, written: Expr, env: Env, depth: int) -> bool:
        """Whether all that a display has are such items."""
        return all(self._adds_items(item, env, depth) for item in written.args)

    def _adds_items(self, part: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether a part of a display is such an item, or unpacks what gives such: `[*glob.glob(root), name]`."""
        return self.gives_items(part.args[0], env, depth) if part.kind == "star" else self.is_item(part, env, depth)

    def _external(self, value: ExtInst, depth: int) -> bool:
        """Whether what other packages give is such a list."""
        name, call, base, method = value.name, value.call, value.base, method_of(value)
        if name in _REORDERED and call.kind == "call":
            return self._copies_items(value, depth)
        if name == "builtins.sum" and len(call.args) == 3:
            return self._joins_items(call.args[1], value.env, depth) and self.is_list(call.args[2], value.env, depth)
        if call.kind == "subscript" and base is not None:
            return False
        if method == "readlines":
            return _is_text_file(base)
        if method == "copy" and base is not None:
            return self._list(base, depth)
        if method in ("tolist", "to_list"):
            return base is not None and self._items(base, depth)
        if name == "csv.reader[]":
            return _has_text_rows(base)
        splits = method in _SPLITTERS and base is not None and self._has_methods_of_text(base, depth)
        return name in _LISTINGS or method in _LISTING or splits

    def _copies_items(self, copied: ExtInst, depth: int) -> bool:
        """Whether what is copied gives such items only. `list()` copies nothing, and has what is put into it."""
        if len(copied.call.args) == 1:
            return copied.name == "builtins.list" and self._filled(copied, depth)
        return self.gives_items(copied.call.args[1], copied.env, depth)

    def _joins_items(self, lists: Expr, env: Env, depth: int) -> bool:
        """Whether going through all that an expression gives, one after the other, gives such items only."""
        values = self.project.values(lists, env)
        return depth > 0 and bool(values) and all(self._gives_each(value, depth - 1) for value in values)

    def _gives_each(self, value: Value, depth: int) -> bool:
        if not isinstance(value, Seq) or value.expr.kind not in ("comprehension", "list", "tuple"):
            return False
        if value.expr.kind == "comprehension":
            return value.expr.name in ("list", "generator") and self.gives_items(value.expr.args[0], value.env, depth)
        parts = (part.kind != "star" and self.gives_items(part, value.env, depth) for part in value.expr.args)
        return not any(self._puts(value)) and all(parts)

    def _saved(self, loaded: ExtInst, depth: int) -> bool:
        """Whether something is loaded from a file in which the same function saves such lists."""
        found = [self.project.values(what, loaded.env) for what in saved(self.project, loaded)]
        made = [[value for value in values if value != loaded] for values in found]
        with self._nothing_assumed():
            return (
                depth > 0
                and bool(made)
                and all(values and all(self._list(value, depth - 1) for value in values) for values in made)
            )

    def _filled(self, made: Seq | ExtInst, depth: int) -> bool:
        """Whether everything that is put into a list later is such an item."""
        return all(self._puts_item(*put, depth) for put in self._puts(made))

    def _puts(self, made: Seq | ExtInst) -> Iterator[tuple[str, Expr, Env]]:
        """What puts something into a list after it is made."""
        for scope, event, receiver, what in self.project.evaluator.containers.mutations_around(made.env):
            if receiver.kind in ("name", "attribute") and made in self.project.values(receiver, scope):
                item = _set_to(event, what)
                repeats = event.kind == "augment" and event.name == "Multiply"
                kind = "item" if item is not None else "count" if repeats else event.kind
                yield kind, item or what, scope

    def others(self, value: Value) -> list[tuple[str, Expr, Env]]:
        """What is put into a list, where it is made and later, that is not surely such an item, and how it is."""
        found: list[tuple[str, Expr, Env]] = []
        with self._assumed(value):
            if isinstance(value, Seq):
                made = value.expr.args[-1:] if value.expr.kind == "comprehension" else value.expr.args
                found += [("item", item, value.env) for item in made if not self._adds_items(item, value.env)]
            if isinstance(value, Seq | ExtInst):
                found += [put for put in self._puts(value) if not self._puts_item(*put, MAX_DEPTH)]
        return found

    def has_some(self, made: Seq) -> bool:
        """Whether something that is put into a list later surely is text."""
        return any(self._puts_item(*put, MAX_DEPTH) for put in self._puts(made))

    def adds_items(self, call: Expr, env: Env) -> bool:
        """Whether the call of a list's method only adds such items."""
        return self._puts_item("expr", call, env, MAX_DEPTH)

    def _puts_item(self, kind: str, what: Expr, scope: Env, depth: int) -> bool:
        if kind == "item":
            return self.is_item(what, scope, depth)
        if kind == "count":
            return self.is_count(what, scope)
        if kind == "augment":
            return self.gives_items(what, scope, depth)
        if what.kind != "call" or len(what.args) != 2:
            return False
        put = self.is_item if what.args[0].name == "append" else self.gives_items
        return what.args[0].name in ("append", "extend") and put(what.args[1], scope, depth)

    def _items(self, value: Value, depth: int) -> bool:
        if self._list(value, depth):
            return True
        match value:
            case ExtInst(name="glob.iglob"):
                return True
            case ExtInst() if _is_text_file(value):
                return True
            case ExtInst(name=name) if name == GENERATOR:
                return self._yields_items(value, depth)
            case ExtInst(name=name, call=call, env=env) if name in _ITERATED and call.kind == "call":
                return len(call.args) > 1 and self.gives_items(call.args[1], env, depth)
            case ExtInst(name="builtins.map", call=call, env=env) if len(call.args) == 3:
                functions = self.project.values(call.args[1], env)
                return bool(functions) and all(getattr(item, "name", "") in _TEXTS for item in functions)
            case ExtInst(name="builtins.filter", call=call, env=env) if len(call.args) == 3:
                return self.gives_items(call.args[2], env, depth)
            case ExtInst(name="itertools.chain", call=call, env=env) if call.kind == "call":
                return all(self.gives_items(part, env, depth) for part in call.args[1:] if part.kind != "star") and all(
                    self._joins_items(part.args[0], env, depth) for part in call.args[1:] if part.kind == "star"
                )
            case ExtInst(name="itertools.chain.from_iterable", call=call, env=env) if len(call.args) == 2:
                return self._joins_items(call.args[1], env, depth)
            case ExtInst(base=base) if base is not None and method_of(value) == "keys":
                return has_only_text_keys(value) or self._has_text_keys(base, depth)
            case Seq(expr=expr, env=env) if expr.kind == "comprehension" and expr.name in ("generator", "set"):
                return self.is_item(expr.args[0], env, depth)
            case ExtInst(call=call) if method_of(value) == "astype" and len(call.args) == 2:
                return "str" in (call.args[1].value, call.args[1].dotted) and is_column(value)
            case Seq(expr=expr) if expr.kind == "dict" or expr.name == "dict":
                return self._has_text_keys(value, depth)
            case ExtInst(name=name) if name in MAPPINGS:
                return self._has_text_keys(value, depth)
            case Seq(expr=expr, env=env) if expr.kind in ("tuple", "set"):
                return self._are_items(expr, env, depth)
        return False

    def _yields_items(self, generator: ExtInst, depth: int) -> bool:
        """Whether a generator only yields such items, be it by calls of the same function."""
        containers = self.project.evaluator.containers
        yielded = list(containers.yields(generator))
        own = self._functions(generator)
        others = [given for given in containers.delegates(generator) if not self._runs(own, *given)]
        return (
            bool(yielded or others)
            and all(self.is_item(item, env, depth) for _, item, env in yielded)
            and all(self.gives_items(*given, depth) for given in others)
        )

    def _runs(self, functions: set[tuple[Module, int]], expr: Expr, env: Env) -> bool:
        """Whether an expression surely is a generator of one of some functions."""
        values = self.project.values(expr, env)
        return bool(values) and all(
            isinstance(value, ExtInst) and value.name == GENERATOR and not functions.isdisjoint(self._functions(value))
            for value in values
        )

    def _functions(self, generator: ExtInst) -> set[tuple[Module, int]]:
        return {(env.module, env.function) for env in self.project.evaluator.containers.running(generator)}

    def _has_text_keys(self, made: Value, depth: int) -> bool:
        """Whether all keys of a dictionary that the project makes are text."""
        keys: list[tuple[Expr, Env]] = []
        match made:
            case Seq(expr=expr, env=env) if expr.kind == "comprehension" and expr.name == "dict":
                keys = [(expr.args[0], env)]
            case Seq(expr=expr, env=env) if expr.kind == "dict":
                keys = [(key, env) for key in expr.args[::2]]
            case ExtInst(name=name, call=call) if name in MAPPINGS and call.kind == "call":
                if len(call.args) > 1 or call.keywords:
                    return False
            case _:
                return False
        later = [put for _, _, put in puts(self.project, made)]
        keys += [(key, put.env) for put in later if put for key in put.keys]
        seen = all(put is not None and not put.others for put in later)
        return seen and bool(keys) and all(self.is_item(key, scope, depth) for key, scope in keys)

    def is_text(self, value: Value, depth: int) -> bool:
        """Whether a value surely is a string."""
        return self._text(value, depth)

    def _text(self, value: Value, depth: int) -> bool:
        match value:
            case Const(value=constant):
                return isinstance(constant, str)
            case Opaque(expr=expr, env=env) if expr.kind in ("binop", "fstring"):
                return self.is_item(expr, env, depth)
            case ExtMethod(base=ExtInst(name=name), attribute=attribute) if name.startswith("pathlib."):
                return attribute in ("name", "stem", "suffix")
            case (
                ExtInst(name="os.walk[][][]") | ExtMethod(base=ExtInst(name="os.scandir[]"), attribute="name" | "path")
            ):
                return True
            case ExtInst(name=name, base=base) if name.endswith("[]") and base is not None:
                return self._item(base, value.call, depth)
            case (ExtInst(name="re.sub") as given) | ExtInst(name="re.compile().sub", base=ExtInst() as given):
                # A pattern of text matches nothing else, and text is what it makes of that.
                return len(given.call.args) > 1 and self.is_item(given.call.args[1], given.env, depth)
            case ExtInst(name=name, base=base):
                method = method_of(value)
                if method in ("read", "readline"):
                    return _is_text_file(base)
                known = name in _TEXTS or method in _OF_ANYTHING
                if known or method not in _OF_TEXT or base is None:
                    return known
                return _is_cell(base) or self._has_methods_of_text(base, depth)
        return False

    def _has_methods_of_text(self, value: Value, depth: int) -> bool:
        """Whether a value that has `strip` and the like is a string: no list has them, and nothing else in JSON."""
        return self._text(value, depth) or from_json(value) or isinstance(value, Seq)

    def _item(self, base: Value, call: Expr, depth: int) -> bool:
        """An element of text, of a list of text, of what splits text."""
        sliced = is_slice(call)
        if depth <= 0 or self._text(base, depth - 1):
            return depth > 0
        split = isinstance(base, ExtInst) and base.name in ("os.path.splitext", "os.path.split")
        return not sliced and (split or self._items(base, depth - 1))


class Nothing(Texts):
    """Asks of expressions whether they surely are lists into which nothing is put: what those are for is not seen."""

    def is_item(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is an item: no expression is."""
        return False

    def _external(self, value: ExtInst, depth: int) -> bool:
        copied = value.name in _REORDERED or method_of(value) == "copy"
        return copied and super()._external(value, depth)

    def _items(self, value: Value, depth: int) -> bool:
        return self._list(value, depth)


def _set_to(event: Event, changed: Expr) -> Expr | None:
    """What an assignment sets one entry of a list to."""
    alone = event.kind == "assign" and event.target is not None and event.target.span == changed.span
    entry = alone and changed.kind == "subscript" and changed.args[1].kind != "slice"
    return event.value if entry else None


def _is_of_hdf5(value: Value) -> bool:
    """Whether a value is an HDF5 file, or a part of one: what has keys there is a group, which only has strings."""
    while isinstance(value, ExtInst) and value.base is not None and value.name.endswith("[]"):
        value = value.base
    return isinstance(value, ExtInst) and value.name == "h5py.File"


def _replaces_text(expr: Expr) -> bool:
    """Whether an expression puts a string in place of another: `name.replace(".jpg", ".png")`."""
    if expr.kind != "call" or expr.args[0].kind != "attribute" or expr.args[0].name != "replace":
        return False
    return len(expr.args) == 3 and all(isinstance(item.value, str) for item in expr.args[1:])


def has_only_text_keys(keys: ExtInst) -> bool:
    """Whether a value is the keys of what only has strings as keys: a dictionary from JSON, an HDF5 file or group."""
    base = keys.base
    return method_of(keys) == "keys" and base is not None and (from_json(base) or _is_of_hdf5(base))


def from_json(value: Value) -> bool:
    """Whether a value is what JSON has, or a part of it: texts, numbers, lists and dictionaries."""
    taken = False
    while isinstance(value, ExtInst) and value.base is not None:
        part, view = value.name.endswith("[]"), taken and method_of(value) in ("items", "values")
        if not (part or view or method_of(value) == "get"):
            break
        value, taken = value.base, part
    if isinstance(value, ExtInst) and value.name in _OF_JSON:
        return value.call.keyword("object_hook") is None
    return taken and is_lines_of_json(value)


def is_lines_of_json(value: Value) -> bool:
    """Whether a value is a reader that gives what each line of a file has in JSON."""
    return isinstance(value, ExtInst) and value.name in _LINES_OF_JSON and value.call.keyword("loads") is None


def _is_cell(value: Value | None) -> bool:
    """Whether a value comes out of a table of text, whose cells are strings where they have the methods of one."""
    while isinstance(value, ExtInst):
        if value.name in _TABLES:
            return True
        value = value.base
    return False


def is_column(value: Value) -> bool:
    """Whether a value has the cells of one column of a table that pandas reads: `table["id"]`, `table.values[:, 0]`."""
    chosen = False
    while isinstance(value, ExtInst | ExtMethod) and value.base is not None:
        if isinstance(value, ExtInst) and value.call.kind == "subscript":
            chosen = chosen or _chooses_column(value.call)
        elif (value.attribute if isinstance(value, ExtMethod) else method_of(value)) not in _SAME_CELLS:
            return False
        value = value.base
    return chosen and isinstance(value, ExtInst) and value.name in _TABLES and value.call.keyword("converters") is None


def _chooses_column(part: Expr) -> bool:
    *rows, column = part.args[1:]
    written = column.args[0] if column.kind == "unary" else column
    return isinstance(written.value, int | str if rows else str) and all(one.kind == "slice" for one in rows)


def is_slice(call: Expr) -> bool:
    """Whether what gives a value is `rows[:9]`."""
    return call.kind == "subscript" and call.args[1].kind == "slice"


def method_of(value: ExtInst) -> str:
    """The name of the method whose result a value is."""
    call = value.call
    called = call.kind == "call" and call.args[0].kind == "attribute" and value.base is not None
    return call.args[0].name if called else ""


def _has_text_rows(reader: Value | None) -> bool:
    """Whether a CSV reader leaves its fields as they are: `quoting` and a dialect may make numbers of them."""
    return isinstance(reader, ExtInst) and len(reader.call.args) == 2 and set(dict(reader.call.keywords)) <= _FORM


def _is_text_file(value: Value | None) -> bool:
    """Whether a value is a file opened for text, as `open` does without a mode, and `gzip.open` does not."""
    if not isinstance(value, ExtInst) or value.name not in (*_OPEN, *_OPEN_PACKED):
        return False
    call = value.call
    mode = call.args[2] if len(call.args) > 2 else call.keyword("mode")
    if mode is None or not isinstance(mode.value, str):
        return mode is None and value.name in _OPEN
    return "b" not in mode.value if value.name in _OPEN else "t" in mode.value
