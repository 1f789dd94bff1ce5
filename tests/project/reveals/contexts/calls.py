def same(value):
    reveal(value)  # in contexts: 'a'; 'b'; 1
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
