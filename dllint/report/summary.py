"""What is said after the findings, on stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from dllint.fix import Applicability
from dllint.report import Context, Findings


def fixes(
    applied: Collection[tuple[str, str, str]], findings: Findings, context: Context, listed: bool
) -> Iterator[str]:
    """How many findings of which rules were fixed, and how many fixes were refused; if `listed`, how, and why not.

    `applied` has the path, the code and the title of each fix.
    """
    yield from _counted("Fixed", Counter(code for _, code, _ in applied))
    for path, code, title in sorted(applied) if listed else ():
        yield f"  {context.relative(path)}: {code} {title}"
    for finding, fix in findings if listed else ():
        if fix is not None and fix.applicability is Applicability.MANUAL:
            yield f"  {context.relative(finding.path)}: {finding.code} not fixed: {fix.title}"
    refused = sum(finding.code == "DLL904" for finding, _ in findings)
    if refused:
        yield f"{refused} {'fix' if refused == 1 else 'fixes'} refused (DLL904)."


def silenced(counts: Mapping[str, int]) -> Iterator[str]:
    """How many findings of which rules got a comment."""
    yield from _counted("Silenced", counts)


def _counted(what: str, counts: Mapping[str, int]) -> Iterator[str]:
    details = ", ".join(f"{code} {number}" for code, number in sorted(counts.items()))
    if details:
        yield f"{what} {_many(sum(counts.values()), 'finding')} ({details})."


def lines(findings: Findings, checked: int, platforms: Sequence[str]) -> Iterator[str]:
    """Counts, what can be fixed, and what the declared targets would change."""
    files = _many(checked, "file")
    yield f"{_found(findings)} in {files}."
    skipped = sum(finding.code == "DLL903" for finding, _ in findings)
    if skipped:
        yield f"{_many(skipped, 'file')} not analysed."
    yield from _fixable(findings)
    yield from _elsewhere(findings, platforms)


def _found(findings: Findings) -> str:
    causes = len({(finding.path, finding.span) for finding, _ in findings})
    text = _many(len(findings), "finding")
    return text if causes == len(findings) else f"{text}, {_many(causes, 'cause')}"


def _fixable(findings: Findings) -> Iterator[str]:
    count = Counter(fix.applicability for _, fix in findings if fix)
    safe, unsafe = count[Applicability.SAFE], count[Applicability.UNSAFE]
    if safe:
        yield f"{safe} fixable with `--fix`{f', {unsafe} more with `--unsafe-fixes`' if unsafe else ''}."
    elif unsafe:
        yield f"{unsafe} fixable with `--fix --unsafe-fixes`."


def _elsewhere(findings: Findings, platforms: Sequence[str]) -> Iterator[str]:
    """Findings that a project for Linux and Python below 3.14, whose default is fork, would not have."""
    spared = sum(finding.outcomes.get("fork") == "ok" for finding, _ in findings)
    if spared and tuple(platforms) != ("linux",):
        yield (
            f'{spared} would vanish with `target-platforms = ["linux"]` and `target-python = "<3.14"` in the '
            "configuration."
        )


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
