"""Names for what a lambda does: `to_float`, `label_of`, `resize_to_256`."""

from __future__ import annotations

import ast
import builtins
import copy
import re
import unicodedata
from collections.abc import Iterator

from dllint.syntax.scoping import defaults

MOST = 30
"""Characters of a name that one still reads at a glance."""
_OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", ""),
    ast.Sub: ("subtract", ""),
    ast.Mult: ("multiply", "by"),
    ast.Div: ("divide", "by"),
    ast.FloorDiv: ("floor_divide", "by"),
    ast.Mod: ("modulo", ""),
    ast.Pow: ("power", ""),
    ast.MatMult: ("matmul", ""),
    ast.BitAnd: ("mask", ""),
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Gt: "is_above",
    ast.GtE: "is_at_least",
    ast.Lt: "is_below",
    ast.LtE: "is_at_most",
    ast.Eq: "is",
    ast.NotEq: "is_not",
    ast.Is: "is",
    ast.IsNot: "is_not",
    ast.In: "is_in",
    ast.NotIn: "is_not_in",
}
_TYPES = {
    "float",
    "int",
    "str",
    "bool",
    "list",
    "tuple",
    "set",
    "dict",
    "bytes",
    "long",
    "double",
    "half",
    "tensor",
} | {
    *("array", "asarray", "as_tensor", "from_numpy", "numpy", "byte", "tolist", "cuda", "cpu", "item"),
}
"""Functions and methods that make something of another type."""
_PLAIN = {"asarray": "array", "as_tensor": "tensor", "from_numpy": "tensor", "tolist": "list", "item": "number"}
_CONVERTING = {"to", "astype", "type", "convert", "resize", "reshape", "view", "view_as", "pad", "crop", "expand"}
"""Methods whose argument says what comes out."""
_FILTERS = {"bicubic", "bilinear", "box", "hamming", "lanczos", "nearest"}
"""What a resized image is computed with."""
_JOINING = {"stack", "cat", "concat", "concatenate", "hstack", "vstack"}
_ARITHMETIC = {"mul": "multiply_by", "div": "divide_by", "add": "add", "sub": "subtract", "pow": "power"}
_TESTING = {"startswith": "starts_with", "endswith": "ends_with", "isinstance": "is_a"}
_LOADING = {"open", "imread", "load", "read_image", "pil_loader", "default_loader"}
"""Functions that are given a path."""
_PASSING = {
    *("squeeze", "unsqueeze", "view", "contiguous", "clone", "copy", "detach", "item", "t", "transpose"),
}
"""Methods that say little of what the call does whose result they have: they only give it another shape."""
_TRANSPOSING = {"t", "transpose"}
_BARE = {*(verb for verb, _ in _OPERATIONS.values()), *_ARITHMETIC.values(), "item", "number", "view"}
_TABLE = re.compile(r"_(?:list|map|mapping|dict|table|array|lookup)$")
_FROM_TO = re.compile(r"[a-z]+_(?:to_|2_?)[a-z]+|[a-z]+2[a-z]+")
_ORDINALS = {0: "first", 1: "second", 2: "third", -1: "last"}
_CONSTANTS: dict[object, str] = {None: "none", "": "empty_text"}


def action(node: ast.Lambda) -> str:
    """A name for what a lambda does; "" if it takes too many words."""
    given = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    filled = {parameter.arg: value for parameter, value in defaults(node.args)}
    words = _of(_Filled(filled).visit(copy.deepcopy(node.body)), given - filled.keys())
    return words if len(words) <= MOST else ""


def is_bare(words: str) -> bool:
    """Whether a name says how something is done, but not with what: `add`."""
    return words in _BARE or len(words) < 2


