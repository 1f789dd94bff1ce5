"""From a log to the messages in it, each with the traceback that it ended. One pass, in memory that does not grow."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.runtime.explain.log import lines, texts
from dllint.runtime.explain.message import Message, needle, pattern
from dllint.runtime.explain.messages import MESSAGES
from dllint.runtime.explain.scene import Frame, Scene

MOST_FRAMES = 200
"""Frames of a traceback that are kept, the innermost ones."""
MOST_SEEN = 200
"""Different messages that are kept; more of them say nothing new."""
MOST_STREAMS = 100
"""Prefixes (`[rank0]: `, `trainer-1  | `) whose tracebacks are kept apart."""
WIDEST = 300
"""Characters of a message's line that are quoted."""

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
"""What rich draws around a traceback is no prefix."""
_TRACEBACK = "Traceback (most recent call last)"
_STACK = "(most recent call first)"
"""How faulthandler begins a stack."""
_NOTE = re.compile(
    r"when serializing (?:dict item '(?P<item>[^']{1,200})'|(?P<type>[\w.<>]{1,200}) (?:state|object|item))",
)
"""What Python 3.14 adds: what the object that cannot be pickled was found in, innermost first."""
_NOTE_WORD = "when serializing"


class Seen:
    """A message of a log: `found` are the blanks of its wording, `frames` its traceback, outermost first."""

    def __init__(
        self, message: Message, line: int, text: str, found: dict[str, str], frames: tuple[Frame, ...]
    ) -> None:
        self.message = message
        self.line = line
        self.text = text
        self.found = found
        self.frames = frames
        self.within: list[str] = []
        """Names of the attributes and classes that hold the culprit, innermost first, where Python tells them."""
        self.count = 1

    @property
    def name(self) -> str:
        """The qualified name that the message quotes, without its module where that is told apart."""
        return self.found.get("function") or self.found.get("name", "")


class Reading(NamedTuple):
    """What a log holds."""

    seen: tuple[Seen, ...]
    scene: Scene
    lines: int


class Reader:
    """Takes a log bit by bit."""

    def __init__(self) -> None:
        self.scene = Scene()
        self._row = 0
        self._seen: dict[tuple[str, ...], Seen] = {}
        self._streams: dict[str, _Stream] = {}
        self._last: Seen | None = None
        self._prefix = ""

    def feed(self, text: str) -> None:
        """Look at some lines. What none of the messages can be in is only counted."""
        wanted = [(word, row, message) for word, row, message in _WORDINGS if word in text]
        framed = any(word in text for word in _FRAME_WORDS)
        if not (wanted or framed or any(word in text for word in (_TRACEBACK, _STACK, _NOTE_WORD))):
            self._row += text.count("\n") or 1
            return
        for line in lines(text.removesuffix("\n")):
            self._row += 1
            if framed and (frame := self._frame(line)) is not None:
                self._see_line(line, wanted, frame)
            elif _TRACEBACK in line:
                self._stream(line[: line.index(_TRACEBACK)]).begin()
            elif _STACK in line:
                self._stream("").begin(inner_first=True)
            elif _NOTE_WORD in line and self._last is not None and (note := _NOTE.search(line)):
                if len(self._last.within) < MOST_FRAMES:
                    self._last.within.append(note["item"] or note["type"].rpartition(".")[2])
            else:
                self._see_line(line, wanted, None)

    def result(self) -> Reading:
        """What was seen so far, in the order of the log."""
        return Reading(tuple(self._seen.values()), self.scene, self._row)

    def _frame(self, line: str) -> Frame | None:
        if not any(word in line for word in _FRAME_WORDS):
            return None
        for form in _FRAMES:
            if found := form.search(line):
                frame = Frame(found["path"].replace("\\", "/"), int(found["line"]), found["function"] or "")
                self._prefix = found["prefix"]
                self._stream(self._prefix).add(frame)
                self.scene.look(frame)
                return frame
        return None

    def _stream(self, prefix: str) -> _Stream:
        key = prefix.strip(_BOX)
        if key not in self._streams:
            if len(self._streams) >= MOST_STREAMS:
                self._streams.clear()
            self._streams[key] = _Stream()
        return self._streams[key]

    def _see_line(self, line: str, wanted: list[tuple[str, str, Message]], frame: Frame | None) -> None:
        for word, wording, message in wanted:
            if word in line and (found := pattern(wording).search(line)):
                self._keep(message, line, {key: value for key, value in found.groupdict().items() if value}, frame)
                return

    def _keep(self, message: Message, line: str, found: dict[str, str], frame: Frame | None) -> None:
        stable = tuple(value for key, value in sorted(found.items()) if key not in ("number", "any"))
        key = (message.key, *stable)
        stream = self._ended(line) if frame is None else self._stream(self._prefix)
        if frame is None and not _meant(message, stream.frames):
            return
        if key in self._seen:
            self._last = self._seen[key]
            self._last.count += 1
        elif len(self._seen) < MOST_SEEN:
            self._last = self._seen[key] = Seen(message, self._row, line.strip()[:WIDEST], found, tuple(stream.frames))
        if frame is None:
            stream.end()

    def _ended(self, line: str) -> _Stream:
        """The traceback that a message ends: that of the stream whose prefix its line has, the longest such."""
        fitting = [key for key in self._streams if line.lstrip().startswith(key)]
        return self._streams[max(fitting, key=len)] if fitting else _Stream()


class _Stream:
    """The traceback that one writer of an interleaved log is in."""

    def __init__(self) -> None:
        self.frames: deque[Frame] = deque(maxlen=MOST_FRAMES)
        self._over = False
        self._inner_first = False

    def begin(self, inner_first: bool = False) -> None:
        """A traceback begins; one that began without having ended is another writer's, and both are kept."""
        if self._over or inner_first:
            self.frames.clear()
        self._over, self._inner_first = False, inner_first

    def add(self, frame: Frame) -> None:
        """Frames are kept outermost first."""
        if self._inner_first:
            self.frames.appendleft(frame)
        else:
            self.frames.append(frame)

    def end(self) -> None:
        self._over = True


def _meant(message: Message, frames: Iterable[Frame]) -> bool:
    """Whether a message is what its row says, by the files that its traceback passes through."""
    paths = [frame.path for frame in frames]

    def through(parts: Iterable[str]) -> bool:
        return any(part in path for part in parts for path in paths)

    return not through(message.elsewhere) and (not paths or not message.passes or through(message.passes))


def read(chunks: Iterable[bytes]) -> Reading:
    """What a log holds."""
    reader = Reader()
    for text in texts(chunks):
        reader.feed(text)
    return reader.result()


def _wordings() -> Iterator[tuple[str, str, Message]]:
    for message in MESSAGES:
        for wording in message.wordings:
            yield needle(wording), wording, message


_WORDINGS = tuple(_wordings())
