"""One project: checked, or its verdict remembered."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

import msgspec

from dllint.engine.corpus import Changed, Corpus
from dllint.engine.reader import Survey
from dllint.engine.result import Result, paths, quote
from dllint.engine.session import Session
from dllint.engine.verdict import Verdict
from dllint.garbage import uncollected

Answer = TypeVar("Answer")
ATTEMPTS = 3
"""How many runs to try while another program writes the files."""


def undisturbed(ask: Callable[[], Answer]) -> Answer:
    """The answer of a run in which no file changed; such a run begins again. Raises Changed when that never ends."""
    with uncollected():
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(Changed):
                return ask()
        return ask()


def check(session: Session) -> Result:
    """What a session's request comes to. Raises Changed."""
    survey = session.survey()
    known = recalled(session, survey)
    if known:
        return known
    from dllint.engine.run import Distrusted, run  # what is known needs no rules, and no fixes

    try:
        return run(session, survey)
    except Distrusted:
        return check(Session(msgspec.structs.replace(session.request, cache=False)))


def recalled(session: Session, survey: Survey) -> Result | None:
    """The result of a run that an earlier one already had. Raises Changed."""
    known = session.recall(survey)
    return _told(session, survey, known) if known else None


def _told(session: Session, survey: Survey, known: Verdict) -> Result:
    concerned = [index for index, finding in enumerate(known.findings) if session.concerned(finding)]
    wanted = session.request.remedies
    findings = [(known.findings[index], known.fixes[index] if wanted else None) for index in concerned]
    digests = {path: survey.seen[path].digest for path in survey.relevant}
    texts = session.texts(survey, {path for finding, _ in findings for path in paths(finding)})
    corpus = Corpus(session.config.root, {}, digests=digests, sources=texts)
    quote(corpus, [finding for finding, _ in findings])
    return session.result(corpus, findings, crashes=tuple(session.missing()), warnings=tuple(session.warnings()))
