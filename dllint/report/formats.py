"""The output formats. Each is a function of findings and context, imported when it is chosen."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from dllint.report import Context, Findings

Render = Callable[[Findings, Context], str]

FORMATS = {
    "concise": "text:concise",
    "full": "text:full",
    "grouped": "grouped:render",
    "json": "json:render",
    "json-lines": "json:lines",
    "sarif": "sarif:render",
    "github": "github:render",
    "gitlab": "gitlab:render",
    "rdjson": "rdjson:render",
    "rdjsonl": "rdjson:lines",
    "junit": "junit:render",
    "pylint": "pylint:render",
    "azure": "azure:render",
    "markdown": "markdown:render",
}
"""What may be chosen, with module and function below `dllint.report`."""

WITHOUT_FIXES = frozenset({"concise", "gitlab", "pylint", "azure"})
"""Formats without fixes."""


def renderer(name: str) -> Render:
    """The function that writes a format."""
    module, _, function = FORMATS[name].partition(":")
    render: Render = getattr(importlib.import_module(f"dllint.report.{module}"), function)
    return render
