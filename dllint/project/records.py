"""Python containers whose length depends on data, of something larger than names: rows, dictionaries, annotations."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Answer, Evaluator
from dllint.project.listings import Listings
from dllint.project.values import Env, ExtInst, ExtMethod, Inst, Klass, Seq, Value
from dllint.source import Span

_READ = {
    "json.load": "JSON", "json.loads": "JSON", "ujson.load": "JSON", "ujson.loads": "JSON", "orjson.loads": "JSON",
    "simplejson.load": "JSON", "mmcv.load": "a file", "mmengine.load": "a file", "mmengine.fileio.load": "a file",
    "pickle.load": "a pickle", "pickle.loads": "a pickle", "cPickle.load": "a pickle", "_pickle.load": "a pickle",
    "dill.load": "a pickle",
    "six.moves.cPickle.load": "a pickle", "pycocotools.coco.COCO": "COCO annotations", "lvis.LVIS": "LVIS annotations",
    "pycocotools.COCO": "COCO annotations", "lvis.lvis.LVIS": "LVIS annotations",
}  # fmt: skip
"""Callables that return Python containers as large as a file, with what they read."""
_FRAMES = ("pandas.read_",)
_ROWS = (".to_dict", ".values.tolist", ".to_numpy().tolist")
_SAME = frozenset({
    "builtins.sorted", "builtins.list", "builtins.tuple", "builtins.dict", "builtins.reversed", "builtins.filter",
    "natsort.natsorted", "random.sample", "copy.deepcopy",
})  # fmt: skip
_VIEWS = frozenset({"values", "items", "copy"})
_THROUGH = frozenset({
    "builtins.enumerate", "builtins.zip", "builtins.iter", "builtins.sorted", "builtins.list", "builtins.reversed",
    "builtins.range", "builtins.len", "builtins.set", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.trange", "builtins.map",
    "builtins.filter",
})  # fmt: skip
_ROWWISE = frozenset({"csv.reader", "csv.DictReader", "jsonlines.open", "os.walk", "os.scandir", "builtins.open"})
_BLOCKS = ("numpy.", "torch.", "cv2.", "PIL.", "scipy.", "pandas.", "librosa.", "torchaudio.", "soundfile.", "imageio.")
"""What these return are blocks of memory without reference counts inside."""
_ROW_READERS = (
    "json.", "ujson.", "orjson.", "pickle.", "cPickle.", "six.moves.cPickle.", "dill.", "csv.DictReader", "csv.reader",
)  # fmt: skip
_ROW_BASES = ("builtins.dict", "builtins.tuple", "collections.OrderedDict", "collections.UserDict")
MAX_DEPTH = 6
COCO_DATASETS = frozenset({
    "torchvision.datasets.CocoDetection", "torchvision.datasets.CocoCaptions",
    "torchvision.datasets.coco.CocoDetection", "torchvision.datasets.coco.CocoCaptions",
})  # fmt: skip
"""Datasets of torchvision that keep a COCO index and read it for each item (read in their sources)."""


class Records:
    """Answers where containers of records come from."""

    def __init__(self, evaluator: Evaluator, listings: Listings) -> None:
        self.evaluator = evaluator
        self.listings = listings
        self._known: dict[Value, str] = {}
        self._fills: dict[Value, tuple[str, Span, Expr]] = {}

    def of(self, value: Value) -> str:
        """Where the records of a container come from, in words; "" when it is not seen to be one."""
        if value not in self._known:
            self._known[value] = ""
            self._known[value] = self._of(value)
        return self._known[value]

    def filled_at(self, value: Value, attribute: str) -> tuple[str, Span] | None:
        """Where an empty container is filled, if it is filled as that attribute: its length comes from there."""
        self.of(value)
        empty = isinstance(value, Seq) and not value.expr.args
        path, span, receiver = self._fills.get(value, ("", Span(0, 0), None))
        kept = receiver.args[0] if receiver is not None and receiver.kind == "subscript" else receiver
        return (
            (path, span) if empty and kept is not None and kept.kind == "attribute" and kept.name == attribute else None
        )

    def of_expression(self, expr: Expr, env: Env) -> str:
        """The same for an expression."""
        return next((found for value in self.evaluator.values(expr, env) if (found := self.of(value))), "")

    def _of(self, value: Value) -> str:
        match value:
            case ExtInst():
                return self._external(value)
            case Seq(expr=expr, env=env) if expr.kind == "comprehension" and expr.name != "generator":
                return self._comprehension(expr, env)
            case Seq(expr=expr) if expr.kind in ("list", "tuple", "dict"):
                return self._filled(value)
        return ""

    def _external(self, value: ExtInst) -> str:
        name, call, base = value.name, value.call, value.base
        if call.kind == "subscript" and base is not None:
            number = isinstance(call.args[1].value, int)
            return "" if number else self.of(base)
        if name == "builtins.list[]" and isinstance(base, ExtInst):
            return self._of_copy(base)
        if name in _READ:
            return f"read from {_READ[name]}"
        if call.kind != "call" or name.endswith("[]"):
            return ""
        if name == "numpy.random.choice().tolist" and isinstance(base, ExtInst) and len(base.call.args) > 1:
            return self.of_expression(base.call.args[1], base.env)
        if name.endswith(_ROWS) and base is not None and self.from_data(base):
            return "made of a table's rows"
        if base is not None and name.rpartition(".")[2] in (*_VIEWS, "get"):
            return self.of(base)
        if name in _SAME and len(call.args) > 1:
            return self.of_expression(call.args[-1 if name == "builtins.filter" else 1], value.env)
        if name in ("builtins.dict", "builtins.list", "collections.defaultdict", "collections.OrderedDict"):
            return self._filled(value)
        return ""

    def _of_copy(self, copy: ExtInst) -> str:
        """What an element of `list(groups.values())` holds."""
        for view in self.evaluator.values(copy.call.args[1], copy.env) if len(copy.call.args) > 1 else ():
            if isinstance(view, ExtInst):
                found = next(filter(None, map(self.of, self.evaluator.containers.viewed(view))), "")
                if found:
                    return found
        return ""

    def _comprehension(self, expr: Expr, env: Env) -> str:
        if not any(self.over_data(iterable, env) for key, iterable in expr.keywords if key == "in"):
            return ""
        element = expr.args[-1]
        found = self._is_record(element, env) or (expr.name == "dict" and self._is_shared(expr, env))
        return "made of data, row by row" if found else ""

    def _is_shared(self, expr: Expr, env: Env) -> bool:
        """`{name: dataset for name in names}`: an entry a name, whatever it leads to."""
        element = expr.args[-1]
        own = {part.name for key, target in expr.keywords if key == "for" for part in target.walk()}
        values = self.evaluator.values(element, env) if element.kind == "name" and element.name not in own else ()
        return any(isinstance(value, Inst) for value in values)

    # Datasets of others.

    def coco_index(self, klass: Klass) -> tuple[str, Span] | None:
        """Where a class gets torchvision's COCO index: its call of the base's `__init__`, or its header."""
        if self.evaluator.classes.is_a(klass, COCO_DATASETS) is not Answer.YES:
            return None
        own = klass.facts.methods.get("__getitem__")
        if own is not None and not any(_reads_index(event) for event in klass.module.events(own)):
            return None
        init = klass.facts.methods.get("__init__")
        for event in klass.module.events(init) if init is not None else ():
            for part in event.walk():
                if part.kind == "call" and part.args[0].name == "__init__":
                    return klass.module.path, part.span
        return klass.module.path, klass.facts.header

    # Containers that loops fill.

    def _filled(self, container: Seq | ExtInst) -> str:
        for scope, event, receiver, what in self.evaluator.containers.mutations_around(container.env):
            kept = receiver.args[0] if receiver.kind == "subscript" else receiver
            if kept.kind not in ("name", "attribute"):
                continue
            grouped = kept is not receiver and container in self.evaluator.values(kept, scope)
            if not grouped and container not in self.evaluator.values(receiver, scope):
                continue
            found = self._put(event, what, scope, grouped)
            if found:
                self._fills[container] = scope.module.path, Span(event.start, event.end), receiver
                return found
        return ""

    def _put(self, event: Event, what: Expr, scope: Env, grouped: bool) -> str:
        """What is put into a container; `grouped`: into one that stands in it, `groups[name].append(row)`."""
        if event.kind == "augment":
            return self.of_expression(what, scope) if what.kind != "list" else ""
        if what.kind == "subscript":
            value, text = event.value, "filled in a loop over data"
            keyed = value is not None and self._is_record(value, scope) and self._in_data_loop(event.block, scope)
            return text if keyed else ""
        method, args = what.args[0].name, what.args[1:]
        if method in ("extend", "update") and args:
            return self.of_expression(args[0], scope)
        if method in ("append", "add") and args and self._in_data_loop(event.block, scope):
            return "filled in a loop over data" if grouped or self._is_record(args[0], scope) else ""
        return ""

    def _in_data_loop(self, block: int, scope: Env) -> bool:
        blocks = (scope.module.block(index) for index in scope.module.enclosing(block))
        return any(
            facts.kind == "for" and facts.test is not None and self.over_data(facts.test, scope) for facts in blocks
        )

    def over_data(self, iterable: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether a loop over an expression runs as often as there are files, lines, rows or records."""
        return any(self._is_data(value, depth) for value in self.evaluator.values(iterable, env))

    def _is_data(self, value: Value, depth: int) -> bool:
        if self.listings.of(value) is not None or self.of(value) or self.from_data(value):
            return True
        if isinstance(value, Seq) and value.expr.kind == "comprehension" and depth:
            clauses = [iterable for key, iterable in value.expr.keywords if key == "in"]
            return any(self.over_data(iterable, value.env, depth - 1) for iterable in clauses)
        if isinstance(value, ExtInst) and depth and (value.name in _THROUGH or value.name.startswith("numpy.")):
            return any(self.over_data(arg, value.env, depth - 1) for arg in value.call.args[1:])
        return False

    def from_data(self, value: Value) -> bool:
        """Whether a value was taken out of a file, a table or a listing: a row, a column, a line."""
        return any(
            isinstance(part, ExtInst) and (part.name in _READ or part.name in _ROWWISE or part.name.startswith(_FRAMES))
            for part in _chain(value)
        )

    def _is_record(self, expr: Expr, env: Env) -> bool:
        """Whether an element is more than a number, and no block of memory."""
        if expr.kind in ("tuple", "list", "dict"):
            parts = expr.args[1::2] if expr.kind == "dict" else expr.args
            if not parts or all(part.kind == "constant" for part in parts):
                return False
            blocks = sum(self._blocks((part,), env) for part in parts)
            return not blocks if expr.kind != "dict" else blocks * 2 < len(parts)
        values = self.evaluator.values(expr, env)
        if self._blocks((expr,), env):
            return False
        return any(self._is_object(value) for value in values)

    def _is_object(self, value: Value) -> bool:
        match value:
            case Inst():
                # A list of datasets has one element a source, not one an item; a dictionary by another name is a row.
                indexed = self.evaluator.classes.method(value, "__getitem__") is not None
                return not indexed or self.evaluator.classes.is_a(value.klass, _ROW_BASES) is Answer.YES
            case Seq(expr=expr, env=env) if expr.kind in ("tuple", "dict"):
                return self._is_record(expr, env)
            case Seq(expr=expr) if expr.kind == "comprehension":
                return expr.name == "dict"
            case ExtInst(name="builtins.dict", call=call):
                return bool(call.keywords or call.args[1:])
            case ExtInst(name=name):
                return name.startswith(_ROW_READERS) and not name.endswith(("[][][]", ".get"))
        return False

    def _blocks(self, parts: tuple[Expr, ...], env: Env) -> bool:
        """Whether one of these is an array, a tensor or an image: few and large, not many and small."""
        return any(
            isinstance(item, ExtInst) and item.name.startswith(_BLOCKS) and not item.name.startswith(_FRAMES)
            for part in parts
            for value in self.evaluator.values(part, env)
            for item in _chain(value)
        )


def _chain(value: Value | None) -> Iterator[Value]:
    """A value and what it was taken from."""
    while value is not None:
        yield value
        value = value.base if isinstance(value, (ExtInst, ExtMethod)) else None


def _reads_index(event: Event) -> bool:
    """Whether code of a COCO dataset asks its base for an item, or the index for annotations."""
    names = {part.name for part in event.walk()}
    return "__getitem__" in names or "coco" in names or bool(names & {"_load_target", "_load_image"})
