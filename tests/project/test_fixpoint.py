"""Least fixpoints: how often questions are asked, and that the answers don't depend on which comes first."""

from __future__ import annotations

from collections import Counter

import pytest

from dllint.project.evaluate.fixpoint import Fixpoint

CYCLE = {
    "start": ("joined",),
    "joined": ("near", "far"),
    "near": ("start",),
    "far": ("farther",),
    "farther": ("start",),
}
CHAIN = {"start": (), "middle": ("start",), "end": ("middle", "start")}
Answer = tuple[int, ...]


class Program:
    """Questions that read each other's answers; `start` adds something of its own."""

    def __init__(self, reads: dict[str, tuple[str, ...]]) -> None:
        self.reads = reads
        self.asked: Counter[str] = Counter()
        self.known: dict[str, Answer] = {}
        self._fixpoint = Fixpoint()

    def ask(self, name: str) -> Answer:
        return self._fixpoint.ask(self.known, name, (), self._find, name)

    def _find(self, name: str) -> Answer:
        self.asked[name] += 1
        found = dict.fromkeys(value for other in self.reads[name] for value in self.ask(other))
        return (*found, *((1,) if name == "start" and 1 not in found else ()))


def test_a_reader_of_several_changed_answers_is_asked_once_for_all_of_them() -> None:
    """`joined` waits for `far`, which changes later than `near`."""
    program = Program(CYCLE)
    assert program.ask("start") == (1,)
    assert program.asked["joined"] == 2


def test_nothing_is_asked_twice_outside_of_cycles() -> None:
    program = Program(CHAIN)
    assert program.ask("end") == (1,)
    assert set(program.asked.values()) == {1}


@pytest.mark.parametrize("first", CYCLE)
def test_answers_are_those_of_any_other_order(first: str) -> None:
    program = Program(CYCLE)
    program.ask(first)
    assert {name: program.ask(name) for name in CYCLE} == dict.fromkeys(CYCLE, (1,))
