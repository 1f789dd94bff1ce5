"""Classes: their bases across files, their methods, three-valued membership.

What a method calls by `cls()`, `super()` or on its own object runs code of its own class, of one that derives from it,
or of their bases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dllint.knowledge import OF_ONE_METHOD, WORKER_METHODS
from dllint.project.evaluate.abstract_values import (
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Func,
    Inst,
    Klass,
    Method,
    Opaque,
    Value,
    Values,
)
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.evaluate.shapes import is_accessor

if TYPE_CHECKING:
    from dllint.model.facts import Expr
    from dllint.project.evaluate import Evaluator
    from dllint.project.program.module import Module

    Family = frozenset[tuple[Module, int]]

_PLAIN = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "torch.utils.data.Dataset"})
"""Bases that make a class nothing else."""
_PROCESS: dict[object, str] = {
    None: "multiprocessing.Process",
    **{method: name for name, method in OF_ONE_METHOD.items()},
}
"""The `Process` of the context of each start method, and of the default one."""
_REGISTERS = frozenset({"copyreg.pickle", "multiprocessing.reduction.ForkingPickler.register"})


class Answer(Enum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Hierarchy:
    """Answers about classes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._mro: dict[Klass, tuple[Klass, ...]] = {}
        self._bases: dict[Klass, Values] = {}
        self._subclasses: dict[str, dict[tuple[str, int], list[Klass]]] = {}
        self._families: dict[tuple[Module, int], Family] = {}
        self._by_external: dict[str, dict[str, tuple[Klass, ...]]] = {}
        self._ancestries: dict[Klass, tuple[tuple[str, ...], bool]] = {}
        self._per_item: dict[Klass, frozenset[tuple[str, int]]] = {}
        self._fields: dict[Klass, dict[str, tuple[Env, Expr | None]]] = {}

    def bases(self, klass: Klass) -> Values:
        """The bases that the class statement names."""
        return self.evaluator.ask(self._bases, klass, (), self._named_bases, klass)

    def _named_bases(self, klass: Klass) -> Values:
        env = klass.outer or self.evaluator.generic(klass.module, klass.facts.parent)
        return tuple(value for base in klass.facts.bases for value in self._base(base, env))

    def _base(self, base: Expr, env: Env) -> Values:
        """The classes that a base names; one that a function is given is known where its call is known alone.

        Otherwise, every method that any class may have would hang on all calls of that function.
        """
        if env.call is None and _is_given(base, env):
            return (Opaque(base, env),)
        return tuple(map(self._of_context, self.evaluator.values(base, env)))

    def _of_context(self, base: Value) -> Value:
        """The class that the context of one start method has as its `Process`."""
        match base:
            case ExtMethod(base=ExtInst(name="multiprocessing.get_context", call=call, env=env), attribute="Process"):
                given = call.args[1] if len(call.args) > 1 else call.keyword("method")
                methods = self.evaluator.values(given, env) if given is not None else (Const(None),)
                asked = methods[0] if len(methods) == 1 else None
                name = _PROCESS.get(asked.value) if isinstance(asked, Const) else None
                return Ext(name) if name is not None else base
        return base

    def mro(self, klass: Klass) -> tuple[Klass, ...]:
        """The class and its bases in the project, in (nearly) Python's order of look-up."""
        return self.evaluator.ask(self._mro, klass, (klass,), self._linearised, klass)

    def _linearised(self, klass: Klass) -> tuple[Klass, ...]:
        chain = [klass]
        for base in self.bases(klass):
            if isinstance(base, Klass):
                chain += self.mro(base)
        last = {item: position for position, item in enumerate(chain)}
        return tuple(item for position, item in enumerate(chain) if last[item] == position)

    def derives(self, klass: Klass, base: Klass) -> bool:
        """Whether a class is another one or derives from it, whatever their activations."""
        return any(item.module is base.module and item.index == base.index for item in self.mro(klass))

    def may_be(self, inst: Inst, base: Klass) -> bool:
        """Whether an object may be one of a class; `self`, made nowhere, may be of any class that derives from its."""
        if inst.call is not None:
            return self.derives(inst.klass, base)
        return (base.module, base.index) in self.family(inst.klass)

    def family(self, klass: Klass) -> Family:
        """All that objects of a class may be of: the class, those that derive from it, and the bases of all of them."""
        none: Family = frozenset()
        return self.evaluator.ask(self._families, (klass.module, klass.index), none, self._find_family, klass)

    def _find_family(self, klass: Klass) -> Family:
        return frozenset(
            (base.module, base.index) for item in (klass, *self.subclasses(klass)) for base in self.mro(item)
        )

    def derived_from(self, external: str) -> tuple[Klass, ...]:
        """The classes of the project that derive from something external."""
        found: dict[str, tuple[Klass, ...]] = self.evaluator.ask(self._by_external, "", {}, self._find_by_external)
        return found.get(external, ())

    def _find_by_external(self) -> dict[str, tuple[Klass, ...]]:
        found: dict[str, list[Klass]] = defaultdict(list)
        for klass in self.all_classes:
            for name in dict.fromkeys(self.external_bases(klass)):
                found[name].append(klass)
        return {name: tuple(classes) for name, classes in found.items()}

    def external_bases(self, klass: Klass) -> tuple[str, ...]:
        """The dotted names of the bases outside the project, of the class and all its bases."""
        return self._ancestry(klass)[0]

    def plain(self, klass: Klass) -> bool:
        """Whether all bases of a class are known."""
        return self._ancestry(klass)[1]

    def _ancestry(self, klass: Klass) -> tuple[tuple[str, ...], bool]:
        return self.evaluator.kept(self._ancestries, klass, self._find_ancestry, klass)

    def _find_ancestry(self, klass: Klass) -> tuple[tuple[str, ...], bool]:
        bases = [base for item in self.mro(klass) for base in self.bases(item)]
        external = tuple(base.name for base in bases if isinstance(base, Ext))
        return external, all(isinstance(base, (Ext, Klass)) for base in bases)

    def is_a(self, klass: Klass, names: Iterable[str] | Callable[[str], bool]) -> Answer:
        """Whether the class derives from one of the external classes named."""
        matches = names if callable(names) else frozenset(names).__contains__
        external, plain = self._ancestry(klass)
        if any(map(matches, external)):
            return Answer.YES
        if not plain:
            return Answer.UNKNOWN
        return Answer.NO if _PLAIN.issuperset(external) else Answer.UNKNOWN

    def method(self, owner: Value, name: str) -> Method | None:
        """A method of an instance or class, looked up through the project's bases."""
        klass = owner.klass if isinstance(owner, Inst) else owner
        if not isinstance(klass, Klass):
            return None
        for item in self.mro(klass):
            index = item.facts.methods.get(name)
            if index is not None:
                return Method(owner, Func(item.module, index, item.outer))
        return None

    @cached_property
    def all_classes(self) -> tuple[Klass, ...]:
        """Every class of the project."""
        return tuple(
            self.evaluator.klass(module, item.index) for module in self.evaluator.index for item in module.model.classes
        )

    def naming(self, names: set[str]) -> list[Klass]:
        """The classes that may derive from what has one of these last names, as far as the text tells."""
        found: dict[int, Klass] = {}
        named, waiting = set(names), [*names]
        while waiting:
            name = waiting.pop()
            derived = self._by_base.get(name, {})
            found.update(derived)
            new = {*self.evaluator.index.aliases.get(name, ()), *(item.facts.name for item in derived.values())} - named
            named |= new
            waiting += new
        return [found[number] for number in sorted(found)]

    @cached_property
    def _by_base(self) -> dict[str, dict[int, Klass]]:
        """The classes with their places in `all_classes`, by the names that their bases are made of."""
        found: dict[str, dict[int, Klass]] = defaultdict(dict)
        for number, klass in enumerate(self.all_classes):
            for name in {part.name for base in klass.facts.bases for part in base.walk()}:
                found[name][number] = klass
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[Klass]]:
        """The classes of each name."""
        found: dict[str, list[Klass]] = defaultdict(list)
        for klass in self.all_classes:
            found[klass.facts.name].append(klass)
        return dict(found)

    def keepers(self, name: str, path: str) -> list[Klass]:
        """The classes of a name that set attributes in a file, themselves or through a base; all, where none does."""
        named = self._by_name.get(name, [])
        return [klass for klass in named if any(base.module.path == path for base in self.mro(klass))] or named

    @at_rest
    def pickled_by_others(self) -> frozenset[Klass]:
        """The classes of which `copyreg.pickle(Class, function)` says how their objects are pickled."""
        sites = [site for site in self.evaluator.index.calls_named(("pickle", "register")) if len(site.expr.args) > 2]
        return frozenset(
            klass
            for site in sites
            for env in (self.evaluator.generic(site.module, site.function),)
            if _REGISTERS & {getattr(value, "name", "") for value in self.evaluator.values(site.expr.args[0], env)}
            for klass in self.evaluator.values(site.expr.args[1], env)
            if isinstance(klass, Klass)
        )

    def is_rebuilt(self, klass: Klass) -> bool:
        """Whether a class defines how its objects are rebuilt on unpickling, in a way that can't be followed."""
        own = any(self.method(klass, name) is not None for name in ("__reduce__", "__reduce_ex__"))
        return own or not self.pickled_by_others.isdisjoint(self.mro(klass))

    def _children(self) -> dict[tuple[str, int], list[Klass]]:
        """The classes that name each class as a base."""
        return self.evaluator.ask(self._subclasses, "", {}, self._find_children)

    def _find_children(self) -> dict[tuple[str, int], list[Klass]]:
        found: dict[tuple[str, int], list[Klass]] = defaultdict(list)
        for klass in self.all_classes:
            for base in self.bases(klass):
                if isinstance(base, Klass):
                    found[base.module.path, base.index].append(klass)
        return found

    def subclasses(self, klass: Klass) -> Iterator[Klass]:
        """All classes of the project that derive from this one."""
        seen = {(klass.module.path, klass.index)}
        stack = [klass]
        while stack:
            current = stack.pop()
            for child in self._children().get((current.module.path, current.index), ()):
                key = (child.module.path, child.index)
                if key not in seen:
                    seen.add(key)
                    stack.append(child)
                    yield child

    def dataclass_fields(self, klass: Klass) -> dict[str, tuple[Env, Expr | None]]:
        """The fields of a dataclass in order, with their defaults; empty for other classes."""
        return self.evaluator.ask(self._fields, klass, {}, self._find_fields, klass)

    def _find_fields(self, klass: Klass) -> dict[str, tuple[Env, Expr | None]]:
        fields: dict[str, tuple[Env, Any]] = {}
        for item in reversed(self.mro(klass)):
            if not self._is_dataclass(item):
                continue
            env = item.outer or self.evaluator.generic(item.module, item.facts.parent)
            for event in item.facts.events:
                target = event.target
                if target is not None and target.kind == "name" and event.kind in ("annotate", "assign"):
                    fields[target.name] = self._field_default(event.value, env)
        return fields

    def _is_dataclass(self, klass: Klass) -> bool:
        names = {part.name for item in klass.facts.decorators for part in item.walk()}
        if names & {"dataclass", "define", "frozen", "attrs", "s"}:
            return True
        return any(name in ("typing.NamedTuple", "pydantic.BaseModel") for name in self.external_bases(klass))

    def _field_default(self, value: Expr | None, env: Env) -> tuple[Env, Expr | None]:
        """The default of a field, and where it is worked out: for a factory, what it returns."""
        if value is None or value.kind != "call" or value.args[0].name not in ("field", "Field", "ib", "attrib"):
            return env, value
        factory = value.keyword("default_factory") or value.keyword("factory")
        for made_by in self.evaluator.values(factory, env) if factory is not None else ():
            if not isinstance(made_by, Func):
                continue
            ends = [event.value for event in made_by.facts.events if event.kind == "return"]
            if len(ends) == 1:
                return self.evaluator.generic(made_by.module, made_by.index), ends[0]
        return env, value.keyword("default")

    def per_item_only(self, klass: Klass) -> frozenset[tuple[str, int]]:
        """The methods of a class that run only where items are read: in workers, once they have started.

        A method counts when `__getitem__`, `__iter__` or `__call__` lead to it and nothing else in the class does.
        """
        return self.evaluator.kept(self._per_item, klass, self._find_per_item_only, klass)

    def _find_per_item_only(self, klass: Klass) -> frozenset[tuple[str, int]]:
        methods: dict[str, tuple[str, int]] = {}
        calls: dict[str, set[str]] = {}
        for item in reversed(self.mro(klass)):
            for name, index in item.facts.methods.items():
                methods[name] = (item.module.path, index)
                calls[name] = self._self_calls(item.module, index)
        called = self.evaluator.library_bases.called_per_item(klass)
        entries = [name for name in (*WORKER_METHODS, "__call__", "get", "run", *called) if name in methods]
        inside = _closure(entries, calls)
        outside = _closure([name for name in methods if name not in inside], calls)
        # What assigns to a property runs its setter, wherever the property is read.
        every = ((item.module.model.functions, item.facts.methods) for item in self.mro(klass))
        setters = {name for functions, own in every for name, number in own.items() if is_accessor(functions[number])}
        return frozenset(methods[name] for name in inside - outside - setters if name in methods)

    def _self_calls(self, module: Module, function: int) -> set[str]:
        """The names of its own object's attributes that a method uses."""
        receiver = module.receiver_name(function)
        return {
            expr.name
            for event in module.events(function)
            for root in (event.value, event.target)
            if root is not None
            for expr in root.walk()
            if expr.kind == "attribute" and expr.args[0].name == receiver != ""
        }


