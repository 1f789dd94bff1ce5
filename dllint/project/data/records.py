"""Python containers whose length depends on data, of something larger than names: rows, dictionaries, annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.data.array_uses import ArrayUses
from dllint.project.data.contents import FILLED, Contents, Kind
from dllint.project.data.counted import Counted
from dllint.project.data.naming import means_few, means_identifier
from dllint.project.data.sources import COLUMN
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import Env, Klass, Seq, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

_MAY_BE_ARRAYS = frozenset({"read from a file", "read from a pickle", "read from a NumPy file"})


class Records:
    """Answers which values are containers of records."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.contents = project.analysis(Contents)
        self.counted = project.analysis(Counted)
        self.array_uses = project.analysis(ArrayUses)

    def of(self, value: Value) -> str:
        """Where the records of a container come from, in words; "" when it is not seen to be one."""
        found = self.contents.of(value)
        return found.source if found is not None and found.kind is Kind.ROW else ""

    def kept(self, held: Held) -> str:
        """The same of what a dataset keeps, which may be known by its length."""
        if self.array_uses.shows_rows(held):
            return "read from a file"
        if self._is_of_index(held):
            return ""  # what keeps the index keeps all of it
        found = self.counted.of(held)
        if found is None or found.kind is not Kind.ROW:
            return ""
        if found.source in _MAY_BE_ARRAYS and (self.array_uses.shown(held) or self._is_made_without_objects(held)):
            return ""
        # Of labels there are few: small numbers that Python has once, or texts that a table has once.
        return "" if found.source == COLUMN and means_few(held.holder.name) else found.source

    def _is_made_without_objects(self, held: Held) -> bool:
        """Whether code that makes the same list shows that it has no objects of its own: a file keeps what was made."""
        attribute = held.route[0].path, held.holder
        others = (other for other in self.project.in_memory if (other.route[0].path, other.holder) == attribute)
        return any(self.contents.filled.has_no_objects(other.value) for other in others)

    def fill_array(self, held: Held) -> bool:
        """Whether the elements of an array that NumPy unpickles are dictionaries, by how items are read.

        Where one assignment keeps a list of rows, too, that is said of it.
        """
        shown = self.array_uses.shows_dictionaries(held)
        return shown and (held.route[0].path, held.route[0].span) not in self._kept_at

    @at_rest
    def _kept_at(self) -> frozenset[tuple[str, Span]]:
        """Where containers of records are kept that are no arrays."""
        kept = (held for held in self.project.in_memory if self.of(held.value))
        return frozenset((held.route[0].path, held.route[0].span) for held in kept)

    def _is_of_index(self, held: Held) -> bool:
        """Whether a class derived from an index of annotations keeps something, and is no dataset itself."""
        of_class, is_dataset = self.contents.sources.of_class, self.counted.library.is_dataset
        return any(of_class(klass) and not is_dataset(klass) for klass in self._keepers(held))

    def elements(self, expr: Expr, env: Env) -> list[Value]:
        """The elements of what an expression may be, as far as it grows with data."""
        long = filter(self.contents.growth.grows, self.evaluator.values(expr, env))
        return [element for value in long for element in self.contents.elements_of(value)]

    def is_filled(self, value: Value) -> bool:
        """Whether a loop over data fills a container of records."""
        return self.of(value) == FILLED

    def lead_to_labels(self, value: Value) -> bool:
        """Whether a lookup in a dictionary touches one of a few objects: `splits[name] = split`."""
        return self.contents.filled.leads_to_labels(value)

    def are_identifiers(self, value: Value) -> bool:
        """Whether a list has one identifier of each record: `[row["image_id"] for row in rows]`."""
        if not isinstance(value, Seq) or value.expr.kind != "comprehension" or value.kind != "list":
            return False
        element = value.expr.args[-1]
        key = element.args[1].value if element.kind == "subscript" else None
        return isinstance(key, str) and means_identifier(key)

    def filled_at(self, held: Held) -> tuple[str, Span] | None:
        """Where an empty container is filled, if it is filled as the attribute: its length comes from there.

        Or if no code of the project sets the attribute: a library's class keeps what a method returns.
        """
        value, attribute, found = held.value, held.holder.name, self.counted.of(held)
        if found is None or found.filled is None or not isinstance(value, Seq) or value.expr.args:
            return None
        path, span, receiver = found.filled
        if self._is_kept_by_base(held):
            return path, span
        while receiver.kind == "subscript":
            receiver = receiver.args[0]
        return (path, span) if receiver.kind == "attribute" and receiver.name == attribute else None

    # Datasets of others.

    def _is_kept_by_base(self, held: Held) -> bool:
        """Whether a library's class sets the attribute, not the project's."""
        module = self.evaluator.index.modules[held.route[0].path]
        bases = self.evaluator.library_bases
        known = any(held.holder.name in bases.kept(klass) for klass in self._keepers(held))
        return known and module.write_at(held.holder.name, held.route[0].span) is None

    def _keepers(self, held: Held) -> list[Klass]:
        return self.evaluator.classes.keepers(held.holder.owner, held.route[0].path)

    def read_by_base(self, held: Held) -> bool:
        """Whether a library's class reads what it, or a class derived from it, keeps: `ImageFolder` its `samples`."""
        if held.loader is not None and self.counted.used_by_base(held, "__getitem__"):
            return True
        reads = self.evaluator.library_bases.reads_per_item
        return any(reads(klass, held.holder.name) for klass in self._keepers(held))
