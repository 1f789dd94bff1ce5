"""Dotted names that a program puts together and evaluates."""

import sys

import parts


class Near:
    pass


class Shared:
    pass


def near_here():
    return Near()


class Splits:
    def __init__(self, near, other):
        self.near = near
        self.other = other

    def get_near_split(self):
        return self.near

    def get_other_split(self):
        return self.other

    def name(self):
        return "splits"

    def get(self, mode):
        return eval(f"self.get_{mode}_split")()


def use(given, options):
    reveal(eval("parts." + given))  # reveals: type[SmallParts]
    reveal(eval("parts." + given)())  # reveals: SmallParts
    reveal(eval("parts.{}".format(given)))  # reveals: type[SmallParts]
    reveal(eval("parts.small"))  # reveals: type[SmallParts]
    text = f"parts.{options.kind}"
    reveal(eval(text))  # reveals: type[SmallParts]
    reveal(eval("Ne" + given))  # reveals: type[Near]
    reveal(eval(f"{given}_here")())  # reveals: Near
    reveal(Splits(1, 2).get(given))  # reveals: 1 | 2
    reveal(eval(given))  # reveals: builtins.eval()
    reveal(eval("3 + " + given))  # reveals: builtins.eval()
    reveal(eval("sys." + given))  # reveals: builtins.eval()
    reveal(eval("parts." + given + "(3)"))  # reveals: builtins.eval()
    return sys
