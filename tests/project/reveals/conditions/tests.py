import os

import pandas as pd
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10

SIZE = 4


class Part:
    pass


def here(kind=None, count=3):
    holds(SIZE <= 4)  # holds: yes
    holds(SIZE < 4)  # holds: no
    holds(SIZE in (1, 2))  # holds: no
    holds(CIFAR10 is None)  # holds: no
    holds(Part() is not None)  # holds: yes
    holds(isinstance(Part(), Part))  # holds: yes
    holds(isinstance(DataLoader([1]), Part))  # holds: no
    holds(isinstance(DataLoader([1]), pd.DataFrame))  # holds: no
    holds(isinstance(DataLoader([1]).dataset.table(), pd.DataFrame))  # holds: unknown
    holds(isinstance(pd.read_csv("a"), Part))  # holds: unknown
    holds(isinstance(os.path.join("a", "b"), str))  # holds: yes
    holds(isinstance(os.path.join("a", "b"), dict))  # holds: no
    holds(isinstance(os.path.join("a", "b"), os.PathLike))  # holds: unknown
    holds(os.environ.get("A"))  # holds: unknown
    holds(kind is None)  # holds: unknown
    size = 1
    if SIZE > 100:
        size = 2
    reveal(size)  # reveals: 1


def chosen(first=None, second=None):
    if first is None:
        first = 1
    else:
        first = 2
    reveal(first)  # reveals: 1
    if second is None:
        second = lambda item: item
    else:
        second = lambda item: second(item) + 1
    reveal(second)  # reveals: lambda
    if first == 5:
        first = 6
    reveal(first)  # reveals: 1


chosen()
