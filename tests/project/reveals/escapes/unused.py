"""What code stores that nothing is seen to call: it is there for sure only where that code leads to the loader."""

from lightning import LightningDataModule
from torch.utils.data import DataLoader


class Rows:
    def __init__(self, clean):
        self.clean = clean

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.clean(index)


class Alone(Rows):
    def by_itself(self):
        self.scale = lambda index: index

    def set_up(self):
        self.shift = lambda index: index

    def step(self):
        self.set_up()


class Prepared(Rows):
    def prepare(self):
        self.shift = lambda index: index


class OfModule(LightningDataModule):
    def setup(self, stage):
        self.shift = lambda items: items

    def collated(self, items):
        return self.shift(items)


class Trained:
    def __init__(self):
        self.kept = {}

    def never(self):
        self.kept["never"] = lambda items: items

    def fit(self):
        self.kept["fit"] = lambda items: items
        return self.loader()

    def loader(self):
        return DataLoader([1], num_workers=2, collate_fn=self.collated)
        # ships: Trained <- collated <- collate_fn
        # ships: Trained.collated <- collate_fn
        # ships: dict <- Trained.kept <- collated <- collate_fn
        # ships: lambda <- dict[] <- Trained.kept <- collated <- collate_fn
        # ships: list <- dataset
        # ships: perhaps lambda <- dict[] <- Trained.kept <- collated <- collate_fn

    def collated(self, items):
        return items


NEVER_PREPARED = Prepared(len)
CHANGED = Rows(len)


def methods_that_nothing_calls():
    return DataLoader(Alone(len), num_workers=2)
    # ships: Alone <- dataset
    # ships: builtins.len <- Alone.clean <- dataset
    # ships: perhaps lambda <- Alone.scale <- dataset
    # ships: perhaps lambda <- Alone.shift <- dataset


def unused():
    NEVER_PREPARED.prepare()


def only_unused_code_calls_it():
    return DataLoader(NEVER_PREPARED, num_workers=2)
    # ships: Prepared <- dataset
    # ships: builtins.len <- Prepared.clean <- dataset
    # ships: perhaps lambda <- Prepared.shift <- dataset


def before_the_call_that_makes_it():
    CHANGED.shift = lambda index: index
    return made_here()


def made_here():
    return DataLoader(CHANGED, num_workers=2)
    # ships: Rows <- dataset
    # ships: builtins.len <- Rows.clean <- dataset
    # ships: lambda <- Rows.shift <- dataset


def called_by_a_library():
    return DataLoader([1], num_workers=2, collate_fn=OfModule().collated)
    # ships: OfModule <- collated <- collate_fn
    # ships: OfModule.collated <- collate_fn
    # ships: lambda <- OfModule.shift <- collated <- collate_fn
    # ships: list <- dataset