def _is_given(expr: Expr, env: Env) -> bool:
    """Whether an expression reads a parameter of a function around it, or what such a function has found."""
    return _is_found({part.name for part in expr.walk() if part.kind == "name"}, env.module, env.function)


def _is_found(names: set[str], module: Module, function: int) -> bool:
    """Whether one of some names is a parameter, or a variable that doesn't just stand for other names."""
    waiting = [(name, function) for name in names]
    seen = set(waiting)
    while waiting:
        name, scope = waiting.pop()
        while scope >= 0 and not module.bindings[scope, -1].get(name):
            scope = module.model.functions[scope].parent
        for binding in module.bindings[scope, -1].get(name, ()) if scope >= 0 else ():
            value = binding.event.value if binding.event is not None else None
            if binding.kind == "assign" and value is not None and value.kind in ("name", "attribute"):
                new = {(part.name, scope) for part in value.walk()} - seen
                seen |= new
                waiting += new
            elif binding.kind not in ("class", "def", "global", "import"):
                return True
    return False


def _closure(entries: Iterable[str], calls: dict[str, set[str]]) -> set[str]:
    found = set(entries)
    stack = list(found)
    while stack:
        for name in calls.get(stack.pop(), ()):
            if name in calls and name not in found:
                found.add(name)
                stack.append(name)
    return found
