"""What a class makes by `cls()` and `super().__init__()` is an object of its own class, and of none that is no base."""


class Base:
    def __init__(self, size):
        reveal(size)  # reveals: 1 | 2 | 3
        self.size = size

    @classmethod
    def made(cls):
        return cls(1)


class Child(Base):
    def __init__(self, size):
        reveal(size)  # reveals: 2
        super().__init__(size)


class Other:
    def __init__(self, size):
        reveal(size)  # reveals: 4
        self.size = size

    @classmethod
    def made(cls):
        return cls(4)


Child(2)
Base(3)
Other.made()
Base.made()
