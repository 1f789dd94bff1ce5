"""`dllint server`: what editors talk to."""

from __future__ import annotations

import importlib.util

import click

from dllint.cli import Problem


@click.command("server")
@click.option("--stdio", is_flag=True, help="Communicate over standard input and output (always on).")
def command(stdio: bool) -> None:
    """Run the language server, for editors."""
    if importlib.util.find_spec("pygls") is None or importlib.util.find_spec("lsprotocol") is None:
        raise Problem("the language server needs `pip install 'dllint[lsp]'`")
    from dllint.editor.server import serve

    serve()
