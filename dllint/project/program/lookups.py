"""What code finds by names that it computes: in modules, among subclasses, by importing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from dllint.model.facts import Class, Expr, Function, ImportedName
from dllint.project.program.events import event_names
from dllint.project.program.flow import decided
from dllint.project.program.index import Index, stem
from dllint.project.program.module import Module

_EVERYTHING = frozenset({"globals", "eval", "exec"})
"""Functions that may find whatever the module has that calls them."""
_INTO = frozenset({"getattr", "vars", "dir", "getmembers"})
"""Functions that find things in what they get first."""
_DIGITS = frozenset({"isnumeric", "isdigit", "isdecimal"})
_LISTS = frozenset({"listdir", "scandir", "glob", "iglob", "iterdir", "walk", "iter_modules", "walk_packages"})
_PATH = re.compile(r"[\w.:]+")
_IMPORTERS = frozenset({"import_module", "__import__", "load_module", "spec_from_file_location", "run_module"})


class Lookups:
    """Answers what may be used though no code names it."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._into: dict[str, set[str]] = defaultdict(set)
        """The names of what the code of each file looks into; "*": into all that it has."""
        self._imported: dict[str, set[str]] = defaultdict(set)
        """The words of what is imported by a name, with the classes of which subclasses are wanted there; "": any."""
        self._importing: dict[str, set[str]] = defaultdict(set)
        """The files that import by a name that they don't have, with the same."""
        self._listing: set[str] = set()
        """Those that go through folders."""
        self._words: set[str] = set()
        """The words of all strings, any of which may be a module's name; "data." for what more is put behind."""
        self.paths: set[str] = set()
        """What the strings that may be names have around their dots, tests apart: `data.` and `data.text`."""
        self._metaclasses: set[str] = set()
        """The names of classes that know their subclasses."""
        self._places = {place for module in index for place in module.path.removesuffix(".py").split("/")}
        """The names of all files and folders."""
        for module in index:
            for function, klass, _ in module.scopes:
                for part in scope_parts(module, function, klass):
                    self._read(module, function, part)
            self._metaclasses.update(item.name for item in module.model.classes if _knows_subclasses(item))

    def into(self, module: Module, facts: Class | Function | None = None) -> bool:
        """Whether what a module has may be found by a name that is computed, or this class or function of it.

        Code that looks into its own file finds what that has imported: by `from`, nothing else of the module.
        """
        klass = facts if isinstance(facts, Class) else None
        places = module.path.removesuffix(".py").split("/")
        imported = (self._imported[place] for place in places if place in self._imported)
        if "*" in self._into[module.path] or any(self._wants(bases, klass) for bases in imported):
            return True
        statements = self.index.import_statements.get(module.path, ())
        whole = {"", "*", stem(module.path).rpartition("/")[2]}
        leading = [
            (user, item)
            for user, item in statements
            if facts is None or item.attribute == facts.name or item.attribute in whole
        ]
        if any(not self._into[user.path].isdisjoint((item.bound, "*")) for user, item in leading):
            return True
        importing = [] if statements else [path for path, bases in self._importing.items() if self._wants(bases, klass)]
        if not importing:
            return False
        return not self._listing.isdisjoint(importing) or not self._words.isdisjoint((places[-1], *_begun(places)))

    def _wants(self, bases: set[str], klass: Class | None) -> bool:
        """Whether code that wants subclasses of some classes may take a class."""
        return klass is None or any(not base or self._may_derive(klass, base) for base in bases)

    def _may_derive(self, klass: Class, base: str) -> bool:
        """Whether a class may derive from one of the project of this name: by what the bases of its bases are called.

        What is neither a class of the project nor imported under its own name may be any class.
        """
        waiting, seen = [klass], set[str]()
        while waiting:
            for expr in waiting.pop().bases:
                if expr.name == base or expr.kind not in ("name", "attribute") or expr.name in self._renamed:
                    return True
                if expr.name not in seen:
                    seen.add(expr.name)
                    waiting += self._classes.get(expr.name, ())
        return False

    @cached_property
    def _classes(self) -> dict[str, list[Class]]:
        """The classes of the project by their names."""
        found: dict[str, list[Class]] = defaultdict(list)
        for module in self.index:
            for item in module.model.classes:
                found[item.name].append(item)
        return found

    @cached_property
    def _renamed(self) -> frozenset[str]:
        """The names that imports and assignments of modules give to what may be called otherwise."""
        found = {item.bound for user in self.index for item in user.model.imports if item.bound != item.attribute}
        assigned = (event for user in self.index for event in user.model.events if event.kind == "assign")
        return frozenset(found.union(*map(event_names, assigned)))

    def among_subclasses(self, klass: Class) -> bool:
        """Whether a class may be found as a subclass of another one."""
        if "" in self._metaclasses and klass.bases:
            return True
        return any(part.name in self._metaclasses for base in klass.bases for part in base.walk())

    def _read(self, module: Module, function: int, part: Expr) -> None:
        if isinstance(part.value, str):
            self._words |= _words(part.value)
            if not module.is_test and _PATH.fullmatch(part.value):
                self.paths.update(map(".".join, pairwise(part.value.replace(":", ".").split("."))))
        if part.name in _LISTS:
            self._listing.add(module.path)
        if part.kind == "name" and part.name in _EVERYTHING:
            if not _reads_number(module, part):
                self._into[module.path].add("*")
        elif part.kind == "attribute" and part.name == "__dict__":
            self._into[module.path].add(part.dotted.partition(".")[0])
        elif part.kind == "attribute" and part.dotted == "sys.modules":
            self._into[module.path].add("*")
        elif part.kind == "attribute" and part.name == "__subclasses__":
            self._metaclasses.add("")
        elif part.kind == "call" and len(part.args) > 1:
            self._read_call(module, function, part, part.args[0].name, part.args[1])

    def _read_call(self, module: Module, function: int, call: Expr, name: str, first: Expr) -> None:
        if name in _INTO and not (len(call.args) > 2 and isinstance(call.args[2].value, str)):
            self._into[module.path].add(first.dotted.partition(".")[0])
        elif name in _IMPORTERS:
            texts = [item.value for item in first.walk() if isinstance(item.value, str)]
            own = [text for text in texts if not self._is_elsewhere(text)]
            base = _asked_for_base(module, function)
            base = base if base in self._classes else ""
            for word in {word for text in own for word in text.split(".")} - {""}:
                self._imported[word].add(base)
            if not any(text.strip(".") for text in texts):
                self._importing[module.path].add(base)

    def _is_elsewhere(self, name: str) -> bool:
        """Whether a module's name begins with a package of others, as imports show: `torchvision.models.`."""
        first = name.partition(".")[0]
        if "." not in name or first in self._places:
            return False
        found = [self.index.targets(user, item) for user, item in self._importing_from.get(first, ())]
        return bool(found) and not any(found)

    @cached_property
    def _importing_from(self) -> dict[str, list[tuple[Module, ImportedName]]]:
        """The imports of each package, by its first name."""
        found: dict[str, list[tuple[Module, ImportedName]]] = defaultdict(list)
        for user in self.index:
            for item in user.model.imports:
                if not item.level:
                    found[item.module.partition(".")[0]].append((user, item))
        return found


