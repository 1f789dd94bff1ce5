"""What the entries of containers are, as far as it decides what to keep in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.data.contents import Contents, Kind, is_mapping
from dllint.project.data.counted import Counted
from dllint.project.data.growth import LISTING, READ, chain
from dllint.project.data.item_reads import ItemReads
from dllint.project.data.records import Records
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, Klass, Opaque, Seq, Value
from dllint.project.execution.call_graph import Running
from dllint_rules.memory.analysis.indexed import COUNTING, Indexed, is_called

if TYPE_CHECKING:
    from dllint.project import Project

_OF_FILES = re.compile(
    r"(?:path|file|dir|folder|directorie|img|image|photo|pic|picture|frame|mask|video|wav|audio|scan|slide|(?:^|_|f|file)name"
    r"|(?:^|_)(?:id|uid|uuid|idx|key|fn))s?(?:_?(?:list|paths?|names?|files?|ids?))?$",
    re.IGNORECASE,
)
"""The names of what holds names of files, or identifiers."""
_SUFFIX = re.compile(r"\.\w{1,5}$")
_INTEGERS = frozenset({"builtins.int", "builtins.len", "builtins.range[]", "builtins.ord"})
_NUMBERS = _INTEGERS | {"builtins.float"}
_LOADED = frozenset(
    name for name, what in READ.items() if what in ("a file", "a pickle")
) | {"numpy.load", "torch.load", "scipy.io.loadmat"}  # fmt: skip
_READ = frozenset({"open", "read", "read_text", "readline", "readlines", "splitlines"})
_COPIES = frozenset({"builtins.list", "builtins.sorted", "builtins.tuple"})
_OF_A_LINE = frozenset({"csv.reader[]", "csv.DictReader[]"})
_OF_MAPPINGS = frozenset({"keys", "items", "values", "get"})


class Form(Enum):
    """What all entries of a container are."""

    ARRAYS = "arrays or tensors"
    NUMBERS = "rows of as many numbers"
    COLUMNS = "columns, by their names"
    UNSEEN = "read from a file, whose contents no code shows"


class Entries:
    """Answers what is put into containers."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.growth = project.analysis(Contents).growth
        self.blocks = project.analysis(Contents).elements.blocks
        self.counted = project.analysis(Counted)
        self.reads = project.analysis(ItemReads)
        self._paths: dict[Value, bool] = {}
        self._integers: dict[tuple[Expr, Env], bool] = {}

    def source(self, held: Held) -> str:
        """Where the entries of what a dataset keeps come from, in words; "" when it isn't seen."""
        found = self.counted.of(held)
        return found.source if found is not None else ""

    def name_files(self, held: Held) -> bool:
        """Whether they are names of files, whose lengths hardly differ, by what they are made of or called after."""
        found = self.counted.of(held)
        if found is not None and found.kind is Kind.PATH:
            return True
        return bool(_OF_FILES.search(held.holder.name)) or self._are_paths(held.value)

    def width_of_paths(self, held: Held) -> int:
        """How many names of files each entry of a list has, if each is a tuple of as many; else 0."""
        rows = [entry for entry in self.of(held.value) if isinstance(entry, Seq) and entry.expr.kind == "tuple"]
        widths = {len(row.expr.args) for row in rows}
        paths = all(self.is_path(part, row.env) for row in rows for part in row.expr.args)
        return min(widths) if paths and len(widths) == 1 else 0

    def _are_paths(self, value: Value) -> bool:
        return self.evaluator.ask(self._paths, value, False, self._have_paths, value)

    def _have_paths(self, value: Value) -> bool:
        if isinstance(value, ExtInst) and _lists(value):
            return True
        containers = self.evaluator.containers
        added = containers.taken_over(value) if isinstance(value, Seq) else ()
        taken = (one for given in added for one in self.evaluator.values(*given))
        if any(map(self._are_paths, (*self.growth.copied(value), *taken))):
            return True
        return any(self.is_path(expr, env) for expr, env in containers.items(value))

    def is_path(self, expr: Expr, env: Env) -> bool:
        """Whether an entry is the name of a file, by what it is made of."""
        if any(isinstance(part.value, str) and _is_of_path(part.value) for part in _joined(expr)):
            return True
        return any(isinstance(value, ExtInst) and _lists(value) for value in self._values(expr, env))

    def _values(self, expr: Expr, env: Env) -> list[Value]:
        parts = expr.args if expr.kind == "binop" else (expr,)
        return [value for part in parts for value in self.evaluator.values(part, env)]

    def names_a_file(self, running: Running, klass: Klass, attribute: str) -> bool:
        """Whether worker code opens one of them, or joins it to a folder."""
        part = self.reads.as_text(running, klass, attribute)
        return part is not None and (part.kind == "call" or (part.kind == "fstring" and "/" in str(part.value)))

    def form(self, held: Held) -> Form | None:
        """What all entries are that are seen; None where they are other objects, or where that isn't seen."""
        made = held.value
        if self._asked(held, by_key=True) or self._names_columns(made):
            return Form.COLUMNS
        items = self.evaluator.containers.items(made) if isinstance(made, Seq) else []
        values = [value for expr, env in items for value in self.evaluator.values(expr, env)]
        if any(map(_is_loaded, values or [made])):
            return None if self._reads_keys(held) else Form.UNSEEN
        if items and all(self.blocks((expr,), env) for expr, env in items):
            return Form.ARRAYS
        rows = [(expr, env) for expr, env in items if expr.kind in ("tuple", "list")]
        if len(rows) == len(items) and len({len(expr.args) for expr, _ in rows}) == 1:
            return Form.NUMBERS if all(self._are_numbers(expr, env) for expr, env in rows) else None
        return None

    def _names_columns(self, made: Value) -> bool:
        """Whether a dictionary is written with all its keys, and has containers for them: these are what is long."""
        if not isinstance(made, Seq) or made.expr.kind != "dict" or not made.expr.args:
            return False
        keys, columns = made.expr.args[::2], made.expr.args[1::2]
        written = all(isinstance(key.value, str) for key in keys)
        values = [self.evaluator.values(column, made.env) for column in columns]
        return written and all(found and all(isinstance(value, Seq) for value in found) for found in values)

    def _are_numbers(self, row: Expr, env: Env) -> bool:
        return bool(row.args) and all(self._is_number(part, env) for part in row.args)

    def _is_number(self, expr: Expr, env: Env) -> bool:
        values = self.evaluator.values(expr, env)
        return self.is_integer(expr, env) or (
            bool(values)
            and all(
                isinstance(value.value, int | float)
                if isinstance(value, Const)
                else isinstance(value, ExtInst) and value.name in _NUMBERS
                for value in values
            )
        )

    def is_integer(self, expr: Expr, env: Env) -> bool:
        """Whether an expression surely is an integer: a count, an index, or made of such."""
        return self.evaluator.ask(self._integers, (expr, env), False, self._is_integer, expr, env)

    def _is_integer(self, expr: Expr, env: Env) -> bool:
        if expr.kind in ("binop", "unary"):
            return expr.name in COUNTING and all(self.is_integer(part, env) for part in expr.args)
        values = self.evaluator.values(expr, env)
        return bool(values) and all(map(self._counts, values))

    def _counts(self, value: Value) -> bool:
        match value:
            case Const():
                return type(value.value) is int
            case ExtInst():
                return value.name in _INTEGERS
            case Opaque(expr=expr, env=env):
                return self.is_index(value) or (expr.kind in ("binop", "unary") and self.is_integer(expr, env))
        return False

    def is_index(self, value: Value) -> bool:
        """Whether a value is the number that `enumerate` gives with an item."""
        if not isinstance(value, Opaque) or value.expr.kind != "call":
            return False
        return self.evaluator.values(value.expr.args[0], value.env) == (Ext("builtins.enumerate"),)

    def width_of_integers(self, held: Held) -> int:
        """How many integers each entry of a list has, if each is a row of as many that is written out; else 0."""
        if self.is_mapping(held) or self.form(held) is not Form.NUMBERS:
            return 0
        rows = self.evaluator.containers.items(held.value) if isinstance(held.value, Seq) else []
        integers = bool(rows) and all(self.is_integer(part, env) for row, env in rows for part in row.args)
        return len(rows[0][0].args) if integers else 0

    def are_small(self, made: Iterable[Value]) -> bool:
        """Whether each entry is seen to have a few parts: it is written out, or made of a line of text, or a word."""
        found = [entry for value in made for entry in self.of(value) or (value,)]
        return bool(found) and all(map(self._is_small, found))

    def of(self, made: Value) -> tuple[Value, ...]:
        """The entries of a container, also of one that is made of what is gone through."""
        containers = self.evaluator.containers
        found = tuple(containers.elements(made))
        if isinstance(made, ExtInst) and made.name in _COPIES and len(made.call.args) > 1:
            found += tuple(containers.iterated(made.call.args[1], made.env))
        return found

    def _is_small(self, entry: Value) -> bool:
        if isinstance(entry, ExtInst):
            return entry.name in _OF_A_LINE or entry.name.endswith((".split", ".split[]"))
        if not isinstance(entry, Seq) or not entry.expr.args or any(part.kind == "star" for part in entry.expr.args):
            return False
        kind = entry.expr.kind
        return kind in ("tuple", "dict") or (kind == "list" and not self.evaluator.containers.put_in(entry))

    def is_list_of_records(self, held: Held) -> bool:
        """Whether what is kept is a list whose entries are better kept as bytes, each for itself, than as arrays."""
        is_index = self.source(held).endswith(("annotations", "column"))
        return not (is_index or self.is_mapping(held) or self.are_identifiers(held)) and self.form(held) is None

    def is_dictionary_of_records(self, held: Held) -> bool:
        """Whether what is kept is a dictionary whose values are better kept as bytes, each for itself."""
        is_index = self.source(held).endswith("annotations")
        return self.is_mapping(held) and not is_index and self.form(held) in (None, Form.NUMBERS)

    def is_column(self, held: Held) -> bool:
        """Whether what is kept is a list of the cells of a table's column."""
        return self.source(held).endswith("column") and not self.is_mapping(held)

    def are_identifiers(self, held: Held) -> bool:
        """Whether there is one identifier of each record, numbers or texts."""
        return self.project.analysis(Records).are_identifiers(held.value)

    def is_indexed(self, held: Held) -> bool:
        """Whether code of its class selects an entry by a number, as it can from a list."""
        module, name = self.project.index.modules[held.route[0].path], held.holder.name
        write = module.write_at(name, held.route[0].span)
        owner = module.method_owner(write.function) if write is not None else -1
        family = self.evaluator.classes.family(self.evaluator.klass(module, owner)) if owner >= 0 else ()
        return Indexed(module).is_indexed(name, {index for other, index in family if other is module})

    def is_mapping(self, held: Held) -> bool:
        """Whether what is kept is a dictionary: it is made as one, or asked for its keys."""
        return is_mapping(held.value) or self._asked(held, by_key=False)

    def _asked(self, held: Held, by_key: bool) -> bool:
        """Whether code of its file asks a dictionary: for a key that is written out, or for its keys and values."""
        for part in self._parts_of_file(held):
            if by_key and _has_key(part) and is_called(part.args[0], held.holder.name):
                return True
            if not by_key and part.kind == "attribute" and part.name in _OF_MAPPINGS:
                if is_called(part.args[0], held.holder.name):
                    return True
        return False

    def _reads_keys(self, held: Held) -> bool:
        """Whether code of its file asks an entry for a key: `self.rows[i]["name"]`, or of `row = self.rows[i]`."""
        module = self.project.index.modules[held.route[0].path]
        for _, _, events in module.scopes:
            rows = {event.target.name for event in events if event.target and _is_entry(event.value, held.holder.name)}
            for event in events:
                for part in filter(_has_key, event.walk()):
                    row = part.args[0]
                    if (row.kind == "name" and row.name in rows) or _is_entry(row, held.holder.name):
                        return True
        return False

    def _parts_of_file(self, held: Held) -> Iterator[Expr]:
        module = self.project.index.modules[held.route[0].path]
        return (part for _, _, events in module.scopes for event in events for part in event.walk())


