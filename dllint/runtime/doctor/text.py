"""What the doctor found, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

from dllint.report.paint import Paint
from dllint.runtime.doctor.fact import Fact, Verdict, Workload

WIDTH = 110
_STYLES = {
    Verdict.OK: "green",
    Verdict.NOTE: "info",
    Verdict.WARNING: "warning",
    Verdict.FAILS: "error",
}


def render(facts: Sequence[Fact], workload: Workload, assumed: bool, paint: Paint) -> str:
    """One line a fact with its verdict before it, and what to do below it."""
    lines = []
    for fact in facts:
        label = fact.verdict.value
        first, *rest = textwrap.wrap(fact.fact, WIDTH - 9, break_long_words=False, break_on_hyphens=False)
        lines.append(f"{paint(_STYLES[fact.verdict], label)}{' ' * (9 - len(label))}{first}")
        lines += [f"{' ' * 9}{line}" for line in rest]
        if fact.remedy:
            lines += textwrap.wrap(f"-> {fact.remedy}", WIDTH, initial_indent=" " * 9, subsequent_indent=" " * 12)
    if assumed:
        lines.append(
            f"Assumed: batches of {workload.batch_mb:g} MB (32 images of 224 x 224 in float32); "
            "set --batch-mb, --workers, --prefetch, --tensors."
        )
    lines.append(paint("bold", _sum(facts)))
    return "\n".join(lines) + "\n"


def _sum(facts: Sequence[Fact]) -> str:
    failing = sum(fact.verdict is Verdict.FAILS for fact in facts)
    warned = sum(fact.verdict is Verdict.WARNING for fact in facts)
    if not failing and not warned:
        return "No problem found that will stop the workers."
    return f"{failing} will fail, {warned} to look at."


def document(facts: Sequence[Fact], workload: Workload) -> str:
    """The same as JSON."""
    shown = {
        "workload": {**workload._asdict(), "batches": workload.batches, "shared_mb": workload.shared_mb},
        "facts": [{**fact._asdict(), "verdict": fact.verdict.value} for fact in facts],
        "fails": any(fact.verdict is Verdict.FAILS for fact in facts),
    }
    return json.dumps(shown, indent=2) + "\n"
