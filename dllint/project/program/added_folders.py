"""The folders that scripts put on `sys.path`, as far as they write their names down."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator

from dllint.model.facts import Expr
from dllint.project.program.module import Module, Site

ADDING = ("append", "extend", "insert", "addsitedir")
"""The last names of what adds to `sys.path`."""
_STEPS = 3
"""From a name to what it is bound to, from a parameter to what calls pass for it."""


def adds(site: Site) -> bool:
    """Whether a call of one of these names adds to `sys.path`."""
    callee = site.expr.args[0]
    return callee.name == "addsitedir" or callee.dotted.startswith("sys.path.")


def added(module: Module, folders: Collection[str]) -> Iterator[str]:
    """Those of the project's folders that a module puts on `sys.path`: `sys.path.insert(0, join(here, "..", "lib"))`.

    The texts of an expression are taken for the end of a path, from the module's folder or one around it.
    """
    for name in ADDING:
        for call in module.calls.get(name, ()):
            if adds(Site(module, call.function, call.event, call.expr)):
                for expr in _meant(call.expr.args[-1], module, call.function, _STEPS):
                    yield from _folder(expr, module, folders)


def _folder(expr: Expr, module: Module, folders: Collection[str]) -> Iterator[str]:
    """The nearest folder that the texts of an expression name."""
    text = "/".join(part.value for part in expr.walk() if isinstance(part.value, str))
    here = posixpath.dirname(module.path)
    while text:
        folder = posixpath.normpath(posixpath.join(here, text))
        if folder in folders:
            yield folder
        if folder in folders or not here:
            return
        here = posixpath.dirname(here)


def _meant(expr: Expr, module: Module, function: int, steps: int) -> Iterator[Expr]:
    """What stands for an expression: of a name, what is bound to it, or what calls in the module pass for it."""
    if expr.kind != "name" or not steps:
        yield expr
        return
    scope = function if function >= 0 and expr.name in module.model.functions[function].bound else -1
    for binding in module.bindings[scope, -1].get(expr.name, ()):
        if binding.kind == "parameter":
            yield from _passed(expr.name, module, scope, steps - 1)
        elif binding.event is not None and binding.event.value is not None:
            yield from _meant(binding.event.value, module, scope, steps - 1)


def _passed(parameter: str, module: Module, function: int, steps: int) -> Iterator[Expr]:
    facts = module.model.functions[function]
    position = [item.name for item in facts.parameters].index(parameter) + 1
    for call in module.calls.get(facts.name, ()):
        if call.expr.args[0].kind == "name" and len(call.expr.args) > position:
            yield from _meant(call.expr.args[position], module, call.function, steps)
