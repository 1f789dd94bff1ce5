"""What replaces what an object has, right after that is made."""

from torch.utils.data import DataLoader


class Rows:
    def __init__(self, clean):
        self.clean = clean

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.clean(index)


def at_once():
    rows = Rows(lambda index: index)
    rows.name = "rows"
    rows.clean = len
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: builtins.len <- Rows.clean <- dataset


def by_a_lambda():
    rows = Rows(len)
    rows.clean = lambda index: index
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: lambda <- Rows.clean <- dataset


def twice():
    rows = Rows(len)
    rows.clean = lambda index: index
    rows.clean = str
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: builtins.str <- Rows.clean <- dataset


def at_once_and_again(wanted):
    rows = Rows(lambda index: index)
    rows.clean = len
    if wanted:
        rows.clean = str
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: perhaps builtins.len <- Rows.clean <- dataset
    # ships: perhaps builtins.str <- Rows.clean <- dataset


def under_a_test(wanted):
    rows = Rows(lambda index: index)
    if wanted:
        rows.clean = len
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: perhaps builtins.len <- Rows.clean <- dataset
    # ships: perhaps lambda <- Rows.clean <- dataset


def one_of_two(wanted):
    rows = Rows(lambda index: index)
    if wanted:
        rows = Rows(lambda index: index)
    rows.clean = len
    return DataLoader(rows, num_workers=2)
    # ships: perhaps Rows <- dataset
    # ships: perhaps builtins.len <- Rows.clean <- dataset
    # ships: perhaps lambda <- Rows.clean <- dataset


ROWS = Rows(lambda index: index)
ROWS.clean = len


def of_a_module():
    return DataLoader(ROWS, num_workers=2)
    # ships: Rows <- dataset
    # ships: builtins.len <- Rows.clean <- dataset
