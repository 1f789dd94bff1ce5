"""Fixes: computed for findings, tried in memory, kept only when the project is better for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from dllint import noqa, registry
from dllint.config import Configs
from dllint.engine.corpus import Corpus
from dllint.engine.judge import Judge, Judgement
from dllint.engine.result import Applied
from dllint.finding import Finding, Severity
from dllint.fix import Applicability, Edit, Fix, Import, compatible, edited, fits, in_order
from dllint.reduce import told
from dllint.rule import Rule
from dllint.source import Source, Span
from dllint.style import style_of
from dllint.suppress import COMMENTS
from dllint.syntax.guard import NotParsed
from dllint.syntax.refused import unfaithful

if TYPE_CHECKING:
    from dllint.project import Project

UNCOVERED = {"DLL301": frozenset({"DLL308"})}
"""Codes to report only after a worse problem is fixed: other effects of an import that no longer starts workers."""
_WAITS = "what it would use is not defined yet"


class Outcome(msgspec.Struct, frozen=True):
    """What fixing came to."""

    corpus: Corpus
    applied: tuple[Applied, ...]
    refused: tuple[Finding, ...]
    """DLL904, where the findings now are."""
    projects: tuple[Project, ...] = ()
    """Those of the corpus, as far as they were asked."""
    converged: bool = True


class Remedies:
    """The fixes of findings, as far as the rules know one and the configuration of their file lets them."""

    def __init__(self, configs: Configs, unsafe: bool | None = None) -> None:
        """`unsafe`: whether unsafe fixes are wanted; None: as configured."""
        self._configs = configs
        self._unsafe = unsafe
        self.crashes: list[str] = []

    @cached_property
    def _rules(self) -> dict[str, Rule]:
        return {rule.code: rule() for rule in registry.rules()}

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        """The finding's fix with the trust it has here; None where no edit is known to be right."""
        if finding.code in COMMENTS:
            remedy = noqa.remedy(finding, project.source(finding.path))
            return msgspec.structs.replace(remedy, applicability=self._trust(finding, remedy.applicability))
        if finding.code not in self._rules:
            return None
        try:
            source = project.source(finding.path)
            source.width, source.quote = style_of(self._configs.root, finding.path)
            fix = self._rules[finding.code].fix(finding, project)
            if fix is None:
                return None
            reason = next((why for edit in fix.edits if (why := _impossible(edit, project))), "")
            if reason:
                return _by_hand(fix, reason)
            apart = len(fix.paths) > 1 and fix.alone is None  # what needs two files is for a person
            trust = Applicability.MANUAL if apart else self._trust(finding, fix.applicability)
            alone = msgspec.structs.replace(fix.alone, applicability=trust) if fix.alone else None
            return msgspec.structs.replace(fix, applicability=trust, alone=alone)
        except NotParsed:  # LibCST does not read the file, so it is reported on and not fixed
            return Fix(
                "Fix it yourself; dllint cannot read this file well enough to change it", (), Applicability.MANUAL
            )
        except Exception as error:
            place = f"{finding.path}:{project.source(finding.path).place(finding.span.start)}"
            self.crashes.append(f"internal error in the fix of {finding.code} at {place}: {told(error)}")
            return None

    def applied(self, finding: Finding, fix: Fix) -> bool:
        """Whether a finding's fix is one that may be applied."""
        unsafe = self._configs.of(finding.path).unsafe_fixes if self._unsafe is None else self._unsafe
        return fix.applicability >= (Applicability.UNSAFE if unsafe else Applicability.SAFE)

    def _trust(self, finding: Finding, own: Applicability) -> Applicability:
        config, info = self._configs.of(finding.path), registry.by_code()[finding.code]

        def covered(selectors: Iterable[str]) -> int:
            return max((registry.length(word) for word in selectors if registry.matches(word, info)), default=-1)

        if own is Applicability.MANUAL or covered(config.unfixable) >= covered(config.fixable):
            return Applicability.MANUAL
        if covered(config.unsafe) >= max(covered(config.safe), 0):
            return Applicability.UNSAFE
        return Applicability.SAFE if covered(config.safe) >= 0 else own


def _impossible(edit: Edit, project: Project) -> str:
    """Why an edit cannot be made; "" where it can."""
    source = project.source(edit.path)
    if not project.fixable(edit.path):
        return unfaithful(source)
    return "" if fits(source, edit) else "it would change several cells of the notebook, or IPython syntax"


