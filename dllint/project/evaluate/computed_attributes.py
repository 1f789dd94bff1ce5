"""Attributes that are set by names which the program computes: `setattr(options, name, value)`.

Such an attribute may be UNKNOWN besides the constants that it is set to, and makes no number of workers certain. Code
that sets some on an object that it has just made, as in `copy = Options()`, sets them on no other one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Inst, Klass, Opaque
from dllint.project.evaluate.kwargs_attributes import takes_over
from dllint.project.program.module import Module, Site

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

SETTERS = ("setattr", "__setattr__", "update")
_WORD = re.compile(r"\w+")


class _Names(NamedTuple):
    """What is known of computed names: words that are in them, and all that they may be, where that is written down."""

    words: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    def may_be(self, name: str) -> bool:
        return all(word in name for word in self.words) and (self.only is None or name in self.only)


_Set = dict[tuple[Module, int], list[tuple[_Names, Opaque, Expr | None]]]
"""What is set on objects of a class: under which names, to what, and the call that makes them, if all are its own."""


class ComputedAttributes:
    """Answers what objects may get under any name, as far as the text tells which class they are of."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known: dict[str, _Set] = {}

    def of(self, inst: Inst, name: str) -> Opaque | None:
        """What an attribute of an object may have been set to; None where no code is seen to set one of such a name."""
        return next(self._all_of(inst, name), None)

    def turns(self, inst: Inst, name: str) -> bool:
        """Whether code makes something else of what an attribute has, by a computed name that may be this one.

        As `setattr(self, name, tensors(getattr(self, name)))` does for each of the attributes that it goes through.
        """
        return any(_turns(made.env.module, made.env.function) for made in self._all_of(inst, name))

    def _all_of(self, inst: Inst, name: str) -> Iterator[Opaque]:
        known: _Set = self.evaluator.ask(self._known, "", {}, self._set)
        for item in self.evaluator.classes.mro(inst.klass):
            for names, value, made in known.get((item.module, item.index), ()):
                if names.may_be(name) and (made is None or inst.call is None or inst.call is made):
                    yield value

    def _set(self) -> _Set:
        """The classes of such objects, each with what is set, and under which names."""
        found: _Set = defaultdict(list)
        for site in self.evaluator.index.calls_named(SETTERS):
            target = filled_by(site.expr)
            if target is None or site.module.is_test or _is_setter(site):
                continue
            value = Opaque(site.expr.args[-1], self.evaluator.generic(site.module, site.function))
            for klass, made in self._classes(target, site):
                found[klass.module, klass.index].append((_names(site), value, made))
        return dict(found)

    def _classes(self, target: Expr, site: Site) -> Iterator[tuple[Klass, Expr | None]]:
        """The class of a method's own object, or of what is made where the target is assigned, with that call.

        Without the call where the target may be another object, too.
        """
        module, function = site.module, site.function
        owner = module.method_owner(function)
        if target.kind == "name" and owner >= 0 and target.name == module.receiver_name(function):
            if not takes_over(module, function):  # of these, what a construction passes is known
                yield self.evaluator.klass(module, owner), None
            return
        given: list[Expr | None] = []
        if target.kind == "name":
            bindings = module.bindings[function, -1].get(target.name, ())
            given = [item.event.value if item.event is not None else None for item in bindings]
        elif target.kind == "attribute" and owner >= 0:
            given = [item.event.value for item in module.self_writes.get(owner, {}).get(target.name, ())]
        made = [item for value in given for item in self._made_by(value, site)]
        for klass, call in made:
            yield klass, call if target.kind == "name" and len(made) == len(given) else None

    def _made_by(self, value: Expr | None, site: Site) -> Iterator[tuple[Klass, Expr]]:
        """The class of which a call makes an object."""
        if value is not None and value.kind == "call":
            found = self.evaluator.names.of_module(value.args[0], self.evaluator.generic(site.module, site.function))
            yield from ((item, value) for item in found or () if isinstance(item, Klass))


def _names(site: Site) -> _Names:
    """The names that a call may set: `f"conv{number}"`, or those of a tuple that a loop goes over."""
    if site.expr.args[0].name == "update":
        return _Names()
    name = site.expr.args[-2]
    bindings = site.module.bindings[site.function, -1].get(name.name, ()) if name.kind == "name" else ()
    for item in bindings:
        over = item.event.value if item.event is not None and item.kind == "for" else None
        if over is not None and over.kind in ("tuple", "list", "set"):
            return _Names(only=frozenset(part.value for part in over.args if isinstance(part.value, str)))
    texts = (part.value for part in name.walk() if isinstance(part.value, str))
    return _Names(frozenset(word for text in texts for word in _WORD.findall(text)))


def _turns(module: Module, function: int) -> bool:
    """Whether a function sets an attribute by the name of a variable by which it reads one, too."""
    read, written = (
        {
            site.expr.args[2].dotted
            for site in module.calls.get(name, ())
            if site.function == function and site.expr.args[2:]
        }
        for name in ("getattr", "setattr")
    )
    return not read.isdisjoint(written - {""})


def _is_setter(site: Site) -> bool:
    """Whether a call stands where a class says how all of its attributes are set."""
    return site.function >= 0 and site.module.model.functions[site.function].name == "__setattr__"


def filled_by(call: Expr) -> Expr | None:
    """The object whose attributes a call sets by computed names.

    It is `x` of `setattr(x, name, value)`, `x.__setattr__(name, value)` and `vars(x).update(found)`.
    """
    callee, arguments = call.args[0], call.args[1:]
    if callee.dotted in ("setattr", "object.__setattr__") and len(arguments) == 3:
        return None if arguments[1].kind == "constant" else arguments[0]
    if callee.kind != "attribute" or not arguments:
        return None
    base = callee.args[0]
    if callee.name == "__setattr__":
        return None if len(arguments) != 2 or arguments[0].kind == "constant" else base
    if base.kind == "attribute" and base.name == "__dict__":
        return base.args[0]
    return base.args[1] if base.kind == "call" and base.args[0].name == "vars" and base.args[1:] else None
