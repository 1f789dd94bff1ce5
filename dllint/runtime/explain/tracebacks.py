"""The tracebacks of a log: their frames, in the forms of several tools, kept apart by who wrote them."""

from __future__ import annotations

import re
from collections import deque

from dllint.runtime.explain.scene import Frame

MOST_FRAMES = 200
"""Frames of a traceback that are kept, the innermost ones."""
MOST_WRITERS = 100
"""Prefixes (`[rank0]: `, `trainer-1  | `) whose tracebacks are kept apart."""

_BEFORE = r"^(?P<prefix>.{0,60}?)"
_FRAMES = (
    re.compile(
        _BEFORE + r'File "(?P<path>[^"]{1,500})", line (?P<line>\d{1,7})(?:,? in (?P<function>\S{1,200}))?',
    ),
    re.compile(
        _BEFORE + r"File (?P<path>[^\s\"][^\":]{0,500}\.py):(?P<line>\d{1,7}),? in (?P<function>\w{1,200})",
    ),
    re.compile(
        r"^(?P<prefix>.{0,60}?[│|] )(?P<path>\S{1,500}\.py):(?P<line>\d{1,7}) in (?P<function>\S{1,200})",
    ),
)
"""Python's own frames and those of faulthandler; IPython's; rich's."""
_FRAME_WORDS = ('File "', ".py:")
_BOX = " \t╭─│❱"
"""What rich draws around a traceback isn't a prefix."""
_TRACEBACK = "Traceback (most recent call last)"
_STACK = "(most recent call first)"
"""How faulthandler begins a stack."""
WORDS = (*_FRAME_WORDS, _TRACEBACK, _STACK)
"""A text without any of these has no part of a traceback, but for its end."""


class Traceback:
    """The traceback that one writer of an interleaved log is in, outermost frame first."""

    def __init__(self) -> None:
        self.frames: deque[Frame] = deque(maxlen=MOST_FRAMES)
        self._over = False
        self._inner_first = False

    def begin(self, inner_first: bool = False) -> None:
        """Another one begins. If this one has not ended, both are kept: they are of two writers without prefixes."""
        if self._over or inner_first:
            self.frames.clear()
        self._over, self._inner_first = False, inner_first

    def add(self, frame: Frame) -> None:
        """One more frame, in the order in which they are printed."""
        if self._inner_first:
            self.frames.appendleft(frame)
        else:
            self.frames.append(frame)

    def end(self) -> None:
        """A line that is not indented ends a traceback; its frames stay until the next one begins."""
        self._over = True


class Tracebacks:
    """The tracebacks of all writers."""

    def __init__(self) -> None:
        self._by_prefix: dict[str, Traceback] = {}

    def frame(self, line: str) -> tuple[Frame, Traceback] | None:
        """The frame that a line shows, with the traceback that it belongs to."""
        if not any(word in line for word in _FRAME_WORDS):
            return None
        for form in _FRAMES:
            if found := form.search(line):
                frame = Frame(found["path"].replace("\\", "/"), int(found["line"]), found["function"] or "")
                traceback = self._of(found["prefix"])
                traceback.add(frame)
                return frame, traceback
        return None

    def begins(self, line: str) -> bool:
        """Whether a line begins a traceback, or a stack of faulthandler."""
        if _TRACEBACK in line:
            self._of(line[: line.index(_TRACEBACK)].removesuffix("Original ")).begin()
        elif _STACK in line:
            self._of("").begin(inner_first=True)
        else:
            return False
        return True

    def ended_by(self, line: str) -> Traceback:
        """The traceback that a line ends: that of the writer whose prefix the line has, the longest such."""
        return self._by_prefix.get(self._prefix(line), Traceback())

    def pass_over(self, line: str) -> None:
        """A line that shows no frame: if it is not indented, its writer's traceback is over."""
        if self._by_prefix and line.strip():
            prefix = self._prefix(line)
            rest = line.lstrip()[len(prefix) :] if prefix else line
            if not rest.removeprefix(" ")[:1].isspace() and (prefix or not line[0].isspace()):
                self.ended_by(line).end()

    def _of(self, prefix: str) -> Traceback:
        key = prefix.strip(_BOX)
        if key not in self._by_prefix:
            if len(self._by_prefix) >= MOST_WRITERS:
                self._by_prefix.clear()
            self._by_prefix[key] = Traceback()
        return self._by_prefix[key]

    def _prefix(self, line: str) -> str:
        return max((key for key in self._by_prefix if line.lstrip().startswith(key)), key=len, default="")
