"""Two surveys compared, project by project: a new version of a package or a later commit is the same project."""

from __future__ import annotations

from collections import Counter

import msgspec

from dllint.survey.database import Database
from dllint.survey.totals import NEW_ON_314


class Change(msgspec.Struct, frozen=True):
    """How many findings of a rule came and went."""

    code: str
    name: str
    before: int
    after: int
    new: int
    gone: int


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """What has changed in the projects that both surveys analyzed."""

    both: int
    only_before: int
    only_after: int
    breaks_before: int
    """Of those in both: how many broke on Python 3.14."""
    breaks_after: int
    broken: list[str]
    """The projects that break now and did not."""
    mended: list[str]
    rules: list[Change]
    same_tool: bool


class _Findings:
    """The findings of a survey by project."""

    def __init__(self, database: Database) -> None:
        self.projects = {row[0] for row in database.rows("SELECT DISTINCT project FROM source WHERE outcome = 'ok'")}
        self.tools = {row[0] for row in database.rows("SELECT DISTINCT tool FROM source")}
        self.keys: Counter[tuple[str, str, str]] = Counter()
        self.names: dict[str, str] = {}
        self.breaking: set[str] = set()
        rows = database.rows(
            f"SELECT project, code, rule, fingerprint, {NEW_ON_314} FROM finding JOIN source ON source.name = source"
        )
        for project, code, rule, fingerprint, breaks in rows:
            self.keys[project, code, fingerprint] += 1
            self.names[code] = rule
            if breaks:
                self.breaking.add(project)

    def of(self, projects: set[str]) -> Counter[tuple[str, str, str]]:
        """The findings of these projects."""
        return Counter({key: number for key, number in self.keys.items() if key[0] in projects})


def trend(before: Database, after: Database) -> Trend:
    """What has changed between two surveys. Raises NotUsable."""
    old, new = _Findings(before), _Findings(after)
    both = old.projects & new.projects
    was, now = old.breaking & both, new.breaking & both
    return Trend(
        both=len(both),
        only_before=len(old.projects - both),
        only_after=len(new.projects - both),
        breaks_before=len(was),
        breaks_after=len(now),
        broken=sorted(now - was),
        mended=sorted(was - now),
        rules=_changes(old.of(both), new.of(both), {**old.names, **new.names}),
        same_tool=old.tools == new.tools,
    )


def _changes(
    old: Counter[tuple[str, str, str]], new: Counter[tuple[str, str, str]], names: dict[str, str]
) -> list[Change]:
    def by_code(keys: Counter[tuple[str, str, str]]) -> Counter[str]:
        counted: Counter[str] = Counter()
        for (_, code, _), number in keys.items():
            counted[code] += number
        return counted

    before, after, came, went = by_code(old), by_code(new), by_code(new - old), by_code(old - new)
    return [
        Change(code, names[code], before[code], after[code], came[code], went[code])
        for code in sorted(before.keys() | after.keys())
    ]
