"""The files of a run: read, filtered, and those that matter reduced to their models."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from dllint import files
from dllint.collect import collect, collect_old
from dllint.finding import Finding, Severity
from dllint.model.facts import ModuleModel
from dllint.source import Source, Span, Unreadable
from dllint.syntax.guard import NotParsed

LARGEST = 32 * 1024 * 1024
"""Bytes; what is larger is no source code."""


class Collected(msgspec.Struct, frozen=True):
    """What became of one file: a model, or the reason why there is none."""

    source: Source
    model: ModuleModel | None = None
    problem: Finding | None = None
    crash: str = ""


class Corpus:
    """Everything known of the files. A changed file makes a new corpus that shares the rest."""

    def __init__(self, root: str, collected: Mapping[str, Collected], problems: Iterable[Finding] = ()) -> None:
        self.root = root
        self._collected = dict(collected)
        self.models = {path: item.model for path, item in collected.items() if item.model}
        self._problems = tuple(problems)

    @property
    def problems(self) -> list[Finding]:
        """DLL900 and DLL903: files that could not be read or analysed."""
        return [*self._problems, *(item.problem for item in self._collected.values() if item.problem)]

    @property
    def crashes(self) -> list[str]:
        """Internal errors, one line each."""
        return [item.crash for item in self._collected.values() if item.crash]

    def source(self, path: str) -> Source:
        """A parsed file's text; an empty one for a file that was not read."""
        item = self._collected.get(path)
        return item.source if item else Source(path, "")

    def changed(self, texts: Mapping[str, str]) -> Corpus:
        """The corpus with other texts in place of these files'."""
        again = {path: collect_one(_with_text(self.source(path), text)) for path, text in texts.items()}
        return Corpus(self.root, {**self._collected, **again}, self._problems)

    def problem(self, path: str) -> str:
        """Why a file has no model, or ""."""
        told = [finding.message for finding in self.problems if finding.path == path]
        crashes = [item.crash for item in self._collected.values() if item.crash and item.source.path == path]
        return "; ".join((*told, *crashes))


def read_corpus(
    selection: files.Selection,
    root: str,
    wanted: files.Words,
    overlay: Mapping[str, bytes],
    extra: Collection[str] = (),
) -> Corpus:
    """Read every file of the project once, parse those that matter and those that were named."""
    peeks, problems = {}, []
    for path in selection.files:
        try:
            peeks[path] = files.peek(read(root, path, overlay), wanted)
        except OSError as error:
            problems.append(unreadable(path, str(error.strerror or error)))
    needed = (files.close(peeks, root) | selection.named) & peeks.keys()
    collected = {item.source.path: item for item in collect_all(root, sorted(needed | set(extra)), overlay)}
    return Corpus(root, collected, problems)


def collect_all(root: str, paths: Iterable[str], overlay: Mapping[str, bytes]) -> Iterator[Collected]:
    """One file after the other; `collect_bytes` takes and returns plain data, so a pool can take this loop's place."""
    for path in paths:
        try:
            data = read(root, path, overlay)
        except OSError as error:
            yield Collected(Source(path, ""), problem=unreadable(path, str(error.strerror or error)))
        else:
            yield collect_bytes(path, data)


def collect_bytes(path: str, data: bytes) -> Collected:
    """Decode and collect a file."""
    try:
        source = Source.from_bytes(path, data)
    except Unreadable as error:
        return Collected(Source(path, ""), problem=unreadable(path, str(error)))
    return collect_one(source)


def collect_one(source: Source) -> Collected:
    """A file's model, or what stands in the way."""
    try:
        return Collected(source, collect(source))
    except NotParsed as error:
        return Collected(source, collect_old(source), problem=_not_parsed(source, error))
    except (RecursionError, MemoryError):
        return Collected(source, problem=unreadable(source.path, "too deeply nested or too large"))
    except Exception as error:
        return Collected(source, crash=f"internal error while reading {source.path}: {told(error)}")


def read(root: str, path: str, overlay: Mapping[str, bytes]) -> bytes:
    """A file's bytes, or those given instead of it. Raises OSError."""
    if path in overlay:
        return overlay[path]
    place = os.path.join(root, path)
    status = os.stat(place)
    if not stat.S_ISREG(status.st_mode):
        raise OSError("not a regular file")
    if status.st_size > LARGEST:
        raise OSError(f"{status.st_size // 2**20} MiB are too large")
    with open(place, "rb") as stream:
        return stream.read()


def told(error: BaseException) -> str:
    """An exception in one line, with the place in our code that raised it."""
    last = error.__traceback__
    while last and last.tb_next:
        last = last.tb_next
    place = f" ({os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno})" if last else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"


def unreadable(path: str, why: str) -> Finding:
    """DLL903 for a file."""
    return Finding("DLL903", path, Span(0, 0), f"not analysed: {why}", Severity.WARNING, key=f"DLL903 {path}")


def _not_parsed(source: Source, error: NotParsed) -> Finding:
    row = min(max(error.row, 1), len(source.line_starts))
    line = source.row_span(row)
    start = min(line.start + max(error.column, 1) - 1, line.end)
    span = Span(start, min(start + 1, line.end))
    if error.kind == "limits":
        return msgspec.structs.replace(unreadable(source.path, error.message), span=span)
    return Finding("DLL900", source.path, span, f"syntax error: {error.message}", key=f"DLL900 {source.path}")


def _with_text(source: Source, text: str) -> Source:
    return Source(source.path, text, source.encoding, source.bom)
