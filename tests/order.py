"""One project, asked in many orders: what it finds must not depend on any of them."""

from __future__ import annotations

import random
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

QUESTIONS = 300
"""Expressions that are asked about before the rules are."""


class Files:
    """The Python files of a folder that can be read, with their facts."""

    def __init__(self, folder: Path) -> None:
        self.sources: dict[str, Source] = {}
        self.models: dict[str, ModuleModel] = {}
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder).as_posix()
            try:
                self.sources[name] = Source.from_bytes(name, path.read_bytes())
                self.models[name] = collect(self.sources[name])
            except Exception:  # what does not parse is another test's business
                self.sources.pop(name, None)

    def project(self, order: random.Random | None = None) -> Project:
        """A project of these files, its modules in the order that is drawn."""
        project = Project(self.models, Targets(), self.sources.__getitem__)
        if order is not None:
            modules = list(project.index.modules.items())
            order.shuffle(modules)
            project.index.modules = dict(modules)
        return project


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
    """What differs between the files as they come and permutations of modules, rules and questions."""
    every = rules()
    usual = findings(files.project(), every)
    for number in range(permutations):
        order = random.Random(f"{seed}-{number}")
        project = files.project(order)
        asked = order.sample(every, len(every))
        asked_first(project, order)
        yield from _changes(usual, findings(project, asked), f"permutation {number} of seed {seed}")


def _changes(usual: list[str], other: list[str], what: str) -> Iterator[str]:
    yield from (f"{what} loses {line}" for line in sorted(set(usual) - set(other)))
    yield from (f"{what} adds {line}" for line in sorted(set(other) - set(usual)))


def alone(files: Files) -> Mapping[str, list[str]]:
    """What each rule finds in a project that nobody has asked anything else."""
    return {rule.code: findings(files.project(), [rule]) for rule in rules()}
