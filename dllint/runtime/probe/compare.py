"""Two reports of one target compared: what was fixed, what broke, what became cheaper."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.runtime.probe.report import Method, Report, Verdict

DATA = "items survive"


def render(before: Report, after: Report) -> str:
    """Line by line, a start method each; only what both reports know."""
    old = {method.name: method for method in before.methods}
    told = [line for method in after.methods if method.name in old for line in _method(old[method.name], method)]
    told += _speed(before, after)
    told += _data(after)
    return "".join(f"{line}\n" for line in ("before -> after", *(told or ["    the same in everything"])))


def _method(before: Method, after: Method) -> Iterator[str]:
    was = {answer.question: answer.verdict.value for answer in before.answers}
    now = {answer.question: answer.verdict.value for answer in after.answers}
    for question in {**was, **now}:
        old, new = was.get(question, "-"), now.get(question, "-")
        if old != new:
            yield f"    {after.name}: {question}: {old} -> {new}"
    if before.samples and after.samples:
        old_mb, new_mb = before.samples[-1].total, after.samples[-1].total
        items = f" after {before.samples[-1].items:,} and {after.samples[-1].items:,} items"
        yield f"    {after.name}: memory in all: {old_mb:,.0f} -> {new_mb:,.0f} MB ({_change(old_mb, new_mb)}){items}"
    if before.reading_ms and after.reading_ms:
        yield f"    {after.name}: ms per item: {before.reading_ms:.3f} -> {after.reading_ms:.3f}"


def _speed(before: Report, after: Report) -> Iterator[str]:
    old = {entry.workers: entry.batches_per_second for entry in before.speed}
    for entry in after.speed:
        if old.get(entry.workers) and before.speed_method == after.speed_method:
            was, now = old[entry.workers], entry.batches_per_second
            yield f"    batches per second, {entry.workers} workers: {was:,.1f} -> {now:,.1f} ({_change(was, now)})"


def _data(after: Report) -> Iterator[str]:
    """Which batches are others where workers are not forked, and the state that is another one there."""
    survive = {method.name: answer for method in after.methods for answer in method.answers if answer.question == DATA}
    if "fork" not in survive or survive["fork"].verdict is Verdict.FAILS:
        return
    for name, answer in survive.items():
        if answer.verdict is Verdict.FAILS:
            yield f"    data, fork and {name}: {answer.text}"
            yield from (f"        {part.path}: {part.what}" for part in answer.parts)


def _change(before: float, after: float) -> str:
    return f"{100 * (after - before) / before:+.0f} %" if before else "new"
