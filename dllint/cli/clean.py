"""`dllint clean`: an empty cache."""

from __future__ import annotations

import click

from dllint.cli import Problem


@click.command("clean")
@click.argument("paths", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Delete the data of all projects.")
@click.option("--cache-dir", metavar="FOLDER", envvar="DLLINT_CACHE_DIR", default="", help="The cache folder.")
def command(paths: tuple[str, ...], every: bool, cache_dir: str) -> None:
    """Delete the cached data of the project of PATHS (default: the current folder)."""
    from dllint import cache, config, registry

    if every and paths:
        raise click.UsageError("--all cannot be combined with paths")
    try:
        own = config.load(paths)
        home = cache_dir or own.cache_dir
        freed = cache.clean(home) if every else cache.forget(own.root, home)
    except (OSError, config.ConfigError, registry.RegistryError) as error:
        raise Problem(str(error)) from error
    click.echo(f"Deleted {freed / 1e6:.1f} MB of cached data of {'all projects' if every else own.root}.")
