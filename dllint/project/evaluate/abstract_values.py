"""The values of expressions. They are small, hashable, and point to the facts that they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from dllint.model.facts import Class, Expr, Function

if TYPE_CHECKING:
    from dllint.project.program.module import Module


GLOBAL: Final = "global"
PARAMETER: Final = "parameter"
Meaning = Expr | Literal["global", "parameter", ""] | None
"""The meaning of a name at its place: the expression assigned to it, or an equal one; None: there are several."""


class Env:
    """An activation of a scope: which function, on whose behalf, called from where. Compared by identity, interned.

    `function` is -1 for module code. `call` and `caller` bind the parameters; without them a parameter may be whatever
    any call site passes. `receiver` is the value of `self`. `outer` is the activation that a closure was made in.
    """

    __slots__ = (
        "call",
        "caller",
        "depth",
        "facts",
        "function",
        "known",
        "means",
        "module",
        "outer",
        "owners",
        "receiver",
        "skip",
        "within",
    )

    def __init__(
        self,
        module: Module,
        function: int,
        call: Expr | None,
        caller: Env | None,
        receiver: Value | None,
        outer: Env | None,
        skip: int,
    ) -> None:
        self.module = module
        self.function = function
        self.call = call
        self.caller = caller
        self.receiver = receiver
        self.outer = outer
        self.skip = skip
        """How many leading positional arguments of the call are not this function's (1 for `partial(f, ...)`)."""
        self.depth: int = 0 if caller is None else caller.depth + 1
        self.known: dict[Expr | str, Values] = {}
        """The values here of expressions, and of parameters, by their names."""
        self.means: dict[Expr, Meaning] = module.means[function]
        """The certain meanings of names where they stand: the same in all activations."""
        self.within: frozenset[tuple[str, int]] = caller.within if caller is not None else frozenset()
        """The functions that this activation or one of its callers closes over: to call one of them is a recursion."""
        if outer is not None:
            self.within |= {(outer.module.path, outer.function), *outer.within}
        self.owners: int = max(0 if other is None else other.owners for other in (caller, outer))
        """How many objects that make one another have led here."""
        if isinstance(receiver, Inst) and receiver.env is not None:
            self.owners = max(self.owners, receiver.env.owners + 1)
        if function >= 0:
            self.facts: Function = module.model.functions[function]


class Passed(Expr, frozen=True, eq=False):
    """An argument that a call hands on from elsewhere, as `partial` does: an expression with its own activation."""

    expr: Expr | None = None
    env: Env | None = None


def passed(expr: Expr, env: Env) -> Expr:
    """An expression of an activation as an argument of a call in another one."""
    if expr.kind in ("constant", "passed"):
        return expr
    if expr.kind == "star" and expr.args:
        return Expr("star", expr.start, expr.end, args=(passed(expr.args[0], env),))
    return Passed("passed", expr.start, expr.end, expr=expr, env=env)


def stands(expr: Expr, env: Env) -> tuple[Expr, Env]:
    """The expression of an argument, with its activation; `env`: where the call stands."""
    if isinstance(expr, Passed):
        assert expr.expr is not None and expr.env is not None
        return expr.expr, expr.env
    return expr, env


class _Compared(msgspec.Struct, frozen=True, cache_hash=True):
    """Equal where all parts are; expressions, activations and modules are only equal to themselves.

    Values are made, hashed and compared by the million, and chains of calls nest deeply.
    """


class Const(_Compared, frozen=True):
    """A literal: string, number, bool or None."""

    value: str | int | float | bool | None
    kind: str = ""
    """The type's name: 1, 1.0 and True are different values here."""


class Func(_Compared, frozen=True):
    """A function or lambda of the project; `outer` is the activation it closes over."""

    module: Module
    index: int
    outer: Env | None = None

    @property
    def facts(self) -> Function:
        return self.module.model.functions[self.index]


class Klass(_Compared, frozen=True):
    """A class of the project."""

    module: Module
    index: int
    outer: Env | None = None

    @property
    def facts(self) -> Class:
        return self.module.model.classes[self.index]


class Inst(_Compared, frozen=True):
    """An instance of a project class, keyed by where it is constructed; without a call, any instance."""

    klass: Klass
    call: Expr | None = None
    env: Env | None = None
    users: bool = False
    """One that the project's users make: nothing is known of what they pass."""


class Method(_Compared, frozen=True):
    """A bound method: shipping it ships its owner."""

    owner: Value
    func: Func


class Ext(_Compared, frozen=True):
    """A symbol outside the project, by its canonical dotted name."""

    name: str


class ExtInst(_Compared, frozen=True):
    """The result of an external callable, whose `name` is `functools.partial`, `glob.glob`, `h5py.File()[]`.

    `base` is the value the method was called on or the subscript was taken from.
    """

    name: str
    call: Expr
    env: Env
    base: Value | None = None


class ExtMethod(_Compared, frozen=True):
    """A method or attribute of something external: `parser.parse_args`."""

    base: Value
    attribute: str


class Seq(_Compared, frozen=True):
    """A display or comprehension: list, tuple, set, dict, generator."""

    expr: Expr
    env: Env

    @property
    def kind(self) -> str:
        """The type that it makes: `list` for `[x]` and for `[x for x in y]`."""
        return self.expr.name if self.expr.kind == "comprehension" else self.expr.kind


class Mod(_Compared, frozen=True):
    """A module of the project."""

    module: Module


class Super(_Compared, frozen=True):
    """`super()`: the rest of the owner's bases after `klass`."""

    owner: Value
    klass: Klass


class Opaque(_Compared, frozen=True):
    """Not known: the expression that could not be followed, for its name."""

    expr: Expr
    env: Env


class Free(_Compared, frozen=True):
    """A parameter that no call site in the project fills."""

    module: Module
    function: int
    name: str


class Top(_Compared, frozen=True):
    """More alternatives than are told apart, and all that comes from them."""

    external: bool = False
    """Whether these are results of libraries' results alone."""


TOP: Final = Top()
MANY_RESULTS: Final = Top(external=True)
UNKNOWN: Final = (Opaque, Free, Top)
"""Nothing is known of these: they never become a finding, and a test of one is undecided."""
NOT_FOLLOWED: Final = (*UNKNOWN, ExtMethod)
"""These, and what is read from them or from something external."""
Value = Const | Func | Klass | Inst | Method | Ext | ExtInst | ExtMethod | Seq | Mod | Super | Opaque | Free | Top
Values = tuple[Value, ...]
