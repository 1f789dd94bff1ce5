"""What a run would do: `--show-files` and `--show-settings`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dllint.engine import Request


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


def _lines(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict) and name in ("layer", "targets"):
            yield from _lines(value, f"{name}.")
        else:
            yield f"{prefix}{name.replace('_', '-')}", value
