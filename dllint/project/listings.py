"""Lists of names whose length depends on data: where a container comes from, and what its elements are."""

from __future__ import annotations

from enum import Enum

from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.reach import Running
from dllint.project.values import Const, Env, Ext, ExtInst, Inst, Klass, Seq, Value

_LISTS_STR = frozenset({"glob.glob", "glob.iglob", "os.listdir"})
_LIST_METHODS_STR = (".readlines", ".splitlines", ".read().split", ".getnames", ".namelist")
_LIST_METHODS_PATH = (".glob", ".rglob", ".iterdir")
_REORDER = frozenset({
    "builtins.sorted", "builtins.list", "builtins.tuple", "builtins.reversed", "natsort.natsorted", "random.sample",
    "natsort.os_sorted", "builtins.set", "builtins.filter", "builtins.enumerate", "tqdm.tqdm",
})  # fmt: skip
_LINES = frozenset({"builtins.open", "gzip.open", "csv.reader", "fileinput.input", "os.walk", "os.scandir"})
_STRING_CALLS = frozenset({"os.path.join", "builtins.str", "os.path.basename", "os.path.abspath", "os.path.splitext[]"})
_STRING_METHODS = (
    ".strip", ".rstrip", ".lstrip", ".replace", ".format", ".lower", ".upper", ".join", ".as_posix", ".decode",
    ".split[]", ".rsplit[]", ".readline", ".removesuffix", ".removeprefix", ".readlines[]", ".splitlines[]",
)  # fmt: skip


class Kind(Enum):
    """What a list of data-dependent length holds."""

    STR = "str"
    PATH = "Path"


