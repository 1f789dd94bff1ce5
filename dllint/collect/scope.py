"""What is collected of one scope: a module, class body, function or lambda."""

from __future__ import annotations

from dllint.model.facts import Event, EventKind, Expr


class Scope:
    """The scope being collected. `function` and `owner` are the indices of the function and the class that it is in."""

    def __init__(self, qualname: str, function: int, owner: int) -> None:
        self.qualname = qualname
        self.function = function
        self.owner = owner
        self.events: list[Event] = []
        self.bound: set[str] = set()
        self.loads: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.hidden: frozenset[str] = frozenset()
        """Names that aren't loads: targets, and the variables of a comprehension."""
        self.generator = False
        self.block = -1

    def event(
        self,
        kind: EventKind,
        start: int,
        end: int,
        target: Expr | None = None,
        value: Expr | None = None,
        name: str = "",
        names: tuple[str, ...] = (),
        ref: int = -1,
    ) -> None:
        """Something the scope does, after all the rest."""
        self.events.append(Event(kind, start, end, self.block, target, value, name, names, ref))

    def nested(self, name: str) -> str:
        """Python's qualname of something defined here."""
        if not self.qualname or name in self.globals:
            return name
        return f"{self.qualname}.{name}" if self.owner >= 0 else f"{self.qualname}.<locals>.{name}"
