"""Text for people: one line a finding, or code frames with the route."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from dllint.finding import Finding, Note
from dllint.fix import Applicability, Fix
from dllint.report import Context, Findings, shown
from dllint.report.designs import Design, more, places, told_once
from dllint.report.paint import Paint
from dllint.source import Source, Span

CONTEXT = 2
"""Lines of code before and after the one that is meant."""
FILES = 9
"""How many files a code frame lists with their places."""
WIDEST = 200
"""Characters of a line that are shown; generated lines can be very long."""


def concise(findings: Findings, context: Context) -> str:
    """`path:row:column: CODE message`, as flake8 writes it, and the other places of the same design."""
    paint, lines = context.paint, []
    for design in told_once(findings):
        finding = design.finding
        path, where = context.name(finding.path), context.source(finding.path).place(finding.span.start)
        code, others = _code(finding, context), more(design, context)
        lines.append(f"{paint('bold', path)}:{where}: {code} {shown(finding.message)}{paint('dim', others)}\n")
    return "".join(lines)


def full(findings: Findings, context: Context) -> str:
    """A code frame a design, the route as notes, the other places, and what to do."""
    return "".join("\n".join(_block(design, context)) + "\n\n" for design in told_once(findings))


def _block(design: Design, context: Context) -> Iterator[str]:
    finding, fix, paint = design.finding, design.fix, context.paint
    fixable = fix is not None and fix.applicability is Applicability.SAFE
    mark = paint("green", " [*]") if fixable else ""
    yield f"{_code(finding, context)}{mark} {paint('bold', shown(finding.message))}"
    yield f"  {paint('blue', '-->')} {context.place(finding.path, finding.span.start)}"
    source = context.source(finding.path)
    if source.text:
        yield from frame(source, finding, paint)
    for note in finding.notes:
        yield f"   {paint('blue', '=')} {paint('bold', 'note:')} {_note(note, context)}"
    for place in places(design, context, FILES):
        yield f"   {paint('blue', '=')} {paint('bold', 'also:')} {place}"
    if fix:
        yield f"{paint('blue', 'help:')} {shown(fix.title)}{_how(fix)}"
        yield from (f"      {_shown(line)}".rstrip() for line in fix.snippet.splitlines())
    yield f"{paint('blue', 'docs:')} {context.url(finding.code) or f'dllint rule {finding.code}'}"


def _code(finding: Finding, context: Context) -> str:
    """The rule's code, which leads to its page on terminals that have links."""
    page = context.url(finding.code) or (context.rules[finding.code].page if finding.code in context.rules else "")
    return context.paint.link(context.paint(finding.severity.value, finding.code), page)


def _note(note: Note, context: Context) -> str:
    return f"{shown(note.text)} ({context.place(note.path, note.span.start)})"


def _how(fix: Fix) -> str:
    match fix.applicability:
        case Applicability.SAFE:
            return " (--fix)"
        case Applicability.UNSAFE:
            return " (unsafe: --fix --unsafe-fixes)"
        case _:
            return " (by hand)"


def frame(source: Source, finding: Finding, paint: Paint) -> Iterator[str]:
    """The lines around a finding, marked; in a notebook, as far as its cell goes."""
    part = source.part(finding.span.start)
    source, span = part.source, Span(finding.span.start - part.start, finding.span.end - part.start)
    first, _ = source.location(span.start)
    top, bottom = max(1, first - CONTEXT), min(_last_row(source), first + CONTEXT)
    width = len(str(bottom))
    bar = paint("blue", "|")
    yield f"{' ' * width} {bar}"
    for row in range(top, bottom + 1):
        text = _shown(source.line(row))
        yield f"{paint('blue', str(row).rjust(width))} {bar} {text}".rstrip()
        if row == first:
            yield f"{' ' * width} {bar} {paint(finding.severity.value, _carets(source, row, span))}"
    yield f"{' ' * width} {bar}"


def _last_row(source: Source) -> int:
    """The last line, not counting the empty one after a final newline."""
    rows = len(source.line_starts)
    return rows - 1 if rows > 1 and source.line_starts[-1] == len(source.text) else rows


def _shown(line: str) -> str:
    """A line as a terminal can show it: tabs as blanks, no control characters, not endless."""
    line = line.replace("\t", "    ")
    line = "".join(" " if unicodedata.category(c) == "Cc" else c for c in line)
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 3]}..."


def _carets(source: Source, row: int, span: Span) -> str:
    line = source.row_span(row)
    before = source.text[line.start : span.start]
    marked = source.text[span.start : min(span.end, line.end)]
    start = min(_width(before), WIDEST)
    return " " * start + "^" * max(1, min(_width(marked), WIDEST - start))


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if character == "\t":
        return 4
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
