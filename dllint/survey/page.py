"""The results as one HTML page that needs no network: the numbers written out, the findings as data beside a script.

What comes from sources is only ever text: escaped here, `textContent` there, and no other script may run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from string import Template
from typing import Any

from dllint.survey.database import Database
from dllint.survey.outcome import KINDS
from dllint.survey.totals import HARMS, Rule, Totals, totals
from dllint.survey.trend import Change, Trend, trend

CHUNK = 100
"""Sources whose routes and code frames are read together, when one of them is opened."""
_SHOWN = 200
"""Names that are listed of projects that changed."""
_WORST = ("source", "findings", "break on 3.14")
_HERE = Path(__file__)


def page(database: Database, before: Database | None = None, title: str = "dllint survey") -> bytes:
    """The page. Raises NotUsable."""
    found = totals(database)
    style, script = (_HERE.with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".css", ".js"))
    parts = {
        "title": escape(title),
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
        "style": style,
        "script": script,
        "summary": _summary(found),
        "methods": _methods(found),
        "rules": _table(
            "By rule", ("rule", "findings", "sources"), [(_rule(r), r.findings, r.sources) for r in found.rules]
        ),
        "outcomes": _table("Outcomes", ("outcome", "sources"), [(KINDS[k], n) for k, n in found.outcomes.items()]),
        "worst": _table("Worst sources", _WORST, [(w.name, w.findings, w.breaking) for w in found.worst]),
        "trend": _trend(trend(before, database)) if before else "",
        "rule_options": _options((r.code, _rule(r)) for r in found.rules),
        "outcome_options": _options((k, KINDS[k]) for k in found.outcomes),
        "tools": escape(", ".join(found.tools)),
        "data": "\n".join(_data(database)),
    }
    return Template(_HERE.with_suffix(".html").read_text(encoding="utf-8")).substitute(parts).encode()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _summary(found: Totals) -> str:
    analyzed = found.outcomes.get("ok", 0)
    share = f" ({100 * found.breaks_on_314 / analyzed:.1f}% of those analyzed)" if analyzed else ""
    omitted = f", and {found.omitted:,} more that are not kept" if found.omitted else ""
    return (
        f'<p class="headline"><strong id="breaks">{found.breaks_on_314:,}</strong> of '
        f'<strong id="sources">{found.sources:,}</strong> sources break on Linux with Python 3.14{share}: they stop or '
        "hang where workers are started by its default, forkserver, and not where they are forked as before. In "
        f"{found.certain_on_314:,} of them that is certain; in the others it depends on what was not seen, such as "
        "users who give a dataset workers.</p>"
        f"<p>{found.findings:,} findings{omitted}, in {found.with_findings:,} sources; {found.files:,} files; "
        f"{found.seconds:,.0f} s of work; at most {found.peak_mb:,.0f} MiB for a source. "
        f"{escape(found.finished)}</p>"
    )


def _methods(found: Totals) -> str:
    rows = ((m.name, m.where, m.breaks, *(m.harms[harm] for harm in HARMS)) for m in found.methods)
    head = ("start method", "default on", "sources that break", *HARMS.values())
    return _table("By start method", head, rows)


def _rule(rule: Rule | Change) -> str:
    return f"{rule.code} {rule.name}"


def _trend(found: Trend) -> str:
    told = (
        f"<p>{found.both:,} projects were analyzed both times; {found.only_before:,} only before, {found.only_after:,} "
        f"only now. Of those in both, {found.breaks_before:,} broke on Python 3.14, {found.breaks_after:,} do now."
        f"{'' if found.same_tool else ' The surveys were made by different versions of dllint or its rules.'}</p>"
    )
    head = ("rule", "before", "now", "new", "gone")
    rules = _table("Changes by rule", head, [(_rule(c), c.before, c.after, c.new, c.gone) for c in found.rules])
    lists = _projects("Break now", found.broken) + _projects("No longer break", found.mended)
    title = '<h2 id="trend-title">Since the survey before</h2>'
    return f'<section id="trend" aria-labelledby="trend-title">{title}{told}{rules}{lists}</section>'


def _projects(title: str, names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"<p><b>{title}</b> ({len(names):,}): {escape(', '.join(names[:_SHOWN])) or 'none'}{more}</p>"


def _table(name: str, head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """A table whose first column names its rows. A wide one is scrolled in itself, by keyboard too."""
    given = [*rows]
    numbers = {at for row in given for at, value in enumerate(row) if isinstance(value, int)}
    kinds = [' class="number"' if at in numbers else "" for at in range(len(head))]
    top = "".join(f'<th scope="col"{kind}>{escape(text)}</th>' for kind, text in zip(kinds, head, strict=True))
    body = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in given)
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" role="region" aria-label="{escape(name)}" tabindex="0">{table}</div>'


def _cells(row: tuple[object, ...]) -> Iterator[str]:
    yield f'<th scope="row">{escape(str(row[0]))}</th>'
    for value in row[1:]:
        yield f'<td class="number">{value:,}</td>' if isinstance(value, int) else f"<td>{escape(str(value))}</td>"


def _options(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in pairs)


def _data(database: Database) -> Iterator[str]:
    """What is searched, as one block; what is only shown of an opened source, in chunks."""
    rows = database.rows(
        "SELECT source, code, path, line, column, message, fork, spawn, forkserver, certainty, route, frame, fix "
        "FROM finding ORDER BY source, number"
    )
    findings = {name: [*group] for name, group in groupby(rows, itemgetter(0))}
    sources = database.rows("SELECT name, outcome, reason, files, omitted, warnings FROM source ORDER BY name")
    index = [
        [name, outcome, reason, files, omitted, json.loads(warnings), [row[1:9] for row in findings.get(name, [])]]
        for name, outcome, reason, files, omitted, warnings in sources
    ]
    yield _block("index", index)
    for number, at in enumerate(range(0, len(sources), CHUNK)):
        chunk = [[_detail(row) for row in findings.get(source[0], [])] for source in sources[at : at + CHUNK]]
        yield _block(f"chunk-{number}", chunk)


def _detail(row: tuple[str, ...]) -> list[Any]:
    _, _, _, _, _, _, _, _, _, certainty, route, frame, fix = row
    return [certainty, json.loads(route), frame, fix]


def _block(name: str, data: object) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
