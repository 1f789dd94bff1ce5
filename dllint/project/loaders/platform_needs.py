"""Platforms on which a program never comes to a place: code above it, on every way, needs what they don't have.

What is above a place is also in the functions that are called there, and above the calls that lead to the place. A
loader starts no workers where it is made, so what counts is above its uses.

What needs CUDA raises on macOS, whose builds of torch have none, and NCCL is for Linux alone. Python before 3.7, with
`async` as a name, spawns workers on Windows only, as macOS forks before 3.8 and `forkserver` is no default before 3.14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, Func, Inst, Klass, Method, Mod, Value
from dllint.project.evaluate.layers import Layers
from dllint.project.loaders.first_uses import Uses, uses_of
from dllint.project.program.events import surely_evaluated
from dllint.project.program.module import Module, Site
from dllint.project.program.on_demand import OnDemand

Platforms = frozenset[str]
_Asked = Callable[[Event, Expr, Env], Platforms]
_NONE: Platforms = frozenset()
_NO_CUDA: Platforms = frozenset({"macos"})
_NO_NCCL: Platforms = frozenset({"macos", "windows"})
_ALL: Platforms = frozenset({"linux", "macos", "windows"})
_ASKED = "torch.cuda.is_available"
_INITIALISING = frozenset(
    f"torch.cuda.{name}"
    for name in (
        "current_device", "get_device_capability", "get_device_name", "get_device_properties", "init", "synchronize",
    )
)  # fmt: skip
"""They raise where torch has no CUDA (read in torch 2.13); many of their neighbors answer or wait."""
_SET_DEVICE = "torch.cuda.set_device"
_GROUP = "torch.distributed.init_process_group"
_NAMES = frozenset({"cuda", "to"}).union(
    name.rpartition(".")[2] for name in (*_INITIALISING, _SET_DEVICE, _GROUP, _ASKED)
)


class PlatformNeeds:
    """Answers on which platforms a place can't be reached."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.layers = Layers(evaluator)
        self._calls = OnDemand(self._surely_made)
        self._uses = OnDemand(_uses_of)
        self._inside: dict[int, Platforms] = {}
        self._coming: dict[tuple[str, int], Platforms] = {}

    def missing(self, env: Env, offset: int) -> Platforms:
        """The platforms that lack what code above a place needs, or above the calls that lead there."""
        return self._above(env, offset) | self._above_calls(env)

    def missing_in_use(self, env: Env, made: Expr) -> Platforms:
        """The platforms that lack what code needs above the first uses of what an expression makes."""
        uses = self._uses[env.module, env.function, made]
        found = frozenset.intersection(*(self._above(env, place) for place in uses.places))
        if uses.by_callers and env.call is not None and env.caller is not None:
            return found | self.missing_in_use(env.caller, env.call)
        return found | self._above_calls(env)

    def _above_calls(self, env: Env) -> Platforms:
        """The platforms that lack what code needs above the calls that lead to an activation."""
        if env.function < 0:
            return _NONE
        if env.caller is not None:
            return self.missing(env.caller, env.call.start if env.call is not None else 0)
        return _ALL - self._coming_to(env.module, env.function) if self._needing else _NONE

    def _coming_to(self, module: Module, function: int) -> Platforms:
        """The platforms on which a program may call a function; what tests need says nothing of other programs."""
        return self.evaluator.ask(self._coming, (module.path, function), _NONE, self._find_coming, module, function)

    def _find_coming(self, module: Module, function: int) -> Platforms:
        callers = self.evaluator.call_sites.known(module, function)
        found = _ALL if not callers or self.evaluator.call_sites.too_many(module, function) else _NONE
        for site, _ in callers:
            if found == _ALL:
                break
            coming = self._coming_to(site.module, site.function) if site.function >= 0 else _ALL
            found |= coming - self._above(self.evaluator.generic(site.module, site.function), site.expr.start)
        return found

    def beside(self, env: Env, event: Event) -> Platforms:
        """The platforms that lack what the branches around an event need, above it or below."""
        calls = self._calls[env.module, env.function]
        around = env.module.enclosing(event.block) if calls else ()
        return _NONE.union(*(self._lacking_below(block, calls, env, self._lacking_or_inside) for block in around))

    def _above(self, env: Env, offset: int) -> Platforms:
        calls = [pair for pair in self._calls[env.module, env.function] if pair[0].end <= offset]
        around = {-1, *env.module.enclosing(env.module.block_at(env.function, offset))} if calls else set()
        return _NONE.union(*(self._lacking_below(block, calls, env, self._lacking_or_inside) for block in around))

    def _lacking_or_inside(self, event: Event, call: Expr, env: Env) -> Platforms:
        return self._lacking(event, call, env) | self._lacking_inside(call, env)

    def _lacking_inside(self, call: Expr, env: Env) -> Platforms:
        """The platforms on which a function that is called never returns: its own code needs what they lack."""
        callee = call.args[0]
        if callee.name not in self._needing:
            return _NONE
        found = [self._lacking_in(value, call, env) for value in self.evaluator.values(callee, env)]
        return found[0].intersection(*found[1:]) if found else _NONE

    def _lacking_in(self, value: Value, call: Expr, env: Env) -> Platforms:
        activations = self.evaluator.activations
        if isinstance(value, Klass):
            inits = activations.init_envs(Inst(value, call, env)).values()
            return _NONE.union(*map(self._lacking_on_way_through, inits))
        func = self._only(value) if isinstance(value, Method) else value
        if not isinstance(func, Func) or func.facts.is_generator or func.facts.decorators:
            return _NONE
        owner = value.owner if isinstance(value, Method) else None
        return self._lacking_on_way_through(activations.activation(func, call, env, owner))

    def _lacking_on_way_through(self, env: Env) -> Platforms:
        return self.evaluator.ask(self._inside, id(env), _NONE, self._find_lacking, env)

    def _find_lacking(self, env: Env) -> Platforms:
        """The platforms on which an activation never ends."""
        facts = env.facts
        left = min((event.start for event in facts.events if event.kind == "return"), default=facts.span.end)
        calls = [pair for pair in self._calls[env.module, env.function] if pair[0].start <= left]
        return self._lacking_below(-1, calls, env, self._lacking_or_inside)

    def _only(self, method: Method) -> Func | None:
        """The function of a method that no class derived from its object's class has one of its own of."""
        classes, name = self.evaluator.classes, method.func.facts.name
        if not isinstance(method.owner, Inst):
            return None
        derived = classes.subclasses(method.owner.klass)
        return None if any(name in klass.facts.methods for klass in derived) else method.func

    def _lacking_below(self, block: int, calls: list[tuple[Event, Expr]], env: Env, asked: _Asked) -> Platforms:
        """What a block of a function needs on every way: its own calls, or both branches of a test."""
        module = env.module
        found = _NONE.union(*(asked(event, call, env) for event, call in calls if event.block == block))
        inside = {index for event, _ in calls for index in module.enclosing(event.block)}
        for index in inside:
            branch = module.block(index)
            if branch.kind == "else" and branch.parent == block and branch.partner in inside:
                sides = (self._lacking_below(side, calls, env, asked) for side in (index, branch.partner))
                found |= frozenset.intersection(*sides)
        return found

    @cached_property
    def _needing(self) -> frozenset[str]:
        """What functions are called with a call that only some platforms have something for, theirs or deeper."""
        index, found = self.evaluator.index, frozenset[str]()
        wanted = _NAMES - {"to"}
        while wanted:
            sites = (site for site in index.calls_named(sorted(wanted)) if site.function >= 0)
            wanted = frozenset(_called_as(site) for site in sites if _is_on_way(site)) - _NAMES - found
            found |= wanted
        return found

    def _lacking(self, event: Event, call: Expr, env: Env) -> Platforms:
        """The platforms on which an event raises because of a call."""
        callee = call.args[0]
        if callee.name == "is_available":
            return (
                _NO_CUDA if event.kind == "assert" and event.value is call and self._is(callee, _ASKED, env) else _NONE
            )
        if callee.kind == "attribute" and callee.name in ("cuda", "to") and self._is_of_object(callee, env):
            on_cuda = callee.name == "cuda" or any(self._is_cuda(arg, env) for arg in _given(call, "device"))
            return _NO_CUDA if on_cuda and not self.layers.may_stay(callee.args[0], env) else _NONE
        if self._is(callee, _GROUP, env):
            return _NO_NCCL if any(self._are(arg, "nccl", env) for arg in _given(call, "backend")) else _NONE
        if self._is(callee, _SET_DEVICE, env):
            return _NO_CUDA if any(self._is_device(arg, env) for arg in _given(call, "device")) else _NONE
        return _NO_CUDA if any(self._is(callee, name, env) for name in _INITIALISING) else _NONE

    def _surely_made(self, scope: tuple[Module, int]) -> list[tuple[Event, Expr]]:
        """The calls of a function that are made whenever their event comes, and may need something of a platform."""
        module, function = scope
        calls = (call for name in (_NAMES | self._needing) & module.calls.keys() for call in module.calls[name])
        found = ((call.event, call.expr) for call in calls if call.function == function)
        return [(event, expr) for event, expr in found if any(part is expr for part in _evaluated(event))]

    def _is_of_object(self, callee: Expr, env: Env) -> bool:
        """Whether a method isn't one of the project's own, nor a function of a module."""
        owners = self.evaluator.values(callee.args[0], env)
        values = self.evaluator.values(callee, env)
        return not any(isinstance(item, Ext | Mod) for item in owners) and not any(map(_is_own, values))

    def _is(self, callee: Expr, name: str, env: Env) -> bool:
        if callee.name != name.rpartition(".")[2]:
            return False
        values = self.evaluator.values(callee, env)
        return bool(values) and all(isinstance(value, Ext) and value.name == name for value in values)

    def _is_cuda(self, expr: Expr, env: Env) -> bool:
        """Whether an expression surely names a CUDA device."""
        values = self.evaluator.values(expr, env)
        return bool(values) and all(
            self._are(value.call.args[1], "cuda", value.env)
            if isinstance(value, ExtInst) and value.name == "torch.device" and len(value.call.args) > 1
            else _begins(value, "cuda")
            for value in values
        )

    def _is_device(self, expr: Expr, env: Env) -> bool:
        """Whether an expression surely is a CUDA device, or the number of one: -1 stands for none."""
        values = self.evaluator.values(expr, env)
        return self._is_cuda(expr, env) or (bool(values) and all(map(_is_number, values)))

    def _are(self, expr: Expr, text: str, env: Env) -> bool:
        values = self.evaluator.values(expr, env)
        return bool(values) and all(_begins(value, text) for value in values)


