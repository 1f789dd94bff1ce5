def rotated():
    a, b, c = 1, 2, 3
    for _ in range(3):
        a, b, c = b, c, a
    reveal(a)  # reveals: 1 | 2 | 3
    reveal(b)  # reveals: 1 | 2 | 3
    reveal(c)  # reveals: 1 | 2 | 3


def grows(text):
    text = "x"
    for _ in range(3):
        text = text.title()
    reveal(text)  # reveals: 'x' | str.title()


class Pair:
    def __init__(self):
        self.left = 1
        self.right = 2

    def swap(self):
        self.left, self.right = self.right, self.left


pair = Pair()
reveal(pair.left)  # reveals: 1 | 2
reveal(pair.right)  # reveals: 1 | 2


def even(n, found):
    return found if n == 0 else odd(n - 1, found)


def odd(n, found):
    return None if n == 0 else even(n - 1, found)


reveal(even(4, "end"))  # reveals: 'end'
