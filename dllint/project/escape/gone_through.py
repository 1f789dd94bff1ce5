"""Datasets that a script defines for itself, and only goes through in its own process: no loader gets them."""

from __future__ import annotations

from collections.abc import Iterator, Set

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Klass
from dllint.project.program.call_index import Call
from dllint.project.program.events import PROGRESS
from dllint.project.program.guards import under_main_guard
from dllint.project.program.lookups import mentioned
from dllint.project.program.module import Module, Site
from dllint.project.program.unnamed import Unnamed

_ASKING = frozenset({"len", "print", "type", "range", "super"})
_WRAPPERS = PROGRESS | {"enumerate", "iter"}
HARMLESS = _ASKING | _WRAPPERS
"""Functions that hand on nothing that they get."""


class GoneThrough:
    """Answers which classes of datasets are only gone through, by the only file that names them."""

    def __init__(self, evaluator: Evaluator, unnamed: Unnamed) -> None:
        self.evaluator = evaluator
        self.unnamed = unnamed

    def only(self, klass: Klass, runs: bool = False) -> bool:
        """Whether every use of a class in the project is to make a dataset, and to loop over that or to index it.

        Not where its file does so under its own main guard: a file of data sets tries them there. A file that nothing
        imports in an application that `runs` has no other use.
        """
        tries = not runs or self._may_be_imported(klass.module)
        name = klass.facts.name
        sites = [site for site in klass.module.calls.get(name, ()) if self._makes(klass, site)]
        named = sum(part.kind == "name" and part.name == name for part in mentioned(klass.module))
        known = len(sites) + _asked_for_bases(klass.module, name) + _derived_from(klass.module, name)
        if not sites or named != known or self._leaves_its_file(klass):
            return False
        if not all(self.only(derived, runs) for derived in self.evaluator.classes.subclasses(klass)):
            return False
        methods = {method for base in self.evaluator.classes.mro(klass) for method in base.facts.methods}
        return all(self._stays(klass.module, site, methods, tries) for site in sites)

    def keeps_to_itself(self, klass: Klass, site: Site) -> bool:
        """Whether a function asks a dataset that it makes for what that has and calls its methods, no more.

        None of the methods hands the dataset on, nor does a closure take it along.
        """
        module, event = site.module, site.event
        if site.function < 0 or event.kind != "assign" or event.value is not site.expr or event.target is None:
            return False
        if event.target.kind != "name" or event.target.name in module.model.functions[site.function].globals:
            return False
        chain = self.evaluator.classes.mro(klass)
        code = [(base.module, index) for base in chain for index in base.facts.methods.values()]
        methods = {method for base in chain for method in base.facts.methods}
        name, own = event.target.name, module.events(site.function)
        uses = [item for item in _events(module, site.function) if any(part.name == name for part in item.walk())]
        stays = all(item is event or (item in own and not _hands_on(item, name, methods, methods)) for item in uses)
        return stays and not any(
            _hands_on(item, base.receiver_name(index), frozenset())
            for base, index in code
            for item in _events(base, index)
        )

    def _may_be_imported(self, module: Module) -> bool:
        """Whether another file may import one, or a package offers it."""
        index = self.evaluator.index
        named = index.import_statements.get(module.path) or index.unresolved_importers(module.path)
        return bool(named) or self.unnamed.is_offered(module) or self.unnamed.is_looked_up(module)

    def _makes(self, klass: Klass, site: Call) -> bool:
        env = self.evaluator.generic(klass.module, site.function)
        return self.evaluator.values(site.expr.args[0], env) == (klass,)

    def _leaves_its_file(self, klass: Klass) -> bool:
        """Whether another file may name a class: `from module import *`, or its name in code that imports the file."""
        naming = self.evaluator.index.import_statements.get(klass.module.path, ())
        name = klass.facts.name
        return any(imported.attribute == "*" or name in self.unnamed.names(importer) for importer, imported in naming)

    def _stays(self, module: Module, site: Call, methods: Set[str], tries: bool) -> bool:
        event = site.event
        if tries and under_main_guard(module, site.function, event):
            return False
        if event.kind == "for":
            return _unwrapped(event.value) is site.expr
        if event.kind != "assign" or event.value is not site.expr or event.target is None:
            return False
        if event.target.kind != "name" or (site.function < 0 and tries):
            return False
        name = event.target.name
        uses = [item for item in _events(module, site.function) if any(part.name == name for part in item.walk())]
        return not any(item is not event and _hands_on(item, name, methods) for item in uses)


def _asked_for_bases(module: Module, name: str) -> int:
    """How often `super(Klass, self)` names a class."""
    calls = (call.expr.args[1:2] for call in module.calls.get("super", ()))
    return sum(_is(part, name) for given in calls for part in given)


def _derived_from(module: Module, name: str) -> int:
    """How often a class is named as a base."""
    return sum(_is(base, name) for item in module.model.classes for base in item.bases)


def _events(module: Module, function: int) -> Iterator[Event]:
    """The events of a function and of those inside it."""
    yield from module.events(function)
    for inner in module.model.functions:
        if inner.parent == function:
            yield from _events(module, inner.index)


def _hands_on(event: Event, name: str, methods: Set[str], called: Set[str] = frozenset()) -> bool:
    """Whether an event does more with what has a name than to go through it, to index it or to ask its length.

    Or to read what it keeps, which is none of its `methods`, or to call what may be `called`.
    """
    if event.kind == "for" and _is(_unwrapped(event.value), name):
        return False
    target = None if _is(event.target, name) else event.target  # bound again: to something else
    return any(_escapes(expr, name, methods, called) for expr in (event.value, target) if expr is not None)


def _escapes(expr: Expr, name: str, methods: Set[str], called: Set[str]) -> bool:
    if _is(expr, name):
        return True
    parts = (*expr.args, *(value for _, value in expr.keywords))
    if expr.kind == "call" and expr.args[0].name in called and _is(next(iter(expr.args[0].args), None), name):
        parts = parts[1:]
    kept = expr.kind == "attribute" and expr.name not in methods and not expr.name.startswith("__")
    if kept or expr.kind == "subscript" or (expr.kind == "call" and expr.args[0].name in _ASKING):
        parts = tuple(part for part in parts if not _is(part, name))
    return any(_escapes(part, name, methods, called) for part in parts)


def _unwrapped(expr: Expr | None) -> Expr | None:
    """What a loop goes through, without what counts or shows its steps."""
    while expr is not None and expr.kind == "call" and expr.args[0].name in _WRAPPERS and len(expr.args) > 1:
        expr = expr.args[1]
    return expr


def _is(expr: Expr | None, name: str) -> bool:
    return expr is not None and expr.kind == "name" and expr.name == name
