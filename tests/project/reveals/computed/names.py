"""Attributes that are set by names which the program computes."""

import json


class Options:
    kind = "plain"
    depth = 3

    def read(self, path):
        with open(path) as file:
            for name, value in json.load(file).items():
                setattr(self, name, value)


class Layers:
    conv_size = 3
    train = False

    def fill(self, sizes):
        for number, size in enumerate(sizes):
            setattr(self, f"conv{number}_size", size)
            setattr(self, f"conv_{number}", size)


class Chosen:
    small = True
    large = False

    def take(self, given):
        for name in ("large", "huge"):
            setattr(self, name, given[name])


class Merged:
    def __init__(self, given):
        self.options = Plain()
        for name in given:
            self.options.__setattr__(name, given[name])


class Plain:
    verbose = False


class Checked:
    verbose = False

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Outside:
    verbose = False


class Own:
    verbose = False


def fill(given):
    outside = Outside()
    for name in given:
        setattr(outside, name, given[name])
    reveal(outside.verbose)  # reveals: ? | False
    return outside


class Copied:
    def __init__(self, verbose=False):
        self.verbose = verbose

    def copy(self):
        made = Copied()
        made.__dict__.update(self.__dict__)
        reveal(made.verbose)  # reveals: ? | False
        return made


class Given:
    verbose = False


def filled(found, given=None):
    if given is None:
        given = Given()
    vars(given).update(found)
    return given


class Held:
    def __init__(self, given):
        self.options = Own()
        vars(self.options).update(given)
        reveal(self.options.verbose)  # reveals: ? | False


def use():
    reveal(Merged({}).options.verbose)  # reveals: ? | False
    reveal(Checked().verbose)  # reveals: False
    reveal(Options().kind)  # reveals: 'plain' | ?
    reveal(Options().depth)  # reveals: 3 | ?
    holds(Options().depth > 5)  # holds: unknown
    reveal(Layers().train)  # reveals: False
    reveal(Layers().conv_size)  # reveals: 3 | ?
    reveal(Chosen().small)  # reveals: True
    reveal(Chosen().large)  # reveals: ? | False
    reveal(Copied(True).verbose)  # reveals: True
    reveal(Copied(True).copy().verbose)  # reveals: ? | False
    reveal(Given().verbose)  # reveals: ? | False
