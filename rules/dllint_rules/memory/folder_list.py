"""The list of files that a class has from torchvision's `ImageFolder` or `DatasetFolder`: bytes below its `__init__`.

The base asks it for its length and for items, and for nothing else (from torchvision's source, 0.2 to 0.28).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from dllint import (
    FOLDER_DATASETS,
    Attribute,
    Edit,
    Event,
    Expr,
    Ext,
    Finding,
    Fix,
    OfBase,
    Place,
    Project,
    Span,
    Write,
    own_init,
)
from dllint_rules.memory.dll202_python_container_on_dataset import PythonContainerOnDataset
from dllint_rules.memory.in_place import Change, Made
from dllint_rules.memory.packed import RECORDS, packed
from dllint_rules.memory.rows import Rows

_LIST = "samples"
_ALIASES = {"DatasetFolder": (), "ImageFolder": ("imgs",)}
"""Under which other names a class keeps the same list."""
_CHANGES = ("filled", "set")
_ADDS_NOTHING = {"sort", "reverse", "remove", "pop", "clear"}


def fix_folder(finding: Finding, project: Project) -> Fix:
    """Bytes in place of the list that the base makes; what to paste, and the obstacle, if that may be wrong."""
    change = _change(project, finding.data)
    why_not = change.why_not()
    return change.by_hand(why_not) if why_not else change.fix()


def folder_lists(project: Project) -> Iterator[FolderList]:
    """The changes of all such lists that are reported."""
    for finding in PythonContainerOnDataset().check(project):
        if isinstance(finding.data, OfBase) and not finding.data.is_index:
            yield _change(project, finding.data)


def _change(project: Project, kept: OfBase) -> FolderList:
    change = FolderList(project, kept).at_its_best()
    assert isinstance(change, FolderList)
    return change


class FolderList(Change):
    """The list, as if the call of the base's `__init__` set it; without one, as if the class had such a call."""

    def __init__(self, project: Project, kept: OfBase, gone_through: bool = False) -> None:
        self.kept, klass = kept, kept.klass
        self.init = klass.facts.methods.get("__init__", -1)
        module = klass.module
        self.receiver = module.receiver_name(self.init) if self.init >= 0 else "self"
        place = kept.span if self.init >= 0 else klass.facts.span
        name = Expr("name", place.start, place.end, self.receiver)
        target = Expr("attribute", place.start, place.end, _LIST, (name,))
        event = Event("assign", place.start, place.end, target=target)
        super().__init__(project, module, Write(self.init, event, target), RECORDS, Rows(project, False), gone_through)
        classes = project.evaluator.classes
        self.bases = classes.mro(klass)[1:]
        external = (base.name for base in classes.bases(klass) if isinstance(base, Ext))
        self.folders = {base.rpartition(".")[2] for base in external if base in FOLDER_DATASETS}
        self.aliases = _ALIASES[min(self.folders)] if len(self.folders) == 1 else ()
        self.own: Attribute = Attribute(project, klass, _LIST, aliases=self.aliases)
        self.attribute = self.own

    def _below_loops(self) -> Change:
        return FolderList(self.project, self.kept, gone_through=True)

    def obstacle(self) -> str:
        """What is in the way of this change."""
        return (
            self._made_otherwise() or self.own.hidden() or self._in_use(self.own) or self._put_in() or self._nowhere()
        )

    def _made_otherwise(self) -> str:
        """Why the base's `__init__` may not make the list, or not always."""
        klass = self.kept.klass
        if len(self.folders) != 1:
            return f"the base of `{klass.facts.name}` may be one of several"
        maker = next((item for item in self.own.family.values() if "make_dataset" in item.facts.methods), None)
        if maker is not None:
            return f"`make_dataset` of `{maker.facts.name}` makes it"
        if self.init < 0:
            return f"a decorator of `{klass.facts.name}` may give it an `__init__`" if klass.facts.decorators else ""
        if not self.calls:
            return f"`__init__` of `{klass.facts.name}` does not call the base's"
        plain = all(event.kind == "expr" and event.value is call and event.block < 0 for event, call in self.calls)
        return "" if plain else "the call that makes it is not a statement that always runs"

    def _nowhere(self) -> str:
        """Why there is no line for the change."""
        if self.init < 0:
            missing = self._own_init("") is None
            return f"`{self.kept.klass.facts.name}` has no method above which `__init__` can go" if missing else ""
        line = self._line()
        if line is None:
            return "dllint finds no line where it is complete"
        return "`__init__` may return before it is complete" if self._returns_above(line) else ""

    def _put_in(self) -> str:
        """What is put in that is not seen to be a record, in words."""
        source = self.project.source(self.module.path)
        for place in self._changing:
            if not any(self._keeps_records(event, place.use.span) for event in self.module.events(self.init)):
                row = source.location(place.use.span.start)[0]
                return f"{source.path}:{row} puts in what is not seen to be a record: `{source.line(row).strip()}`"
        return ""

    def _keeps_records(self, event: Event, kept: Span) -> bool:
        """Whether an event is a change of the list after which it still has nothing but records."""
        env, target, value = self.project.evaluator.generic(self.module, self.init), event.target, event.value
        if target is not None and target.kind == "subscript" and target.args[0].span == kept:
            if value is None or event.kind != "assign":
                return event.kind == "del"
            return target.args[1].kind != "slice" and self.contents.is_item(value, env)
        if value is None or value.kind != "call" or event.kind != "expr":
            return False
        method = value.args[0]
        if method.dotted == "random.shuffle":
            return value.args[1].span == kept
        named = method.kind == "attribute" and method.args[0].span == kept
        return named and (method.name in _ADDS_NOTHING or self.contents.adds_items(value, env))

    @cached_property
    def calls(self) -> list[tuple[Event, Expr]]:
        """The calls of an `__init__` in that of the class."""
        events = self.module.events(self.init) if self.init >= 0 else ()
        parts = ((event, part) for event in events for part in event.walk() if part.kind == "call")
        return [(event, part) for event, part in parts if part.args[0].name == "__init__"]

    @cached_property
    def _changing(self) -> list[Place]:
        """Where `__init__` changes the list."""
        return [place for place in self.own.near or () if self._is_here(place) and place.use.kind in _CHANGES]

    @cached_property
    def filled(self) -> list[Span]:
        """What the list is complete below; nothing, where the class has no `__init__`."""
        return [*(call.span for _, call in self.calls), *(place.use.span for place in self._changing), *self.loops]

    @cached_property
    def set_again(self) -> list[Write]:
        """None: no code of the class sets the list."""
        return []

    @cached_property
    def other_arms(self) -> list[Write]:
        """None: the base makes the list in any case."""
        return []

    @cached_property
    def of_small(self) -> bool:
        """Each entry is a path and a number."""
        return True

    def _is_here(self, place: Place) -> bool:
        return self.init >= 0 and super()._is_here(place)

    def _survives(self, place: Place) -> bool:
        if self._is_here(place) and place.use.kind == "set":
            return self._is_before(place)
        if self._is_here(place) and place.use.kind == "given":
            return self._is_only_read(place)
        return super()._survives(place)

    def _told(self, place: Place) -> str:
        if place.use.kind != "write":
            return super()._told(place)
        source = self.project.source(place.module.path)
        row = source.location(place.use.span.start)[0]
        return f"{place.module.path}:{row} sets another list: `{source.line(row).strip()}`"

    def _replaced(self, made: Made) -> Iterator[Edit]:
        kept, *aliases = (f"{self.receiver}.{name}" for name in self.own.names)
        value = " = ".join((*aliases, made.of(kept)))
        line = self._line() if self.init >= 0 else None
        edit = self._statement(line, kept, value) if line is not None else self._own_init(f"{kept} = {value}")
        assert edit is not None
        yield edit

    def _own_init(self, statement: str) -> Edit | None:
        """The `__init__` that the class gets, with a statement below the call of the base's."""
        return own_init(self.project.source(self.module.path), self.kept.klass.facts.span, statement)

    def by_hand(self, why_not: str) -> Fix:
        """What to paste below the call of the base's `__init__`."""
        kept, *aliases = (f"{self.receiver}.{name}" for name in self.own.names)
        snippet = packed(self.project, self.module.path, kept, RECORDS, tuple(aliases))
        return Fix.manual(f"Keep `{_LIST}` as bytes in a tensor, once it is complete; {why_not}", snippet)
