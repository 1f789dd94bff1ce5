"""From an error message to the line that causes it: a log read, its messages recognized, joined with the findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dllint.engine.questions import Inspection
from dllint.runtime.explain.causes import Candidate, Causes
from dllint.runtime.explain.message import Role
from dllint.runtime.explain.reading import Reading, Seen
from dllint.runtime.explain.scene import Scene

__all__ = ["Candidate", "Explained", "Explanation", "explain"]


class Explained(NamedTuple):
    """One message with what can have caused it in the project, the likeliest first."""

    seen: Seen
    candidates: tuple[Candidate, ...]


class Explanation(NamedTuple):
    """What a log means. `follows` are messages that only say that something went wrong, where others say what."""

    explained: tuple[Explained, ...]
    follows: tuple[Seen, ...]
    scene: Scene
    lines: int


def explain(reading: Reading, inspection: Inspection) -> Explanation:
    """Join what a log says with what the analysis knows of the project."""
    told, follows = _told(reading.seen)
    causes = Causes(inspection)
    explained = tuple(Explained(seen, tuple(causes.of(seen, reading.scene))) for seen in told)
    return Explanation(explained, follows, reading.scene, reading.lines)


def _told(seen: Sequence[Seen]) -> tuple[tuple[Seen, ...], tuple[Seen, ...]]:
    """The messages that say most, and those that follow from them."""
    strongest = next((role for role in Role if any(one.message.role is role for one in seen)), None)
    told = tuple(one for one in seen if one.message.role is strongest)
    return told, tuple(one for one in seen if one.message.role is not strongest)
