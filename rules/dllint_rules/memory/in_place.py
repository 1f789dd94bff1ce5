"""The fix of DLL201 and DLL202: an array of strings, a tensor of integers, or bytes in one, in place of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import msgspec

from dllint import (
    ALL_METHODS,
    DEFAULT_DEVICES,
    FORK,
    Applicability,
    Attribute,
    Edit,
    Expr,
    Ext,
    Finding,
    Fix,
    Held,
    Import,
    ItemReads,
    Module,
    Neighbors,
    Place,
    Project,
    Rule,
    Seq,
    Severity,
    Span,
    Write,
    below_branches,
    below_statement,
    enclosed,
    insertion,
    is_declared,
    module_alias,
    placed,
    read_once,
    reference,
    without_declaration,
)
from dllint_rules.memory.analysis.entries import Entries
from dllint_rules.memory.arms import makes_much
from dllint_rules.memory.dll201_path_list_on_dataset import PathListOnDataset
from dllint_rules.memory.dll202_python_container_on_dataset import PythonContainerOnDataset
from dllint_rules.memory.homes import Home, Homes
from dllint_rules.memory.kept import read_in_workers
from dllint_rules.memory.kept_elsewhere import KeptElsewhere
from dllint_rules.memory.kept_list import KeptList, set_to
from dllint_rules.memory.mappings import Mappings
from dllint_rules.memory.packed import NAMES, RECORDS, TABLE, TEXTS, class_at, class_name, keeps_python_2
from dllint_rules.memory.paths import Paths
from dllint_rules.memory.remedies import by_hand, is_set, records_by_hand, would_pad
from dllint_rules.memory.rows import Cells, IntegerRows, Rows, TextRows
from dllint_rules.memory.text import Nothing, Texts

_COPIERS = frozenset({"list", "sorted", "tuple"})
_UNREAD = "a file that may use it is written for another Python"
_LONG = 60
_LISTING = {"glob", "glob.glob", "listdir", "os.listdir", "sorted"}
"""Functions that return a list."""


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


def every_packed(project: Project) -> Iterator[Change]:
    """The changes of all warnings that need a class and that nothing is in the way of."""
    from dllint_rules.memory.folder_list import folder_lists

    for rule, made in ((PathListOnDataset(), _list_change), (PythonContainerOnDataset(), _record_change)):
        found = _changes(project, rule, made, of_all=False)
        yield from (change for change in found if change.words and not change.why_not())
    yield from (change for change in folder_lists(project) if not change.why_not())


def _list_change(project: Project, held: Held) -> Change | None:
    write = _write(project, held)
    if write is None or is_set(held.value):
        return None
    module = project.index.modules[held.route[0].path]
    words = TEXTS if would_pad(project, held) else None if FORK in project.failing(held, ALL_METHODS) else NAMES
    return Change(project, module, write, words, Texts(project)).at_its_best()


def _record_change(project: Project, held: Held) -> Change | None:
    write, entries = _write(project, held), project.analysis(Entries)
    width = entries.width_of_integers(held)
    if (
        write is None
        or is_set(held.value)
        or not (
            width
            or entries.is_column(held)
            or entries.is_list_of_records(held)
            or entries.is_dictionary_of_records(held)
        )
    ):
        return None
    module = project.index.modules[held.route[0].path]
    if width:
        return Change(project, module, write, None, IntegerRows(project, width)).at_its_best()
    if entries.is_column(held):
        return _column_change(project, held, module, write)
    if entries.is_mapping(held):
        return Change(project, module, write, TABLE, Mappings(project, _is_asked(project, module, write))).at_its_best()
    as_array = _array_change(project, held, module, write)
    return as_array or Change(project, module, write, RECORDS, Rows(project, entries.is_indexed(held))).at_its_best()


def _column_change(project: Project, held: Held, module: Module, write: Write) -> Change | None:
    """The change of a list of the cells of a column: that of a list of text, or to bytes, if workers read text there.

    Numbers are better kept as an array, whose type is another one for each column.
    """
    texts, reads = _list_change(project, held), project.analysis(ItemReads)
    if texts is None or not texts.obstacle():
        return texts
    read = read_in_workers(project, held, reads.by_text_method) or read_in_workers(project, held, reads.as_text)
    return Change(project, module, write, RECORDS, Cells(project)).at_its_best() if read else None


def _array_change(project: Project, held: Held, module: Module, write: Write) -> Change | None:
    """The change to one array of strings, if the records are tuples of names of files and code takes them apart."""
    width = project.analysis(Entries).width_of_paths(held)
    if not width or FORK not in project.failing(held, ALL_METHODS):
        return None
    change = Change(project, module, write, None, TextRows(project, width)).at_its_best()
    return None if change.obstacle() else change


def _write(project: Project, held: Held) -> Write | None:
    """The assignment that a finding is about."""
    step = held.route[0]
    return project.index.modules[step.path].write_at(held.holder.name, step.span)


def _is_asked(project: Project, module: Module, write: Write) -> bool:
    """Whether code asks what is assigned for keys and values, which no list has."""
    owner = module.method_owner(write.function)
    klass = project.evaluator.klass(module, owner) if owner >= 0 else None
    for place in (klass and Attribute(project, klass, write.target.name).near) or ():
        asked = project.source(place.module.path).text[place.use.span.end :]
        if asked.startswith((".keys(", ".values(", ".items(", ".get(")):
            return True
    return False


class Change(KeptList):
    """A list that becomes an array, or bytes: at once, or below the statements that fill it."""

    def at_its_best(self) -> Change:
        """The change below the loops over the list, if there are any and nothing is in the way of this."""
        below = self._below_loops()
        return below if below.can_wait() and not below.obstacle() else self

    def _below_loops(self) -> Change:
        return Change(self.project, self.module, self.write, self.words, self.contents, gone_through=True)

    def can_wait(self) -> bool:
        """Whether there are loops below which it can change: nothing that comes between needs it earlier."""
        if not self.loops or self._in_loop() or any(not self._is_here(place) for place in self.needing):
            return False
        line = self._line()
        return line is not None and not self._returns_above(line)

    def _returns_above(self, line: tuple[int, str]) -> bool:
        """Whether the method may return between the assignment and a line."""
        ends = (event.start for event in self.module.events(self.write.function) if event.kind == "return")
        return any(self.write.event.end <= start < line[0] for start in ends)

    def why_not(self) -> str:
        """The obstacle, in words; "" if there is none: also what is in the way of what the same assignment sets."""
        return self.obstacle() or self.project.analysis(_Siblings).why_not(self)

    def obstacle(self) -> str:
        """What is in the way of this change alone."""
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
        kept = event.value if own else self.write.target
        is_seen = not self._gives(Nothing(self.project), kept, self.write.function)
        self.of_paths = is_seen and not self.of_rows and self._gives(Paths(self.project), kept, self.write.function)
        if None in self.lines:
            return "its line has other statements"
        if event.value.kind == "attribute":
            return f"`{self._text(event.value)}` is the same {self.kind}, which other code may need"
        keeping = self._keeps_whole(event.value)
        if keeping is not None:
            return f"`{self._text(event.value)}` is a part of what `{self._text(keeping)}` keeps as well"
        beside = self._kept_beside(event.value) if self.words is NAMES else ""
        if beside:
            return f"`{beside}` keeps the same strings, and spawned workers get those, too"
        if self.words is TABLE and keeps_python_2(self.module.model):
            return "its class needs `collections.abc`, and the file still runs in Python 2"
        if not (self.of_paths or (is_seen and self._gives(self.contents, kept, self.write.function))):
            return self._something_else(kept)
        keeper = self.project.analysis(KeptElsewhere).of(event.value, self.module, self.write.function)
        if keeper is not None:
            source = self.project.source(keeper.module.path)
            row = source.location(keeper.span.start)[0]
            return f"{keeper.module.path}:{row} may keep the same {self.kind}: `{source.line(row).strip()}`"
        used = self._in_use(attribute)
        if used:
            return used
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
            return f"line {row}, in another branch, sets what is not certain to be a {self.contents.whole}"
        return ""

    def _kept_beside(self, value: Expr) -> str:
        """The attribute of the same object that a list only sorts or filters: `sorted(f for f in self.all if ...)`."""
        while value.kind == "call" and value.args[0].name in _COPIERS and len(value.args) > 1:
            value = value.args[1]
        if value.kind == "comprehension" and len(value.keywords) > 1:
            (_, target), (_, iterable) = value.keywords[:2]
            value = iterable if value.args[0].kind == "name" and value.args[0].name == target.name else value
        own = value.kind == "attribute" and value.args[0].name == self.module.receiver_name(self.write.function)
        return value.name if own else ""

    def _in_use(self, attribute: Attribute) -> str:
        """A use that does not survive, in words."""
        blocked = None if attribute.near is None else self._blocked(attribute.near)
        if blocked is None and attribute.places is None:  # asked late: it looks at every file
            return _UNREAD
        blocked = blocked or self._blocked(attribute.places or ())
        return self._told(blocked) if blocked is not None else ""

    def _keeps_whole(self, value: Expr) -> Expr | None:
        """The attribute that keeps what a value is a part of (`self.all["train"]`), and isn't deleted below."""
        part = value.args[0].args[0] if _is_get(value) else value.args[0] if value.kind == "subscript" else None
        if part is None or any(index.kind == "slice" for index in value.args[1:]):
            return None
        events = self.module.events(self.write.function)
        named = {part.dotted} - {""}
        found = [event for event in events if event.kind == "assign" and event.value and event.value.dotted in named]
        kept = [part, *(event.target for event in found if event.target is not None)]
        gone = {event.target.dotted for event in events if event.kind == "del" and event.target is not None}
        return next((one for one in kept if one.kind == "attribute" and one.dotted not in gone), None)

    def _looked_up(self) -> str:
        """The dictionary in which workers look up strings of the list: they copy its keys, the same objects."""
        for place in (self.attribute and self.attribute.near) or ():
            if self.of_rows or self.of_tuples or place.use.kind != "read" or not self._in_worker(place):
                continue
            events = place.module.events(place.function)
            items = {event.target.name for event in events if event.target and _is_item(event.value, place.use.span)}
            for part in (part for event in events for part in event.walk() if part.kind == "subscript"):
                of_item = part.args[1].name in items or _is_item(part.args[1], place.use.span)
                if of_item and part.args[0].kind == "attribute" and not self._is_no_dictionary(part.args[0].name):
                    return part.args[0].name
        return ""

    def _is_no_dictionary(self, name: str) -> bool:
        """Whether an attribute is the list itself, or is packed as well."""
        packed = self.project.analysis(_PackedTables).names
        owner = self.module.method_owner(self.write.function)
        return name == self.write.target.name or (self.module.path, owner, name) in packed

    def _something_else(self, kept: Expr) -> str:
        """What is not seen to be a string (a record), in words: one thing that is put in, or what the list is of."""
        activations = self._activations(self.write.function)
        for value in chain.from_iterable(self.project.values(kept, env) for env in activations):
            for kind, item, scope in self.contents.others(value):
                path = scope.module.path
                row = self.project.source(path).location(item.start)[0]
                if kind == "count":
                    number = self._text(item, path)
                    return f"{path}:{row} multiplies it by what is not seen to be an integer: `{number}`"
                self.mixed = isinstance(value, Seq) and self.contents.has_some(value)
                return f"{path}:{row} puts in what is not seen to be a {self.contents.each}: `{self._text(item, path)}`"
        return f"`{self._text(kept)}` is not seen to be a {self.contents.whole} of its own"

    def _text(self, expr: Expr, path: str = "") -> str:
        """An expression in one line, the beginning of a long one."""
        text = " ".join(self.project.text(path or self.module.path, expr.span).split())
        return text if len(text) <= _LONG else f"{text[:_LONG]}..."

    def _blocked(self, places: Iterable[Place]) -> Place | None:
        return next((place for place in places if not self._survives(place) and not self._may_ask(place)), None)

    def _may_ask(self, place: Place) -> bool:
        """Whether a use can ask the array for a list: of `self` in this file, once it is there, not for each item."""
        whole = place.use.kind in ("sliced", "whole", "joined", "tested")
        if not (whole or (place.use.kind == "given" and self.readers.copied(place))) or self._in_worker(place):
            return False
        if self._may_be_none() or self.of_tuples or self._is_searched(place):
            return False
        if not self._of_self(place) or (self.of_paths and place.use.kind != "tested"):
            return False
        return not self._is_here(place) or not (self._is_before(place) or self._in_loop())

    def _is_searched(self, place: Place) -> bool:
        """Whether a use asks what is in the list, later than where it is set: bytes would be unpacked each time."""
        before = self.project.source(place.module.path).text[: place.use.base.start].rstrip()
        searched = place.use.kind == "whole" and before.endswith((" in", ")in"))
        return searched and bool(self.words) and not self.mapping and not self._is_here(place)

    @cached_property
    def needing(self) -> list[Place]:
        """The uses that need a list, all of this file."""
        return [place for place in (self.attribute and self.attribute.near) or () if not self._survives(place)]

    @cached_property
    def kept_as_lists(self) -> list[Write]:
        """The assignments in other arms after which there would be a list that is not seen to be of strings."""
        known = {write.target.span for write in self.set_again}
        unknown = [
            write for write in self.other_arms if write.target.span not in known and write.event.kind == "assign"
        ]
        return [write for write in unknown if not self.filled and not self.unpacked and makes_much(write.event.value)]

    def _told(self, place: Place) -> str:
        source = self.project.source(place.module.path)
        row = source.location(place.use.span.start)[0]
        own = source.text[place.use.base.start : place.use.base.end] == place.module.receiver_name(place.function)
        needs = f"needs a {self.kind}" if own else f"may need a {self.kind}"
        if place.use.kind == "write":
            needs = self._sets(place)
        if place.use.kind == "set" and is_declared(source, place.use.span):
            needs = f"declares a {self.kind}"
        if self._changes_entry(place):
            needs = "changes a record"
        if self._is_searched(place):
            needs = "would unpack all of it each time"
        part = self._chosen(place)
        if part is not None:
            read = source.text[part.start : part.end]
            return f"{place.module.path}:{row}: each read of `{read}` would load the whole record"
        return f"{place.module.path}:{row} {needs}: `{source.line(row).strip()}`"

    def _sets(self, place: Place) -> str:
        """What is to be said of an assignment that a packed list does not survive."""
        env = self.project.evaluator.generic(place.module, place.function)
        values = [value for value in set_to(place) if value is not None]
        another = bool(values) and all(self.contents.is_list(value, env) for value in values)
        whole = "list of paths" if self.of_paths else self.contents.whole
        return f"sets another {self.kind}" if another else f"sets what is not certain to be a {whole}"

    def fix(self) -> Fix:
        """The edits; there must be nothing in the way. A class that other files need as well is defined once."""
        own = self._made()
        home = self.project.analysis(Homes).of(self.module.path, self.words) if self.words and own.text else None
        if home is None:
            return self._fix(own)
        alone = self._fix(own) if home.at >= 0 else None
        return msgspec.structs.replace(self._fix(self._imported(home)), alone=alone)

    def _fix(self, made: Made) -> Fix:
        path_class, more = reference(self.module.model, "pathlib", "Path", self.write.event.start)
        edits = [*self._replaced(made), *chain.from_iterable(self._as_before(place) for place in self.needing)]
        imports = made.imports
        read = [edit for place in self.reads for edit in self._as_read(place, path_class)]
        if self.of_paths and read:
            imports = (*imports, *more)
        edits += read
        edits += self._without_declaration()
        edits += self._read_once() if self.words in (RECORDS, TABLE) else ()
        edits += self._class(made) if made.text else ()
        kept = "bytes in a tensor" if self.words else "a tensor" if self.of_integers else "a NumPy array"
        return Fix(
            f"Keep `{self.write.target.name}` as {kept}",
            tuple(edits),
            Applicability.UNSAFE,
            imports,
            defines=(made.name,) if made.text else (),
        )

    def _read_once(self) -> Sequence[Edit]:
        """The edits for the records that a function of this file reads several times: each read makes one again."""
        near = [place for place in (self.attribute and self.attribute.near) or () if not self._is_here(place)]
        set_later = [place for place in near if place.use.kind in ("write", "filled", "set")]
        setters = {(self.module, self.write.function), *((place.module, place.function) for place in set_later)}
        if any(index < 0 or module.model.functions[index].name != "__init__" for module, index in setters):
            return ()
        reads = [place.use.span for place in near if place.use.kind == "read" and self._of_self(place)]
        return read_once(self.project.source(self.module.path), reads)

    def _replaced(self, made: Made) -> Iterator[Edit]:
        """The edits that put something in the list's place."""
        path, value, target = self.module.path, self.write.event.value, self.write.target
        line = self._line() if self.filled else None
        assert value is not None
        lines = [line] if line is not None else [below for below in self.lines if below is not None]
        again = [write for write in self.set_again if write.event.value is not None]
        at_once = self._of_paths_at_once(made) if self.of_paths and line is None and not self.unpacked else ""
        if at_once:
            yield Edit(path, value.span, at_once)
        elif not lines:
            yield from self._remade(made)
            return
        else:
            name = self.project.text(path, target.span)
            kept = self.variable or name
            items = f"[str(path) for path in {kept}]" if self.of_paths else kept
            yield from (self._statement(below, name, made.of(items)) for below in lines)
            yield from self._as_variable()
        yield from chain.from_iterable(self._wrapped(write, made) for write in again)

    def _as_variable(self) -> Iterator[Edit]:
        """The edits that fill a local variable with the annotation of the attribute."""
        for place in (self.attribute and self.attribute.near) or () if self.variable else ():
            if self._of_self(place) and self._is_before(place):
                yield Edit(place.module.path, place.use.span, self.variable)

    def _without_declaration(self) -> Sequence[Edit]:
        """The edits that remove what only declares the list, and no longer says what is kept."""
        if self.filled or self.declared is None or self.declared.use.span == self.write.target.span:
            return ()
        source = self.project.source(self.module.path)
        return without_declaration(source, self.declared.use.span, self.write.target.span, self.members)

    def _of_paths_at_once(self, made: Made) -> str:
        """What an assignment of paths sets instead: of a name, or of what leaves the line short enough."""
        source, value = self.project.source(self.module.path), self.write.event.value
        if value is None or value.kind not in ("name", "call", "comprehension"):
            return ""
        text = made.of(self._strings_of(value))
        is_short = source.newline not in text and placed(source, text, value.start, value.end) == text
        return text if value.kind == "name" or is_short else ""

    def _strings_of(self, value: Expr) -> str:
        """The strings of what gives paths; those that a comprehension only makes paths of become none first."""
        if value.kind == "comprehension":
            item, text = value.args[0], self.project.text(self.module.path, value.span)
            made = self._made_path_of(item)
            string = self.project.text(self.module.path, (made or item).span)
            string = string if made is not None else f"str({string})"
            return f"{text[: item.start - value.start]}{string}{text[item.end - value.start :]}"
        listed = value.kind == "call" and value.args[0].dotted == "list" and len(value.args) == 2
        items = value.args[1] if listed and value.args[1].kind == "call" else value
        return f"[str(path) for path in {self.project.text(self.module.path, items.span)}]"

    def _made_path_of(self, item: Expr) -> Expr | None:
        """What `Path` makes a path of, if an expression is a call of it and no more."""
        if item.kind != "call" or len(item.args) != 2 or item.keywords or item.args[1].kind == "star":
            return None
        called = self.project.values(item.args[0], self.project.evaluator.generic(self.module, self.write.function))
        is_class = bool(called) and all(isinstance(one, Ext) and one.name == "pathlib.Path" for one in called)
        return item.args[1] if is_class else None

    def _remade(self, made: Made) -> Iterator[Edit]:
        """The edits where nothing fills the list: one statement below an `if` that sets it in all of its branches."""
        name = self.project.text(self.module.path, self.write.target.span)
        together = self._below_branches()
        if together is not None:
            yield self._statement(together, name, made.of(name))
        for write in (self.write, *self.set_again):
            if together is None or write.function != self.write.function:
                yield from self._wrapped(write, made)

    def _below_branches(self) -> tuple[int, str] | None:
        """The line below an `if` whose branches all set the list and do nothing else with it."""
        arms = [write for write in (self.write, *self.set_again) if write.function == self.write.function]
        starts = [write.event.start for write in arms]
        found = below_branches(self.project.source(self.module.path), starts) if len(arms) > 1 else None
        if found is None or self.of_paths:
            return None
        span, line = found
        set_there = {write.target.span for write in arms}
        near = [place.use.span for place in (self.attribute and self.attribute.near) or () if self._is_here(place)]
        others = [use for use in near if span.start <= use.start < span.end and use not in set_there]
        return None if others else line

    def _wrapped(self, write: Write, made: Made) -> Sequence[Edit]:
        """The value of an assignment in the call; where that is a call of several lines, a statement below it."""
        source, value = self.project.source(self.module.path), write.event.value
        assert value is not None
        listed = _listed(value) if made.closing != ")" and not self.of_paths else None
        if listed is not None:  # the array needs no list of the list
            before, after = Span(value.start, listed.start), Span(listed.end, value.end)
            return [Edit(source.path, before, made.opening), Edit(source.path, after, f", {made.closing}")]
        is_long = value.kind == "call" and source.newline in source.text[value.start : value.end]
        below = below_statement(source, write.event.start) if is_long and not self.of_paths else None
        if below is None:
            return enclosed(source, value.span, made.opening, made.closing)
        name = self.project.text(self.module.path, write.target.span)
        return [self._statement(below, name, made.of(name))]

    def _statement(self, below: tuple[int, str], name: str, value: str) -> Edit:
        """An assignment on a line of its own, with its indentation."""
        start, indent = below
        newline = self.project.source(self.module.path).newline
        return Edit(self.module.path, Span(start, start), f"{indent}{name} = {value}{newline}")

    def _as_before(self, place: Place) -> list[Edit]:
        """A use that needs a list, or a dictionary, gets one; one that asks whether there is something, how much."""
        path, span = place.module.path, place.use.span
        opening, closing = ("dict(" if self.mapping else "list(", ")") if self.words else ("", ".tolist()")
        if place.use.kind == "tested":
            opening, closing = "len(", ")"
        before = [Edit(path, Span(span.start, span.start), opening)] if opening else []
        return [*before, Edit(path, Span(span.end, span.end), closing)]

    def _made(self) -> Made:
        """What takes the list's place."""
        model, start = self.module.model, self.write.event.start
        if self.of_integers:
            torch, more = module_alias(model, "torch", "torch", start)
            closing = 'device="cpu")' if self._has_default_device() else ")"  # forked workers can't read a GPU
            return Made(f"{torch}.tensor(", closing, imports=more)
        if not self.words:
            np, more = module_alias(model, "numpy", "np", start)
            dtype = f"{np}.dtypes.StringDType()" if self.project.targets.needs_numpy_2(model.path) else "str"
            return Made(f"{np}.array(", f"dtype={dtype})", imports=more)
        source = self.project.source(model.path)
        text, _ = class_at(self.words, self.words["name"], model, start, source.unit)
        if text in source.text.replace("\r\n", "\n"):
            return Made(f"{self.words['name']}(", ")")
        name = class_name(model, self.words)
        return Made(f"{name}(", ")", *class_at(self.words, name, model, start, source.unit), name, model.path, start)

    def _has_default_device(self) -> bool:
        """Whether any code may say where new tensors are: by a call, or by `with torch.device(...):`."""
        project, index = self.project, self.project.index
        setters = sorted(name.rpartition(".")[2] for name in DEFAULT_DEVICES)
        entered = (site for site in index.calls_named(["device"]) if site.event.kind == "with")
        return any(True for _ in index.calls_named(setters)) or any(
            isinstance(value, Ext) and value.name == "torch.device"
            for site in entered
            if site.event.value is site.expr
            for value in project.values(site.expr.args[0], project.evaluator.generic(site.module, site.function))
        )

    def _imported(self, home: Home) -> Made:
        """The class of another file, which may have to get it."""
        assert self.words is not None
        name = self.words["name"]
        model, unit = self.project.index.modules[home.path].model, self.project.source(home.path).unit
        starred = Neighbors(self.project).shows(home.path, name)
        there = Import(self.module.path, home.module, name, own=True, starred=starred)
        if home.at < 0:
            return Made(f"{name}(", ")", imports=(there,))
        text, imports = class_at(self.words, name, model, home.at, unit)
        return Made(f"{name}(", ")", text, (there, *imports), name, home.path, home.at)

    def _class(self, made: Made) -> Sequence[Edit]:
        """The class that packs, above the one that keeps what is packed, or its base."""
        source, tree = self.project.source(made.path), self.project.tree(made.path)
        text = made.text.replace("\n", source.newline)
        return insertion(source, tree, made.at, text, any(one.path == made.path for one in made.imports))


