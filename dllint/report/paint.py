"""Colours and links for terminals."""

from __future__ import annotations

import os
from collections.abc import Mapping

_STYLES = {"error": "31;1", "warning": "33;1", "info": "36;1", "bold": "1", "dim": "2", "blue": "34;1", "green": "32;1"}


class Paint:
    """ANSI colors, or nothing."""

    def __init__(self, color: bool, links: bool = False) -> None:
        self._color = color
        self._links = links

    def __call__(self, style: str, text: str) -> str:
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self._color and text else text

    def link(self, text: str, file: str) -> str:
        """A text that leads to a file, where the terminal has links."""
        if not self._links or not os.path.isfile(file):
            return text
        from pathlib import Path

        return f"\033]8;;{Path(file).absolute().as_uri()}\033\\{text}\033]8;;\033\\"


_PROGRAMS = {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "WarpTerminal", "rio"}
_TERMINALS = {"xterm-kitty", "alacritty", "foot", "contour", "xterm-ghostty", "wezterm"}


def has_links(environment: Mapping[str, str]) -> bool:
    """Whether a terminal with this environment is known to show links (OSC 8); there is no way to ask it."""
    wish = environment.get("FORCE_HYPERLINK")
    if wish is not None:
        return wish not in ("", "0")
    vte = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in _PROGRAMS
        or environment.get("TERM") in _TERMINALS
        or any(name in environment for name in ("WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM"))
        or (vte.isdecimal() and int(vte) >= 5000)
    )
