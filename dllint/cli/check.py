"""`dllint check`: findings, fixes and diffs."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from dllint.cli import Problem, choices, narrow
from dllint.cli.output import report, report_context, shown_progress, tells_fixes
from dllint.cli.sections import Sectioned
from dllint.garbage import uncollected
from dllint.report.formats import FORMATS

if TYPE_CHECKING:
    from dllint.engine import Request

STDIN = "<stdin>.py"
"""What standard input is called when `--stdin-filename` does not say."""


def _file(context: click.Context, option: click.Parameter, value: str) -> str:
    """A file that is going to be written; better known before the work than after it."""
    folder = os.path.dirname(os.path.abspath(value))
    if value and (os.path.isdir(value) or not os.path.isdir(folder)):
        raise click.BadParameter(f"{value} is a folder" if os.path.isdir(value) else f"no such folder: {folder}")
    return value


class _Command(Sectioned):
    """`--add-noqa` takes its reason behind an equals sign only: what follows it is a path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--add-noqa=" if word == "--add-noqa" else word for word in args])


@click.command("check", cls=_Command)
@click.argument("paths", nargs=-1)
@click.option("--fix/--no-fix", help="Apply safe fixes.")
@click.option("--fix-only", is_flag=True, help="Apply fixes; show only refused fixes, and exit 0.")
@click.option("--show-fixes", is_flag=True, help="List the applied fixes, and why others were not applied.")
@click.option("--unsafe-fixes/--no-unsafe-fixes", default=None, help="With --fix or --diff: include unsafe fixes.")
@click.option("--add-noqa", metavar="[=REASON]", help="Add a comment (with a reason) that silences each finding.")
@click.option("--diff", is_flag=True, help="Show what the fixes would change; write no file.")
@choices.fixing
@choices.selection
@click.option("--output-format", type=click.Choice(list(FORMATS)), metavar="FORMAT", envvar="DLLINT_OUTPUT_FORMAT",
              help=f"{', '.join(FORMATS)}. Default: full on a terminal, otherwise concise.")  # fmt: skip
@click.option("-o", "--output-file", metavar="FILE", default="", callback=_file,
              help="Write the findings, or the diff, to this file.")  # fmt: skip
@click.option("-n", "--no-cache", is_flag=True, envvar="DLLINT_NO_CACHE", help="Do not read or write the cache.")
@click.option("--cache-dir", metavar="FOLDER", envvar="DLLINT_CACHE_DIR", default="", help="The cache folder.")
@click.option("--verify-cache", is_flag=True, help="Check with and without the cache; exit 2 if the results differ.")
@click.option("-j", "--jobs", type=click.IntRange(1), metavar="N", help="Number of processes; default: all cores.")
@click.option("--diff-base", metavar="REF", default="", help="Report only what the change since this commit affects.")
@click.option("--baseline", metavar="FILE", default="", help="Do not report the findings in this file.")
@click.option("--write-baseline", is_flag=True, help="Write the findings to the --baseline file.")
@click.option("-e", "--exit-zero", is_flag=True, help="Exit 0 even if there are findings.")
@click.option(
    "--exit-non-zero-on-fix", is_flag=True, help="Exit 1 if a fix changed a file, even if no finding is left."
)
@click.option(
    "--stdin-filename", metavar="PATH", default="", help="The file that `-` (standard input) is the content of."
)
@click.option("--force-exclude", is_flag=True, help="Skip excluded files even if you name them.")
@click.option("--why", "why_place", metavar="PATH:LINE", help="Explain why a line has a finding or has none.")
@click.option("--show-files", is_flag=True, help="List the files to report on, and exit.")
@click.option("--show-settings", is_flag=True, help="Show the effective configuration, and exit.")
@click.option("--statistics", is_flag=True, help="Count the findings by rule instead of showing them.")
@click.option("-w", "--watch", is_flag=True, help="Check again whenever a file changes.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the findings.")
@click.option("-v", "--verbose", is_flag=True, help="Show what was read, by which configuration, and how long it took.")
@click.option("--timings", is_flag=True, help="Show how long each step took, in one process, and the slowest ones.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colors in the output.")
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], why_place: str | None, **options: Any) -> None:
    """Check files and folders (default: the current folder) as parts of their project. `-` reads standard input."""
    narrow.refuse(options, "-" in paths)
    if options["watch"] and ("-" in paths or why_place):
        raise click.UsageError("--watch cannot be combined with standard input or --why")
    with _problems():
        if why_place is not None:
            context.exit(_why(why_place, paths, options))
        with uncollected():  # nor while it imports the engine
            request = _request(paths, options)
        if options["show_files"] or options["show_settings"]:
            from dllint.cli import plan

            (plan.show_files if options["show_files"] else plan.show_settings)(request)
        elif options["watch"]:
            from dllint.cli.watch import watch

            watch(request, lambda: _check(request, options))
        else:
            with uncollected():
                status = _check(request, options)
                if context.obj:
                    context.obj()
            context.exit(status)


