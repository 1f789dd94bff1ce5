import click

workers = click.option("--workers", default=0)
seed = click.option("--seed", default=1)
