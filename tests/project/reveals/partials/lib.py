from functools import partial


def make(function, value=0):
    reveal(value)  # reveals: 0 | 3
    return function


def other(value):
    return value


job = partial(make, lambda batch: batch)
twice = partial(partial(make, other), value=3)
