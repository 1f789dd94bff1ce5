"""`dllint completion`: for shells; and the rules that they complete."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

SHELLS = ("bash", "zsh", "fish")
_HELP = """Print the shell code that completes commands, options, and the codes of rules.

\b
bash:  echo 'eval "$(dllint completion bash)"' >> ~/.bashrc
zsh:   echo 'eval "$(dllint completion zsh)"' >> ~/.zshrc
fish:  dllint completion fish > ~/.config/fish/completions/dllint.fish
"""


@click.command("completion", help=_HELP)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script for a shell."""
    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(context.find_root().command, {}, "dllint", "_DLLINT_COMPLETE").source())


def selectors(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rules to select, behind those that are written already: codes, and names once one is begun."""
    from dllint import registry

    before, comma, last = incomplete.rpartition(",")
    words = [("ALL", "ALL", "every stable rule"), *((info.code, info.name, info.summary) for info in registry.infos())]
    words += [(family, family, "a family of rules") for family in registry.families()]
    found = []
    for code, name, summary in words:
        word = next((word for word in (code, name) if word.upper().startswith(last.upper())), "")
        found += [CompletionItem(f"{before}{comma}{word}", help=summary)] if word else []
    return found
