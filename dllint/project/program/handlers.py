"""What becomes of the error of a name that nothing has set: handlers let it through, report it or deal with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from dllint.model.facts import Event, Expr
from dllint.project.program.events import leaves
from dllint.project.program.module import Module

End = Literal["raised", "reported", "handled"]

_CATCHING = frozenset({"NameError", "AttributeError", "TypeError", "Exception", "BaseException"})
"""What catches the error of an unset name, or of a name that is `None`."""
_REPORTING = frozenset({"print_exc", "format_exc", "exception"})
"""Functions that report the error being handled: those of `traceback` and of loggers."""


def end_of_error(module: Module, function: int, event: Event) -> End:
    """What becomes of the error that an event raises.

    A handler that reports an error did not expect it: what works without the name has nothing to report.
    """
    for index in module.enclosing(event.block):
        if module.block(index).kind == "try":
            handler = next((item for item in _handlers(module, index) if _may_catch(module.block(item).test)), -1)
            inside = [item for item in module.events(function) if handler in module.enclosing(item.block)]
            if handler >= 0 and not any(item.block == handler and _fails(item) for item in inside):
                return "reported" if _reports(module, function, handler, inside) else "handled"
    return "raised"


def _handlers(module: Module, index: int) -> Iterator[int]:
    for handler, facts in enumerate(module.model.blocks):
        if facts.kind == "except" and facts.partner == index:
            yield handler


def _may_catch(caught: Expr | None) -> bool:
    """Whether a handler may be for such an error: it names one, takes all, or takes what a variable holds."""
    kinds = caught.args if caught is not None and caught.kind == "tuple" else (caught,)
    return any(kind is None or kind.name in _CATCHING or not _is_class(kind.name) for kind in kinds)


def _is_class(name: str) -> bool:
    return name[:1].isupper() and not name.isupper()


def _fails(event: Event) -> bool:
    return leaves(event) and event.kind != "return"


def _reports(module: Module, function: int, handler: int, inside: list[Event]) -> bool:
    """Whether a handler reads the error that it has caught, or has it printed."""
    facts = module.block(handler)
    since = facts.test.end if facts.test is not None else facts.start
    caught = (item for item in module.events(function) if item.kind == "except" and since <= item.start < facts.start)
    names = {name for item in caught for name in item.names}
    return any(part.name in names | _REPORTING for item in inside for part in item.walk())
