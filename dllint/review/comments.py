"""The body of a request that makes a review of a pull request on GitHub: comments on lines of its diff."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dllint.finding import Finding
from dllint.fix import Applicability, Edit, Fix
from dllint.report import Context, Findings, by_hand, diff
from dllint.report.designs import Design, counted, more, told_once
from dllint.report.markdown import code, prose
from dllint.report.message import problem_and_remedy
from dllint.review.changes import Changes, places, rows
from dllint.source import Source, Span

LONGEST = 65_536
"""Characters that GitHub takes of a body."""
_NEWLINE = re.compile(r"\r\n|\r|\n")
_HOW = ("by hand", "`dllint check --fix --unsafe-fixes`", "`dllint check --fix`")


class _Comment(NamedTuple):
    """What is to be said of one finding on some lines of the diff."""

    path: str
    lines: range
    finding: Finding
    fix: Fix | None
    remedy: str
    suggests: bool
    also: str = ""
    """The other places of the same design."""
    like: str = ""
    """Where the same was already reported."""


def payload(findings: Findings, context: Context, changes: Changes, commit: str, event: str) -> dict[str, Any]:
    """What to send: one comment for the same lines; findings without a line in the diff go into the body."""
    placed: dict[tuple[str, int, int], list[_Comment]] = {}
    left = []
    for design in told_once(findings):
        comments = list(_comments(design, context, changes))
        left += [] if comments else [_elsewhere(design, context)]
        for one in comments:
            placed.setdefault((one.path, one.lines.start, one.lines.stop), []).append(one)
    body = f"dllint: {counted(findings)} in what this change affects."
    if left:
        body = "\n".join((f"{body} Not on a line of the diff:", "", *left))
    told = [_at(same, context, changes) for same in placed.values()]
    return {"commit_id": commit, "event": event, "body": body[:LONGEST], "comments": told}


def _comments(design: Design, context: Context, changes: Changes) -> Iterator[_Comment]:
    """One comment that names the other places, and comments for what can be committed with a click."""
    every = [(design.finding, design.fix), *design.others]
    made = [(item, _comment(*item, context, changes)) for item in every]
    first = next(((item, one) for item, one in made if one), None)
    if first is None:
        return
    item, one = first
    others = [other for other in every if other is not item]
    yield one._replace(also=more(Design(*item, others), context))
    place = _place(one.finding.path, one.finding.span, context)
    for _, other in made:
        if other is not None and other is not one and other.suggests:
            yield other._replace(like=place)


def _comment(finding: Finding, fix: Fix | None, context: Context, changes: Changes) -> _Comment | None:
    """On the lines that its suggestion replaces, else at its cause, else where the change reaches it; None: nowhere."""
    edit = context.suggestion(finding, fix)
    if edit:
        lines, new = _whole_lines(context.source(edit.path), edit)
        if _in_hunk(edit.path, lines, context, changes):
            return _Comment(edit.path, lines, finding, fix, _remedy(fix, _fenced("suggestion", new)), suggests=True)
    shown = next(_shown(finding, context, changes), None)
    if shown is None:
        return None
    path, row = shown
    remedy = _remedy(fix, _fenced("diff", _diff(edit, context)) if edit else "")
    return _Comment(path, range(row, row + 1), finding, fix, remedy, suggests=False)


def _shown(finding: Finding, context: Context, changes: Changes) -> Iterator[tuple[str, int]]:
    """The lines of the diff that a comment can be on: the cause's, then changed ones, then those around them."""
    seen = [
        (path, row)
        for path, span in places(finding)
        for row in rows(path, span, context)
        if _in_hunk(path, range(row, row + 1), context, changes)
    ]
    cause = rows(finding.path, finding.span, context)
    yield from ((path, row) for path, row in seen if path == finding.path and row in cause)
    yield from ((path, row) for path, row in seen if row in changes.of(context.absolute(path)).rows)
    yield from seen


def _in_hunk(path: str, lines: range, context: Context, changes: Changes) -> bool:
    """Whether one hunk of the diff shows all these lines."""
    hunks = changes.of(context.absolute(path)).hunks
    return any(hunk.start <= lines.start and lines.stop <= hunk.stop for hunk in hunks)


def _at(same: Sequence[_Comment], context: Context, changes: Changes) -> dict[str, Any]:
    """The comment on some lines: of one finding in full, of several a list with their causes."""
    path, lines = same[0].path, same[0].lines
    first, last = lines.start, lines.stop - 1
    start = {"start_line": first, "start_side": "RIGHT"} if first < last else {}
    body = _body(same[0], context) if len(same) == 1 else _list(same, context)
    name = context.relative(path, changes.top)
    return {"path": name, **start, "line": last, "side": "RIGHT", "body": body[:LONGEST]}


def _body(one: _Comment, context: Context) -> str:
    """The message, the place of the cause when the comment is in another file, the route, the remedy."""
    finding = one.finding
    cause = f"The cause is at {_place(finding.path, finding.span, context)}."
    steps = (f"* {prose(note.text)} ({_place(note.path, note.span, context)})" for note in finding.notes)
    route = () if one.like else (cause if one.path != finding.path else "", "\n".join(steps))
    parts = (_head(one, context), *route, one.remedy)
    return "\n\n".join(part for part in parts if part)


