"""The pipeline: files, models, project, rules, findings, fixes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from dllint import registry
from dllint.config import homeless
from dllint.engine import single
from dllint.engine.planning import Plan, planned
from dllint.engine.result import Change, Result
from dllint.engine.session import Request, Session
from dllint.engine.single import undisturbed

if TYPE_CHECKING:
    from dllint.engine.questions import Inspection

__all__ = ["Change", "Plan", "Request", "Result", "check", "inspect", "plan", "verified", "why"]


def plan(request: Request) -> Plan:
    """What `check` would do, without doing it. Raises what it raises."""
    if _several(request):
        from dllint.engine import several

        sessions = several.sessions(request)
        if sessions:
            return several.plan(request, sessions)
    return planned(Session(request))


def check(request: Request) -> Result:
    """Run the pipeline. Raises ConfigError, UnknownRule and RegistryError.

    Arguments outside any project may contain several projects: each is checked as if it were named alone. Of one
    project nothing is written before all is decided.
    """
    if _several(request):
        from dllint.engine import several  # the usual run is about one

        sessions = several.sessions(request)
        if sessions:
            return several.check(request, sessions)
    return undisturbed(lambda: single.check(Session(request)))


def verified(request: Request) -> Result:
    """Run the pipeline with the cache and without; where the two differ, that is among the result's `crashes`."""
    from dllint.engine import verify

    return verify.verified(request, check)


def _several(request: Request) -> bool:
    """Whether a request may be about several projects: a configuration that is named makes everything one."""
    return request.stdin is None and not request.config and bool(homeless(request.paths))


def why(request: Request, path: str, row: int, cell: int | None = None) -> list[str]:
    """Why a line is quiet, or what it is reported for; in a notebook, a line of a cell. Raises NoLine.

    The project is the one that `check` would take for these paths and this one.
    """
    from dllint.engine import questions, several

    alone = msgspec.structs.replace(request, paths=(path,))
    request = msgspec.structs.replace(request, paths=(*request.paths, path))
    if _several(request) and several.sessions(request):
        request = alone
    return undisturbed(lambda: questions.why(Session(request), path, row, cell))


def inspect(request: Request, names: Iterable[str] = ()) -> Inspection:
    """Ask every rule about the whole project, whatever the configuration selects, ignores and aims at.

    Files that define something of these names are read, too, though no loader leads to them.
    """
    from dllint.engine import questions

    every = registry.Layer(tuple(info.code for info in registry.infos() if info not in registry.DIAGNOSTICS))
    return undisturbed(lambda: questions.inspect(Session(msgspec.structs.replace(request, layer=every)), names))
