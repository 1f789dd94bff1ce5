"""Least fixpoints: how often questions are asked, and that the answers don't depend on which comes first."""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import Any, NamedTuple

import pytest

from dllint.project.evaluate import fixpoint as fixpoints
from dllint.project.evaluate.fixpoint import MAX_DEPTH, Fixpoint
from tests.order import Files

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


@pytest.mark.parametrize("first", ["turning", "reader"])
def test_what_comes_and_goes_without_end_is_not_known(first: str) -> None:
    """`turning` says the contrary of what it has said, which no order of questions brings to rest."""
    top = ("top",)
    fixpoint, known = Fixpoint(top, lambda answer: top), dict[str, Any]()

    def turning() -> Any:
        return ("one",) if fixpoint.ask(known, "turning", (), turning) == ("other",) else ("other",)

    def reader() -> Any:
        return fixpoint.ask(known, "turning", (), turning)

    find = {"turning": turning, "reader": reader}
    fixpoint.ask(known, first, (), find[first])
    assert {name: fixpoint.ask(known, name, (), find[name]) for name in find} == {"turning": top, "reader": top}
    assert fixpoint.given_up == 1


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


class Part(NamedTuple):
    """A part of an answer: what others say, of that what is let through, then what another one says; or a fallback."""

    own: frozenset[int]
    reads: tuple[int, ...]
    lets: frozenset[int]
    then: int | None
    fallback: int


Equations = list[list[Part]]


def equations(draw: random.Random) -> Equations:
    """Some questions that hang on each other, with fallbacks that are told apart."""
    count = draw.randint(2, 6)
    said = range(-3 * count, 4)

    def part(number: int) -> Part:
        return Part(
            frozenset(draw.sample(range(4), draw.random() < 0.2)),
            tuple(draw.randrange(count) for _ in range(draw.randint(0, 2))),
            frozenset(draw.sample(said, draw.randint(1, len(said)))),
            draw.choice([None, None, draw.randrange(count)]),
            -number if draw.random() < 0.7 else 0,
        )

    return [[part(3 * one + number) for number in range(1, draw.randint(2, 4))] for one in range(count)]


def answered(asked: Equations, order: Iterable[int]) -> dict[int, frozenset[int]]:
    fixpoint, known = Fixpoint(), dict[int, frozenset[int]]()

    def ask(one: int) -> frozenset[int]:
        return fixpoint.ask(known, one, frozenset(), find, one)

    def find(one: int) -> frozenset[int]:
        found = frozenset[int]()
        for part in asked[one]:
            here = part.own.union(*(ask(other) & part.lets for other in part.reads))
            if here and part.then is not None:
                here |= ask(part.then)
            if not here and part.fallback and not fixpoint.is_open():
                here = frozenset({part.fallback})
            found |= here
        return found

    for one in order:
        ask(one)
    assert not fixpoint.given_up
    return known


@pytest.mark.parametrize("depth", [1, 2, MAX_DEPTH])
def test_what_is_said_at_rest_depends_on_no_order(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor on which questions come too deep, so that they are answered with others that they don't hang on."""
    for seed in range(400):
        draw = random.Random(seed)
        asked = equations(draw)
        count = len(asked)
        orders = list(permutations(range(count))) if count < 4 else [draw.sample(range(count), count) for _ in range(8)]
        expected = answered(asked, range(count))
        with monkeypatch.context() as patched:
            patched.setattr(fixpoints, "MAX_DEPTH", depth)
            for order in orders:
                assert answered(asked, order) == expected, (seed, order)


@pytest.mark.parametrize("first", ["a", "b"])
def test_two_that_hang_on_each_other_say_both_what_they_hold_back(first: str) -> None:
    fixpoint, known = Fixpoint(), dict[str, tuple[str, ...]]()

    def find(name: str) -> tuple[str, ...]:
        other = "b" if name == "a" else "a"
        found = fixpoint.ask(known, other, (), find, other)
        return found or (() if fixpoint.is_open() else (name,))

    fixpoint.ask(known, first, (), find, first)
    assert {name: set(values) for name, values in known.items()} == {"a": {"a", "b"}, "b": {"a", "b"}}


def test_what_only_reads_a_cycle_adds_nothing_that_it_held_back() -> None:
    """`reader` comes first, so that it is answered with the two, which don't hang on it."""
    fixpoint, known = Fixpoint(), dict[str, tuple[str, ...]]()
    reads = {"reader": ("one", "two"), "one": ("two",), "two": ("one",)}

    def find(name: str) -> tuple[str, ...]:
        found = dict.fromkeys(value for other in reads[name] for value in fixpoint.ask(known, other, (), find, other))
        return tuple(found) or (() if fixpoint.is_open() else (name,))

    fixpoint.ask(known, "reader", (), find, "reader")
    assert set(known["reader"]) == {"one", "two"}


PROGRAM = """\
class K:
    def __init__(self, v):
        self.v = v


def h():
    return k.v


k = K(h())
"""


def test_values_that_hang_on_each_other_depend_on_no_order() -> None:
    """The number, the attribute and the parameter have no value but from each other."""
    answers = set()
    for seed in range(8):
        project = Files(texts={"a.py": PROGRAM}).project()
        places = [
            (module, function, part)
            for module in project.index
            for function, klass, events in module.scopes
            if klass < 0
            for event in events
            for part in event.walk()
        ]
        order = random.Random(seed).sample(range(len(places)), len(places))
        found = {}
        for number in order:
            module, function, part = places[number]
            values = project.evaluator.values(part, project.evaluator.generic(module, function))
            found[number] = frozenset((type(value).__name__, getattr(value, "name", "")) for value in values)
        answers.add(tuple(sorted((number, tuple(sorted(names))) for number, names in found.items())))
    assert len(answers) == 1