def _has_key(part: Expr) -> bool:
    """Whether an expression asks for a key that is written out."""
    return part.kind == "subscript" and isinstance(part.args[1].value, str)


def _is_entry(expr: Expr | None, name: str) -> bool:
    """Whether an expression is one element of an attribute."""
    taken = expr is not None and expr.kind == "subscript" and expr.args[1].kind != "slice"
    return taken and expr is not None and is_called(expr.args[0], name)


def _is_loaded(value: Value) -> bool:
    """Whether a value is, or is a part of, what is loaded from a file that may have anything in it."""
    return any(isinstance(item, ExtInst) and item.name in _LOADED for item in chain(value))


def _lists(value: ExtInst) -> bool:
    """Whether a value is what lists files gives, one of these, or made of one."""
    made = [item for item in chain(value) if isinstance(item, ExtInst)]
    called = {word for item in made for word in re.split(r"[.()\[\]]+", item.name)}
    paths = any(item.name.startswith(("os.path.", "pathlib.")) for item in made)
    return called.isdisjoint(_READ) and (paths or not called.isdisjoint(LISTING))


def _joined(expr: Expr) -> tuple[Expr, ...]:
    """The parts of an f-string or of a sum."""
    if expr.kind == "binop" and expr.name in "+%":
        return tuple(part for arg in expr.args for part in _joined(arg))
    if expr.kind == "call" and expr.args[0].name == "format":
        return expr.args[0].args
    return (expr,) if expr.kind in ("fstring", "constant") else ()


def _is_of_path(text: str) -> bool:
    return "/" in text or bool(_SUFFIX.search(text))
