"""The fix of DLL201 and DLL202: strings in one array, records as bytes in a tensor, where nothing asks for a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import msgspec

from dllint import (
    ALL_METHODS,
    FORK,
    Applicability,
    Attribute,
    Edit,
    Env,
    Expr,
    Finding,
    Fix,
    Held,
    Import,
    Module,
    ModuleModel,
    Place,
    Project,
    Seq,
    Severity,
    Span,
    Value,
    Write,
    after_statement,
    below_statement,
    changed_entry,
    enclosed,
    goes_through,
    insertion,
    module_alias,
    name_uses,
    on_each,
    reference,
)
from dllint_rules.memory.analysis.entries import Entries
from dllint_rules.memory.arms import makes_much, other_arms
from dllint_rules.memory.dll201_path_list_on_dataset import PathListOnDataset
from dllint_rules.memory.dll202_python_container_on_dataset import PythonContainerOnDataset
from dllint_rules.memory.homes import Home, Homes
from dllint_rules.memory.packed import NAMES, RECORDS, TEXTS, class_name, class_of, modules_of
from dllint_rules.memory.paths import Paths
from dllint_rules.memory.readers import Readers
from dllint_rules.memory.remedies import by_hand, is_set, records_by_hand, would_pad
from dllint_rules.memory.rows import Rows
from dllint_rules.memory.text import Texts

_UNREAD = "a file that may use it is written for another Python"
_LONG = 60
_BEFORE = ("filled", "given", "sliced", "whole", "joined", "tested")
_OF_THE_LIST = ("write", "filled", "tested", "set")
"""What may be done with a list before there is an array in its place."""


def fix_list(finding: Finding, project: Project) -> Fix | None:
    """An array in place of the list; what to paste, and the obstacle, if that is not certain to be right."""
    held = finding.data
    assert isinstance(held, Held)
    change = _list_change(project, held)
    if change is None:
        is_one = _write(project, held) is not None and is_set(held.value)
        return by_hand(project, held, "it is a set, which finds its members faster than an array" if is_one else "")
    why_not = change.why_not()
    if change.mixed:
        return Fix.manual(f"Keep the strings of `{held.holder.name}` apart, as an array; {why_not}")
    return by_hand(project, held, why_not) if why_not else change.fix()


def fix_records(finding: Finding, project: Project) -> Fix:
    """Bytes in place of a list of rows; what to paste, and the obstacle, if that is not certain to be right."""
    held = finding.data
    assert isinstance(held, Held)
    change = _record_change(project, held)
    if change is None:
        return records_by_hand(project, held)
    why_not = change.why_not()
    return records_by_hand(project, held, why_not) if why_not else change.fix()


def every_packed(project: Project) -> Iterator[_Change]:
    """The changes of all warnings that need a class and that nothing is in the way of."""
    for rule, made in ((PathListOnDataset(), _list_change), (PythonContainerOnDataset(), _record_change)):
        told = (one for one in rule.check(project) if one.severity is not Severity.INFO)
        found = (made(project, one.data) for one in told if isinstance(one.data, Held))
        yield from (change for change in found if change and change.words and not change.why_not())


def _list_change(project: Project, held: Held) -> _Change | None:
    write = _write(project, held)
    if write is None or is_set(held.value):
        return None
    module = project.index.modules[held.route[0].path]
    words = TEXTS if would_pad(project, held) else None if FORK in project.failing(held, ALL_METHODS) else NAMES
    return _Change(project, module, write, words, Texts(project)).at_its_best()


def _record_change(project: Project, held: Held) -> _Change | None:
    write, entries = _write(project, held), project.analysis(Entries)
    if write is None or not entries.is_list_of_records(held) or is_set(held.value):
        return None
    module = project.index.modules[held.route[0].path]
    return _Change(project, module, write, RECORDS, Rows(project, entries.is_indexed(held))).at_its_best()


def _write(project: Project, held: Held) -> Write | None:
    """The assignment that a finding is about."""
    step = held.route[0]
    module = project.index.modules[step.path]
    writes = module.attribute_writes.get(held.holder.name, ())
    return next((write for write in writes if write.target.span == step.span), None)


class _Change:
    """A list that becomes an array, or bytes: at once, or below the statements that fill it.

    `words` are those of the class that packs it; None for an array. `contents` says whether a list has only such.
    `gone_through`: it changes only below what goes through the whole list, which would make each record again.
    """

    def __init__(
        self,
        project: Project,
        module: Module,
        write: Write,
        words: dict[str, str] | None,
        contents: Texts | Rows,
        gone_through: bool = False,
    ) -> None:
        self.project = project
        self.words = words
        self.contents = contents
        self.module = module
        self.write = write
        owner = module.method_owner(write.function)
        klass = project.evaluator.klass(module, owner) if owner >= 0 else None
        self.bases = project.evaluator.classes.mro(klass)[1:] if klass else ()
        self.attribute = Attribute(project, klass, write.target.name) if klass else None
        self.of_rows = isinstance(contents, Rows)
        self.readers = project.analysis(Readers)
        self.of_paths = False
        self.mixed = False
        self.gone_through = gone_through

    def at_its_best(self) -> _Change:
        """The change below the loops over the list, if there are any and nothing is in the way of this."""
        below = _Change(self.project, self.module, self.write, self.words, self.contents, gone_through=True)
        return below if below.can_wait() and not below.why_not() else self

    def can_wait(self) -> bool:
        """Whether there are loops below which it can change: nothing that comes between needs it earlier."""
        if not self.loops or self._in_loop() or any(not self._is_here(place) for place in self.needing):
            return False
        line = self._line()
        ends = (event.start for event in self.module.events(self.write.function) if event.kind == "return")
        return line is not None and not any(self.write.event.end <= start < line[0] for start in ends)

    def why_not(self) -> str:
        """The obstacle, in words; "" if there is none."""
        event, attribute = self.write.event, self.attribute
        own = self._has_its_value(self.write)
        if attribute is None:
            return "code outside of its class sets it"
        if event.value is None or not (own or self.unpacked or self._is_filled_later()):
            return "no assignment sets it alone"
        hidden = attribute.hidden()
        if hidden:
            return hidden
        if attribute.near is None:
            return _UNREAD
        env = self.project.evaluator.generic(self.module, self.write.function)
        kept = event.value if own else self.write.target
        self.of_paths = not self.of_rows and Paths(self.project).is_list(kept, env)
        if None in self.lines:
            return "its line has other statements"
        if event.value.kind == "attribute":
            return f"`{self._text(event.value)}` is the same list, which other code may need"
        if not (self.of_paths or self.contents.is_list(kept, env)):
            return self._something_else(kept, env)
        blocked = self._blocked(attribute.near)
        if blocked is None and attribute.places is None:  # asked late: it looks at every file
            return _UNREAD
        blocked = blocked or self._blocked(attribute.places or ())
        if blocked is not None:
            return self._told(blocked)
        if event.value.kind == "name" and not self._settled(event.value):
            return f"`{event.value.name}` may still change after this line"
        if self.filled and self._line() is None:
            return "dllint finds no line where it is complete"
        if self.of_paths and self.words:
            return "an array is copied to every spawned worker, a tensor is shared"
        keyed = self._looked_up()
        if keyed:
            return f"`{keyed}` has the same strings as keys: what it has for each must become an array, too"
        if self.kept_as_lists:
            row = self.project.source(self.module.path).location(self.kept_as_lists[0].event.start)[0]
            return f"line {row}, in another branch, sets what is not certain to be a list of {self.contents.what}"
        return ""

    def _looked_up(self) -> str:
        """The dictionary in which workers look up strings of the list: they copy its keys, the same objects."""
        for place in (self.attribute and self.attribute.near) or ():
            if self.of_rows or place.use.kind != "read" or not self._in_worker(place):
                continue
            events = place.module.events(place.function)
            items = {event.target.name for event in events if event.target and _is_item(event.value, place.use.span)}
            for part in (part for event in events for part in event.walk() if part.kind == "subscript"):
                of_item = part.args[1].name in items or _is_item(part.args[1], place.use.span)
                if of_item and part.args[0].kind == "attribute":
                    return part.args[0].name
        return ""

    def _something_else(self, kept: Expr, env: Env) -> str:
        """What is not seen to be a string (a record), in words: one thing that is put in, or what the list is of."""
        what = self.contents.what
        for value in self.project.values(kept, env):
            for item, scope in self._put_in(value):
                path = scope.module.path
                row = self.project.source(path).location(item.start)[0]
                self.mixed = isinstance(value, Seq) and self.contents.has_some(value)
                return f"{path}:{row} puts in what is not seen to be a {what[:-1]}: `{self._text(item, path)}`"
        return f"`{self._text(kept)}` is not seen to be a list of {what} of its own"

    def _put_in(self, value: Value) -> Iterator[tuple[Expr, Env]]:
        """What is put into a list, where it is made and later, that is not seen to be a string, or a record."""
        if isinstance(value, Seq):
            made = value.expr.args[-1:] if value.expr.kind == "comprehension" else value.expr.args
            yield from ((item, value.env) for item in made if not self.contents.is_item(item, value.env))
            yield from self.contents.others(value)

    def _text(self, expr: Expr, path: str = "") -> str:
        """An expression in one line, the beginning of a long one."""
        text = " ".join(self.project.text(path or self.module.path, expr.span).split())
        return text if len(text) <= _LONG else f"{text[:_LONG]}..."

    def _has_its_value(self, write: Write) -> bool:
        """Whether an assignment has one target, which gets all of the value."""
        same = [other for other in self.module.events(write.function) if other.value is write.event.value]
        return write.event.kind == "assign" and write.event.target is write.target and len(same) == 1

    def _is_filled_later(self) -> bool:
        """Whether the list, made here together with other things, is complete only below the assignment."""
        event, target = self.write.event, self.write.target
        pairs = zip(event.target.args, event.value.args, strict=False) if event.target and event.value else ()
        made = any(name is target and value.kind in ("list", "comprehension") for name, value in pairs)
        return event.kind == "augment" or (event.kind == "assign" and made and bool(self.filled))

    @cached_property
    def unpacked(self) -> list[Write]:
        """The assignments that unpack what a call gives into the attribute and others, where one of them is meant."""
        writes = self.module.attribute_writes.get(self.write.target.name, ())
        own = [write for write in writes if write.function == self.write.function and _unpacks(write)]
        return own if self.write in own and not self.filled else []

    @cached_property
    def lines(self) -> list[tuple[int, str] | None]:
        """The lines below those that unpack or keep paths, with their indentation."""
        source, kept = self.project.source(self.module.path), [self.write] if self.of_paths and not self.filled else []
        return [below_statement(source, write.event.start) for write in self.unpacked or kept]

    @cached_property
    def filled(self) -> list[Span]:
        """Where the method that sets the list adds to it, changes an entry or hands it on, if it does so afterwards."""
        places = [place for place in (self.attribute and self.attribute.near) or () if self._is_here(place)]
        spans = [place.use.span for place in places if place.use.kind == "filled" or self._changes_entry(place)]
        end, own = self.write.event.end, self.write.target.span
        later = [place for place in places if place.use.span.start >= end]
        spans += [place.use.span for place in later if self._makes_of_itself(place) or self._is_handed_on(place)]
        spans += self.loops
        return spans if any(span.start >= end or span == own for span in spans) else []

    @cached_property
    def loops(self) -> list[Span]:
        """Where the method that sets the list goes through it afterwards."""
        near = (self.attribute and self.attribute.near) or () if self.gone_through else ()
        later = [place for place in near if self._is_here(place) and place.use.span.start >= self.write.event.end]
        return [place.use.span for place in later if self._goes_through(place)]

    def _goes_through(self, place: Place) -> bool:
        source, use = self.project.source(place.module.path), place.use
        return use.kind in ("whole", "joined") or (use.kind == "read" and goes_through(source, use.span))

    def _blocked(self, places: Iterable[Place]) -> Place | None:
        return next((place for place in places if not self._survives(place) and not self._may_ask(place)), None)

    def _makes_of_itself(self, place: Place) -> bool:
        """Whether a use sets the attribute to what is made of it: `self.rows = selected(self.rows)`."""
        if place.use.kind != "write" or (self.words is None and self._is_cut(place)):
            return False  # a part of an array is an array
        own = self.write.target.dotted
        made = [event for event in place.module.events(place.function) if event.kind == "assign" and event.value]
        return any(
            event.target is not None
            and event.target.span == place.use.span
            and any(part.dotted == own for part in event.value.walk() if part.kind == "attribute")
            for event in made
            if event.value is not None
        )

    def _is_handed_on(self, place: Place) -> bool:
        """Whether a use gives the list to a function that may do more than read it."""
        return place.use.kind == "given" and (self.of_paths or not self.readers.only_read(place))

    def _changes_entry(self, place: Place) -> bool:
        """Whether a use changes a record, which code that reads the record again expects to find changed."""
        return self.of_rows and changed_entry(self.project.source(place.module.path), place.use.span) is not None

    def _may_ask(self, place: Place) -> bool:
        """Whether a use can ask the array for a list: of `self` in this file, once it is there, not for each item."""
        if place.use.kind not in ("sliced", "whole", "joined", "tested") or self._in_worker(place):
            return False
        if not self._of_self(place) or (self.of_paths and place.use.kind != "tested"):
            return False
        return not self._is_here(place) or not (self._is_before(place) or self._in_loop())

    def _of_self(self, place: Place) -> bool:
        """Whether a use is of the object whose method it is in, in this file."""
        own = self.project.text(place.module.path, place.use.base) == place.module.receiver_name(place.function)
        return own and place.module is self.module

    def _is_before(self, place: Place) -> bool:
        """Whether a use comes before there is an array."""
        line = self._line() if self.filled else None
        since = line[0] if line else max(write.event.end for write in (self.write, *self.unpacked))
        return self._is_here(place) and place.use.span.start < since

    def _in_worker(self, place: Place) -> bool:
        code = place.module.path, place.function
        return any(running.function == code for running in self.project.running)

    @cached_property
    def needing(self) -> list[Place]:
        """The uses that need a list, all of this file."""
        return [place for place in (self.attribute and self.attribute.near) or () if not self._survives(place)]

    def _is_here(self, place: Place) -> bool:
        return place.module is self.module and place.function == self.write.function

    def _survives(self, place: Place) -> bool:
        """Whether a use means the same for an array, or comes before there is one."""
        kind, span = place.use.kind, place.use.span
        if self._changes_entry(place) and not self._is_before(place):
            return False
        if self._is_cut(place) and not self.of_paths:
            return self.words is None or self._is_before(place)
        if any(write.target.span == span for write in self.set_again):
            return True
        if kind == "sliced" and self.words and not self._is_before(place):
            return True  # a part of bytes is a list
        if kind == "given" and not self.of_paths and self.readers.only_read(place):
            return True
        if kind == "read" and self.of_paths and not self._is_before(place):
            return self._of_self(place) and self._as_path(place) is not None
        if kind in ("read", "foreign") or not self._is_here(place):
            return kind in ("read", "foreign") or self._is_empty(place)
        if span == self.write.target.span:
            return kind in ("write", "filled")  # not one with an annotation, which would be wrong of an array
        value = self.write.event.value
        if not self.filled and value is not None and value.start <= span.start < value.end:
            gives_its_own = all(
                arm.kind in ("call", "subscript") or arm.dotted == self.write.target.dotted for arm in _arms(value)
            )
            return kind in ("other", "given", "sliced", "whole", "joined") and gives_its_own
        if not self.filled and kind == "write":
            # What is set instead is as good as it was, but where items are made paths again, it must have none.
            return not self.of_paths or _sets_nothing(place)
        if not self.filled:
            return span.end <= self.write.event.start and kind in _OF_THE_LIST and not self._in_loop()
        line = self._line()
        if line is None or span.start >= line[0]:
            return False
        return kind in _BEFORE or (kind == "write" and self._is_list_too(span))

    def _is_empty(self, place: Place) -> bool:
        """Whether a use is the `self.paths = []` of a base class's `__init__`, which this one runs before its own."""
        if place.use.kind != "write" or place.module.model.functions[place.function].name != "__init__":
            return False
        owner = place.module.path, place.module.method_owner(place.function)
        if all((base.module.path, base.index) != owner for base in self.bases):
            return False
        return _sets_nothing(place)

    def _is_cut(self, place: Place) -> bool:
        """Whether a use is part of `self.paths = self.paths[:n]`, which means the same for an array."""
        return any(
            place.use.span in (event.target.span, *(part.span for part in _cut(event.value, event.target)))
            for event in place.module.events(place.function)
            if event.kind == "assign" and event.target is not None and event.value is not None
            if _cut(event.value, event.target)
        )

    @cached_property
    def set_again(self) -> list[Write]:
        """The assignments in other methods and arms that set lists of strings, which become arrays as well.

        Those above the line where a list that is filled becomes one become one there.
        """
        writes = self.module.attribute_writes.get(self.write.target.name, ())
        near = self.attribute.near if self.attribute and not self.of_paths else None
        own = {place.use.span for place in near or () if self._of_self(place) and place.use.kind == "write"}
        owner = self.module.method_owner(self.write.function)
        others = [write for write in writes if write.function != self.write.function and write.target.span in own]
        others = [write for write in others if self.module.method_owner(write.function) == owner]
        line = self._line() if self.filled else None
        arms = [write for write in self.other_arms if line is None or write.event.start > line[0]]
        others += [write for write in arms if write.target.span in own]
        return [write for write in others if self._has_its_value(write) and self._sets_alike(write)]

    def _sets_alike(self, write: Write) -> bool:
        env, value = self.project.evaluator.generic(self.module, write.function), write.event.value
        own = ("comprehension", "call") if write.function == self.write.function else ("comprehension",)
        return value is not None and value.kind in own and self.contents.is_list(value, env)

    @cached_property
    def other_arms(self) -> list[Write]:
        """The assignments that run instead of this one."""
        return other_arms(self.module, self.write)

    @cached_property
    def kept_as_lists(self) -> list[Write]:
        """The assignments in other arms after which there would be a list that is not seen to be of strings."""
        known = {write.target.span for write in self.set_again}
        unknown = [
            write for write in self.other_arms if write.target.span not in known and write.event.kind == "assign"
        ]
        return [write for write in unknown if not self.filled and not self.unpacked and makes_much(write.event.value)]

    def _in_loop(self) -> bool:
        """Whether code above the assignment may run after it."""
        blocks = map(self.module.block, self.module.enclosing(self.write.event.block))
        return any(block.kind in ("for", "while") for block in blocks)

    def _is_list_too(self, target: Span) -> bool:
        """Whether another assignment of the method gives a list of strings as well."""
        events = self.module.events(self.write.function)
        event = next((item for item in events if item.target is not None and item.target.span == target), None)
        env = self.project.evaluator.generic(self.module, self.write.function)
        return event is not None and event.value is not None and self.contents.is_list(event.value, env)

    def _told(self, place: Place) -> str:
        source = self.project.source(place.module.path)
        row = source.location(place.use.span.start)[0]
        own = source.text[place.use.base.start : place.use.base.end] == place.module.receiver_name(place.function)
        needs = "needs a list" if own else "may need a list"
        if self._changes_entry(place):
            needs = "changes a record"
        return f"{place.module.path}:{row} {needs}: `{source.line(row).strip()}`"

    def _settled(self, value: Expr) -> bool:
        """Whether a local variable is not added to once it is kept: below, and in no further round of a loop."""
        facts = self.module.model.functions[self.write.function]
        uses = name_uses(self.project.source(self.module.path), value.name, facts.span)
        later = [use.kind for use in uses or () if use.span.start > value.end]
        harmless = {"read", "returned", "tested", "sliced", "whole", "joined"}
        source = self.project.source(self.module.path)
        changed = self.of_rows and any(
            changed_entry(source, use.span) for use in uses or () if use.span.start > value.end
        )
        return uses is not None and not (changed or self._in_loop()) and set(later) <= harmless

    def _line(self) -> tuple[int, str] | None:
        """The offset of the line above which the list is complete, and the indentation there."""
        facts = self.module.model.functions[self.write.function]
        arms = [arm.event.start for arm in self.other_arms]
        own = [self.write.event.start, *(span.start for span in self.filled)]
        # What another arm sets above the line becomes an array there, too.
        return after_statement(self.project.source(self.module.path), facts.span, [*own, *arms])

    def fix(self) -> Fix:
        """The edits; there must be nothing in the way. A class that other files need as well is defined once."""
        own = self._made()
        home = self.project.analysis(Homes).of(self.module.path, self.words) if self.words and own.text else None
        if home is None:
            return self._fix(own)
        alone = self._fix(own) if home.at >= 0 else None
        return msgspec.structs.replace(self._fix(self._imported(home)), alone=alone)

    def _fix(self, made: _Made) -> Fix:
        path, value, target = self.module.path, self.write.event.value, self.write.target
        source = self.project.source(path)
        path_class, more = reference(self.module.model, "pathlib", "Path", self.write.event.start)
        line = self._line() if self.filled else None
        assert value is not None
        lines = [line] if line is not None else [below for below in self.lines if below is not None]
        if self.of_paths and line is None and not self.unpacked and value.kind == "name":
            edits = [Edit(path, value.span, made.of(f"[str(path) for path in {value.name}]"))]
        elif not lines:
            edits = list(enclosed(source, value.span, made.opening, made.closing))
        else:
            name = self.project.text(path, target.span)
            items = f"[str(path) for path in {name}]" if self.of_paths else name
            text = f"{name} = {made.of(items)}{source.newline}"
            edits = [Edit(path, Span(start, start), indent + text) for start, indent in lines]
        again = (write.event.value for write in self.set_again if write.event.value is not None)
        edits += chain.from_iterable(enclosed(source, one.span, made.opening, made.closing) for one in again)
        edits += chain.from_iterable(_as_list(place, bool(self.words)) for place in self.needing)
        imports = made.imports
        if self.of_paths:
            imports = (*imports, *more)
            edits += [edit for place in self.read_as_paths for edit in self._as_path(place, path_class) or ()]
        edits += self._class(made) if made.text else ()
        return Fix(
            f"Keep `{target.name}` as {'bytes in a tensor' if self.words else 'a NumPy array'}",
            tuple(edits),
            Applicability.UNSAFE,
            imports,
            defines=(made.name,) if made.text else (),
        )

    def _made(self) -> _Made:
        """What takes the list's place."""
        model, start = self.module.model, self.write.event.start
        if not self.words:
            np, more = module_alias(model, "numpy", "np", start)
            dtype = f"{np}.dtypes.StringDType()" if self.project.targets.needs_numpy_2(model.path) else "str"
            return _Made(f"{np}.array(", f"dtype={dtype})", imports=more)
        text, _ = self._defined(self.words["name"], model, start)
        if text in self.project.source(model.path).text.replace("\r\n", "\n"):
            return _Made(f"{self.words['name']}(", ")")
        name = class_name(model, self.words)
        return _Made(f"{name}(", ")", *self._defined(name, model, start), name, model.path, start)

    def _imported(self, home: Home) -> _Made:
        """The class of another file, which may have to get it."""
        assert self.words is not None
        name = self.words["name"]
        there = Import(self.module.path, home.module, name)
        if home.at < 0:
            return _Made(f"{name}(", ")", imports=(there,))
        text, imports = self._defined(name, self.project.index.modules[home.path].model, home.at)
        return _Made(f"{name}(", ")", text, (there, *imports), name, home.path, home.at)

    def _defined(self, name: str, model: ModuleModel, start: int) -> tuple[str, tuple[Import, ...]]:
        """The text of the class above a statement of a file, and the imports that this needs."""
        assert self.words is not None
        found = [(alias, module_alias(model, module, alias, start)) for module, alias in modules_of(self.words)]
        text = class_of(self.words, name, {alias: own for alias, (own, _) in found})
        return text, tuple(one for _, (_, more) in found for one in more)

    def _class(self, made: _Made) -> Sequence[Edit]:
        """The class that packs, above the one that keeps what is packed, or its base."""
        source, tree = self.project.source(made.path), self.project.tree(made.path)
        text = made.text.replace("\n", source.newline)
        return insertion(source, tree, made.at, text, any(one.path == made.path for one in made.imports))

    @cached_property
    def read_as_paths(self) -> list[Place]:
        """The uses that read the array's strings where there were paths."""
        near = self.attribute.near if self.attribute else None
        return [place for place in near or () if place.use.kind == "read" and not self._is_before(place)]

    def _as_path(self, place: Place, path_class: str = "Path") -> list[Edit] | None:
        return on_each(self.project.source(self.module.path), place.use.span, path_class)


