"""Least fixpoints: how often questions are asked, and that the answers don't depend on which comes first."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

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


def test_questions_are_gone_once_they_are_answered_without_a_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        program = Program(CYCLE)
        assert program.ask("start") == (1,)
        assert not [item for item in gc.get_objects() if type(item).__name__ == "_Open"]
    finally:
        gc.enable()


def test_nothing_is_asked_twice_outside_of_cycles() -> None:
    program = Program(CHAIN)
    assert program.ask("end") == (1,)
    assert set(program.asked.values()) == {1}


@pytest.mark.parametrize("first", CYCLE)
def test_answers_are_those_of_any_other_order(first: str) -> None:
    program = Program(CYCLE)
    program.ask(first)
    assert {name: program.ask(name) for name in CYCLE} == dict.fromkeys(CYCLE, (1,))


LONG = 40
"""More answers than any question may take back."""
GROWING: dict[str, tuple[Any, Callable[[Any, int], Any]]] = {
    "tuple": ((), lambda found, one: (*found, one)),
    "list": ([], lambda found, one: [*found, one]),
    "frozenset": (frozenset(), lambda found, one: found | {one}),
    "dict": ({}, lambda found, one: {**found, one: [one]}),
    "dict of lists": ({"all": []}, lambda found, one: {"all": [*found["all"], one]}),
}


@pytest.mark.parametrize("kind", GROWING)
def test_an_answer_that_only_grows_grows_to_its_end(kind: str) -> None:
    least, more = GROWING[kind]
    fixpoint, known, asked = Fixpoint(), dict[str, Any](), Counter[str]()

    def find() -> Any:
        asked["all"] += 1
        found = fixpoint.ask(known, "all", least, find)
        return more(found, asked["all"]) if asked["all"] <= LONG else found

    expected = least
    for one in range(1, LONG + 1):
        expected = more(expected, one)
    assert fixpoint.ask(known, "all", least, find) == expected
    assert not fixpoint.given_up


@pytest.mark.parametrize("first", ["stand_in", "follower"])
def test_what_is_said_at_rest_is_never_taken_back(first: str) -> None:
    """1 stands in for what isn't found; it leads to 2, which doesn't take its place, or both would come and go."""
    fixpoint, known = Fixpoint(), dict[str, Answer]()

    def stand_in() -> Answer:
        found = fixpoint.ask(known, "follower", (), follower)
        return found or (() if fixpoint.is_open() else (1,))

    def follower() -> Answer:
        return (2,) if 1 in fixpoint.ask(known, "stand_in", (), stand_in) else ()

    find = {"stand_in": stand_in, "follower": follower}
    fixpoint.ask(known, first, (), find[first])
    assert {name: set(fixpoint.ask(known, name, (), find[name])) for name in find} == {
        "stand_in": {1, 2},
        "follower": {2},
    }
    assert not fixpoint.given_up


@pytest.mark.parametrize("first", ["source", "limited"])
def test_the_top_is_never_left(first: str) -> None:
    """`limited` reaches its limit with what `source` finds, which finds nothing from then on."""
    top = ("top",)
    fixpoint, known = Fixpoint(top), dict[str, Any]()

    def source() -> Any:
        found = fixpoint.ask(known, "limited", (), limited)
        return () if found == top else (*found, len(found))

    def limited() -> Any:
        found = fixpoint.ask(known, "source", (), source)
        return top if len(found) > 3 else found

    find = {"source": source, "limited": limited}
    fixpoint.ask(known, first, (), find[first])
    assert {name: fixpoint.ask(known, name, (), find[name]) for name in find} == {"source": (), "limited": top}
    assert not fixpoint.given_up
