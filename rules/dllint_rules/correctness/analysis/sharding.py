"""Which iterable datasets give every worker the whole of their data, instead of a share.

That takes two things: nothing that the workers run asks which of them it is, and what the stream goes through is plain
data (a list, files, lines, a table), which cannot know either. A stream of a library may split itself: UNKNOWN.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING

from dllint.model.facts import Block, Event, Expr
from dllint.project.evaluate import Answer, Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Func, Inst, Method, Opaque, Seq, Value
from dllint.project.execution.call_graph import Reach, Running
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.flow import LOOPS

if TYPE_CHECKING:
    from dllint.project import Project

_ABOUT_WORKERS = re.compile(r"worker|getpid|current_process|parent_process", re.IGNORECASE)
_PLAIN = (
    "builtins.", "os.", "glob.", "json.", "ujson.", "orjson.", "csv.", "pickle.", "pandas.", "numpy.", "gzip.", "bz2.",
    "pathlib.", "itertools.", "zipfile.", "tarfile.", "h5py.", "io.", "re.", "jsonlines.", "yaml.", "collections.",
    "copy.", "torch.load", "torch.arange", "torch.tensor", "torch.randperm", "random.", "linecache.", "sqlite3.",
    "pyarrow.parquet.", "xml.", "lmdb.", "natsort.", "cv2.", "list.", "dict.", "str.",
)  # fmt: skip
"""Sources of data that is the same for every reader."""
_WRAPPERS = frozenset({
    "enumerate", "zip", "map", "filter", "iter", "reversed", "sorted", "list", "tuple", "set", "tqdm", "islice",
    "chain", "cycle", "starmap", "from_iterable", "deque", "batched", "copy", "deepcopy",
})  # fmt: skip
"""They give what they are given."""
_VIEWS = frozenset({"items", "keys", "values"})
_MAPPINGS = {f"{module}.{name}" for module in ("collections.abc", "typing") for name in ("Mapping", "MutableMapping")}
"""Classes that go through themselves for these."""
_FUNCTION_FIRST = frozenset({"map", "filter", "starmap"})
_SAMPLED = frozenset({"random.sample", "random.choices", "numpy.random.choice"})
_COUNTS = frozenset({"builtins.range", "tqdm.trange", "itertools.count"})
_DRAWS = re.compile(r"rand|choice|sampl|shuffle|permut|normal|uniform|poisson|multinomial|generator|rng", re.IGNORECASE)


class Source(Enum):
    """What a loop of a stream goes through."""

    PLAIN = "plain"
    FOREIGN = "foreign"
    """A library's own stream, or something drawn at random: it may be another one in each worker."""
    UNKNOWN = "unknown"


