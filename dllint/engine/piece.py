"""The result of one of several projects, as plain data; and all of them joined to one result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import chain

import msgspec

from dllint.config import Config
from dllint.engine.corpus import decoded
from dllint.engine.result import Applied, Change, Result, paths
from dllint.finding import Finding
from dllint.fix import Fix
from dllint.source import Source


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A result without the project behind it. Paths are relative to `root`, the project's own."""

    root: str
    findings: tuple[tuple[Finding, Fix | None], ...] = ()
    texts: dict[str, bytes] = {}
    """The files that a report quotes."""
    targets: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    changes: dict[str, tuple[bytes, bytes]] = {}
    applied: tuple[Applied, ...] = ()
    silenced: dict[str, int] = {}
    crashes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def piece(result: Result) -> Piece:
    """A result as what can go from process to process."""
    quoted = {path for finding, _ in result.findings for path in paths(finding)}
    return Piece(
        root=result.root,
        findings=tuple((msgspec.structs.replace(finding, data=None), fix) for finding, fix in result.findings),
        texts={path: result.source(path).file.encode() for path in quoted},
        targets=result.targets,
        codes=result.codes,
        changes={change.before.path: (change.before.encode(), change.after.encode()) for change in result.changes},
        applied=result.applied,
        silenced=dict(result.silenced),
        crashes=result.crashes,
        warnings=result.warnings,
    )


def joined(config: Config, pieces: Iterable[tuple[str, Piece]]) -> Result:
    """The result over the folders of several projects, in the order of their paths."""
    each = sorted(pieces, key=lambda item: item[0])
    texts = {f"{folder}/{path}": data for folder, one in each for path, data in one.texts.items()}
    silenced: Counter[str] = Counter()
    for _, one in each:
        silenced.update(one.silenced)

    @cache
    def source(path: str) -> Source:
        return decoded(path, texts.get(path, b""))

    return Result(
        root=config.root,
        config=config,
        findings=tuple(
            (_below(folder, finding), _fix(folder, fix)) for folder, one in each for finding, fix in one.findings
        ),
        source=source,
        targets=frozenset(f"{folder}/{path}" for folder, one in each for path in one.targets),
        projects=len(each),
        codes=frozenset(chain.from_iterable(one.codes for _, one in each)),
        changes=tuple(
            Change(*(decoded(f"{folder}/{path}", data) for data in texts))
            for folder, one in each
            for path, texts in one.changes.items()
        ),
        applied=tuple(item._replace(path=f"{folder}/{item.path}") for folder, one in each for item in one.applied),
        silenced=silenced,
        crashes=tuple(f"{folder}: {line}" for folder, one in each for line in one.crashes),
        warnings=tuple(f"{folder}: {line}" for folder, one in each for line in one.warnings),
    )


def _below(folder: str, finding: Finding) -> Finding:
    """A finding as seen from above its project."""
    return msgspec.structs.replace(
        finding,
        path=f"{folder}/{finding.path}",
        notes=tuple(msgspec.structs.replace(note, path=f"{folder}/{note.path}") for note in finding.notes),
        anchors=tuple((f"{folder}/{path}", span) for path, span in finding.anchors),
        key=f"{folder}:{finding.key}" if finding.key else "",
        design=f"{folder}/{finding.design}" if finding.design else "",
    )


def _fix(folder: str, fix: Fix | None) -> Fix | None:
    if fix is None:
        return None
    edits = (msgspec.structs.replace(edit, path=f"{folder}/{edit.path}") for edit in fix.edits)
    imports = (msgspec.structs.replace(item, path=f"{folder}/{item.path}") for item in fix.imports)
    return msgspec.structs.replace(fix, edits=tuple(edits), imports=tuple(imports))
