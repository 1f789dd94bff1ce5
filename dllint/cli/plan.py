"""What a run would do (`--show-files`, `--show-settings`), what it did, and how long that took."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dllint.engine import Request, Result
    from dllint.engine.progress import Timings

_SLOWEST = 5
"""So many of the slowest files and rules are named."""
_WORTH_TELLING = 0.005
"""Seconds."""


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
    table["targets"]["loaders"] = {name: known._asdict() for name, known in planned.config.targets.loaders.items()}
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


def tell_timings(timings: Timings, seconds: float) -> None:
    """How long a run and its steps took, on standard error: for `--timings`."""
    from dllint.report import shown

    for what, named in timings.seconds.items():
        slowest = sorted(named.items(), key=lambda item: -item[1])[:_SLOWEST]
        told = ", ".join(f"{shown(name)} {taken:.2f} s" for name, taken in slowest if taken >= _WORTH_TELLING)
        total = f"{what}: {sum(named.values()):.2f} s for {len(named)}"
        click.echo(f"{total}; slowest: {told}" if told else total, err=True)
    if timings.given_up:
        click.echo(f"questions given up: {timings.given_up}; their answers came and went and are not known", err=True)
    if timings.unasked:
        click.echo(f"files not asked for numbers of workers: {timings.unasked}, as there are too many", err=True)
    click.echo(f"time: {seconds:.2f} s", err=True)


def _lines(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict) and name in ("layer", "targets"):
            yield from _lines(value, f"{name}.")
        else:
            yield f"{prefix}{name.replace('_', '-')}", value
