"""Names that the platform decides, as far as the text tells: asked before a project is evaluated for each platform.

Another platform is asked for the number of workers only where the text says that it may tell it: by a name that the
number is made of, or a test around the code on the way. Which calls may run a function is the same there as anywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from operator import itemgetter

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.platforms import TOLD
from dllint.project.evaluate.shapes import decorated
from dllint.project.program import flow
from dllint.project.program.index import Index
from dllint.project.program.module import Module

Platforms = frozenset[str]
"""Those on which something differs from others."""
_NONE: Platforms = frozenset()
_MODULES = frozenset(name.partition(".")[0] for name in TOLD) - {"torch"}
"""What a scope loads that asks; most load torch: who asks for CUDA is known by its call."""
_CUDA = frozenset({"device_count", "is_available"})
_STEPS = 3
"""From what asks to the number: `cuda = is_available()`, `load(cuda=cuda)`, `{"num_workers": 4} if cuda else {}`."""
_SAME = frozenset({"bool", "dict", "int", "max", "min"})
"""What makes of what it gets something that says the same; of other calls the function says whether it asks."""


class PlatformNames:
    """Tells which platforms a name, or the tests around a block, may tell from others."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def of(self, names: Iterable[str]) -> Platforms:
        """The platforms on which what has one of these names may be something else."""
        return _NONE.union(*(self._decided.get(name, _NONE) for name in names))

    def around(self, module: Module, block: int) -> Platforms:
        """The platforms that the tests around a block may tell from others."""
        return self._around(module, block, self._decided)

    def on_way(self, module: Module, function: int, offset: int) -> Platforms:
        """Those that the tests on the way to a place tell by themselves or by what is set to an answer, one step away.

        All loaders are asked, and more steps would lead to names that only read like these.
        """
        return _NONE.union(*(_told(known.test, self._answers) for known in flow.decided(module, function, offset)))

    @cached_property
    def _answers(self) -> dict[str, Platforms]:
        return self._steps(1)

    @cached_property
    def _decided(self) -> dict[str, Platforms]:
        return self._steps(_STEPS)

    def _steps(self, number: int) -> dict[str, Platforms]:
        """The names that the platform decides, so many steps from what asks."""
        decided = self._imported
        for _ in range(number):
            found: dict[str, set[str]] = defaultdict(set)
            for module, function, event in self._asking(decided):
                around = self._around(module, event.block, decided)
                bound = chain(_bound(module, function, event), self._taken(event))
                for name, value in filter(itemgetter(0), bound):
                    found[name].update(around, _told(value, decided))
            named = {name: frozenset(platforms) for name, platforms in found.items() if platforms}
            decided = named | {name: told | named.get(name, _NONE) for name, told in self._imported.items()}
        return decided

    @cached_property
    def _imported(self) -> dict[str, Platforms]:
        """The names under which files import what tells platforms: `from torch.cuda import is_available`."""
        imported = (item for module in self.index for item in module.model.imports if not item.level)
        asked = ((item.bound, f"{item.module}.{item.attribute}") for item in imported)
        return {bound: TOLD[dotted] for bound, dotted in asked if dotted in TOLD}

    def _taken(self, event: Event) -> Iterator[tuple[str, Expr]]:
        """The parameters that calls may fill by position, with what they pass: of all functions of the name."""
        for part in event.walk():
            for names in self._parameters.get(part.args[0].name, ()) if part.kind == "call" and part.args[1:] else ():
                yield from zip(names, part.args[1:], strict=False)

    @cached_property
    def _parameters(self) -> dict[str, set[tuple[str, ...]]]:
        """The parameters of functions, without the object of methods, by the name that calls have for them."""
        found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for module in self.index:
            for function in module.model.functions:
                names = tuple(item.name for item in function.parameters)
                owner = module.model.classes[function.owner].name if function.owner >= 0 else ""
                called = owner if function.name == "__init__" else function.name
                found[called].add(names[1:] if owner and not decorated(function, "staticmethod") else names)
        return found

    def _asking(self, decided: dict[str, Platforms]) -> Iterator[tuple[Module, int, Event]]:
        """The events of the files that ask, or that know one of the names."""
        for module in self.index:
            if module in self._modules or not decided.keys().isdisjoint(module.model.bound):
                yield from ((module, function, event) for function, _, events in module.scopes for event in events)

    @cached_property
    def _modules(self) -> frozenset[Module]:
        """The files that ask for a platform themselves."""
        return frozenset(module for module in self.index if _CUDA & module.calls.keys() or any(_speaks(module)))

    def _around(self, module: Module, block: int, decided: dict[str, Platforms]) -> Platforms:
        tests = module.tests_around[block] if block >= 0 else ()
        return _NONE.union(*(_told(test, decided) for test, _ in tests))


def names_in(expr: Expr) -> Iterator[str]:
    """The names of what an expression's value depends on, `platform` of `sys.platform`."""
    yield from (part.name for part in _deciding(expr) if part.kind in ("name", "attribute"))


def _told(expr: Expr, decided: dict[str, Platforms]) -> Platforms:
    """The platforms that an expression may tell from others."""
    found = _NONE
    for part in _deciding(expr):
        if part.kind == "attribute" and part.dotted in TOLD:
            found |= TOLD[part.dotted]
        elif part.kind == "attribute" and part.name in _CUDA:
            found |= _NONE if part.dotted.startswith("torch.") else TOLD["torch.cuda.is_available"]
        elif part.kind in ("name", "attribute"):
            found |= decided.get(part.name, _NONE)
    return found


def _deciding(expr: Expr) -> Iterator[Expr]:
    """The parts of an expression that its value depends on."""
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        yield part
        if part.kind == "call" and part.args[0].name not in _SAME:
            waiting.append(part.args[0])
        elif part.kind == "attribute":
            waiting += [base for base in part.args if base.kind not in ("name", "attribute")]
        elif part.kind == "dict":
            waiting += [key for key in part.args[::2] if key.kind == "star"]  # the others have names of their own
        elif part.kind != "lambda":
            waiting += part.args


def _bound(module: Module, function: int, event: Event) -> Iterator[tuple[str, Expr]]:
    """The names that an event gives a value, with the value: keywords, keys, what `update` gets."""
    if event.kind == "return" and event.value is not None and function >= 0:
        yield module.model.functions[function].name, event.value
    if event.target is not None and event.value is not None:
        yield from ((part.name, event.value) for part in _deciding(event.target) if part.kind in ("name", "attribute"))
    for part in event.walk():
        yield from ((name, value) for name, value in part.keywords if part.kind == "call")
        if part.kind == "call" and part.args[0].kind == "attribute" and part.args[0].name == "update":
            yield from ((part.args[0].args[0].name, value) for value in part.args[1:])
        if part.kind == "dict":
            keys = zip(part.args[::2], part.args[1::2], strict=False)
            yield from ((str(key.value), value) for key, value in keys if key.kind == "constant")


def _speaks(module: Module) -> Iterator[bool]:
    """For each scope that may speak of a library that tells platforms, whether it does."""
    model = module.model
    scopes = [model.events, *(item.events for item in model.classes)]
    scopes += [function.events for function in model.functions if not _MODULES.isdisjoint(function.loads)]
    for events in scopes:
        parts = (part for event in events for part in event.walk())
        yield any(part.kind == "attribute" and part.dotted in TOLD for part in parts)
