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
from dllint.project.evaluate.abstract_values import ExtInst, ExtMethod, Value
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


@pytest.mark.parametrize("first", ["test", "chosen"])
def test_what_comes_and_goes_after_something_was_said_is_not_kept(first: str) -> None:
    """`test` says "no" only as long as `chosen` hasn't been asked again, which depends on which comes first."""
    fixpoint, known = Fixpoint(), dict[str, tuple[str, ...]]()

    def test() -> tuple[str, ...]:
        found = fixpoint.ask(known, "chosen", (), chosen)
        if found == ("none",):
            return ("no",)
        return ("unknown",) if found or not fixpoint.is_open() else ()

    def chosen() -> tuple[str, ...]:
        found = ("method",) if "unknown" in fixpoint.ask(known, "test", (), test) else ()
        return found or (() if fixpoint.is_open() else ("none",))

    find = {"test": test, "chosen": chosen}
    fixpoint.ask(known, first, (), find[first])
    assert {name: set(values) for name, values in known.items()} == {"test": {"unknown"}, "chosen": {"none", "method"}}


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


Place = tuple[str, int, str, int, int]
"""The file, function, kind, beginning and end of an expression."""


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


PROGRAMS = {
    "a number, an attribute and a parameter that have no value but from each other": """\
class K:
    def __init__(self, v):
        self.v = v


def h():
    return k.v


k = K(h())
""",
    "an item that is the pair's own, before that of a name": """\
g = (0, g)[1]
try:
    g = unknown
except ValueError:
    pass


class K:
    b = 0


def f(a):
    try:
        x = a
    except ValueError:
        return 0
""",
    "an attribute of None, which has none": """\
def f(a):
    c = g(a)
    return c


g = f(0)
try:
    g = g.m
except ValueError:
    pass
""",
    "more results of results than are told apart": """\
def f(a):
    c = g(a)
    return c


def h():
    return g


g = f(0)
if unknown:
    g = h().m
""",
    "what a list has that is made of lists with it": """\
class K:
    def __init__(self, a):
        for x in list(a):
            a = x
        K([0, a])
""",
    "a sum of what calls give to each other": """\
def f(a=0, b=0):
    x = h(a + 1, 0)


def g(a, b):
    return f(a, a)


def h(a, b):
    y = g(a, a)
    a = g({0: 0}, 0)
""",
    "an attribute that keeps what it has, and hides that of the base": """\
class Base:
    w = 0


class K(Base):
    def __init__(self, a):
        self.w = K if a else self.w
""",
    "a sum of what is not known, or of a list": """\
def f(a=int):
    h(a + 1)


def g(a):
    f(a)


f(f)


def h(a):
    g(a)
    g({"k": None})
""",
}


def values_of(files: Files, seed: int) -> dict[Place, frozenset[tuple[str, ...]]]:
    """What the expressions of a program may be in the end, by their places, where they were asked for in some order."""
    evaluator = files.project().evaluator
    places = {
        (module.path, function, part.kind, part.start, part.end): (part, evaluator.generic(module, function))
        for module in evaluator.index
        for function, klass, events in module.scopes
        if klass < 0
        for event in events
        for part in event.walk()
    }
    names = list(places)
    for name in random.Random(seed).sample(names, len(names)):
        evaluator.values(*places[name])
    return {name: frozenset(map(shown, evaluator.values(*places[name]))) for name in names}


def shown(value: Value) -> tuple[str, ...]:
    """A value in words that are those of any other project of the same files."""
    place = getattr(value, "call", None) or getattr(value, "expr", None)
    named = [str(getattr(value, name, "")) for name in ("name", "attribute", "value", "index")]
    base = shown(value.base) if isinstance(value, (ExtInst, ExtMethod)) and value.base is not None else ()
    return (type(value).__name__, str(place and place.start), *named, *base)


def changes(files: Files, orders: int) -> dict[Place, list[frozenset[tuple[str, ...]]]]:
    """The places whose values depend on the order in which they are asked for, with these."""
    usual = values_of(files, 0)
    others = [values_of(files, seed) for seed in range(1, orders)]
    found = {name: [usual[name], *(other[name] for other in others if other[name] != usual[name])] for name in usual}
    return {name: answers for name, answers in found.items() if len(answers) > 1}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_values_that_hang_on_each_other_depend_on_no_order(text: str) -> None:
    assert changes(Files(texts={"a.py": text}), orders=12) == {}


IMPORTS = {
    "a name that neither file binds": ("from b import g\nx = g\n", "from a import g\ny = g\n"),
    "what both read from each other": ("import b\ng = b.g\n", "import a\ng = a.g\n"),
}


@pytest.mark.parametrize("texts", IMPORTS.values(), ids=IMPORTS)
def test_imports_of_each_other_depend_on_no_order(texts: tuple[str, str]) -> None:
    assert changes(Files(texts=dict(zip(("a.py", "b.py"), texts, strict=True))), orders=12) == {}


COPIED = """\
import importlib


class K:
    v = "v"


def f():
    return n


def h():
    if unknown:
        return 0
    if unknown:
        return n


d = {{}}
d[f()] = 1
d.update(k=f())
n = {found}
if unknown:
    n = f()
if unknown:
    n = {later}
"""


@pytest.mark.parametrize(
    ("found", "later"),
    [
        ("getattr(K, n)", "'v'"),
        ("getattr(K, n, 0)", "'v'"),
        ("{'k': 'k', 'o': 1}.get(n)", "'k'"),
        ("int(n)", "'1'"),
        ("importlib.import_module(n)", "'b'"),
        ("h()", "K"),
        ("d['k']", "'k'"),
    ],
)
def test_what_stands_in_until_more_is_found_does_not_stay(found: str, later: str) -> None:
    """`n` also has what it has already: nothing that was found too early would leave it again."""
    texts = {"a.py": COPIED.format(found=found, later=later), "b.py": "x = 1\n"}
    assert changes(Files(texts=texts), orders=40) == {}
