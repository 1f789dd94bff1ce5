"""`dllint survey`: many sources, their results and what can be made of them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from dllint.cli import Problem

if TYPE_CHECKING:
    from dllint.survey.database import Database
    from dllint.survey.run import Plan
    from dllint.survey.trees import Tree


@click.group("survey")
def command() -> None:
    """Check many folders, git repositories and archives, each under limits, and store the results in a database."""


@command.command("run")
@click.argument("sources", nargs=-1, required=True)
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The database; a run continues where the last one stopped."
)
@click.option("--scheduler", metavar="ADDRESS", default="", help="Use the Dask cluster of this scheduler.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1), metavar="N", help="Number of sources at a time; default: all cores."
)
@click.option("--isolated", is_flag=True, help="Ignore the sources' own configuration files.")
@click.option("--again", is_flag=True, help="Also analyze sources that have not changed.")
@click.option("--seconds", type=click.FloatRange(0.1), default=120, show_default=True, help="Time limit for a source.")
@click.option(
    "--memory", type=click.IntRange(64), default=2048, show_default=True, help="Memory limit for a source, in MiB."
)
@click.option(
    "--unpacked",
    type=click.IntRange(1),
    default=1024,
    show_default=True,
    help="Size limit of an unpacked source, in MiB.",
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="Format of the totals.")
def run(sources: tuple[str, ...], **options: Any) -> None:
    """Analyze SOURCES: folders, git repositories (PATH or PATH@COMMIT), archives, or text files that list them.

    A source that is broken, hostile or over its limits is recorded, and does not stop the run.
    """
    from dllint.survey import summary
    from dllint.survey.database import Database, NotUsable
    from dllint.survey.limits import Limits
    from dllint.survey.run import Plan, pending
    from dllint.survey.totals import totals
    from dllint.survey.trees import NoSource, read
    from dllint.survey.unit import Settings

    limits = Limits(seconds=options["seconds"], memory=options["memory"], unpacked=options["unpacked"])
    plan = Plan(
        settings=Settings(limits, options["isolated"]),
        jobs=options["jobs"] or os.cpu_count() or 1,
        scheduler=options["scheduler"],
        again=options["again"],
    )
    try:
        given = read(sources)
        database = Database(options["output"], create=True)
        waiting = pending(given, database, plan)
        if len(waiting) < len(given):
            click.echo(f"{len(given) - len(waiting)} of {len(given)} sources are unchanged.", err=True)
        _run(waiting, database, plan)
        found = totals(database)
    except (NoSource, NotUsable) as error:
        raise Problem(str(error)) from error
    told = summary.json(found) if options["output_format"] == "json" else summary.text(found)
    click.echo(told, nl=False)


def _run(waiting: list[Tree], database: Database, plan: Plan) -> None:
    """Do the work, and say what is safe when it ends early."""
    from dllint.survey.cluster import NoCluster
    from dllint.survey.database import NotUsable
    from dllint.survey.limits import Unfit
    from dllint.survey.progress import Progress
    from dllint.survey.run import run

    with Progress(len(waiting)) as progress:
        try:
            run(waiting, database, plan, progress.seen)
        except (NoCluster, NotUsable, Unfit) as error:
            raise Problem(f"{error}; {progress.safe()}") from error
        except KeyboardInterrupt:
            click.echo(f"interrupted: {progress.safe()}", err=True)
            raise


@command.command("report")
@click.argument("results", metavar="RESULTS")
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write; it needs no network.")
@click.option("--before", metavar="RESULTS", help="An earlier survey, to show what changed since.")
@click.option("--title", default="dllint survey", show_default=True, help="The page's title.")
def report(results: str, output: str, before: str | None, title: str) -> None:
    """Write a page that shows the RESULTS of `dllint survey run`, with filters and a search."""
    from dllint.files.atomic import save
    from dllint.survey.database import Database, NotUsable
    from dllint.survey.page import page

    try:
        save(output, page(Database(results), Database(before) if before else None, title))
    except (NotUsable, OSError) as error:
        raise Problem(str(error)) from error


@command.command("export")
@click.argument("results", metavar="RESULTS")
@click.option("-o", "--output", required=True, metavar="FILE", help="The file to write; `-` is standard output.")
@click.option("--format", "form", type=click.Choice(["jsonl", "parquet"]), help="Default: by the file's name.")
def export(results: str, output: str, form: str | None) -> None:
    """Write RESULTS for other programs: JSON, one source a line, or Parquet, one finding a row."""
    from dllint.files.atomic import save
    from dllint.survey.database import Database, NotUsable
    from dllint.survey.export import NotExported, jsonl, parquet

    parquet_wanted = form == "parquet" or (not form and output.endswith(".parquet"))
    try:
        database = Database(results)
        data = parquet(database) if parquet_wanted else jsonl(database)
        if output == "-":
            sys.stdout.buffer.write(data)
        else:
            save(output, data)
    except (NotUsable, NotExported, OSError) as error:
        raise Problem(str(error)) from error
