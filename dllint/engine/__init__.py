"""The pipeline: files, models, project, rules, findings, fixes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import msgspec

from dllint import registry
from dllint.config import Config
from dllint.engine.corpus import Changed, Corpus
from dllint.engine.reader import Survey
from dllint.engine.result import Change, Result, quote, result
from dllint.engine.session import Request, Session
from dllint.engine.verdict import Verdict
from dllint.garbage import uncollected

if TYPE_CHECKING:
    from dllint.engine.questions import Inspection

Answer = TypeVar("Answer")
ATTEMPTS = 3
"""Runs that are begun while somebody writes the files."""

__all__ = ["Change", "Plan", "Request", "Result", "check", "inspect", "plan", "why"]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would read, report on, and ask."""

    config: Config
    codes: frozenset[str]
    files: tuple[str, ...]
    """The project, relative to the root."""
    targets: frozenset[str]


def plan(request: Request) -> Plan:
    """What `check` would do, without doing it. Raises what it raises."""
    session = Session(request)
    selection = session.selection
    return Plan(config=session.config, codes=session.codes, files=selection.files, targets=selection.targets)


def check(request: Request) -> Result:
    """Run the pipeline. Raises ConfigError, UnknownRule and RegistryError; nothing is written before all is decided."""
    return _undisturbed(lambda: _check(Session(request)))


def why(request: Request, path: str, row: int, cell: int | None = None) -> list[str]:
    """Why a line is quiet, or what it is reported for; in a notebook, a line of a cell."""
    from dllint.engine import questions

    return _undisturbed(lambda: questions.why(Session(request), path, row, cell))


def inspect(request: Request) -> Inspection:
    """Ask every rule about the whole project, whatever the configuration selects, ignores and aims at."""
    from dllint.engine import questions

    every = registry.Layer(tuple(info.code for info in registry.infos() if info not in registry.DIAGNOSTICS))
    return _undisturbed(lambda: questions.inspect(Session(msgspec.structs.replace(request, layer=every))))


def _undisturbed(ask: Callable[[], Answer]) -> Answer:
    """The answer of a run in which no file changed; such a run begins again. Raises Changed when that never ends."""
    with uncollected():
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(Changed):
                return ask()
        return ask()


def _check(session: Session) -> Result:
    survey = session.survey()
    known = session.recall(survey)
    if known:
        return _recalled(session, survey, known)
    from dllint.engine.run import Distrusted, run  # what is known needs no rules, and no fixes

    try:
        return run(session, survey)
    except Distrusted:
        return _check(Session(msgspec.structs.replace(session.request, cache=False)))


def _recalled(session: Session, survey: Survey, known: Verdict) -> Result:
    """The result of a run that an earlier one already had."""
    concerned = [index for index, finding in enumerate(known.findings) if session.concerned(finding)]
    findings = [(known.findings[index], known.fixes[index]) for index in concerned]
    digests = {path: survey.seen[path].digest for path in survey.relevant}
    corpus = Corpus(session.config.root, {}, digests=digests, sources=survey.containers)
    quote(corpus, [finding for finding, _ in findings])
    return result(session, corpus, findings, crashes=tuple(session.missing()), warnings=tuple(session.warnings()))
