"""`dllint explain`: what an error message means, and which line causes it."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

import click

from dllint.cli import COMMANDS, Problem
from dllint.cli.output import colored

if TYPE_CHECKING:
    from dllint.engine import Request
    from dllint.runtime.explain.reading import Reading

_PIECE = 1 << 20
_PATH = re.compile(r"([A-Za-z]:)?[^:'\"`]*([/\\][^:'\"`]*|\.\w{1,8})")
"""Text that names a file, not an error: it has a separator or a suffix, and neither quotes nor colons."""


@click.command("explain")
@click.argument("words", nargs=-1, metavar="[LOG | - | MESSAGE]")
@click.option("--run", "program", is_flag=True, help="Run a program and explain its output: --run -- python train.py")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
              help="With --run: after this time, show the program's stacks and end it.")  # fmt: skip
@click.option(
    "--project",
    default=".",
    metavar="PATH",
    type=click.Path(exists=True),
    help="The project to search; default: the current folder.",
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--no-cache", is_flag=True, envvar="DLLINT_NO_CACHE", help="Do not read or write the cache.")
@click.option("--cache-dir", metavar="FOLDER", envvar="DLLINT_CACHE_DIR", default="", help="The cache folder.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colors in the output.")
@click.pass_context
def command(
    context: click.Context,
    words: tuple[str, ...],
    program: bool,
    timeout: float | None,
    project: str,
    output_format: str,
    no_cache: bool,
    cache_dir: str,
    color: str,
) -> None:
    """Explain a log or traceback: what happened, and which line of the project causes it.

    Reads LOG, or standard input: `python train.py 2>&1 | dllint explain -`. A MESSAGE in quotes works, too. The exit
    status is 0 if dllint recognized something, and 1 if it did not. With --run, it is the status of the program.
    """
    from dllint.config import ConfigError
    from dllint.engine import Request
    from dllint.report.summary import many

    if program:
        status, reading = _run(words, timeout)
    elif timeout is not None:
        raise click.UsageError("--timeout needs --run")
    else:
        status, reading = None, _read(words)
    if not reading.seen:
        click.echo(
            f"{many(reading.lines, 'line')} read; dllint recognizes no message.{'' if program else _hint(words)}",
            err=True,
        )
        context.exit(1 if status is None else status)
    request = Request(paths=(project,), cache=not no_cache, cache_dir=cache_dir)
    try:
        crashes = _tell(reading, request, output_format, color, sys.stderr if program else sys.stdout)
    except ConfigError as error:
        raise Problem(str(error)) from error
    for crash in crashes:
        click.echo(f"error: {crash}", err=True)
    context.exit(2 if crashes else status or 0)


def _tell(reading: Reading, request: Request, output_format: str, color: str, stream: IO[str]) -> tuple[str, ...]:
    """Explain and print; what went wrong in dllint itself comes back."""
    from dllint import registry
    from dllint.engine import inspect
    from dllint.report import Context
    from dllint.report.paint import Paint
    from dllint.runtime.explain import explain, json, text
    from dllint.runtime.explain.places import plain

    inspection = inspect(request, [plain(seen.name) for seen in reading.seen])
    explanation = explain(reading, inspection)
    where = Context(
        root=inspection.root,
        cwd=os.getcwd(),
        rules=registry.by_code(),
        source=inspection.source,
        paint=Paint(colored(color, stream)),
    )
    render = json.render if output_format == "json" else text.render
    click.echo(render(explanation, inspection, where, COMMANDS), file=stream, nl=False, color=True)
    return inspection.crashes


def _run(words: tuple[str, ...], timeout: float | None) -> tuple[int, Reading]:
    from dllint.runtime.explain.program import run

    if not words:
        raise click.UsageError("--run needs a command: dllint explain --run -- python train.py")
    try:
        return run(words, timeout)
    except OSError as error:
        raise Problem(f"{words[0]}: {error.strerror or error}") from error


def _read(words: tuple[str, ...]) -> Reading:
    from dllint.runtime.explain.reading import read

    if len(words) > 1:
        raise click.UsageError("explain one log at a time; to run a program, use --run -- COMMAND")
    if not words or words[0] == "-":
        if sys.stdin.isatty():
            click.echo("Paste the message, then press Ctrl-D (Windows: Ctrl-Z, Enter).", err=True)
        return read(_pieces(sys.stdin.buffer))
    if " " in words[0] and not os.path.exists(words[0]):
        return read([words[0].encode("utf-8", "surrogateescape")])
    try:
        with open(words[0], "rb") as log:
            return read(_pieces(log))
    except OSError as error:
        raise Problem(f"{words[0]}: {error.strerror or error}") from error


def _hint(words: tuple[str, ...]) -> str:
    """What to give instead of words that name no message. Raises Problem if they look like the path of a file."""
    if len(words) != 1 or words[0] == "-" or os.path.exists(words[0]):
        return ""
    if _PATH.fullmatch(words[0]):
        raise Problem(f"{words[0]}: {os.strerror(errno.ENOENT)}")
    return "" if ":" in words[0] else " Give the whole line of the error, as `TypeError: ...`, or a file."


def _pieces(log: IO[bytes]) -> Iterator[bytes]:
    while piece := log.read(_PIECE):
        yield piece
