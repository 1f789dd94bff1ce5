"""Which containers worker code reads item by item: picked from with what changes with the item, or streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from dllint.knowledge import MAP_METHODS
from dllint.model.facts import Block, Event, Expr
from dllint.project.data.behind import MAX_STEPS, Behind, assigned
from dllint.project.data.naming import means_few, means_text
from dllint.project.data.per_item import PerItem
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Inst, Klass, Values
from dllint.project.evaluate.conditions import kind_of
from dllint.project.execution.call_graph import Running
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project import Project

_STREAMS = frozenset({"__iter__", "__next__"})
_PICKING = frozenset({"loadAnns", "loadImgs", "getAnnIds", "load_anns", "load_imgs", "get_ann_ids"})
"""Methods of a COCO index that go through its dictionaries."""
_DRAWS = ("random.", "numpy.random.", "torch.randint")
_ANY_OF = frozenset({"choice", "choices", "sample"})
_METHODS = _PICKING | _ANY_OF | {"get"}
_TAKE_TEXT = frozenset({"join", "open", "imread", "Path", "exists", "isfile", "read_image"})
"""Functions that are given text, by their names."""
_PARSE_TEXT = frozenset({"eval", "literal_eval", "loads"})
_OF_TEXT = frozenset({
    "split", "rsplit", "splitlines", "partition", "rpartition", "strip", "lstrip", "rstrip", "lower", "upper", "encode",
    "startswith", "endswith",
})  # fmt: skip
"""Methods of text that neither numbers nor tables have."""


class ItemReads:
    """Answers how worker code reads attributes."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.per_item = project.analysis(PerItem)
        self.behind = Behind(project.evaluator)
        self._named: dict[tuple[Module, int], frozenset[str]] = {}
        self._picked: dict[tuple[Module, int], list[tuple[Event, list[Expr]]]] = {}
        self._known: dict[tuple[Env, bool, Klass, str], Expr | None] = {}
        self._properties: dict[tuple[Klass, str], frozenset[str]] = {}
        self._texts = OnDemand(_taking_text)

    def read(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        """Where this code reads elements of an attribute of a class's instances that change with the item."""
        names = self._called(klass, attribute)
        if not any(self._names(running, name) for name in names):
            return None
        key = running.env, _streams(running), klass, attribute  # loaders share most of their code
        return self.evaluator.kept(self._known, key, self._first_read, running, klass, attribute)

    def _first_read(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        return next(self._all_reads(running, klass, attribute), None)

    def _all_reads(self, running: Running, klass: Klass, attribute: str) -> Iterator[Expr]:
        return self._reads(running, _Kept(self.behind, klass, self._called(klass, attribute)))

    def read_whole(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        """The same without elements of columns: in what NumPy keeps under written keys, these are rows of arrays."""
        return self._first_besides(_is_of_column, running, klass, attribute)

    def read_keys(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        """The same without lookups: where code goes over the keys of a dictionary, or draws one."""
        return self._first_besides(_is_lookup, running, klass, attribute)

    def _first_besides(
        self, left_out: Callable[[Expr], bool], running: Running, klass: Klass, attribute: str
    ) -> Expr | None:
        """The first of these reads that isn't left out."""
        if self.read(running, klass, attribute) is None:
            return None
        return next((part for part in self._all_reads(running, klass, attribute) if not left_out(part)), None)

    def as_text(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        """Where this code takes text out of such an attribute: a column called so, or a cell that names a file."""
        return self._taken(running, klass, attribute, by_method=False)

    def by_text_method(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        """Where this code calls a method of text on a part of such an attribute, or parses it: `row.words.split()`."""
        return self._taken(running, klass, attribute, by_method=True)

    def _taken(self, running: Running, klass: Klass, attribute: str, by_method: bool) -> Expr | None:
        kept, env = _Kept(self.behind, klass, self._called(klass, attribute)), running.env
        parts = self._texts[env.module, env.function, by_method]
        taken = (part for part in parts if kept.is_taken_by(part, env))
        return next((part for part in taken if part.kind != "binop" or self._joins_text(part, env)), None)

    def _joins_text(self, joined: Expr, env: Env) -> bool:
        """Whether one of two operands is text, written out or by what its name stands for: `FOLDER + row[0]`."""
        return any(
            isinstance(arg.value, str) or _are_text(self.evaluator.values(arg, env))
            for arg in joined.args
            if arg.kind in ("constant", "name", "attribute")
        )

    def mentioned(self, running: Running, klass: Klass, attribute: str) -> Expr | None:
        """Where this code reads elements of such an attribute in any way but for one of a few labels."""
        names = self._called(klass, attribute)
        kept, env = _Kept(self.behind, klass, names), running.env
        for event in running.events if any(self._names(running, name) for name in names) else ():
            for root in filter(None, (event.value, event.target)):
                other = {id(part) for part in self._no_elements(root, env)}
                other |= {id(event.target)} if event.kind == "assign" else set()
                for part in root.walk():
                    if id(part) not in other and kept.is_itself(part, env) and self._is_read(event, kept, env):
                        return part
        return None

    def _is_read(self, event: Event, kept: _Kept, env: Env) -> bool:
        """Whether code reads what came with the object: it may run, and has not set something else for this item.

        It may run if the tests on the way do, decided by how the object was made.
        """
        return self.evaluator.conditions.may_run(env, event.start) and not kept.is_set_anew(event, env)

    def _no_elements(self, root: Expr, env: Env) -> Iterator[Expr]:
        """Expressions of which no element is read, or one of a few: `len(x)`, a table's `x[label]`, `"readme" in x`."""
        for part in root.walk():
            if part.kind == "call" and part.args[0].name == "len":
                yield from part.args[1:]
            elif part.kind == "subscript" and self._is_one_of_few(part.args[1], env):
                yield part.args[0]
            elif part.kind == "compare" and part.name in ("in", "not in") and self._is_constant(part.args[0], env):
                yield part.args[1]

    def _is_constant(self, expr: Expr, env: Env) -> bool:
        values = self.evaluator.values(expr, env)
        return bool(values) and all(isinstance(value, Const) for value in values)

    def _called(self, klass: Klass, attribute: str) -> frozenset[str]:
        """The names of an attribute: its own, and those of properties that return it."""
        return self.evaluator.kept(self._properties, (klass, attribute), self._find_called, klass, attribute)

    def _find_called(self, klass: Klass, attribute: str) -> frozenset[str]:
        classes = self.evaluator.classes
        around = (*classes.mro(klass), *classes.subclasses(klass))
        found = {name for one in around for name, given in _returned_by_properties(one) if given == attribute}
        return frozenset({attribute, *found})

    def _names(self, running: Running, attribute: str) -> bool:
        """Whether code has an attribute of a name at all, of whatever object."""
        key = running.env.module, running.env.function
        if key not in self._named:
            parts = (part for event in running.events for part in event.walk())
            self._named[key] = frozenset(part.name for part in parts if part.kind == "attribute")
        return attribute in self._named[key]

    def _reads(self, running: Running, kept: _Kept) -> Iterator[Expr]:
        env = running.env
        columns = self._has_columns(running, kept)
        for event, picking in self._picking(running):
            streams = event.kind == "for" and _streams(running) and not _for_each(env, event)
            searches = event.kind == "for" and (_searches(env, event) or self._finds(event, env))
            if event.value is not None and (streams or searches):
                yield from (
                    part for part in event.value.walk() if kept.is_it(part, env) and self._is_read(event, kept, env)
                )
            yield from (
                part
                for part in picking
                if self._by_item(part, kept, env)
                and not (columns and _is_of_column(part))
                and self._is_read(event, kept, env)
            )

    def _has_columns(self, running: Running, kept: _Kept) -> bool:
        """Whether this code cuts slices of columns: then all are arrays, those of which it takes one element, too."""
        parts = (part for _, picking in self._picking(running) for part in picking if _is_part_of_column(part))
        return any(kept.leads_to(part.args[0], running.env) for part in parts)

    def _picking(self, running: Running) -> list[tuple[Event, list[Expr]]]:
        """The loops of some code, and its events that may pick from something, with what may."""
        key = running.env.module, running.env.function
        if key not in self._picked:
            events = ((event, list(filter(_may_pick, event.walk()))) for event in running.events)
            self._picked[key] = [(event, parts) for event, parts in events if parts or event.kind == "for"]
        return self._picked[key]

    def _by_item(self, part: Expr, kept: _Kept, env: Env) -> bool:
        if part.kind == "subscript":
            index = part.args[1]
            return not _is_part_of_column(part) and kept.leads_to(part.args[0], env) and self._is_of_item(index, env)
        if part.kind == "comprehension":
            return self._chooses(part, kept, env)
        if part.kind != "call" or part.args[0].kind != "attribute":
            return False
        method, given = part.args[0], part.args[1:]
        if method.name in _ANY_OF:
            return any(kept.leads_to(arg, env) or kept.is_gathered_in(arg, env) for arg in given)
        asked = method.name in _PICKING or (method.name == "get" and given and self._is_of_item(given[0], env))
        return bool(asked) and kept.leads_to(method.args[0], env)

    def _chooses(self, made: Expr, kept: _Kept, env: Env) -> bool:
        """Whether a comprehension goes through all for what belongs to the item: `[row for row in rows if ...]`."""
        keys, parts = zip(*made.keywords, strict=True)
        tests = [part for key, part in made.keywords if key == "if"]
        return any(
            keys[number : number + 2] == ("for", "in")
            and kept.leads_to(over, env)
            and self._compares(target, tests, env)
            for number, (target, over) in enumerate(pairwise(parts))
        )

    def _finds(self, loop: Event, env: Env) -> bool:
        """Whether a loop goes through all for what belongs to the item: `if row["id"] == name: found.append(row)`."""
        blocks = env.module.model.blocks
        bodies = _bodies(loop, env)
        tests = [
            block.test
            for body in bodies
            for block in blocks
            if block.kind == "if" and block.test is not None and body.start <= block.start < body.end
        ]
        return loop.target is not None and self._compares(loop.target, tests, env)

    def _compares(self, target: Expr, tests: Iterable[Expr], env: Env) -> bool:
        """Whether one of some tests asks if an element that has names is that of the item."""
        names = {part.name for part in target.walk() if part.kind == "name"}
        compared = (part.args for test in tests for part in test.walk() if part.kind == "compare" and part.name == "==")
        sides = (side for one, other in compared for side in ((one, other), (other, one)))
        return any(
            _mentions(element, names) and not _mentions(asked, names) and self._is_of_item(asked, env)
            for element, asked in sides
        )

    def _is_of_item(self, index: Expr, env: Env) -> bool:
        """Whether an index or key changes with the item, and is none of a few."""
        stepping = env.facts.name == "__next__" and index.kind in ("name", "attribute")
        return (stepping or self._varies(index, env)) and not self._is_one_of_few(index, env)

    def _varies(self, index: Expr, env: Env) -> bool:
        if self.per_item.varies(index, env) is Answer.YES:
            return True
        calls = (part for part in index.walk() if part.kind == "call")
        made = (value for call in calls for value in self.evaluator.values(call, env))
        return any(isinstance(value, ExtInst) and value.name.startswith(_DRAWS) for value in made)

    def _is_one_of_few(self, index: Expr, env: Env, depth: int = MAX_STEPS) -> bool:
        """Whether an index is a label, by the names on the way to it, or counts round a constant."""
        if index.kind == "binop" and index.name == "%" and index.args[1].kind == "constant":
            return True
        if index.kind == "tuple":  # the constants of `table.loc[index, "label"]` say which column
            return any(self._is_one_of_few(part, env, depth) for part in index.args if part.kind != "constant")
        for part in index.walk():
            if part.kind in ("name", "attribute") and means_few(part.name):
                return True
            if isinstance(part.value, str) and means_few(part.value):
                return True
            if part.kind == "name" and depth:
                if any(self._is_one_of_few(value, env, depth - 1) for value in assigned(part, env)):
                    return True
        return False


def _is_part_of_column(part: Expr) -> bool:
    """`self.db["poses"][start:end]`: a slice of a column, which is an array wherever it is cut for computing."""
    return part.kind == "subscript" and part.args[1].kind == "slice" and _is_of_column(part)


def _is_of_column(part: Expr) -> bool:
    """`self.db["poses"][index]`: of the column that a written key names."""
    column = part.args[0]
    return part.kind == "subscript" and column.kind == "subscript" and isinstance(column.args[1].value, str)


def _is_lookup(part: Expr) -> bool:
    """`self.splits[name]`, `self.splits.get(name)`."""
    return part.kind == "subscript" or (part.kind == "call" and part.args[0].name == "get")


class _Kept:
    """An attribute of a class's instances, as code refers to it."""

    def __init__(self, behind: Behind, klass: Klass, names: frozenset[str]) -> None:
        self.behind = behind
        self.evaluator = behind.evaluator
        self.klass = klass
        self.names = names

    def is_itself(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is the attribute of an instance."""
        if expr.kind != "attribute" or expr.name not in self.names:
            return False
        return any(
            isinstance(value, Inst) and self.evaluator.classes.derives(value.klass, self.klass)
            for value in self.evaluator.values(expr.args[0], env)
        )

    def is_it(self, expr: Expr, env: Env) -> bool:
        """The same, or a local name for it or for a part of it, or a call of a method that returns such."""
        return any(self.is_itself(*place) for place in self.behind.named(expr, env))

    def is_gathered_in(self, expr: Expr, env: Env) -> bool:
        """Whether a loop over it puts its elements into a local list: `fitting += rows`, `fitting.append(row)`."""
        changes = env.module.mutations[env.function] if expr.kind == "name" else ()
        return any(
            self._goes_through(part, block, env)
            for event, receiver, what in changes
            if receiver.kind == "name" and receiver.name == expr.name and event.end <= expr.start
            for block in map(env.module.block, env.module.enclosing(event.block))
            for part in _put(event, what)
        )

    def _goes_through(self, element: Expr, loop: Block, env: Env) -> bool:
        """Whether a loop over it gives an element, or finds one under what it goes over: `self.rows[name]`."""
        over = loop.test
        if loop.kind != "for" or over is None:
            return False
        targets = {name for event in env.module.events(env.function) for name in _bound_by(event, loop)}
        if element.kind == "subscript":
            return element.args[1].name in targets and self.leads_to(element.args[0], env)
        views = over.kind == "call" and over.args[0].kind == "attribute" and over.args[0].name in ("items", "values")
        return element.name in targets and self.leads_to(over.args[0].args[0] if views else over, env)

    def is_set_anew(self, read: Event, env: Env) -> bool:
        """Whether code that gets an item has surely set the attribute by then, itself or in a method that it calls."""
        if env.facts.name not in MAP_METHODS:
            return False
        above = (event for event in env.module.events(env.function) if event.end <= read.start)
        return any(self._sets(event, env.module, env.function) for event in above)

    def _sets(self, event: Event, module: Module, function: int, depth: int = 2) -> bool:
        """Whether a statement, which always runs, sets the attribute of its own object."""
        around = [block for block in module.enclosing(event.block) if block >= 0]
        own, value = module.receiver_name(function), event.value
        if any(module.block(block).kind != "with" for block in around):
            return False
        if event.kind == "assign" and event.target is not None and event.target.kind == "attribute":
            return event.target.name in self.names and event.target.args[0].name == own
        called = value.args[0] if value is not None and value.kind == "call" and event.kind != "def" else None
        if called is None or called.kind != "attribute" or called.args[0].name != own or not depth:
            return False
        classes = self.evaluator.classes
        method = classes.method(self.klass, called.name)
        if method is None or any(called.name in one.facts.methods for one in classes.subclasses(self.klass)):
            return False
        code = method.func.module, method.func.index
        return any(self._sets(inner, *code, depth - 1) for inner in code[0].events(code[1]))

    def is_taken_by(self, part: Expr, env: Env) -> bool:
        """Whether what an expression that asks for text asks is a part of it."""
        if part.kind == "attribute" and self.is_itself(part, env):
            return False
        return any(self.leads_to(arg, env) for arg in _asked_for_text(part))

    def leads_to(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is a part of it, or may be: `self.rows["train"]`, `self.index.images[key]`."""
        return any(self.is_itself(*place) for place in self.behind.of(expr, env))


def _put(event: Event, change: Expr) -> tuple[Expr, ...]:
    """What an event adds to a list."""
    if event.kind == "augment":
        return (change,)
    return change.args[1:] if change.kind == "call" and change.args[0].name in ("append", "extend") else ()


def _bound_by(event: Event, loop: Block) -> Iterator[str]:
    """The names that a loop gives values."""
    if event.kind == "for" and event.value is loop.test and event.target is not None:
        yield from (part.name for part in event.target.walk() if part.kind == "name")


def _taking_text(asked: tuple[Module, int, bool]) -> list[Expr]:
    """The expressions of a function that may take text out of something, by a method of it or by its column."""
    module, function, by_method = asked
    takes = _handles_text if by_method else _takes_text
    return [part for event in module.events(function) for part in event.walk() if takes(part)]


def _returned_by_properties(klass: Klass) -> Iterator[tuple[str, str]]:
    """The properties of a class that only return an attribute, with its name."""
    for name, function in klass.facts.methods.items():
        facts = klass.module.model.functions[function]
        if not any(decorator.dotted == "property" for decorator in facts.decorators):
            continue
        given = [event.value for event in klass.module.events(function) if event.kind == "return"]
        if len(given) == 1 and given[0] is not None and given[0].kind == "attribute":
            yield name, given[0].name


def _mentions(expr: Expr, names: set[str]) -> bool:
    return any(part.kind == "name" and part.name in names for part in expr.walk())


def _may_pick(part: Expr) -> bool:
    """Whether an expression has the form of one that takes elements out of something."""
    if part.kind == "comprehension":
        return any(key == "if" for key, _ in part.keywords)
    method = part.args[0] if part.kind == "call" else None
    picking = method is not None and method.kind == "attribute" and method.name in _METHODS
    return picking or part.kind == "subscript"


def _takes_text(part: Expr) -> bool:
    """Whether an expression asks for text, or may: a sum does if it joins text.

    `row["path"]`, `row.path`, `join(root, row[0])`, `row[0] + ".png"`, `f"{root}/{file_name}"`.
    """
    if part.kind == "attribute":
        return means_text(part.name)
    if part.kind == "subscript":
        return any(isinstance(key.value, str) and means_text(key.value) for key in part.args[1].walk())
    if part.kind == "call":
        return part.args[0].name in _TAKE_TEXT
    if part.kind == "fstring":
        return isinstance(part.value, str) and "/" in part.value
    return part.kind == "binop" and part.name == "+"


def _are_text(values: Values) -> bool:
    return bool(values) and all(kind_of(value) == "str" for value in values)


def _handles_text(part: Expr) -> bool:
    """Whether an expression takes text in pieces, or parses it: `row.words.split()`, `json.loads(row.ids)`."""
    return _is_text_method(part) or (part.kind == "call" and part.args[0].name in _PARSE_TEXT)


def _is_text_method(part: Expr) -> bool:
    """Whether an expression calls a method of text on a cell that isn't a label: `row.words.split()`."""
    method = part.args[0] if part.kind == "call" else None
    if method is None or method.kind != "attribute" or method.name not in _OF_TEXT:
        return False
    cell = method.args[0]
    names = [cell.name, _key(cell), *(inner.name for inner in cell.walk() if inner.kind == "attribute")]
    return cell.kind in ("attribute", "subscript") and "columns" not in names and not any(map(means_few, names))


def _asked_for_text(part: Expr) -> Iterator[Expr]:
    """What an expression that asks for text asks: all that it joins; of what is formatted, what is named as text."""
    if part.kind in ("attribute", "subscript"):
        yield part.args[0]
    elif _is_text_method(part):
        yield part.args[0].args[0]
    elif part.kind == "fstring":
        yield from (arg for arg in part.args if means_text(arg.name) or means_text(_key(arg)))
    else:
        for arg in part.args:
            yield from arg.args if arg.kind == "binop" and arg.name == "+" else (arg,)


def _key(part: Expr) -> str:
    """The constant in the brackets of `row["path"]`."""
    key = part.args[1].value if part.kind == "subscript" else None
    return key if isinstance(key, str) else ""


def _streams(running: Running) -> bool:
    """Whether code hands out the items of a stream one after the other."""
    facts = running.env.facts
    return facts.name in _STREAMS or (running.entry in _STREAMS and facts.is_generator)


def _bodies(loop: Event, env: Env) -> list[Block]:
    return [block for block in env.module.model.blocks if block.parent == loop.block and block.test == loop.value]


def _searches(env: Env, loop: Event) -> bool:
    """Whether `__getitem__` looks for an item in a loop, and returns it there: `for row, length in self.rows: ...`."""
    if env.facts.name not in MAP_METHODS:
        return False
    bodies = _bodies(loop, env)
    returns = [event.start for event in env.facts.events if event.kind == "return"]
    return any(body.start <= at < body.end for body in bodies if body.kind == "for" for at in returns)


def _for_each(env: Env, loop: Event) -> bool:
    """Whether a stream runs through a loop for each item that it yields: what is looped over is short then."""
    module = env.module
    yields = [part.start for event in env.facts.events for part in event.walk() if part.kind.startswith("yield")]
    around = [module.block(index) for index in module.enclosing(loop.block)]
    bodies = _bodies(loop, env)
    return any(
        block.kind in LOOPS and any(block.start <= at < block.end for at in yields) for block in around
    ) and not any(block.start <= at < block.end for block in bodies for at in yields)
