"""The start methods that a project's programs choose with `set_start_method`."""

from __future__ import annotations

from functools import cached_property

from dllint.knowledge import FORKING
from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.evaluate.exclusion import told_by
from dllint.project.program.failing import failing_with, for_python_2, for_python_3_6
from dllint.project.program.flow import decided
from dllint.project.program.guards import under_main_guard
from dllint.project.program.index import Index
from dllint.project.program.module import Module
from dllint.project.program.roles import is_test
from dllint.start_methods import ALL_METHODS, FORK, SPAWN
from dllint.targets import Targets

_USUAL = "multiprocessing"
_ASKED = f"{_USUAL}.get_start_method"
_UNKNOWN = ""
"""A start method that is set, but not known."""


class ChosenMethods:
    """Answers how the workers that a file starts are started, in all the programs that this file is part of."""

    def __init__(self, evaluator: Evaluator, targets: Targets) -> None:
        self.evaluator = evaluator
        self.index: Index = evaluator.index
        self.targets = targets
        self._known: dict[tuple[str, str], tuple[frozenset[str], bool]] = {}

    def of(self, path: str, module: str = _USUAL) -> tuple[frozenset[str], bool]:
        """The start methods that workers started in a file may get, and whether its programs choose all of them.

        `module` starts them: multiprocessing, or a copy of it with a start method of its own.
        """
        return self.evaluator.kept(self._known, (path, module), self._of, path, module)

    def platforms(self, module: str) -> tuple[str, ...]:
        """The declared platforms on which a module starts workers as Python itself does."""
        return tuple(name for name in self.targets.platforms if name not in FORKING.get(module, ()))

    def _defaults(self, path: str, module: str) -> frozenset[str]:
        usual = tuple(name for name in self.platforms(module) if name not in self.forking(path))
        forks = usual != self.targets.platforms and not self.targets.start_method
        targets = self.targets.on(usual)
        if path in self.for_python_3_6:
            targets = targets.running("3.6")
        return targets.methods() | ({FORK} if forks else set())

    def of_call(self, call: Expr, env: Env) -> tuple[frozenset[str], bool]:
        """The same of a call that spawns, and forks in a notebook, unless its `start_method` says otherwise."""
        given = self.evaluator.arguments.argument(call, env, None, "start_method")[0]
        values = [value for pair in given for value in self.evaluator.values(*pair)]
        names = {value.value if isinstance(value, Const) else _UNKNOWN for value in values} or {None}
        default = FORK if env.module.notebook else SPAWN
        methods = {default if name is None else str(name) for name in names}
        return (frozenset(methods), True) if methods <= ALL_METHODS else self.of(env.module.path)

    def asked_for(self, env: Env, offset: int) -> frozenset[str]:
        """The start methods that tests on the way to a place leave: `if get_start_method() == "fork":` leaves one."""
        left = ALL_METHODS
        where: Env | None = env
        while where is not None:
            for test in decided(where.module, where.function, offset):
                for told in told_by(test.test, test.holds):
                    if told.constants and told.constants <= ALL_METHODS and self._asks(told.about, where):
                        left = left & told.constants if told.holds else left - told.constants
            offset, where = where.call.start if where.call is not None else 0, where.caller
        return left

    def _asks(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is the start method of the program."""
        values = self.evaluator.values(expr, env)
        return bool(values) and all(isinstance(value, ExtInst) and value.name == _ASKED for value in values)

    @cached_property
    def for_python_2(self) -> frozenset[str]:
        """The files of programs that Python 3 refuses."""
        return failing_with(self.index, for_python_2(self.index))

    @cached_property
    def for_python_3_6(self) -> frozenset[str]:
        """The files of programs that Python 3.7 and later refuse, and that Python 3.6 may run."""
        return failing_with(self.index, for_python_3_6(self.index)) - self.for_python_2

    def forking(self, path: str) -> frozenset[str]:
        """The platforms that spawn today, but fork the workers of a file: macOS does before Python 3.8."""
        return frozenset({"macos"} if path in self.for_python_3_6 else ())

    def defaults(self, path: str) -> frozenset[str]:
        """The start methods that the platforms give the workers of a file; Python 2 always forks where it can."""
        methods = self.targets.methods()
        return (methods & {FORK} or methods) if path in self.for_python_2 else methods

    def _of(self, path: str, module: str) -> tuple[frozenset[str], bool]:
        if path in self.for_python_2:
            return self.defaults(path), False  # it has no `set_start_method`
        setters = {
            setter: methods
            for (setter, on_import, of), methods in self._set.items()
            if of == module
            and (path in self.index.imports(setter) or (on_import and setter in self.index.imports(path)))
            and (is_test(path) or not is_test(setter))
        }
        found = frozenset(method for methods in setters.values() for method in methods)
        if not found or _UNKNOWN in found:
            return self._defaults(path, module), False
        if all(setters.keys() & self.index.imports(program) for program in self._programs(path)):
            return found, True
        return found | self._defaults(path, module), False

    def _programs(self, path: str) -> list[str]:
        """The scripts that a file is part of: files that do something, and that no other file imports."""
        return [
            other
            for other in self.index.importers(path)
            if not is_test(other) and not self._imported(other) and _does_something(self.index.modules[other])
        ]

    def _imported(self, path: str) -> bool:
        return any(not is_test(importer.path) for importer, _ in self.index.import_statements.get(path, ()))

    @at_rest
    def _set(self) -> dict[tuple[str, bool, str], set[str]]:
        """The arguments of `set_start_method`, by file, whether importing the file is enough to set it, and module."""
        found: dict[tuple[str, bool, str], set[str]] = {}
        for site in self.index.calls_named(("set_start_method",)):
            env = self.evaluator.generic(site.module, site.function)
            on_import = site.function < 0 and not under_main_guard(site.module, -1, site.event)
            called = self.evaluator.values(site.expr.args[0], env)
            modules = {value.name.rpartition(".")[0] for value in called if isinstance(value, Ext)}
            module = next(iter(modules), _USUAL) if len(modules) == 1 and modules <= FORKING.keys() else _USUAL
            methods = found.setdefault((site.module.path, on_import, module), set())
            for pair in self.evaluator.arguments.argument(site.expr, env, 0, "method")[0]:
                for value in self.evaluator.values(*pair):
                    known = isinstance(value, Const) and value.value in ALL_METHODS
                    methods.add(str(value.value) if known and isinstance(value, Const) else _UNKNOWN)
        return found


def _does_something(module: Module) -> bool:
    """Whether a file is more than definitions."""
    return any(
        event.kind == "for" or (event.kind == "expr" and event.value is not None and event.value.kind == "call")
        for event in module.model.events
    )
