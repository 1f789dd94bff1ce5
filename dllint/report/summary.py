"""What is said after the findings, on stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence, Set

from dllint.fix import Applicability
from dllint.report import Context, Findings, shown
from dllint.report.designs import counted
from dllint.start_methods import LINUX_FORKS_BEFORE


def fixes(
    applied: Collection[tuple[str, str, str]], findings: Findings, context: Context, listed: bool, what: str = "Fixed"
) -> Iterator[str]:
    """How many findings of which rules were fixed, and how many fixes were refused; if `listed`, how, and why not.

    `applied` has the path, the code and the title of each fix.
    """
    yield from _counted(what, Counter(code for _, code, _ in applied))
    for path, code, title in sorted(applied) if listed else ():
        yield f"  {context.name(path)}: {code} {shown(title)}"
    for finding, fix in findings if listed else ():
        if fix is not None and fix.applicability is Applicability.MANUAL:
            yield f"  {context.name(finding.path)}: {finding.code} not fixed: {shown(fix.title)}"
    refused = sum(finding.code == "DLL904" for finding, _ in findings)
    if refused:
        yield f"{refused} {'fix' if refused == 1 else 'fixes'} refused (DLL904)."


def left(findings: Findings) -> Iterator[str]:
    """What `--fix-only` does not show; the fixes of what is left were made."""
    number = sum(finding.code != "DLL904" for finding, _ in findings)
    if number:
        yield f"{many(number, 'finding')} left."
        yield from _fixable(findings)


def unshown(findings: Findings) -> Iterator[str]:
    """What a diff does not show: the findings whose fixes are not among those to be applied."""
    count = Counter(fix.applicability for _, fix in findings if fix)
    if count[Applicability.UNSAFE]:
        number = count[Applicability.UNSAFE]
        yield f"{many(number, 'unsafe fix', 'unsafe fixes')} not shown; `--unsafe-fixes` shows {_them(number)}."
    without = len(findings) - count[Applicability.UNSAFE] - count[Applicability.SAFE]
    if without:
        yield f"{many(without, 'finding')} without a fix that dllint can apply."


def _them(number: int) -> str:
    return "it" if number == 1 else "them"


def silenced(counts: Mapping[str, int]) -> Iterator[str]:
    """How many findings of which rules got a comment."""
    yield from _counted("Silenced", counts)


def _counted(what: str, counts: Mapping[str, int]) -> Iterator[str]:
    details = ", ".join(f"{code} {number}" for code, number in sorted(counts.items()))
    if details:
        yield f"{what} {many(sum(counts.values()), 'finding')} ({details})."


def lines(
    findings: Findings,
    checked: Set[str],
    platforms: Sequence[str],
    perhaps: Container[str] | None = None,
    projects: int = 1,
) -> Iterator[str]:
    """Counts, what can be fixed, and what the declared targets would change. `checked` are the files reported on.

    `perhaps` are the rules that have fixes, where those of the findings were not made. `projects` were checked alone.
    """
    files = {finding.path for finding, _ in findings}
    yield f"{_found(findings)} in {many(len(files or checked), 'file')}{_besides(files, checked, projects)}."
    skipped = sum(finding.code == "DLL903" for finding, _ in findings)
    if skipped:
        yield f"{many(skipped, 'file')} not analyzed."
    yield from _fixable(findings) if perhaps is None else _perhaps_fixable(findings, perhaps)
    yield from _elsewhere(findings, platforms)


def _besides(files: Set[str], checked: Set[str], projects: int) -> str:
    """How many files were checked, if it isn't those with findings: a cause may be in a file that was not named."""
    several = f" in {projects} projects" if projects > 1 else ""
    if not files <= checked:
        return f", on routes through {many(len(checked), 'checked file')}{several}"
    return f", {len(checked)} checked{several}" if several or files not in (set(), checked) else ""


def _found(findings: Findings) -> str:
    """Places, designs, and how many places have several findings."""
    causes = len({(finding.path, finding.span) for finding, _ in findings})
    text = counted(findings)
    return text if causes == len(findings) else f"{text}, {many(causes, 'cause')}"


def _fixable(findings: Findings) -> Iterator[str]:
    count = Counter(fix.applicability for _, fix in findings if fix)
    safe, unsafe = count[Applicability.SAFE], count[Applicability.UNSAFE]
    if safe:
        yield f"{safe} fixable with `--fix`{f', {unsafe} more with `--unsafe-fixes`' if unsafe else ''}."
    elif unsafe:
        yield f"{unsafe} fixable with `--fix --unsafe-fixes`."


def _perhaps_fixable(findings: Findings, codes: Container[str]) -> Iterator[str]:
    number = sum(finding.code in codes for finding, _ in findings)
    if number:
        yield f"Up to {number} fixable: `--diff --unsafe-fixes` shows {'it' if number == 1 else 'which, and how'}."


def _elsewhere(findings: Findings, platforms: Sequence[str]) -> Iterator[str]:
    """Findings that a project for Linux and the Pythons that fork there would not have."""
    spared = sum(finding.outcomes.get("fork") == "ok" for finding, _ in findings)
    if spared and tuple(platforms) != ("linux",):
        yield (
            f"{spared} would vanish if the project ran on Linux below Python {LINUX_FORKS_BEFORE} only: "
            f"`--target-platforms linux --target-python '<{LINUX_FORKS_BEFORE}'`."
        )


def many(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
