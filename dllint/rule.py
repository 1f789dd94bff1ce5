"""The base class of all rules. A rule is stateless: it asks the project and yields findings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import msgspec

from dllint.finding import Finding, Severity

if TYPE_CHECKING:
    from dllint.fix import Fix
    from dllint.project import Project


class RuleInfo(msgspec.Struct, frozen=True):
    """A rule's metadata, without its code."""

    code: str
    name: str
    summary: str
    severity: Severity
    fixable: str
    default: bool
    status: str
    since: str
    page: str
    """Path of the rule's page, beside its module."""
    triggers: tuple[bytes, ...] = ()
    containers: bool = False
    formerly: tuple[str, ...] = ()
    """Codes and names that the rule had, or that rules had which it has taken over."""

    @property
    def family(self) -> str:
        """The rule's folder: its topic in one word."""
        return os.path.basename(os.path.dirname(self.page)).replace("_", "-")

    def url(self, site: str) -> str:
        """The rule's page on the site at this address; "" for rules of others, whose pages are elsewhere."""
        folders = self.page.replace(os.sep, "/").removesuffix(".md").split("/")
        for folder, path in (("dllint_rules", "rules/dllint_rules"), ("diagnostics", "dllint/diagnostics")):
            if site and folder in folders[-3:-1]:
                return "/".join((site.rstrip("/"), path, *folders[folders.index(folder) + 1 :], ""))
        return ""


class Rule:
    """One hazard.

    `fixable` is "never", "sometimes" or "always"; `default` says whether it reports without being selected;
    `triggers` are byte strings: a file that has one of them is read even when neither it nor its program names a
    loader, a dataset or a process. Few rules need one, and each one makes every run read more files. Container files
    are read only when a rule with `containers` is selected. `since` is the first version that has the rule, and
    `formerly` has the codes and names that selectors and comments may still use for it.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    severity: ClassVar[Severity] = Severity.ERROR
    fixable: ClassVar[str] = "never"
    default: ClassVar[bool] = True
    status: ClassVar[str] = "stable"
    since: ClassVar[str] = "0.1.0"
    triggers: ClassVar[tuple[bytes, ...]] = ()
    containers: ClassVar[bool] = False
    formerly: ClassVar[tuple[str, ...]] = ()

    def check(self, project: Project) -> Iterator[Finding]:
        """Every occurrence of the hazard in the project."""
        raise NotImplementedError  # pragma: no cover

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        """Edits that remove this finding, or None where no edit is known to be right."""
        return None
