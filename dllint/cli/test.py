"""`dllint test`: compare what rules' pages say with what happens."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dllint.cli import Problem

if TYPE_CHECKING:
    from dllint.testing.runner import Outcome


@click.command("test")
@click.argument("words", nargs=-1, metavar="[PATH|PACKAGE]...")
@click.option("--update", is_flag=True, help="Update the diffs in the pages.")
def command(words: tuple[str, ...], update: bool) -> None:
    """Run the pages of rules as tests: lint, fix and silence every program. Default: the current folder."""
    from dllint import registry
    from dllint.testing import runner

    sys.path.append(os.getcwd())  # for packages that are not installed
    failed = cases = 0
    try:
        pages = dict.fromkeys(page for word in words or (".",) for page in runner.collect(word))
        for page in pages:
            outcomes = list(runner.run(page, update))
            failed += sum(map(_tell, outcomes))
            cases += sum(bool(outcome.case) for outcome in outcomes)
    except (runner.NothingToTest, registry.RegistryError) as error:
        raise Problem(str(error)) from error
    result = f"{failed} failed" if failed else "all as the pages say"
    click.echo(f"{_many(cases, 'case')} on {_many(len(pages), 'page')}: {result}.", err=True)
    sys.exit(1 if failed else 0)


def _tell(outcome: Outcome) -> bool:
    """Print what is wrong; whether something is."""
    for problem in outcome.problems:
        click.echo(problem.replace(f"{Path.cwd()}{os.sep}", ""))
    return bool(outcome.problems)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
