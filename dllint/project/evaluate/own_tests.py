"""What tests state about the attributes of a method's own object that never change, as two of its methods ask the same.

`if options.fast:` in `__init__`, which keeps `options`, and `if not self.options.fast:` in another method exclude each
other, if nothing sets `fast` once the object is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env, Inst, Klass
from dllint.project.evaluate.exclusion import Known, constant_in, exclude, known_at
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module, Write
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


class OwnTests:
    """Answers what is known of an object at places in its methods, and which of its writes that excludes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known_at: OnDemand[tuple[Module, int, int], list[Known]] = OnDemand(lambda place: known_at(*place))
        self._aliases = OnDemand(_aliases)
        self._set_later: OnDemand[str, list[tuple[Module, Write]] | None] = OnDemand(self._find_set_later)

    def at(self, inst: Inst, module: Module, function: int, offset: int) -> list[Known]:
        """What tests around a place in a method of an object state about its attributes, by their paths from there."""
        own = module.receiver_name(function)
        found = []
        for item in self._known_at[module, function, offset] if own else ():
            start, *path = self._path(item.subject, module, function)
            changes = not item.constants and item.order is None  # a list may become empty
            if start == own and path and self._is_fixed(inst, path, changes):
                found.append(item._replace(subject=".".join(path)))
        return found

    def excludes(self, here: list[Known], inst: Inst, module: Module, write: Write) -> bool:
        """Whether what is known of an object contradicts the tests around a place where its own method sets one."""
        own = module.receiver_name(write.function)
        if not here or not own or write.target.args[0].dotted != own:
            return False
        owner = module.method_owner(write.function)
        if not any((item.module, item.index) == (module, owner) for item in self.evaluator.classes.mro(inst.klass)):
            return False
        return exclude(here, self.at(inst, module, write.function, write.event.start))

    def _path(self, subject: str, module: Module, function: int) -> list[str]:
        """The names from an object to what a test asks for: `self`, `options` and `fast` of `options.fast`."""
        names, _, rest = subject.partition("|")
        parts = [] if rest else names.split(".")
        aliases = self._aliases[module, function]
        for end in range(len(parts), 0, -1):
            same = aliases.get(".".join(parts[:end]))
            if same is not None:
                return [*same.split("."), *parts[end:]]
        return parts or [""]

    def _is_fixed(self, inst: Inst, path: list[str], in_itself: bool) -> bool:
        """Whether the attributes on a path never change; `in_itself`: nor does what the last of them has."""
        first, *inner = path
        if not self._is_set_once(inst, first) or not all(self._is_left(inst, name) for name in inner):
            return False
        return not in_itself or not any(
            f".{path[-1]}" in module.uses[function].handed
            for module in {item.module for item in self._classes(inst)}
            for function in range(len(module.model.functions))
        )

    def _classes(self, inst: Inst) -> set[Klass]:
        return {*self.evaluator.classes.mro(inst.klass), *self.evaluator.classes.subclasses(inst.klass)}

    def _is_set_once(self, inst: Inst, name: str) -> bool:
        """Whether only `__init__` sets an attribute, once."""
        attributes = self.evaluator.attributes
        writes = [
            (item.module, write)
            for item in self._classes(inst)
            for write in item.module.self_writes.get(item.index, {}).get(name, ())
        ]
        if len(writes) != 1 or attributes.outside_writes(inst.klass, name):
            return False
        module, write = writes[0]
        if write.event.block >= 0 or write.event.kind != "assign" or not _is_init(module, write.function):
            return False
        return attributes.computed.of(inst, name) is None and not attributes.class_attribute(inst.klass, name, None)

    def _is_left(self, inst: Inst, name: str) -> bool:
        """Whether no code sets an attribute of what an object has, once the object is made."""
        writes = self._set_later[name]
        maker = inst.klass.module if inst.env is None else inst.env.module
        return writes is not None and all(
            _is_above(module, write, inst) for module, write in writes if self.evaluator.programs.share(module, maker)
        )

    def _find_set_later(self, name: str) -> list[tuple[Module, Write]] | None:
        """Where an attribute is set, but for the constructors of what has it; None where a class computes it."""
        if any(name in klass.methods for module in self.evaluator.index for klass in module.model.classes):
            return None
        return [
            (module, write)
            for module in self.evaluator.index
            for write in module.attribute_writes.get(name, ())
            if not _is_init(module, write.function)
            or write.target.args[0].dotted != module.receiver_name(write.function)
        ]


def _is_init(module: Module, function: int) -> bool:
    return function >= 0 and module.model.functions[function].name == "__init__"


def _is_above(module: Module, write: Write, inst: Inst) -> bool:
    """Whether a write comes before an object is made, in code that leads there, and in no loop."""
    if any(module.block(index).kind in LOOPS for index in module.enclosing(write.event.block)):
        return False
    return any(
        env.module is module and env.function == write.function and write.event.end <= call.start
        for env, call in _making(inst)
    )


def _making(inst: Inst) -> Iterator[tuple[Env, Expr]]:
    """The activations that lead to where an object is made, each with its call on the way there."""
    env, call = inst.env, inst.call
    while env is not None and call is not None:
        yield env, call
        call, env = env.call, env.caller


def _aliases(scope: tuple[Module, int]) -> dict[str, str]:
    """The attributes whose values names have in a function, by these names.

    It keeps what the name has in the attribute, or reads the attribute once to give it the name; nothing rebinds it.
    """
    module, function = scope
    own = module.receiver_name(function)
    found: dict[str, str] = {}
    for event in module.events(function):
        target, value = event.target, event.value
        if event.kind != "assign" or target is None or value is None:
            continue
        if target.dotted.startswith(f"{own}.") and value.kind == "name" and constant_in(module, function, value.name):
            found[value.name] = target.dotted
        elif target.kind == "name" and value.dotted.startswith(f"{own}."):
            if len(module.bindings[function, -1].get(target.name, ())) == 1:
                found[target.name] = value.dotted
    return found
