"""Findings depend only on the files, the rules and the configuration, so an unchanged project reuses its verdict.

A verdict is all that the rules say of a whole project, before anybody's targets, with the fixes that somebody asked
for. Any other file, rule, key or Python makes another verdict. Files that matter to no loader are no part of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import msgspec

from dllint import registry
from dllint.cache import Cache, makers
from dllint.config import Config
from dllint.engine.reader import Survey
from dllint.files import Answers
from dllint.finding import Finding
from dllint.fix import Fix
from dllint.source import hashed


class Verdict(msgspec.Struct, frozen=True, array_like=True):
    """The findings of a whole project, in reading order, without what only their rules understand."""

    findings: tuple[Finding, ...]
    fixes: dict[int, Fix | None]
    """The position of a finding to its fix, where that was asked for."""
    lists: Answers
    """What the rules asked of other files: how long lists were, and what options are given."""


class Verdicts:
    """The verdicts that a cache has of a project under its configurations, each with the rules that it selects."""

    def __init__(
        self, cache: Cache, choices: Sequence[tuple[Config, frozenset[str], frozenset[str]]], heed: bool
    ) -> None:
        self._cache = cache
        judges = makers.of_verdicts(registry.folders())
        self._told = msgspec.to_builtins((choices, heed, judges), order="deterministic")

    def recall(self, survey: Survey) -> Verdict | None:
        """What an earlier run found in these files."""
        data = self._cache.entry("verdict", self._key(survey))
        try:
            return None if data is None else msgspec.msgpack.decode(data, type=Verdict)
        except msgspec.MsgspecError:
            return None

    def remember(self, survey: Survey, verdict: Verdict) -> None:
        """Keep what a run found: the findings outside of files aside, and by their positions the fixes."""
        findings, fixes = verdict.findings, verdict.fixes
        kept = [index for index, finding in enumerate(findings) if finding.path not in survey.aside]
        plain = tuple(msgspec.structs.replace(findings[index], data=None) for index in kept)
        before = self.recall(survey)
        same = before is not None and (before.findings, before.lists) == (plain, verdict.lists)
        known = dict(before.fixes) if before is not None and same else {}
        known |= {place: fixes[index] for place, index in enumerate(kept) if index in fixes}
        with contextlib.suppress(UnicodeEncodeError):  # a path that isn't text
            self._cache.keep("verdict", self._key(survey), msgspec.msgpack.encode(Verdict(plain, known, verdict.lists)))

    def _key(self, survey: Survey) -> str:
        told = (self._told, msgspec.to_builtins(survey.problems))
        paths = sorted(survey.relevant)
        containers = [(path, known.digest) for path, known in survey.containers.items()]
        read = b"".join([survey.seen[path].digest for path in paths])
        return hashed(repr((told, "\0".join(paths), containers)).encode("utf-8", "backslashreplace") + read)
