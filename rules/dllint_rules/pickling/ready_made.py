"""Something that exists already and does what a lambda does: a built-in type, a library's function."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import NamedTuple

from dllint import Event, Expr, Function, Import, ModuleModel, flat_targets

_EMPTY = {"list": "list", "dict": "dict", "tuple": "tuple"}
"""Displays without elements; an empty set has none."""
_TYPES = {"int", "float", "str", "bool", "bytes", "complex", "list", "dict", "tuple", "set", "frozenset"}
_CONTAINERS = {"defaultdict", "Counter", "OrderedDict", "deque"}
"""Classes of `collections` that can be made from nothing."""
BY_NAME = {
    "torch": {
        *("as_tensor", "cat", "concat", "from_numpy", "hstack", "manual_seed", "set_num_threads", "stack", "tensor"),
        *("BoolTensor", "ByteTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "Tensor"),
        *("load", "flatten", "squeeze", "log", "sqrt", "sigmoid"),
    },
    "torch.utils.data": {"default_collate", "default_convert"},
    "torch.utils.data.dataloader": {"default_collate"},
    "torch.utils.data._utils.collate": {"default_collate", "default_convert"},
    "torch.nn.utils.rnn": {"pack_sequence", "pad_sequence"},
    "numpy": {
        *("array", "asarray", "ascontiguousarray", "concatenate", "hstack", "stack", "vstack", "load", "squeeze"),
        *("abs", "exp", "float32", "log", "log1p", "sqrt", "transpose"),
        *("argmax", "argmin", "copy", "fliplr", "flipud", "max", "mean", "min", "ravel", "rot90", "sum", "unique"),
    },
    "json": {"dumps", "load", "loads"},
    "pickle": {"loads"},
    "math": {"ceil", "exp", "floor", "log", "sqrt"},
    "os.path": {"abspath", "basename", "dirname", "exists", "isdir", "isfile"},
    "pandas": {"read_csv"},
    "PIL.Image": {"fromarray", "open"},
    "scipy.io": {"loadmat"},
    "skimage.color": {"gray2rgb", "rgb2gray", "rgb2lab"},
    "skimage.io": {"imread"},
    "skimage.measure": {"label"},
}
"""Functions that pickle by their names. What looks like one elsewhere may be a method: `random.seed` and
`numpy.random.shuffle` take a copy of the generator along, and the worker's own stays as it was."""


class ReadyMade(NamedTuple):
    """Text that does the same as a lambda and pickles, and the imports that it needs."""

    text: str
    imports: tuple[Import, ...] = ()


def body_of(function: Function) -> Expr | None:
    """What a function that does nothing else returns."""
    returned = [event.value for event in function.events if event.kind == "return"]
    return returned[0] if len(returned) == len(function.events) == 1 else None


def ready_made_factory(model: ModuleModel, function: Function) -> ReadyMade | None:
    """A type, or a `functools.partial` of types, that makes the same value as a lambda without parameters."""
    body = body_of(function)
    return None if body is None or function.parameters else _factory(model, body, function)


def _factory(model: ModuleModel, body: Expr, function: Function) -> ReadyMade | None:
    name = _type_of(body)
    if name:
        return ReadyMade(name) if is_builtin(model, name, function) else None
    if body.kind != "call" or body.keywords:
        return None
    made = body.args[0]
    if _is_from(model, made, "collections", _CONTAINERS):
        if len(body.args) == 1:
            return ReadyMade(made.dotted)
        if len(body.args) == 2 and _is_from(model, made, "collections", {"defaultdict"}):
            return _partial(model, made, body.args[1], function)
    return None


def _partial(model: ModuleModel, made: Expr, argument: Expr, function: Function) -> ReadyMade | None:
    """`defaultdict(argument)` as a `functools.partial`."""
    inner = _type_itself(model, argument, function)
    if inner is None:
        return None
    from dllint import reference

    partial, imports = reference(model, "functools", "partial", made.start)
    wanted = (*inner.imports, *(item for item in imports if item not in inner.imports))
    return ReadyMade(f"{partial}({made.dotted}, {inner.text})", wanted)


def _type_itself(model: ModuleModel, argument: Expr, function: Function) -> ReadyMade | None:
    """A factory as an argument: a built-in type, a lambda that a type can replace, or a partial of such."""
    match argument:
        case Expr(kind="name", name=name) if name in _TYPES and is_builtin(model, name, function):
            return ReadyMade(name)
        case Expr(kind="name" | "attribute") if _is_fixed(model, argument):
            return ReadyMade(argument.dotted)
        case Expr(kind="constant", value=None):
            return ReadyMade("None")
        case Expr(kind="lambda", ref=index):
            return ready_made_factory(model, model.functions[index])
        case Expr(kind="call", args=(partial, made, inner), keywords=()) if _is_from(
            model, partial, "functools", {"partial"}
        ) and _is_from(model, made, "collections", {"defaultdict"}):
            return _partial(model, made, inner, function)
    return None


def _is_fixed(model: ModuleModel, expression: Expr) -> bool:
    """Whether a name means one thing in the whole module: what one import or definition above makes it."""
    root = expression.dotted.partition(".")[0]
    defined = any(
        event.kind in ("def", "class") and event.name == root and event.block < 0 and event.end <= expression.start
        for event in model.events
    )
    return _is_imported(model, root, expression.start) or (defined and times_bound(model, root) == 1)


