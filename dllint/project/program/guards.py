"""Conditions that decide where code runs: the main guard, and tests for being in a worker."""

from __future__ import annotations

from collections.abc import Callable

from dllint.model.facts import Event, Expr
from dllint.project.program.events import leaves
from dllint.project.program.module import Module

_Test = Callable[[Expr | None], bool]

_CATCHING = frozenset({"RuntimeError", "Exception", "BaseException"})
"""What catches the error of a spawned worker that starts workers while it imports the main script."""
IN_WORKER = "__mp_main__"
"""The name of the main script in a spawned worker."""
_ABOUT_PROCESSES = frozenset({"daemon", "current_process", "parent_process", "get_worker_info", "worker_info"})


def is_main_test(test: Expr | None) -> bool:
    """Whether a test fails in a spawned worker: `__name__ == "__main__"`, or the main process asked for by its name.

    `parent_process()` is None too while a spawned process imports the main script.
    """
    return test is not None and _in_worker(test) is False


def is_other_test(test: Expr | None) -> bool:
    """The opposite, which holds in a spawned worker: `__name__ != "__main__"`."""
    return test is not None and _in_worker(test) is True


def _in_worker(test: Expr) -> bool | None:
    """What a test comes to in a spawned worker that imports the main script as `__mp_main__`; None: not known."""
    match test.kind:
        case "boolop":
            parts = [_in_worker(arg) for arg in test.args]
            decides = test.name == "or"
            if decides in parts:
                return decides
            return None if None in parts else not decides
        case "unary" if test.name == "not":
            inner = _in_worker(test.args[0])
            return None if inner is None else not inner
        case "compare" if len(test.args) == 2:
            return _compared(test)
        case "call" if test.args[0].kind == "attribute" and len(test.args) == 2:
            prefix, asked = test.args[1].value, test.args[0]
            if asked.name == "startswith" and asked.args[0].name == "__name__" and isinstance(prefix, str):
                return IN_WORKER.startswith(prefix)
    return None


def _compared(test: Expr) -> bool | None:
    """What a comparison of the module's or the process's name comes to in a spawned worker."""
    subject, other = test.args
    if test.name in ("==", "!="):
        same = _is_equal(subject, other)
        same = _is_equal(other, subject) if same is None else same
        return same if same is None or test.name == "==" else not same
    if test.name in ("in", "not in") and subject.name == "__name__" and other.kind in ("tuple", "list", "set"):
        names = [item.value for item in other.args]
        if all(isinstance(name, str) for name in names):
            return (IN_WORKER in names) is (test.name == "in")
    return None


def _is_equal(subject: Expr, other: Expr) -> bool | None:
    if not isinstance(other.value, str):
        return None
    if subject.name == "__name__":
        return other.value == IN_WORKER
    return False if other.value == "MainProcess" else None


def is_never_equal(subject: Expr, other: Expr) -> bool:
    """Whether a module's name is compared with one that none has: `__name__ == "__main2__"` turns a guard off."""
    compared = other.value if subject.kind == "name" and subject.name == "__name__" else ""
    return isinstance(compared, str) and compared.startswith("__main") and compared != "__main__"


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


_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
"""Context managers of pytest and unittest whose block must end with an error."""


def must_raise(module: Module, function: int, offset: int) -> bool:
    """Whether a test expects that the code at an offset ends with an error: in `with pytest.raises(ValueError):`."""
    blocks = map(module.block, module.enclosing(module.block_at(function, offset)))
    return any(
        block.kind == "with"
        and block.test is not None
        and block.test.kind == "call"
        and block.test.args[0].name in _EXPECTING
        for block in blocks
    )