def mentioned(module: Module) -> Iterator[Expr]:
    """Every expression in the code of a module: decorators, defaults and bases among them."""
    for function, klass, _ in module.scopes:
        yield from scope_parts(module, function, klass)


def scope_parts(module: Module, function: int, klass: int) -> Iterator[Expr]:
    """The expressions of a scope, with the decorators, defaults and bases of what it is; `__all__` uses nothing."""
    if klass >= 0:
        facts = module.model.classes[klass]
        heads = (*facts.bases, *facts.decorators, *(value for _, value in facts.keywords))
        events = facts.events
    elif function >= 0:
        code = module.model.functions[function]
        heads = (*code.decorators, *(item.default for item in code.parameters if item.default is not None))
        events = code.events
    else:
        heads, events = (), module.model.events
    for expr in heads:
        yield from expr.walk()
    for event in events:
        if event.target is None or event.target.name != "__all__":
            yield from event.walk()


def _reads_number(module: Module, callee: Expr) -> bool:
    """Whether `eval` is called with a text that is tested for digits: `eval(source) if source.isnumeric() else 0`."""
    calls = (call for call in module.calls.get(callee.name, ()) if call.expr.args[0] is callee)
    return any(
        holds and test.kind == "call" and test.args[0].name in _DIGITS and _is_only(test.args[0].args, call.expr)
        for call in calls
        for test, holds, _ in decided(module, call.function, call.expr.start)
    )


def _is_only(subject: tuple[Expr, ...], call: Expr) -> bool:
    """Whether all that a call gets is the subject of a test, by its name."""
    return bool(subject) and [item.dotted for item in call.args[1:]] == [subject[0].dotted] != [""]


def _asked_for_base(module: Module, function: int) -> str:
    """The class of which a function wants subclasses, if it tests for one: `if issubclass(found, Base):`."""
    tests = [event.value for event in module.events(function) if event.kind == "test" and event.value is not None]
    for part in (part for test in tests for part in (test, *(test.args if test.name == "and" else ()))):
        if part.kind == "call" and part.args[0].name == "issubclass" and len(part.args) == 3:
            return part.args[2].name if part.args[2].kind in ("name", "attribute") else ""
    return ""


def _words(text: str) -> set[str]:
    """The words of a string; the one before what is put behind or in between ends with a dot."""
    words = text.replace(":", ".").split(".")
    return {*words, *(f"{word}." for word, following in pairwise(words) if not following.isidentifier())}


def _begun(places: list[str]) -> list[str]:
    """How a string ends behind which a module's name is put."""
    return [f"{places[-2]}."] if len(places) > 1 else []


def _knows_subclasses(klass: Class) -> bool:
    return "__init_subclass__" in klass.methods or any(name == "metaclass" for name, _ in klass.keywords)
