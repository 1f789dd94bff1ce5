"""Where the time and the memory of a run go, from inside: `python -m bench.parts parts|whole|pool FOLDER`, as JSON."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import resource
import statistics
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

import dllint.collect
from bench.timing import megabytes
from dllint.engine import Request, check
from dllint.engine.session import Session
from dllint.garbage import uncollected
from dllint.model.facts import ModuleModel
from dllint.reduce import cores, pool
from dllint.source import Source


def parts(folder: str) -> dict[str, float]:
    """Seconds of processor, in one process: a whole run, the sweep over the bytes, the parse of what it parsed."""
    texts: list[str] = []
    collect = dllint.collect.collect

    def noted(source: Source) -> ModuleModel:
        texts.append(source.text)
        return collect(source)

    dllint.collect.collect = noted
    found = {"whole": seconds(lambda: check(Request(paths=(folder,))))}
    found["sweep"] = seconds(lambda: Session(Request(paths=(folder,))).survey())
    found["ast"] = seconds(lambda: parse(texts, ast.parse, SyntaxError, ValueError))
    import libcst

    found["libcst"] = seconds(lambda: parse(texts, libcst.parse_module, libcst.ParserSyntaxError))
    return found | {"lines": sum(text.count("\n") for text in texts)}


def seconds(do: Callable[[], object]) -> float:
    """Of this process, without collections of garbage, which a run does without, too."""
    begun = time.process_time()
    with uncollected():
        do()
    return time.process_time() - begun


def parse(texts: Iterable[str], parser: Callable[[str], object], *errors: type[Exception]) -> None:
    """Parse and forget."""
    for text in texts:
        with contextlib.suppress(*errors), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parser(text)


def whole(folder: str) -> dict[str, float]:
    """A run with all its processes: seconds, peaks of this one and of the largest other one in MB, what was read."""
    request = Request(paths=(folder,), jobs=cores())
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    check(request)
    found = {"wall": time.perf_counter() - wall, "cpu": sum(os.times()[:4]) - cpu}
    for name, who in (("main", resource.RUSAGE_SELF), ("beside", resource.RUSAGE_CHILDREN)):
        found[name] = megabytes(resource.getrusage(who).ru_maxrss)
    survey = Session(request).survey()
    largest = max((survey.seen[path].state[0] for path in survey.relevant), default=0)
    return found | {"largest": largest / 1e3, "files": len(survey.seen)}


def pooled(folder: str) -> list[tuple[float, float, float]]:
    """Bytes of source, with the seconds until they are facts: in this process, and in others beside it."""
    sized = deque((str(file), file.stat().st_size) for file in sorted(Path(folder).rglob("*.py")))
    worth, pool.WORTH = pool.WORTH, 2
    rows, taken = [], [sized.popleft()]
    for limit in (worth // 4, worth // 2, worth, 2 * worth, 4 * worth):
        while sized and sum(size for _, size in taken) < limit:
            taken.append(sized.popleft())
        pairs = [[waited(folder, taken, jobs) for jobs in (1, cores())] for _ in range(4)][1:]
        alone, beside = (statistics.median(values) for values in zip(*pairs, strict=True))
        rows.append((sum(size for _, size in taken), alone, beside))
        if not sized:
            break
    return rows


def waited(folder: str, sized: list[tuple[str, int]], jobs: int) -> float:
    """Seconds by the clock until files are facts."""
    begun = time.perf_counter()
    with uncollected():
        for _ in pool.collect_files(folder, sized, {}, jobs):
            pass
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps({"parts": parts, "whole": whole, "pool": pooled}[sys.argv[1]](sys.argv[2])))