@contextlib.contextmanager
def _problems() -> Iterator[None]:
    """Turn what a person must correct into messages."""
    from dllint.config import ConfigError
    from dllint.registry import RegistryError, UnknownRule

    try:
        yield
    except (ConfigError, RegistryError, UnknownRule) as error:
        raise Problem(str(error)) from error


def _request(paths: tuple[str, ...], options: dict[str, Any]) -> Request:
    from dllint.engine import Request
    from dllint.reduce import cores

    stdin: bytes | None = None
    if "-" in paths:
        if len(paths) > 1:
            raise click.UsageError("`-` (standard input) cannot be combined with other paths")
        paths, stdin = (), sys.stdin.buffer.read()
    elif not options["stdin_filename"]:
        paths = paths or (".",)
    else:
        raise click.UsageError("--stdin-filename needs `-` as the path")
    if options["add_noqa"] is not None and (options["fix"] or options["fix_only"]):
        raise click.UsageError("--add-noqa cannot be combined with --fix")
    if len((options["add_noqa"] or "").splitlines()) > 1:
        raise click.UsageError("the reason of --add-noqa must be one line")
    return Request(
        paths=paths,
        **choices.asked(options),
        force_exclude=options["force_exclude"],
        fix=options["fix"] or options["fix_only"] or (options["diff"] and options["add_noqa"] is None),
        add_noqa=options["add_noqa"],
        unsafe_fixes=options["unsafe_fixes"],
        write=not options["diff"],
        stdin=stdin,
        stdin_path="" if stdin is None else options["stdin_filename"] or STDIN,
        cache=not options["no_cache"],
        cache_dir=options["cache_dir"],
        jobs=options["jobs"] or cores(),
    )


def _why(place: str, paths: tuple[str, ...], options: dict[str, Any]) -> int:
    from dllint.engine import why
    from dllint.engine.questions import NoLine
    from dllint.report import shown

    match = re.fullmatch(r"(.+?)(?::cell ([1-9]\d*))?:([1-9]\d*)", place)
    if match is None:
        raise click.UsageError(f"--why expects PATH:LINE (in a notebook 'PATH:cell N:LINE'), not {place!r}")
    path, cell, row = match[1], int(match[2]) if match[2] else None, int(match[3])
    if not os.path.isfile(path):
        raise Problem(f"{path}: no such file")
    here = os.path.realpath(path).startswith(os.path.join(os.path.realpath("."), ""))
    request = _request(paths or (("." if here else path),), options)
    try:
        for line in why(request, path, row, cell):
            click.echo(_wrapped(shown(line)))
    except NoLine as error:
        raise Problem(str(error)) from error
    return 0


def _wrapped(line: str) -> str:
    """A line as a paragraph as wide as the terminal, its later lines indented; as it is where there is no terminal."""
    if not sys.stdout.isatty():
        return line
    width = max(shutil.get_terminal_size((100, 24)).columns, 40)
    return textwrap.fill(line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _check(request: Request, options: dict[str, Any]) -> int:
    """Run, report, and decide the exit status."""
    import msgspec

    from dllint.engine import check, verified
    from dllint.engine.progress import timed

    began = time.monotonic()
    measured = timed() if options["timings"] else contextlib.nullcontext()
    with _problems(), shown_progress(quiet=options["quiet"]), measured as timings:
        jobs = 1 if options["timings"] else request.jobs
        request = msgspec.structs.replace(request, remedies=tells_fixes(request, options), jobs=jobs)
        result = verified(request) if options["verify_cache"] else check(request)
    seconds = time.monotonic() - began
    context = report_context(result, request)
    told: list[str] = []
    if options["diff_base"]:
        result, context = narrow.to_change(result, context, options["diff_base"])
    if options["baseline"]:
        result, told = narrow.to_new(result, options["baseline"], options["write_baseline"])
    report(result, request, context, options)
    for line in told if not options["quiet"] else ():
        click.echo(line, err=True)
    if options["verbose"]:
        from dllint.cli import plan

        plan.tell_run(result, request, seconds)
    if timings is not None:
        from dllint.cli import plan

        plan.tell_timings(timings, seconds)
    changed = bool(result.changes)
    left = bool(result.findings) and not options["fix_only"]
    failed = changed if options["diff"] else left or (changed and options["exit_non_zero_on_fix"])
    _tell("warning", result.warnings if not options["quiet"] else ())
    _tell("error", result.crashes)
    return 2 if result.crashes else int(failed and not options["exit_zero"])


def _tell(kind: str, lines: Iterable[str]) -> None:
    from dllint.report import shown  # not needed by a run without messages

    for line in lines:
        click.echo(f"{kind}: {shown(line)}", err=True)
