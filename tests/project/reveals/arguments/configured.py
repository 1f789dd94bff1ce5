"""Defaults that settings replace: gin gives a parameter what its files have for it, where the call passes nothing."""

import gin


class Small:
    pass


class Large:
    pass


@gin.configurable
def choose(name="small"):
    reveal(name)  # reveals: 'small' | ?
    return Small() if name == "small" else Large()


@gin.configurable("reader", denylist=["path"])
def read(path, size=8):
    reveal(path)  # reveals: 'rows'
    reveal(size)  # reveals: 8 | ?
    return size


@gin.configurable
class Model:
    def __init__(self, width=4):
        self.width = width


def plain(name="small"):
    reveal(name)  # reveals: 'small'


def main():
    reveal(choose())  # reveals: Large | Small
    reveal(choose("small"))  # reveals: Small
    reveal(read("rows"))  # reveals: 8 | ?
    reveal(Model().width)  # reveals: 4 | ?
    reveal(Model(2).width)  # reveals: 2
    plain()
