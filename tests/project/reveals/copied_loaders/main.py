"""A loader that takes over what another one was given: all of it from the one that its number of workers is from."""

from functools import partial

from torch.utils.data import DataLoader


def alone(batch):
    return batch


def in_workers(batch):
    return batch


def always(batch):
    return batch


def taken_over(other):
    return DataLoader(other.dataset, num_workers=other.num_workers, collate_fn=other.collate_fn)
    # ships: perhaps in_workers <- collate_fn
    # ships: perhaps list <- dataset


def around(one, collate_fn):
    return DataLoader(one.dataset, num_workers=one.num_workers, collate_fn=collate_fn)
    # ships: perhaps always <- collate_fn
    # ships: perhaps in_workers <- collate_fn
    # ships: perhaps list <- dataset


def passed_on(other):
    return around(other, other.collate_fn), around(other, always)


def from_another(other, more):
    return DataLoader([1], num_workers=more.num_workers, collate_fn=other.collate_fn)
    # ships: perhaps alone <- collate_fn
    # ships: perhaps in_workers <- collate_fn
    # ships: perhaps list <- dataset


def rebound(other, more):
    collate_fn = other.collate_fn
    other = more
    return DataLoader([1], num_workers=other.num_workers, collate_fn=collate_fn)
    # ships: perhaps alone <- collate_fn
    # ships: perhaps in_workers <- collate_fn
    # ships: perhaps list <- dataset


def third(one, other):
    return taken_over(one), passed_on(one), from_another(one, other), rebound(one, other)


def second(one, other):
    one = third(one, other)
    return one


def first(one, other):
    return second(one, other)


for loaders in first(DataLoader([1], collate_fn=alone), DataLoader([2], num_workers=2, collate_fn=in_workers)):
    print(loaders)
for loaders in first(DataLoader([2], num_workers=2, collate_fn=in_workers), DataLoader([1], collate_fn=alone)):
    print(loaders)


def numbers(options, given):
    reveal(DataLoader([1]).num_workers)  # reveals: 0
    holds(DataLoader([1]).num_workers > 0)  # holds: no
    reveal(DataLoader([1], num_workers=3).num_workers)  # reveals: 3
    holds(DataLoader([1], **options).num_workers > 0)  # holds: unknown
    holds(DataLoader(*given).num_workers > 0)  # holds: unknown
    reveal(partial(DataLoader, num_workers=2)([1]).num_workers)  # reveals: 2
    reveal(partial(DataLoader, [1])().num_workers)  # reveals: 0
    holds(DataLoader([1]).pin_memory)  # holds: unknown
