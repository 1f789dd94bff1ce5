"""Whether stored answers are still right: a run that uses the cache, and one that does not, must say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from dllint.engine.result import Result
from dllint.engine.session import Request

ATTEMPTS = 3
"""How many pairs of runs to compare while another program writes the files."""


def verified(request: Request, check: Callable[[Request], Result]) -> Result:
    """The result of a run without the cache; what one with the cache says otherwise counts as a crash."""
    for _ in range(ATTEMPTS):
        stored = check(msgspec.structs.replace(request, cache=True))
        fresh = check(msgspec.structs.replace(request, cache=False))
        wrong = tuple(_differences(stored, fresh))
        if not wrong:
            break
    return msgspec.structs.replace(fresh, crashes=(*fresh.crashes, *wrong))


def _differences(stored: Result, fresh: Result) -> Iterator[str]:
    """What only one of two results says, a line each."""
    there, here = _told(stored), _told(fresh)
    for told, other, who in ((there, here, "only with the cache"), (here, there, "only without the cache")):
        for line, said in (told - other).elements():
            yield f"stored answers differ, {who}: {line}{'' if said else ' (a message of the run)'}"
    if there == here and list(there) != list(here):
        yield "stored answers differ: the findings have another order"


def _told(result: Result) -> Counter[tuple[str, bytes]]:
    """All that a result says, in its order: each with a line for people, and with all of it."""
    plain = ((msgspec.structs.replace(finding, data=None), fix) for finding, fix in result.findings)
    said = Counter(
        (f"{one.path}:{result.source(one.path).place(one.span.start)}: {one.code}", _packed((one, fix)))
        for one, fix in plain
    )
    said.update((line, b"") for line in (*result.crashes, *result.warnings))
    return said


def _packed(what: object) -> bytes:
    return msgspec.msgpack.encode(what, order="deterministic")
