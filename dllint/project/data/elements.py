"""What one element of a container is: a name, a path, or a row of Python objects."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from dllint.knowledge import DATASETS, FRAMES
from dllint.model.facts import Expr
from dllint.project.data.growth import COMBINES, LINEWISE, LISTING, MAKERS, Growth, chain, opens, reads_rows
from dllint.project.data.naming import means_folder, means_text, means_text_or_identifier, name_of
from dllint.project.data.tables import Tables
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, ExtMethod, Inst, Opaque, Seq, Value

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.project.data.contents import Contents

_PATHS = ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath")
_PATH_METHODS = frozenset({"joinpath", "with_suffix", "with_name", "resolve", "absolute", "relative_to", "expanduser"})
_TEXT_ATTRIBUTES = frozenset({"name", "stem", "suffix"})
_ENTRIES = (".scandir[]", ".infolist[]", ".getmembers[]")
_JOINS = frozenset({"join", "basename", "dirname", "abspath", "realpath", "normpath", "relpath"})
_STR_METHODS = frozenset({
    "strip", "rstrip", "lstrip", "replace", "format", "lower", "upper", "join", "as_posix", "decode", "readline",
    "removesuffix", "removeprefix", "title", "zfill", "hexdigest", "capitalize", "basename", "dirname",
})  # fmt: skip
_TOKENS = frozenset({
    "tokenize", "word_tokenize", "encode_as_ids", "encode_as_pieces", "EncodeAsIds", "EncodeAsPieces",
    "convert_tokens_to_ids", "text_to_sequence", "texts_to_sequences",
})  # fmt: skip
"""What makes a list of tokens, or of their numbers, of a text."""
_ENCODER = re.compile(r"token|bpe|spm|^sp$|^enc", re.IGNORECASE)
_GIVE_TEXT = frozenset({"builtins.str", "re.sub", "re.compile().sub", "re.escape", "unicodedata.normalize"})
"""Functions that give a text."""
_OF_TEXT = frozenset({"strip", "rstrip", "lstrip", "removesuffix", "removeprefix", "zfill", "as_posix", "hexdigest"})
"""Methods that only text has, or that give nothing else."""
_SPLITS = frozenset({"split", "rsplit", "partition", "rpartition"})
_HALVES = frozenset({"os.path.splitext", "os.path.split"})
_BLOCKS = (
    "numpy.", "torch.", "cv2.", "PIL.", "scipy.", "pandas.", "librosa.", "torchaudio.", "soundfile.", "imageio.",
    "nibabel.", "skimage.", "SimpleITK.", "trimesh.", "rasterio.", "tifffile.", "h5py.",
)  # fmt: skip
"""What these return are blocks of memory without reference counts inside."""
_ARRAYS = frozenset({
    "numpy.array", "numpy.asarray", "torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.LongTensor",
    "torch.FloatTensor",
})  # fmt: skip
"""What makes an array or a tensor of a list of numbers."""
_READ_BLOCKS = frozenset(
    {"load", "imread", "open", "read", "imdecode", "decode_image", "read_image", "memmap", "get_fdata"}
)
"""Functions and methods that read such a block from a file: an image, a recording, an array."""
_ROW_READERS = (
    "json.", "ujson.", "orjson.", "pickle.", "cPickle.", "six.moves.cPickle.", "dill.", "csv.DictReader", "csv.reader",
)  # fmt: skip
_EVALUATORS = frozenset({"builtins.eval", "ast.literal_eval"})
"""What makes an object of each line of text: a number would hardly be written as Python."""
_ROW_BASES = ("builtins.dict", "builtins.tuple", "collections.OrderedDict", "collections.UserDict")
PAIRS = COMBINES | {"builtins.zip", "builtins.enumerate"}
_GROUPS = frozenset({
    "collections.defaultdict()[]", "builtins.dict()[]", "collections.defaultdict().items[][]",
    "collections.defaultdict().values[]",
})  # fmt: skip
_STORED_NAMES = ("h5py.File[]", "h5py.File().keys[]")
"""What going over a file of arrays gives: the names that these have in it."""
_NAMED_TUPLES = frozenset({"collections.namedtuple()", "typing.NamedTuple()"})
_CONTAINERS = frozenset({
    "builtins.tuple", "builtins.list", "builtins.sorted", "builtins.dict", "types.SimpleNamespace",
    "argparse.Namespace", "easydict.EasyDict", "addict.Dict", "munch.Munch", "box.Box",
})  # fmt: skip

_MADE_ANEW = frozenset({"fstring", "binop", "tuple", "list", "dict", "call"})
"""Expressions of new objects, whatever they are made of."""


class Kind(Enum):
    """What a container of data-dependent length holds."""

    STR = "str"
    PATH = "Path"
    ROW = "row"


class Elements:
    """Answers what the elements of containers are."""

    def __init__(self, project: Project, contents: Contents) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)
        self.tables = project.analysis(Tables)
        self.contents = contents
        self._kinds: dict[Value, Kind | None] = {}

    def of(self, expr: Expr, env: Env) -> Kind | None:
        """What one element is; None for a number, for a block of memory, and for what is not known.

        Also None for one of a few constants: a list of these has the same few objects over and over.
        """
        return None if self.is_constant(expr, env) else self._of(expr, env)

    def is_constant(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is one of a few constants, of which there is one object each."""
        if expr.kind in _MADE_ANEW:
            return False
        values = self.evaluator.values(expr, env)
        return bool(values) and all(isinstance(value, Const) for value in values)

    def _of(self, expr: Expr, env: Env) -> Kind | None:
        if expr.kind == "fstring":
            return Kind.STR
        if expr.kind == "binop" and expr.name == "*" and any(arg.kind == "list" for arg in expr.args):
            return next((self._of(arg, env) for arg in expr.args if arg.kind == "list"), None)
        if expr.kind == "binop":
            inner = [self._of(arg, env) or (Kind.STR if isinstance(arg.value, str) else None) for arg in expr.args]
            if expr.name in "+%":
                return Kind.STR if Kind.STR in inner else None
            return Kind.PATH if expr.name == "/" and any(inner) and _is_joined(expr.args, inner) else None
        if expr.kind in ("tuple", "list", "dict"):
            return Kind.ROW if self._is_row(expr, env) else None
        values = self.evaluator.values(expr, env)
        if values and all(map(self._is_small_array, values)):
            return Kind.ROW
        if self.blocks((expr,), env):
            return None
        return next(filter(None, map(self.kind, values)), Kind.STR if _is_text(expr) else None)

    def _is_small_array(self, value: Value) -> bool:
        """Whether an array is made of a few numbers that are written or split: it is an object with a name's size."""
        if not isinstance(value, ExtInst) or value.name not in _ARRAYS or len(value.call.args) < 2:
            return False
        given = self.evaluator.values(value.call.args[1], value.env)
        return bool(given) and all(isinstance(numbers, Seq) and self._is_short(numbers) for numbers in given)

    def _is_short(self, numbers: Seq) -> bool:
        """Whether a list has what is written out, no other arrays, or what a text is split into."""
        expr, env = numbers.expr, numbers.env
        if expr.kind in ("list", "tuple"):
            starred = any(part.kind == "star" for part in expr.args)
            return bool(expr.args) and not starred and not self.blocks(expr.args, env)
        over = [part for key, part in expr.keywords if key == "in"] if expr.kind == "comprehension" else []
        return len(over) == 1 and any(map(splits_text, self.evaluator.values(over[0], env)))

    def kind(self, value: Value) -> Kind | None:
        """What an element is by its value; a row may contain itself."""
        return self.evaluator.ask(self._kinds, value, None, self._find_kind, value)

    def _find_kind(self, value: Value) -> Kind | None:
        match value:
            case Const(value=text) if isinstance(text, str):
                return Kind.STR
            case Inst():
                return None if self._is_source(value) else Kind.ROW
            case Seq(expr=expr, env=env) if expr.kind in ("tuple", "dict", "list"):
                row = self._is_row(expr, env) if expr.args else self._is_filled_row(value)
                return Kind.ROW if row or self.contents.of(value) else None
            case Seq(expr=expr, env=env) if expr.kind == "comprehension" and expr.name != "generator":
                return None if self.blocks(expr.args[-1:], env) else Kind.ROW
            case Opaque(expr=expr):
                return Kind.STR if _is_text(expr) else Kind.ROW if _tokenizes(expr) else None
            case ExtMethod(base=base, attribute=attribute):
                return self._of_attribute(base, attribute)
            case ExtInst() if value.name.endswith("[]"):
                return self._of_item(value)
            case ExtInst():
                return self._of_call(value)
        return None

    def _is_source(self, inst: Inst) -> bool:
        """Whether an object gives items: a list of datasets has one element a source, not one an item.

        A dictionary by another name is a row, and so is an object of a class that surely is no dataset: a molecule.
        What is called a dataset may give its items by a method of any name.
        """
        classes = self.evaluator.classes
        if classes.is_a(inst.klass, _ROW_BASES) is Answer.YES:
            return False
        name = inst.klass.facts.name.lower()
        if classes.method(inst, "__getitem__") is None:
            return name.endswith("dataset")
        return "dataset" in name or classes.is_a(inst.klass, DATASETS) is not Answer.NO

    def _of_attribute(self, base: Value, attribute: str) -> Kind | None:
        if attribute in _TEXT_ATTRIBUTES and self.kind(base) is Kind.PATH:
            return Kind.STR
        if attribute == "parent" and self.kind(base) is Kind.PATH:
            return Kind.PATH
        if isinstance(base, ExtInst) and base.name.endswith(_ENTRIES):
            return Kind.STR if means_text(attribute) else None
        row = isinstance(base, ExtInst) and base.name.endswith((".itertuples[]", ".iterrows[][]", ".iterrows[]"))
        return Kind.STR if row and means_text_or_identifier(attribute) else None

    def _of_call(self, made: ExtInst) -> Kind | None:
        name, last = made.name, made.name.rpartition(".")[2]
        if name in _GIVE_TEXT or (name.startswith("os.path.") and last in _JOINS) or last in _STR_METHODS:
            return Kind.STR
        if _tokenizes(made.call):
            return Kind.ROW
        if name in _PATHS or (last in _PATH_METHODS and made.base is not None):
            return Kind.PATH
        if (
            last in _SPLITS
            or name in _NAMED_TUPLES
            or (name in _CONTAINERS and (made.call.args[1:] or made.call.keywords))
        ):
            return Kind.ROW
        if name in MAKERS and not made.call.args[1:] and self._is_filled_row(made):
            return Kind.ROW
        if last == "join" and made.base is None:
            return Kind.STR  # `blobfile.join`
        read = (name.startswith(_ROW_READERS) and last != "get") or name in _EVALUATORS
        return Kind.ROW if read or self.contents.of(made) else None

    def _of_item(self, item: ExtInst) -> Kind | None:
        """An element of something external, or a part of one."""
        base, name = item.base, item.name
        if not isinstance(base, ExtInst):
            return None
        sliced = item.call.kind == "subscript" and item.call.args[1].kind == "slice"
        if sliced and base.name in _GROUPS and any(map(self.contents.of, chain(base.base))):
            return Kind.ROW
        last = base.name.rpartition(".")[2]
        if name in _STORED_NAMES:
            return Kind.STR
        if opens(base.name) and not sliced:
            return Kind.ROW if reads_rows(base.name) else Kind.STR
        if name.endswith((".walk[][][]", ".cursor[][]")) or base.name in _HALVES:
            return Kind.STR
        if last in _SPLITS or last in LINEWISE or name.endswith(("reader[][]", "DictReader[][]")):
            return Kind.ROW if sliced else Kind.STR
        if self.kind(base) is Kind.STR:
            return Kind.STR
        if last == "keys" and not sliced:
            return self._held_by(base)
        if name.endswith((".scandir[]", ".itertuples[]", ".iterrows[][]")):
            return Kind.ROW
        key = item.call.args[1].value if item.call.kind == "subscript" else None
        if isinstance(key, str) and self.tables.has_rows(base):
            return Kind.STR if means_text_or_identifier(key) else None
        if isinstance(key, str) and name.startswith("datasets.load_") and means_text_or_identifier(key):
            return Kind.STR
        if base.name in PAIRS and not any(arg.kind == "star" for arg in base.call.args):
            return Kind.ROW
        if name.startswith(_ROW_READERS):
            return None if name.endswith("[][][]") else Kind.ROW
        return self._held_by(base) if not base.name.endswith("[]") else None

    def _held_by(self, container: Value) -> Kind | None:
        found = self.contents.of(container)
        return found.kind if found is not None else None

    def _is_row(self, expr: Expr, env: Env) -> bool:
        """Whether a display is a row."""
        parts = expr.args[1::2] if expr.kind == "dict" else expr.args
        return self._are_row([(part, env) for part in parts], expr.kind == "dict")

    def _is_filled_row(self, made: Seq | ExtInst) -> bool:
        """Whether an empty display becomes a row: `row = {}`, `row["name"] = name`."""
        return self._are_row(self.evaluator.containers.put_in(made), mapping=True)

    def _are_row(self, parts: list[tuple[Expr, Env]], mapping: bool) -> bool:
        """Whether parts make a row: more than constants, and no block of memory with a name to it.

        An array of a few numbers beside a name, as a pose or a label, makes no block of it: what is read from a file
        does.
        """
        if not parts or all(part.kind == "constant" for part, _ in parts):
            return False
        blocks = [(part, env) for part, env in parts if self.blocks((part,), env)]
        few = len(blocks) * 2 < len(parts)
        if not blocks or (mapping and few):
            return True
        named = any(part.kind != "constant" and self._of(part, env) is not None for part, env in parts)
        read = any(_is_read(value) for part, env in blocks for value in self.evaluator.values(part, env))
        return (named or few) and not read

    def blocks(self, parts: tuple[Expr, ...], env: Env) -> bool:
        """Whether one of these is an array, a tensor or an image: few and large, not many and small."""
        return any(_is_block(value) for part in parts for value in self.evaluator.values(part, env))


