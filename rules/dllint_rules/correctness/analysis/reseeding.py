"""What `worker_init_fn` seeds random generators with, and whether that is the same in every epoch.

torch seeds the global generators of `random`, NumPy and torch in each worker, differently in each epoch, and calls
`worker_init_fn` after that: code that seeds there replaces a good seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Expr
from dllint.project.evaluate import Argument
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, Func, Method, Value
from dllint.project.execution.call_graph import Running
from dllint.project.loaders.boundaries import Loader
from dllint_rules.correctness.analysis.random_state import GENERATORS

if TYPE_CHECKING:
    from dllint.project import Project

_SEEDERS = frozenset({
    "numpy.random.seed", "random.seed", "torch.manual_seed", "torch.random.manual_seed",
    "lightning.seed_everything", "transformers.set_seed", "lightning.fabric.seed_everything",
})  # fmt: skip
_ALL = frozenset({"random", "numpy", "torch"})
_SEEDED = {name: frozenset({name}) for name in _ALL}
_SMALL = frozenset({"numpy.random.seed", "numpy.random.RandomState"})
"""They refuse what is not below 2**32 (measured; `default_rng`, `random` and torch take any size)."""
_FRESH = re.compile(r"epoch|initial_seed|time|step|iter|rand|entropy|getpid|base_seed|uuid|date|hash", re.IGNORECASE)
"""Names of what differs from one start of the workers to the next, or may."""
_CONFIGURED = re.compile(r"_?rand(?:om)?_?seed", re.IGNORECASE)
"""Names of seeds that make a program's random numbers the same in every run: settings, unless they are drawn."""
_ON_PURPOSE = re.compile(r"debug|determinis", re.IGNORECASE)
"""Names of functions whose seeds are to be the same each time."""
RANK = re.compile(r"(?:^|_)(?:rank|process|worker_?group|gpu)(?:_?(?:id|idx|index|number))?$", re.IGNORECASE)
"""Names of what tells processes apart, each of which has workers of its own."""
_CUTS = frozenset({"%", "&", "//", ">>", "/"})
_STATE = "numpy.random.get_state"
_SAME = frozenset({
    "builtins.int", "builtins.abs", "builtins.min", "builtins.max", "torch.distributed.get_rank",
    "torch.distributed.get_world_size", "torch.utils.data.get_worker_info", _STATE,
    "torch.utils.data._utils.worker.get_worker_info",
})  # fmt: skip
"""Calls that give the same in every epoch. After torch has seeded NumPy in a worker, the first word of
`get_state()[1]` is 2147483648 whatever the seed was (measured)."""
_KEEPING = frozenset({"torch.initial_seed", "builtins.int", "torch.utils.data.get_worker_info"})
"""Calls that leave a seed as large as it is."""
_ARITHMETIC = frozenset({"constant", "binop", "unary", "subscript", "list", "tuple", "ifexp", "compare", "boolop"})
MAX_DEPTH = 6


class Seeding(Enum):
    """What is wrong with a seed."""

    REPEATED = "repeated"
    """The same for a worker in every epoch."""
    SHARED = "shared"
    """The same for all workers too."""
    TOO_LARGE = "too large"


class Reseed(NamedTuple):
    """A call in `worker_init_fn`, or in what it runs, that seeds a generator."""

    running: Running
    call: Expr
    seed: Expr
    what: Seeding
    libraries: frozenset[str]
    """Whose global generators are seeded; none for a generator of the dataset's own."""
    by_item: bool = False
    """The dataset seeds, where it is read: not `worker_init_fn`."""
    of_state: bool = False
    """The seed is made of the state that NumPy's global generator has in the worker."""
    has_rank: bool = False
    """The seed tells processes apart, which may seed torch alike."""


