"""What a base's method has just set, it reads back, whatever derived classes set later, or in a method in between."""


class Base:
    def __init__(self):
        self.rows = 1
        reveal(self.rows)  # in contexts: 1; 1; 1
        self.fill()
        reveal(self.rows)  # in contexts: 1; 1; 1 | 3 | 4

    def fill(self):
        pass


class Later(Base):
    def __init__(self):
        super().__init__()
        self.rows = 2
        reveal(self.rows)  # reveals: 2


class Between(Base):
    def fill(self):
        self.really_fill()

    def really_fill(self):
        self.rows = 3
        if str(self):
            self.rows = 4


Base()
Later()
Between()
