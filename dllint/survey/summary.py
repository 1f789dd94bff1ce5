"""The totals of a survey, for people and for programs."""

from __future__ import annotations

import msgspec

from dllint.survey.outcome import KINDS
from dllint.survey.totals import Totals


def json(found: Totals) -> str:
    """All numbers as a JSON object."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"


def text(found: Totals) -> str:
    """The numbers that matter most, line by line."""
    lines = [
        f"{found.sources} sources, {found.files} files, {found.findings} findings in {found.with_findings} sources."
    ]
    lines += [f"{count} {KINDS[kind]}" for kind, count in found.outcomes.items()]
    lines += [
        f"{found.breaks_on_314} break on Linux with Python 3.14, and not before ({found.certain_on_314} for certain)"
    ]
    for method in found.methods:
        harms = ", ".join(f"{method.harms[harm]} {harm}" for harm in method.harms)
        lines.append(f"{method.name} ({method.where}): {method.breaks} break ({harms})")
    lines += [f"{rule.code} {rule.name}: {rule.findings} in {rule.sources} sources" for rule in found.rules]
    return "".join(f"{line}\n" for line in lines)