class Reseeding:
    """Answers how `worker_init_fn` seeds."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries
        self.reach = project.main_code.reach

    def reseeds(self, loader: Loader) -> Iterator[Reseed]:
        """The seeds of a loader's `worker_init_fn` that repeat, or cannot be.

        One that is there for debugging, or to be deterministic, as its name says, repeats them on purpose.
        """
        on_purpose = any(_ON_PURPOSE.search(entry.env.facts.name) for entry in self._entries(loader))
        for reseed in self._in(self.start_code(loader)):
            if reseed.what is Seeding.TOO_LARGE or not on_purpose:
                yield reseed

    def by_items(self, code: list[Running]) -> Iterator[Reseed]:
        """The seeds that a dataset's own code makes of its worker's number: the same in every epoch."""
        for reseed in self._in(code):
            env = reseed.running.env
            parts = [part for part, _ in self._parts(reseed.seed, env, MAX_DEPTH, {})]
            numbered = any(part.kind == "attribute" and self._is_worker(part, env) for part in parts)
            given = {item.name for item in env.facts.parameters} - {env.module.receiver_name(env.function)}
            if numbered and reseed.what is Seeding.REPEATED and not any(part.name in given for part in parts):
                yield reseed._replace(by_item=True)

    def _in(self, code: list[Running]) -> Iterator[Reseed]:
        inside = {running.function for running in code}
        for running in code:
            for event in running.events:
                if not self.evaluator.conditions.may_run(running.env, event.start):
                    continue
                for call in event.walk():
                    seeder = self._seeder(call, running.env) if call.kind == "call" and len(call.args) > 1 else ""
                    own = seeder in GENERATORS
                    if not seeder or (own and (event.target is None or event.target.kind != "attribute")):
                        continue
                    what = self._judged(seeder, call.args[1], running.env, inside)
                    if what is not None:
                        libraries = frozenset() if own else _SEEDED.get(seeder.partition(".")[0], _ALL)
                        of_state = self._is_of_state(call.args[1], running.env, inside)
                        has_rank = self._has_rank(call.args[1], running.env)
                        yield Reseed(running, call, call.args[1], what, libraries, False, of_state, has_rank)

    def start_code(self, loader: Loader) -> list[Running]:
        """What `worker_init_fn` runs, as far as it can be followed."""
        return list(self.reach.walk(self._entries(loader)))

    def _entries(self, loader: Loader) -> list[Running]:
        return [
            Running(env, (), loader)
            for pair in self.boundaries.argument(loader, "worker_init_fn")[0]
            for value in self.evaluator.values(*pair)
            for env in self._started(value)
        ]

    def _started(self, value: Value) -> Iterator[Env]:
        match value:
            case Func():
                yield self.evaluator.activations.activation(value, None, None)
            case Method(owner=owner, func=func):
                yield self.evaluator.activations.method_env(owner, func.module, func.index)
            case ExtInst(name="functools.partial", call=call, env=env) if len(call.args) > 1:
                for target in self.evaluator.values(call.args[1], env):
                    if isinstance(target, Func):
                        yield self.evaluator.activations.activation(target, call, env, None, 1)

    def _seeder(self, call: Expr, env: Env) -> str:
        """The dotted name of what a call seeds or makes with a seed; "" for other calls."""
        for value in self.evaluator.values(call.args[0], env):
            if isinstance(value, Ext) and (value.name in _SEEDERS or value.name in GENERATORS):
                return value.name
        return ""

    def _judged(self, seeder: str, seed: Expr, env: Env, inside: set[tuple[str, int]]) -> Seeding | None:
        if Const(None, "NoneType") in self.evaluator.values(seed, env):
            return None  # that seeds with the system's entropy
        every = list(self._parts(seed, env, MAX_DEPTH, {}))
        parts = [(part, where) for part, where in every if (where.module.path, where.function) in inside]
        if any(self._is_initial_seed(part, where) for part, where in parts):
            cut = any(part.kind == "binop" and part.name in _CUTS for part, _ in parts)
            plain = all(part.kind != "call" or self._named(part, where) <= _KEEPING for part, where in parts)
            return Seeding.TOO_LARGE if seeder in _SMALL and plain and not cut else None
        # What a `partial` was given in the main process is the same for every start of the workers, whatever made it.
        stays = all(self._stays(part, where) for part, where in parts)
        if not stays or any(self._is_fresh(part, where) for part, where in every):
            return None
        return Seeding.REPEATED if any(self._is_worker(part, where) for part, where in parts) else Seeding.SHARED

    def _is_of_state(self, seed: Expr, env: Env, inside: set[tuple[str, int]]) -> bool:
        parts = (pair for pair in self._parts(seed, env, MAX_DEPTH, {}) if pair[0].kind == "call")
        return any((at.module.path, at.function) in inside and self._named(part, at) == {_STATE} for part, at in parts)

    def _has_rank(self, seed: Expr, env: Env) -> bool:
        """Whether a part of a seed, other than the worker's number, is named like what tells processes apart."""
        walked = self._walk(seed, env, MAX_DEPTH, {})
        parts = [part for part, where, is_followed in walked if is_followed or not self._is_worker(part, where)]
        named = (part.args[0] if part.kind == "call" else part for part in parts)
        return any(RANK.search(str(part.name or part.value)) for part in named)

    def _parts(self, expr: Expr, env: Env, depth: int, seen: dict[tuple[int, int], int]) -> Iterator[tuple[Expr, Env]]:
        """The parts of an expression, and of what it gets its values from, without the names that hand them on."""
        for part, where, is_followed in self._walk(expr, env, depth, seen):
            if not is_followed or _FRESH.search(part.name):
                yield part, where

    def _walk(
        self, expr: Expr, env: Env, depth: int, seen: dict[tuple[int, int], int]
    ) -> Iterator[tuple[Expr, Env, bool]]:
        """The parts of an expression, and of those that local names and parameters get their values from.

        With each, whether it is such a name. Several may come from one expression: `seen` has the depth that was left
        where that was followed.
        """
        if seen.get((id(expr), id(env)), -1) >= depth:
            return
        seen[id(expr), id(env)] = depth
        inner: list[Expr] = [*expr.args[1 if expr.kind == "call" else 0 :], *(value for _, value in expr.keywords)]
        sources = list(self._sources(expr, env)) if depth else []
        yield expr, env, bool(sources)
        for part in inner:
            yield from self._walk(part, env, depth, seen)
        for source, where in sources:
            yield from self._walk(source, where, depth - 1, seen)

    def _sources(self, name: Expr, env: Env) -> Iterator[Argument]:
        if name.kind != "name" or env.function < 0:
            return
        for event in env.facts.events:
            if event.kind in ("assign", "augment") and event.target is not None and event.value is not None:
                if event.target.kind == "name" and event.target.name == name.name and event.end <= name.start:
                    yield event.value, env
                    if event.kind == "augment":
                        yield event.target, env  # as it was before
        if env.call is not None and env.caller is not None and env.call.kind == "call":
            for position, parameter in enumerate(env.facts.parameters):
                if parameter.name == name.name and parameter.kind not in ("args", "kwargs"):
                    yield from self.evaluator.arguments.passed(env, position, parameter)

    def _named(self, call: Expr, env: Env) -> set[str]:
        """The dotted names of what a call calls; "" for what is not known."""
        values = self.evaluator.values(call.args[0], env)
        return {value.name if isinstance(value, Ext) else "" for value in values} or {""}

    def _is_initial_seed(self, part: Expr, env: Env) -> bool:
        if part.kind == "call":
            return self._named(part, env) == {"torch.initial_seed"}
        return part.kind == "attribute" and part.name == "seed" and self._is_info(part.args[0], env)

    def _is_info(self, expr: Expr, env: Env) -> bool:
        values = self.evaluator.values(expr, env)
        return any(isinstance(value, ExtInst) and value.name.endswith("get_worker_info") for value in values)

    def _is_worker(self, part: Expr, env: Env) -> bool:
        """The worker's number: the parameter that the loader fills, or `get_worker_info().id`."""
        if part.kind == "attribute":
            return part.name == "id" and self._is_info(part.args[0], env)
        parameters = env.facts.parameters if env.function >= 0 else ()
        return part.kind == "name" and any(item.name == part.name and item.default is None for item in parameters)

    def _stays(self, part: Expr, env: Env) -> bool:
        """Whether a part of a seed is the same in every epoch, as far as its name tells."""
        match part.kind:
            case "call":
                return self._named(part, env) <= _SAME
            case "name" | "attribute":
                return not self._written_again(part, env)
        return part.kind in _ARITHMETIC

    def _is_fresh(self, part: Expr, env: Env) -> bool:
        """Whether a part of a seed differs from one start of the workers to the next, as far as its name tells."""
        if _CONFIGURED.fullmatch(part.name):
            given = self._given(part, env)
            names = (inner.name for value in given for inner in value.walk())
            return any(_FRESH.search(name) for name in names if not _CONFIGURED.fullmatch(name))
        return bool(_FRESH.search(part.name))

    def _given(self, part: Expr, env: Env) -> Iterator[Expr]:
        """What is assigned to an attribute of this name anywhere, or to a variable of this name in the file."""
        if part.kind == "attribute":
            for module in self.evaluator.index:
                writes = module.attribute_writes.get(part.name, ())
                yield from (write.event.value for write in writes if write.event.value is not None)
        for _, _, events in env.module.scopes if part.kind == "name" else ():
            for event in events:
                if event.target is not None and event.target.name == part.name and event.value is not None:
                    yield event.value

    def _written_again(self, part: Expr, env: Env) -> bool:
        """Whether a global name or an attribute is set in functions: it may count the epochs."""
        if part.kind == "name":
            return part.name in env.module.writers_of_globals
        return any(
            write.event.kind == "augment"
            for module in self.evaluator.index
            for write in module.attribute_writes.get(part.name, ())
        )
