"""What loops over data put into containers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.data.elements import Elements, Kind
from dllint.project.data.growth import Filling, Growth, place_of
from dllint.project.data.naming import means_few, means_text
from dllint.project.evaluate.abstract_values import ExtInst, Opaque, Seq, Value
from dllint.project.evaluate.shapes import path_to
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.project.data.contents import Contents

MADE = "made of data, row by row"
OF_TABLE = "made of a table's rows"
FILLED = "filled in a loop over data"
COUNTED = "one for each item"
"""What is said of what a dataset counts for its length, where it isn't known what the loop goes over that fills it."""
Loops = Callable[[Filling], bool]
"""Whether a loop that runs often fills a container."""
_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.len", "builtins.hash"})


class Content(NamedTuple):
    """What a container holds, where that comes from, in words, and where it is filled if that is elsewhere."""

    kind: Kind
    source: str
    filled: tuple[str, Span, Expr] | None = None


class Filled:
    """Answers what is put into containers."""

    def __init__(self, project: Project, contents: Contents, elements: Elements) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)
        self.contents = contents
        self.elements = elements

    def keys(self, mapping: Value) -> Content | None:
        """What the keys are under which a loop puts something into a dictionary."""
        for filling in self.growth.fillings(mapping):
            key = _key_of(filling.event, filling.what)
            found = self._each((key,), filling, self.growth.repeats) if key is not None else None
            if found is None and key is not None and means_text(key.name) and self.growth.repeats(filling):
                found = Content(Kind.STR, FILLED)  # a key is no block of memory, whatever else is called an image
            if found is not None:
                return found
        return None

    def of(self, container: Seq | ExtInst | Opaque, mapping: bool) -> Content | None:
        """What a container holds that a loop over data fills, and where it does."""
        return self._of(container, mapping, self.growth.repeats)

    def counted(self, container: Seq | ExtInst, mapping: bool) -> Content | None:
        """What one holds that is as long as a dataset: any loop fills it that isn't over what is written out."""
        found = self._of(container, mapping, self.growth.may_repeat)
        return found._replace(source=COUNTED) if found is not None else None

    def _of(self, container: Seq | ExtInst | Opaque, mapping: bool, loops: Loops) -> Content | None:
        fillings = iter(self.growth.fillings(container))
        for filling in fillings:
            found = self._put(filling, loops)
            if found is not None:
                event = filling.event
                kind = Kind.ROW if mapping or filling.grouped else found.kind
                place = filling.env.module.path, Span(event.start, event.end), _receiver(event, filling.what)
                mixed = found.source == OF_TABLE and self._is_other(fillings, loops)
                return Content(kind, MADE if mixed else found.source, place)
        return None

    def _is_other(self, fillings: Iterable[Filling], loops: Loops) -> bool:
        """Whether something else than a table fills a container, too: another branch reads JSON."""
        puts = (self._put(filling, loops) for filling in fillings)
        return any(found is not None and found.source != OF_TABLE for found in puts)

    def made_blocks(self, mapping: Value) -> bool:
        """Whether a loop makes a block of memory of each entry: `d[key] = np.array(d[key])`."""
        return any(
            _replaces(filling, value) and self.elements.blocks((value,), filling.env)
            for filling in self.growth.fillings(mapping)
            if (value := filling.event.value) is not None
        )

    def leads_to_labels(self, mapping: Value) -> bool:
        """Whether text is the key of each entry, as far as is seen, and one of a few objects its value.

        Looking up an entry counts no reference of a key that is text. Of any other key it does, as of the value.
        """
        if not isinstance(mapping, Seq | ExtInst) or place_of(mapping).args[1:]:
            return False
        fillings = list(self.growth.fillings(mapping))
        return bool(fillings) and all(map(self._puts_label, fillings))

    def has_no_objects(self, container: Value) -> bool:
        """Whether loops append to a list, and only constants, numbers or blocks of memory."""
        fillings = list(self.growth.fillings(container))
        return bool(fillings) and all(map(self._appends_no_object, fillings))

    def _appends_no_object(self, filling: Filling) -> bool:
        what, env = filling.what, filling.env
        appends = what.kind == "call" and what.args[0].name == "append" and not filling.grouped
        if not appends or not self.growth.may_repeat(filling):
            return False
        values = self.evaluator.values(what.args[-1], env)
        numbers = bool(values) and all(map(_is_number, values))
        return numbers or self.elements.is_constant(what.args[-1], env) or self.elements.blocks(what.args[-1:], env)

    def _puts_label(self, filling: Filling) -> bool:
        """Whether `mapping[name] = label` is what fills a dictionary, or the same with a constant."""
        what, value, env = filling.what, filling.event.value, filling.env
        if filling.event.kind != "assign" or filling.grouped or what.kind != "subscript" or value is None:
            return False
        key = what.args[1]
        if key.kind == "tuple" or self._is_numbered(filling) or any(map(_is_number, self.evaluator.values(key, env))):
            return False
        return self.elements.is_constant(value, env) or self._is_same_label(value, filling)

    def _put(self, filling: Filling, loops: Loops) -> Content | None:
        """What is put into a container."""
        what, value = filling.what, filling.event.value
        if filling.event.kind == "augment":
            return self._all_of(what, filling, loops)
        if what.kind == "subscript":
            if value is not None and _is_empty(value):
                return Content(Kind.ROW, FILLED) if self._is_numbered(filling) and loops(filling) else None
            return self._each((value,) if value is not None else (), filling, loops)
        method, args = what.args[0].name, what.args[1:]
        if method in ("extend", "update") and args:
            return self._all_of(args[0], filling, loops)
        if method in ("append", "add", "appendleft", "insert", "setdefault") and args:
            again = method == "append" and self._is_same_label(args[-1], filling)
            found = self._each(args[-1:], filling, loops) if not again else None
            return found or (Content(Kind.ROW, FILLED) if filling.grouped and loops(filling) else None)
        return None

    def _is_numbered(self, filling: Filling) -> bool:
        """Whether a loop over data counts in the key under which it puts something: no two rounds have the same."""
        module, env = filling.env.module, filling.env
        names = {part.name for part in filling.what.args[1].walk() if part.kind == "name"}
        bound = [binding.event for name in names for binding in module.bindings[env.function, -1].get(name, ())]
        around = map(module.block, module.enclosing(filling.event.block))
        return any(
            event is not None and event.value is loop.test and _counts(event, names)
            for loop in around
            if loop.kind == "for" and loop.test is not None and self.growth.loops(loop.test, env)
            for event in bound
        )

    def _is_same_label(self, item: Expr, filling: Filling) -> bool:
        """Whether a loop puts in what one around it goes over, again and again: one object for each label.

        `for label in labels: for name in names: rows.append(label)`; what has groups of groups below it is a label,
        whatever its name.
        """
        label = item.name.removesuffix("_name") if item.kind == "name" else ""
        if not label or means_text(label):
            return False
        module, scope = filling.env.module, (filling.env.function, -1)
        around = map(module.block, module.enclosing(filling.event.block))
        loops = [block.test for block in around if block.kind == "for"]
        outer = loops[1 if means_few(label) else 2 :]
        inside = loops[: len(loops) - len(outer)]
        if not outer or not all(loop is not None and self.growth.may_be_long(loop, filling.env) for loop in inside):
            return False
        bound = [binding.event for binding in module.bindings[scope].get(item.name, ())]
        return bool(bound) and all(event is not None and _goes_over(event, outer, item.name) for event in bound)

    def _all_of(self, given: Expr, filling: Filling, loops: Loops) -> Content | None:
        """What is taken over from a container: one that grows, or whatever one has where a loop over data runs."""
        if given.kind in ("list", "tuple", "dict"):
            return self._each(given.args[1::2] if given.kind == "dict" else given.args, filling, loops)
        found = self.contents.of_any(given, filling.env)
        if found is not None or not loops(filling):
            return found
        made = filter(lambda value: isinstance(value, Seq), self.evaluator.values(given, filling.env))
        pairs = (pair for value in made for pair in self.evaluator.containers.items(value))
        kind = next((kind for item, env in pairs if (kind := self.elements.of(item, env))), None)
        return Content(kind, FILLED) if kind is not None else None

    def _each(self, items: Iterable[Expr], filling: Filling, loops: Loops) -> Content | None:
        """What a loop over data puts into a container piece by piece."""
        kind = next((kind for item in items if (kind := self.elements.of(item, filling.env))), None)
        return Content(kind, FILLED) if kind is not None and loops(filling) else None


