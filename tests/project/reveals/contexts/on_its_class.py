"""A method that is called on its class has each object that the call may hand to it."""

import random
from functools import partial

from torch.utils.data import DataLoader


class Box:
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value

    def or_else(self, other):
        return self.value if self.value else other


one = Box(1) if random.random() else Box(2)
reveal(one.get())  # reveals: 1 | 2
reveal(Box.get(one))  # reveals: 1 | 2
reveal(Box.or_else(one, 3))  # reveals: 1 | 2
reveal(partial(Box.get, one)())  # reveals: 1 | 2

kept = Box(4) if random.random() else Box(lambda batch: batch)
reveal(Box.get(kept))  # reveals: 4 | lambda


def loader():
    return DataLoader([1], num_workers=2, collate_fn=Box.get(kept))
    # ships: list <- dataset
    # ships: perhaps lambda <- collate_fn
