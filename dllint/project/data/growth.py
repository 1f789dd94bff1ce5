"""Expressions that grow with the data: they have as many elements as there are files, lines, rows or annotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.knowledge import ANNOTATION_INDEXES, FRAMES
from dllint.model.facts import Block, Event, Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, ExtMethod, Inst, Opaque, Seq, Value
from dllint.project.evaluate.collections import is_made_below
from dllint.project.evaluate.shapes import GENERATOR
from dllint.project.loaders.arguments import event_of
from dllint.project.program.events import PROGRESS

if TYPE_CHECKING:
    from dllint.project import Project

READ = {
    "json.load": "JSON", "json.loads": "JSON", "ujson.load": "JSON", "ujson.loads": "JSON", "orjson.loads": "JSON",
    "simplejson.load": "JSON", "mmcv.load": "a file", "mmengine.load": "a file", "mmengine.fileio.load": "a file",
    "mmcv.fileio.load": "a file", "pickle.load": "a pickle", "pickle.loads": "a pickle", "cPickle.load": "a pickle",
    "_pickle.load": "a pickle", "dill.load": "a pickle", "joblib.load": "a pickle",
    "six.moves.cPickle.load": "a pickle", "msgpack.load": "a file", "msgpack.loads": "a file",
    "msgpack.unpack": "a file", "msgpack.unpackb": "a file",
    **ANNOTATION_INDEXES,
    "nuscenes.nuscenes.NuScenes": "nuScenes tables", "nuscenes.NuScenes": "nuScenes tables",
    "lyft_dataset_sdk.lyftdataset.LyftDataset": "nuScenes tables",
}  # fmt: skip
"""Callables that return Python containers as large as a file, with what they read."""
_TO_FRAME = ".to_pandas"
RECORDS = frozenset({"Bio.SeqIO.parse", "Bio.AlignIO.parse", "pysam.FastxFile", "pysam.VariantFile"})
"""What gives the records of a file one by one, each a Python object."""
LISTING = frozenset({
    "glob", "iglob", "rglob", "listdir", "iterdir", "scandir", "walk", "getnames", "namelist", "getmembers", "infolist",
    "find_files", "list_files", "list_dir", "list_dir_or_file", "ls",
    "list_images", "paths_from_folder",
})  # fmt: skip
"""Functions that list files, in every library: `os`, `pathlib`, `blobfile`, `fsspec`, `tensorflow.io.gfile`, `imutils`,
`basicsr` (read in its source).
"""
LINEWISE = frozenset({"readlines", "splitlines", "list_from_file"})
"""Functions and methods that return a list of lines; the last one is that of `mmcv` (read in its source)."""
_SPLIT_FILE = re.compile(
    r"\.(?:read|read_text|FileClient\(\)\.get_text)\(\)(?:\.(?:strip|rstrip|lstrip|decode|replace)\(\))*\.split$"
)
_OPENERS = frozenset({"open", "GFile", "BlobFile", "smart_open", "xopen", "reader", "DictReader", "FileInput"})
_NO_LINES = ("PIL.", "lmdb.", "wave.", "rasterio.", "tarfile.", "zipfile.", "av.", "h5py.")
_ARROW = ("pyarrow.", "polars.read_", "polars.scan_")
_TABLES = frozenset({
    "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "h5py.File", "scipy.io.loadmat", "datasets.load_dataset",
})  # fmt: skip
_COPIES = frozenset({
    "builtins.sorted", "builtins.list", "builtins.tuple", "builtins.reversed", "builtins.set", "builtins.filter",
    "builtins.frozenset", "builtins.iter", "copy.copy", "copy.deepcopy", "natsort.natsorted", "natsort.os_sorted",
    "random.sample", "itertools.islice", "itertools.chain", "builtins.dict", "collections.OrderedDict",
    "collections.deque", "sklearn.utils.shuffle", "sklearn.model_selection.train_test_split[]",
})  # fmt: skip
"""What gives the elements of what it is given: in another order, or fewer of them."""
_STRIPS = (".strip", ".rstrip", ".lstrip", ".decode")
_JOINED_TABLES = frozenset({"pandas.concat", "pandas.merge"})
_OF_SETS = (".copy", ".union", ".intersection", ".difference", ".symmetric_difference")
_NESTED = frozenset({"itertools.chain.from_iterable", "builtins.sum"})
"""Functions that return the elements of the elements."""
COMBINES = frozenset({
    "itertools.combinations", "itertools.permutations", "itertools.product", "itertools.pairwise",
    "itertools.zip_longest",
})  # fmt: skip
"""Functions that return tuples of the elements that they are given."""
_AS_MANY = COMBINES | {"builtins.enumerate", "builtins.zip", "builtins.range", "builtins.len", "builtins.map"}
_MAPS = frozenset({"map", "imap", "imap_unordered", "starmap", "map_async"})
_VIEWS = frozenset({"keys", "values", "items", "copy", "tolist", "iterrows", "itertuples", "unique"})
MAKERS = frozenset({
    "builtins.dict", "builtins.list", "builtins.set", "collections.defaultdict", "collections.OrderedDict",
    "collections.deque",
})  # fmt: skip
"""What makes a container that is filled later."""
SMALL = 5000
"""So many elements are few: a slice that ends there is short."""
_VAST = 100_000
MAX_CALLERS = 2


Container = Seq | ExtInst | Opaque
"""A display, what a call makes, or `[None] * length`."""
Often = Callable[[Block, Env], bool]
"""Whether a loop runs often."""


class Filling(NamedTuple):
    """A place that fills a container, in one activation."""

    container: Container
    env: Env
    event: Event
    grouped: bool
    """Whether it fills one that is an element of the container: `groups[key].append(row)`."""
    what: Expr
    """The call, the subscript that is assigned to, or what is added."""


class Growth:
    """Answers whether containers and loops grow with the data."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self._known: dict[Value, bool] = {}
        self._written: dict[Value, bool] = {}

    def loops(self, iterable: Expr, env: Env) -> bool:
        """Whether a loop over an expression runs as often as there are files, lines, rows or records."""
        return any(map(self.grows, self.evaluator.values(iterable, env)))

    def repeats(self, filling: Filling) -> bool:
        """Whether such a loop fills a container, which is made before it."""
        return self.in_loop(filling.event, filling.env, MAX_CALLERS, filling.container)

    def may_repeat(self, filling: Filling) -> bool:
        """Whether any loop fills a container but those over what is written out."""
        return self.in_loop(filling.event, filling.env, MAX_CALLERS, filling.container, self._may_run_often)

    def in_loop(
        self, event: Event, env: Env, callers: int, made: Container | None = None, often: Often | None = None
    ) -> bool:
        """Whether code runs in such a loop, here or where its function is called; `often`: which loops these are.

        What is made in a round of the loop, or by the call, is another one each time.
        """
        often = often or self._runs_often
        here = made is not None and (made.env.module, made.env.function) == (env.module, env.function)
        for index in env.module.enclosing(event.block):
            block = env.module.block(index)
            if made is not None and here and block.start <= place_of(made).start < block.end:
                return False
            if often(block, env):
                return True
        places = self.called_from(env) if callers and not here else ()
        return any(self.in_loop(*place, callers - 1, made, often) for place in places)

    def _runs_often(self, block: Block, env: Env) -> bool:
        if block.kind == "while":
            return any(self._counts(test, env) for test in _ends(block, env))
        return block.kind == "for" and block.test is not None and self.loops(block.test, env)

    def _may_run_often(self, block: Block, env: Env) -> bool:
        return block.kind == "while" or (
            block.kind == "for" and block.test is not None and self.may_be_long(block.test, env)
        )

    def may_be_long(self, iterable: Expr, env: Env) -> bool:
        """Whether it isn't seen that a loop is over what is written out, or over a small range."""
        values = self.evaluator.values(iterable, env)
        return not values or not all(map(self._is_written, values))

    def _is_written(self, value: Value) -> bool:
        return self.evaluator.ask(self._written, value, False, self._find_written, value)

    def _find_written(self, value: Value) -> bool:
        match value:
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                return not any(self.may_be_long(part, env) for key, part in expr.keywords if key == "in")
            case Seq(expr=expr):
                return bool(expr.args) and not any(part.kind == "star" for part in expr.args)
            case Const():
                return True
            case ExtInst(name="builtins.range", call=call, env=env):
                return all(self._is_limit(arg, env) or self._is_short_length(arg, env) for arg in call.args[1:])
            case ExtInst(name=name, call=call, env=env) if call.kind == "call" and (
                name in _COPIES or name in _AS_MANY
            ):
                return not any(self.may_be_long(arg, env) for arg in call.args[1:])
            case ExtInst(name=name, base=base) if name.rpartition(".")[2] in _VIEWS and base is not None:
                return self._is_written(base)
            case ExtInst(name=name, call=call):
                return name.endswith(".split") and call.kind == "call"
        return False

    def _is_short_length(self, count: Expr, env: Env) -> bool:
        return count.kind == "call" and count.args[0].name == "len" and not self.may_be_long(count.args[-1], env)

    def _counts(self, test: Expr, env: Env) -> bool:
        """`while number < len(rows)`, `while line` where that is the next line of a file."""
        lengths = (part for part in test.walk() if part.kind == "call" and part.args[0].name == "len")
        if any(self.loops(part.args[1], env) for part in lengths if len(part.args) > 1):
            return True
        tested = (part for part in test.walk() if part.kind in ("name", "call"))
        return any(self._is_line(value) for part in tested for value in self.evaluator.values(part, env))

    def read_until(self, loop: Block, env: Env) -> Iterator[ExtInst]:
        """The next lines whose end ends a `while` loop: `while line`, `while True` with `if not line: break`."""
        for test in _ends(loop, env):
            for part in test.walk():
                for value in self.evaluator.values(part, env) if part.kind in ("name", "call") else ():
                    if isinstance(value, ExtInst) and self._is_line(value):
                        yield value

    def _is_line(self, value: Value) -> bool:
        """Whether a value is the next line of a file, stripped maybe."""
        while isinstance(value, ExtInst) and value.base is not None and value.name.endswith(_STRIPS):
            value = value.base
        return isinstance(value, ExtInst) and value.name.endswith(".readline") and self.from_data(value)

    def called_from(self, env: Env) -> Iterator[tuple[Event, Env]]:
        """Where the function is called whose activation this is, if it isn't a constructor."""
        if env.function < 0 or env.facts.name == "__init__":
            return
        if env.call is not None and env.caller is not None:
            found = event_of(env.caller, env.call)
            if found is not None:
                yield found, env.caller
            return
        for site, _ in self.evaluator.call_sites.callers(env.module, env.function):
            scope = self.evaluator.generic(site.module, site.function)
            found = event_of(scope, site.expr)
            if found is not None:
                yield found, scope

    def grows(self, value: Value) -> bool:
        """Whether a container, or what is looped over, has an element for each of many."""
        return self.evaluator.ask(self._known, value, False, self._grows, value)

    def _grows(self, value: Value) -> bool:
        if self.from_data(value) or any(map(self.grows, self.copied(value))) or self._of_joined_tables(value):
            return True
        match value:
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                return any(self.loops(iterable, env) for key, iterable in expr.keywords if key == "in")
            case Seq() | ExtInst(name="builtins.dict" | "builtins.list" | "collections.defaultdict"):
                return self._filled(value)
            case ExtInst(name="builtins.zip[]", base=ExtInst(name="builtins.zip", call=call, env=env)):
                return len(call.args) == 2 and call.args[1].kind == "star" and self.loops(call.args[1].args[0], env)
            case ExtInst(name=name, base=ExtInst() as base) if name.startswith("numpy.") and name.endswith("[]"):
                return self.grows(base)  # `np.where(mask)[0]`
            case ExtInst(name=name) if name == GENERATOR:
                yields = self.evaluator.containers.yields(value)
                return any(self.in_loop(event, scope, 0) for event, _, scope in yields)
            case ExtInst(name=name, call=call, env=env, base=base) if call.kind == "call":
                last = name.rpartition(".")[2]
                if name in MAKERS:
                    return self._filled(value)
                if name == "builtins.range" and self.is_vast(call, env):
                    return True
                if name == "builtins.zip" and any(map(self.grows, self._starred(call, env))):
                    return True  # `zip(*columns)`
                if name in _AS_MANY or last in PROGRESS or name.startswith("numpy.") or maps_in_pool(name):
                    return any(self.loops(arg, env) for arg in call.args[1:])
                return last in _VIEWS and base is not None and self.grows(base)
            case Opaque(expr=expr, env=env) if expr.kind == "binop":
                return any(self.loops(arg, env) for arg in expr.args)
            case Inst():
                return self._counts_many(value)
        return False

    def _counts_many(self, inst: Inst) -> bool:
        """Whether an object is as long as something that grows: `__len__` returns `len(self.rows)`."""
        method = self.evaluator.classes.method(inst, "__len__")
        return method is not None and any(map(self.grows, self.evaluator.calls.returned(method.func, None, None, inst)))

    def is_vast(self, iterable: Expr, env: Env) -> bool:
        """Whether a range is so long, by a default of an option maybe, that each of as many objects is small."""
        if iterable.kind != "call" or iterable.args[0].name != "range":
            return False
        ends = (value for arg in iterable.args[1:] for value in self.evaluator.values(arg, env))
        return any(isinstance(end, Const) and isinstance(end.value, int) and end.value >= _VAST for end in ends)

    def from_data(self, value: Value) -> bool:
        """Whether a value was taken out of a file, a table or a listing: a row, a column, a line."""
        loaders = self.evaluator.loaders
        return any(
            isinstance(part, ExtInst) and (part.name in loaders or _is_source(part.name)) for part in chain(value)
        )

    def _of_joined_tables(self, value: Value) -> bool:
        """Whether a value is taken from a table that is put together of others: `pd.concat([train, test])["name"]`."""
        made = (part for part in chain(value) if isinstance(part, ExtInst) and part.name in _JOINED_TABLES)
        given = ((arg, part.env) for part in made if part.call.kind == "call" for arg in part.call.args[1:])
        joined = (table for arg, env in given for table in self.evaluator.values(arg, env))
        return any(self.grows(part) for table in joined for part in (table, *self._elements(table)))

    def copied(self, value: Value) -> Iterator[Value]:
        """The containers that a value has its elements from."""
        match value:
            case ExtInst(call=call, base=base) if call.kind == "subscript" and base is not None:
                if isinstance(base, ExtInst) and f"{base.name}[]" in _COPIES:  # `train_test_split(names)[0]`
                    yield from self._given(base.call, base.env)
                elif call.args[1].kind == "slice" and not self._is_short(call.args[1], value.env):
                    yield base
            case ExtInst(name=name, call=call, env=env) if name in _COPIES or _progresses(name):
                made = value.base if name.endswith("[]") else value
                yield from self._given(made.call, made.env) if isinstance(made, ExtInst) else ()
            case ExtInst(name=name, call=call, env=env) if name in _NESTED and len(call.args) > 1:
                for outer in self.evaluator.values(call.args[1], env):
                    yield from self._elements(outer)
            case ExtInst(name=name, base=base, call=call, env=env) if name.endswith(_OF_SETS) and base is not None:
                yield base
                yield from self._given(call, env) if name.endswith(".union") else ()
            case Seq(expr=expr, env=env) if expr.kind in ("list", "tuple", "set"):
                for part in expr.args:
                    yield from self.evaluator.values(part.args[0], env) if part.kind == "star" else ()
            case Opaque(expr=expr, env=env) if expr.kind == "binop" and expr.name in "+*-&|":
                for part in expr.args[:1] if expr.name == "-" else expr.args:
                    yield from self.evaluator.values(part, env)

    def _given(self, call: Expr, env: Env) -> Iterator[Value]:
        """The arguments of a call that copies: all expressions that it may take elements from."""
        short = call.args[0].name in ("sample", "islice") and any(map(_is_few, call.args[2:]))
        if not short:
            yield from self._starred(call, env)
            for arg in call.args[1:]:
                yield from self.evaluator.values(arg, env) if arg.kind not in ("lambda", "star") else ()

    def _starred(self, call: Expr, env: Env) -> Iterator[Value]:
        """The elements that a call is given each as an argument: those of `rows` in `zip(*rows)`."""
        for arg in call.args[1:]:
            for outer in self.evaluator.values(arg.args[0], env) if arg.kind == "star" else ():
                yield from self._elements(outer)

    def chained(self, value: Value) -> Iterator[Value]:
        """What is joined to one container, where it is as many as there are lines or files: `chain(*rows)`."""
        if not isinstance(value, ExtInst) or value.call.kind != "call" or len(value.call.args) < 2:
            return
        given = value.call.args[1]
        if value.name not in _NESTED and not (value.name == "itertools.chain" and given.kind == "star"):
            return
        for outer in self.evaluator.values(given.args[0] if given.kind == "star" else given, value.env):
            yield from self._elements(outer) if self.grows(outer) else ()

    def _elements(self, value: Value) -> Iterator[Value]:
        if isinstance(value, Seq):
            yield from self.evaluator.containers.elements(value)
        else:
            yield value

    def _is_short(self, piece: Expr, env: Env) -> bool:
        """`[:100]`, and `[:limit]` where that is always a small number."""
        start, *stops = piece.args[:2]
        return start.kind == "none" and any(self._is_limit(stop, env) for stop in stops)

    def _is_limit(self, stop: Expr, env: Env) -> bool:
        if stop.kind not in ("name", "attribute"):
            return _is_few(stop)
        values = self.evaluator.values(stop, env)
        return bool(values) and all(isinstance(value, Const) and _is_number(value.value) for value in values)

    def _filled(self, container: Value) -> bool:
        """Whether a loop over data, or something that grows, fills a container."""
        for filling in self.fillings(container):
            what = filling.what
            given: tuple[Expr, ...] = ()
            if filling.event.kind == "augment" and what.kind not in ("list", "tuple"):
                given = (what,)
            elif what.kind == "call" and what.args[0].name in ("extend", "update"):
                given = what.args[1:]
            if any(self.loops(arg, filling.env) for arg in given) or self.repeats(filling):
                return True
        return False

    def fillings(self, container: Value) -> Iterator[Filling]:
        """The places that fill a container."""
        if not isinstance(container, (Seq, ExtInst, Opaque)):
            return
        for scope, event, receiver, what in self.evaluator.containers.mutations_around(container.env):
            kept = receiver.args[0] if receiver.kind == "subscript" else receiver
            if receiver.kind == "call" and receiver.args[0].name == "setdefault":
                kept = receiver.args[0].args[0]
            if kept.kind not in ("name", "attribute") or is_made_below(container, scope, event, kept):
                continue
            grouped = kept is not receiver and self._is_kept_in(kept, scope, container)
            if grouped or self._is_kept_in(receiver, scope, container):
                yield Filling(container, scope, event, grouped, what)

    def _is_kept_in(self, receiver: Expr, scope: Env, container: Container) -> bool:
        """Whether a receiver may be a container, also as an attribute that is set on an object of a library."""
        if container in self.evaluator.values(receiver, scope):
            return True
        if receiver.kind != "attribute" or receiver.name not in scope.module.attribute_writes:
            return False
        bases = (base for base in self.evaluator.values(receiver.args[0], scope) if isinstance(base, ExtInst))
        for write, env in (pair for base in bases for pair in self.evaluator.attributes.written_on(base)):
            alone = write.event.target is write.target and write.target.name == receiver.name
            if alone and write.event.value is not None and container in self.evaluator.values(write.event.value, env):
                return True
        return False


