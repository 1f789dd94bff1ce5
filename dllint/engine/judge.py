"""Rules to findings: every selected rule asked, one finding a cause, ignore comments heard."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from dllint import registry
from dllint.config import Config, Configs, Pattern
from dllint.engine.broken import doubted
from dllint.engine.corpus import Corpus
from dllint.engine.progress import gave_up, left_unasked, track
from dllint.files import Globs, posix
from dllint.finding import Certainty, Finding, Severity
from dllint.keys import Words
from dllint.reduce import told
from dllint.rule import Rule
from dllint.source import Source, Span, is_settings
from dllint.suppress import COMMENTS, Suppressions
from dllint.targets import Targets

if TYPE_CHECKING:
    from dllint.project import Project

PRECEDENCE = ("DLL103", "DLL107", "DLL101", "DLL104", "DLL105", "DLL202")
"""Where several rules mean the same place, equally sure and near: the one that names the failure most exactly."""


class Judgement(msgspec.Struct, frozen=True):
    """What the rules say of a corpus."""

    projects: tuple[Project, ...]
    """The project as each of the targets sees it."""
    findings: tuple[Finding, ...]
    """Of the whole project, those that comments silence left out."""
    silenced: tuple[Finding, ...]
    withheld: tuple[Finding, ...]
    """Of severity `info`, by rules that no selector names."""
    crashes: tuple[str, ...]
    suppressions: Suppressions
    source: Callable[[str], Source]
    """The texts that the findings' spans are of."""
    _seen_as: Callable[[str], int]

    def project(self, path: str) -> Project:
        """The project as the targets of a file see it."""
        return self.projects[self._seen_as(path)]


class _Aim(NamedTuple):
    """Targets, and the rules of all configurations that have them."""

    targets: Targets
    codes: frozenset[str]


