"""The code that runs in workers, and why: what loaders ship is called there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.finding import Note
from dllint.knowledge import ITERABLE_DATASETS, MAP_METHODS
from dllint.model.facts import Event
from dllint.project.escape.shipped import Held
from dllint.project.evaluate import Answer, Evaluator
from dllint.project.evaluate.abstract_values import Env, Func, Inst, Method
from dllint.project.execution.call_graph import Reach, Running
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.filled_first import only_while_filling
from dllint.project.program.guards import only_in_main
from dllint.project.program.module import Module

_ENTRY_HOLDERS = frozenset({"argument", "kept", "element", "returned"})
PER_ITEM = ("__call__", "__getitem__")


def never_in_workers(module: Module, function: int, event: Event) -> bool:
    """Whether an event of code that workers run, too, runs in the main process alone."""
    return only_in_main(module, function, event) or only_while_filling(module, function, event)


def _skipped(running: Running, event: Event) -> bool:
    return never_in_workers(running.env.module, running.env.function, event)


class WorkerCode:
    """Finds what runs in workers."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.reach = Reach(evaluator, _skipped, items=True)

    def of(self, held: Iterable[Held], loader: Loader | None) -> Iterator[Running]:
        """Every function that workers run for what one loader ships."""
        entries = [
            entry for item in held if item.holder.kind in _ENTRY_HOLDERS for entry in self._entries(item, loader)
        ]
        return self.reach.walk(entries)

    def _entries(self, held: Held, loader: Loader | None) -> Iterator[Running]:
        match held.value:
            case Inst() as inst:
                for method in self.entry_methods(inst, held.holder.name):
                    env = self.evaluator.activations.method_env(inst, method.func.module, method.func.index)
                    yield self._entry(env, f"{inst.klass.facts.name}.{method.func.facts.name}", held, loader)
            case Method(owner=owner, func=func):
                env = self.evaluator.activations.method_env(owner, func.module, func.index)
                yield self._entry(env, func.facts.name, held, loader)
            case Func() as func:
                yield self._entry(
                    self.evaluator.activations.activation(func, None, None), func.facts.name, held, loader
                )

    def _entry(self, env: Env, name: str, held: Held, loader: Loader | None) -> Running:
        note = Note(env.module.path, env.facts.header, f"`{name}` runs in the workers")
        entry = held.sent if held.sent not in ("", "dataset") else env.facts.name
        return Running(env, (note, *held.route), loader, entry=entry, decided=held.decided)

    def entry_methods(self, inst: Inst, holder: str) -> Iterator[Method]:
        """The methods of a shipped object that workers call themselves."""
        names = ["__call__"] if holder != "dataset" else []
        iterable = self.evaluator.classes.is_a(inst.klass, ITERABLE_DATASETS) is Answer.YES
        names += [] if iterable else MAP_METHODS
        if self.evaluator.classes.is_a(inst.klass, lambda name: name.startswith("torch_geometric.")) is Answer.YES:
            names.append("get")
        if iterable or self.evaluator.classes.method(inst, "__getitem__") is None:
            names += ["__iter__", "__next__"]
        names += self.evaluator.library_bases.called_per_item(inst.klass)
        for name in names:
            method = self.evaluator.classes.method(inst, name)
            if method is not None:
                yield method

    def is_per_item(self, module: Module, function: int) -> bool:
        """Whether the `__call__` or `__getitem__` of a class leads to a function: it runs per item, whatever calls it.

        Asked from the function on: few calls lead to it, but classes run most of a project.
        """
        seen, waiting = {(module, function)}, [(module, function)]
        while waiting:
            module, function = waiting.pop()
            facts = module.model.functions[function]
            if facts.owner >= 0 and facts.name in PER_ITEM:
                return True
            calls = self.evaluator.call_sites.callers(module, function)
            leading = [(site.module, site.function) for site, _ in calls]
            if facts.owner < 0:
                leading.append((module, facts.parent))  # what has it may hand it on
            for place in leading:
                if place[1] >= 0 and place not in seen:
                    seen.add(place)
                    waiting.append(place)
        return False
