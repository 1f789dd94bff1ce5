"""Proof that a dictionary has strings or numbers as keys, and rows of data as values."""

from __future__ import annotations

from dllint import MAPPINGS, Const, Env, Expr, ExtInst, Project, Seq, Value
from dllint_rules.memory.puts import Put, puts
from dllint_rules.memory.rows import NUMBERS, Rows
from dllint_rules.memory.text import MAX_DEPTH, Texts, from_json, method_of


class Keys(Texts):
    """Asks whether expressions surely are strings or numbers, or None: each process finds these by the same hash."""

    each = "string or number"

    def is_item(self, expr: Expr, env: Env, depth: int = MAX_DEPTH) -> bool:
        """Whether an expression surely is a string, a number or None."""
        if super().is_item(expr, env, depth):
            return True
        values = self.project.values(expr, env) if depth > 0 else ()
        return bool(values) and all(self._is_key(value, depth) for value in values)

    def _is_key(self, value: Value, depth: int) -> bool:
        if isinstance(value, Const):
            return isinstance(value.value, str | int | float | None)
        known = isinstance(value, ExtInst) and (value.name in NUMBERS or value.name == "csv.DictReader[][]")
        return known or from_json(value) or self._text(value, depth - 1)

    def _items(self, value: Value, depth: int) -> bool:
        return from_json(value) or super()._items(value, depth)


class Mappings(Rows):
    """Asks of expressions whether they surely are dictionaries of rows.

    `asked`: code asks for its keys or values, so that what comes from JSON is no list.
    """

    each = "record whose key is a string or a number"
    whole = "dictionary of records"

    def __init__(self, project: Project, asked: bool) -> None:
        super().__init__(project, indexed=False)
        self.keys = Keys(project)
        self.asked = asked

    def _is_made_of_items(self, value: Value, depth: int) -> bool:
        if isinstance(value, ExtInst):
            return self._external(value, depth) or self._saved(value, depth)
        pairs = _pairs(value)
        if pairs is None or not isinstance(value, Seq):
            return False
        made = all(self._is_pair(*pair, value.env, depth) for pair in pairs)
        return made and self._filled(value, depth, not pairs)

    def _external(self, value: ExtInst, depth: int) -> bool:
        """Whether what other packages give is such a dictionary."""
        if value.name in MAPPINGS and value.call.kind == "call" and not value.call.keywords:
            given = value.call.args[1:]
            return self._copies(given, value.env, depth) and self._filled(value, depth, not given)
        if method_of(value) == "copy" and value.base is not None:
            return self._list(value.base, depth)
        return self.asked and from_json(value)

    def _copies(self, given: tuple[Expr, ...], env: Env, depth: int) -> bool:
        """Whether what `dict` is given are such keys and values: nothing, another dictionary, or `zip(names, rows)`."""
        if len(given) != 1:
            return not given
        pairs = given[0]
        if pairs.kind == "call" and len(pairs.args) == 3:
            _, names, rows = pairs.args
            if {getattr(item, "name", "") for item in self.project.values(pairs, env)} == {"builtins.zip"}:
                return self.keys.gives_items(names, env, depth) and self.gives_items(rows, env, depth)
        return self.is_list(pairs, env, depth)

    def _is_pair(self, key: Expr, value: Expr, env: Env, depth: int) -> bool:
        return self.keys.is_item(key, env, depth) and self.is_item(value, env, depth)

    def _filled(self, made: Value, depth: int, empty: bool = False) -> bool:
        """Whether all that is put into a dictionary later are such keys and values; into an empty one, something is."""
        found = [put for _, _, put in puts(self.project, made)]
        return bool(found or not empty) and all(put is not None and self._puts_rows(put, depth) for put in found)

    def _puts_rows(self, put: Put, depth: int) -> bool:
        return (
            all(self.keys.is_item(key, put.env, depth) for key in put.keys)
            and all(self.is_item(value, put.env, depth) for value in put.values)
            and all(self.is_list(other, put.env, depth) for other in put.others)
            and all(self._is_data(part, put.env) for part in put.parts)
        )

    def others(self, value: Value) -> list[tuple[str, Expr, Env]]:
        """What is put into a dictionary, where it is made and later, that is not surely such a key or value."""
        found: list[tuple[str, Expr, Env]] = []
        with self._assumed(value):
            if isinstance(value, Seq):
                pairs = ((key, row, value.env) for key, row in _pairs(value) or ())
                found += [("item", row, env) for key, row, env in pairs if not self._is_pair(key, row, env, MAX_DEPTH)]
            for what, env, put in puts(self.project, value):
                if put is None or not self._puts_rows(put, MAX_DEPTH):
                    found.append(("item", what, env))
        return found


def _pairs(value: Value) -> list[tuple[Expr, Expr]] | None:
    """The keys and values that a dictionary is made with; None of anything else."""
    if not isinstance(value, Seq):
        return None
    if (value.expr.kind, value.expr.name) == ("comprehension", "dict"):
        return [(value.expr.args[0], value.expr.args[1])]
    return list(zip(value.expr.args[::2], value.expr.args[1::2], strict=True)) if value.expr.kind == "dict" else None
