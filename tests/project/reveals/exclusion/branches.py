def by_name(method):
    made = "thread's" if method == "thread" else "process's"
    if method == "process":
        reveal(made)  # reveals: "process's"
    reveal(made)  # reveals: "process's" | "thread's"


def by_branch(flag):
    if flag:
        data = 1
    else:
        data = 2
    if flag:
        reveal(data)  # reveals: 1
    elif data:
        reveal(data)  # reveals: 2


class Kept:
    def __init__(self, method):
        self.method = method
        self.made = "thread's" if method == "thread" else "process's"
        if self.method == "process":
            reveal(self.made)  # reveals: "process's"


def by_rounds(count):
    if count != 0:
        data = 1
    else:
        data = 2
    for _ in range(count):
        reveal(data)  # reveals: 1
    for _ in range(3):
        reveal(data)  # reveals: 1 | 2
    held = [
        reveal(data)  # reveals: 1
        for _ in range(count)
    ]
    held += [
        item
        for item in reveal(data)  # reveals: 1 | 2
        for _ in range(count)
    ]


def set_once(options):
    count = len(options)
    if count:
        data = 1
    else:
        data = 2
    if count > 0:
        reveal(data)  # reveals: 1
    for _ in range(count):
        reveal(data)  # reveals: 1


def set_in_between(options):
    count = len(options)
    if not count:
        data = 1
    else:
        data = 2
    count = 3
    for _ in range(count):
        reveal(data)  # reveals: 1 | 2


def returned_before(options, count):
    if count == 0:
        return
    count = len(options)
    data = 1
    if count == 0:
        data = 2
    if options:
        reveal(data)  # reveals: 1 | 2


def set_by_a_loop(numbers):
    data = None
    for count in numbers:
        if count == 0:
            data = 1
        if count > 0:
            reveal(data)  # reveals: 1 | None


def counts_down(count):
    data = None
    while True:
        if count == 0:
            data = 1
        for _ in range(count):
            reveal(data)  # reveals: 1 | None
        count -= 1
