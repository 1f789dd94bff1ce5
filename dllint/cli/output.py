"""Where a run's report goes: findings to standard output or a file, the summary to standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import click

from dllint.cli import Problem

if TYPE_CHECKING:
    from dllint.engine import Request, Result
    from dllint.report import Context, Findings


def report(result: Result, request: Request, context: Context, options: dict[str, Any]) -> None:
    """Write the findings, or the diff of the fixes, and tell what they come to."""
    import msgspec

    from dllint.report.paint import Paint, has_links

    if options["diff"]:
        _diff(result, context, options)
        return
    if _gives_back(request):
        click.echo(_fixed(result, request), nl=False)
    shown = [item for item in result.findings if not options["fix_only"] or item[0].code == "DLL904"]
    stream = _stream(request)
    terminal = stream.isatty() and not options["output_file"]
    form = options["output_format"] or result.config.output_format or ("full" if terminal else "concise")
    color = not options["output_file"] and colored(options["color"], stream)
    context = msgspec.structs.replace(context, paint=Paint(color, terminal and color and has_links(os.environ)))
    if options["statistics"]:
        _statistics(shown, context, form, options["output_file"], stream)
    else:
        _findings(shown, context, form, options["output_file"], stream, color)
    if not options["quiet"]:
        _summary(result, request, context, options)


def tells_fixes(request: Request, options: dict[str, Any]) -> bool:
    """Whether what is written tells the fixes of findings. Raises ConfigError."""
    from dllint.config import load
    from dllint.report.formats import WITHOUT_FIXES

    if request.fix or any(options[name] for name in ("diff", "statistics", "show_fixes")):
        return True
    form = options["output_format"]
    if not form:
        paths = request.paths if request.stdin is None else (request.stdin_path,)
        form = load(paths, request.config, request.isolated, request.settings).output_format
    if not form and _stream(request).isatty() and not options["output_file"]:
        return True
    return (form or "concise") not in WITHOUT_FIXES


def _gives_back(request: Request) -> bool:
    """Whether standard output is for what becomes of standard input."""
    return request.stdin is not None and (request.fix or request.add_noqa is not None)


def _stream(request: Request) -> IO[str]:
    return sys.stderr if _gives_back(request) else sys.stdout


@contextlib.contextmanager
def shown_progress(quiet: bool = False) -> Iterator[None]:
    """A bar on a terminal, for runs that take a while."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from dllint.engine.progress import observed
    from dllint.report.progress import Bar

    with Bar() as bar, observed(bar):
        yield


def report_context(result: Result, request: Request) -> Context:
    """What reporters need in addition to the findings."""
    from dllint import registry
    from dllint.report import Context

    return Context(
        root=result.root,
        cwd=os.getcwd(),
        rules=registry.by_code(),
        source=result.source,
        unsafe_fixes=result.config.unsafe_fixes if request.unsafe_fixes is None else request.unsafe_fixes,
        problems=result.crashes,
        site=result.config.docs_url,
    )


def _findings(findings: Findings, context: Context, form: str, file: str, stream: IO[str], color: bool) -> None:
    from dllint.report.formats import renderer

    text = renderer(form)(findings, context)
    if file:
        write(file, text.encode("utf-8", "backslashreplace"))
    else:
        click.echo(text, file=stream, nl=False, color=color)
    step = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if form == "github" and step:
        from dllint.report.github import summary

        _append(step, summary(findings, context))


def _statistics(findings: Findings, context: Context, form: str, file: str, stream: IO[str]) -> None:
    from dllint.report import statistics

    text = statistics.as_json(findings, context) if form == "json" else statistics.text(findings, context)
    write(file, text.encode("utf-8")) if file else click.echo(text, file=stream, nl=False)


def _summary(result: Result, request: Request, context: Context, options: dict[str, Any]) -> None:
    from dllint.report import summary

    told = [*summary.fixes(result.applied, result.findings, context, options["show_fixes"])]
    told += summary.silenced(result.silenced)
    if options["fix_only"]:
        told += summary.left(result.findings)
    elif result.checked:
        fixing = None if request.remedies else {info.code for info in context.rules.values() if info.fixable != "never"}
        platforms = result.config.targets.platforms
        told += summary.lines(result.findings, result.targets, platforms, fixing, result.projects)
    for line in told:
        click.echo(line, err=True)


def write(file: str, data: bytes) -> None:
    """A report's file, whole or not at all."""
    from dllint.files.atomic import save

    try:
        save(file, data)
    except OSError as error:
        raise Problem(f"{file}: cannot be written: {error.strerror or error}") from error


def _append(file: str, text: str) -> None:
    """The summary of a step: what earlier commands of the step wrote stays."""
    try:
        with open(file, "a", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise Problem(f"{file} (GITHUB_STEP_SUMMARY): cannot be written: {error.strerror or error}") from error


def _diff(result: Result, context: Context, options: dict[str, Any]) -> None:
    """What the fixes would change; on standard error, what it does not show."""
    from dllint.report import diff, summary

    file = options["output_file"]
    data = b"".join(
        diff.render(change.before, change.after, context.relative(change.before.path)) for change in result.changes
    )
    if file:
        write(file, data)
    else:
        click.echo(diff.painted(data) if colored(options["color"], sys.stdout) else data, nl=False, color=True)
    if not options["quiet"] and options["add_noqa"] is None:
        told = (*summary.fixes(result.applied, result.findings, context, False, "Would fix"),)
        for line in (*told, *summary.unshown(result.findings)):
            click.echo(line, err=True)


def _fixed(result: Result, request: Request) -> bytes:
    changed = [change.after.encode() for change in result.changes]
    return changed[0] if changed else request.stdin or b""


def colored(wish: str, stream: IO[str]) -> bool:
    """Whether to use colors: as the option says, or else the environment and the terminal."""
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
