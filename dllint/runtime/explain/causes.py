"""Messages joined with findings: what in the project a message is about, ranked, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.engine.questions import Inspection
from dllint.finding import Certainty, Finding, Severity
from dllint.project.escape.shipped import Held
from dllint.runtime.explain.kinds import handle_of, handles_for
from dllint.runtime.explain.places import InProject, Place, Places, plain
from dllint.runtime.explain.reading import Seen
from dllint.runtime.explain.scene import Scene
from dllint.source import Span

NAMED, KIND, MODULE, WITHIN, LINE, FUNCTION, FILE, CERTAIN, ERROR = 1000, 300, 200, 150, 100, 50, 10, 5, 2
HARMLESS = -100
"""What speaks for a cause, and how loudly. One voice outdoes all that come after it."""
NAMELESS = 5
"""Definitions of one name that are listed where no rule says anything of them."""


class Candidate(NamedTuple):
    """A place that can be the cause. Without a finding, only the message or the traceback is about it."""

    path: str
    span: Span
    finding: Finding | None
    weight: int
    reasons: tuple[str, ...]
    told: tuple[str, ...] = ()
    """If there is no finding: why the analysis reports nothing there."""
    passed: bool = False
    """Only the traceback leads here."""


class Causes:
    """Finds candidates in one inspected project."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.project = inspection.project
        self.places = Places(inspection.project)

    def of(self, seen: Seen, scene: Scene) -> list[Candidate]:
        """The candidates for one message, the likeliest first."""
        frames = self.places.frames(seen.frames)
        named = self.places.named(seen)
        if plain(seen.name):
            found = [*self._named(seen, scene, frames, named)]
        else:
            rules = seen.message.rules
            found = [self._judge(finding, seen, scene, frames, None)
                     for finding in self.inspection.findings if finding.code in rules]  # fmt: skip
            found = self._of_that_kind(seen, found)
        found.sort(key=lambda one: (-one.weight, one.path, one.span))
        return found or [*self._raised(frames)]

    def _named(self, seen: Seen, scene: Scene, frames: list[InProject], named: Iterable[Place]) -> Iterator[Candidate]:
        """The findings about what the message names; where there are none, the definitions themselves."""
        silent = []
        reported = False
        for place in named:
            about = [finding for finding in self.inspection.findings if _about(finding, place)]
            reported = reported or bool(about)
            yield from (self._judge(finding, seen, scene, frames, place) for finding in about)
            if not about:
                silent.append(self._definition(place, seen, frames))
        if not reported or plain(seen.name) != "<lambda>":
            silent.sort(key=lambda one: -one.weight)
            yield from silent[:NAMELESS]

    def _judge(
        self, finding: Finding, seen: Seen, scene: Scene, frames: list[InProject], place: Place | None
    ) -> Candidate:
        rules = seen.message.rules
        reasons: list[tuple[int, str]] = []
        if place is not None:
            reasons.append((NAMED, f"the message names this {place.what}"))
        kinds = handles_for(seen.message.key, seen.found.get("type", ""))
        if handle_of(finding.data) in kinds:
            reasons.append((KIND, f"the message is about such an object: {handle_of(finding.data)}"))
        reasons += self._module(finding.path, seen)
        reasons += self._within(finding, seen)
        spots = [(finding.path, finding.span), *((note.path, note.span) for note in finding.notes), *finding.anchors]
        reasons += self._passed(spots, frames)
        if finding.outcomes.get(scene.start_method) == "ok":
            reasons.append((HARMLESS, f"though it is harmless under {scene.start_method}, which the log shows"))
        weight = sum(weight for weight, _ in reasons)
        weight += CERTAIN * (finding.certainty is Certainty.CERTAIN) + ERROR * (finding.severity is Severity.ERROR)
        weight -= rules.index(finding.code) if finding.code in rules else len(rules)
        if id(finding) in self.inspection.silenced:
            reasons.append((0, "a comment silences it"))
        return Candidate(finding.path, finding.span, finding, weight, tuple(text for _, text in reasons))

    def _definition(self, place: Place, seen: Seen, frames: list[InProject]) -> Candidate:
        reasons = [(NAMED, f"the message names this {place.what}")]
        reasons += self._module(place.path, seen)
        reasons += self._passed([(place.path, place.span)], frames)
        row, _ = self.project.source(place.path).location(place.span.start)
        told = tuple(self.project.why(place.path, row))
        texts = tuple(text for _, text in reasons)
        return Candidate(place.path, place.span, None, sum(weight for weight, _ in reasons) - CERTAIN, texts, told)

    def _of_that_kind(self, seen: Seen, found: list[Candidate]) -> list[Candidate]:
        """Where some of the handles are of the kind that the message is about, those alone."""
        kinds = handles_for(seen.message.key, seen.found.get("type", ""))
        those = [one for one in found if one.finding is not None and handle_of(one.finding.data) in kinds]
        return those or found

    def _module(self, path: str, seen: Seen) -> Iterator[tuple[int, str]]:
        module = seen.found.get("module", "")
        if module and self.places.in_module(path, module, seen):
            yield MODULE, f"it is in the module that the message names, `{module}`"

    def _within(self, finding: Finding, seen: Seen) -> Iterator[tuple[int, str]]:
        """What Python 3.14 says of the objects around the culprit."""
        if isinstance(finding.data, Held):
            holder = finding.data.holder
            shared = [name for name in seen.within if name and name in (holder.name, holder.owner)]
            if shared:
                names = " and ".join(f"`{name}`" for name in dict.fromkeys(shared))
                yield WITHIN * len(set(shared)), f"the traceback says that it was found in {names}"

    def _passed(self, spots: list[tuple[str, Span]], frames: list[InProject]) -> Iterator[tuple[int, str]]:
        """How near the traceback comes to the cause, or to a step of its route."""
        nearest: tuple[int, str] = (0, "")
        for path, span in spots:
            row, _ = self.project.source(path).location(span.start)
            for own, frame in frames:
                if own != path:
                    continue
                if frame.line == row:
                    near = LINE, f"the traceback passes through {path}:{row}"
                elif frame.function not in ("", "<module>") and frame.function == self.places.enclosing(path, span):
                    near = FUNCTION, f"the traceback passes through `{frame.function}` in {path}"
                else:
                    near = FILE, f"the traceback passes through {path}"
                nearest = max(nearest, near, key=lambda item: item[0])
        if nearest[0]:
            yield nearest

    def _raised(self, frames: list[InProject]) -> Iterator[Candidate]:
        """No rule knows a cause: the innermost line of the project's own code."""
        reasons = ("the traceback's last line in the project",)
        for path, frame in frames[-1:]:
            source = self.project.source(path)
            if 0 < frame.line <= len(source.line_starts):
                yield Candidate(path, source.row_span(frame.line), None, 0, reasons, passed=True)


def _about(finding: Finding, place: Place) -> bool:
    """Whether a finding, or a step of its route, is a definition. A module's lambda is not what is made inside it."""
    spots = [(finding.path, finding.span), *((note.path, note.span) for note in finding.notes), *finding.anchors]
    if any(path == place.path and _same(span, place) for path, span in spots):
        return True
    held = finding.data.value if isinstance(finding.data, Held) else None
    facts = getattr(held, "facts", None)
    return finding.path == place.path and facts is not None and getattr(facts, "span", None) == place.whole


def _same(span: Span, place: Place) -> bool:
    return span in (place.span, place.whole) or (
        place.what != "class" and _inside(place.span, span) and _small(span, place)
    )


def _inside(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _small(span: Span, place: Place) -> bool:
    """An expression that has the definition in it and little else: `partial(lambda: 0)`, `[lambda x: x]`."""
    return span.end - span.start <= place.span.end - place.span.start + 40