def _by_hand(fix: Fix, why: str) -> Fix:
    return Fix(f"{fix.title}; {why}", (), Applicability.MANUAL, snippet=fix.snippet)


def written_out(fix: Fix, project: Project) -> Fix:
    """The fix with all that it comes to as edits, as a reader of a report needs it."""
    try:
        extra = [*_imports([fix], project), *_in_columns(fix.edits, project)]
    except ValueError:
        return msgspec.structs.replace(fix, edits=(), imports=(), applicability=Applicability.MANUAL)
    return msgspec.structs.replace(fix, edits=(*fix.edits, *extra), imports=(), alone=None)


class Fixer:
    """Applies fixes to the files in memory until nothing more can be fixed."""

    def __init__(self, judge: Judge, remedies: Remedies, targets: Collection[str]) -> None:
        self._judge = judge
        self._remedies = remedies
        self._targets = targets
        # A fix must not please the selected rules at the expense of the others.
        every = [rule.code for rule in registry.rules()]
        self._strict = Judge(judge.configs, lambda config: every, judge.heed)

    def run(self, corpus: Corpus) -> Outcome:
        """Fix what can be fixed in the target files."""
        applied: list[Applied] = []
        refused: list[Finding] = []
        projects: tuple[Project, ...] = ()
        judged = self._judge.judge(corpus, projects)
        # Each round fixes or refuses a finding, so that more rounds than these mean that two rules undo each other.
        for _ in range(2 * len(judged.findings) + 10):
            chosen = self._candidates(judged, refused)
            if not chosen:
                return Outcome(corpus, tuple(applied), tuple(refused), judged.projects)
            trial = _Trial(corpus, self._strict, judged.projects)
            trial.keep(chosen)
            edits = trial.edits()
            refused = [_moved(one, edits) for one in (*refused, *trial.refused)]
            corpus, projects = trial.result, trial.after
            applied += [Applied(finding.path, finding.code, fix.title) for finding, fix in trial.kept]
            judged = self._judge.judge(corpus, projects)
        left = self._candidates(judged, refused)
        return Outcome(corpus, tuple(applied), tuple(refused), projects, converged=not left)

    def _candidates(self, judged: Judgement, refused: Sequence[Finding]) -> list[tuple[Finding, Fix]]:
        """The fixes of one pass: applicable, in target files, compatible with each other."""
        done = {(one.path, one.span, one.data) for one in refused}
        pairs: dict[int, tuple[Finding, Fix]] = {}
        for finding in judged.findings:
            if (finding.path, finding.span, finding.code) in done:
                continue
            fix = self._remedies.fix(finding, judged.project(finding.path))
            if fix and fix.alone and not self._is_inside(fix):
                fix = fix.alone
            if fix and self._remedies.applied(finding, fix) and self._is_inside(fix):
                pairs[id(fix)] = finding, fix
        return [(pairs[id(fix)][0], left) for fix, left in compatible(fix for _, fix in pairs.values())]

    def _is_inside(self, fix: Fix) -> bool:
        """Whether a fix changes target files only."""
        return all(path in self._targets for path in fix.paths)


class _Tried(NamedTuple):
    corpus: Corpus
    projects: tuple[Project, ...]


