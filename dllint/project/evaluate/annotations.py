"""What annotations say of parameters: where they exclude an object, nobody has to ask for all that callers pass.

They answer nothing themselves. A parameter that is declared to be of one class is no object of another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Ext, Klass
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_SIMPLE = frozenset({
    "builtins.bool", "builtins.bytes", "builtins.dict", "builtins.float", "builtins.frozenset", "builtins.int",
    "builtins.list", "builtins.set", "builtins.str", "builtins.tuple",
})  # fmt: skip
"""Types whose objects are of no class of the project, unless one derives from them."""
_PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})
Modules = frozenset[Module]


class Annotations:
    """Answers which modules' code an annotated parameter may lead to."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._declared: dict[tuple[Module, int, str], Modules | None] = {}
        self._families: dict[Ext | Klass, Modules | None] = {}

    def excludes(self, name: Expr, module: Module, function: int, wanted: Module) -> bool:
        """Whether a name is a parameter whose annotation says that it is no object of a module's classes."""
        if name.kind != "name" or function < 0:
            return False
        key = module, function, name.name
        modules = self.evaluator.kept(self._declared, key, self._find_declared, *key)
        return modules is not None and wanted not in modules

    def _find_declared(self, module: Module, function: int, name: str) -> Modules | None:
        """The modules that the classes of a parameter's objects are defined in; None where that isn't known."""
        parameters = module.model.functions[function].parameters
        found = next((item for item in parameters if item.name == name and item.kind not in ("args", "kwargs")), None)
        if found is None or found.annotation is None or len(module.bindings[function, -1].get(name, ())) != 1:
            return None
        every: set[Module] = set()
        for part in _alternatives(found.annotation):
            modules = self._named(part, module)
            if modules is None:
                return None
            every |= modules
        return frozenset(every)

    def _named(self, part: Expr, module: Module) -> Modules | None:
        if part.kind == "constant" and part.value is None:
            return frozenset()
        if part.kind == "subscript" and part.args[0].name != "type":
            part = part.args[0]
        if part.kind == "constant" and isinstance(part.value, str) and part.value.isidentifier():
            values = self.evaluator.names.global_name(module, part.value)
        elif part.kind in ("name", "attribute"):
            values = self.evaluator.values(part, self.evaluator.generic(module, -1))
        else:
            return None
        if values is None or len(values) != 1:
            return None
        if not isinstance(values[0], (Ext, Klass)):
            return None
        return self.evaluator.kept(self._families, values[0], self._family, values[0])

    def _family(self, of: Ext | Klass) -> Modules | None:
        """The modules of all classes that objects of a class may be of, and of their bases."""
        classes = self.evaluator.classes
        if isinstance(of, Klass):
            family = (of, *classes.subclasses(of))
            if not classes.plain(of) or any(name in _PROTOCOLS for name in classes.external_bases(of)):
                return None
        elif of.name in _SIMPLE:
            family = classes.derived_from(of.name)
        else:
            return None
        return frozenset(base.module for item in family for base in classes.mro(item))


def _alternatives(annotation: Expr) -> Iterator[Expr]:
    """The parts of `A | B`, `Union[A, B]` and `Optional[A]`."""
    if annotation.kind == "binop" and annotation.name == "|":
        for part in annotation.args:
            yield from _alternatives(part)
    elif annotation.kind == "subscript" and annotation.args[0].name in ("Optional", "Union"):
        for part in annotation.args[1:]:
            for inner in part.args if part.kind == "tuple" else (part,):
                yield from _alternatives(inner)
    else:
        yield annotation