def place_of(made: Container) -> Expr:
    """The display or the call that makes something."""
    return made.call if isinstance(made, ExtInst) else made.expr


def chain(value: Value | None) -> Iterator[Value]:
    """A value and what it was taken from."""
    while value is not None:
        yield value
        value = value.base if isinstance(value, (ExtInst, ExtMethod)) else None


def is_frame(value: Value) -> bool:
    """Whether a value is a table of pandas that was read, or made of one of another library."""
    if not isinstance(value, ExtInst):
        return False
    return (value.base is None and value.name.startswith(FRAMES)) or value.name.endswith(_TO_FRAME)


def opens(name: str) -> bool:
    """Whether a callable gives something of which a loop reads lines, rows or records."""
    return name in RECORDS or (name.rpartition(".")[2] in _OPENERS and not name.startswith(_NO_LINES))


def splits_file(name: str) -> bool:
    """Whether a call splits all of a file: `file.read().strip().split`, `path.read_text().split`."""
    return bool(_SPLIT_FILE.search(name))


def reads_rows(name: str) -> bool:
    """Whether what a callable gives is looped over row by row, not line by line."""
    last = name.rpartition(".")[2]
    return last in ("reader", "DictReader") or name.startswith("jsonlines.") or name in RECORDS


def _ends(loop: Block, env: Env) -> Iterator[Expr]:
    """The tests that may end a `while` loop: its own or, of `while True`, those inside of it."""
    if loop.test is not None and loop.test.kind != "constant":
        yield loop.test
        return
    for block in env.module.model.blocks:
        if block.test is not None and block.kind in ("if", "while") and loop.start <= block.start < loop.end:
            yield block.test


def _is_source(name: str) -> bool:
    last = name.rpartition(".")[2]
    if name in READ or name in _TABLES or name.startswith((*FRAMES, *_ARROW, "torchvision.datasets.")) or opens(name):
        return True
    if goes_through_store(name):
        return True
    return last in LISTING or last in LINEWISE or splits_file(name)


def goes_through_store(name: str) -> bool:
    """Whether a callable gives the entries of an LMDB environment: its cursor, or an iterator of that."""
    return name.startswith("lmdb.") and name.removesuffix("()").rpartition(".")[2] in ("cursor", "iternext", "iterprev")


def _progresses(name: str) -> bool:
    return name.rpartition(".")[2] in PROGRESS


def maps_in_pool(name: str) -> bool:
    """Whether a callable calls a function on each element: `pool.imap`, `executor.map`."""
    return name.rpartition(".")[2] in _MAPS and ("Pool" in name or "Executor" in name or name.startswith("joblib."))


def _is_few(expr: Expr) -> bool:
    return _is_number(expr.value)


def _is_number(value: object) -> bool:
    """Whether a constant is a small number."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= SMALL
