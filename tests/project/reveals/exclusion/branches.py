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
