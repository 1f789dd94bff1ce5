def same(value):
    reveal(value)  # in contexts: 'a'; 'b'; 1; 2; 2
    return value


reveal(same(1))  # reveals: 1
reveal(same("a"))  # reveals: 'a'


def passed_on(value):
    return same(value)


reveal(passed_on("b"))  # reveals: 'b'


class Box:
    def __init__(self, content):
        self.content = content

    def taken(self):
        return self.content


one, other = Box(1), Box("two")
reveal(one.taken())  # reveals: 1
reveal(other.taken())  # reveals: 'two'


def never_called(value):
    reveal(value)  # reveals: ?


def options(**given):
    return given.get("size")


reveal(options(size=4))  # reveals: 4
reveal(options(size=5))  # reveals: 5


class Table:
    def __init__(self):
        self.rows = "read"
        self.first = self.size()
        self.rows = "kept"
        self.rest = self.size()

    def size(self):
        reveal(self.rows)  # in contexts: 'kept'; 'kept' | 'read'
        return self.rows


reveal(Table().first)  # reveals: 'kept' | 'read'


from tqdm import tqdm  # noqa: E402

pairs = [("left", 1), ("right", 2)]
for name, _ in sorted(tqdm(pairs)):
    reveal(name)  # reveals: 'left' | 'right'
