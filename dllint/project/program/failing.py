"""Programs that surely fail: they import a file that fails on import, or read a name that nothing binds.

Nothing runs below the call of a function that always ends with an error or an exit, nor, of a file's own code, below a
statement that every run reaches and that reads such a name, or imports one that a module of the project lacks. In
functions as well, nothing runs below a statement that reads it as an attribute of the module: `utils.AvgrageMeter()`.
Python 3 refuses programs that surely import a file for Python 2: their workers are forked wherever that is possible.
"""

from __future__ import annotations

import builtins
import posixpath
from collections.abc import Iterable, Iterator

from dllint.knowledge import PYTHON_2_FUNCTIONS, PYTHON_2_MODULES, PYTHON_2_NAMES
from dllint.model.facts import Event, Expr, ImportedName
from dllint.project.program.events import surely_evaluated
from dllint.project.program.index import Index, stem
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
_READING = _EVALUATED | {"assign", "return"}
"""What may read an attribute."""


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


def ends_of_attributes(index: Index) -> dict[tuple[str, int], int]:
    """Where the first statement ends that every run of a function reaches and that reads what a module lacks.

    For each file with one, and each of its functions: of the file's own code, -1.
    """
    found: dict[tuple[str, int], int] = {}
    for module in index if not any(_RUNNING & user.calls.keys() for user in index) else ():
        if (end := _import_error(index, module)) is not None:
            found[module.path, -1] = end
            continue
        lacking = {item.bound: target for item in module.model.imports if (target := _whole(index, module, item))}
        for function, klass, events in module.scopes if lacking and not (module.notebook or module.settings) else ():
            if klass < 0 and (end := _attribute_error(index, module, function, events, lacking)) is not None:
                found[module.path, function] = end
    return found


def _import_error(index: Index, module: Module) -> int | None:
    """Where the first statement ends that every run of a file reaches and that imports a name which a module lacks."""
    if module.notebook or module.settings:
        return None
    ends = (
        item.span.end
        for item in module.model.imports
        if item.attribute not in ("", "*")
        and (target := _beside(index, module, item)) is not None
        and _lacks(index, target, item.attribute)
    )
    return min(ends, default=None)


def _whole(index: Index, module: Module, item: ImportedName) -> Module | None:
    """The file beside a script that `import utils` imports, if nothing else binds the name."""
    if item.attribute or len(module.bindings[-1, -1].get(item.bound, ())) != 1:
        return None
    return _beside(index, module, item)


def _beside(index: Index, module: Module, item: ImportedName) -> Module | None:
    """The file beside a script that an import surely runs, if all that the file has is written there.

    Code that other folders import finds a package of the same name instead.
    """
    if item.level or "." in item.module or not _always_runs(module, item.function, item.block):
        return None
    folder = posixpath.dirname(module.path)
    if any(posixpath.dirname(user.path) != folder for user, _ in index.import_statements.get(module.path, ())):
        return None
    target = index.modules.get(posixpath.join(folder, f"{item.module}.py"))
    packages = {posixpath.join(place, "__init__.py") for place in (folder, posixpath.join(folder, item.module))}
    if target is None or packages & index.modules.keys() or [*index.targets(module, item)] != [target.path]:
        return None
    if target.star_imports or "__getattr__" in target.model.bound or _may_bind(target):
        return None
    return target


def _attribute_error(
    index: Index, module: Module, function: int, events: Iterable[Event], lacking: dict[str, Module]
) -> int | None:
    """Where the first of a function's statements ends that every run reaches and that reads what a module lacks."""
    own: set[str] = set()
    around = function
    while around >= 0:
        own |= module.model.functions[around].bound
        around = module.model.functions[around].parent
    for event in events:
        if event.block >= 0 or event.kind not in _READING or event.value is None:
            continue
        for expr in _surely_evaluated(event.value):
            owner = expr.args[0] if expr.kind == "attribute" else expr
            target = lacking.get(owner.name) if expr is not owner and owner.kind == "name" else None
            if target is not None and owner.name not in own and _lacks(index, target, expr.name):
                return event.value.end
    return None


def _lacks(index: Index, target: Module, name: str) -> bool:
    """Whether nothing gives a module an attribute: neither its code nor that of others."""
    bound = target.model.bound.union(_OF_MODULES, *(function.globals for function in target.model.functions))
    if name in bound or name in index.outside_writes:
        return False
    set_by_name = (site.expr.args[1] for site in index.calls_named(("setattr",)) if len(site.expr.args) > 1)
    return all(owner.name != posixpath.basename(stem(target.path)) for owner in set_by_name)


def _surely_evaluated(value: Expr) -> Iterator[Expr]:
    """The parts that are evaluated whenever an expression is, itself among them."""
    waiting = [value]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting += surely_evaluated(expr)


def _surely_read(value: Expr) -> Iterator[str]:
    """The names that are read whenever an expression is evaluated."""
    return (expr.name for expr in _surely_evaluated(value) if expr.kind == "name")
