"""Options that leave findings out of a report: `--diff-base`, `--baseline` and `--write-baseline`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from dllint.cli import Problem
from dllint.cli.output import write

if TYPE_CHECKING:
    from dllint.engine import Result
    from dllint.report import Context
    from dllint.review.baseline import Compared

SHOWN = 10
"""How many entries of a baseline are listed one by one."""


def refuse(options: dict[str, Any], stdin: bool) -> None:
    """Options that make no sense together."""
    writing = ("fix", "fix_only", "diff", "add_noqa")
    changes = stdin or any(options[name] not in (False, None) for name in writing)
    if options["verify_cache"] and (changes or options["no_cache"]):
        raise click.UsageError("--verify-cache cannot be combined with fixes, --add-noqa, --no-cache or standard input")
    if options["write_baseline"] and not options["baseline"]:
        raise click.UsageError("--write-baseline needs --baseline FILE, the file to write")
    if not options["diff_base"]:
        return
    if options["write_baseline"]:
        raise click.UsageError("--write-baseline needs all findings, not those of --diff-base")
    if changes:
        raise click.UsageError("--diff-base cannot be combined with fixes, --add-noqa or standard input")


def to_change(result: Result, context: Context, ref: str) -> tuple[Result, Context]:
    """Only what the change since a ref touches."""
    import msgspec

    from dllint.review import changes, git

    try:
        changed = changes.since(result.root, ref)
    except git.GitError as error:
        raise Problem(str(error)) from error
    kept = tuple(item for item in result.findings if changed.concern(item[0], context))
    touches = msgspec.structs.replace(context, touches=lambda path, span: changed.touch(path, span, context))
    return msgspec.structs.replace(result, findings=kept), touches


def to_new(result: Result, file: str, rewrite: bool) -> tuple[Result, list[str]]:
    """Only what the baseline does not know, and what there is to tell of it; the file written again, if asked."""
    import msgspec

    from dllint.review import baseline

    def looked_at(path: str) -> bool:
        return path in result.targets or not os.path.exists(os.path.join(result.root, path))

    try:
        known = baseline.read(file) if not rewrite or os.path.exists(file) else ()
    except baseline.BaselineError as error:
        raise Problem(str(error)) from error
    compared = baseline.compare(result.findings, known, result.codes, looked_at)
    if not rewrite:
        told = list(_told(compared, len(result.findings) - len(compared.new), file))
        return msgspec.structs.replace(result, findings=tuple(compared.new)), told
    if result.crashes:
        raise Problem(f"{file} was not written, because the run failed: {result.crashes[0]}")
    write(file, baseline.written(result.findings, compared.unseen))
    left = tuple(item for item in result.findings if item[0].code in baseline.NEVER)
    kept = len(result.findings) - len(left)
    return msgspec.structs.replace(result, findings=left), [f"{file}: {kept} finding{'' if kept == 1 else 's'} kept."]


def _told(compared: Compared, known: int, file: str) -> Iterator[str]:
    if known:
        yield f"{known} known from {file}, not shown."
    gone = compared.gone
    for entry in gone[:SHOWN]:
        yield f"gone: {entry.path}: {entry.code} {entry.message}"
    if gone:
        more = f"{len(gone) - SHOWN} more are gone; " if len(gone) > SHOWN else ""
        yield f"{more}--write-baseline removes what is gone from {file}."
