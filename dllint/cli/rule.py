"""`dllint rule`: what a rule's page says."""

from __future__ import annotations

import json
import sys

import click

from dllint.cli import Problem
from dllint.cli.completion import selectors


@click.command("rule")
@click.argument("words", nargs=-1, metavar="CODE|NAME...", shell_complete=selectors)
@click.option("--all", "every", is_flag=True, help="List all rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(words: tuple[str, ...], every: bool, output_format: str) -> None:
    """Explain a rule."""
    from dllint import config, registry
    from dllint.report import page

    if not words and not every:
        raise click.UsageError("name a rule, or use --all")
    try:
        if output_format == "json":
            asked = registry.infos() if every else [registry.lookup(word) for word in words]
            site = config.load((".",)).docs_url
            click.echo(json.dumps([page.record(info, site) for info in asked], indent=2))
            return
        if every:
            click.echo(page.table(registry.infos()), nl=False)
        for word in words:
            text = page.text(registry.lookup(word))
            page.show(text) if sys.stdout.isatty() else click.echo(text, nl=False)
    except (config.ConfigError, registry.RegistryError, registry.UnknownRule) as error:
        raise Problem(str(error)) from error
