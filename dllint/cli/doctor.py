"""`dllint doctor`: whether this machine is fit for workers."""

from __future__ import annotations

import sys

import click

from dllint.cli import Problem
from dllint.cli.output import colored

BATCH_MB = 18.4
"""32 images of 3 x 224 x 224 in float32."""


@click.command("doctor")
@click.option("--batch-mb", type=click.FloatRange(min=0), metavar="MB", help="Size of a batch; default: 18.4.")
@click.option("--workers", type=click.IntRange(min=0), metavar="N", help="num_workers; default: one for each core.")
@click.option("--prefetch", type=click.IntRange(min=1), default=2, show_default=True, help="prefetch_factor.")
@click.option("--tensors", type=click.IntRange(min=1), default=2, show_default=True, help="Tensors in a batch.")
@click.option(
    "--python",
    default=sys.executable,
    metavar="PATH",
    help="The Python that runs your training; default: dllint's own.",
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colors in the output.")
@click.pass_context
def command(
    context: click.Context,
    batch_mb: float | None,
    workers: int | None,
    prefetch: int,
    tensors: int,
    python: str,
    output_format: str,
    color: str,
) -> None:
    """Examine this machine: shared memory, limits and defaults. Import none of your code, and change nothing.

    The exit status is 1 if something will fail.
    """
    from dllint.report.paint import Paint
    from dllint.runtime.doctor import Machine, Verdict, Workload, examine
    from dllint.runtime.doctor.interpreter import NoInterpreter, ask
    from dllint.runtime.doctor.processes import cores
    from dllint.runtime.doctor.text import document, render

    machine = Machine()
    try:
        interpreter = ask(python)
    except NoInterpreter as error:
        raise Problem(str(error)) from error
    known = BATCH_MB if batch_mb is None else batch_mb
    workload = Workload(known, cores(machine) if workers is None else workers, prefetch, tensors)
    facts = list(examine(workload, interpreter, machine))
    if output_format == "json":
        click.echo(document(facts, workload), nl=False)
    else:
        told = render(facts, workload, batch_mb is None, Paint(colored(color, sys.stdout)))
        click.echo(told, nl=False, color=True)
    context.exit(int(any(fact.verdict is Verdict.FAILS for fact in facts)))
