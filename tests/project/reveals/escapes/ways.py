"""By which way something comes to workers, and how sure that is."""

import multiprocessing
from functools import partial
from multiprocessing import Pool, Process

from torch.utils.data import DataLoader


class Rows:
    def __init__(self, clean):
        self.clean = clean

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.clean(index)


class Wrapped:
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return self.rows[index]


def work(function, number=0):
    return function(number)


def two_steps():
    rows = Wrapped(Rows(lambda index: index))
    return DataLoader(rows, num_workers=2)
    # ships: Wrapped <- dataset
    # ships: Rows <- Wrapped.rows <- dataset
    # ships: lambda <- Rows.clean <- Wrapped.rows <- dataset


def two_ways():
    clean = lambda index: index
    return DataLoader(Rows(clean), num_workers=2, collate_fn=clean)
    # ships: Rows <- dataset
    # ships: lambda <- Rows.clean <- dataset


def one_of_two(wanted):
    clean = (lambda index: index) if wanted else len
    return DataLoader(Rows(clean), num_workers=2)
    # ships: Rows <- dataset
    # ships: perhaps lambda <- Rows.clean <- dataset
    # ships: perhaps builtins.len <- Rows.clean <- dataset


def under_a_test(wanted):
    rows = Rows(len)
    if wanted:
        rows.clean = lambda index: index
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: perhaps lambda <- Rows.clean <- dataset
    # ships: perhaps builtins.len <- Rows.clean <- dataset


def without_workers():
    return DataLoader(Rows(lambda index: index), num_workers=0)
    # ships: nothing


def worker_init_fn():
    start = partial(work, lambda number: number)
    return DataLoader([1], num_workers=2, worker_init_fn=start)
    # ships: list <- dataset
    # ships: functools.partial() <- worker_init_fn
    # ships: work <- partial <- worker_init_fn
    # ships: lambda <- partial <- worker_init_fn


def process():
    Process(target=work, args=(lambda number: number, 1)).start()
    # ships: work
    # ships: tuple
    # ships: lambda <- tuple[]


def process_of_an_object():
    rows = Rows(lambda index: index)
    multiprocessing.Process(target=rows.__getitem__, args=(1,)).start()
    # ships: Rows.__getitem__
    # ships: Rows <- __getitem__
    # ships: lambda <- Rows.clean <- __getitem__
    # ships: tuple


def pool():
    with Pool(2, initializer=work, initargs=(lambda number: number,)) as workers:
        # ships: work
        # ships: tuple
        # ships: lambda <- tuple[]
        return workers.map(lambda number: number, [1])
        # ships: lambda