class _Filled(ast.NodeTransformer):
    """The defaults in place of the parameters that have some, for their names say more: `x=labels[0]`."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = {name: value for name, value in values.items() if not isinstance(value, ast.Constant)}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def _of(body: ast.expr, parameters: set[str]) -> str:
    match body:
        case ast.Name(id=name):
            return "identity" if name in parameters else f"always_{snake(name)}"
        case ast.Constant(value=value):
            return _constant(value)
        case ast.Call():
            return _call(body, parameters)
        case ast.BinOp(left=left, op=operator, right=right):
            return _operation(left, operator, right, parameters)
        case ast.Compare(ops=[operator], comparators=[right]):
            return " ".join((_COMPARISONS[type(operator)], _named(right) or _character(right) or "limit")).replace(
                " ", "_"
            )
        case ast.Subscript(value=value, slice=index) if _reads(body, parameters):
            return _subscript(value, index, parameters)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in parameters:
            return f"{snake(attribute)}_of"
        case ast.Attribute(attr=attribute):
            return snake(attribute)
        case ast.UnaryOp(op=ast.USub()):
            return "negate"
        case ast.Tuple(elts=[]) | ast.List(elts=[]) | ast.Dict(keys=[]):
            return f"empty_{type(body).__name__.lower()}"
        case ast.Tuple(elts=elements):
            return _changed(elements, parameters) or ("to_pair" if len(elements) == 2 else "to_tuple")
        case ast.List():
            return "to_list"
        case ast.Dict(values=values):
            return _rebuilt(values, parameters) or "to_dict"
        case ast.DictComp():
            return "to_dict"
        case ast.ListComp(elt=element):
            inner = _of(element, parameters | _targets(body))
            return f"{inner}_each" if inner and "identity" not in inner else ""
        case ast.JoinedStr():
            return "format_text"
        case ast.IfExp(body=left, orelse=right):
            done = [item for item in (left, right) if not (isinstance(item, ast.Name) and item.id in parameters)]
            return _of(done[0], parameters) if len(done) == 1 and isinstance(done[0], ast.Call) else ""
    return ""


def _changed(elements: list[ast.expr], parameters: set[str]) -> str:
    """What is done to the only item that does not go through as it is: `(image / std, boxes, labels)`."""
    done = [item for item in elements if not isinstance(item, ast.Name)]
    if len(done) != 1 or len(elements) < 3 or not isinstance(done[0], (ast.BinOp, ast.Call)):
        return ""
    nested = any(isinstance(part, ast.BinOp) for part in ast.walk(done[0]) if part is not done[0])
    return _of(done[0], parameters) if not nested and _reads(done[0], parameters) else ""


def _rebuilt(values: list[ast.expr], parameters: set[str]) -> str:
    """What is done to the only item that a dictionary has otherwise than the one it is made of."""
    same = [item for item in values if isinstance(item, ast.Subscript) and _reads(item.value, parameters)]
    match [item for item in values if item not in same]:
        case [ast.Call(func=ast.Name(id=name), args=[ast.Subscript(value=whole)])] if _reads(whole, parameters):
            return f"apply_{snake(name)}"
        case [ast.Call(args=[ast.Subscript(value=whole)]) as done] if _reads(whole, parameters):
            return _of(done, parameters)
    return ""


def _targets(body: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(body) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _call(body: ast.Call, parameters: set[str]) -> str:
    function, arguments = body.func, body.args
    if isinstance(function, ast.Call):  # ToTensor()(image)
        return snake(_last(function.func))
    name = _last(function).strip("_")
    method = isinstance(function, ast.Attribute) and any(
        isinstance(part, ast.Name) and part.id in parameters for part in ast.walk(function.value)
    )
    if any(_last(getattr(part, "func", None)) == "zip" for part in arguments[:1]):
        return "zipped"
    if name == "join" and isinstance(function, ast.Attribute):
        return "path_of" if _last(function.value) == "path" else "join"
    each = next((item for item in arguments[:1] if isinstance(item, (ast.ListComp, ast.GeneratorExp))), None)
    if name in _JOINING and each is not None:
        return "_and_".join(word for word in (_of(each.elt, parameters | _targets(each)), name) if word)
    loaded = _loaded(body, parameters)
    if loaded:
        return loaded
    passed = _passed(body, parameters)
    if passed:
        return passed
    if name == "dict" and not arguments:
        return _rebuilt([item.value for item in body.keywords], parameters) or "to_dict"
    if name in _TYPES and (isinstance(function, ast.Attribute) or hasattr(builtins, name)):
        match arguments:
            case [ast.Subscript(value=table, slice=index)] if not _reads(table, parameters) and _reads(
                index, parameters
            ):
                return _looked_up(table)
        return f"to_{_PLAIN.get(name, name)}"
    given = next(iter(arguments if method else arguments[1:]), None) or next(
        (item.value for item in body.keywords), None
    )
    if method and name in _ARITHMETIC and given is not None and _named(given):
        return f"{_ARITHMETIC[name]}_{_named(given)}"
    if name.startswith("from_") and isinstance(function, ast.Attribute) and not method:
        owned = f"{snake(_last(function.value))}_{name}".strip("_")
        return owned if len(owned) <= MOST else snake(name)
    if name in _TESTING:
        return "_".join(word for word in (_TESTING[name], _named(given) if given is not None else "") if word)
    if name == "resize" and _filter(body):
        return f"resize_{_filter(body)}"
    if method and name in _CONVERTING and given is not None and _named(given) and _says_shape(name, arguments):
        base = "" if name in ("to", "astype", "type") else f"{name}_"
        return f"{base}to_{_named(given)}"
    mode = next((item.value for item in body.keywords if item.arg == "mode"), None)
    if name == "pad" and isinstance(mode, ast.Constant) and _named(mode):
        return f"{_named(mode)}_pad"
    if method and name in ("view", "reshape", "flatten"):
        shape = arguments[0].elts if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple) else arguments
        return "flatten" if len(shape) < 2 else "reshape"
    return snake(name)


def _filter(body: ast.Call) -> str:
    """`bilinear` where a call is told `Image.BILINEAR`."""
    given = (_last(item) for item in (*body.args, *(item.value for item in body.keywords)))
    return next((name.lower() for name in given if name.lower() in _FILTERS), "")


def _loaded(body: ast.Call, parameters: set[str]) -> str:
    """`Image.open(path).convert("RGB")` is `load_rgb`: a path is no image to convert."""
    called: list[ast.Call] = [body]
    while isinstance(called[-1].func, ast.Attribute) and isinstance(called[-1].func.value, ast.Call):
        called.append(called[-1].func.value)
    first, *others = reversed(called)
    if not others or _last(first.func) not in _LOADING or not first.args or not _reads(first.args[0], parameters):
        return ""
    converted = [item for item in others if _last(item.func) == "convert" and item.args]
    what = _named(converted[0].args[0]) if converted else ""
    return f"load_{what}" if what else "load_image" if "Image" in ast.unparse(first.func) else "load"


def _passed(body: ast.Call, parameters: set[str]) -> str:
    """What the call before the last does, where the last only gives its result another shape; "" elsewhere."""
    match body:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr=name)) if name in _PASSING:
            shape = _shape(inner)
            return f"transpose_{shape}" if shape and name in _TRANSPOSING else _call(inner, parameters)
    return ""


def _shape(body: ast.Call) -> str:
    """`3x1024` for `view(3, 1024)`."""
    numbers = [_number(item) for item in body.args]
    known = _last(body.func) in ("view", "reshape") and len(numbers) > 1
    return "x".join(map(str, numbers)) if known and all(number and number > 0 for number in numbers) else ""


def _says_shape(name: str, arguments: list[ast.expr]) -> bool:
    """Whether the first argument says what comes out: one of several lengths does not, but the only new one."""
    if name == "expand":
        return len(arguments) > 1 and _number(arguments[0]) != -1 and all(_number(item) == -1 for item in arguments[1:])
    return len(arguments) < 2 or name not in ("view", "reshape")


def _operation(left: ast.expr, operator: ast.operator, right: ast.expr, parameters: set[str]) -> str:
    """`x * 2` is `multiply_by_2`, `(x - mean) / std` is `subtract_mean_divide_by_std`."""
    if isinstance(operator, (ast.Div, ast.FloorDiv)) and isinstance(left, ast.Name) and _number(right) == 2:
        return "halve"
    if type(operator) not in _OPERATIONS:
        return ""
    verb, preposition = _OPERATIONS[type(operator)]
    mirrored = isinstance(operator, (ast.Add, ast.Mult)) and not _reads(left, parameters)
    value, other = (right, left) if mirrored else (left, right)
    if isinstance(operator, ast.Add) and any(_is_random(part) for part in ast.walk(other)):
        return "add_noise"
    if _reads(other, parameters) and not isinstance(other, ast.Constant):
        return verb
    if _is_scaled(value) and isinstance(operator, (ast.Mult, ast.Div)):
        return "quantize"
    first = "" if isinstance(value, (ast.Name, ast.Constant)) else _of(value, parameters)
    if (is_bare(first) and not isinstance(value, (ast.Name, ast.Constant))) or not (first or _named(other)):
        return verb if isinstance(value, ast.Name) else ""
    words = [first, verb, preposition if _named(other) else "", _named(other)]
    return "_".join(word for word in words if word)


def _is_scaled(node: ast.expr) -> bool:
    """Whether an expression rounds what is multiplied or divided: `floor(x / step)`."""
    match node:
        case ast.Call(args=[ast.BinOp(op=ast.Mult() | ast.Div())]):
            return _last(node.func) in ("floor", "round", "rint", "trunc", "ceil")
    return False


def _is_random(node: ast.AST) -> bool:
    """Whether a part of an expression makes as many random numbers as there are others."""
    return isinstance(node, ast.Call) and _last(node.func) in ("rand", "randn", "rand_like", "randn_like")


def _reads(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _subscript(value: ast.expr, index: ast.expr, parameters: set[str]) -> str:
    if not _reads(value, parameters):
        return _looked_up(value)
    if isinstance(index, ast.Slice) or (
        isinstance(index, ast.Tuple) and any(isinstance(part, ast.Slice) for part in index.elts)
    ):
        return "select"
    number = _number(index)
    if number is not None:
        return _ORDINALS.get(number, f"item_{number}" if number >= 0 else "")
    name = _named(index)
    return f"{name}_of" if name else "item"


def _looked_up(table: ast.expr) -> str:
    """What a table has for something, as the table's name says: `label_of` for `labels`."""
    name = _named(table)
    if _FROM_TO.fullmatch(name):
        return name
    of = _TABLE.sub("", name)
    if of != name or _singular(name):
        return f"{_singular(of) or of}_of"
    return f"look_up_{name}" if name else ""


