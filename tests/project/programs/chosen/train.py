"""How many workers: several calls, expressions, dictionaries, and values that only a file at run time knows."""

import json
import os

from torch.utils.data import DataLoader


def make(items, workers):
    return DataLoader(items, num_workers=workers)  # fact: workers none; workers some


def from_settings(items, settings):
    return DataLoader(items, num_workers=settings["loader_workers"])  # fact: workers unknown


def spread(items):
    options = {"batch_size": 2, "shuffle": True}
    options["num_workers"] = 2
    return DataLoader(items, **options)  # fact: workers some


def spread_updated(items):
    options = dict(batch_size=2)
    options.update(num_workers=2)
    return DataLoader(items, **options)  # fact: workers some


def spread_without(items):
    options = {"batch_size": 2}
    return DataLoader(items, **options)  # fact: workers none


def counted(items):
    return DataLoader(items, num_workers=min(8, os.cpu_count() or 1))  # fact: workers some


def passed_on(items, **kwargs):
    return DataLoader(items, **kwargs)  # fact: workers some


if __name__ == "__main__":
    print(list(make([1], 0)), list(make([1], 2)), list(passed_on([1], num_workers=3)))
    with open("settings.json") as file:
        print(list(from_settings([1], json.load(file))))
    for build in (spread, spread_updated, spread_without, counted):
        print(list(build([1])))