class _Trial:
    """One pass over one corpus: as many of the chosen fixes as make it better, found by halving."""

    def __init__(self, corpus: Corpus, judge: Judge, projects: tuple[Project, ...]) -> None:
        self._corpus = corpus
        self._judge = judge
        self._projects = projects
        self._found = judge.judge(corpus, projects).findings
        self._before = _counts(self._found)
        self.result = corpus
        self.after = projects
        """The projects of the result."""
        self.kept: list[tuple[Finding, Fix]] = []
        self.refused: list[Finding] = []

    def keep(self, batch: Sequence[tuple[Finding, Fix]]) -> None:
        """Keep the batch if the project is better for it, else what can be kept of it."""
        together = [*self.kept, *batch]
        result = self._try(together)
        if isinstance(result, _Tried):
            self.result, self.after, self.kept = result.corpus, result.projects, together
        elif len(batch) > 1:
            middle = len(batch) // 2
            self.keep(batch[:middle])
            self.keep(batch[middle:])
        elif result is not _WAITS and not self.kept:
            self.refused.append(_refusal(batch[0][0], result))
        # Else it may be right once those that are kept are made: the next pass asks for it again.

    def edits(self) -> list[Edit]:
        """All edits of the fixes that are kept."""
        return self._edits(self.kept)

    def _edits(self, together: Iterable[tuple[Finding, Fix]]) -> list[Edit]:
        fixes = [fix for _, fix in together]
        edits = in_order([*(edit for fix in fixes for edit in fix.edits), *_imports(fixes, self._projects[0])])
        return [*edits, *_in_columns(edits, self._projects[0])]

    def _try(self, together: Sequence[tuple[Finding, Fix]]) -> _Tried | str:
        """The project after these fixes, or why they may not be made."""
        defined = {item for _, fix in together for item in fix.defined}
        if any(item not in defined for _, fix in together for item in fix.uses):
            return _WAITS
        sources: dict[str, Source] = {}
        try:
            for path, own in _by_path(self._edits(together)).items():
                source = self._corpus.source(path)
                sources[path] = edited(source, own)
                if sources[path].encode() == source.encode():
                    return "it changes nothing"
        except ValueError as error:  # overlapping edits, a name in use, a character that the encoding lacks
            return str(error)
        changed = self._corpus.changed(sources)
        for path in sources:
            if not changed.has(path):
                return f"the result does not parse: {changed.problem(path)}"
        judged = self._judge.judge(changed, self._projects)
        after = _counts(judged.findings) - self._told_instead(together, judged.findings)
        return self._worse(together, after) or _Tried(changed, judged.projects)

    def _told_instead(
        self, together: Sequence[tuple[Finding, Fix]], found: Sequence[Finding]
    ) -> Counter[tuple[str, str]]:
        """The findings about something else of a class: a rule may tell one of each class, and then the next one."""
        fixed = {(finding.code, finding.group) for finding, _ in together if finding.group}
        known = {one.key for one in self._found}
        return _counts([one for one in found if (one.code, one.group) in fixed and one.key not in known])

    def _worse(self, together: Sequence[tuple[Finding, Fix]], after: Counter[tuple[str, str]]) -> str:
        # Diagnostics about comments don't count: a comment that silenced something would show.
        gone = Counter((finding.code, finding.path) for finding, _ in together if finding.code not in COMMENTS)
        for (code, path), number in gone.items():
            if after[code, path] > self._before[code, path] - number:
                return f"{code} would still be reported in {path}"
        uncovered = {code for finding, _ in together for code in UNCOVERED.get(finding.code, ())}
        for code, path in after:
            if code not in uncovered and _total(after, code) > _total(self._before, code):
                return f"{code} would be reported in {path}"
        return ""


def _counts(findings: Iterable[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.code, finding.path) for finding in findings)


def _total(counts: Mapping[tuple[str, str], int], code: str) -> int:
    return sum(number for (other, _), number in counts.items() if other == code)


def _imports(fixes: Iterable[Fix], project: Project) -> list[Edit]:
    """The edits that add what the fixes import, once a file."""
    fixes = list(fixes)
    wanted: dict[str, list[Import]] = defaultdict(list)
    for item in (item for fix in fixes for item in fix.imports):
        if item not in wanted[item.path]:
            wanted[item.path].append(item)
    if not wanted:
        return []
    from dllint.syntax.write import place_imports

    changed = _by_path(edit for fix in fixes for edit in fix.edits)
    used = {path: min(edit.span.start for edit in own) for path, own in changed.items()}
    return [
        edit
        for path, items in wanted.items()
        for edit in place_imports(project.source(path), project.tree(path), items, used.get(path, 0))
    ]


def _in_columns(edits: Iterable[Edit], project: Project) -> list[Edit]:
    """The edits of the blanks before comments, whose lines other edits change."""
    from dllint.syntax.comment_columns import in_columns

    return [edit for path, own in _by_path(edits).items() for edit in in_columns(project.source(path), own)]


def _by_path(edits: Iterable[Edit]) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = defaultdict(list)
    for edit in edits:
        found[edit.path].append(edit)
    return found


def _refusal(finding: Finding, why: str) -> Finding:
    """DLL904 in place of a fix; `data` is the code of the finding that stays."""
    message = f"the fix of {finding.code} was not applied: {why}"
    return Finding("DLL904", finding.path, finding.span, message, Severity.INFO, key=finding.key, data=finding.code)


def _moved(finding: Finding, edits: Iterable[Edit]) -> Finding:
    """The finding where it is after the edits of its file."""
    own = {edit for edit in edits if edit.path == finding.path}
    by = sum(len(e.text) - (e.span.end - e.span.start) for e in own if e.span.end <= finding.span.start)
    span = Span(finding.span.start + by, finding.span.end + by)
    return msgspec.structs.replace(finding, span=span)
