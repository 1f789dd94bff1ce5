"""One source, in a separate process: unpacked, analyzed as `dllint check` does, reported as JSON on standard output.

The process limits itself where the platform lets it, and ends when its parent is gone.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import shutil
import signal
import sys
import threading
import time
from json import dumps, loads
from typing import IO, Any

import msgspec

from dllint import config, engine, registry
from dllint.engine.corpus import Changed
from dllint.files.walk import SUFFIXES
from dllint.reduce import told
from dllint.report import Context, json, text
from dllint.report.paint import Paint
from dllint.survey import archives, git
from dllint.survey.confine import confine, peak
from dllint.survey.limits import Broken, Limits, Refused, Unfit
from dllint.survey.outcome import MOST, Outcome, Reported, Step, storable
from dllint.survey.trees import Tree
from dllint.survey.unpack import Unpacked

ESSENTIAL = (*SUFFIXES, ".yaml", ".yml", ".toml", ".gitignore", "requirements.txt")
"""Files without which a repository would be judged otherwise; a partial clone may lack others."""
PATIENCE_S = 5.0
"""How long a process whose order has lost its giver may take to stop by itself."""
UNFIT = 3
"""The exit status for a machine that cannot do the work; the reason is on standard output."""


class Order(msgspec.Struct, frozen=True):
    """What the process is told on standard input, in one line. `scratch` is an empty folder."""

    tree: Tree
    identity: str
    limits: Limits
    isolated: bool
    scratch: str


def sent(order: Order) -> bytes:
    """An order as one line. Paths need not be text: Python's own JSON takes them as they are."""
    return dumps(msgspec.to_builtins(order)).encode() + b"\n"


def received(line: bytes) -> Order:
    """The order that was sent. Raises MsgspecError and ValueError."""
    return msgspec.convert(loads(line), Order)


def main(scratch: str) -> None:
    """Read an order, write its outcome, leave nothing behind: whoever gave the order may be gone."""
    status = 1
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been inherited as ignored
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError, KeyboardInterrupt):
        order = received(sys.stdin.buffer.readline())
        threading.Thread(target=_watch, args=(scratch,), daemon=True).start()
        confine(order.limits)
        status = _obey(order)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(status)  # there is nothing to tidy up, and the watching thread would be waited for


def _obey(order: Order) -> int:
    """Do the work, with standard output for the outcome alone; the exit status."""
    with os.fdopen(os.dup(1), "wb") as stream:
        sys.stdout = sys.stderr
        try:
            _tell(stream, msgspec.json.encode(outcome(order)))
        except Unfit as error:
            _tell(stream, str(error).encode("utf-8", "backslashreplace"))
            return UNFIT
    return 0


def _tell(stream: IO[bytes], data: bytes) -> None:
    stream.write(data)
    stream.flush()


def outcome(order: Order) -> Outcome:
    """What becomes of a source. Raises Unfit."""
    try:
        found = _analyzed(_prepared(order), order)
    except (Refused, config.ConfigError, registry.UnknownRule) as error:
        kind = error.kind if isinstance(error, Refused) else Broken.kind
        found = Outcome(kind=kind, reason=_relative(str(error), order))
    except MemoryError:
        found = Outcome(kind="over-memory", reason=f"it takes more than {order.limits.memory} MiB of memory")
    except Unfit:
        raise
    except Exception as error:
        found = Outcome(kind="failed", reason=_relative(f"internal error: {told(error)}", order))
    return msgspec.structs.replace(found, identity=order.identity, peak_mb=round(peak(), 1))


def _prepared(order: Order) -> str:
    """The folder that is analyzed. Raises Refused and Unfit."""
    tree = order.tree
    if tree.form == "folder":
        return tree.path
    into = Unpacked(order.scratch, order.limits)
    if tree.form == "archive":
        archives.unpack(tree.path, into, order.limits)
        return into.project(bare=tree.path.endswith(".whl"))
    met = [(blob, into.meet(blob.name)) for blob in git.blobs(tree.path, order.identity.removeprefix("git:"))]
    wanted = {blob: parts for blob, parts in met if into.wants(parts, blob.size)}
    lacking = [blob for blob in wanted if blob.size < 0]
    for blob in lacking:
        if wanted.pop(blob)[-1].endswith(ESSENTIAL):
            raise Broken(f"{blob.name} is missing from the repository")
    for blob, pieces in git.contents(tree.path, [*wanted]):
        into.write(wanted[blob], blob.size, pieces)
    return into.project(bare=True)


def _analyzed(root: str, order: Order) -> Outcome:
    try:
        result = engine.check(engine.Request(paths=(root,), isolated=order.isolated))
    except Changed:
        return Outcome(kind="failed", reason="its files changed while they were read")
    if result.crashes:
        others = f" (and {len(result.crashes) - 1} more)" if len(result.crashes) > 1 else ""
        return Outcome(kind="failed", reason=_relative(result.crashes[0], order) + others)
    return Outcome(
        kind="ok",
        files=result.checked,
        findings=tuple(_reported(result)),
        omitted=max(0, len(result.findings) - MOST),
        warnings=tuple(_relative(warning, order) for warning in result.warnings),
    )


def _reported(result: engine.Result) -> list[Reported]:
    """The findings with their places relative to the source."""
    rules = {info.code: info for info in registry.infos()}
    context = Context(root="", cwd="", rules=rules, source=result.source)
    kept = result.findings[:MOST]
    rows = loads(json.render(kept, context))
    return [
        Reported(
            code=row["code"],
            rule=row["name"],
            severity=row["severity"],
            certainty=row["certainty"],
            path=_slashed(row),
            **row["location"],
            message=storable(row["message"]),
            outcomes=row["outcomes"],
            route=tuple(Step(storable(step["message"]), _slashed(step), **step["location"]) for step in row["related"]),
            frame=storable("\n".join(text.frame(result.source(finding.path), finding, Paint(False)))),
            fix=storable(f"{row['fix']['message']} ({row['fix']['applicability']})") if row["fix"] else "",
            fingerprint=row["fingerprint"],
        )
        for row, (finding, _) in zip(rows, kept, strict=True)
    ]


def _slashed(place: dict[str, Any]) -> str:
    """A place's file, and of a notebook the cell."""
    path = storable(place["filename"].replace(os.sep, "/"))
    return f"{path}:cell {place['cell']}" if place["cell"] else path


def _relative(said: str, order: Order) -> str:
    """A message without the folder that was made for the source."""
    for folder in (order.scratch, os.path.realpath(order.scratch)):
        said = said.replace(os.path.join(folder, ""), "").replace(folder, ".")
    return storable(said)


def _watch(scratch: str) -> None:
    """End with whoever holds the other end of standard input: the main thread stops, or is stopped where it hangs."""
    while sys.stdin.buffer.read(1024):
        pass
    _thread.interrupt_main()
    time.sleep(PATIENCE_S)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)
