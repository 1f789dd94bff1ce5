"""Programs that surely fail: they import a file that fails on import, or read a name that nothing binds.

Nothing runs below the call of a function that always ends with an error or an exit, nor, of a file's own code, below a
statement that every run reaches and that reads such a name. Python 3 refuses programs that surely import a file for
Python 2: their workers are forked wherever that is possible.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator

from dllint.knowledge import PYTHON_2_FUNCTIONS, PYTHON_2_MODULES, PYTHON_2_NAMES
from dllint.model.facts import Expr, ImportedName
from dllint.project.program.events import surely_evaluated
from dllint.project.program.index import Index
from dllint.project.program.module import Module

_BY_HOSTS = frozenset({"display", "get_ipython", "spark", "dbutils", "sc", "sqlContext", "profile", "_"})
"""What notebooks, profilers and translations put among the builtins."""
_OF_MODULES = frozenset({
    "__annotations__", "__builtins__", "__cached__", "__dict__", "__doc__", "__file__", "__loader__", "__name__",
    "__package__", "__path__", "__spec__",
})  # fmt: skip
_KNOWN = {*dir(builtins), "PythonFinalizationError", *_BY_HOSTS, *_OF_MODULES, *PYTHON_2_FUNCTIONS, "file"}
"""Names that a module may read without a binding of its own; those of Python 2 are asked for elsewhere."""
_BINDING = frozenset({"globals", "locals", "vars", "exec", "eval", "setattr", "__builtins__"})
"""What may bind names that no statement binds."""
_RUNNING = frozenset({"exec", "execfile", "run_path", "run_module", "exec_module"})
"""What may run a file with names that it doesn't bind itself."""
_EVALUATED = frozenset({"expr", "test", "for", "with", "assert"})
"""Not what gives something a name: `type Rows[T] = list[T]` binds names that it reads itself."""


def failing_with(index: Index, broken: Iterable[str]) -> frozenset[str]:
    """The files that surely import one that fails, directly or not, and those that only such files import."""
    found = set(broken)
    waiting = [*found]
    while waiting:
        for user, item in index.import_statements.get(waiting.pop(), ()):
            if user.path not in found and _always_runs(user, item.function, item.block):
                found.add(user.path)
                waiting.append(user.path)
    return frozenset(found | {path for path in index.modules if _programs(index, path) <= found} if found else found)


def for_python_2(index: Index) -> list[str]:
    """The files that every Python 3 refuses: by their syntax, by an import or by a function that it lacks."""
    return [module.path for module in index if not module.notebook and _is_for_python_2(index, module)]


def for_python_3_6(index: Index) -> list[str]:
    """The files that Python 3.7 refuses, and that Python 3.6 accepts."""
    return [module.path for module in index if module.model.until_3_6]


def _is_for_python_2(index: Index, module: Module) -> bool:
    if module.model.old:
        return True
    if any(_fails(index, module, item) for item in module.model.imports):
        return True
    return any(_calls(module, name) for name in PYTHON_2_FUNCTIONS & module.calls.keys() - module.model.bound)


def _fails(index: Index, module: Module, item: ImportedName) -> bool:
    """Whether an import surely runs and fails."""
    gone = item.module in PYTHON_2_MODULES or item.attribute in PYTHON_2_NAMES.get(item.module, ())
    if not gone or item.level or not _always_runs(module, item.function, item.block):
        return False
    return index.find(module.path, item.module, 0) is None


def _calls(module: Module, name: str) -> bool:
    """Whether importing a module surely calls a builtin function."""
    if module.star_imports:
        return False
    return any(
        call.expr.args[0].kind == "name"
        and call.event.value is call.expr
        and _always_runs(module, call.function, call.event.block)
        for call in module.calls[name]
    )


def _always_runs(module: Module, function: int, block: int) -> bool:
    return function < 0 and all(module.block(around).kind == "with" for around in module.enclosing(block))


def _programs(index: Index, path: str) -> set[str]:
    """The files that begin a program with a file: those that no other file imports."""
    return {user for user in index.importers(path) if not index.import_statements.get(user)} or {path}


def ends_of_names(index: Index) -> dict[str, int]:
    """For each file whose own code surely reads a name that nothing binds, where it ends with a `NameError`."""
    if any(_RUNNING & module.calls.keys() or _changes_builtins(module) for module in index):
        return {}
    found = {module.path: _name_error(module) for module in index if not module.notebook and not module.settings}
    return {path: end for path, end in found.items() if end is not None}


def _changes_builtins(module: Module) -> bool:
    return any(item.module in ("builtins", "__builtin__") for item in module.model.imports)


def _name_error(module: Module) -> int | None:
    """Where the first statement ends that every run reaches and that reads an unbound name."""
    reading = [event for event in module.model.events if event.block < 0 and event.kind in _EVALUATED]
    bound = module.model.bound.union(_KNOWN, *(function.globals for function in module.model.functions))
    for event in reading:
        if event.value is not None and any(name not in bound for name in _surely_read(event.value)):
            filled = any(item.span.start < event.start for item in module.star_imports)
            return None if filled or _may_bind(module) else event.value.end
    return None


def _may_bind(module: Module) -> bool:
    """Whether code of a module may bind a name that isn't written there as one: not in a module that it imports."""
    parts = (part for _, _, events in module.scopes for event in events for part in event.walk())
    others = {item.bound for item in module.model.imports if item.module != "__main__"}
    return any(
        part.name in _BINDING
        if part.kind == "name"
        else part.dotted == "sys.modules" or (part.name == "__dict__" and part.args[0].name not in others)
        for part in parts
    )


def _surely_read(value: Expr) -> Iterator[str]:
    """The names that are read whenever an expression is evaluated."""
    waiting = [value]
    while waiting:
        expr = waiting.pop()
        if expr.kind == "name":
            yield expr.name
        waiting += surely_evaluated(expr)
