"""What holds a lambda, and whether a pickle of it has the lambda."""

import copy
from collections import namedtuple
from functools import partial

from torch.utils.data import DataLoader

Pair = namedtuple("Pair", "first second")


class Rows:
    def __init__(self, clean):
        self.clean = clean

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.clean(index)

    def collated(self, items):
        return self.clean(items)


class OfTheClass:
    clean = lambda self, index: index

    def __getitem__(self, index):
        return self.clean(index)


class Dropping(Rows):
    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "clean"}


class Deleting(Rows):
    def __getstate__(self):
        state = self.__dict__.copy()
        del state["clean"]
        return state


class Rebuilt(Rows):
    def __reduce__(self):
        return Rebuilt, (len,)


class CopiedAnew(Rows):
    def __deepcopy__(self, memo):
        return CopiedAnew(len)


def called(items, function):
    return function(items)


def closed_over(function):
    def inner(items):
        return function(items)

    return inner


def attribute():
    return DataLoader(Rows(lambda index: index), num_workers=2)
    # ships: Rows <- dataset
    # ships: lambda <- Rows.clean <- dataset


def class_attribute():
    return DataLoader(OfTheClass(), num_workers=2)
    # ships: OfTheClass <- dataset


def collate_fn():
    return DataLoader([1], num_workers=2, collate_fn=lambda items: items)
    # ships: lambda <- collate_fn
    # ships: list <- dataset


def sampler():
    return DataLoader([1], num_workers=2, sampler=Rows(lambda index: index))
    # ships: list <- dataset


def list_of_objects():
    rows = [Rows(lambda index: index)]
    return DataLoader(rows, num_workers=2)
    # ships: list <- dataset
    # ships: Rows <- list[] <- dataset
    # ships: lambda <- Rows.clean <- list[] <- dataset


def dictionary():
    rows = Rows({"first": lambda index: index})
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: dict <- Rows.clean <- dataset
    # ships: lambda <- dict[] <- Rows.clean <- dataset


def partial_argument():
    function = partial(called, function=lambda items: items)
    return DataLoader([1], num_workers=2, collate_fn=function)
    # ships: list <- dataset
    # ships: functools.partial() <- collate_fn
    # ships: called <- partial <- collate_fn
    # ships: lambda <- function.partial <- collate_fn


def partial_function():
    function = partial(lambda items, by: items, by=1)
    return DataLoader([1], num_workers=2, collate_fn=function)
    # ships: list <- dataset
    # ships: functools.partial() <- collate_fn
    # ships: lambda <- partial <- collate_fn


def closure():
    # Pickle finds no `inner` in the module, so it never comes to what this closes over.
    function = closed_over(lambda items: items)
    return DataLoader([1], num_workers=2, collate_fn=function)
    # ships: inner <- collate_fn
    # ships: list <- dataset


def bound_method():
    rows = Rows(lambda items: items)
    return DataLoader([1], num_workers=2, collate_fn=rows.collated)
    # ships: list <- dataset
    # ships: Rows.collated <- collate_fn
    # ships: Rows <- collated <- collate_fn
    # ships: lambda <- Rows.clean <- collated <- collate_fn


def left_out():
    return DataLoader(Dropping(lambda index: index), num_workers=2)
    # ships: ?.items() <- dict[] <- Dropping.__getstate__ <- dataset
    # ships: ?.items[]() <- dict[] <- Dropping.__getstate__ <- dataset
    # ships: ?.items[][]() <- dict[] <- Dropping.__getstate__ <- dataset
    # ships: Dropping <- dataset
    # ships: dict <- Dropping.__getstate__ <- dataset


def deleted():
    return DataLoader(Deleting(lambda index: index), num_workers=2)
    # ships: Deleting <- dataset


def reduced():
    return DataLoader(Rebuilt(lambda index: index), num_workers=2)
    # ships: Rebuilt <- dataset
    # ships: tuple <- Rebuilt.__reduce__ <- dataset
    # ships: tuple <- tuple[] <- Rebuilt.__reduce__ <- dataset
    # ships: type[Rebuilt] <- tuple[] <- Rebuilt.__reduce__ <- dataset


def deep_copy():
    rows = copy.deepcopy(Rows(lambda index: index))
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: lambda <- Rows.clean <- dataset


def only_copied_anew():
    # Pickle doesn't ask for `__deepcopy__`.
    rows = CopiedAnew(lambda index: index)
    return DataLoader(rows, num_workers=2)
    # ships: CopiedAnew <- dataset
    # ships: lambda <- CopiedAnew.clean <- dataset


def named_tuple():
    rows = Rows(Pair(1, lambda index: index))
    return DataLoader(rows, num_workers=2)
    # ships: Rows <- dataset
    # ships: collections.namedtuple()() <- Rows.clean <- dataset
    # ships: lambda <- namedtuple <- Rows.clean <- dataset
