"""`dllint review`: the comments of a pull request's review, ready to be sent."""

from __future__ import annotations

import json
from typing import Any

import click

from dllint.cli import Problem, choices
from dllint.cli.output import write
from dllint.cli.sections import Sectioned


@click.command("review", cls=Sectioned)
@click.argument("paths", nargs=-1)
@click.option("--base", metavar="REF", required=True, help="The branch that the pull request merges into: origin/main.")
@click.option(
    "--event", type=click.Choice(["comment", "request-changes"]), default="comment", help="The event of the review."
)
@click.option("--unsafe-fixes/--no-unsafe-fixes", default=None, help="Also suggest unsafe fixes.")
@click.option("--baseline", metavar="FILE", default="", help="Do not report the findings in this file.")
@choices.fixing
@choices.selection
@click.option("-n", "--no-cache", is_flag=True, envvar="DLLINT_NO_CACHE", help="Do not read or write the cache.")
@click.option("--cache-dir", metavar="FOLDER", envvar="DLLINT_CACHE_DIR", default="", help="The cache folder.")
@click.option(
    "-o", "--output-file", metavar="FILE", default="", help="Write to this file; it is empty if there are no findings."
)
@click.option("-e", "--exit-zero", is_flag=True, help="Exit 0 even if there are findings.")
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """Print a review of what the commits since REF affect, as JSON for GitHub's API. Nothing is sent.

    Without findings, nothing is printed.
    """
    from dllint.config import ConfigError
    from dllint.registry import RegistryError, UnknownRule
    from dllint.review.git import GitError

    try:
        review, told, failed = _review(paths or (".",), options)
    except (ConfigError, RegistryError, UnknownRule, GitError) as error:
        raise Problem(str(error)) from error
    text = json.dumps(review, indent=2) + "\n" if review else ""
    if options["output_file"]:
        write(options["output_file"], text.encode())
    else:
        click.echo(text, nl=False)
    for line in told:
        click.echo(line, err=True)
    found = bool(review) and not options["exit_zero"]
    context.exit(2 if failed else int(found))


def _review(paths: tuple[str, ...], options: dict[str, Any]) -> tuple[dict[str, Any] | None, list[str], bool]:
    """The review or None, what there is to tell, and whether the run failed."""
    from dllint.cli.narrow import to_new
    from dllint.cli.output import report_context
    from dllint.engine import Request, check
    from dllint.reduce import cores
    from dllint.review import changes, comments, git

    request = Request(
        paths=paths,
        **choices.asked(options),
        unsafe_fixes=options["unsafe_fixes"],
        cache=not options["no_cache"],
        cache_dir=options["cache_dir"],
        jobs=cores(),
    )
    result = check(request)
    changed = changes.committed(result.root, options["base"])
    told = [f"warning: {line}" for line in result.warnings] + [f"error: {line}" for line in result.crashes]
    if options["baseline"]:
        result, known = to_new(result, options["baseline"], rewrite=False)
        told += known
    context = report_context(result, request)
    changes.refuse_uncommitted(changed, [finding for finding, _ in result.findings], context)
    found = [item for item in result.findings if changed.concern(item[0], context)]
    number = f"{len(found)} finding{'' if len(found) == 1 else 's'}"
    told.append(f"{number} in what the commits since {options['base']} affect.")
    event = options["event"].upper().replace("-", "_")
    review = comments.payload(found, context, changed, git.head(changed.top), event) if found else None
    return review, told, bool(result.crashes)
