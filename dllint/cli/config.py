"""`dllint config`: the keys of a configuration file."""

from __future__ import annotations

import json

import click
from click.shell_completion import CompletionItem

from dllint.cli import Problem


def _names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from dllint import schema

    return [
        CompletionItem(key.name, help=key.description.partition(". ")[0])
        for key in schema.keys().values()
        if key.name.startswith(incomplete)
    ]


@click.command("config")
@click.argument("names", nargs=-1, metavar="[KEY]...", shell_complete=_names)
@click.option("--schema", "as_schema", is_flag=True, help="Print the JSON schema of the configuration.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(names: tuple[str, ...], as_schema: bool, output_format: str) -> None:
    """List the keys of the configuration, or explain some."""
    import msgspec

    from dllint import mistakes, schema

    if as_schema:
        click.echo(schema.text(), nl=False)
        return
    known = schema.keys()
    unknown = next((name for name in names if name not in known), "")
    if unknown:
        raise Problem(mistakes.unknown(unknown, "tool.dllint"))
    if output_format == "json":
        click.echo(json.dumps(msgspec.to_builtins([known[name] for name in names or known]), indent=2))
        return
    if not names:
        width = max(map(len, known))
        for key in known.values():
            click.echo(f"{key.name.ljust(width)}  {key.description.partition('. ')[0].rstrip('.')}")
    for name in names:
        key = known[name]
        click.echo(f"{key.name}\n\n{key.description}\n\nType: {key.type}\nDefault: {key.default}\n")
        click.echo(f"    [tool.dllint]\n    {key.example}\n")
        for inner in key.keys:
            click.echo(f"{inner.name}: {inner.description} Default: {inner.default}.\n\n    {inner.example}\n")
