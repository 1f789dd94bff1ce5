"""A helper with more calls than are told apart: inside, what it is given is not known; each call gets its own back."""


def chosen(value):
    reveal(value)  # reveals: ?
    return value


numbers = [
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
    chosen(0),
    chosen(1),
]

reveal(chosen(2))  # reveals: 2


def through(value):
    return chosen(value)


reveal(through(3))  # reveals: 3
