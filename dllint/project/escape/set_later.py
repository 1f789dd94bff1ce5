"""What an object only gets once a process has taken it along: `super().__init__()` starts one, then `self.clean = ...`.

Only while the object is being made: a method that is called again finds what its first call has left.
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.finding import Note
from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Inst
from dllint.project.program.flow import LOOPS


class SetLater:
    """Answers which attributes an object has not yet where its constructor leads to the start of a process."""

    def __init__(self, evaluator: Evaluator, call: Expr, env: Env) -> None:
        """`call` makes the process in an activation that may start it."""
        self.evaluator = evaluator
        self._sent = {
            (around.receiver, around.module.path, around.function): end
            for last in _starts(env, call)[-1:]
            for around, end in self._once(env, last)
        }
        """Where the constructors of an object, and methods that they call once, have sent it to the process."""

    def has(self, owner: Inst, attribute: str, written: Note) -> bool:
        """Whether an object gets an attribute, by what is written at a place, only after it is sent."""
        if not self._sent:
            return False
        module = self.evaluator.index.modules[written.path]
        write = module.write_at(attribute, written.span)
        if write is None or write.target.args[0].name != module.receiver_name(write.function):
            return False
        sent = self._sent.get((owner, module.path, write.function))
        return sent is not None and write.event.end >= sent

    def _once(self, env: Env, start: Event) -> Iterator[tuple[Env, int]]:
        """The activations that run once for their object, each with where it has sent that to a process."""
        below: list[tuple[Env, int]] = []
        around: Env | None = env
        place: Expr | Event = start
        while around is not None and around.function >= 0:
            loops = _loops(around, place)
            if loops or (below and below[-1][0].receiver is not around.receiver):
                below = []
            if isinstance(around.receiver, Inst):
                below.append((around, max((place.end, *loops))))
                if around.facts.name == "__init__":
                    yield from below
                    below = []
                elif len(self.evaluator.call_sites.callers(around.module, around.function)) != 1:
                    below = []
            if around.call is None:
                return
            place, around = around.call, around.caller


def _starts(env: Env, call: Expr) -> list[Event]:
    """The statements that may start a process which their function has made."""
    below = (event for event in env.module.events(env.function) if event.end >= call.end)
    return [event for event in below if any(part.kind == "attribute" and part.name == "start" for part in event.walk())]


def _loops(env: Env, place: Expr | Event) -> list[int]:
    """Where the loops around a place have ended."""
    module = env.module
    blocks = map(module.block, module.enclosing(module.block_at(env.function, place.start)))
    return [block.end + 1 for block in blocks if block.kind in LOOPS]
