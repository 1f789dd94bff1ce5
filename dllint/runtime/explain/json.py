"""An explanation for programs."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from dllint.engine.questions import Inspection
from dllint.report import Context
from dllint.report import json as findings
from dllint.runtime.explain import Candidate, Explained, Explanation
from dllint.runtime.explain.reading import Seen


def render(explanation: Explanation, inspection: Inspection, context: Context, checks: Collection[str]) -> str:
    """An object with the messages that were recognized, each with its candidates, the likeliest first."""
    scene = explanation.scene
    document = {
        "lines": explanation.lines,
        "python": scene.python or None,
        "platform": scene.platform or None,
        "start_method": scene.start_method or None,
        "messages": [_explained(one, inspection, context, checks) for one in explanation.explained],
        "follows": [_seen(seen) for seen in explanation.follows],
    }
    return json.dumps(document, indent=2) + "\n"


def _seen(seen: Seen) -> dict[str, Any]:
    return {"key": seen.message.key, "line": seen.line, "count": seen.count, "text": seen.text}


def _explained(
    explained: Explained, inspection: Inspection, context: Context, checks: Collection[str]
) -> dict[str, Any]:
    message = explained.seen.message
    return {
        **_seen(explained.seen),
        "name": explained.seen.name or None,
        "happened": message.happened,
        "where": message.where,
        "rules": [code for code in message.rules if code in context.rules],
        "look": message.look,
        "checks": [check for check in message.checks if check in checks],
        "candidates": [_candidate(one, inspection, context) for one in explained.candidates],
    }


def _candidate(candidate: Candidate, inspection: Inspection, context: Context) -> dict[str, Any]:
    row, column = context.location(candidate.path, candidate.span.start)
    finding = candidate.finding
    return {
        "filename": context.absolute(candidate.path),
        "location": {"row": row, "column": column},
        "reasons": list(candidate.reasons),
        "why_quiet": list(candidate.told),
        "finding": findings.record(finding, inspection.fix(finding), context) if finding is not None else None,
    }