def _is_item(expr: Expr | None, container: Span) -> bool:
    """Whether an expression is one item of what another one is."""
    return expr is not None and expr.kind == "subscript" and expr.args[0].span == container


def _listed(value: Expr) -> Expr | None:
    """What `list` is given for nothing: what a function gives that makes a list."""
    given = value.args[1] if value.kind == "call" and value.args[0].dotted == "list" and len(value.args) == 2 else None
    return given if given is not None and given.kind == "call" and given.args[0].dotted in _LISTING else None


def _is_get(expr: Expr) -> bool:
    """Whether an expression is `x.get(...)`."""
    return expr.kind == "call" and expr.args[0].kind == "attribute" and expr.args[0].name == "get"


class _Siblings:
    """The lists, or the records, that are reported: code that reads them together expects them to be of one kind."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def why_not(self, change: Change) -> str:
        """What is in the way of another one that the same assignment sets, in words."""
        write = change.write
        if write.event.target is write.target:
            return ""
        for other in self._records if change.of_rows or change.of_tuples else self._lists:
            beside = other.write.event is write.event and other.write.target is not write.target
            why = other.obstacle() if beside else ""
            if why:
                return f"the same assignment sets `{other.write.target.name}`: {why}"
        return ""

    @cached_property
    def _lists(self) -> list[Change]:
        return _changes(self.project, PathListOnDataset(), _list_change)

    @cached_property
    def _records(self) -> list[Change]:
        return _changes(self.project, PythonContainerOnDataset(), _record_change)


def _changes(
    project: Project, rule: Rule, made: Callable[[Project, Held], Change | None], of_all: bool = True
) -> list[Change]:
    """The changes of what a rule reports."""
    told = (one for one in rule.check(project) if of_all or one.severity is not Severity.INFO)
    changes = (made(project, one.data) for one in told if isinstance(one.data, Held))
    return [change for change in changes if change is not None]


class _PackedTables:
    """The dictionaries of records that are packed by a fix of theirs: their file, class and name."""

    def __init__(self, project: Project) -> None:
        self.project = project

    @cached_property
    def names(self) -> frozenset[tuple[str, int, str]]:
        """Those that nothing is in the way of."""
        made = _changes(self.project, PythonContainerOnDataset(), _record_change)
        found = [change for change in made if change.mapping and not change.why_not()]
        owners = [change.module.method_owner(change.write.function) for change in found]
        names = (change.write.target.name for change in found)
        return frozenset(zip((change.module.path for change in found), owners, names, strict=True))


class Made(NamedTuple):
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
