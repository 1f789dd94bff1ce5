"""`dllint clean`: an empty cache."""

from __future__ import annotations

import click

from dllint.cli import Problem


@click.command("clean")
@click.option("--cache-dir", metavar="FOLDER", envvar="DLLINT_CACHE_DIR", default="", help="Where the cache is kept.")
def command(cache_dir: str) -> None:
    """Remove what earlier runs learned of any project."""
    from dllint import cache, config, registry

    try:
        freed = cache.clean(cache_dir or config.load(()).cache_dir)
    except (OSError, config.ConfigError, registry.RegistryError) as error:
        raise Problem(str(error)) from error
    click.echo(f"{freed / 1e6:.1f} MB removed.")
