"""An explanation for people."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator

from dllint.engine.questions import Inspection
from dllint.report import Context
from dllint.report.paint import Paint
from dllint.report.summary import many
from dllint.report.text import full
from dllint.runtime.explain import Candidate, Explained, Explanation
from dllint.runtime.explain.places import plain

WIDTH = 110
OTHERS = 4
"""Candidates that are named after the first one."""
COMMANDS = {
    "doctor": "dllint doctor                      this machine: shared memory, limits, defaults",
    "probe": "dllint probe MODULE:ATTRIBUTE      runs your loader or dataset under each start method",
}


def render(explanation: Explanation, inspection: Inspection, context: Context, checks: Collection[str]) -> str:
    """Each message with what happened, where, and its cause. `checks` are the commands that this dllint has."""
    scene = explanation.scene.words()
    lines = [f"{many(explanation.lines, 'line')} read{f'; the log is from {scene}' if scene else ''}.", ""]
    for explained in explanation.explained:
        lines += [*_block(explained, inspection, context, checks), ""]
    if explanation.follows:
        lines.append(f"{context.paint('bold', 'Also in the log')}, and as a rule only what follows from the above:")
        lines += [f"  line {seen.line}{_times(seen.count)}: {seen.text[:WIDTH]}" for seen in explanation.follows]
        lines.append("")
    return "\n".join(lines)


def _block(explained: Explained, inspection: Inspection, context: Context, checks: Collection[str]) -> Iterator[str]:
    seen, candidates = explained
    paint = context.paint
    message = seen.message
    yield f"{paint('error', seen.text)}"
    yield paint("dim", f"  line {seen.line} of the log{_times(seen.count)}: {message.key}")
    yield from _paragraph("What happened", message.happened, paint)
    yield from _paragraph("Where it happens", message.where, paint)
    reported = [one for one in candidates if one.finding is not None]
    if reported:
        yield from _first(reported[0], inspection, context)
        yield from _others([one for one in candidates if one is not reported[0]], context)
        return
    if all(one.passed for one in candidates):
        yield _nothing(explained)
    for one in candidates:
        yield f"{paint('bold', 'Look at')} {_place(one, context)}: {'; '.join(one.reasons)}"
        yield from (f"    {line}" for line in one.told)
    yield from _paragraph("What to look at", message.look, paint)
    commands = [COMMANDS[check] for check in message.checks if check in checks]
    if commands:
        yield f"{paint('bold', 'What to run')}"
        yield from (f"  {command}" for command in commands)


def _nothing(explained: Explained) -> str:
    name = plain(explained.seen.name)
    if name:
        return (
            f"No `{name}` is defined in this project: a package made it, or the log is from another state of the code."
        )
    return "Nothing in this project was found that explains it."


def _first(candidate: Candidate, inspection: Inspection, context: Context) -> Iterator[str]:
    assert candidate.finding is not None
    sure = "The likeliest cause in this project" if candidate.reasons else "In this project, this can be the cause"
    yield context.paint("bold", sure)
    yield from (f"  {reason}" for reason in candidate.reasons)
    yield ""
    fix = inspection.fix(candidate.finding)
    yield full([(candidate.finding, fix)], context).rstrip("\n")


def _others(others: list[Candidate], context: Context) -> Iterator[str]:
    if others:
        yield f"{context.paint('bold', 'Other candidates')}"
    for one in others[:OTHERS]:
        said = f"{one.finding.code} {one.finding.message}" if one.finding else "; ".join(one.told)
        yield f"  {_place(one, context)}: {said}"
        yield from (f"    {reason}" for reason in one.reasons)
    if len(others) > OTHERS:
        yield f"  and {len(others) - OTHERS} more"


def _place(candidate: Candidate, context: Context) -> str:
    return context.place(candidate.path, candidate.span.start)


def _paragraph(title: str, text: str, paint: Paint) -> Iterator[str]:
    yield paint("bold", title)
    yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _times(count: int) -> str:
    return f", {count} times" if count > 1 else ""
