"""A keyword argument taken out of a call."""

from __future__ import annotations

from dllint import Edit, Expr, Project, Span


def without_argument(project: Project, path: str, call: Expr, name: str, value: Expr) -> Edit | None:
    """The deletion of a keyword argument and of one comma; None if comments are in between."""
    text = project.source(path).text
    before, after = text[: value.start].rstrip(), text[value.end : call.end]
    if not before.endswith("=") or not before[:-1].rstrip().endswith(name):
        return None
    start = len(before[:-1].rstrip()) - len(name)
    source = project.source(path)
    row = source.row_span(source.location(start)[0])
    if source.text[row.start : row.end].strip() == f"{text[start : value.end]},":
        return Edit(path, Span(row.start, source.line_starts[source.location(start)[0]]), "")
    rest = after.lstrip(" \t")
    if rest.startswith(","):
        following = rest[1:]
        end = call.end - len(following.lstrip())
        between = following[: len(following) - len(following.lstrip())]
        return (
            Edit(path, Span(start, end), "")
            if "#" not in between and end < call.end - 1
            else _last(path, text, start, call.end - len(following))
        )
    return _last(path, text, start, value.end) if after.strip() == ")" else None


def _last(path: str, text: str, start: int, end: int) -> Edit | None:
    """The deletion of the last argument, with the comma before it."""
    before = text[:start].rstrip()
    return Edit(path, Span(len(before) - 1, end), "") if before.endswith(",") else None
