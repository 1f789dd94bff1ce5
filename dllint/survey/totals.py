"""The numbers of a survey, each one a question to the database."""

from __future__ import annotations

import msgspec

from dllint.start_methods import START_METHODS
from dllint.survey.database import Database
from dllint.survey.outcome import KINDS, Kind

METHODS = {method.name: method.where for method in START_METHODS}
"""Start methods, and where each is the default."""
HARMS = {
    "exception": "stops",
    "hang": "hangs",
    "corrupt": "wrong data",
    "bloat": "memory",
}
"""What a hazard does under a start method, in a word. The first two break a program."""
BREAKING = "('exception', 'hang')"
NEW_ON_314 = f"(forkserver IN {BREAKING} AND fork NOT IN {BREAKING})"
"""A finding that fails by the default of Python 3.14 on Linux, and not by the one before."""


class Rule(msgspec.Struct, frozen=True):
    """How often a rule reports, and in how many sources."""

    code: str
    name: str
    findings: int
    sources: int


class Method(msgspec.Struct, frozen=True):
    """What happens under a start method: harm to sources that suffer it; `breaks`: those that stop or hang."""

    name: str
    where: str
    breaks: int
    harms: dict[str, int]


class Worst(msgspec.Struct, frozen=True):
    """A source with many findings."""

    name: str
    findings: int
    breaking: int
    """Those that break on Python 3.14."""


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What a survey says in numbers."""

    sources: int
    outcomes: dict[Kind, int]
    files: int
    findings: int
    omitted: int
    """Findings beyond those that are kept of one source, which the other numbers leave out."""
    with_findings: int
    breaks_on_314: int
    """Sources that work with the default start method of Linux today, and not with the one of Python 3.14."""
    certain_on_314: int
    """Those of them in which a loader with workers meets the hazard; in the others, users who give them workers do."""
    methods: list[Method]
    rules: list[Rule]
    worst: list[Worst]
    seconds: float
    peak_mb: float
    tools: list[str]
    finished: str


def totals(database: Database) -> Totals:
    """The numbers of all sources. Raises NotUsable."""

    def number(query: str) -> int:
        return int(database.rows(query)[0][0] or 0)

    known: dict[str, int] = {
        kind: int(count) for kind, count in database.rows("SELECT outcome, count(*) FROM source GROUP BY outcome")
    }
    seconds, peak, finished = database.rows("SELECT total(seconds), max(peak_mb), max(finished) FROM source")[0]
    return Totals(
        sources=number("SELECT count(*) FROM source"),
        outcomes={kind: known[kind] for kind in KINDS if kind in known},
        files=number("SELECT sum(files) FROM source"),
        findings=number("SELECT count(*) FROM finding"),
        omitted=number("SELECT sum(omitted) FROM source"),
        with_findings=number("SELECT count(DISTINCT source) FROM finding"),
        breaks_on_314=number(f"SELECT count(DISTINCT source) FROM finding WHERE {NEW_ON_314}"),
        certain_on_314=number(
            f"SELECT count(DISTINCT source) FROM finding WHERE {NEW_ON_314} AND certainty = 'certain'"
        ),
        methods=[_method(database, name) for name in METHODS],
        rules=[Rule(code, name, int(findings), int(sources)) for code, name, findings, sources in _rules(database)],
        worst=[Worst(name, int(findings), int(breaking)) for name, findings, breaking in _worst(database)],
        seconds=round(float(seconds), 1),
        peak_mb=float(peak or 0),
        tools=[tool for (tool,) in database.rows("SELECT DISTINCT tool FROM source ORDER BY tool")],
        finished=finished or "",
    )


def _method(database: Database, name: str) -> Method:
    query = f"SELECT count(DISTINCT source) FROM finding WHERE {name}"
    breaks = int(database.rows(f"{query} IN {BREAKING}")[0][0])
    harms = {harm: int(database.rows(f"{query} = ?", harm)[0][0]) for harm in HARMS}
    return Method(name, METHODS[name], breaks, harms)


def _rules(database: Database) -> list[tuple[str, str, str, str]]:
    rows = database.rows(
        "SELECT code, rule, count(*), count(DISTINCT source) AS sources FROM finding "
        "GROUP BY code ORDER BY sources DESC, code"
    )
    return [(code, name, findings, sources) for code, name, findings, sources in rows]


def _worst(database: Database) -> list[tuple[str, str, str]]:
    rows = database.rows(
        f"SELECT source, count(*), sum({NEW_ON_314}) FROM finding GROUP BY source ORDER BY 3 DESC, 2 DESC, 1 LIMIT 10"
    )
    return [(name, findings, breaking) for name, findings, breaking in rows]
