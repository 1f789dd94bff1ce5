"""A report for people: a table by start methods, then what failed and why, then figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from dllint.report import shown
from dllint.runtime.probe.messages import Part
from dllint.runtime.probe.report import Answer, Method, Report, Verdict

Paint = Callable[[str, str], str]
_WORDS = {Verdict.OK: "ok", Verdict.FAILS: "FAILS", Verdict.WARNS: "warns", Verdict.UNKNOWN: "-"}
_STYLES = {Verdict.OK: "green", Verdict.FAILS: "error", Verdict.WARNS: "warning", Verdict.UNKNOWN: "dim"}
WIDTH = 118


def render(report: Report, paint: Paint) -> str:
    """Everything but the plot."""
    blocks = [_head(report), _table(report, paint), *_details(report, paint), _figures(report), _speed(report)]
    if report.checked is not None:
        blocks.append(_checked(report, paint))
    return "\n".join("\n".join(block) + "\n" for block in map(list, blocks) if block)


def harmless(report: Report) -> Report:
    """A report in which all that comes from the probed program is text to terminals and logs, and no command."""
    return msgspec.convert(_harmless(msgspec.to_builtins(report)), Report)


def _harmless(value: object) -> object:
    if isinstance(value, str):
        return "\n".join(map(shown, value.split("\n")))
    if isinstance(value, dict):
        return {_harmless(key): _harmless(item) for key, item in value.items()}
    return [*map(_harmless, value)] if isinstance(value, list | tuple) else value


def _head(report: Report) -> Iterator[str]:
    loaded = report.loaded
    if loaded is None:
        yield f"{report.target}: could not be loaded"
        return
    items = "of unknown length" if loaded.items is None else f"with {loaded.items:,} items"
    batches = f"batches of {loaded.batch_size}" if loaded.batch_size else "batches of its own"
    loader = loaded.loader.rpartition(".")[2]
    yield f"{report.target}: {loader} over {loaded.dataset} {items}; {loaded.workers} workers, {batches}"
    yield f"Python {loaded.python}, torch {loaded.torch}, {report.platform}"


def _table(report: Report, paint: Paint) -> Iterator[str]:
    questions = dict.fromkeys(answer.question for method in report.methods for answer in method.answers)
    names = [method.name + ("" if method.used else " (not used)") for method in report.methods]
    width = max(map(len, questions), default=0)
    rows = {question: [_cell(method, question) for method in report.methods] for question in questions}
    broad = max(len(word) for word in (*names, *(word for cells in rows.values() for _, word in cells)))
    yield " " * width + "  " + "  ".join(name.ljust(broad) for name in names).rstrip()
    for question, cells in rows.items():
        painted = [paint(style, word) + " " * (broad - len(word)) for style, word in cells]
        yield f"{question.ljust(width)}  {'  '.join(painted)}".rstrip()


def _cell(method: Method, question: str) -> tuple[str, str]:
    answer = next((answer for answer in method.answers if answer.question == question), None)
    if answer is None:
        return "dim", ""
    word = _WORDS[answer.verdict]
    rules = dict.fromkeys([answer.rule, *(part.rule for part in answer.parts)])
    codes = [rule for rule in rules if rule] if answer.verdict in (Verdict.FAILS, Verdict.WARNS) else []
    more = ", ..." if len(codes) > 2 else ""
    return _STYLES[answer.verdict], f"{word} {', '.join(codes[:2])}{more}".strip()


def _details(report: Report, paint: Paint) -> Iterator[list[str]]:
    """What failed and what is worth a warning, the same under several methods said once."""
    told: dict[Answer, list[str]] = {}
    for method in report.methods:
        for answer in method.answers:
            if answer.verdict in (Verdict.FAILS, Verdict.WARNS):
                told.setdefault(answer, []).append(method.name)
    for answer, methods in told.items():
        style = _STYLES[answer.verdict]
        rule = f"  ({answer.rule})" if answer.rule and not answer.parts else ""
        lines = [f"{paint(style, answer.question)} under {', '.join(methods)}: {answer.text}{rule}"]
        lines += [f"    at {place}" for place in answer.places[:3] if str(place) not in answer.text]
        lines += _parts(answer.parts)
        yield lines
    for method in report.methods:
        if _is_dark(method):
            yield [f"the end of what was printed under {method.name}:", *_end(method.output)]


def _is_dark(method: Method) -> bool:
    """Whether what was printed is all that is known."""
    unexplained = (answer for answer in method.answers if answer.verdict is Verdict.FAILS and not answer.rule)
    return bool(method.output.strip()) and any(" exited " in answer.text for answer in unexplained)


def _end(output: str) -> Iterator[str]:
    for line in output.rstrip().splitlines()[-6:]:
        yield f"    {''.join(c if c.isprintable() else ' ' for c in line)[:WIDTH]}"


def _parts(parts: Sequence[Part]) -> Iterator[str]:
    rows = [(part.path, part.what, ", ".join(map(str, part.places[:2])), part.rule) for part in parts]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    for row, part in zip(rows, parts, strict=True):
        size = f"  {part.objects:,} objects, {part.bytes / 1e6:,.0f} MB" if part.objects else ""
        cells = "  ".join(cell.ljust(min(width, 60)) for cell, width in zip(row, widths, strict=True))
        yield f"    {cells.rstrip()}{size}"
        if part.error and (part.rule == "" or part.rule == "DLL106"):
            yield f"        {part.error}"


def _figures(report: Report) -> Iterator[str]:
    """Times and memory, a column each start method."""
    methods = [method for method in report.methods if method.items]
    if not methods:
        return
    rows: list[tuple[str, list[str]]] = [
        ("items read", [f"{method.items:,} in {method.seconds:.1f} s" for method in methods]),
        ("ms per item, in a worker", [_ms(method) for method in methods]),
        ("memory in all, MB (PSS)", [_span([sample.total for sample in m.samples]) for m in methods]),
        ("each worker, MB (USS)", [_span([_mean(sample.private) for sample in m.samples]) for m in methods]),
        ("growth a worker, MB per 1,000 items", [_known(method.growth(), "{:+,.2f}") for method in methods]),
        ("descriptors for a batch that is kept", [_known(method.descriptors, "{:,.0f}") for method in methods]),
        ("shared memory for it, MB", [_known(method.shared_mb, "{:,.2f}") for method in methods]),
    ]
    if any(method.printed > 1_000_000 for method in methods):
        rows.append(("printed, MB", [f"{method.printed / 1e6:,.1f}" for method in methods]))
    width = max(len(row[0]) for row in rows)
    yield " " * width + "  " + "  ".join(method.name.ljust(22) for method in methods).rstrip()
    for name, cells in rows:
        yield f"{name.ljust(width)}  {'  '.join(cell.ljust(22) for cell in cells)}".rstrip()


def _ms(method: Method) -> str:
    if method.reading_ms is None:
        return "-"
    return f"{method.reading_ms:.3f} + {method.collating_ms or 0:.3f} collating"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _span(values: Sequence[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:,.0f}" if values else "-"
    return f"{values[0]:,.0f} -> {values[-1]:,.0f}"


def _known(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _speed(report: Report) -> Iterator[str]:
    if report.speed:
        yield f"batches per second by number of workers, under {report.speed_method}:"
        yield "    " + "   ".join(f"{entry.workers}: {entry.batches_per_second:,.1f}" for entry in report.speed)


def _checked(report: Report, paint: Paint) -> Iterator[str]:
    styles = {"confirmed": "error", "not reproduced": "green", "not testable here": "dim"}
    assert report.checked is not None
    if not report.checked:
        yield "no static finding concerns what this loader ships"
    for checked in report.checked:
        yield f"{checked.place} {checked.code} {paint(styles[checked.verdict], checked.verdict)}: {checked.why}"


def said_first(target: str, methods: Iterable[str]) -> str:
    """What a person should know before it happens."""
    return (
        f"dllint probe runs code: it imports what {target} names and reads data through it, "
        f"in processes of its own, under {', '.join(methods)}"
    )
