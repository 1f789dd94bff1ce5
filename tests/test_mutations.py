"""Mutated projects (`tests/mutations.py`): no crash, no hang, one answer whatever the order and the cache, sound fixes.

`DLLINT_MUTATIONS=20000 pytest -m slow tests/test_mutations.py` checks so many; a failure names its seed, and
`python -m tests.mutations SEED FOLDER` writes that project down.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import signal
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyflakes import checker, messages

from dllint.engine import Request, Result, check
from dllint.engine.corpus import Corpus
from dllint.engine.session import Session
from dllint.finding import Finding
from tests import mutations

FEW = 10
MANY = int(os.environ.get("DLLINT_MUTATIONS", "2000"))
FIRST = int(os.environ.get("DLLINT_MUTATIONS_FIRST", "0"))
SLOWEST = 20.0
"""Seconds of processor time for one run over a project of some hundred lines, far above what it takes."""
FATAL = 120
"""Seconds after which a run is stopped where that can be done."""

Told = tuple[str, int, int, str, str, str, tuple[Any, ...]]


class Wrong(Exception):
    """What a project showed."""


def told(finding: Finding) -> Told:
    """All of a finding that people see."""
    route = tuple((note.path, note.span, note.text) for note in finding.notes)
    shown = (finding.code, finding.message, str(sorted(finding.outcomes.items())))
    return (finding.path, finding.span.start, finding.span.end, *shown, route)


def findings(result: Result) -> Counter[Told]:
    return Counter(told(finding) for finding, _ in result.findings)


@contextmanager
def bounded(what: str) -> Iterator[None]:
    """No more time than a run may take."""

    def stop(*_: object) -> None:
        raise Wrong(f"{what} hangs")

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, stop)
        signal.alarm(FATAL)
    began = time.process_time()
    try:
        yield
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)
    taken = time.process_time() - began
    if taken > SLOWEST:
        raise Wrong(f"{what} takes {taken:.0f} s")


def run(folder: Path, what: str, **options: Any) -> Result:
    with bounded(what):
        result = check(Request(paths=(str(folder),), **options))
    if result.crashes:
        raise Wrong(f"{what}: {result.crashes[0]}")
    return result


def differ(what: str, one: Counter[Told], other: Counter[Told]) -> None:
    if one != other:
        gone, new = [*(one - other).elements()], [*(other - one).elements()]
        raise Wrong(f"{what}: {len(gone)} gone and {len(new)} new: {[item[:5] for item in (*gone, *new)][:2]}")


def examine(seed: int, folder: Path) -> Counter[str]:
    """Check one project; what it was good for."""
    before = mutations.write(seed, folder / "cold")
    cold = run(folder / "cold", "cold", cache=True, cache_dir=str(folder / "cache"))
    first = findings(cold)
    differ("warm", first, findings(run(folder / "cold", "warm", cache=True, cache_dir=str(folder / "cache"))))
    in_other_orders(folder / "cold", first, random.Random(seed))
    touched(folder / "cold", folder / "cache", first)
    fixed = fixes(folder / "cold", before)
    return Counter(projects=1, findings=sum(first.values()), **fixed)


def in_other_orders(folder: Path, expected: Counter[Told], rng: random.Random) -> None:
    """The same files, known to the project in other orders."""
    session = Session(Request(paths=(str(folder),)))
    corpus = session.corpus()
    paths = [path for path in session.selection.files if corpus.collected(path) is not None]
    for _ in range(2):
        rng.shuffle(paths)
        collected = {path: item for path in paths if (item := corpus.collected(path)) is not None}
        again = Corpus(corpus.root, collected, digests=corpus.digests)
        with bounded("another order"):
            judged = Session(session.request).judge.judge(again)
        if judged.crashes:
            raise Wrong(f"another order: {judged.crashes[0]}")
        differ(f"the order {' '.join(paths)}", expected, Counter(map(told, session.found(again, judged))))


def touched(folder: Path, cache: Path, expected: Counter[Told]) -> None:
    """A file that nobody uses came, and another one got an empty line at its end: only one file is read again."""
    (folder / "unused.py").write_text("import torch\n")
    last = max(folder.rglob("m*.py"))
    text = last.read_bytes()
    parses = parsed(text) is not None
    if parses:
        last.write_bytes(text + b"\n")
    differ("touched", expected, findings(run(folder, "touched", cache=True, cache_dir=str(cache))))
    last.write_bytes(text)
    (folder / "unused.py").unlink()


def parsed(text: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def fixes(folder: Path, before: dict[str, str]) -> dict[str, int]:
    """Fix a copy, twice."""
    copy = folder.parent / "fixed"
    shutil.copytree(folder, copy)
    result = run(copy, "fix", fix=True, unsafe_fixes=True)
    for change in result.changes:
        path, text = change.after.path, (copy / change.after.path).read_bytes()
        old = parsed(before[path].encode())
        if old is None:
            continue
        new = parsed(text)
        if new is None:
            raise Wrong(f"fixed, {path} does not parse")
        if lost := undefined(new) - undefined(old):
            raise Wrong(f"fixed, {path} has no {sorted(lost)}")
    again = run(copy, "second fix", fix=True, unsafe_fixes=True)
    if again.changes:
        raise Wrong(f"a second fix changes {again.changes[0].after.path}: {again.applied[0][1:]}")
    refused = sum(finding.code == "DLL904" for finding, _ in result.findings)
    return {"fixes": len(result.applied), "refused": refused}


def undefined(tree: ast.Module) -> set[str]:
    """The names that nothing defines."""
    try:
        found = checker.Checker(tree).messages
    except (RecursionError, AssertionError):  # it bears less than we must
        return set()
    return {one.message_args[0] for one in found if isinstance(one, messages.UndefinedName)}


def examined(seeds: range, folder: Path) -> Counter[str]:
    """What many projects show; the seeds of those that show something wrong are in the error."""
    seen: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        place = folder / str(seed)
        try:
            seen += examine(seed, place)
        except Exception as error:
            wrong.append(f"seed {seed}: {error if isinstance(error, Wrong) else repr(error)}")
            print(wrong[-1], flush=True)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        if (seed + 1) % 100 == 0:
            print(f"{seed + 1 - seeds.start} projects: {dict(seen)}", flush=True)
    assert not wrong, "\n".join((f"{len(wrong)} of {len(seeds)} projects:", *wrong[:50]))
    return seen


def test_projects_are_made_alike() -> None:
    assert mutations.project(7) == mutations.project(7) != mutations.project(8)
    assert len(mutations.corpus()) > 200


def test_some_mutated_projects(tmp_path: Path) -> None:
    seen = examined(range(FEW), tmp_path)
    assert seen["projects"] == FEW
    assert seen["findings"] > FEW
    assert seen["fixes"] > 0


@pytest.mark.slow
def test_many_mutated_projects(tmp_path: Path) -> None:
    seen = examined(range(FIRST, FIRST + MANY), tmp_path)
    print(dict(seen))
    assert seen["findings"] > MANY
