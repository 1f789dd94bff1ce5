"""Where code surely ends with a `NameError`: it reads a name that nothing binds, so nothing runs there and below."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import NamedTuple

from dllint.knowledge import PYTHON_2_FUNCTIONS
from dllint.model.facts import Event, Expr
from dllint.project.program.call_index import Call
from dllint.project.program.index import Index
from dllint.project.program.module import Module

_BY_HOSTS = frozenset({"display", "get_ipython", "spark", "dbutils", "sc", "sqlContext", "profile", "_"})
"""What notebooks, profilers and translations put among the builtins."""
_OF_PYTHON_2 = PYTHON_2_FUNCTIONS | {"file", "intern", "coerce", "buffer"}
_KNOWN = frozenset({*dir(builtins), "PythonFinalizationError", *_BY_HOSTS, *_OF_PYTHON_2})
"""Names that a module may read without a binding of its own; those of Python 2 are asked for elsewhere."""
_BINDING = frozenset({"globals", "locals", "vars", "exec", "eval", "setattr", "__builtins__"})
"""What may bind names that no statement binds."""
_RUNNING = frozenset({"exec", "execfile", "exec_module", "FunctionType"})
"""What may run code with names that its file doesn't bind."""
_GIVEN_NAMES = frozenset({"run_path", "run_module"})
"""What does so if it is given them."""
_EVALUATED = frozenset({"expr", "test", "for", "with", "assert"})
"""Not what gives something a name: `type Rows[T] = list[T]` binds names that it reads itself."""
_IN_FUNCTIONS = _EVALUATED | {"assign", "augment", "return"}
_PLAIN = frozenset({"staticmethod", "classmethod", "property"})
"""Decorators that leave a function the names of its file."""
_EAGER = frozenset({"list", "set", "dict"})


class Part(NamedTuple):
    """A part of a scope that no run gets through, both ends included."""

    start: int
    end: int
    ends: bool = False
    """Whether no run gets to the end of the scope."""


Scope = tuple[str, int]
"""A file and a function of it; -1: the file's own code."""


def never_run(index: Index) -> Mapping[Scope, list[Part]]:
    """The parts of scopes that surely end with a `NameError`."""
    unbound = [(module, scope, names) for module in index for scope, names in _unbound(index, module)]
    if not unbound or any(map(_binds_for_others, index)):
        return {}
    binding = {module for module in {module for module, _, _ in unbound} if _may_bind(module)}
    kept = [item for item in unbound if item[0] not in binding]
    return {(module.path, scope): list(_parts(module, scope, names)) for module, scope, names in kept}


def _unbound(index: Index, module: Module) -> Iterator[tuple[int, Set[str]]]:
    """For the scopes of a module, the names that they read and that nothing is seen to bind."""
    # The name of a package's module is a name of the package, too.
    if module.notebook or module.settings or module.star_imports or module.path.endswith("__init__.py"):
        return
    functions = module.model.functions
    known = module.model.bound.union(_KNOWN, *(function.globals for function in functions))
    read: dict[int, Set[str]] = {
        function.index: function.loads - known for function in functions if not function.loads <= known
    }
    read[-1] = {name for event in module.model.events for name in _read_by(event)} - known
    for scope, names in read.items():
        missing = {name for name in names if not name.startswith("__") and name not in index.outside_writes}
        missing -= _bound_around(module, scope) if missing else set()
        if missing and not missing <= _bound_beside(module):
            yield scope, missing - _bound_beside(module)


def _read_by(event: Event) -> Iterable[str]:
    return _surely_read(event.value) if event.value is not None and event.kind in _EVALUATED else ()


def _bound_around(module: Module, scope: int) -> Set[str]:
    """The names of a function and of those around it: all that it reads where a decorator may give it others."""
    found: set[str] = set()
    around = scope
    while around >= 0:
        function = module.model.functions[around]
        found |= function.bound
        if any(decorator.dotted not in _PLAIN for decorator in function.decorators):
            found |= module.model.functions[scope].loads
        around = function.parent
    return found


def _bound_beside(module: Module) -> Set[str]:
    """The variables of comprehensions, which lambdas in them see, and names that may be type parameters."""
    targets = [clause.target for clauses in module.comprehensions.values() for clause in clauses]
    for function in module.model.functions:
        said = (function.returns, *(parameter.annotation for parameter in function.parameters))
        targets += [annotation for annotation in said if annotation is not None]
    return {part.name for target in targets for part in target.walk()}


