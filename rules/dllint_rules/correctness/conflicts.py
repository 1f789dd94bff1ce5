"""The argument combinations that torch's DataLoader refuses, measured on torch 2.13, and how to tell them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from dllint import ALL_METHODS, Alternative, Const, Ext, ExtInst, Loader, Project, Workers, is_none

Test = Callable[[Alternative], bool]


class Conflict(NamedTuple):
    """What is refused: `name` is the argument at fault, `text` says why, `remedy` what to do."""

    name: str
    items: list[Alternative]
    text: str
    remedy: str
    removable: str = ""
    """ "safe" or "unsafe": whether the argument may be deleted."""
    partner: str = ""
    """The argument that it does not go with."""
    correction: str = ""
    """What to write instead of a value that is wrong by itself."""
    because: tuple[Alternative, ...] = ()
    """What the other argument may be that makes it wrong."""

    @property
    def sure(self) -> bool:
        """Whether no argument has several values, one that may be set elsewhere, or one that isn't known."""
        return all(len(items) < 2 and all(item.known for item in items) for items in (self.items, self.because))


def is_given(item: Alternative) -> bool:
    """Surely passed and not None."""
    return item.value is not None and is_none(item.value) is False


def is_true(item: Alternative) -> bool:
    """A constant that is true."""
    return isinstance(item.value, Const) and bool(item.value.value)


def is_absent(item: Alternative) -> bool:
    """Not passed, or None."""
    return item.value is None or (isinstance(item.value, Const) and item.value.value is None)


def _number(item: Alternative) -> int | float | None:
    value = item.value.value if isinstance(item.value, Const) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def is_positive(item: Alternative) -> bool:
    """A number above 0."""
    number = _number(item)
    return number is not None and number > 0


def is_negative(item: Alternative) -> bool:
    """A number below 0."""
    number = _number(item)
    return number is not None and number < 0


def is_context(item: Alternative) -> bool:
    """A start method or a context."""
    return (isinstance(item.value, Const) and isinstance(item.value.value, str)) or (
        isinstance(item.value, ExtInst) and item.value.name.endswith("get_context")
    )


def is_other_size(item: Alternative) -> bool:
    """A `batch_size` other than the default 1."""
    return isinstance(item.value, Const) and item.value.value != 1


def is_bad_size(item: Alternative) -> bool:
    """A `batch_size` that isn't a positive whole number."""
    if not isinstance(item.value, Const) or item.value.value is None or item.declared:
        return False
    size = item.value.value
    return not isinstance(size, int) or isinstance(size, bool) or size <= 0


def is_no_bool(item: Alternative) -> bool:
    """A `drop_last` that is not True or False."""
    return isinstance(item.value, Const) and not isinstance(item.value.value, bool) and not item.declared


def is_bad_context(item: Alternative) -> bool:
    """The name of no start method, or a module instead of a context."""
    match item.value:
        case Const(value=str() as name):
            return name not in ALL_METHODS
        case Ext(name=name):
            return name in ("torch.multiprocessing", "multiprocessing")
    return False


def conflicts(project: Project, loader: Loader) -> Iterator[Conflict]:
    """Everything that torch refuses about the arguments of one loader."""
    table = _Table(project, loader)
    yield from table.without_workers()
    yield from table.exclusive()
    yield from table.iterable()
    yield from table.values()


