"""What a run would do: `--show-files` and `--show-settings`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dllint.engine import Request, Result


def show_files(request: Request) -> None:
    """The files that would be reported on, as seen from the working directory."""
    from dllint.engine import plan
    from dllint.report import shown

    planned = plan(request)
    written = shown if sys.stdout.isatty() else str  # a program gets the names as they are
    for path in sorted(planned.targets):
        click.echo(written(os.path.relpath(os.path.join(planned.config.root, path)).replace(os.sep, "/")))


def show_settings(request: Request) -> None:
    """The configuration as it was understood, each value where it holds; and the rules that it comes to."""
    import msgspec

    from dllint.engine import plan

    planned = plan(request)
    table = msgspec.to_builtins(planned.config)
    click.echo(f"# {planned.config.file or 'no configuration file'}")
    for name, value in (*_lines(table, ""), ("rules", sorted(planned.codes))):
        click.echo(f"{name} = {json.dumps(value, ensure_ascii=False)}")


def tell_run(result: Result, request: Request, seconds: float) -> None:
    """What a run did, on standard error: for `--verbose`."""
    from dllint.engine import plan

    planned = plan(request)
    cached = "not used" if not request.cache else request.cache_dir or result.config.cache_dir or "the user's"
    lines = (
        f"project: {result.root}",
        f"configurations: {', '.join(planned.configurations) or 'none'}",
        f"files: {len(planned.files)} in the project, {result.checked} reported on",
        f"rules: {len(result.codes)}",
        f"targets: {', '.join(result.config.targets.platforms)}; Python {result.config.targets.pythons or 'any'}",
        f"cache: {cached}",
        f"time: {seconds:.2f} s",
    )
    for line in lines:
        click.echo(line, err=True)


def _lines(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict) and name in ("layer", "targets"):
            yield from _lines(value, f"{name}.")
        else:
            yield f"{prefix}{name.replace('_', '-')}", value
