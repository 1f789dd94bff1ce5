"""A helper with more calls than are told apart: what it is given is not known, whoever asks."""


def chosen(value):
    return value


numbers = [
    chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1),
    chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1),
    chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1),
    chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1),
    chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1),
    chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1),
    chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1),
    chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1), chosen(0), chosen(1),
]

reveal(chosen(2))  # reveals: ?