def _singular(name: str) -> str:
    """One of what a plural names; "" for other names."""
    return name[:-1] if len(name) > 3 and name[-1] == "s" and name[-2] not in "aius" else ""


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def _character(node: ast.expr) -> str:
    """The name of a character that is no word: `comma`."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or len(node.value) != 1:
        return ""
    return "_".join(_words(unicodedata.name(node.value, "").lower()))


def _constant(value: object) -> str:
    match value:
        case bool():
            return f"always_{value}".lower()
        case int() | float():
            return f"always_{_digits(value)}"
    known = _CONSTANTS.get(value) if isinstance(value, (str, type(None))) else None
    return known or (snake(value) if isinstance(value, str) else "")


def _digits(value: float) -> str:
    whole = int(value) if isinstance(value, int) or value.is_integer() else None
    text = str(whole) if whole is not None else repr(value)
    return text.replace("-", "minus_").replace(".", "_").replace("+", "")


def _named(node: ast.expr) -> str:
    """A word for an operand."""
    match node:
        case ast.Constant(value=bool() | None as value):
            return str(value).lower()
        case ast.Constant(value=int() | float() as value):
            return _digits(value)
        case ast.Constant(value=str(text)):
            return snake(text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"minus_{_named(operand)}" if _named(operand) else ""
        case ast.Tuple(elts=[first, *others]) | ast.List(elts=[first, *others]):
            same = all(ast.dump(item) == ast.dump(first) for item in others)
            names = [_named(first), *map(_named, others)]
            return names[0] if same else "_".join(names) if len(names) == 2 and all(names) else ""
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(text))]):
            return snake(text)
        case ast.Subscript(value=value, slice=ast.Constant(value=int(index))) if index in _ORDINALS:
            one = _singular(_named(value))
            return f"{_ORDINALS[index]}_{one}" if one else _named(value)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            name = snake(_last(node))
            return name if len(name) > 1 else ""
    return ""


def _last(node: ast.AST | None) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name
        case ast.Subscript(slice=index, value=value):
            return (isinstance(index, ast.Constant) and _last(index)) or _last(value)
        case ast.Call(func=function):
            return _last(function)
    return ""


def snake(name: str) -> str:
    """A name in lower case, words apart: `ToTensor` is `to_tensor`. "" for what is no word."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    words = "_".join(_words(words))
    return "" if len(words) > MOST else words.lower()


def _words(text: str) -> Iterator[str]:
    return (word for word in re.split(r"[^A-Za-z0-9]+", text) if word)