def _type_of(body: Expr) -> str:
    """The built-in type whose call without arguments makes this value."""
    match body:
        case Expr(kind="constant", value=value) if value is not None and not value:
            return "" if isinstance(value, float) and math.copysign(1, value) < 0 else type(value).__name__
        case Expr(kind="list" | "dict" | "tuple" as kind, args=()):
            return _EMPTY[kind]
        case Expr(kind="call", args=(Expr(kind="name", name=name),), keywords=()) if name in _TYPES:
            return name
    return ""


def existing_callable(model: ModuleModel, function: Function) -> ReadyMade | None:
    """The built-in or library function that `lambda x: f(x)` passes its arguments to; None where it does more."""
    called = passed_on(function)
    if called is None or not called.dotted:
        return None
    if is_builtin(model, called.dotted, function) or pickles_by_name(model, called.dotted, function.span.start):
        return ReadyMade(called.dotted)
    return None


def passed_on(function: Function) -> Expr | None:
    """What `lambda x: f(x)` calls with just its parameters."""
    body = body_of(function)
    names = _plain_parameters(function)
    if body is None or not names or body.kind != "call" or body.keywords:
        return None
    return body.args[0] if [_name(argument) for argument in body.args[1:]] == names else None


def taken_by(model: ModuleModel, function: Function) -> ReadyMade | None:
    """`operator.itemgetter` for `lambda x: x["label"]`, `operator.attrgetter` for `lambda x: x.label`."""
    body, names = body_of(function), _plain_parameters(function)
    if body is None or len(names) != 1 or not body.args or _name(body.args[0]) != names[0]:
        return None
    from dllint import reference

    match body:
        case Expr(kind="subscript", args=(_, Expr(kind="constant", value=int() | str() as key))):
            getter, given = "itemgetter", _literal(key)
        case Expr(kind="attribute", name=name):
            getter, given = "attrgetter", _literal(name)
        case _:
            return None
    written, imports = reference(model, "operator", getter, function.span.start)
    return ReadyMade(f"{written}({given})", imports)


def _literal(key: int | str) -> str:
    return f'"{key}"' if isinstance(key, str) and key.isprintable() and not set(key) & set('\\"') else repr(key)


def is_identity(function: Function) -> bool:
    """`lambda x: x`."""
    body = body_of(function)
    return body is not None and body.kind == "name" and _plain_parameters(function) == [body.name]


def _plain_parameters(function: Function) -> list[str]:
    """The names of a function's parameters; none where they are more than that."""
    plain = all(item.kind in ("positional", "posonly") and item.default is None for item in function.parameters)
    return [parameter.name for parameter in function.parameters] if plain else []


def pickles_by_name(model: ModuleModel, dotted: str, use: int) -> bool:
    """Whether a name surely is a library's function, one that pickles as such."""
    root, _, rest = dotted.partition(".")
    if not _is_imported(model, root, use):
        return False
    found = next(item for item in model.imports if item.bound == root)
    # `import torch.utils.data` binds `torch`, and so do others beside it.
    base = root if not found.attribute and found.module.startswith(f"{root}.") else found.module
    module, _, name = ".".join(part for part in (base, found.attribute, rest) if part).rpartition(".")
    return name in BY_NAME.get(module, ())


def _name(expression: Expr) -> str:
    return expression.name if expression.kind == "name" else ""


def is_builtin(model: ModuleModel, name: str, function: Function) -> bool:
    """Whether a name is the built-in one in a function, and where it is defined."""
    if not hasattr(builtins, name) or _bound_at_top(model, name) or times_bound(model, "*"):
        return False
    while name not in function.bound and not (
        function.owner >= 0 and _binds(model.classes[function.owner].events, name)
    ):
        if function.parent < 0:
            return True
        function = model.functions[function.parent]
    return False


def _binds(events: Sequence[Event], name: str) -> int:
    """How often a scope binds a name by assignments and definitions."""
    leaves = (leaf for event in events if event.target is not None for leaf in flat_targets(event.target))
    written = sum(leaf.kind == "name" and leaf.name == name for leaf in leaves)
    return written + sum(event.name == name for event in events if event.kind in ("def", "class"))


def _is_imported(model: ModuleModel, name: str, use: int) -> bool:
    """Whether a name is that of one import at module level, above its use, and nothing else.

    `import torch` and `import torch.utils.data` are one and the same.
    """
    found = [item for item in model.imports if item.bound == name]
    top = all(item.function < 0 and item.block < 0 for item in found)
    above = any(item.span.end <= use for item in found)
    same = len(found) == 1 or all(not item.attribute and item.module.partition(".")[0] == name for item in found)
    return bool(found) and top and above and same and times_bound(model, name) == len(found)


def times_bound(model: ModuleModel, name: str) -> int:
    """In how many ways and scopes a module binds a name."""
    return _bound_at_top(model, name) + sum(name in function.bound for function in model.functions)


def _bound_at_top(model: ModuleModel, name: str) -> int:
    """In how many ways a module's own scope binds a name."""
    shared = sum(name in function.globals for function in model.functions)
    imported = sum(item.bound == name and item.function < 0 for item in model.imports)
    return _binds(model.events, name) + shared + imported


def _is_from(model: ModuleModel, expression: Expr, module: str, names: set[str]) -> bool:
    """Whether an expression is one of a module's attributes, by an import at module level."""
    root, _, attribute = expression.dotted.rpartition(".")
    if not _is_imported(model, root or attribute, expression.start):
        return False
    found = next(item for item in model.imports if item.bound == (root or attribute))
    if root:
        return found.module == module and not found.attribute and attribute in names
    return found.module == module and found.attribute in names
