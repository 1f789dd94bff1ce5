"""Findings that are known and not told again. They are known by names, not by lines, so edits above change nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from dllint.finding import Finding
from dllint.report import Findings

VERSION = 1
NEVER = ("DLL900", "DLL903", "DLL904")
"""Diagnostics of files that were not analyzed, and of fixes: a baseline must not make a broken file look clean."""


class BaselineError(Exception):
    """The file cannot be used; the message says why."""


class Entry(msgspec.Struct, frozen=True, order=True):
    """One known finding. The message is for people, as it was when the file was written."""

    path: str
    code: str
    key: str
    message: str

    @property
    def identity(self) -> tuple[str, str]:
        """What a finding must have to be this one."""
        return self.code, self.key


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    findings: tuple[Entry, ...]


class Compared(msgspec.Struct, frozen=True):
    """A run's findings beside the known ones."""

    new: Findings
    gone: tuple[Entry, ...]
    """Known ones that this run would have found."""
    unseen: tuple[Entry, ...]
    """Known ones that this run did not look for."""


def entry(finding: Finding) -> Entry:
    """What is kept of a finding."""
    return Entry(finding.path, finding.code, finding.identity.partition("\0")[2], finding.message)


def read(file: str) -> tuple[Entry, ...]:
    """The known findings. Raises BaselineError."""
    try:
        with open(file, "rb") as stream:
            held = msgspec.json.decode(stream.read(), type=_File)
    except FileNotFoundError:
        raise BaselineError(f"{file}: no such baseline; --write-baseline creates it") from None
    except OSError as error:
        raise BaselineError(f"{file}: cannot be read: {error.strerror or error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BaselineError(f"{file}: not a baseline of dllint: {error}") from None
    if held.version != VERSION:
        raise BaselineError(f"{file}: a baseline of version {held.version}; this dllint reads version {VERSION}")
    return held.findings


def compare(
    findings: Findings, known: Iterable[Entry], codes: Collection[str], looked_at: Callable[[str], bool]
) -> Compared:
    """Which findings are new. Of equal ones as many are known as there are entries, the first ones."""
    waiting: dict[tuple[str, str], list[Entry]] = {}
    for one in known:
        waiting.setdefault(one.identity, []).append(one)
    new = []
    for item in findings:
        same = waiting.get(entry(item[0]).identity)
        if item[0].code in NEVER or not same:
            new.append(item)
        else:
            same.pop(0)
    left = sorted(one for same in waiting.values() for one in same)
    seen = [one.code in codes and looked_at(one.path) for one in left]
    gone = tuple(one for one, here in zip(left, seen, strict=True) if here)
    return Compared(new, gone, tuple(one for one, here in zip(left, seen, strict=True) if not here))


def written(findings: Findings, unseen: Sequence[Entry]) -> bytes:
    """The file for these findings and those that were not looked for."""
    kept = [entry(finding) for finding, _ in findings if finding.code not in NEVER]
    rows = [msgspec.structs.asdict(one) for one in sorted((*kept, *unseen))]
    return (json.dumps({"version": VERSION, "findings": rows}, indent=2) + "\n").encode()
