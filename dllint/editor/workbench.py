"""One project while it is edited: files from disk, buffers in their place, and what the rules say of all of them."""

from __future__ import annotations

import ast
import time
from collections.abc import Collection, Iterable, Mapping

import msgspec

from dllint import files, noqa
from dllint.editor.moved import Moved
from dllint.engine.corpus import Changed, Corpus
from dllint.engine.fixing import Fixer, Remedies, written_out
from dllint.engine.judge import Judgement
from dllint.engine.result import paths
from dllint.engine.session import Request, Session
from dllint.engine.single import ATTEMPTS
from dllint.finding import Finding
from dllint.fix import Applicability, Edit, Fix
from dllint.garbage import uncollected
from dllint.reduce import Collected
from dllint.source import Source, Span

PAUSE_S = 1.0
"""How long the user must not type before a syntax error is reported: until then, it is a half-written line."""


class View(msgspec.Struct, frozen=True):
    """What is known of a project at one moment. Spans are those of the sources that `source` gives.

    `behind` are buffers whose facts are those of an earlier text: of one that could be parsed, or one that differs in
    blanks and comments only. `hidden` are the problems that are not told yet.
    """

    session: Session
    corpus: Corpus
    judged: Judgement
    findings: tuple[Finding, ...]
    behind: Mapping[str, Source]
    hidden: frozenset[str]
    crashes: tuple[str, ...]
    fixable: dict[str, bool]
    """Files that the client asked about, and whether `judged` has a safe fix for them."""

    def source(self, path: str) -> Source:
        """A file as it is in the editor or on disk."""
        return self.behind.get(path) or self.corpus.source(path)

    def fix(self, finding: Finding) -> Fix | None:
        """The finding's fix; none while the facts are behind the text."""
        if finding.path in self.behind or not self.corpus.has(finding.path):
            return None
        project = self.judged.project(finding.path)
        fix = self.session.remedies.fix(finding, project)
        return written_out(fix, project) if fix else None

    def is_fixable(self, path: str) -> bool:
        """Whether a finding of a file has a safe fix; editors ask with each move of the cursor."""
        if path in self.behind:
            return False
        if path not in self.fixable:
            fixes = (self.fix(finding) for finding in self.findings if finding.path == path)
            safe = (fix for fix in fixes if fix is not None and fix.applicability is Applicability.SAFE)
            self.fixable[path] = any(fix.edits for fix in safe)
        return self.fixable[path]

    def silencing(self, finding: Finding) -> list[Edit]:
        """The comment that silences a finding where it is. It is one that Ruff does not take for a mistake."""
        comments = self.corpus.suppressions.get(finding.path, ())
        try:
            return noqa.add(self.source(finding.path), comments, [(finding.span, finding.code)], own=True)
        except noqa.NotTokenized:
            return []

    def fixed(self, path: str) -> Source:
        """A file after all of its safe fixes."""
        if path in self.behind or not self.corpus.has(path):
            return self.source(path)
        remedies = Remedies(self.session.configs, unsafe=False)
        return Fixer(self.session.judge, remedies, {path}).run(self.corpus).corpus.source(path)


