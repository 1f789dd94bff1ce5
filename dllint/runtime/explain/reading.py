"""From a log to the messages in it, each with the traceback that it ended. One pass, in memory that does not grow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.runtime.explain.log import lines, texts
from dllint.runtime.explain.message import Message, needle, pattern
from dllint.runtime.explain.messages import MESSAGES
from dllint.runtime.explain.scene import Frame, Scene
from dllint.runtime.explain.tracebacks import WORDS, Traceback, Tracebacks

MOST_SEEN = 200
"""Different messages that are kept; more of them say nothing new."""
MOST_NOTES = 200
WIDEST = 300
"""Characters of a message's line that are quoted."""

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
        self._tracebacks = Tracebacks()
        self._last: Seen | None = None

    def feed(self, text: str) -> None:
        """Look at some lines. What none of the messages can be in is only counted."""
        wanted = [(word, row, message) for word, row, message in _WORDINGS if word in text]
        if not wanted and not any(word in text for word in (*WORDS, _NOTE_WORD)):
            self._row += text.count("\n") or 1
            return
        for line in lines(text.removesuffix("\n")):
            self._row += 1
            if found := self._tracebacks.frame(line):
                frame, traceback = found
                self.scene.look(frame)
                self._see(line, wanted, traceback)
            elif not self._tracebacks.begins(line) and not self._note(line):
                self._see(line, wanted, None)
                self._tracebacks.pass_over(line)

    def result(self) -> Reading:
        """What was seen so far, in the order of the log."""
        return Reading(tuple(self._seen.values()), self.scene, self._row)

    def _note(self, line: str) -> bool:
        """Whether a line is a note to the last message, which then has it."""
        if _NOTE_WORD not in line or self._last is None or not (note := _NOTE.search(line)):
            return False
        if len(self._last.within) < MOST_NOTES:
            self._last.within.append(note["item"] or note["type"].rpartition(".")[2])
        return True

    def _see(self, line: str, wanted: list[tuple[str, str, Message]], inside: Traceback | None) -> None:
        """Keep the message that a line has, if any; `inside` is the traceback where the line is one of its frames."""
        for word, wording, message in wanted:
            if word in line and (found := pattern(wording).search(line)):
                traceback = inside or self._tracebacks.ended_by(line)
                if inside or _meant(message, traceback.frames):
                    self._keep(message, line, found.groupdict(), traceback)
                return

    def _keep(self, message: Message, line: str, groups: dict[str, str | None], traceback: Traceback) -> None:
        found = {key: value for key, value in groups.items() if value}
        key = (message.key, *(value for blank, value in sorted(found.items()) if blank not in ("number", "any")))
        if key in self._seen:
            self._last = self._seen[key]
            self._last.count += 1
        elif len(self._seen) < MOST_SEEN:
            text, frames = line.strip()[:WIDEST], tuple(traceback.frames)
            self._last = self._seen[key] = Seen(message, self._row, text, found, frames)


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