def _list(same: Sequence[_Comment], context: Context) -> str:
    """The findings that one line leads to, with each remedy once; one of them may be a suggestion."""
    suggested = next((one for one in same if one.suggests), None)
    alike: dict[tuple[str, ...], list[_Comment]] = {}
    for one in same:
        alike.setdefault((one.finding.code, one.finding.severity.value, _split(one)[1]), []).append(one)
    items = [line for group in alike.values() for line in _items(group, context)]
    fixes = [one.fix for one in same]
    ends = [suggested.remedy if suggested else "", *_by_hand(fixes), _by_command(fixes)]
    body = "\n".join((f"{len(same)} findings because of this line:", "", *items))
    return "\n\n".join(part for part in (body, *ends) if part)


def _items(group: Sequence[_Comment], context: Context) -> Iterator[str]:
    """Findings of one rule with one remedy: a single one in a line, several below the rule and the remedy."""
    places = [_place(one.finding.path, one.finding.span, context) for one in group]
    if len(group) == 1:
        yield f"* {places[0]}: {_head(group[0], context)}"
        return
    remedy = _split(group[0])[1]
    yield f"* {_rule(group[0], context)}, {len(group)} times{f'; {prose(remedy)}' if remedy else ''}:"
    for place, one in zip(places, group, strict=True):
        yield f"  * {place}: {prose(_split(one)[0] + one.also)}"


def _split(one: _Comment) -> tuple[str, str]:
    """The problem and the remedy; what was already reported elsewhere has its remedy there."""
    return (f"the same as at {one.like}.", "") if one.like else problem_and_remedy(one.finding.message)


def _by_hand(fixes: Iterable[Fix | None]) -> Iterator[str]:
    """What only a person can do, each remedy once."""
    yield from dict.fromkeys(by_hand(fix).partition("\n")[0].rstrip(":") for fix in fixes)


def _by_command(fixes: Sequence[Fix | None]) -> str:
    """The command that fixes these findings, or some of them."""
    trust = [fix.applicability for fix in fixes if fix is not None and fix.applicability is not Applicability.MANUAL]
    if not trust:
        return ""
    return f"{_HOW[min(trust)]} fixes {'all' if len(trust) == len(fixes) else len(trust)} of them."


def _head(one: _Comment, context: Context) -> str:
    said = f"the same as at {one.like}." if one.like else prose(one.finding.message + one.also)
    return f"{_rule(one, context)}: {said}"


def _rule(one: _Comment, context: Context) -> str:
    """The rule with its page, its name, and how severe the finding is."""
    finding = one.finding
    code, url = f"**{finding.code}**", context.url(finding.code)
    name = context.rules[finding.code].name
    return f"{f'[{code}]({url})' if url else code} `{name}` ({finding.severity.value})"


def _remedy(fix: Fix | None, block: str) -> str:
    """What to do: a block that shows it, the command that does it, or what only a person can do."""
    if fix is None or fix.applicability is Applicability.MANUAL:
        return by_hand(fix)
    told = f"{fix.title} ({_HOW[fix.applicability]})"
    return f"{told}:\n\n{block}" if block else told


def _elsewhere(design: Design, context: Context) -> str:
    finding, said = design.finding, prose(design.finding.message + more(design, context))
    return f"* {_place(finding.path, finding.span, context)}: {finding.code} {said}"


def _place(path: str, span: Span, context: Context) -> str:
    return code(f"{context.relative(path, context.repository)}:{context.source(path).place(span.start)}")


def _whole_lines(source: Source, edit: Edit) -> tuple[range, list[str]]:
    """The lines that an edit is about, and those that come in their place."""
    first, column = source.location(edit.span.start)
    last, end = source.location(edit.span.end)
    text = source.text[edit.span.start - column + 1 : edit.span.start] + edit.text
    if end == 1 and first < last and (not text or text.endswith(("\n", "\r"))):
        last -= 1
        return range(first, last + 1), _NEWLINE.split(text)[:-1]
    text += source.text[edit.span.end : source.row_span(last).end]
    return range(first, last + 1), _NEWLINE.split(text)


def _diff(edit: Edit, context: Context) -> list[str]:
    source = context.source(edit.path)
    text = source.text[: edit.span.start] + edit.text + source.text[edit.span.end :]
    after = Source(source.path, text, source.encoding, source.bom)
    name = context.relative(edit.path, context.repository)
    return diff.render(source, after, name).decode(source.encoding, "replace").splitlines()


def _fenced(kind: str, lines: Iterable[str]) -> str:
    """A block of code; its fence is longer than any in the text. A suggestion without lines takes lines away."""
    lines = list(lines)
    runs = re.findall("`{3,}", "\n".join(lines))
    fence = "`" * max([3, *(len(run) + 1 for run in runs)])
    return "\n".join((f"{fence}{kind}", *lines, fence))