class Listings:
    """Answers where lists of names come from."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known: dict[Value, Kind | None] = {}

    def of(self, value: Value) -> Kind | None:
        """What the list holds when it is a list of names of data-dependent length; None when that is not seen."""
        if value not in self._known:
            self._known[value] = None
            self._known[value] = self._of(value)
        return self._known[value]

    def of_expression(self, expr: Expr, env: Env) -> Kind | None:
        """The same for an expression: the first of its values that is such a list."""
        return next((kind for value in self.evaluator.values(expr, env) if (kind := self.of(value))), None)

    def _of(self, value: Value) -> Kind | None:
        match value:
            case ExtInst(name=name, call=call, env=env, base=base):
                if call.kind == "subscript" and base is not None:
                    return self.of(base) if call.args[1].kind == "slice" else None
                if name in _LISTS_STR or (name.endswith(_LIST_METHODS_STR) and call.kind == "call"):
                    return Kind.STR
                if name.endswith(_LIST_METHODS_PATH):
                    return Kind.PATH
                if name in _REORDER and len(call.args) > 1:
                    return self.of_expression(
                        call.args[2 if name == "builtins.filter" and len(call.args) > 2 else 1], env
                    )
                if name == "builtins.map" and len(call.args) > 2:
                    return self._mapped(call, env)
            case Seq(expr=expr, env=env) if expr.kind == "comprehension" and expr.name in ("list", "generator"):
                return self._element_kind(expr.args[0], env) if self._clauses_over_data(expr, env) else None
            case Seq(expr=expr) if expr.kind in ("list", "tuple"):
                return self._filled(value)
        return None

    def _mapped(self, call: Expr, env: Env) -> Kind | None:
        function = self.evaluator.values(call.args[1], env)
        if self.of_expression(call.args[2], env) is None:
            return None
        return (
            Kind.STR
            if function == (Ext("builtins.str"),)
            else Kind.PATH
            if function == (Ext("pathlib.Path"),)
            else None
        )

    def _clauses_over_data(self, expr: Expr, env: Env) -> bool:
        return any(self.over_data(value, env) for key, value in expr.keywords if key == "in")

    def over_data(self, iterable: Expr, env: Env, depth: int = 3) -> bool:
        """Whether a loop over an expression runs as often as there are files, lines or rows."""
        for value in self.evaluator.values(iterable, env):
            if self.of(value) is not None:
                return True
            if isinstance(value, ExtInst):
                if value.name in _LINES or value.name.endswith((".iterrows", ".itertuples")):
                    return True
                if depth and value.name in (
                    "builtins.enumerate",
                    "tqdm.tqdm",
                    "builtins.zip",
                    "builtins.iter",
                    "builtins.next",
                ):
                    return any(self.over_data(arg, value.env, depth - 1) for arg in value.call.args[1:])
        return False

    def _filled(self, container: Seq) -> Kind | None:
        """A list that loops over data append to."""
        for scope, event, receiver, what in self.evaluator.containers.mutations_around(container.env):
            if receiver.kind not in ("name", "attribute") or container not in self.evaluator.values(receiver, scope):
                continue
            kind = self._put(event.block, what, scope)
            if kind is not None:
                return kind
        return None

    def _put(self, block: int, what: Expr, scope: Env) -> Kind | None:
        if what.kind != "call":
            return self.of_expression(what, scope)
        method, args = what.args[0].name, what.args[1:]
        if method == "extend" and args:
            return self.of_expression(args[0], scope)
        if method == "append" and args and self._in_data_loop(block, scope):
            return self._element_kind(args[0], scope)
        return None

    def _in_data_loop(self, block: int, scope: Env) -> bool:
        for index in scope.module.enclosing(block):
            facts = scope.module.block(index)
            if facts.kind == "for" and facts.test is not None and self.over_data(facts.test, scope):
                return True
        return False

    def _element_kind(self, expr: Expr, env: Env) -> Kind | None:
        """Whether an element is a string or a path."""
        if expr.kind == "fstring" or isinstance(expr.value, str):
            return Kind.STR
        if expr.kind == "binop":
            inner = [self._element_kind(arg, env) for arg in expr.args]
            if expr.name in "+%":
                return Kind.STR if Kind.STR in inner else None
            return Kind.PATH if expr.name == "/" and any(inner) else None
        return next((kind for value in self.evaluator.values(expr, env) if (kind := self._value_kind(value))), None)

    def _value_kind(self, value: Value) -> Kind | None:
        match value:
            case Const(value=text) if isinstance(text, str):
                return Kind.STR
            case ExtInst(name=name) if name in _STRING_CALLS or name.endswith(_STRING_METHODS):
                return Kind.STR
            case ExtInst(name="pathlib.Path"):
                return Kind.PATH
            case ExtInst(name="builtins.open[]"):
                return Kind.STR
            case ExtInst(name=name, base=base) if name.endswith("[]") and base is not None:
                return Kind.STR if isinstance(base, ExtInst) and base.name.startswith("os.walk") else self.of(base)
        return None

    def read_per_item(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        """Where worker code reads the elements of an attribute of a class's instances."""
        receiver = running.env.receiver
        if not isinstance(receiver, Inst) or not self.evaluator.classes.derives(receiver.klass, klass):
            return None
        name = running.env.module.receiver_name(running.env.function)
        for event in running.events:
            for root in (event.value, event.target):
                other = _no_read(root)
                for part in _walk(root):
                    if part.kind == "attribute" and part.name == attribute and part.args[0].name == name != "":
                        if id(part) not in other:
                            return part
        return None


def _no_read(root: Expr | None) -> set[int]:
    """Expressions whose elements are not read item by item: `len(x)`, and a look-up table's `x[self.labels[i]]`."""
    found: set[int] = set()
    for part in _walk(root):
        if part.kind == "call" and part.args[0].name == "len":
            found |= {id(arg) for arg in part.args[1:]}
        if part.kind == "subscript" and any(
            inner.kind == "subscript" for index in part.args[1:] for inner in index.walk()
        ):
            found.add(id(part.args[0]))
    return found


def _walk(root: Expr | None) -> list[Expr]:
    return list(root.walk()) if root is not None else []
