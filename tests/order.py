"""One project, asked in many orders: what it finds must not depend on any of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dllint import registry
from dllint.collect import collect
from dllint.finding import Finding
from dllint.model.facts import ModuleModel
from dllint.project import Project
from dllint.rule import Rule
from dllint.source import Source
from dllint.targets import Targets
from tests.rewritten import UNRELATED, commented, moved, renamed, without_lines

QUESTIONS = 300
"""Expressions that are asked about before the rules are."""


class Files:
    """The Python files of a folder that can be read, with their facts."""

    def __init__(self, folder: Path | None = None, texts: Mapping[str, str] | None = None) -> None:
        self.sources: dict[str, Source] = {}
        self.models: dict[str, ModuleModel] = {}
        for path in sorted(folder.rglob("*.py")) if folder is not None else ():
            if path.is_file():
                self._read(path.relative_to(folder).as_posix(), path.read_bytes())
        for name, text in (texts or {}).items():
            self._read(name, text.encode())

    def _read(self, name: str, data: bytes) -> None:
        try:
            source = Source.from_bytes(name, data)
            self.models[name] = collect(source)
            self.sources[name] = source
        except Exception:  # what does not parse is another test's business
            return

    @property
    def texts(self) -> dict[str, str]:
        return {name: source.text for name, source in self.sources.items()}

    def project(self, order: random.Random | None = None) -> Project:
        """A project of these files, which come in the order that is drawn."""
        names = list(self.models)
        if order is not None:
            order.shuffle(names)
        return Project({name: self.models[name] for name in names}, Targets(), self.sources.__getitem__)


def rules() -> list[type[Rule]]:
    """The rules that are on by default."""
    return [rule for rule in registry.rules() if rule.default]


def asked_first(project: Project, order: random.Random) -> None:
    """Asks for the values of expressions drawn from the whole project."""
    places = [
        (module, function, event.value)
        for module in project.index
        for function, klass, events in module.scopes
        if klass < 0
        for event in events
        if event.value is not None
    ]
    for module, function, expr in order.sample(places, min(QUESTIONS, len(places))):
        project.evaluator.values(expr, project.evaluator.generic(module, function))


def said(finding: Finding) -> str:
    """All that a finding says, as one line."""
    notes = " <- ".join(f"{note.text} ({note.path}:{note.span.start})" for note in finding.notes)
    return (
        f"{finding.path}:{finding.span.start} {finding.code} {finding.certainty.value} {finding.severity.value} "
        f"{finding.message} <- {notes}"
    )


def findings(project: Project, asked: Sequence[type[Rule]]) -> list[str]:
    """Everything that rules find, sorted."""
    return sorted(said(finding) for rule in asked for finding in rule().check(project))


def differences(files: Files, permutations: int, seed: int) -> Iterator[str]:
    """What differs between the files as they come and permutations of files, rules and questions."""
    every = rules()
    usual = findings(files.project(), every)
    for number in range(permutations):
        order = random.Random(f"{seed}-{number}")
        project = files.project(order)
        asked_first(project, order)
        yield from _changes(usual, findings(project, order.sample(every, len(every))), f"permutation {number}")


def told(project: Project, rows: Mapping[str, Sequence[int]], names: Mapping[str, str]) -> list[str]:
    """What is found, in words that survive a rewriting: old rows, old names, no line in a message."""
    found = []
    for rule in rules():
        for finding in rule().check(project):
            row = project.source(finding.path).location(finding.span.start)[0]
            row = rows[finding.path].index(row) if finding.path in rows else row
            words = [without_lines(text) for text in (finding.message, *(note.text for note in finding.notes))]
            line = f"{finding.path}:{row} {finding.code} {finding.certainty.value} {' <- '.join(words)}"
            found.append(re.sub(r"\b[Qq]z_?\w+", lambda match: names.get(match[0], match[0]), line))
    return sorted(found)


def rewritten(files: Files) -> Iterator[str]:
    """What differs once comments and blank lines, an unrelated file, other names or other names of files are there."""
    usual = told(files.project(), {}, {})
    with_comments = {name: commented(text) for name, text in files.texts.items()}
    other = Files(texts={name: text for name, (text, _) in with_comments.items()})
    rows = {name: rows for name, (_, rows) in with_comments.items()}
    yield from _changes(usual, told(other.project(), rows, {}), "with comments")
    more = Files(texts={**files.texts, "zz_ledger_of_nobody.py": UNRELATED})
    yield from _changes(usual, told(more.project(), {}, {}), "with an unrelated file")
    texts, old = renamed(files.texts)
    yield from _changes(usual, told(Files(texts=texts).project(), {}, old), "with other names")
    texts, old = moved(files.texts)
    yield from _changes(usual, told(Files(texts=texts).project(), {}, old), "with other names of files")


def _changes(usual: list[str], other: list[str], what: str) -> Iterator[str]:
    yield from (f"{what} loses {line}" for line in sorted(set(usual) - set(other)))
    yield from (f"{what} adds {line}" for line in sorted(set(other) - set(usual)))


def alone(files: Files) -> Mapping[str, list[str]]:
    """What each rule finds in a project that nobody has asked anything else."""
    return {rule.code: findings(files.project(), [rule]) for rule in rules()}
