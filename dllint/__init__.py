"""dllint: finds the code that breaks, bloats or hangs once a DataLoader hands it to worker processes.

Only the names a rule may import are public here; they load on first use, so `dllint --version` imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Applicability": "dllint.fix",
    "Certainty": "dllint.finding",
    "Edit": "dllint.fix",
    "Expr": "dllint.model.facts",
    "Finding": "dllint.finding",
    "Fix": "dllint.fix",
    "Function": "dllint.model.facts",
    "Import": "dllint.fix",
    "ModuleModel": "dllint.model.facts",
    "Note": "dllint.finding",
    "Project": "dllint.project",
    "Rule": "dllint.rule",
    "Severity": "dllint.finding",
    "Span": "dllint.source",
    "hoist_function": "dllint.syntax.hoist_function",
    "hoist_lambda": "dllint.syntax.hoist",
    "reference": "dllint.syntax.names",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)