class Sharding:
    """Answers whether a dataset's stream is split between workers."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries
        self.reach = project.main_code.reach

    def whole_stream(self, inst: Inst, loader: Loader, code: Iterable[Running]) -> Env | None:
        """The `__iter__` of an iterable dataset when it surely goes through all of the data in every worker.

        `code` is what the loader's workers run.
        """
        if self.evaluator.classes.is_a(inst.klass, {"torch.utils.data.IterableDataset"}) is not Answer.YES:
            return None
        method = self.evaluator.classes.method(inst, "__iter__")
        started = self._started_with(loader)
        if method is None or started is None or self._asks_while_made(inst):
            return None
        per_item = [running for running in code if running.function not in started]
        if any(asks_for_worker(running) for running in per_item):
            return None
        env = self.evaluator.activations.method_env(inst, method.func.module, method.func.index)
        stream = _Stream(self.evaluator, self.reach, any(_draws(running.env) for running in per_item))
        return env if stream.of(env) is Source.PLAIN else None

    def _asks_while_made(self, inst: Inst) -> bool:
        """Whether `__init__` asks which worker it is in: what it remembers decides, wrong as it is."""
        envs = self.evaluator.activations.init_envs(inst).values()
        made = self.reach.walk([Running(env, ()) for env in envs])
        return any(asks_in_vain(running.env) for running in made if running.env.function >= 0)

    def _started_with(self, loader: Loader) -> set[tuple[str, int]] | None:
        """The functions that `worker_init_fn` runs; None where these may give each worker its share."""
        entries = []
        for pair in self.boundaries.argument(loader, "worker_init_fn")[0]:
            for value in self.evaluator.values(*pair):
                match value:
                    case Const(value=None):
                        continue
                    case Method(owner=owner, func=func):
                        env = self.evaluator.activations.method_env(owner, func.module, func.index)
                    case Func():
                        env = self.evaluator.activations.activation(value, None, None)
                    case _:
                        return None
                entries.append(Running(env, ()))
        code = list(self.reach.walk(entries))
        return None if any(_speaks_of_dataset(running) for running in code) else {item.function for item in code}


def _speaks_of_dataset(running: Running) -> bool:
    return any("dataset" in part.name for event in running.events for part in event.walk())


def asks_for_worker(running: Running) -> bool:
    """Whether code speaks of workers or processes, other than to ask for a worker info that it never looks at."""
    idle = _idle(running.events)
    return any(_speaks_of_workers(event) for event in running.events if event not in idle)


def asks_in_vain(env: Env) -> bool:
    """Whether a function calls `get_worker_info()`; for streams that nothing splits."""
    return any(part.name == "get_worker_info" for event in env.facts.events for part in event.walk())


def _speaks_of_workers(event: Event) -> bool:
    return any(
        _ABOUT_WORKERS.search(part.name) or any(_ABOUT_WORKERS.search(key) for key, _ in part.keywords)
        for part in event.walk()
    )


def _idle(events: tuple[Event, ...]) -> list[Event]:
    """The events that only keep what `get_worker_info()` says under names that only such events read."""
    found = [event for event in events if _only_asks(event)]
    while True:
        read = {part.name for event in events if event not in found for part in event.walk() if part.kind == "name"}
        kept = [event for event in found if event.target is None or event.target.name not in read]
        if len(kept) == len(found):
            return kept
        found = kept


def _only_asks(event: Event) -> bool:
    if event.kind not in ("assign", "expr") or (event.target is not None and event.target.kind != "name"):
        return False
    asked = [part.args[0].name == "get_worker_info" for part in event.walk() if part.kind == "call"]
    return bool(asked) and all(asked)


class _Stream:
    """Follows one stream to what it goes through."""

    def __init__(self, evaluator: Evaluator, reach: Reach, drawn: bool) -> None:
        self.evaluator = evaluator
        self.reach = reach
        self.drawn = drawn
        """Something that the workers run draws at random."""
        self._streams: dict[Env, Source] = {}
        self._sources: dict[Value, Source] = {}

    def of(self, env: Env) -> Source:
        """What a generator, or a function that returns an iterator, goes through."""
        return self.evaluator.ask(self._streams, env, Source.UNKNOWN, self._of, env)

    def _of(self, env: Env) -> Source:
        events = [event for event in env.facts.events if self.evaluator.conditions.may_run(env, event.start)]
        if not env.facts.is_generator:
            returned = [event.value for event in events if event.kind == "return" and event.value is not None]
            return _worst(self._iterated(value, env) for value in returned)
        return _worst(
            self._yielded(event, part, env)
            for event in events
            for part in event.walk()
            if part.kind == "yieldfrom" or (part.kind == "yield" and event.block >= 0)
        )

    def _yielded(self, event: Event, part: Expr, env: Env) -> Source:
        """The loops around a `yield`, outermost first, and what a `yield from` goes through."""
        blocks = [env.module.block(index) for index in env.module.enclosing(event.block)]
        loops = [block for block in reversed(blocks) if block.kind in LOOPS]
        if self.drawn and any(block.kind == "while" for block in loops):
            return Source.FOREIGN
        loops = [block for block in loops if block.kind == "for"]
        found = [self._loop(block, loops[:position], env) for position, block in enumerate(loops)]
        if part.kind == "yieldfrom":
            found.append(self._inside(part.args[0], loops, env))
        return _worst(found)

    def _loop(self, block: Block, around: list[Block], env: Env) -> Source:
        assert block.test is not None
        if self._counts(block.test, env) and (self.drawn or not _uses_target(block, env)):
            # So many items are made or drawn; around other loops it repeats them, which says nothing of them.
            return Source.PLAIN if around else Source.UNKNOWN
        return self._inside(block.test, around, env)

    def _inside(self, expr: Expr, loops: list[Block], env: Env) -> Source:
        """What is found through the loops around it is as plain as what these iterate over."""
        found = self._iterated(expr, env)
        if found is Source.UNKNOWN and any(_bound_by(block, expr, env) for block in loops):
            return Source.PLAIN
        return found

    def _counts(self, expr: Expr, env: Env) -> bool:
        """A range of numbers other than the positions in a container."""
        for value in self.evaluator.values(expr, env):
            if isinstance(value, ExtInst) and value.name in _COUNTS and value.call.kind == "call":
                return not any(part.args[0].name == "len" for part in value.call.walk() if part.kind == "call")
        return False

    def _iterated(self, expr: Expr, env: Env) -> Source:
        return _worst(map(self._value, self.evaluator.values(expr, env)))

    def _value(self, value: Value) -> Source:
        return self.evaluator.ask(self._sources, value, Source.UNKNOWN, self._find_source, value)

    def _find_source(self, value: Value) -> Source:
        match value:
            case Const():
                return Source.PLAIN
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                return self._iterated(next(inner for key, inner in expr.keywords if key == "in"), env)
            case Seq():
                return Source.PLAIN
            case Inst():
                return self._instance(value)
            case ExtInst(name="types.generator", call=expr, env=env) | Opaque(expr=expr, env=env) if (
                expr.kind == "call"
            ):
                called = [edge.env for edge in self.reach.edges(env) if edge.at is expr]
                gone_through = [self.of(item) for item in called if item.facts.is_generator]
                return _worst(gone_through or self._viewed(expr.args[0], env))
            case ExtInst():
                return self._external(value)
        return Source.UNKNOWN

    def _external(self, value: ExtInst) -> Source:
        name, short = value.name, value.name.rpartition(".")[2]
        if name in _SAMPLED:
            return Source.FOREIGN
        if value.base is not None:
            return self._value(value.base)
        if value.call.kind == "call" and short in _WRAPPERS:
            given = value.call.args[2 if short in _FUNCTION_FIRST else 1 :]
            return _worst(self._iterated(arg, value.env) for arg in given[: 1 if short == "islice" else None])
        return Source.PLAIN if name.startswith(_PLAIN) else Source.FOREIGN

    def _viewed(self, callee: Expr, env: Env) -> list[Source]:
        """What `items()` and the like of a project's own mapping go through, which it has from its base: itself."""
        if callee.kind != "attribute" or callee.name not in _VIEWS:
            return []
        viewed = self.evaluator.values(callee.args[0], env)
        return [
            self._instance(value)
            if isinstance(value, Inst) and self.evaluator.classes.is_a(value.klass, _MAPPINGS) is Answer.YES
            else Source.UNKNOWN
            for value in viewed
        ]

    def _instance(self, inst: Inst) -> Source:
        method = self.evaluator.classes.method(inst, "__iter__")
        if method is None:
            # What is read by index knows as little of workers as a list.
            indexed = self.evaluator.classes.method(inst, "__getitem__") is not None
            return Source.PLAIN if indexed else Source.UNKNOWN
        return self.of(self.evaluator.activations.method_env(inst, method.func.module, method.func.index))