def _is_block(value: Value) -> bool:
    """Whether a value was taken from a block; the keys of what was loaded are none, nor are lists of its numbers."""
    if isinstance(value, ExtInst) and (value.name in _STORED_NAMES or value.name.endswith((".keys[]", ".tolist"))):
        return False
    return any(
        isinstance(item, ExtInst)
        and item.name.startswith(_BLOCKS)
        and not item.name.startswith(FRAMES)
        and item.name.partition("()")[0].rpartition(".")[2] not in LISTING
        for item in chain(value)
    )


def _is_read(value: Value) -> bool:
    """Whether a block of memory comes from a file."""
    made = (item for item in chain(value) if isinstance(item, ExtInst) and item.call.kind == "call")
    return any(item.name.rpartition(".")[2] in _READ_BLOCKS for item in made if item.name.startswith(_BLOCKS))


def splits_text(value: Value) -> bool:
    """Whether a value is the pieces of a text, or some of them: `line.split()[1:]`."""
    while isinstance(value, ExtInst) and value.call.kind == "subscript" and value.call.args[1].kind == "slice":
        if value.base is None:
            return False
        value = value.base
    return isinstance(value, ExtInst) and value.call.kind == "call" and value.name.rpartition(".")[2] in _SPLITS


def _is_joined(sides: tuple[Expr, ...], kinds: list[Kind | None]) -> bool:
    """Whether `a / b` joins a path: what a file has may be a number, which divides, unless names tell otherwise."""
    if Kind.STR in kinds or Kind.PATH in kinds:
        return True
    return means_folder(name_of(sides[0])) or means_text(name_of(sides[1]))


def _tokenizes(call: Expr) -> bool:
    """Whether a call makes a list of tokens: `tokenizer.encode(text)`, not a tensor of them."""
    if call.kind != "call" or call.args[0].kind not in ("attribute", "name") or len(call.args) < 2:
        return False
    callee = call.args[0]
    encodes = callee.kind == "attribute" and callee.name == "encode" and bool(_ENCODER.search(callee.args[0].name))
    return (encodes or callee.name in _TOKENS) and call.keyword("return_tensors") is None


def _is_text(expr: Expr) -> bool:
    """Whether an expression surely is text, whatever it is made of: `root.replace("a", "b")`, `root + "/a"`."""
    if expr.kind == "binop" and expr.name in "+%":
        return any(map(_is_text, expr.args if expr.name == "+" else expr.args[:1]))
    if expr.kind != "call" or expr.args[0].kind != "attribute":
        return expr.kind == "fstring" or isinstance(expr.value, str)
    method, given = expr.args[0].name, expr.args[1:]
    return method in _OF_TEXT or (method == "replace" and any(isinstance(part.value, str) for part in given))
