"""Which lines a change touches, and which lines its diff shows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from dllint.finding import Finding
from dllint.report import Context
from dllint.review import git
from dllint.source import Span

if TYPE_CHECKING:
    from unidiff.patch import Hunk, PatchedFile

_ESCAPE = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_NAMED = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}


class Change(msgspec.Struct, frozen=True):
    """What happened to one file: rows that are new or changed, or from which something was taken, and its hunks."""

    rows: frozenset[int] = frozenset()
    hunks: tuple[range, ...] = ()
    whole: bool = False
    """All of it: the file is new and git has no diff of it, or it is none of text."""


class Changes(msgspec.Struct, frozen=True):
    """The changes of a repository's files, by their absolute paths."""

    top: str
    files: Mapping[str, Change]

    def of(self, place: str) -> Change:
        """What happened to a file."""
        return self.files.get(_same(place), Change())

    def touch(self, path: str, span: Span, context: Context) -> bool:
        """Whether a line of the span was changed."""
        change = self.of(context.absolute(path))
        return change.whole or any(row in change.rows for row in rows(path, span, context))

    def concern(self, finding: Finding, context: Context) -> bool:
        """Whether the change touches the cause, a step of the route, or an anchor of the finding."""
        return any(self.touch(path, span, context) for path, span in places(finding))


def places(finding: Finding) -> Iterator[tuple[str, Span]]:
    """The places of a finding: its cause, then its anchors, then the route."""
    yield finding.path, finding.span
    yield from finding.anchors
    yield from ((note.path, note.span) for note in finding.notes)


def rows(path: str, span: Span, context: Context) -> range:
    """The lines of a span."""
    return range(context.location(path, span.start)[0], context.location(path, span.end)[0] + 1)


def since(folder: str, ref: str) -> Changes:
    """What was changed since a ref was left, committed or not. Raises GitError."""
    top = git.repository(folder)
    base = git.merge_base(top, ref)
    return Changes(top, {**_read(top, git.diff(top, base)), **_untracked(top), **dict(_submodules(top, base))})


def _untracked(top: str) -> dict[str, Change]:
    return {_same(os.path.join(top, name)): Change(whole=True) for name in git.untracked(top)}


def _submodules(top: str, base: str, until: str = "") -> Iterator[tuple[str, Change]]:
    """What changed in submodules that are checked out; no review of the project shows their lines."""
    before = git.submodules(top, base)
    for name, commit in git.submodules(top, until or "HEAD").items():
        inner = os.path.join(top, name)
        if os.path.exists(os.path.join(inner, ".git")):
            known = before.get(name, "")
            old = known if known and git.knows(inner, known) else git.EMPTY
            if until and (known == commit or not git.knows(inner, commit)):
                continue
            found = _read(inner, git.diff(inner, old, commit if until else ""))
            found |= {} if until else _untracked(inner)
            yield from ((path, msgspec.structs.replace(change, hunks=())) for path, change in found.items())


def committed(folder: str, ref: str) -> Changes:
    """What was committed since a ref was left, with the lines around it that a reviewer is shown. Raises GitError."""
    top = git.repository(folder)
    base = git.merge_base(top, ref)
    return Changes(top, {**_read(top, git.diff(top, base, "HEAD", context=3)), **dict(_submodules(top, base, "HEAD"))})


def refuse_uncommitted(changes: Changes, findings: Iterable[Finding], context: Context) -> None:
    """A review speaks of lines as they are committed. Raises GitError where the change's or a finding's are not."""
    quoted = {_same(context.absolute(path)) for finding in findings for path, _ in places(finding)}
    concerned = quoted | changes.files.keys()
    names = [name for name in git.uncommitted(changes.top) if _same(os.path.join(changes.top, name)) in concerned]
    if names:
        raise git.GitError(
            f"commit these files first, because a review covers commits only: {', '.join(sorted(set(names)))}"
        )


def _read(top: str, diff: str) -> dict[str, Change]:
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        patches = PatchSet(diff)
    except UnidiffParseError as error:
        raise git.GitError(f"the diff of git cannot be read: {error}") from error
    kept = (patch for patch in patches if patch.target_file != "/dev/null")
    return {_same(os.path.join(top, _name(patch.target_file))): _change(patch) for patch in kept}


def _change(patch: PatchedFile) -> Change:
    touched = frozenset(row for hunk in patch for row in _touched(hunk))
    hunks = tuple(range(hunk.target_start, hunk.target_start + hunk.target_length) for hunk in patch)
    return Change(touched, hunks, whole=patch.is_binary_file)


def _touched(hunk: Hunk) -> Iterator[int]:
    """New rows; where lines were taken away, the row below them: a comment or an argument may have been there."""
    row = hunk.target_start if hunk.target_length else hunk.target_start + 1
    for line in hunk:
        if line.is_added or line.is_removed:
            yield row
        if line.is_added or line.is_context:
            row += 1


def _name(target: str) -> str:
    """A path of a diff; git quotes those with quotes and control characters."""
    if target.startswith('"'):
        target = _ESCAPE.sub(lambda match: _escaped(match[1]), target[1:-1])
        target = target.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return target.removeprefix(git.PREFIX)


def _escaped(code: str) -> str:
    return bytes([int(code, 8)]).decode("utf-8", "surrogateescape") if code.isdigit() else _NAMED.get(code, code)


def _same(place: str) -> str:
    return os.path.normcase(os.path.realpath(place))
