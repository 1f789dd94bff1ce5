"""Which module's variable an expression means, and what part of it: `cfg.size` is `size` of config.py's `cfg`."""

from __future__ import annotations

from typing import NamedTuple

from dllint.model.facts import Expr, ImportedName
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Func, Inst, Mod
from dllint.project.evaluate.shapes import decorated
from dllint.project.program.module import Module

Step = str | int | float | bool | None
ANY: Step = None
"""A step that is not known: a key that is computed."""


class Global(NamedTuple):
    """A variable of a module, and the attributes and keys that lead from its object to the part that is meant."""

    module: Module
    name: str
    path: tuple[Step, ...] = ()
    copied: int = -1
    """How many steps were taken when the value got another name: who assigns to that part does not change this one."""

    @property
    def root(self) -> tuple[str, str]:
        return self.module.path, self.name

    @property
    def known(self) -> bool:
        """Whether every step of it is."""
        return ANY not in self.path

    def part(self, step: Step) -> Global:
        """What an attribute or a key of it is."""
        return self._replace(path=(*self.path, step))

    def shows(self, change: Global) -> bool:
        """Whether what is read here is other than it was once `change` was written."""
        if self.root != change.root or not self.copied < len(change.path) <= len(self.path):
            return False
        return all(one == other or ANY in (one, other) for one, other in zip(self.path, change.path, strict=False))


