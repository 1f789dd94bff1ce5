"""What containers that grow with the data are made of: names, paths, or rows of Python objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.data.growth import FRAMES, LINEWISE, LISTING, READ, Growth, chain, opens
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, ExtMethod, Func, Inst, Seq, Value
from dllint.project.evaluate.shapes import GENERATOR
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

_PATHS = ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath")
_PATH_LISTING = frozenset({"rglob", "iterdir"})
_PATH_METHODS = frozenset({"joinpath", "with_suffix", "with_name", "resolve", "absolute", "relative_to", "expanduser"})
_TEXT_ATTRIBUTES = frozenset({"name", "stem", "suffix"})
_JOINS = frozenset({"join", "basename", "dirname", "abspath", "realpath", "normpath", "relpath"})
_STR_METHODS = frozenset({
    "strip", "rstrip", "lstrip", "replace", "format", "lower", "upper", "join", "as_posix", "decode", "readline",
    "removesuffix", "removeprefix", "title", "zfill", "hexdigest", "capitalize", "basename", "dirname",
})  # fmt: skip
_SPLITS = frozenset({"split", "rsplit", "partition", "rpartition"})
_HALVES = frozenset({"os.path.splitext", "os.path.split"})
_TABLE_ROWS = (".to_dict", ".values.tolist", ".to_numpy().tolist", ".itertuples", ".iterrows", ".to_records")
_TABLES = (*FRAMES, "pandas.DataFrame", "pandas.concat", "pandas.merge", "pandas.Series")
_TEXT = re.compile(
    r"(?:^|_)(?:path|file|fname|filename|name|img|image|url|uri|caption|text|sentence|title|id|key)s?(?:_|$)",
    re.IGNORECASE,
)
"""Columns and keys under which text stands, by their names."""
_BLOCKS = (
    "numpy.", "torch.", "cv2.", "PIL.", "scipy.", "pandas.", "librosa.", "torchaudio.", "soundfile.", "imageio.",
    "nibabel.", "skimage.", "SimpleITK.", "trimesh.", "rasterio.", "tifffile.", "h5py.",
)  # fmt: skip
"""What these return are blocks of memory without reference counts inside."""
_ROW_READERS = (
    "json.", "ujson.", "orjson.", "pickle.", "cPickle.", "six.moves.cPickle.", "dill.", "csv.DictReader", "csv.reader",
)  # fmt: skip
_ROW_BASES = ("builtins.dict", "builtins.tuple", "collections.OrderedDict", "collections.UserDict")
_PAIRS = frozenset({"builtins.zip", "builtins.enumerate"})
_CONTAINERS = frozenset({"builtins.tuple", "builtins.list", "builtins.sorted", "builtins.dict"})
_MAPPINGS = frozenset({"builtins.dict", "collections.defaultdict", "collections.OrderedDict"})
_LISTS = frozenset({"builtins.list", "collections.deque"})
_MADE, FILLED = "made of data, row by row", "filled in a loop over data"


class Kind(Enum):
    """What a container of data-dependent length holds."""

    STR = "str"
    PATH = "Path"
    ROW = "row"


class Content(NamedTuple):
    """What a container holds, where that comes from, in words, and where it is filled if that is elsewhere."""

    kind: Kind
    source: str
    filled: tuple[str, Span, Expr] | None = None


class Contents:
    """Answers what containers hold."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)
        self._known: dict[Value, Content | None] = {}

    def of(self, value: Value) -> Content | None:
        """What a container of data-dependent length holds; None when it is not seen to be one."""
        return self.evaluator.ask(self._known, value, None, self._of, value)

    def _among(self, values: Iterable[Value]) -> Content | None:
        return next(filter(None, map(self.of, values)), None)

    def _in(self, expr: Expr, env: Env) -> Content | None:
        return self._among(self.evaluator.values(expr, env))

    def _of(self, value: Value) -> Content | None:
        match value:
            case ExtInst():
                return self._external(value) or self._copied(value)
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                return self._comprehension(expr, env)
            case Seq(expr=expr) if expr.kind in ("list", "tuple", "dict"):
                return self._filled(value, mapping=expr.kind == "dict") or self._copied(value)
        return self._copied(value)

    def _copied(self, value: Value) -> Content | None:
        keys = isinstance(value, ExtInst) and value.name not in _MAPPINGS and not value.name.endswith("copy")
        for inner in self.growth.copied(value):
            found = self._keys(inner) if keys and _is_mapping(inner) else self.of(inner)
            if found is not None:
                return Content(found.kind, found.source)
        return None

    def _keys(self, mapping: Value) -> Content | None:
        """What the keys of a dictionary are: it gives them where it is copied into a list."""
        if isinstance(mapping, Seq) and mapping.expr.kind == "comprehension":
            kind = self.element(mapping.expr.args[0], mapping.env) if self.growth.grows(mapping) else None
            return Content(kind, _MADE) if kind is not None else None
        for scope, event, _, what in self.growth.fillings(mapping):
            key = _key_of(event, what)
            found = self._each((key,), event, scope) if key is not None else None
            if found is not None:
                return found
        return None

    def _external(self, value: ExtInst) -> Content | None:
        name, call, base = value.name, value.call, value.base
        last = name.rpartition(".")[2]
        if name in READ:
            return Content(Kind.ROW, f"read from {READ[name]}")
        if call.kind == "subscript" and base is not None:
            return self._part(call.args[1], base)
        if call.kind != "call" or name.endswith("[]"):
            return self._of_column(value) or (self._of_groups(value) if name == "builtins.list[]" else None)
        if name == GENERATOR:
            return self._yielded(value)
        if last in LISTING or last in LINEWISE or name.endswith(".read().split"):
            path = last in _PATH_LISTING or (last == "glob" and base is not None)
            return Content(Kind.PATH if path else Kind.STR, _MADE)
        if name.endswith(_TABLE_ROWS) and base is not None and self._is_table(base):
            return Content(Kind.ROW, "made of a table's rows")
        if name in _PAIRS and not any(arg.kind == "star" for arg in call.args) and self.growth.grows(value):
            return Content(Kind.ROW, _MADE)
        if name == "builtins.map" and len(call.args) > 2 and self.growth.grows(value):
            return self._mapped(call, value.env)
        if name == "numpy.random.choice().tolist" and isinstance(base, ExtInst):
            return self._in(base.call.args[1], base.env) if len(base.call.args) > 1 else None
        if last in ("tolist", "unique") and base is not None and self._is_text_column(base):
            return Content(Kind.STR, "made of a table's column")
        if last in ("values", "items", "get") and base is not None:
            return self._rows(self.of(base))
        if last == "keys" and base is not None:
            return self._keys(base) if _is_mapping(base) else self._keys_read(base)
        if name in _MAPPINGS or name in _LISTS:
            return self._filled(value, mapping=name in _MAPPINGS)
        return None

    def _part(self, key: Expr, base: Value) -> Content | None:
        """What stands under a key of what a file or a container holds."""
        if key.kind == "slice" or isinstance(key.value, int):
            return None
        return self._rows(self.of(base))

    def _keys_read(self, base: Value) -> Content | None:
        """The keys of what was read: names, as JSON has no others."""
        found = self.of(base)
        return Content(Kind.STR, found.source) if found is not None and "JSON" in found.source else None

    def _rows(self, found: Content | None) -> Content | None:
        return found if found is not None and found.kind is Kind.ROW else None

    def _of_column(self, part: ExtInst) -> Content | None:
        """`names, labels = zip(*rows)`: each is as long as the rows."""
        made = part.base
        copies = self.growth.copied(made) if isinstance(made, ExtInst) and made.name != "builtins.zip" else (made,)
        for zipped in copies:
            if isinstance(zipped, ExtInst) and zipped.name == "builtins.zip" and len(zipped.call.args) == 2:
                rows = zipped.call.args[1]
                if rows.kind == "star" and self._in(rows.args[0], zipped.env):
                    return Content(Kind.ROW, _MADE)
        return None

    def _of_groups(self, copy: ExtInst) -> Content | None:
        """What an element of `list(groups.values())` holds."""
        made = copy.base
        if not isinstance(made, ExtInst) or len(made.call.args) < 2:
            return None
        for view in self.evaluator.values(made.call.args[1], made.env):
            if isinstance(view, ExtInst):
                found = self._among(self.evaluator.containers.viewed(view))
                if found is not None:
                    return found
        return None

    def _is_table(self, value: Value) -> bool:
        parts = [part for part in chain(value) if isinstance(part, ExtInst) and part.name.startswith(_TABLES)]
        return any(part.name.startswith(FRAMES) or self.growth.grows(arg) for part in parts for arg in self._args(part))

    def _args(self, made: ExtInst) -> Iterator[Value]:
        for arg in made.call.args[1:]:
            yield from self.evaluator.values(arg, made.env)
        yield made

    def _is_text_column(self, value: Value) -> bool:
        """`table["path"]`, `table.path`: a column that holds text, by its name."""
        if not isinstance(value, (ExtInst, ExtMethod)) or value.base is None:
            return False
        key = value.attribute if isinstance(value, ExtMethod) else value.call.args[-1].value
        return isinstance(key, str) and bool(_TEXT.search(key)) and self._is_table(value.base)

    def _mapped(self, call: Expr, env: Env) -> Content | None:
        for function in self.evaluator.values(call.args[1], env):
            kind = None
            if isinstance(function, Ext):
                kind = {"builtins.str": Kind.STR, "pathlib.Path": Kind.PATH}.get(function.name)
            elif isinstance(function, Func):
                returned = self.evaluator.calls.returned(function, None, None)
                kind = next(filter(None, map(self._kind, returned)), None)
            if kind is not None:
                return Content(kind, _MADE)
        return None

    def _yielded(self, generator: ExtInst) -> Content | None:
        for event, item, env in self.evaluator.containers.yields(generator):
            kind = self.element(item, env) if self.growth.in_loop(event, env, 0) else None
            if kind is not None:
                return Content(kind, _MADE)
        return None

    def _comprehension(self, expr: Expr, env: Env) -> Content | None:
        if not any(self.growth.loops(iterable, env) for key, iterable in expr.keywords if key == "in"):
            return None
        kind = self.element(expr.args[-1], env)
        if expr.name == "dict":
            kind = Kind.ROW if kind or self._is_shared(expr, env) else None
        return Content(kind, _MADE) if kind is not None else None

    def _is_shared(self, expr: Expr, env: Env) -> bool:
        """`{name: dataset for name in names}`: an entry a name, whatever it leads to."""
        element = expr.args[-1]
        own = {part.name for key, target in expr.keywords if key == "for" for part in target.walk()}
        values = self.evaluator.values(element, env) if element.kind == "name" and element.name not in own else ()
        return any(isinstance(value, Inst) for value in values)

    # Containers that loops fill.

    def _filled(self, container: Seq | ExtInst, mapping: bool) -> Content | None:
        for scope, event, grouped, what in self.growth.fillings(container):
            found = self._put(event, what, scope, grouped)
            if found is not None:
                kind = Kind.ROW if mapping or grouped else found.kind
                place = scope.module.path, Span(event.start, event.end), _receiver(event, what)
                return Content(kind, found.source, place)
        return None

    def _put(self, event: Event, what: Expr, scope: Env, grouped: bool) -> Content | None:
        """What is put into a container; `grouped`: into one that stands in it, `groups[name].append(row)`."""
        if event.kind == "augment":
            return self._each(what.args, event, scope) if what.kind in ("list", "tuple") else self._in(what, scope)
        if what.kind == "subscript":
            return self._each((event.value,) if event.value is not None else (), event, scope)
        method, args = what.args[0].name, what.args[1:]
        if method in ("extend", "update") and args:
            return self._each(args[0].args, event, scope) if args[0].kind == "list" else self._in(args[0], scope)
        if method in ("append", "add", "appendleft", "insert", "setdefault") and args:
            found = self._each(args[-1:], event, scope)
            return found or (Content(Kind.ROW, FILLED) if grouped and self.growth.in_loop(event, scope) else None)
        return None

    def _each(self, items: Iterable[Expr], event: Event, scope: Env) -> Content | None:
        """What a loop over data puts into a container piece by piece."""
        kind = next((kind for item in items if (kind := self.element(item, scope))), None)
        return Content(kind, FILLED) if kind is not None and self.growth.in_loop(event, scope) else None

    # Elements.

    def element(self, expr: Expr, env: Env) -> Kind | None:
        """What one element is; None for a number, for a block of memory, and for what is not known."""
        if expr.kind == "fstring":
            return Kind.STR
        if expr.kind == "binop":
            inner = [self.element(arg, env) or (Kind.STR if isinstance(arg.value, str) else None) for arg in expr.args]
            if expr.name in "+%":
                return Kind.STR if Kind.STR in inner else None
            return Kind.PATH if expr.name == "/" and any(inner) else None
        if expr.kind in ("tuple", "list", "dict"):
            return Kind.ROW if self._is_row(expr, env) else None
        values = self.evaluator.values(expr, env)
        if self._blocks((expr,), env):
            return None
        return next(filter(None, map(self._kind, values)), None)

    def _kind(self, value: Value) -> Kind | None:
        match value:
            case Const(value=text) if isinstance(text, str):
                return Kind.STR
            case Inst():
                # A list of datasets has one element a source, not one an item; a dictionary by another name is a row.
                indexed = self.evaluator.classes.method(value, "__getitem__") is not None
                own = not indexed or self.evaluator.classes.is_a(value.klass, _ROW_BASES) is Answer.YES
                return Kind.ROW if own else None
            case Seq(expr=expr, env=env) if expr.kind in ("tuple", "dict", "list"):
                return Kind.ROW if self._is_row(expr, env) or self.of(value) else None
            case Seq(expr=expr, env=env) if expr.kind == "comprehension" and expr.name != "generator":
                return None if self._blocks(expr.args[-1:], env) else Kind.ROW
            case ExtMethod(base=base, attribute=attribute):
                return self._of_attribute(base, attribute)
            case ExtInst() if value.name.endswith("[]"):
                return self._of_item(value)
            case ExtInst():
                return self._of_call(value)
        return None

    def _of_attribute(self, base: Value, attribute: str) -> Kind | None:
        if attribute in _TEXT_ATTRIBUTES and self._kind(base) is Kind.PATH:
            return Kind.STR
        if attribute == "parent" and self._kind(base) is Kind.PATH:
            return Kind.PATH
        row = isinstance(base, ExtInst) and base.name.endswith((".itertuples[]", ".iterrows[][]", ".iterrows[]"))
        return Kind.STR if row and _TEXT.search(attribute) else None

    def _of_call(self, made: ExtInst) -> Kind | None:
        name, last = made.name, made.name.rpartition(".")[2]
        if name == "builtins.str" or (name.startswith("os.path.") and last in _JOINS) or last in _STR_METHODS:
            return Kind.STR
        if name in _PATHS or (last in _PATH_METHODS and made.base is not None):
            return Kind.PATH
        if last in _SPLITS or (name in _CONTAINERS and (made.call.args[1:] or made.call.keywords)):
            return Kind.ROW
        if last == "join" and made.base is None:
            return Kind.STR  # `blobfile.join`
        read = name.startswith(_ROW_READERS) and last != "get"
        return Kind.ROW if read or self.of(made) else None

    def _of_item(self, item: ExtInst) -> Kind | None:
        """An element of something external, or a part of one."""
        base, name = item.base, item.name
        if not isinstance(base, ExtInst):
            return None
        sliced = item.call.kind == "subscript" and item.call.args[1].kind == "slice"
        last = base.name.rpartition(".")[2]
        if opens(base.name) and not sliced:
            rows = last in ("reader", "DictReader") or base.name.startswith("jsonlines.")
            return Kind.ROW if rows else Kind.STR
        if name.endswith(".walk[][][]") or base.name in _HALVES:
            return Kind.STR
        if last in _SPLITS or last in LINEWISE or name.endswith(("reader[][]", "DictReader[][]")):
            return Kind.ROW if sliced else Kind.STR
        if self._kind(base) is Kind.STR:
            return Kind.STR
        if name.endswith(".scandir[]"):
            return Kind.ROW
        key = item.call.args[1].value if item.call.kind == "subscript" else None
        if isinstance(key, str) and self._is_table(base):
            return Kind.STR if _TEXT.search(key) else None
        if base.name in _PAIRS and not any(arg.kind == "star" for arg in base.call.args):
            return Kind.ROW
        if name.startswith(_ROW_READERS):
            return None if name.endswith("[][][]") else Kind.ROW
        found = self.of(base)
        return found.kind if found is not None and not base.name.endswith("[]") else None

    def _is_row(self, expr: Expr, env: Env) -> bool:
        """Whether a display is a row: more than constants, and no block of memory with a name to it."""
        parts = expr.args[1::2] if expr.kind == "dict" else expr.args
        if not parts or all(part.kind == "constant" for part in parts):
            return False
        blocks = sum(self._blocks((part,), env) for part in parts)
        return not blocks if expr.kind != "dict" else blocks * 2 < len(parts)

    def _blocks(self, parts: tuple[Expr, ...], env: Env) -> bool:
        """Whether one of these is an array, a tensor or an image: few and large, not many and small."""
        return any(
            isinstance(item, ExtInst) and item.name.startswith(_BLOCKS) and not item.name.startswith(FRAMES)
            for part in parts
            for value in self.evaluator.values(part, env)
            for item in chain(value)
        )


def _is_mapping(value: Value) -> bool:
    if isinstance(value, Seq):
        return value.expr.kind == "dict" or (value.expr.kind, value.expr.name) == ("comprehension", "dict")
    return isinstance(value, ExtInst) and value.name in _MAPPINGS


def _key_of(event: Event, what: Expr) -> Expr | None:
    """The key under which something is put: of `d[key] = x`, `d[key].append(x)`, `d.setdefault(key, []).append(x)`."""
    if event.kind == "augment":
        return None
    if what.kind == "call" and what.args[0].name != "setdefault":
        what = what.args[0].args[0]
    return what.args[1] if what.kind in ("subscript", "call") and len(what.args) > 1 else None


def _receiver(event: Event, what: Expr) -> Expr:
    """What is filled: `self.rows` in `self.rows += rows`, `self.rows[key] = row` and `self.rows.append(row)`."""
    if event.kind == "augment" and event.target is not None:
        return event.target
    return what.args[0].args[0] if what.kind == "call" else what.args[0]
