"""The totals of a survey, for people and for programs."""

from __future__ import annotations

import msgspec

from dllint.survey.outcome import KINDS
from dllint.survey.totals import HARMS, Totals


def json(found: Totals) -> str:
    """All numbers as a JSON object."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"


def text(found: Totals) -> str:
    """The numbers that matter most, line by line."""
    findings = f"{many(found.findings, 'finding')} in {many(found.with_findings, 'source')}"
    lines = [f"{many(found.sources, 'source')}, {many(found.files, 'file')}, {findings}."]
    lines += [f"{count} {KINDS[kind]}" for kind, count in found.outcomes.items()]
    breaks = f"{found.breaks_on_314} break on Linux with Python 3.14, and not before"
    lines += [f"{breaks} ({found.certain_on_314} for certain)"]
    for method in found.methods:
        harms = ", ".join(f"{method.harms[harm]} {said}" for harm, said in HARMS.items())
        lines.append(f"{method.name} ({method.where}): {method.breaks} break ({harms})")
    lines += [f"{r.code} {r.name}: {r.findings} in {many(r.sources, 'source')}" for r in found.rules]
    return "".join(f"{line}\n" for line in lines)


def many(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