def _goes_over(event: Event, iterables: list[Expr | None], name: str) -> bool:
    """Whether one of some loops binds a name to the elements that it goes over, or to the keys of a dictionary.

    A part of a row is another object in each row.
    """
    over, target = event.value, event.target
    if event.kind != "for" or over is None or target is None or not any(given is over for given in iterables):
        return False
    part = {"enumerate": 1, "items": 0}.get(over.args[0].name) if over.kind == "call" else None
    return target.name == name or (part is not None and path_to(target, name) == (part,))


def _is_number(value: Value) -> bool:
    return isinstance(value, ExtInst) and value.name in _NUMBERS


def _is_empty(value: Expr) -> bool:
    """Whether an expression makes an empty container."""
    return value.kind in ("dict", "list") and not value.args


def _counts(loop: Event, names: set[str]) -> bool:
    """Whether a loop gives one of some names the number of its round."""
    over, target = loop.value, loop.target
    if loop.kind != "for" or over is None or target is None or over.kind != "call":
        return False
    if over.args[0].name == "enumerate":
        return any(path_to(target, name) == (0,) for name in names)
    return over.args[0].name == "range" and target.name in names


def _key_of(event: Event, what: Expr) -> Expr | None:
    """The key under which something is put: of `d[key] = x`, `d[key].append(x)`, `d.setdefault(key, []).append(x)`."""
    if event.kind == "augment":
        return None
    if what.kind == "call" and what.args[0].name != "setdefault":
        what = what.args[0].args[0]
    return what.args[1] if what.kind in ("subscript", "call") and len(what.args) > 1 else None


def _replaces(filling: Filling, value: Expr) -> bool:
    """Whether an assignment is the same for every key: in a loop over the dictionary, or of what it had under the key.

    A loop over a display may leave others out.
    """
    what, block = filling.what, filling.event.block
    loop = filling.env.module.block(block) if block >= 0 else None
    if what.kind != "subscript" or what.args[1].kind != "name" or loop is None or loop.kind != "for":
        return False
    over, mapping, key = loop.test, what.args[0].dotted, what.args[1].name
    if over is None or not mapping or over.kind in ("tuple", "list", "set"):
        return False
    if (over.args[0] if over.kind == "call" else over).dotted in (mapping, f"{mapping}.keys", f"{mapping}.items"):
        return True
    read = (part for part in value.walk() if part.kind == "subscript")
    return any(part.args[0].dotted == mapping and part.args[1].name == key for part in read)


def _receiver(event: Event, what: Expr) -> Expr:
    """What is filled: `self.rows` in `self.rows += rows`, `self.rows[key] = row` and `self.rows.append(row)`."""
    if event.kind == "augment" and event.target is not None:
        return event.target
    return what.args[0].args[0] if what.kind == "call" else what.args[0]
