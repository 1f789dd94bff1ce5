"""A list or dictionary that a class keeps: where it is complete, and what something in its place survives."""

from __future__ import annotations

from functools import cached_property

from dllint import (
    Attribute,
    Edit,
    Env,
    Expr,
    Inst,
    Module,
    Place,
    Project,
    Span,
    Write,
    after_statement,
    as_variable,
    below_statement,
    changed_entry,
    chosen_part,
    entry_taken_apart,
    goes_through,
    is_declared,
    name_uses,
    on_each,
    takes_apart,
)
from dllint_rules.memory.analysis.entries import Entries
from dllint_rules.memory.arms import other_arms
from dllint_rules.memory.kept_elsewhere import KeptElsewhere
from dllint_rules.memory.mappings import Mappings
from dllint_rules.memory.paths import opens_item
from dllint_rules.memory.readers import Readers
from dllint_rules.memory.rows import IntegerRows, Rows, TextRows
from dllint_rules.memory.set_anew import SetAnew
from dllint_rules.memory.text import Texts

_BEFORE = ("filled", "given", "sliced", "whole", "joined", "tested")
_OF_THE_LIST = ("write", "filled", "tested", "set")
"""What may be done with a list before there is an array in its place."""


class KeptList:
    """A list, or a dictionary of records, the assignment that keeps it, and the uses of the attribute.

    `words` are those of the class that packs it; None for an array or a tensor. `contents` says what surely is a list
    that may be changed so. `gone_through`: it changes only below what goes through the whole list, which would make
    each record again.
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
        self.klass = klass
        self.bases = project.evaluator.classes.mro(klass)[1:] if klass else ()
        self.mapping = isinstance(contents, Mappings)
        self.kind = "dictionary" if self.mapping else "list"
        self.attribute = Attribute(project, klass, write.target.name, self.mapping) if klass else None
        self.of_rows = isinstance(contents, Rows)
        self.of_tuples = isinstance(contents, TextRows)
        self.of_integers = isinstance(contents, IntegerRows)
        self.readers = project.analysis(Readers)
        self.of_paths = False
        self.mixed = False
        self.gone_through = gone_through

    def _has_its_value(self, write: Write) -> bool:
        """Whether an assignment has one target, which gets all of the value."""
        same = [other for other in self.module.events(write.function) if other.value is write.event.value]
        return write.event.kind == "assign" and write.event.target is write.target and len(same) == 1

    def _is_filled_later(self) -> bool:
        """Whether the list, made here together with other things, is complete only below the assignment."""
        event, target = self.write.event, self.write.target
        pairs = zip(event.target.args, event.value.args, strict=False) if event.target and event.value else ()
        made = any(name is target and value.kind in ("list", "dict", "comprehension") for name, value in pairs)
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
        spans = [place.use.span for place in places if place.use.kind == "filled" or self._needs_entry(place)]
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

    def _makes_of_itself(self, place: Place) -> bool:
        """Whether a use sets the attribute to what is made of it: `self.rows = selected(self.rows)`."""
        if place.use.kind != "write" or (self.words is None and not self.of_integers and self._is_cut(place)):
            return False  # a part of an array is an array; a tensor has none that is reversed
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
        return place.use.kind == "given" and (self.of_paths or not self._is_only_read(place))

    def _changes_entry(self, place: Place) -> bool:
        """Whether a use changes a record, which code that reads the record again expects to find changed."""
        changed = self.of_rows and changed_entry(self.project.source(place.module.path), place.use.span)
        return bool(changed) and not self._sets_anew(place)

    def _sets_anew(self, place: Place) -> bool:
        """Whether a use only sets parts of a record that it then reads, as it does each time."""
        known = self.project.analysis(SetAnew)
        return self.attribute is not None and not self._is_here(place) and known.only(self.attribute, place)

    def _needs_entry(self, place: Place) -> bool:
        """Whether a use needs the record itself: to change it, or not to make all of it for one part."""
        return self._changes_entry(place) or self._chosen(place) is not None

    def _chosen(self, place: Place) -> Span | None:
        """Where a use takes a part out of a record that may be large, by an index or key that may vary."""
        if self.of_small or place.use.kind != "read":
            return None
        return chosen_part(self.project.source(place.module.path), place.use.span)

    def _is_only_read(self, place: Place) -> bool:
        return self.readers.only_read(place, whole=not self.of_small)

    @cached_property
    def of_small(self) -> bool:
        """Whether nothing of the list is so large that code should not make all of it again."""
        env = self.project.evaluator.generic(self.module, self.write.function)
        value = self.write.event.value if self._has_its_value(self.write) else self.write.target
        small = self.project.analysis(Entries).are_small
        return not self.of_rows or (value is not None and small(self.project.values(value, env)))

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

    def _is_here(self, place: Place) -> bool:
        return place.module is self.module and place.function == self.write.function

    def _survives(self, place: Place) -> bool:
        """Whether a use means the same for an array, or comes before there is one."""
        kind, span = place.use.kind, place.use.span
        if self.of_tuples and kind != "write" and not self._is_before(place) and span != self.write.target.span:
            known = not self.of_integers or self._of_self(place)
            return kind == "read" and known and takes_apart(self.project.source(place.module.path), span)
        if self._needs_entry(place) and not self._is_before(place):
            return False
        if self.of_integers and kind == "write" and not self._becomes_tensor(place):
            return False  # code that asks the tensor for integers finds none
        if self._is_cut(place) and not self.of_paths:
            return self.words is None or self._is_before(place)
        if any(write.target.span == span for write in self.set_again):
            return True
        if kind in ("sliced", "tested") and self.words and not self._is_before(place):
            return True  # a part of bytes is a list, and they have a length
        if self._is_placeholder(place):
            return True
        if kind == "given" and not self.of_paths and self._is_only_read(place):
            return True
        if kind == "given" and not (self.words or self.of_paths) and self.readers.copied(place, by_numpy=True):
            return True
        if kind == "stored" and not (self.of_paths or self.mapping or self._is_here(place)):
            return self.readers.only_read_by_name(place, whole=not self.of_small)
        if kind == "read" and self.of_paths and not self._is_before(place):
            return self._of_self(place) and self._as_path(place) is not None
        if kind in ("read", "foreign") or not self._is_here(place):
            return kind in ("read", "foreign") or self._is_empty(place)
        if span == self.write.target.span:  # one with an annotation would be wrong of an array
            return kind in ("write", "filled") or (bool(self.filled) and self._is_variable(place))
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
            above = span.end <= self.write.event.start and not self._in_loop()
            return above and (kind in _OF_THE_LIST or self._has_another(place))
        line = self._line()
        if line is None or span.start >= line[0]:
            return False
        own = kind == "write" or self._is_variable(place)
        return kind in _BEFORE or (own and self._is_list_too(span))

    def _has_another(self, place: Place) -> bool:
        """Whether a use above the assignment gets a list that stays one: `__init__` hasn't set what becomes none."""
        again = [write for write in self.set_again if write.function == self.write.function]
        set_above = any(write.event.start < place.use.span.start for write in again)
        return self.module.model.functions[self.write.function].name == "__init__" and not set_above

    def _becomes_tensor(self, place: Place) -> bool:
        """Whether what a use sets is a tensor, or becomes one below."""
        made = [self.write, *self.set_again]
        return any(write.target.span == place.use.span for write in made) or (
            bool(self.filled) and self._is_before(place)
        )

    def _is_placeholder(self, place: Place) -> bool:
        """Whether a use is where `__init__` of the class sets an attribute that another method is to set."""
        if place.use.kind != "write" or place.module is not self.module or self._is_here(place):
            return False
        owner, own = (self.module.method_owner(function) for function in (place.function, self.write.function))
        return owner == own and _is_announced(place) and self._is_made_anew()

    def _is_made_anew(self) -> bool:
        """Whether the assignment takes nothing of what the attribute had, as code that is called again does."""
        event, own = self.write.event, self.write.target.dotted
        parts = event.value.walk() if event.value is not None else ()
        anew = event.kind == "assign" and not any(part.dotted == own for part in parts if part.kind == "attribute")
        return anew and not self.of_paths

    def _may_be_none(self) -> bool:
        """Whether other code sets the attribute to None, which is not to be made a list."""
        near = (self.attribute and self.attribute.near) or ()
        writes = (place for place in near if place.use.kind == "write" and not self._is_here(place))
        return any(value is not None and _is_none(value) for place in writes for value in set_to(place))

    def _is_empty(self, place: Place) -> bool:
        """Whether a use is the `self.paths = []` of a base class's `__init__`, which this one runs before its own."""
        if place.use.kind != "write" or not _is_announced(place):
            return False
        owner = place.module.path, place.module.method_owner(place.function)
        return any((base.module.path, base.index) == owner for base in self.bases)

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
        value = write.event.value
        here = write.function == self.write.function
        own = ("comprehension", "call", "binop", "name") if here else ("comprehension",)
        if value is None or value.kind not in own or not self._gives(self.contents, value, write.function):
            return False
        return value.kind != "name" or self._is_its_own(value)

    def _is_its_own(self, value: Expr) -> bool:
        """Whether a local variable has a list that nothing else keeps, and that doesn't change any more."""
        keeper = self.project.analysis(KeptElsewhere).of(value, self.module, self.write.function)
        return keeper is None and self._settled(value)

    def _settled(self, value: Expr) -> bool:
        """Whether a local variable is not added to once it is kept: below, and in no further round of a loop."""
        facts = self.module.model.functions[self.write.function]
        uses = name_uses(self.project.source(self.module.path), value.name, facts.span, self.mapping)
        later = [use.kind for use in uses or () if use.span.start > value.end]
        harmless = {"read", "returned", "tested", "sliced", "whole", "joined"}
        source = self.project.source(self.module.path)
        changed = self.of_rows and any(
            changed_entry(source, use.span) for use in uses or () if use.span.start > value.end
        )
        return uses is not None and not (changed or self._in_loop()) and set(later) <= harmless

    def _gives(self, contents: Texts, value: Expr, function: int) -> bool:
        """Whether a value surely is such a list, whichever class of the family the object of the method is of."""
        return all(contents.is_list(value, env) for env in self._activations(function))

    def _activations(self, function: int) -> list[Env]:
        """Those of a method on its own class, and on each one that derives from it, which may override what it runs."""
        evaluator = self.project.evaluator
        derived = evaluator.classes.subclasses(self.klass) if self.klass is not None else ()
        on_derived = [evaluator.activations.method_env(Inst(klass), self.module, function) for klass in derived]
        return [evaluator.generic(self.module, function), *on_derived]

    @cached_property
    def other_arms(self) -> list[Write]:
        """The assignments that run instead of this one, also where a test asks below whether there is something."""
        module, write = self.module, self.write
        below = [
            other
            for other in module.attribute_writes.get(write.target.name, ())
            if other.function == write.function and other.event.start >= write.event.end and self._is_asked_for(other)
        ]
        return [*other_arms(module, write), *below]

    def _is_asked_for(self, other: Write) -> bool:
        """Whether an assignment replaces what this one has set, if a test of that says so: `if self.rows is None`."""
        own, value = self.write.target.dotted, other.event.value
        if value is None or any(part.dotted == own for part in value.walk()):
            return False
        around = set(self.module.enclosing(other.event.block)).difference(self.module.enclosing(self.write.event.block))
        tests = [block.test for block in map(self.module.block, around) if block.kind == "if"]
        asked = (part for test in tests if test is not None for part in test.walk() if part.kind == "attribute")
        return any(part.dotted == own for part in asked)

    def _in_loop(self) -> bool:
        """Whether code above the assignment may run after it."""
        blocks = map(self.module.block, self.module.enclosing(self.write.event.block))
        return any(block.kind in ("for", "while") for block in blocks)

    def _is_list_too(self, target: Span) -> bool:
        """Whether another assignment of the method gives a list of strings as well."""
        events = self.module.events(self.write.function)
        event = next((item for item in events if item.target is not None and item.target.span == target), None)
        value = event.value if event is not None else None
        return value is not None and self._gives(self.contents, value, self.write.function)

    def _line(self) -> tuple[int, str] | None:
        """The offset of the line above which the list is complete, and the indentation there."""
        facts = self.module.model.functions[self.write.function]
        arms = [arm.event.start for arm in self.other_arms]
        own = [self.write.event.start, *(span.start for span in self.filled)]
        own += [self.declared.use.span.start] if self.declared is not None else []
        # What another arm sets above the line becomes an array there, too.
        return after_statement(self.project.source(self.module.path), facts.span, [*own, *arms])

    @cached_property
    def declared(self) -> Place | None:
        """Where the method that sets the list says what it is, in an annotation that is wrong of anything else."""
        places = [place for place in (self.attribute and self.attribute.near) or () if self._is_here(place)]
        source = self.project.source(self.module.path)
        found = [place for place in places if place.use.kind == "set" and is_declared(source, place.use.span)]
        return found[0] if len(found) == 1 else None

    @cached_property
    def variable(self) -> str:
        """The local variable that is filled in place of an attribute that is declared as a list."""
        line = self._line() if self.filled else None
        if self.declared is None or line is None:
            return ""
        return as_variable(self.project.source(self.module.path), self.declared.use.span, line, self.members)

    @cached_property
    def members(self) -> set[str]:
        """The methods and properties of the object."""
        family = self.attribute.family.values() if self.attribute is not None else ()
        return {name for klass in family for name in klass.facts.methods}

    def _is_variable(self, place: Place) -> bool:
        """Whether a use is the declaration that becomes one of a local variable."""
        return place == self.declared and bool(self.variable)

    @cached_property
    def reads(self) -> list[Place]:
        """The uses that read what there is instead of the list."""
        near = self.attribute.near if self.attribute else None
        return [place for place in near or () if place.use.kind == "read" and not self._is_before(place)]

    def _as_read(self, place: Place, path_class: str) -> list[Edit]:
        """The edits that make a path, or integers, of what a use reads."""
        if self.of_paths:
            return self._as_path(place, path_class) or []
        path = place.module.path
        entry = entry_taken_apart(self.project.source(path), place.use.span) if self.of_integers else None
        return [Edit(path, Span(entry.end, entry.end), ".tolist()")] if entry is not None else []

    def _as_path(self, place: Place, path_class: str = "Path") -> list[Edit] | None:
        if opens_item(place, self.project):
            return []
        return on_each(self.project.source(self.module.path), place.use.span, path_class)


