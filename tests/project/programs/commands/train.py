"""Options of commands fill parameters: their defaults count, as those of other command lines do."""

import click
import typer
from options import seed, workers
from torch.utils.data import DataLoader, TensorDataset

app = typer.Typer()


@click.command()
@click.option("--n-jobs", type=int, default=0)
@click.option("--Jobs", default=2)
@click.option("-w", "--load-workers", "readers", default=3)
@click.option("-x", "--ex-workers", default="0", show_default=True)
@click.option("--computed", callback=lambda context, option, number: number or 4, default=0)
@click.option("--needed", required=True)
def train(n_jobs, jobs, readers, ex_workers, computed, needed):
    for batch in DataLoader(TensorDataset(), num_workers=n_jobs):  # fact: workers none
        print(batch)
    for batch in DataLoader(TensorDataset(), num_workers=jobs):  # fact: workers some
        print(batch)
    for batch in DataLoader(TensorDataset(), num_workers=readers):  # fact: workers some
        print(batch)
    for batch in DataLoader(TensorDataset(), num_workers=int(ex_workers)):  # fact: workers none
        print(batch)
    for batch in DataLoader(TensorDataset(), num_workers=computed):  # fact: workers unknown
        print(batch)
    for batch in DataLoader(TensorDataset(), num_workers=needed):  # fact: workers unknown
        print(batch)
    if n_jobs == 0:
        n_jobs = 4
    for batch in DataLoader(TensorDataset(), num_workers=n_jobs):  # fact: workers some
        print(batch)


class Data:
    def __init__(self, workers=0):
        self.workers = workers

    def loader(self):
        return DataLoader(TensorDataset(), num_workers=self.workers)  # fact: workers none


@click.command("test")
@workers
@seed
def test(workers, seed):
    for batch in DataLoader(TensorDataset(), num_workers=seed):  # fact: workers some
        print(batch)
    for batch in Data(workers=workers).loader():
        print(batch)


@app.command()
def show(
    jobs: int = typer.Option(0, "--jobs", help="processes that read"),
    more: int = typer.Option(default=2),
    needed: int = typer.Option(...),
):
    for batch in DataLoader(TensorDataset(), num_workers=jobs):  # fact: workers none
        print(batch)
    for batch in DataLoader(TensorDataset(), num_workers=more):  # fact: workers some
        print(batch)
    for batch in DataLoader(TensorDataset(), num_workers=needed):  # fact: workers unknown
        print(batch)


if __name__ == "__main__":
    train()
    test()
    app()
