"""A file's bytes to its facts, or to the reason why it has none; in this process or in others beside it."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from dllint import documents
from dllint.finding import Finding, Severity
from dllint.model import Damaged
from dllint.source import Source, Span, Unreadable, is_settings

if TYPE_CHECKING:
    from dllint.model.facts import ModuleModel
    from dllint.syntax.guard import NotParsed

__all__ = ["Collected", "collect_bytes", "collect_source", "cores", "pack", "told", "unpack", "unreadable"]


class Collected(msgspec.Struct, frozen=True):
    """The result for one file: a model, or a problem; both if only an old Python accepts the file."""

    model: ModuleModel | None = None
    problem: Finding | None = None
    crash: str = ""
    lasting: bool = False
    """The same bytes will always come to this."""


def collect_bytes(path: str, data: bytes) -> Collected:
    """Decode and collect a file."""
    try:
        return collect_source(documents.read(path, data))
    except Unreadable as error:
        return Collected(problem=unreadable(path, str(error)))


def collect_source(source: Source) -> Collected:
    """A file's model, or a problem."""
    if is_settings(source.path):
        from dllint.documents import settings

        return Collected(settings.collect(source), lasting=True)
    from dllint.collect import collect, collect_old  # a run that knows all facts does without
    from dllint.syntax.guard import NotParsed

    try:
        return Collected(collect(source), lasting=True)
    except NotParsed as error:
        return Collected(collect_old(source), _not_parsed(source, error), lasting=error.kind == "syntax")
    except (RecursionError, MemoryError):
        return Collected(problem=unreadable(source.path, "too deeply nested or too large"))
    except Exception as error:
        return Collected(crash=f"internal error while reading {source.path}: {told(error)}")


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    facts: bytes
    problem: Finding | None
    crash: str
    lasting: bool


@cache
def _decoder() -> msgspec.msgpack.Decoder[_Packed]:
    return msgspec.msgpack.Decoder(_Packed)


def pack(item: Collected) -> bytes:
    """As bytes, whatever the file's path, which may be no text."""
    from dllint.model import stored  # a run that remembers its verdict needs no facts

    facts = stored.encode(item.model) if item.model else b""
    problem = item.problem and msgspec.structs.replace(item.problem, path="", key="")
    crash = item.crash.encode("utf-8", "backslashreplace").decode()
    return msgspec.msgpack.encode(_Packed(facts, problem, crash, item.lasting))


def unpack(data: bytes, path: str) -> Collected:
    """What `pack` packed, of the file at `path` or of another one with the same content. Raises Damaged."""
    from dllint.model import stored

    try:
        packed = _decoder().decode(data)
    except msgspec.MsgspecError as error:
        raise Damaged(str(error)) from None
    model = stored.decode(packed.facts, path) if packed.facts else None
    problem = packed.problem and msgspec.structs.replace(packed.problem, path=path, key=f"{packed.problem.code} {path}")
    return Collected(model, problem, packed.crash, packed.lasting)


def told(error: BaseException) -> str:
    """An exception in one line, with the place in our code that raised it."""
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    place = f" ({os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno})" if last else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def unreadable(path: str, why: str) -> Finding:
    """DLL903 for a file."""
    return Finding("DLL903", path, Span(0, 0), f"not analyzed: {why}", Severity.WARNING, key=f"DLL903 {path}")


def _not_parsed(source: Source, error: NotParsed) -> Finding:
    row = min(max(error.row, 1), len(source.line_starts))
    line = source.row_span(row)
    start = min(line.start + max(error.column, 1) - 1, line.end)
    span = Span(start, min(start + 1, line.end))
    if error.kind == "limits":
        return msgspec.structs.replace(unreadable(source.path, error.message), span=span)
    key, message = f"DLL900 {source.path}", f"syntax error: {error.message}"
    return Finding("DLL900", source.path, span, message, key=key, group=error.python)