def _sets_nothing(place: Place) -> bool:
    """Whether a use is where an attribute is set to an empty list or dictionary, or to None."""
    values = set_to(place)
    return bool(values) and all(map(_is_nothing, values))


def _is_announced(place: Place) -> bool:
    """Whether a use is where `__init__` sets an attribute to nothing, which another method sets to something."""
    made = place.function >= 0 and place.module.model.functions[place.function].name == "__init__"
    return made and _sets_nothing(place)


def _is_nothing(value: Expr | None) -> bool:
    return value is not None and (_is_none(value) or (value.kind in ("list", "dict") and not value.args))


def _is_none(value: Expr) -> bool:
    return value.kind == "constant" and value.value is None


def set_to(place: Place) -> list[Expr | None]:
    """What an assignment sets an attribute to."""
    made = [event for event in place.module.events(place.function) if event.target is not None]
    return [event.value for event in made if event.target is not None and event.target.span == place.use.span]


def _cut(value: Expr, target: Expr) -> list[Expr]:
    """Where a value names its target, if it is a part of it, or one of several."""
    arms = _arms(value)
    named = [_sliced(arm) for arm in arms]
    return named if named != arms and all(part.dotted == target.dotted for part in named) else []


def _sliced(value: Expr) -> Expr:
    """What a value is a part of: `rows` of `rows[::2][:9]`; anything else itself."""
    while value.kind == "subscript" and any(key.kind == "slice" for key in value.args):
        value = value.args[0]
    return value


def _arms(value: Expr) -> list[Expr]:
    """What a value may be: all that a choice has."""
    return [arm for part in value.args[1:] for arm in _arms(part)] if value.kind == "ifexp" else [value]


def _unpacks(write: Write) -> bool:
    event = write.event
    called = event.value is not None and event.value.kind == "call"
    return called and event.kind == "assign" and event.target is not write.target and event.target is not None
