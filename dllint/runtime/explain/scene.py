"""Where a log comes from, as far as the paths in its tracebacks tell: start method, platform, Python."""

from __future__ import annotations

import re
from typing import NamedTuple

_PYTHON = re.compile(r"[Pp]ython-?(3)\.?(\d{1,2})(?:\.\d+)?(?:[/\\]|$)")
_METHODS = (
    ("popen_spawn_win32", "spawn"),
    ("popen_spawn_posix", "spawn"),
    ("popen_forkserver", "forkserver"),
    ("multiprocessing/forkserver", "forkserver"),
)
_PLATFORMS = (
    ("/Users/", "macOS"),
    ("/Library/Frameworks/", "macOS"),
    ("/opt/homebrew/", "macOS"),
    ("/home/", "Linux"),
    ("/root/", "Linux"),
    ("/usr/lib/python3", "Linux"),
)
"""How paths begin."""


class Frame(NamedTuple):
    """A line of a traceback. `path` as it was printed, but with forward slashes."""

    path: str
    line: int
    function: str


class Scene:
    """What the frames of a log give away."""

    def __init__(self) -> None:
        self.method = ""
        self.platform = ""
        self.python = ""
        self._forked = False

    def look(self, frame: Frame) -> None:
        """Learn from one more frame; what was seen first stays."""
        path = frame.path
        self.method = self.method or next((method for part, method in _METHODS if part in path), "")
        if path.endswith("popen_fork.py") and frame.function == "_launch":
            self._forked = True
        if path.endswith("multiprocessing/spawn.py") and frame.function == "spawn_main":
            self.method = self.method or "spawn"
        self.platform = self.platform or _platform(path)
        if not self.python and (found := _PYTHON.search(path)):
            self.python = f"{found[1]}.{found[2]}"

    @property
    def start_method(self) -> str:
        """fork, spawn or forkserver; "" where the log does not show it."""
        return self.method or ("fork" if self._forked else "")

    def words(self) -> str:
        """What is known, in words: "Python 3.7, Linux, spawn"."""
        known = (f"Python {self.python}" if self.python else "", self.platform, self.start_method)
        return ", ".join(word for word in known if word)


def _platform(path: str) -> str:
    if path[1:3] == ":/" or "popen_spawn_win32" in path:
        return "Windows"
    return next((name for start, name in _PLATFORMS if path.startswith(start)), "")
