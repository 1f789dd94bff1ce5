"""Conditions that decide where code runs: the main guard, and tests for being in a worker."""

from __future__ import annotations

from collections.abc import Callable

from dllint.model.facts import Event, Expr
from dllint.project.program.events import leaves
from dllint.project.program.module import Module

_Test = Callable[[Expr | None], bool]

_CATCHING = frozenset({"RuntimeError", "Exception", "BaseException"})
"""What catches the error of a spawned worker that starts workers while it imports the main script."""
_ABOUT_PROCESSES = frozenset({"daemon", "current_process", "parent_process", "get_worker_info", "worker_info"})


def is_main_test(test: Expr | None) -> bool:
    """`__name__ == "__main__"`, either way round, alone or in an `and`; or the main process asked for by its name.

    `parent_process()` is None too while a spawned process imports the main script.
    """
    if test is None:
        return False
    if test.kind == "boolop":
        return test.name == "and" and any(is_main_test(arg) for arg in test.args)
    if test.kind == "compare" and test.name == "==":
        return _names_main(test) or _names_main_process(test)
    if test.kind == "compare" and test.name == "in":
        return test.args[0].name == "__name__" and [item.value for item in test.args[1].args] == ["__main__"]
    return False


def is_other_test(test: Expr | None) -> bool:
    """The opposite: `__name__ != "__main__"`."""
    if test is None:
        return False
    if test.kind == "unary" and test.name == "not":
        return is_main_test(test.args[0])
    return test.kind == "compare" and test.name == "!=" and (_names_main(test) or _names_main_process(test))


def _names_main(test: Expr) -> bool:
    return {"__name__", "__main__"} == {
        test.args[0].name or test.args[0].value,
        test.args[1].name or test.args[1].value,
    }


def _names_main_process(test: Expr) -> bool:
    return any(arg.value == "MainProcess" for arg in test.args)


def _is_call_to(expr: Expr, name: str) -> bool:
    return expr.kind == "call" and expr.args[0].name == name


def under_main_guard(module: Module, function: int, event: Event) -> bool:
    """Whether an event only runs in the main script's own process: spawned workers never run it.

    They do not run the cells of a notebook either, because they cannot import it.
    """
    if module.notebook and function < 0:
        return True
    if _inside(module, event.block, is_main_test, is_other_test) or _guards_itself(event):
        return True
    return any(_leaves_unless_main(module, function, index, event.start) for index in module.negative_tests)


def _guards_itself(event: Event) -> bool:
    """`main() if __name__ == "__main__" else None`, `__name__ == "__main__" and main()`."""
    value = event.value
    if event.kind != "expr" or value is None or value.kind not in ("ifexp", "boolop"):
        return False
    return value.name != "or" and is_main_test(value.args[0])


def _inside(module: Module, block: int, positive: _Test, negative: _Test) -> bool:
    for index in module.enclosing(block):
        facts = module.block(index)
        if facts.kind in ("if", "case") and positive(_spelled_out(module, facts.test)):
            return True
        if facts.kind == "else" and facts.partner >= 0:
            if negative(_spelled_out(module, module.block(facts.partner).test)):
                return True
    return False


def _spelled_out(module: Module, test: Expr | None) -> Expr | None:
    """The test that a module's name stands for: `IS_MAIN = __name__ == "__main__"`."""
    if test is None or test.kind != "name":
        return test
    bindings = module.bindings[-1, -1].get(test.name, ())
    event = bindings[0].event if len(bindings) == 1 else None
    return event.value if event is not None and event.kind == "assign" else test


def _leaves_unless_main(module: Module, function: int, block: int, before: int) -> bool:
    """`if __name__ != "__main__": return` (or raise, or exit), in a function before an offset."""
    facts = module.block(block)
    if facts.kind != "if" or not is_other_test(facts.test):
        return False
    inside = [event for event in module.events(function) if event.block == block]
    return any(event.start < before for event in inside) and any(map(leaves, inside))


def is_survived(module: Module, function: int, event: Event) -> bool:
    """Whether a worker that starts workers here goes on: `try: ... except Exception: print(...)` takes the error."""
    tries = [index for index in module.enclosing(event.block) if module.block(index).kind == "try"]
    return any(_takes_error(module, function, index) for index in tries)


def _takes_error(module: Module, function: int, index: int) -> bool:
    for handler, facts in enumerate(module.model.blocks):
        if facts.kind == "except" and facts.partner == index and _catches(facts.test):
            inside = (event for event in module.events(function) if handler in module.enclosing(event.block))
            return not any(leaves(event) and event.kind != "return" for event in inside)
    return False


def _catches(caught: Expr | None) -> bool:
    kinds = caught.args if caught is not None and caught.kind == "tuple" else (caught,)
    return any(kind is None or kind.name in _CATCHING for kind in kinds)


def _is_no_worker_test(test: Expr | None) -> bool:
    """`get_worker_info() is None`, directly or through a name that says so; `parent_process() is None`."""
    return test is not None and test.kind == "compare" and test.name == "is" and _about_worker_info(test)


def _is_worker_test(test: Expr | None) -> bool:
    return test is not None and test.kind == "compare" and test.name == "is not" and _about_worker_info(test)


def _about_worker_info(test: Expr) -> bool:
    subject, other = test.args[0], test.args[1]
    named = "worker_info" in subject.name or any(
        _is_call_to(subject, name) for name in ("get_worker_info", "parent_process")
    )
    return named and other.kind == "constant" and other.value is None


def only_in_main(module: Module, function: int, event: Event) -> bool:
    """Whether an event of code that also runs in workers only runs outside workers."""
    if _inside(module, event.block, is_main_test, is_other_test):
        return True
    return _inside(module, event.block, _is_no_worker_test, _is_worker_test)


def asks_for_process(module: Module, function: int, event: Event) -> bool:
    """Whether code asks before an event, or around it, which process it is in; whatever it does with the answer."""
    tests = [item.value for item in module.events(function) if item.kind == "test" and item.start <= event.start]
    return any(expr.name in _ABOUT_PROCESSES for test in tests if test is not None for expr in test.walk())
