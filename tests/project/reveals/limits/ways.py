from functools import partial


def plain():
    return 1


def other(*numbers):
    return 2


few = plain
if input():
    few = partial(other)
reveal(partial(few)())  # reveals: 1 | 2

many = plain
if input(0):
    many = partial(other, *input(0))
if input(1):
    many = partial(other, *input(1))
if input(2):
    many = partial(other, *input(2))
if input(3):
    many = partial(other, *input(3))
if input(4):
    many = partial(other, *input(4))
if input(5):
    many = partial(other, *input(5))
if input(6):
    many = partial(other, *input(6))
if input(7):
    many = partial(other, *input(7))
if input(8):
    many = partial(other, *input(8))
if input(9):
    many = partial(other, *input(9))
if input(10):
    many = partial(other, *input(10))
if input(11):
    many = partial(other, *input(11))
if input(12):
    many = partial(other, *input(12))
if input(13):
    many = partial(other, *input(13))
if input(14):
    many = partial(other, *input(14))
if input(15):
    many = partial(other, *input(15))
if input(16):
    many = partial(other, *input(16))
reveal(partial(many)())  # reveals: 1 | ?
