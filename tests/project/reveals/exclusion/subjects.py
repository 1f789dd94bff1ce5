"""What is asked for twice: by order, by calls that change nothing, by keys of what nobody changes."""


def by_order(n, m):
    made = "a" if n == 0 else "b"
    if n > 0:
        reveal(made)  # reveals: 'b'
    if n >= 0:
        reveal(made)  # reveals: 'a' | 'b'
    small = "a" if n <= 1 else "b"
    if n > 1:
        reveal(small)  # reveals: 'b'
    if 1 >= n:
        reveal(small)  # reveals: 'a'
    if n > 0:
        reveal(small)  # reveals: 'a' | 'b'
    if n > m:
        reveal(small)  # reveals: 'a' | 'b'
    some = "a" if n else "b"
    if n > 0:
        reveal(some)  # reveals: 'a'
    if n < 1:
        reveal(some)  # reveals: 'a' | 'b'


def by_calls(n, other):
    made = "a" if n.isdigit() else "b"
    if not n.isdigit():
        reveal(made)  # reveals: 'b'
    if not other.isdigit():
        reveal(made)  # reveals: 'a' | 'b'
    if n.startswith("1"):
        reveal(made)  # reveals: 'a' | 'b'
    drawn = "a" if n.pop() else "b"
    if not n.pop():
        reveal(drawn)  # reveals: 'a' | 'b'


def by_keys(config, changed, handed):
    made = "a" if config["a"] == 1 else "b"
    if config["a"] == 2:
        reveal(made)  # reveals: 'b'
    if config["b"] == 2:
        reveal(made)  # reveals: 'a' | 'b'
    other = "a" if changed["a"] == 1 else "b"
    changed["a"] = 2
    if changed["a"] == 2:
        reveal(other)  # reveals: 'a' | 'b'
    third = "a" if len(handed) == 1 else "b"
    fill(handed)
    if len(handed) == 2:
        reveal(third)  # reveals: 'a' | 'b'


def by_filled(rows):
    made = "a" if not rows else "b"
    rows.append(1)
    if rows:
        reveal(made)  # reveals: 'a' | 'b'


def stated(method, size, flag):
    if method == "thread":
        reveal(method)  # reveals: 'thread'
        method = other()
        reveal(method)  # reveals: ?
    if size in (1, 2):
        reveal(size)  # reveals: ?
    if size != 4:
        return
    reveal(size)  # reveals: 4
    if flag == True:
        reveal(flag)  # reveals: ?


class Loading:
    def __init__(self, fast, rows, late):
        self.fast = fast
        self.rows = rows
        self.late = late
        self.made = "a" if fast else "b"
        if self.fast:
            self.kept = "a"
        else:
            self.kept = "b"
        if self.rows:
            self.filled = "a"
        else:
            self.filled = "b"
        if self.late:
            self.delayed = "a"
        else:
            self.delayed = "b"

    def begin(self):
        self.late = True
        self.rows.append(1)

    def load(self):
        if self.fast:
            reveal(self.kept)  # reveals: 'a'
        if not self.fast:
            reveal(self.kept)  # reveals: 'b'
        if self.rows:
            reveal(self.filled)  # reveals: 'a' | 'b'
        if self.late:
            reveal(self.delayed)  # reveals: 'a' | 'b'
        reveal(self.kept)  # reveals: 'a' | 'b'
