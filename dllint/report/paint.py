"""Colours for terminals."""

from __future__ import annotations

_STYLES = {"error": "31;1", "warning": "33;1", "info": "36;1", "bold": "1", "dim": "2", "blue": "34;1", "green": "32;1"}


class Paint:
    """ANSI colours, or nothing."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, style: str, text: str) -> str:
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self._color and text else text