class Workbench:
    """Keeps a project's session and judges it again when something changed."""

    def __init__(self, request: Request) -> None:
        """Raises ConfigError, UnknownRule and RegistryError."""
        self.session = Session(request)
        self._good: dict[str, tuple[Source, Collected]] = {}
        """Of each buffer the last text that was parsed, and its facts."""
        self._typed: dict[str, float] = {}
        """When each buffer was changed last."""
        self._stale: set[str] | None = None
        self._last: tuple[Corpus, Judgement] | None = None
        self._fixable: dict[str, bool] = {}

    @property
    def root(self) -> str:
        """The folder that holds the project."""
        return self.session.config.root

    def put(self, path: str, data: bytes | None) -> None:
        """A buffer in place of a file; None: the file itself again."""
        new = path not in self.session.overlay
        if data is None:
            self.session.overlay.pop(path, None)
            self._good.pop(path, None)
            self._typed.pop(path, None)
        else:
            self._typed[path] = time.monotonic() if not new else 0.0
            self.session.overlay[path] = data
        self.touch([path])
        if data is None or (new and path not in self.session.selection.files):
            self._walk()

    def saved(self, path: str) -> None:
        """Nobody is typing there any more."""
        self._typed[path] = 0.0

    def touch(self, paths: Iterable[str]) -> None:
        """Files may have changed."""
        if self._stale is not None:
            self._stale |= set(paths)

    def refresh(self) -> bool:
        """Files may have come, gone or changed, all of them; False where the configuration has."""
        self._stale = None
        return self._walk()

    def _walk(self) -> bool:
        """The project's files and unsaved new buffers, but no excluded ones. False: the configuration changed."""
        if not self.session.walk():
            return False
        known = self.session.selection
        new = {
            path
            for path in self.session.overlay.keys() - set(known.files)
            if files.select(self.session.configs, (), self.session.absolute(path), force=True).named
        }
        self.session.selection = msgspec.structs.replace(
            known, files=tuple(sorted({*known.files, *new})), targets=known.targets | new
        )
        return True

    def view(self, exact: bool = False) -> View:
        """What is known now. Unless it is to be exact, changes that mean nothing are not judged."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self._view(exact)
            except Changed as error:  # a file on disk, since it was looked at
                self.touch(error.args)
        return self._view(exact)

    def _view(self, exact: bool) -> View:
        stale, self._stale = self._stale, set()
        with uncollected():
            corpus = self.session.corpus(stale)
            former = {path: good for path in self.session.overlay if (good := self._former(corpus, path, exact))}
            judged = self._judged(corpus.with_former(former) if former else corpus)
        view = self._shown(corpus, judged, former)
        for path in {path for finding in view.findings for path in paths(finding)}:
            view.source(path)  # while the file is what it was
        return view

    def _former(self, corpus: Corpus, path: str, exact: bool) -> tuple[Source, Collected] | None:
        """The facts that a buffer had, where it has no own ones now or needs no other ones."""
        item, good = corpus.collected(path), self._good.get(path)
        if item is None or item is (good and good[1]):
            return None
        source = corpus.source(path)
        if item.model is None or item.problem is not None:
            return good
        if good is not None and not exact and _meaning(*good) == _meaning(source, item):
            return good
        self._good[path] = source, item
        return None

    def _judged(self, corpus: Corpus) -> Judgement:
        """What the rules say; what they said, where no facts are others than the last time."""
        if self._last is not None:
            models, before = corpus.models, self._last[0].models
            same = models.keys() == before.keys() and all(models[path] is before[path] for path in models)
            known = self._last[0].lists
            listed = known is None or known.same(known.asked)
            if same and listed and corpus.containers == self._last[0].containers:
                return self._last[1]
        judged = self.session.judge.judge(corpus, self._last[1].projects if self._last is not None else ())
        self._last, self._fixable = (corpus, judged), {}
        return judged

    def _shown(self, corpus: Corpus, judged: Judgement, former: Mapping[str, tuple[Source, Collected]]) -> View:
        """The findings with the syntax errors, those of former facts where they are in the buffers now."""
        assert self._last is not None
        behind = {path: corpus.source(path) for path in former}
        moved = {path: Moved(source.text, behind[path].text) for path, (source, _) in former.items()}
        now = time.monotonic()
        young = {path for path in former if now - self._typed.get(path, 0.0) < PAUSE_S}
        findings = self.session.shown(corpus, judged)
        return View(
            session=self.session,
            corpus=self._last[0],
            judged=judged,
            findings=tuple(_where_now(item, moved) for item in findings if not _hides(item, young)),
            behind=behind,
            hidden=frozenset(young),
            crashes=(*corpus.crashes, *judged.crashes),
            fixable=self._fixable,
        )


def _hides(finding: Finding, young: Collection[str]) -> bool:
    return finding.code == "DLL900" and finding.path in young


def _where_now(finding: Finding, moved: Mapping[str, Moved]) -> Finding:
    """A finding with its spans in the texts as they are now; a syntax error is about these anyway."""
    if finding.code in ("DLL900", "DLL903") or not moved:
        return finding

    def now(path: str, span: Span) -> Span:
        return moved[path].span(span) if path in moved else span

    return msgspec.structs.replace(
        finding,
        span=now(finding.path, finding.span),
        notes=tuple(msgspec.structs.replace(note, span=now(note.path, note.span)) for note in finding.notes),
        anchors=tuple((path, now(path, span)) for path, span in finding.anchors),
    )


def _meaning(source: Source, item: Collected) -> tuple[str, list[tuple[str, ...]]]:
    """What a text says, whatever its blanks and comments, and what its ignore comments say."""
    comments = [entry.codes for entry in item.model.suppressions] if item.model else []
    try:
        return ast.dump(ast.parse(source.text)), comments
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source.text, comments
