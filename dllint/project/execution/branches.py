"""What a branch sets together: a function and the constants beside it, a kind of process and of what it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Ext, ExtInst, Func, Value
from dllint.project.program.flow import LOOPS, reaching
from dllint.project.program.module import Module


class Branches:
    """Finds the activation that a call makes where its caller takes one branch."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._calls: dict[tuple[int, int], Expr] = {}

    def of(self, value: Value, env: Env) -> Env | None:
        """The activation that gets a local function of its caller's, if the function's branch says more of it.

        `if fast: run, processes = ..., False` and `else: ...` before `pool(run, processes)`: each function comes with
        the constants of its own branch.
        """
        caller = env.caller
        if not isinstance(value, Func) or env.call is None or caller is None:
            return None
        if value.module is not caller.module or value.facts.parent != caller.function:
            return None
        events = caller.module.events(caller.function)
        made = next((item for item in events if item.kind == "def" and item.ref == value.index), None)
        if made is None or made.block < 0:
            return None
        key = id(env.call), made.block
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _with_constants(env.call, made, caller)
        if call is env.call:
            return None
        return self.evaluator.env(env.module, env.function, call, caller, env.receiver, env.outer, env.skip)

    def never_meet(self, call: Expr, env: Env, wanted: Callable[[Value], bool], value: Value) -> bool:
        """Whether a branch that makes a value excludes the one that sets a wanted meaning of what is called.

        `if threads: worker, queue = Thread, queue.Queue()` and `else: ...` before `worker(args=(queue,))`. The other
        branch may also set what makes the value: `if threads: worker, lock = Thread, threading.Lock`.
        """
        if not isinstance(value, ExtInst) or value.env is not env or value.call.kind != "call":
            return False
        here = list(self._setting(call.args[0], env, wanted))
        made = _unless_again(env.module, env.module.block_at(env.function, value.call.start))
        there = list(self._setting(value.call.args[0], env, lambda given: given == Ext(value.name)))
        return bool(here) and any(
            bool(others) and all(_in_other_branch(env.module, one, other) for one in here for other in others)
            for others in ([made], there)
        )

    def _setting(self, name: Expr, env: Env, wanted: Callable[[Value], bool]) -> Iterator[int]:
        """The blocks in which a name gets a wanted value; -1 for one that a loop may set anew."""
        module = env.module
        bindings = module.bindings[env.function, -1].get(name.name, ()) if name.kind == "name" else ()
        for binding in reaching(module, env.function, bindings, name.start):
            if any(map(wanted, self.evaluator.names.bound_values(binding, name.name, env))):
                yield _unless_again(module, binding.block)


def _with_constants(call: Expr, made: Event, caller: Env) -> Expr:
    """A call with the constants that a branch gives to names that are passed, in place of these."""

    def said(part: Expr) -> Expr:
        return (_constant(part, made, caller) or part) if part.kind == "name" else part

    args = (call.args[0], *map(said, call.args[1:]))
    keywords = tuple((key, said(part)) for key, part in call.keywords)
    before = (*call.args, *(part for _, part in call.keywords))
    if all(new is old for new, old in zip((*args, *(part for _, part in keywords)), before, strict=True)):
        return call
    return msgspec.structs.replace(call, args=args, keywords=keywords)


def _constant(name: Expr, made: Event, caller: Env) -> Expr | None:
    """The constant that a name has where the branch of a definition was taken."""
    module = caller.module
    bound = reaching(module, caller.function, module.bindings[caller.function, -1].get(name.name, ()), name.start)
    own = [item for item in bound if item.block == made.block]
    others = [item for item in bound if item.block != made.block]
    if len(own) != 1 or not all(_in_other_branch(module, item.block, made.block) for item in others):
        return None
    event = own[0].event
    value = event.value if event is not None and event.kind == "assign" else None
    return value if value is not None and value.kind == "constant" else None


def _unless_again(module: Module, block: int) -> int:
    """A block; -1 for one that a loop may run again, after another branch."""
    return -1 if any(module.block(index).kind in LOOPS for index in module.enclosing(block)) else block


def _in_other_branch(module: Module, one: int, other: int) -> bool:
    """Whether two blocks are in the two branches of one `if`."""
    chains = [list(module.enclosing(block)) for block in (one, other)]
    return any(
        module.block(index).kind == "else" and module.block(index).partner in there
        for here, there in (chains, chains[::-1])
        for index in here
    )