def _is_item(expr: Expr | None, container: Span) -> bool:
    """Whether an expression is one item of what another one is."""
    return expr is not None and expr.kind == "subscript" and expr.args[0].span == container


def _sets_nothing(place: Place) -> bool:
    """Whether a use is where an attribute is set to an empty list."""
    made = [event for event in place.module.events(place.function) if event.target is not None]
    values = [event.value for event in made if event.target is not None and event.target.span == place.use.span]
    return all(value is not None and value.kind == "list" and not value.args for value in values)


def _cut(value: Expr, target: Expr) -> list[Expr]:
    """Where a value names its target, if it is a part of it, or one of several."""
    arms = _arms(value)
    sliced = [arm.args[0] for arm in arms if arm.kind == "subscript" and any(key.kind == "slice" for key in arm.args)]
    named = [*sliced, *(arm for arm in arms if arm.kind == "attribute")]
    only = sliced and len(named) == len(arms) and all(part.dotted == target.dotted for part in named)
    return named if only else []


def _arms(value: Expr) -> list[Expr]:
    """What a value may be: all that a choice has."""
    return [arm for part in value.args[1:] for arm in _arms(part)] if value.kind == "ifexp" else [value]


def _unpacks(write: Write) -> bool:
    event = write.event
    called = event.value is not None and event.value.kind == "call"
    return called and event.kind == "assign" and event.target is not write.target and event.target is not None


class _Made(NamedTuple):
    """The call that makes what takes a list's place; the class that it is of, where that must be defined, and where."""

    opening: str
    closing: str
    text: str = ""
    imports: tuple[Import, ...] = ()
    name: str = ""
    path: str = ""
    at: int = -1

    def of(self, items: str) -> str:
        """The call for some items."""
        return f"{self.opening}{items}{'' if self.closing == ')' else ', '}{self.closing}"


def _as_list(place: Place, packed: bool) -> list[Edit]:
    """A use that needs a list gets one; one that asks whether there is something asks how much."""
    path, span = place.module.path, place.use.span
    opening, closing = ("list(", ")") if packed else ("", ".tolist()")
    if place.use.kind == "tested":
        opening, closing = "len(", ")"
    before = [Edit(path, Span(span.start, span.start), opening)] if opening else []
    return [*before, Edit(path, Span(span.end, span.end), closing)]