def _uses_of(place: tuple[Module, int, Expr]) -> Uses:
    return uses_of(*place)


def _is_on_way(site: Site) -> bool:
    """Whether a function may always make a call: in no block, or in each branch of a test."""
    blocks = map(site.module.block, site.module.enclosing(site.event.block))
    return all(block.kind in ("if", "else") for block in blocks)


def _called_as(site: Site) -> str:
    """The name by which a function is called: that of its class for an `__init__`."""
    owner, facts = site.module.method_owner(site.function), site.module.model.functions[site.function]
    return site.module.model.classes[owner].name if owner >= 0 and facts.name == "__init__" else facts.name


def _evaluated(event: Event) -> Iterator[Expr]:
    waiting = [event.value] if event.value is not None else []
    while waiting:
        part = waiting.pop()
        yield part
        waiting += surely_evaluated(part)


def _given(call: Expr, name: str) -> list[Expr]:
    """What a call passes for its first parameter, which has this name."""
    return [*call.args[1:2], *(value for key, value in call.keywords if key == name)]


def _begins(value: Value, text: str) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) and value.value.startswith(text)


def _is_number(value: Value) -> bool:
    """Whether a value is 0 or more: a constant, or the rank that a launcher must have put into the environment."""
    if isinstance(value, ExtInst) and value.name == "builtins.int" and len(value.call.args) > 1:
        read = value.call.args[1]
        return read.kind == "subscript" and read.args[0].name == "environ" and str(read.args[1].value).endswith("RANK")
    return isinstance(value, Const) and isinstance(value.value, int) and value.value >= 0


def _is_own(value: Value) -> bool:
    return isinstance(value, Func | Method)
