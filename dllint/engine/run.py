"""A run whose verdict is not known: read, fix, ask all rules, write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dllint import files, ruff
from dllint.engine.corpus import Corpus
from dllint.engine.fixing import Fixer, Outcome, written_out
from dllint.engine.judge import Judgement
from dllint.engine.reader import Survey
from dllint.engine.result import Change, Result, quote
from dllint.engine.session import Session
from dllint.engine.silencing import Silenced, gone, silence
from dllint.engine.verdict import Verdict
from dllint.engine.write import Interrupted, NotWritten, tidy, write
from dllint.finding import Finding
from dllint.fix import Fix


class Distrusted(Exception):
    """A rule crashed over facts that an earlier run left: ask again without the cache.

    Whoever can write the cache can write facts that make no sense; they must not be what a run fails of.
    """


def run(session: Session, survey: Survey) -> Result:
    """The pipeline over these files. Raises Changed and Distrusted."""
    request = session.request
    corpus = first = session.read(survey)
    outcome = Outcome(corpus, (), ())
    if request.fix:
        outcome = Fixer(session.judge, session.remedies, session.selection.targets).run(corpus)
        corpus = outcome.corpus
    judged = session.judge.judge(corpus, outcome.projects)
    before, silenced = judged, Silenced(corpus, judged)
    if request.add_noqa is not None:
        silenced = silence(corpus, judged, session.judge, session.selection.targets, request.add_noqa)
        corpus, judged = silenced.corpus, silenced.judged
    if judged.crashes and corpus.remembered and not request.fix:
        raise Distrusted
    found = session.found(corpus, judged)
    quote(corpus, [*found, *session.judge.heard(corpus.root, outcome.refused)])  # before it is on disk
    changes = tuple(_changes(first, corpus))
    unwritten: dict[str, str] = {}
    if request.stdin is None and request.write:
        unwritten = _write_all(corpus.root, changes)
        if request.fix:
            tidy(corpus.root, session.selection.targets)
    if unwritten:  # report what is on disk now
        corpus = corpus.changed({path: first.source(path) for path in unwritten})
        judged = session.judge.judge(corpus, judged.projects)
        found = session.found(corpus, judged)
        silenced = silenced._replace(gone=gone(before, judged) if request.add_noqa is not None else {})
    refused = [one for one in session.judge.heard(corpus.root, outcome.refused) if one.path not in unwritten]
    findings = [*filter(session.concerned, found), *refused]
    quote(corpus, findings)
    stuck = [] if outcome.converged else ["more fixes are possible; run again"]
    fixes = dict(_fixes(session, findings, judged)) if request.remedies else {}
    as_read = {path: survey.seen[path].digest for path in survey.relevant | survey.aside} == corpus.digests
    if as_read and not (request.fix or silenced.gone or corpus.crashes or judged.crashes or session.remedies.crashes):
        known = {index: fixes[id(finding)] for index, finding in enumerate(found) if id(finding) in fixes}
        session.remember(survey, Verdict(tuple(found), known, corpus.lists.asked if corpus.lists else files.Answers()))
    return session.result(
        corpus,
        [(finding, fixes.get(id(finding))) for finding in findings],
        changes=tuple(change for change in changes if change.before.path not in unwritten),
        applied=tuple(item for item in outcome.applied if item.path not in unwritten),
        silenced=silenced.gone,
        crashes=(
            *session.missing(),
            *corpus.crashes,
            *judged.crashes,
            *dict.fromkeys(session.remedies.crashes),
            *silenced.problems,
            *unwritten.values(),
        ),
        warnings=(*session.warnings(), *stuck, *_unwanted(corpus.root, silenced)),
    )


def _unwanted(root: str, silenced: Silenced) -> Iterable[str]:
    """Whether Ruff will delete the comments that were written."""
    file = ruff.deletes_comments(root) if silenced.gone else ""
    if file:
        yield f'{file}: Ruff takes `noqa: DLL...` for a mistake and deletes it (RUF100); add `lint.external = ["DLL"]`'


def _fixes(session: Session, findings: Iterable[Finding], judged: Judgement) -> Iterable[tuple[int, Fix | None]]:
    """The fixes by the identities of their findings."""
    for finding in findings:
        project = judged.project(finding.path)
        fix = session.remedies.fix(finding, project)
        yield id(finding), written_out(fix, project) if fix else None


def _changes(before: Corpus, after: Corpus) -> Iterable[Change]:
    for path in sorted(after.edited):
        old, new = before.source(path), after.source(path)
        if old.text != new.text:
            yield Change(old, new)


def _write_all(root: str, changes: Sequence[Change]) -> dict[str, str]:
    """Writes what changed; the files that could not be, with the reason."""
    unwritten: dict[str, str] = {}
    written: list[str] = []
    for change in changes:
        before, after = change.before, change.after
        try:
            write(root, before.path, before.encode(), after.encode())
            written.append(before.path)
        except NotWritten as error:
            unwritten[before.path] = f"{before.path}: not written: {error}"
        except KeyboardInterrupt:
            told = f": {', '.join(written)}" if written else ""
            raise Interrupted(f"{len(written)} of {len(changes)} files were written{told}") from None
    return unwritten
