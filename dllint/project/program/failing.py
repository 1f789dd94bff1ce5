"""Programs that surely fail: they import a file that fails on import."""

from __future__ import annotations

from collections.abc import Iterable

from dllint.knowledge import PYTHON_2_FUNCTIONS, PYTHON_2_MODULES, PYTHON_2_NAMES
from dllint.model.facts import ImportedName
from dllint.project.program.index import Index
from dllint.project.program.module import Module


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
