"""What is in containers that nobody changes: each name stands only where its value is read."""

import registry
from registry import IMPORTED, LISTED

KINDS = ("a", "b")
TABLE = {"a": 1, "b": make()}
FROZEN = frozenset({"a", "b"})
MADE = set(["a", "b"])
EMPTY = []
PARTS = ["a", make()]
PAIRED = twice = ["a"]
LONGER = KINDS + ("c",)
NESTED = {"inner": ["a"]}
KIND = "c"


class Reader:
    suffixes = (".a", ".b")
    names = ["a"]

    def checks(self):
        holds(".c" in self.suffixes)  # holds: no
        holds("c" in self.names)  # holds: unknown


def kinds(kind):
    holds(KIND in TABLE)  # holds: no
    holds("a" in TABLE.keys())  # holds: yes
    holds(KIND in FROZEN)  # holds: no
    holds(KIND not in MADE)  # holds: yes
    holds(KIND in {"a", "c"})  # holds: yes
    holds(KIND in frozenset(["a", "b"]))  # holds: no
    holds(kind in FROZEN)  # holds: unknown
    holds(kind in EMPTY)  # holds: no
    holds("a" in PARTS)  # holds: yes
    holds(KIND in PARTS)  # holds: unknown
    holds(len(PARTS) == 2)  # holds: yes
    holds(len({make(), make()}) == 2)  # holds: unknown
    holds(len({"a", "a"}) == 1)  # holds: yes
    holds(len(TABLE) > 1)  # holds: yes
    holds(len("ab") == 2)  # holds: yes
    holds(len([*kind, 1]) == 2)  # holds: unknown
    holds(len([one for one in FROZEN]) == 2)  # holds: unknown
    holds(bool(EMPTY))  # holds: no
    holds(not PARTS)  # holds: no
    holds(EMPTY == [])  # holds: yes
    holds(PARTS == [])  # holds: no
    holds(FROZEN == {"a", "b"})  # holds: unknown
    holds(KIND == [])  # holds: no
    holds(IMPORTED == ("a", "b"))  # holds: yes
    reveal(len(EMPTY))  # reveals: 0
    for one in PARTS:
        print(one, *PARTS, PARTS[0], f"{PARTS}", ", ".join(PARTS))


def handed():
    """A sum and a part have the elements of `KINDS`, and so have both of two names."""
    holds(len(KINDS) == 2)  # holds: unknown
    holds(len(LONGER) == 2)  # holds: unknown
    holds(KINDS[1:] == ("a", "b"))  # holds: unknown
    holds(len(PAIRED) == 1)  # holds: yes
    holds(twice == ["a"])  # holds: yes
    holds(NESTED["inner"] == ["a"])  # holds: unknown
    holds(len(LISTED) == 0)  # holds: unknown
    holds(registry.APPENDED == [])  # holds: unknown
    holds(registry.RENAMED == [])  # holds: unknown
    holds(registry.REBOUND == [])  # holds: unknown


def local(rows):
    filled, fixed, seen, copied, kept = [], [1], [], [1], []
    found = []
    for row in rows:
        found.append(row)
    holds(bool(found))  # holds: unknown
    sizes = [1, 2]
    holds(len(sizes) == 2)  # holds: yes
    added = []
    added += rows
    holds(bool(added))  # holds: unknown
    given = []
    rows.fill(given)
    holds(bool(given))  # holds: unknown
    inside = []

    def fill():
        inside.append(1)

    holds(bool(inside))  # holds: unknown
    stored = {}
    stored["a"] = 1
    holds("a" in stored)  # holds: unknown
    again = [1]
    again.copy().append(2)
    holds(len(again) == 1)  # holds: unknown
    removed = ["a"]
    del removed[0]
    holds("a" in removed)  # holds: unknown
    default = []

    def keep(into=default):
        into.append(1)

    holds(bool(default))  # holds: unknown
    either = [1] if rows else []
    holds(bool(either))  # holds: unknown
    return kept


def recursive():
    names = ("a",)
    for _ in range(3):
        names = tuple(names)
    holds(names == ("a",))  # holds: unknown
