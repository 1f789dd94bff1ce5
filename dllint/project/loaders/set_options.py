"""Options that ask for no workers where code makes a loader, or what that loads: `args.dataloader_num_workers = 0`.

Below `assert args.dataloader_num_workers == 0`, or a test for more that raises an error, they ask for none either.
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Values
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.evaluate.exclusion import Known, told_by
from dllint.project.evaluate.shapes import surely_written
from dllint.project.loaders.worker_counts import WorkerCounts, Workers
from dllint.project.program.flow import decided, ends_before
from dllint.project.program.module import Write

_SOME = Known("", True, order=(">", 0))


class SetOptions:
    """Answers where an option surely asks for no workers."""

    def __init__(self, evaluator: Evaluator, counts: WorkerCounts) -> None:
        self.evaluator = evaluator
        self.counts = counts
        self._never_some = AtRest(evaluator, self._find_never_some)

    def ask_for_none(self, options: Values, option: str, call: Expr, env: Env) -> bool:
        """Whether objects of options ask for none wherever a call runs, in an activation and those that led there."""
        if not options or not self._never_some[option]:
            return False
        where: Env | None = env
        at_once = list(_set_at_once(option, call, env))
        while where is not None:
            owners = [*self._owners(option, call, where), *(at_once if where is env else ())]
            if any(set(options).issubset(self.evaluator.values(owner, where)) for owner in owners):
                return True
            if where.call is None:
                return False
            call, where = where.call, where.caller
        return False

    def _find_never_some(self, option: str) -> bool:
        """Whether nothing sets an option to any workers."""
        return all(
            self._is_none(write, self.evaluator.generic(module, write.function))
            for module in self.evaluator.index
            for write in module.attribute_writes.get(option, ())
        )

    def _is_none(self, write: Write, env: Env) -> bool:
        value = write.event.value if write.event.kind == "assign" else None
        return value is not None and self.counts.of_expression(value, env) is Workers.NONE

    def _owners(self, option: str, call: Expr, env: Env) -> Iterator[Expr]:
        """What surely has an option at none where a call runs."""
        module, function = env.module, env.function
        tests = [(known.test, known.holds) for known in decided(module, function, call.start)]
        ends = ends_before(module, function, call.start, module.ending[function])
        tests += [(event.value, True) for event, under in ends if event.kind == "assert" and event.value and not under]
        for told in (told for test in tests for told in told_by(*test)):
            known = Known("", told.holds, told.constants, told.order)
            if told.about.kind == "attribute" and told.about.name == option and known.excludes(_SOME):
                yield told.about.args[0]
        own = [write for write in module.attribute_writes.get(option, ()) if write.function == function]
        for dotted in dict.fromkeys(write.target.dotted for write in own):
            writes = [write for write in own if write.target.dotted == dotted]
            if dotted and surely_written(module, function, writes, call.start):
                yield writes[0].target.args[0]


def _set_at_once(option: str, made: Expr, env: Env) -> Iterator[Expr]:
    """What code sets an option of right after it has made something, before it calls anything else."""
    events = env.module.events(env.function)
    making = next((event for event in events if event.value is made), None)
    if making is None:
        return
    for event in (event for event in events if event.start >= making.end):
        calls = any(part.kind == "call" for part in event.walk())
        if event.kind != "assign" or event.target is None or event.block != making.block or calls:
            return
        if event.target.kind == "attribute" and event.target.name == option:
            yield event.target.args[0]
