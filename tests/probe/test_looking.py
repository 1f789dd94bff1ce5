"""What is found in objects: parts that do not pickle, attributes that hold much, handles, generators, content."""

from __future__ import annotations

import collections
import functools
import multiprocessing
import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("psutil")

from dllint.runtime.probe import contents, pickles, places, weights
from dllint.runtime.probe.digests import digest
from dllint.runtime.probe.messages import Part


class Box:
    """Keeps what it is given."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)

    def method(self) -> None:
        pass


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held


class Refusing:
    def __reduce__(self) -> Any:
        raise ValueError("not me")


class Stateful(Box):
    """Leaves out of its state what cannot be pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "lock"}


class Keeper:
    def __init__(self) -> None:
        self.names = [f"images/{number}.png" for number in range(20_000)]
        self.table = {number: f"row {number}" for number in range(300, 15_000)}
        self.few = ["a"] * 100_000
        self.array = np.zeros(100_000)
        self.objects = np.array([f"text {number}" for number in range(12_000)], dtype=object)


Wrong = collections.namedtuple("Right", "name")


def local_class() -> Any:
    class Local:
        pass

    return Local()


def local_function() -> Any:
    def inner() -> None:
        pass

    return inner


def culprits(value: object) -> list[Part]:
    with pickles.starting():
        return pickles.culprits(value, "dataset")


CULPRITS = [
    (Box(key=lambda: 0), "dataset.key", "lambda", "DLL102"),
    (Box(counts=collections.defaultdict(lambda: 0)), "dataset.counts.default_factory", "lambda", "DLL101"),
    (Box(steps=[abs, lambda: 0]), "dataset.steps[1]", "lambda", "DLL102"),
    (Box(by={"a": (1, lambda: 0)}), "dataset.by['a'][1]", "lambda", "DLL102"),
    (Box(part=functools.partial(print, lambda: 0)), "dataset.part.args[0]", "lambda", "DLL102"),
    (Box(part=functools.partial(print, sep=lambda: 0)), "dataset.part.sep", "lambda", "DLL102"),
    (Box(call=Box(key=lambda: 0).method), "dataset.call.__self__.key", "lambda", "DLL102"),
    (Box(slotted=Slotted(lambda: 0)), "dataset.slotted.held", "lambda", "DLL102"),
    (Box(inner=local_function()), "dataset.inner", "function local_function.<locals>.inner", "DLL104"),
    (Box(item=local_class()), "dataset.item", "object of local_class.<locals>.Local", "DLL105"),
    (Box(row=Wrong("a")), "dataset.row", "object of Right", "DLL105"),
    (Box(lock=threading.Lock()), "dataset.lock", "lock", "DLL106"),
    (Box(no=Refusing()), "dataset.no", "object of Refusing, by its own `__reduce__`", ""),
]


@pytest.mark.parametrize(("value", "path", "what", "rule"), CULPRITS, ids=[case[1] for case in CULPRITS])
def test_the_path_to_what_does_not_pickle(value: object, path: str, what: str, rule: str) -> None:
    (found,) = culprits(value)
    assert (found.path, found.what, found.rule) == (path, what, rule)
    assert found.error


def test_all_culprits_are_found_and_cycles_end() -> None:
    box = Box(one=lambda: 0, two=[threading.Lock()])
    box.itself = box
    assert [part.path for part in culprits(box)] == ["dataset.one", "dataset.two[0]"]


def test_many_of_a_kind_are_told_once() -> None:
    assert len(culprits(Box(rows=[Wrong(str(number)) for number in range(1000)]))) == 1


@pytest.mark.parametrize(
    "value",
    [
        Box(names=["a"], table={1: 2}),
        Stateful(lock=threading.Lock()),
        Box(lock=multiprocessing.get_context("spawn").Lock()),
        Box(part=functools.partial(abs, 1)),
    ],
    ids=["plain", "state", "shared lock", "partial"],
)
def test_what_pickles_when_a_process_starts_is_no_culprit(value: object) -> None:
    assert culprits(value) == []


def test_culprits_have_their_lines() -> None:
    (found,) = culprits(Box(key=lambda: 0))
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert "(found,) = culprits(Box(key=lambda: 0))" in lines[found.places[0].line - 1]
    (found,) = culprits(Box(row=Wrong("a")))
    assert 'namedtuple("Right"' in lines[found.places[0].line - 1]


def test_the_attributes_that_hold_many_objects() -> None:
    found = {part.path: part for part in weights.holders(Keeper(), "dataset")}
    assert set(found) == {"dataset.names", "dataset.table", "dataset.objects"}
    assert found["dataset.names"].objects == pytest.approx(20_001, rel=0.02)
    assert found["dataset.table"].objects == pytest.approx(2 * 14_700, rel=0.02)
    assert [found[f"dataset.{name}"].rule for name in ("names", "table", "objects")] == ["DLL201", "DLL202", "DLL203"]
    assert found["dataset.names"].what == "list 20,000 of str"
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert "self.names =" in source[found["dataset.names"].places[0].line - 1]


def test_handles_and_generators(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("w") as stream:
        box = Box(steps=[Box(stream=stream)], rng=random.Random(0), other=np.random.default_rng(0), log=print)
        assert [part.path for part in contents.handles(box, "dataset")] == ["dataset.steps[0].stream"]
        assert [step.path for step in contents.generators(box, "dataset")] == ["dataset.rng", "dataset.other"]


def test_looking_runs_no_code_of_the_objects() -> None:
    class Trap:
        ran = False

        @property
        def value(self) -> int:
            Trap.ran = True
            return 1

        def __getattr__(self, name: str) -> Any:
            Trap.ran = True
            raise AttributeError(name)

        def __len__(self) -> int:
            Trap.ran = True
            return 3

        def __iter__(self) -> Any:
            Trap.ran = True
            return iter(())

    assert len(list(contents.walk(Box(trap=Trap()), "dataset"))) == 2
    assert not Trap.ran


def test_code_of_the_project_has_its_lines() -> None:
    found = list(contents.code(Box(keeper=Keeper(), call=local_function), "dataset"))
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert {lines[place.line - 1] for place in found} >= {"class Box:", "class Keeper:", "def local_function() -> Any:"}


def test_libraries_are_nobodys_project() -> None:
    assert places.own(__file__)
    assert not places.own(np.__file__)
    assert not places.own(places.__file__)
    assert places.place(np.__file__, 1).path == "numpy/__init__.py"


@pytest.mark.parametrize("value", [[1, "a", None], {"a": np.arange(3)}, (Box(a=[1]), b"x"), np.float32(1)])
def test_equal_content_has_equal_digests(value: Any) -> None:
    import copy

    assert digest(value) == digest(copy.deepcopy(value))
    assert digest([value, 1]) != digest([value, 2])


def test_digests_of_cycles_end() -> None:
    box = Box(a=1)
    box.itself = box
    assert digest(box) == digest(box)
