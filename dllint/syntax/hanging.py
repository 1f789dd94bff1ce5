"""A call over several lines with its arguments below it and its closing bracket behind the last one.

So YAPF lays out with settings that several projects share. It weighs where to split; only what it surely makes of a
call without further brackets is known here.
"""

from __future__ import annotations

from collections.abc import Sequence

from dllint.syntax.laid_out import NotCertain, one_call


def hanging(lines: Sequence[str], indent: int, width: int, unit: str) -> list[str] | None:
    """The lines of a statement, given without its indentation, which is so wide; None where they are not certain."""
    try:
        opened, arguments = one_call(lines)
    except NotCertain:
        return None
    *parts, last = arguments
    room, together = width - indent, f"{', '.join(arguments)})"
    if len(opened + together) <= room:
        return [opened + together]
    if len(unit + together) <= room:
        return [opened, unit + together]
    made = [opened, *(f"{unit}{part}," for part in parts), f"{unit}{last})"]
    return made if all(len(line) <= room for line in made) else None
