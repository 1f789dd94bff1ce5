"""What a run would do, without doing it."""

from __future__ import annotations

import msgspec

from dllint.config import Config
from dllint.engine.session import Session


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would read, report on, and ask."""

    config: Config
    codes: frozenset[str]
    files: tuple[str, ...]
    """The project, relative to the root."""
    targets: frozenset[str]
    configurations: tuple[str, ...] = ()
    """The configuration files that decide about these files."""


def planned(session: Session) -> Plan:
    """What a session's run would do."""
    selection = session.selection
    return Plan(
        config=session.config,
        codes=session.chosen(session.config),
        files=selection.files,
        targets=selection.targets,
        configurations=tuple(own.file for own in session.configs.all if own.file),
    )