class _Table:
    def __init__(self, project: Project, loader: Loader) -> None:
        self.project = project
        self.loader = loader
        self._known: dict[str, list[Alternative]] = {}

    def items(self, name: str) -> list[Alternative]:
        if name not in self._known:
            self._known[name] = self.project.given.alternatives(self.loader, name)
        return self._known[name]

    def all(self, name: str, test: Test) -> bool:
        items = self.items(name)
        return bool(items) and all(test(item) for item in items)

    def some(self, name: str, test: Test) -> bool:
        return any(test(item) and not item.declared for item in self.items(name))

    def both(self, one: str, test: Test, other: str, other_test: Test) -> bool:
        """Two arguments that meet: each surely, or one in one of its alternatives, which nothing ties to the other."""
        sure, other_sure = self.all(one, test), self.all(other, other_test)
        if not (sure or self.some(one, test)) or not (other_sure or self.some(other, other_test)):
            return False
        return (sure or other_sure) and not self.project.given.related(self.loader, self.items(one), self.items(other))

    def without_workers(self) -> Iterator[Conflict]:
        chosen = self.project.given.for_no_workers(self.loader, "prefetch_factor")
        if chosen is not None and _number(chosen) is not None:
            yield Conflict(
                "prefetch_factor",
                [chosen],
                f"is {_number(chosen)} where there are no workers: raises `ValueError`",
                "it must be None there",
                correction="None",
            )
        if not self.project.given.without_workers(self.loader):
            return
        for name, test in (
            ("persistent_workers", is_true),
            ("prefetch_factor", lambda item: isinstance(item.value, Const) and item.value.value is not None),
            ("multiprocessing_context", is_context),
            ("timeout", is_positive),
        ):
            if not (self.all(name, test) or self.some(name, test)):
                continue
            if not self.project.given.related(self.loader, self.items(name), self.items("num_workers")):
                literal = all(item.expr is None or item.expr.kind == "constant" for item in self.items("num_workers"))
                raised = "`AssertionError` when it is iterated" if name == "timeout" else "`ValueError`"
                yield Conflict(
                    name, self.items(name), f"is given to a loader without workers: raises {raised}",
                    "drop it, or pass `num_workers`", "safe" if literal else "",
                    because=tuple(self.items("num_workers")),
                )  # fmt: skip

    def exclusive(self) -> Iterator[Conflict]:
        if self.both("sampler", is_given, "shuffle", is_true):
            text = "together with `sampler` raises `ValueError`"
            yield self._conflict("shuffle", text, "let the sampler shuffle", "sampler")
        for name, test in (
            ("batch_size", is_other_size), ("shuffle", is_true), ("sampler", is_given), ("drop_last", is_true),
        ):  # fmt: skip
            if self.both("batch_sampler", is_given, name, test):
                yield self._conflict(
                    name, "together with `batch_sampler` raises `ValueError`", "the batch sampler decides it",
                    "batch_sampler",
                )  # fmt: skip
                return
        if self.all("batch_size", _is_none_size) and self.both("batch_size", _is_none_size, "drop_last", is_true):
            yield self._conflict(
                "drop_last", "with `batch_size=None` raises `ValueError`", "there are no batches to drop"
            )

    def _conflict(self, name: str, text: str, remedy: str, partner: str = "") -> Conflict:
        because = tuple(self.items(partner)) if partner else ()
        return Conflict(name, self.items(name), text, remedy, "unsafe", partner, because=because)

    def iterable(self) -> Iterator[Conflict]:
        if not self.project.given.iterable(self.loader):
            return
        tested = not self.all("dataset", lambda item: hasattr(item.value, "klass"))
        for name, test in (("shuffle", is_true), ("sampler", is_given), ("batch_sampler", is_given)):
            related = not tested and self.project.given.related(self.loader, self.items(name), self.items("dataset"))
            if (self.all(name, test) or (not tested and self.some(name, test))) and not related:
                yield self._conflict(
                    name, "with an `IterableDataset` raises `ValueError`", "shuffle inside the dataset's `__iter__`"
                )

    def values(self) -> Iterator[Conflict]:
        for name in ("num_workers", "timeout", "prefetch_factor"):
            if self.all(name, is_negative):
                yield Conflict(name, self.items(name), "below 0 raises `ValueError`", "pass 0 or more")
        if self.loader.workers is Workers.SOME and self.all("prefetch_factor", lambda item: _number(item) == 0):
            yield Conflict(
                "prefetch_factor", self.items("prefetch_factor"),
                "of 0 raises `AssertionError` when the loader is iterated", "pass 1 or more",
            )  # fmt: skip
        if self.all("multiprocessing_context", is_bad_context):
            yield Conflict(
                "multiprocessing_context", self.items("multiprocessing_context"),
                "is neither a start method nor a context: raises", 'pass "fork", "spawn" or "forkserver"',
                correction=_as_context(self.items("multiprocessing_context")),
            )  # fmt: skip
        if self.all("batch_sampler", is_absent):
            yield from self._batches()

    def _batches(self) -> Iterator[Conflict]:
        if self.all("batch_size", is_bad_size):
            yield Conflict(
                "batch_size", self.items("batch_size"), "is not a whole number above 0: raises `ValueError`",
                "pass an int, or None for no batches", correction=_as_size(self.items("batch_size")),
            )  # fmt: skip
        elif self.all("drop_last", is_no_bool) and not self.some("batch_size", _is_none_size):
            yield Conflict(
                "drop_last", self.items("drop_last"), "is not a bool: raises `ValueError`", "pass True or False",
                correction=_as_bool(self.items("drop_last")),
            )  # fmt: skip


def _is_none_size(item: Alternative) -> bool:
    return isinstance(item.value, Const) and item.value.value is None


def _constant(items: list[Alternative]) -> object:
    """The only value; a list, which nothing is, where there are several or none."""
    value = items[0].value if len(items) == 1 else None
    return value.value if isinstance(value, Const) else []


def _as_size(items: list[Alternative]) -> str:
    """A whole number above 0 that was written as another kind of number or as text."""
    size = _constant(items)
    if isinstance(size, float) and size.is_integer() and size > 0:
        return str(int(size))
    return str(int(size)) if isinstance(size, str) and size.isdecimal() and int(size) else ""


def _as_bool(items: list[Alternative]) -> str:
    value = _constant(items)
    return str(bool(value)) if value is None or value in (0, 1) else ""


def _as_context(items: list[Alternative]) -> str:
    """The default context of a module that was passed for one."""
    only = items[0] if len(items) == 1 else None
    named = only is not None and isinstance(only.value, Ext) and only.expr is not None and only.expr.dotted
    return f"{named}.get_context()" if named else ""
