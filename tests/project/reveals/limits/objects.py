"""A helper that an `__init__` calls, for objects that are made in too many places to tell apart who makes them.

The object that an `__init__` makes says by itself what it was given.
"""


def checked(value):
    return value


class Options:
    def __init__(self, value):
        self.value = checked(value)
        self.read = self.as_read(value)

    def as_read(self, value):
        return value


class Derived(Options):
    def __init__(self, value):
        super().__init__(value)


reveal(Options("one").value)  # reveals: 'one'
reveal(Options("two").read)  # reveals: 'two'
reveal(Derived("three").value)  # reveals: 'three'
reveal(Derived("four").read)  # reveals: 'four'


def made(value):
    return Options(value)


reveal(made("five").value)  # reveals: 'five'
Options(0), Options(0), Options(0), Options(0), Options(0), Options(0), Options(0), Options(0), Options(0), Options(0)
Options(0), Options(0), Options(0), Options(0), Options(0), Options(0), Options(0), Options(0), Options(0), Options(0)
