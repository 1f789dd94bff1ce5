import functools
import os

import torch
from elsewhere import check, decorate

MODE = "train"
SIZE = 3
ON = True
FILE = open("a")
TEXT = "A.txt"
IS_TRAIN = MODE == "train"


def off():
    return False


def is_large(size):
    return size > 2


def perhaps(size):
    if size:
        return True


def both(size):
    if size:
        return True
    else:
        return 1


@decorate
def decorated():
    return False


@functools.lru_cache(maxsize=None)
def cached():
    return False


class Part:
    def is_on(self):
        return False

    def here(self):
        holds(self.is_on())  # holds: unknown
        holds(type(self) is Part)  # holds: unknown
        holds(self is None)  # holds: no


class Other(Part):
    def is_on(self):
        return True


def chosen(options, count):
    holds(ON is True)  # holds: yes
    holds(ON is not False)  # holds: yes
    holds(SIZE is True)  # holds: no
    holds(off is False)  # holds: no
    holds(options is True)  # holds: unknown
    holds(1 < SIZE < 3)  # holds: no
    holds(1 < SIZE <= 3)  # holds: yes
    holds(1 < count < SIZE)  # holds: unknown
    holds(5 < SIZE < count)  # holds: no
    holds(MODE > "a")  # holds: yes
    holds(MODE > SIZE)  # holds: unknown
    holds(SIZE == 3.0)  # holds: yes
    holds(SIZE - 3)  # holds: no
    holds(bool(SIZE))  # holds: yes
    holds(bool(count))  # holds: unknown
    holds(not (not (not (not (not SIZE)))))  # holds: no
    holds(TEXT.lower().endswith((".txt", ".csv")))  # holds: yes
    holds(TEXT.startswith("b"))  # holds: no
    holds(TEXT.startswith(options))  # holds: unknown
    holds(TEXT.strip() == "A.txt")  # holds: yes
    holds(options.lower() == "a")  # holds: unknown
    holds(type(SIZE) is int)  # holds: yes
    holds(type(ON) is int)  # holds: no
    holds(type(options) is int)  # holds: unknown
    holds(type(Other()) is Part)  # holds: no
    holds(type(Part()) == Part)  # holds: yes
    holds(FILE is None)  # holds: no
    holds(os.path.join("a", "b") is None)  # holds: no
    holds(os.environ.get("A") is None)  # holds: unknown
    holds(torch.Generator() is None)  # holds: no
    holds(next(iter(torch.Generator())) is None)  # holds: unknown
    holds(IS_TRAIN)  # holds: yes
    reveal(MODE != "train")  # reveals: False


def called(count):
    holds(off())  # holds: no
    holds(is_large(SIZE))  # holds: yes
    holds(is_large(1))  # holds: no
    holds(is_large(count))  # holds: unknown
    holds(perhaps(count))  # holds: unknown
    holds(perhaps(1))  # holds: unknown
    holds(both(count))  # holds: yes
    holds(decorated())  # holds: unknown
    holds(cached())  # holds: no
    holds(check())  # holds: unknown
    holds(Part().is_on())  # holds: no
    holds(torch.cuda.is_available())  # holds: unknown


def left(kind):
    if kind in ("a", "b"):
        kind = "a"
    else:
        kind = "c"
    if kind == MODE:
        holds(kind)  # holds: unknown