class Globals:
    """Finds them, by names, imports, and the arguments of the calls that lead to the code."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._meant: dict[tuple[int, int], Global | None] = {}
        self._variables: dict[tuple[str, str], Global | None] = {}

    def of(self, expr: Expr, env: Env) -> Global | None:
        """What an expression means; None for anything that isn't a module's, or can't be followed."""
        if expr.kind not in ("name", "attribute", "subscript", "call"):
            return None
        return self.evaluator.ask(self._meant, (id(expr), id(env)), None, self._of, expr, env)

    def _of(self, expr: Expr, env: Env) -> Global | None:
        match expr.kind:
            case "name":
                return self._name(expr, env)
            case "attribute":
                return self._attribute(expr, env)
            case "subscript":
                base = self.of(expr.args[0], env)
                return base.part(key_of(expr.args[1])) if base is not None else None
        return self._returned(expr, env)

    def _name(self, expr: Expr, env: Env) -> Global | None:
        module, name = env.module, expr.name
        if _in_comprehension(expr, env):
            return None
        if env.function >= 0 and name not in env.facts.globals:
            if name in env.facts.bound:
                return self._local(name, env)
            parent = env.facts.parent
            while parent >= 0:
                outer = module.model.functions[parent]
                if name in outer.bound:
                    return None
                parent = outer.parent
        return self.variable(module, name)

    def variable(self, module: Module, name: str) -> Global | None:
        """What a module's name means there: its own variable, or one that it imports."""
        return self.evaluator.ask(self._variables, (module.path, name), None, self._variable, module, name)

    def _variable(self, module: Module, name: str) -> Global | None:
        bindings = module.bindings[-1, -1].get(name, [])
        if not bindings:
            return Global(module, name) if name in module.writers_of_globals else self._starred(module, name)
        if len(bindings) == 1 and name not in module.writers_of_globals:
            binding = bindings[0]
            if binding.imported is not None:
                found = self._imported(binding.imported, module)
                return _copy(found)
            value = binding.event.value if binding.event is not None and binding.kind == "assign" else None
            if value is not None and value.kind in ("name", "attribute") and not self._is_set_elsewhere(module, name):
                found = self.of(value, self.evaluator.env(module, -1))
                return _copy(found) if found is not None or self.evaluator.fixpoint.is_open() else Global(module, name)
        if any(binding.imported is not None for binding in bindings):
            return None
        return Global(module, name)

    def _is_set_elsewhere(self, module: Module, name: str) -> bool:
        """Whether other files give a module's variable another value: `settings.mode = modes["fast"]`."""
        writes = self.evaluator.index.outside_writes.get(name, ())
        inside = ((write.target.args[0], self.evaluator.generic(other, write.function)) for other, write in writes)
        return any(self.module(expr, env) is module for expr, env in inside)

    def _starred(self, module: Module, name: str) -> Global | None:
        for imported in module.star_imports:
            target = self.evaluator.index.find(module.path, imported.module, imported.level)
            if target is not None and target is not module:
                found = self.variable(target, name)
                if found is not None:
                    return _copy(found)
        return None

    def _imported(self, imported: ImportedName, module: Module) -> Global | None:
        if imported.attribute in ("", "*"):
            return None
        target = self.evaluator.index.find(module.path, imported.module, imported.level)
        return self.variable(target, imported.attribute) if target is not None and target is not module else None

    def _local(self, name: str, env: Env) -> Global | None:
        bindings = env.module.bindings[env.function, -1].get(name, [])
        if len(bindings) != 1:
            return None
        binding = bindings[0]
        if binding.imported is not None:
            return self._imported(binding.imported, env.module)
        if binding.kind == "parameter":
            return self._parameter(name, env)
        event = binding.event
        if event is None or event.kind != "assign" or event.value is None or event.target is None:
            return None
        return self.of(event.value, env) if event.target.kind == "name" else None

    def _parameter(self, name: str, env: Env) -> Global | None:
        """What the call that leads here passes."""
        if env.call is None or env.caller is None:
            return None
        facts = env.facts
        position, parameter = next((i, item) for i, item in enumerate(facts.parameters) if item.name == name)
        if parameter.kind in ("args", "kwargs"):
            return None
        if position == 0 and facts.owner >= 0 and not decorated(facts, "staticmethod"):
            return self._receiver(env.call, env.caller, facts.name)
        passed = self.evaluator.arguments.passed(env, position, parameter)
        return self.of(*passed[0]) if len(passed) == 1 else None

    def _receiver(self, call: Expr, caller: Env, method: str) -> Global | None:
        callee = call.args[0]
        if callee.kind != "attribute" or callee.name != method:
            return self.of(callee, caller) if method == "__call__" else None
        base = callee.args[0]
        if base.kind == "call" and base.args[0].name == "super" and caller.function >= 0:
            own = caller.module.receiver_name(caller.function)
            return self._local(own, caller) if own else None
        return self.of(base, caller)

    def _attribute(self, expr: Expr, env: Env) -> Global | None:
        module = self.module(expr.args[0], env)
        if module is not None:
            return self.variable(module, expr.name)
        base = self.of(expr.args[0], env)
        return base.part(expr.name) if base is not None else self._of_class(expr, env)

    def module(self, expr: Expr, env: Env) -> Module | None:
        """The project's module that an expression surely is."""
        if not expr.dotted:
            return None
        values = self.evaluator.values(expr, env)
        return values[0].module if len(values) == 1 and isinstance(values[0], Mod) else None

    def _of_class(self, expr: Expr, env: Env) -> Global | None:
        """`self.attribute`, where the object has none of its own: the class's."""
        own, receiver = expr.args[0], env.receiver
        if not isinstance(receiver, Inst) or env.function < 0 or own.kind != "name":
            return None
        if own.name != env.module.receiver_name(env.function):
            return None
        chain = self.evaluator.classes.mro(receiver.klass)
        if any(expr.name in klass.module.self_writes.get(klass.index, ()) for klass in chain):
            return None
        for klass in chain:
            if expr.name in klass.module.bindings[klass.facts.parent, klass.index]:
                outermost = klass.facts.parent < 0 and klass.facts.owner < 0
                return Global(klass.module, klass.facts.name, (expr.name,)) if outermost else None
        return None

    def _returned(self, call: Expr, env: Env) -> Global | None:
        """`get_config()`, which returns the module's own object."""
        values = self.evaluator.values(call.args[0], env)
        if len(values) != 1 or not isinstance(values[0], Func) or values[0].facts.is_generator:
            return None
        func = values[0]
        returned = [event.value for event in func.facts.events if event.kind == "return"]
        if len(returned) != 1 or returned[0] is None or returned[0].kind == "call":
            return None
        return self.of(returned[0], self.evaluator.activations.activation(func, call, env))


def key_of(expr: Expr) -> Step:
    """The step that a subscript takes."""
    return expr.value if expr.kind == "constant" else ANY


def _copy(place: Global | None) -> Global | None:
    return place._replace(copied=max(place.copied, len(place.path))) if place is not None else None


def _in_comprehension(expr: Expr, env: Env) -> bool:
    """Whether a comprehension binds a name where it stands."""
    return any(
        comprehension.start <= expr.start < comprehension.end
        and any(part.kind == "name" and part.name == expr.name for part in target.walk())
        for comprehension, target, _ in env.module.comprehensions.get(env.function, ())
    )
