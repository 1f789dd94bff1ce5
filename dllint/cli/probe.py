"""`dllint probe`: a real loader on real torch. The one command that runs the code of a project."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from dllint.cli import Problem
from dllint.cli.output import colored, write
from dllint.start_methods import NAMES

if TYPE_CHECKING:
    from dllint.runtime.probe.plan import Request
    from dllint.runtime.probe.report import Report


def _counts(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Numbers of workers, comma-separated."""
    if value is None:
        return None
    words = [word.strip() for word in value.split(",") if word.strip()]
    if not all(word.isdigit() for word in words):
        raise click.BadParameter(f"{value!r} is not a list of numbers of workers, such as 0,2,4")
    return tuple(sorted({int(word) for word in words}))


def _target(context: click.Context, option: click.Parameter, value: str) -> str:
    name, _, attribute = value.rpartition(":")
    if not name or not all(part.isidentifier() for part in attribute.split(".")):
        raise click.BadParameter(f"{value!r} is not module:attribute or file.py:attribute")
    return value


def _plot(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    if value is not None and value != "-" and not value.endswith((".svg", ".png")):
        raise click.BadParameter(f"{value!r} is neither a .svg or .png file nor `-` for the terminal")
    return value


@click.command("probe")
@click.argument("target", metavar="MODULE:ATTRIBUTE", callback=_target)
@click.option(
    "--start-method", "methods", multiple=True, type=click.Choice(NAMES), help="Default: all that the platform has."
)
@click.option(
    "--workers", type=click.IntRange(0), metavar="N", default=0, help="Default: the loader's own number, or 2."
)
@click.option("--items", type=click.IntRange(1), metavar="N", default=2000, help="Items to read.", show_default=True)
@click.option("--seconds", type=click.FloatRange(0.1), default=20.0, help="Time limit for reading.", show_default=True)
@click.option("--scaling", metavar="N,N", callback=_counts, help="Numbers of workers to time; '' for none.")
@click.option(
    "--timeout", type=click.FloatRange(1), default=120.0, help="Time limit of a process in seconds.", show_default=True
)
@click.option(
    "--idle",
    type=click.FloatRange(1),
    default=20.0,
    help="Seconds without activity that count as a hang.",
    show_default=True,
)
@click.option(
    "--memory-limit",
    "memory",
    type=click.FloatRange(0),
    default=0.0,
    metavar="MB",
    help="Default: 80 % of what is free.",
)
@click.option("--check", is_flag=True, help="Compare the findings of `dllint check` with the result.")
@click.option("--compare", metavar="OLD.json", help="Show what changed since an earlier JSON report.")
@click.option(
    "--plot", callback=_plot, metavar="FILE", help="Plot memory over items: a .svg or .png file, or - for text."
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colors in the output.")
@click.pass_context
def command(context: click.Context, /, **options: Any) -> None:
    """Run a loader, or a dataset, under each start method, and show what breaks, grows and repeats.

    This runs your code: dllint imports the module, takes the attribute (and calls a function without arguments), and
    reads items. It does so in separate processes with limits on time, memory and output.
    """
    missing = [name for name in ("torch", "psutil") if not _installed(name)]
    if missing:
        raise Problem(f"{' and '.join(missing)} not installed here; run pip install 'dllint[probe]'")
    if options["plot"] and options["plot"].endswith(".png") and not _installed("matplotlib"):
        raise Problem("a PNG needs matplotlib, which is not installed; --plot FILE.svg works without it")
    context.exit(_run(options))


def _installed(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


def _run(options: dict[str, Any]) -> int:
    from dllint.config import ConfigError
    from dllint.report import shown
    from dllint.runtime.probe import text
    from dllint.runtime.probe.against import against, used_methods
    from dllint.runtime.probe.progress import progress
    from dllint.runtime.probe.run import Internal, Misuse, Probe

    before = _report(options["compare"]) if options["compare"] else None
    request = _request(options)
    try:
        used = used_methods()
        click.echo(shown(text.said_first(request.target, request.methods)), err=True)
        with progress() as show:
            report = Probe(request, used, show).run()
        if options["check"]:
            report = against(report)
    except Misuse as error:
        raise Problem(f"{request.target}: {error}") from None
    except ConfigError as error:
        raise Problem(str(error)) from None
    except Internal as error:
        raise Problem(f"internal error, please report it: {error}") from None
    _show(report, before, options)
    return int(report.failed)


def _request(options: dict[str, Any]) -> Request:
    import multiprocessing

    from dllint.runtime.probe.plan import Request

    able = multiprocessing.get_all_start_methods()
    methods = tuple(dict.fromkeys(options["methods"])) or tuple(name for name in NAMES if name in able)
    if unable := [name for name in methods if name not in able]:
        raise click.UsageError(f"this platform does not have the start method {unable[0]}")
    names = ("target", "workers", "items", "seconds", "scaling", "timeout", "idle", "memory")
    return Request(methods=methods, **{name: options[name] for name in names})


def _report(path: str) -> Report:
    """An earlier report."""
    from dllint.runtime.probe.report import NotAReport, decode

    try:
        with open(path, "rb") as stream:
            return decode(stream.read())
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from None
    except NotAReport as error:
        raise Problem(f"{path} is not a report of dllint probe: {error}") from None


def _show(report: Report, before: Report | None, options: dict[str, Any]) -> None:
    from dllint.report.paint import Paint
    from dllint.runtime.probe import compare, plot, text
    from dllint.runtime.probe.report import encode

    color = colored(options["color"], sys.stdout)
    if options["output_format"] == "json":
        click.echo(encode(report), nl=False)
    report, before = text.harmless(report), before and text.harmless(before)
    curves = plot.lines(report, before)
    if options["output_format"] != "json":
        click.echo(text.render(report, Paint(color)), nl=False, color=color)
        if before:
            click.echo("\n" + compare.render(before, report), nl=False)
        if curves and (options["plot"] == "-" or (sys.stdout.isatty() and not options["plot"])):
            click.echo("\n" + "\n".join(plot.terminal(curves)))
    if options["plot"] and options["plot"] != "-":
        _draw(curves, report.target, options["plot"])


def _draw(curves: list[Any], target: str, place: str) -> None:
    from dllint.runtime.probe import plot

    if not curves:
        click.echo(f"warning: nothing was read, so {place} was not written", err=True)
        return
    title = f"{target}: memory of the main process and its workers"
    write(place, plot.png(curves, title) if place.endswith(".png") else plot.svg(curves, title).encode())
    click.echo(f"wrote {os.path.normpath(place)}", err=True)
