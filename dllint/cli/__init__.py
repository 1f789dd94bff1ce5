"""The command line. What it does is elsewhere, and imported when a command runs: `dllint --version` must be quick."""

from __future__ import annotations

import importlib
import os
import sys
from typing import IO, Any

from dllint import __version__
from dllint.garbage import forgotten, uncollected

with uncollected():
    import click

COMMANDS = {
    "check": "Find what breaks in workers, and fix it.",
    "review": "Print review comments for a pull request.",
    "rule": "Explain a rule.",
    "doctor": "Examine this machine: shared memory, limits and defaults; what will fail, and how to solve it.",
    "explain": "Explain an error message or a log: what happened, and which line causes it.",
    "survey": "Check many repositories and archives, and store the results in a database.",
    "test": "Run the pages of rules as tests.",
    "probe": "Run a loader under each start method. This command runs your code.",
    "config": "List or explain the configuration keys.",
    "completion": "Print the shell code that completes commands, options and rules.",
    "server": "Run the language server, for editors.",
    "clean": "Delete the cached data of this project, or of all projects.",
    "version": "Print the version.",
}
"""Each command with its line of help. `dllint.cli.NAME` has it as `command`, and is imported when it is asked for."""


class Problem(click.ClickException):
    """Something that a person must correct: exit status 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        from dllint.report import shown  # the message may have names of files

        click.echo("\n".join(map(shown, f"error: {self.format_message()}".split("\n"))), err=True)


class _Commands(click.Group):
    """The commands of `COMMANDS`, each imported when it runs or when its help is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with uncollected():
            command: click.Command = importlib.import_module(f"dllint.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # only for what is misspelt

            close = get_close_matches(args[0], COMMANDS, n=1)
            meant = f"did you mean {close[0]!r}?" if close else f"commands are {', '.join(COMMANDS)}"
            if os.path.exists(args[0]) and not close:
                meant = f"to check it: dllint check {args[0]}"
            raise click.UsageError(f"no such command {args[0]!r}; {meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def main() -> None:
    """The entry point: exit status 0, 1 for findings, 2 for everything that went wrong, 130 when interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = cli.main(prog_name="dllint", standalone_mode=False, obj=forgotten)  # when a command has done its work
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt) as stopped:
        said = str(stopped.__cause__ or stopped)
        if said:
            click.echo(f"interrupted: {said}", err=True)
        status = 130
    except Exception as error:
        from dllint.reduce import told

        click.echo(f"error: internal error, please report it: {told(error)}", err=True)
        status = 2
    forgotten()
    sys.exit(status)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="dllint %(version)s")
def cli() -> None:
    """Find and fix the code that breaks, bloats or hangs in DataLoader and multiprocessing workers."""
