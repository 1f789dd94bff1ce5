"""Classes whose `__init__` always raises have no objects."""

name = input()


class Missing:
    def __init__(self, *args):
        raise ImportError("not installed")


class Given(Missing):
    def __init__(self):
        self.size = 1


class Singleton(Missing):
    def __new__(cls):
        return object.__new__(Given)


class Perhaps:
    def __init__(self, size):
        if not size:
            raise ValueError(size)


class Rows:
    size = 2


reveal(Missing())  # reveals: ?
reveal(Missing() if name else Rows())  # reveals: ? | Rows
reveal((Missing if name else Rows)())  # reveals: ? | Rows
reveal(Given())  # reveals: Given
reveal(Given().size)  # reveals: 1
reveal(Singleton())  # reveals: Singleton
reveal(Perhaps(1))  # reveals: Perhaps