class Judge:
    """The rules of a run. `codes` says which of them a configuration selects, `heed` whether comments silence.

    `in_full` says which of them report what is only `info`, too; None means all.
    """

    def __init__(
        self,
        configs: Configs,
        codes: Callable[[Config], Collection[str]],
        heed: bool = True,
        in_full: Callable[[Config], Collection[str]] | None = None,
    ) -> None:
        self.configs = configs
        self.heed = heed
        self._codes = {id(config): frozenset(codes(config)) for config in configs.all}
        self._in_full = {id(config): frozenset((in_full or codes)(config)) for config in configs.all}
        self._ignores = {id(config): _ignores(config) for config in configs.all}
        self._aims: list[_Aim] = []
        self._aim: dict[int, int] = {}
        self._sort_by_targets()

    def _sort_by_targets(self) -> None:
        """Rules are asked once for all configurations that aim at the same."""
        places: dict[object, int] = {}
        for config in self.configs.all:
            targets, codes = self.configs.targets(config), self._codes[id(config)]
            place = places.setdefault(targets.meant if len(self._codes) > 1 else None, len(places))
            if place == len(self._aims):
                self._aims.append(_Aim(targets, codes))
            else:
                self._aims[place] = _Aim(self._aims[place].targets, self._aims[place].codes | codes)
            self._aim[id(config)] = place

    def codes(self, path: str) -> frozenset[str]:
        """The rules that the configuration of a file selects."""
        return self._codes[id(self.configs.of(path))]

    def judge(self, corpus: Corpus, known: Sequence[Project] = ()) -> Judgement:
        """Ask every rule about the whole project: a `known` one, if it is that of this corpus, with all that it knows.

        If it is that of a former one, what it knows of unchanged files is of use still.
        """
        from dllint.project import Project  # a run that remembers its verdict does without

        found: list[Finding] = []
        crashes: list[str] = []
        projects: list[Project] = []
        for number, aim in enumerate(self._aims):
            project = known[number] if number < len(known) else None
            if project is None or project.models is not corpus.models:
                own = corpus.source, corpus.containers, project, corpus.lists
                project = Project(corpus.models, aim.targets, *own, others=projects)
            projects.append(project)
            asked = [rule for rule in registry.rules() if rule.code in aim.codes] if corpus.models else []
            for rule in track("asking rules", asked, lambda rule: rule.code):
                said = (one for one in _ask(rule(), project, crashes) if self._seen_as(one.path) == number)
                found += (one for one in said if rule.containers or not is_settings(one.path))
        evaluators = {id(project.evaluator): project.evaluator for project in projects}
        gave_up(sum(evaluator.fixpoint.given_up for evaluator in evaluators.values()))
        left_unasked(corpus.lists.left if corpus.lists is not None else 0)
        kept = self.heard(corpus.root, doubted(found, projects[0], corpus))
        suppressions = Suppressions(corpus.suppressions if self.heed else {}, corpus.source)
        silent = {id(finding) for finding in kept if suppressions.silences(finding)}
        silenced = tuple(finding for finding in kept if id(finding) in silent)
        withheld = tuple(finding for finding in kept if id(finding) not in silent and self._withholds(finding))
        aside = {id(finding) for finding in withheld}
        rivals = (finding for finding in kept if id(finding) not in aside)
        heard = (finding for finding in _one_a_cause(rivals) if id(finding) not in silent)
        wanted = any(codes & COMMENTS for codes in self._codes.values())
        comments = self.heard(corpus.root, suppressions.told(self.codes)) if wanted else []
        findings, crashes = (*_merged(heard), *comments), list(dict.fromkeys(crashes))
        told = findings, silenced, withheld, tuple(crashes), suppressions
        return Judgement(tuple(projects), *told, corpus.source, self._seen_as)

    def _withholds(self, finding: Finding) -> bool:
        """Whether it matters too little to be reported unasked."""
        return (
            finding.severity is Severity.INFO and finding.code not in self._in_full[id(self.configs.of(finding.path))]
        )

    def _seen_as(self, path: str) -> int:
        """Which of the projects is a file's."""
        return self._aim[id(self.configs.of(path))] if len(self._aims) > 1 else 0

    def _ignored(self, root: str, finding: Finding) -> bool:
        """Whether per-file-ignores cover the finding's own file; a pattern with `!` means all other files."""
        place = posix(os.path.join(root, finding.path))
        info = registry.by_code()[finding.code]
        return any(
            globs.match(place) != negated and any(registry.matches(word, info) for word in words)
            for negated, globs, words in self._ignores[id(self.configs.of(finding.path))]
        )

    def heard(self, root: str, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that are selected and not ignored for their file."""
        return [found for found in findings if found.code in self.codes(found.path) and not self._ignored(root, found)]


def _ignores(config: Config) -> list[tuple[bool, Globs, Words]]:
    return [
        (pattern.glob.startswith("!"), Globs([Pattern(pattern.base, pattern.glob.lstrip("!"))]), words)
        for pattern, words in config.per_file_ignores
    ]


def _ask(rule: Rule, project: Project, crashes: list[str]) -> Iterator[Finding]:
    """A crash in one rule is reported and hides nothing else."""
    try:
        yield from rule.check(project)
    except Exception as error:
        crashes.append(f"internal error in {rule.code} ({rule.name}){_place(error.__traceback__)}: {told(error)}")


def _place(trace: TracebackType | None) -> str:
    """The checked file that was looked at when a rule crashed, as far as its frames tell."""
    from dllint.model.facts import ModuleModel

    frames = []
    while trace:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        for value in frame.f_locals.values():
            if isinstance(value, ModuleModel | Finding | Source):
                return f" at {value.path}"
    return ""


def _sureness(finding: Finding) -> tuple[int, int, int, int, str]:
    """Sorts the most certain and worst failure first, and of equals the one with the shortest way to the workers."""
    rank = PRECEDENCE.index(finding.code) if finding.code in PRECEDENCE else len(PRECEDENCE)
    certainty, severity = list(Certainty).index(finding.certainty), list(Severity).index(finding.severity)
    return certainty, severity, len(finding.notes), rank, finding.code


def _one_a_cause(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Where several rules report one and the same place, the surest of them."""
    by_place: dict[tuple[str, Span], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_place[finding.path, finding.span].append(finding)
    for rivals in by_place.values():
        code = min(rivals, key=_sureness).code
        yield from (finding for finding in rivals if finding.code == code)


def _merged(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One finding a cause and rule, by its surest route, with the anchors of all."""
    by_cause: dict[tuple[str, str, Span], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_cause[finding.code, finding.path, finding.span].append(finding)
    for same in by_cause.values():
        first, *others = sorted(same, key=_sureness)
        if others:
            anchors = dict.fromkeys(anchor for finding in same for anchor in finding.anchors)
            first = msgspec.structs.replace(first, anchors=tuple(anchors))
        yield first
