"""`dllint version`: which one this is."""

from __future__ import annotations

import json
import platform

import click

from dllint import __version__


@click.command("version")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(output_format: str) -> None:
    """Print the version of dllint. As JSON, include the versions that a bug report needs."""
    told = {"version": __version__, "python": platform.python_version(), "platform": platform.platform()}
    click.echo(json.dumps(told, indent=2) if output_format == "json" else f"dllint {__version__}")
