"""The results: a SQLite file with exactly one outcome a source, each written durably in one step as it arrives."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone

import msgspec

from dllint.start_methods import NAMES
from dllint.survey.outcome import LIMITED, Outcome, storable
from dllint.survey.trees import Tree
from dllint.survey.unit import Settings

_OURS = 0x646C6C73
"""SQLite's `application_id`, which tells our files from others."""
_VERSION = 1
_SCHEMA = """
CREATE TABLE source (
    name TEXT PRIMARY KEY, project TEXT NOT NULL, form TEXT NOT NULL, path TEXT NOT NULL, revision TEXT NOT NULL,
    identity TEXT NOT NULL, tool TEXT NOT NULL, settings TEXT NOT NULL,
    outcome TEXT NOT NULL, reason TEXT NOT NULL, files INTEGER NOT NULL, omitted INTEGER NOT NULL,
    warnings TEXT NOT NULL, seconds REAL NOT NULL, peak_mb REAL NOT NULL, finished TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE finding (
    source TEXT NOT NULL REFERENCES source (name) ON DELETE CASCADE, number INTEGER NOT NULL,
    code TEXT NOT NULL, rule TEXT NOT NULL, severity TEXT NOT NULL, certainty TEXT NOT NULL,
    path TEXT NOT NULL, line INTEGER NOT NULL, column INTEGER NOT NULL, message TEXT NOT NULL,
    fork TEXT NOT NULL, spawn TEXT NOT NULL, forkserver TEXT NOT NULL,
    route TEXT NOT NULL, frame TEXT NOT NULL, fix TEXT NOT NULL, fingerprint TEXT NOT NULL,
    PRIMARY KEY (source, number)
) WITHOUT ROWID;
CREATE INDEX finding_code ON finding (code);
"""
_SOURCE = f"INSERT INTO source VALUES ({', '.join('?' * 16)})"
_FINDING = f"INSERT INTO finding VALUES ({', '.join('?' * 17)})"


class NotUsable(Exception):
    """The file is no database of results, or cannot be read or written; the message says which and why."""


class Database:
    """A file of results. What was written stays written, whatever happens next."""

    def __init__(self, path: str, create: bool = False) -> None:
        """Open, or `create` where there is none. Raises NotUsable."""
        self.path = path
        if not create and not os.path.isfile(path):
            raise NotUsable(f"{path}: no such file")
        with self._told():
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=30)
            self.connection.execute("PRAGMA foreign_keys = ON")
            self._prepare(create)

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def save(self, tree: Tree, outcome: Outcome, tool: str, settings: Settings) -> None:
        """Write what became of a source, in place of what was known of it. Raises NotUsable."""
        with self._told(), self._transaction():
            self.connection.execute("DELETE FROM source WHERE name = ?", (storable(tree.name),))
            self.connection.execute(_SOURCE, _source_row(tree, outcome, tool, settings))
            self.connection.executemany(_FINDING, _finding_rows(tree, outcome))

    def current(self, tree: Tree, identity: str, tool: str, settings: Settings) -> bool:
        """Whether the outcome of this very content, by this tool, is there already."""
        found = self.rows("SELECT identity, tool, settings, outcome FROM source WHERE name = ?", tree.name)
        if not found or (found[0][0], found[0][1]) != (identity, tool):
            return False
        known = msgspec.json.decode(found[0][2], type=Settings)
        return known.isolated == settings.isolated and (found[0][3] not in LIMITED or known.limits == settings.limits)

    def rows(self, query: str, *values: object) -> Sequence[tuple[str, ...]]:
        """The rows of a query. Raises NotUsable."""
        with self._told():
            given = [storable(value) if isinstance(value, str) else value for value in values]
            return self.connection.execute(query, given).fetchall()

    def _prepare(self, create: bool) -> None:
        ours = self.connection.execute("PRAGMA application_id").fetchone()[0] == _OURS
        empty = not self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if create and empty:
            with self._transaction():
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    self.connection.execute(statement)
                self.connection.execute(f"PRAGMA application_id = {_OURS}")
                self.connection.execute(f"PRAGMA user_version = {_VERSION}")
        elif not ours:
            raise NotUsable(f"{self.path}: is not a database of `dllint survey`")
        elif self.connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            raise NotUsable(f"{self.path}: was written by another version of dllint")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # a full disk has rolled back already
                self.connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise NotUsable(f"{self.path}: {error}") from None


def _source_row(tree: Tree, outcome: Outcome, tool: str, settings: Settings) -> tuple[object, ...]:
    finished = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return (
        *map(storable, (tree.name, tree.project, tree.form, tree.path, tree.revision)),
        *(outcome.identity, tool, msgspec.json.encode(settings).decode()),
        *(outcome.kind, storable(outcome.reason), outcome.files, outcome.omitted, json.dumps(outcome.warnings)),
        *(outcome.seconds, outcome.peak_mb, finished),
    )


def _finding_rows(tree: Tree, outcome: Outcome) -> Iterator[tuple[object, ...]]:
    for number, found in enumerate(outcome.findings):
        yield (
            *(storable(tree.name), number, found.code, found.rule, found.severity, found.certainty),
            *(found.path, found.row, found.column, storable(found.message)),
            *(found.outcomes.get(method, "") for method in NAMES),
            msgspec.json.encode([[step.text, step.path, step.row, step.column] for step in found.route]).decode(),
            *(storable(found.frame), found.fix, found.fingerprint),
        )