def _worst(sources: Iterable[Source]) -> Source:
    """Plain when there is something and all of it is."""
    found = set(sources)
    if Source.FOREIGN in found:
        return Source.FOREIGN
    return Source.PLAIN if found == {Source.PLAIN} else Source.UNKNOWN


def _draws(env: Env) -> bool:
    """Whether code draws at random, going by the names of what it calls."""
    return any(
        part.kind == "call" and _DRAWS.search(part.args[0].dotted or part.args[0].name)
        for event in env.module.events(env.function)
        for part in event.walk()
    )


def _uses_target(block: Block, env: Env) -> bool:
    """Whether the body of a loop reads what it counts."""
    heads = [event for event in env.facts.events if event.kind == "for" and event.value is block.test]
    targets = {part.name for head in heads if head.target is not None for part in head.target.walk()}
    return any(
        part.kind == "name" and part.name in targets
        for event in env.facts.events
        if block.start <= event.start < block.end and event.value is not None
        for part in event.value.walk()
    )


def _bound_by(block: Block, expr: Expr, env: Env) -> bool:
    """Whether an expression reads a name that a loop around it binds."""
    names = {part.name for part in expr.walk() if part.kind == "name"}
    return any(
        part.kind == "name" and part.name in names
        for event in env.facts.events
        if event.target is not None
        if event.value is block.test or block.start <= event.start < min(block.end, expr.start)
        for part in event.target.walk()
    )