def _may_bind(module: Module) -> bool:
    """Whether code of a module may bind a name that isn't written there as one."""
    return any(
        part.name in _BINDING if part.kind == "name" else part.name == "__dict__" or part.dotted == "sys.modules"
        for part in _all_parts(module)
    )


def _binds_for_others(module: Module) -> bool:
    """Whether a module may run another one's code with other names, or give it names that are computed."""
    if _RUNNING & module.calls.keys() or any(_gives_names(call.expr) for call in _calls(module, _GIVEN_NAMES)):
        return True
    if any(item.module in ("builtins", "__builtin__") for item in module.model.imports):
        return True
    imported = {"__import__", "__builtins__", *(item.bound for item in module.model.imports)}
    return any(_root(given) in imported for part in _all_parts(module) for given in _opened(part))


def _calls(module: Module, names: Set[str]) -> Iterator[Call]:
    return (call for name in names & module.calls.keys() for call in module.calls[name])


def _gives_names(call: Expr) -> bool:
    return len(call.args) > 2 or any(key in ("init_globals", "**") for key, _ in call.keywords)


def _opened(part: Expr) -> Iterable[Expr]:
    """What an expression may give names that are computed, or that aren't seen as names."""
    if part.kind == "name" and part.name == "__builtins__":
        return (part,)
    if part.kind == "attribute" and part.name == "__dict__":
        return part.args
    if part.kind != "call" or len(part.args) < 2:
        return ()
    if part.args[0].name == "setattr":
        named = len(part.args) > 2 and isinstance(part.args[2].value, str)
        return () if named else part.args[1:2]
    return part.args[1:2] if part.args[0].name == "vars" else ()


def _root(expr: Expr) -> str:
    """`a` of `a.b[c].d()`."""
    while expr.args:
        expr = expr.args[0]
    return expr.name


def _all_parts(module: Module) -> Iterator[Expr]:
    return (part for _, _, events in module.scopes for event in events for part in event.walk())


# What doesn't run.


def _parts(module: Module, scope: int, missing: Set[str]) -> Iterator[Part]:
    """From a statement that reads such a name to the end of its block, and statements that make nothing but with it."""
    kinds = _EVALUATED if scope < 0 else _IN_FUNCTIONS
    events = module.events(scope)
    tests = (part for block in module.model.blocks if block.test is not None for part in block.test.walk())
    parts = chain((part for event in events for part in event.walk()), tests)
    inner = {part.args[0] for part in parts if part.kind == "walrus"}
    for event in events:
        if event.value is None or event.kind not in kinds or event.value in inner:
            continue  # what a walrus names, another event evaluates, maybe
        if not missing.isdisjoint(_surely_read(event.value)):
            yield Part(_first(event, missing), _end(module, scope, event.block), event.block < 0)
        elif event.kind == "assign" and any(_is_empty(part, missing) for part in _evaluated(event.value)):
            yield Part(event.start, event.end)


def _first(event: Event, missing: Set[str]) -> int:
    """Where a statement fails: at its start, or at its end where something is called before."""
    assert event.value is not None
    read = min(part.start for part in _evaluated(event.value) if part.kind == "name" and part.name in missing)
    before = any(part.kind == "call" and part.end <= read for part in event.value.walk())
    return event.value.end + 1 if before else event.start


def _end(module: Module, scope: int, block: int) -> int:
    if block >= 0:
        return module.block(block).end
    return module.model.functions[scope].body.end if scope >= 0 else max(event.end for event in module.model.events)


def _is_empty(expr: Expr, missing: Set[str]) -> bool:
    """Whether a list that is made of something else is empty, or making it fails: its elements need such a name."""
    if expr.kind != "comprehension" or expr.name not in _EAGER:
        return False
    later = [value for key, value in expr.keywords if key in ("in", "if")][1:]
    return any(not missing.isdisjoint(_surely_read(part)) for part in (*later[:1], *expr.args))


def _surely_read(value: Expr) -> Iterator[str]:
    """The names that are read whenever an expression is evaluated."""
    return (part.name for part in _evaluated(value) if part.kind == "name")


def _evaluated(value: Expr) -> Iterator[Expr]:
    """An expression and the parts of it that are evaluated whenever it is."""
    waiting = [value]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting += _surely_evaluated(expr)


def _surely_evaluated(expr: Expr) -> Iterable[Expr]:
    match expr.kind:
        case "ifexp" | "boolop" | "subscript":  # an index may be a type parameter
            return expr.args[:1]
        case "compare":
            return expr.args[:2]
        case "comprehension":
            return [value for key, value in expr.keywords if key == "in"][:1]
    return (*expr.args, *(value for _, value in expr.keywords))
