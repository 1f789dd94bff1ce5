"""Names that a program makes up as it runs: `getattr(module, name)`, `eval("data." + name)`, `import_module(path)`.

What may be meant is what is written down: the classes that a module knows, the modules that a text may name.

`eval` of a dotted name means what the name does. Where a part is computed, it means the classes that a module has under
names that fit, or else the functions, and the methods of an object. `getattr` of a module under a computed name means
all classes that the module has; of several modules, those that each defines, if it defines some.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import (
    Const,
    Env,
    ExtInst,
    ExtMethod,
    Func,
    Inst,
    Klass,
    Mod,
    Opaque,
    Value,
    Values,
)
from dllint.project.evaluate.shapes import text_around, unique
from dllint.project.program.index import stem
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

VIEWS = frozenset({"get", "items", "keys", "values"})
"""The dictionary methods of a namespace."""
MAX_MODULES = 40
"""A text that may name more modules than this names those for which its unknown parts are one word each, or none."""
MAX_LENGTH = 1000
"""So long a pattern of a text at most: one may be put together of itself."""
_ANYTHING = r"[\w.]+"
_ONE_WORD = r"\w+"
_PERHAPS = r"[\w.]*"
_TELLING = re.compile(r"\w\w")
_DOT = r"\."


class Namespaces:
    """Answers what a name that is not known may mean."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._classes: dict[Module, Values] = {}
        self._named: dict[str, tuple[Module, ...]] = {}
        self._patterns: dict[Value, str | None] = {}

    def chosen(self, module: Module, names: Iterable[object]) -> Values:
        """The values that a module has under any of these names; its classes if no name is known."""
        known = [name for name in names if isinstance(name, str)]
        if not known:
            return self.classes(module)
        found = (self.evaluator.names.global_name(module, name) or () for name in known)
        return unique(value for values in found for value in values)

    def classes(self, module: Module, own: bool = False) -> Values:
        """The project's classes that a module defines or imports; `own`: only what it defines, if it does."""
        found = self.evaluator.ask(self._classes, module, (), self._find_classes, module)
        defined = tuple(value for value in found if own and isinstance(value, Klass) and value.module is module)
        return defined or found

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

    def evaluated(self, text: Expr, call: Expr, env: Env) -> list[Value]:
        """The values that `eval` of a dotted name may give, parts of which may not be known."""
        patterns = self._all_patterns(self.evaluator.values(text, env))
        return [value for pattern in patterns for value in self._reached(pattern.split(_DOT), call, env)]

    def _reached(self, steps: list[str], call: Expr, env: Env) -> Values:
        """The values of a dotted name, each part of which is a pattern."""
        if not steps[0].isidentifier():
            found = self._matching(env.module, steps[0]) if _tells(steps[0]) else ()
        else:
            found = self.evaluator.names.lookup(steps[0], env, call.start) or ()
        for step in steps[1:]:
            found = unique(value for base in found for value in self._parts(base, step, call, env))
        return found

    def _parts(self, base: Value, step: str, call: Expr, env: Env) -> Iterable[Value]:
        """What an object has under the names that a pattern stands for."""
        if step.isidentifier():
            return self.evaluator.attributes.attribute(base, step, call, env)
        if isinstance(base, Mod):
            return self._matching(base.module, step)
        if isinstance(base, Inst) and _tells(step):
            names = (name for item in self.evaluator.classes.mro(base.klass) for name in item.facts.methods)
            methods = (self.evaluator.classes.method(base, name) for name in names if re.fullmatch(step, name))
            return [method for method in methods if method is not None]
        return ()

    def _matching(self, module: Module, pattern: str) -> Values:
        """The classes of the project that a module has under such names, or else the functions."""
        names = [name for name in self._names(module, {module.path}) if re.fullmatch(pattern, name)]
        values = unique(value for name in names for value in self.evaluator.names.global_name(module, name) or ())
        classes = tuple(value for value in values if isinstance(value, Klass))
        return classes or tuple(value for value in values if isinstance(value, Func))

    def imported(self, name: Expr, env: Env) -> list[Mod]:
        """The modules that `import_module` of a text may give."""
        patterns = self._all_patterns(self.evaluator.values(name, env))
        found = (self._modules(pattern, env) for pattern in patterns if _tells(pattern))
        return [Mod(module) for modules in found for module in modules]

    def may_import(self, name: Expr, env: Env, module: Module) -> bool:
        """Whether `import_module` of a text may give a module: not where what is known of it names only others."""
        patterns = self._all_patterns(self.evaluator.values(name, env))
        named = [_named_by(_absolute(pattern, env)) for pattern in patterns]
        paths = [_dotted(other) for other in self.evaluator.index]
        return not named or any(one.fullmatch(_dotted(module)) or not any(map(one.fullmatch, paths)) for one in named)

    def _all_patterns(self, values: Values) -> list[str]:
        """Regular expressions for the texts that values may be; nothing for one that is only a part of itself."""
        found = dict.fromkeys(map(self._pattern, values))
        return [pattern for pattern in found if pattern is not None]

    def _pattern(self, value: Value) -> str | None:
        return self.evaluator.ask(self._patterns, value, None, self._find_pattern, value)

    def _find_pattern(self, value: Value) -> str | None:
        match value:
            case Const(value=str(text)):
                return re.escape(text)
            case Opaque(expr=Expr(kind="fstring", value=str(text), args=parts) as expr, env=env):
                around = text_around(expr)
                if around is not None:
                    return _joined([re.escape(around[0]), self._any_of(parts[0], env), re.escape(around[1])])
                # Where in the text the values stand is not known.
                return _PERHAPS.join(["", *map(re.escape, text), ""])
            case Opaque(expr=Expr(kind="binop", name="+", args=parts), env=env):
                return _joined([self._any_of(part, env) for part in parts])
            case ExtInst(name="str.format", call=call) if call.args[0].args:
                whole = call.args[0].args[0].value
                return _ANYTHING.join(map(re.escape, whole.split("{}"))) if isinstance(whole, str) else _ANYTHING
        return _ANYTHING

    def _any_of(self, part: Expr, env: Env) -> str | None:
        patterns = self._all_patterns(self.evaluator.values(part, env))
        if len(patterns) > 1 and self.evaluator.is_narrowed and not any(_ANYTHING in pattern for pattern in patterns):
            return f"(?:{'|'.join(patterns)})"
        return _ANYTHING if len(patterns) > 1 else next(iter(patterns), None)

    def _modules(self, pattern: str, env: Env) -> tuple[Module, ...]:
        pattern = _absolute(pattern, env)
        if pattern not in self._named:
            found = self._modules_named(pattern)
            if len(found) > MAX_MODULES:  # packages import what they offer of their own modules
                found = self._modules_named(pattern.replace(_ANYTHING, _ONE_WORD))
            self._named[pattern] = tuple(found) if len(found) <= MAX_MODULES else ()
        return self._named[pattern]

    def _modules_named(self, pattern: str) -> list[Module]:
        wanted = _named_by(pattern)
        return [module for module in self.evaluator.index if not module.is_test and wanted.fullmatch(_dotted(module))]


def _absolute(pattern: str, env: Env) -> str:
    """A pattern for the name of a module, with the package that it begins in where it begins with a dot."""
    package = env.module.path.rpartition("/")[0].replace("/", ".")
    return re.escape(package) + pattern if pattern.startswith(r"\.") else pattern


def _named_by(pattern: str) -> re.Pattern[str]:
    """What matches the dotted paths of the modules that a pattern may name, from wherever."""
    return re.compile(rf"(?:[\w.]+\.)?{pattern}")


def _dotted(module: Module) -> str:
    return stem(module.path).replace("/", ".")


def _joined(parts: list[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    text = "".join(known)
    return None if len(known) < len(parts) else text if len(text) <= MAX_LENGTH else _ANYTHING


def _tells(pattern: str) -> bool:
    """Whether a pattern has enough text of its own to tell names apart."""
    return _TELLING.search(pattern.replace(_ANYTHING, " ").replace(_PERHAPS, "")) is not None


def is_view(value: Value) -> bool:
    """Whether a value is a method of a module's namespace: `module.__dict__.items`."""
    return isinstance(value, ExtMethod) and isinstance(value.base, Mod) and value.attribute in VIEWS
