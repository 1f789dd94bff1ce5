"""What `__init__` sets before it calls a base's, which may set it again."""


class Base:
    def __init__(self, size=1):
        self.size = size
        self.kept = None
        self.fast = True
        self.load()
        self.late = True

    def load(self):
        self.seen = self.late


class Images(Base):
    def __init__(self, fast, late, own):
        self.own = own
        self.fast = fast
        self.late = late
        super().__init__()
        self.kept = own


class Deeper(Images):
    def __init__(self, fast):
        self.fast = fast
        Images.__init__(self, False, False, 3)


images = Images(False, 2, 3)
reveal(images.fast)  # reveals: True
reveal(images.late)  # reveals: 2 | True
reveal(images.seen)  # reveals: 2 | True
reveal(images.own)  # reveals: 3
reveal(Deeper(5).fast)  # reveals: True


class Read(Base):
    def __init__(self, fast, size):
        self.fast = fast
        self.size = size
        self.copy = self.fast
        super().__init__(self.size)


read = Read(7, 8)
reveal(read.copy)  # reveals: 7
reveal(read.size)  # reveals: 8


class Perhaps(Base):
    def __init__(self, fast, size):
        self.fast = fast
        self.size = size
        if size:
            super().__init__()


reveal(Perhaps(7, input()).fast)  # reveals: 7 | True


class Tested(Base):
    def __init__(self, fast):
        self.fast = fast
        try:
            super().__init__()
        except ValueError:
            pass


reveal(Tested(7).fast)  # reveals: 7 | True


class Handed(Base):
    def __init__(self, fast, registry):
        self.fast = fast
        registry.append(self)
        super().__init__()


reveal(Handed(7, input()).fast)  # reveals: 7 | True


class Early(Base):
    def __init__(self, fast):
        self.fast = fast
        if input():
            return
        super().__init__()


reveal(Early(7).fast)  # reveals: 7 | True


class Later(Base):
    def __init__(self, fast):
        super().__init__()
        self.fast = fast


reveal(Later(7).fast)  # reveals: 7 | True
