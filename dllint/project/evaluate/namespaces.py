"""Names that a program makes up as it runs: `getattr(module, name)`, `globals()[name]`, `import_module("data." + x)`.

What may be meant is what is written down: the classes that a module knows, the modules that a text may name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, ExtMethod, Klass, Mod, Opaque, Value, Values
from dllint.project.evaluate.shapes import unique
from dllint.project.program.index import stem
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

VIEWS = frozenset({"get", "items", "keys", "values"})
"""The dictionary methods of a namespace."""
MAX_MODULES = 40
"""A text that may name more modules than this names none."""
MAX_PARTS = 6
"""A text is put together of so many parts at most: one in a loop may be a part of itself."""
_ANYTHING = r"[\w.]+"
_PERHAPS = r"[\w.]*"
_TELLING = re.compile(r"\w\w")


class Namespaces:
    """Answers what a name that is not known may mean."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._classes: dict[Module, Values] = {}
        self._named: dict[str, tuple[Module, ...]] = {}

    def chosen(self, module: Module, names: Iterable[object]) -> Values:
        """The values that a module has under any of these names; its classes if no name is known."""
        known = [name for name in names if isinstance(name, str)]
        if not known:
            return self.classes(module)
        found = (self.evaluator.names.global_name(module, name) or () for name in known)
        return unique(value for values in found for value in values)

    def classes(self, module: Module) -> Values:
        """The project's classes that a module defines or imports."""
        return self.evaluator.ask(self._classes, module, (), self._find_classes, module)

    def _find_classes(self, module: Module) -> Values:
        return unique(value for name in self._names(module, {module.path}) for value in self._klasses(module, name))

    def _names(self, module: Module, seen: set[str]) -> Iterator[str]:
        """The names that a module binds, by star imports too."""
        yield from module.bindings[-1, -1]
        for imported in module.star_imports:
            target = self.evaluator.index.find(module.path, imported.module, imported.level)
            if target is not None and target.path not in seen:
                seen.add(target.path)
                yield from self._names(target, seen)

    def _klasses(self, module: Module, name: str) -> Iterator[Klass]:
        bindings = module.bindings[-1, -1].get(name, ())
        if bindings and not any(binding.imported or binding.kind == "class" for binding in bindings):
            return
        for value in self.evaluator.names.global_name(module, name) or ():
            if isinstance(value, Klass):
                yield value

    def imported(self, name: Expr, env: Env) -> list[Mod]:
        """The modules that `import_module` of a text may give."""
        patterns = dict.fromkeys(_pattern(value, self.evaluator) for value in self.evaluator.values(name, env))
        found = (
            self._modules(pattern, env)
            for pattern in patterns
            if _TELLING.search(pattern.replace(_ANYTHING, " ").replace(_PERHAPS, ""))
        )
        return [Mod(module) for modules in found for module in modules]

    def _modules(self, pattern: str, env: Env) -> tuple[Module, ...]:
        if pattern.startswith(r"\."):
            package = stem(env.module.path).rpartition("/")[0].replace("/", ".")
            pattern = re.escape(package) + pattern
        if pattern not in self._named:
            wanted = re.compile(rf"(?:[\w.]+\.)?{pattern}")
            found = [
                module
                for module in self.evaluator.index
                if not module.is_test and wanted.fullmatch(stem(module.path).replace("/", "."))
            ]
            self._named[pattern] = tuple(found) if len(found) <= MAX_MODULES else ()
        return self._named[pattern]


def _pattern(value: Value, evaluator: Evaluator, depth: int = MAX_PARTS) -> str:
    """A regular expression for the texts that a value may be."""
    match value:
        case Const(value=str(text)):
            return re.escape(text)
        case Opaque(expr=Expr(kind="fstring", value=str(text))):
            # Where in the text the values stand is not known.
            return _PERHAPS.join(["", *map(re.escape, text), ""])
        case Opaque(expr=Expr(kind="binop", name="+", args=parts), env=env) if depth:
            return "".join(_any_of(evaluator.values(part, env), evaluator, depth - 1) for part in parts)
        case ExtInst(name="str.format", call=call) if call.args[0].args and isinstance(call.args[0].args[0].value, str):
            return _ANYTHING.join(map(re.escape, call.args[0].args[0].value.split("{}")))
    return _ANYTHING


def _any_of(values: Values, evaluator: Evaluator, depth: int) -> str:
    patterns = list(dict.fromkeys(_pattern(value, evaluator, depth) for value in values))
    return patterns[0] if len(patterns) == 1 else _ANYTHING


def is_view(value: Value) -> bool:
    """Whether a value is a method of a module's namespace: `module.__dict__.items`."""
    return isinstance(value, ExtMethod) and isinstance(value.base, Mod) and value.attribute in VIEWS
