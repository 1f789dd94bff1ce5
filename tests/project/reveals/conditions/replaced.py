"""What a branch that surely runs has replaced, and what one that surely doesn't run leaves."""


class Task:
    def __init__(self, jobs=1):
        self.jobs = jobs
        self.method = "forkserver"
        if self.jobs == 1:
            self.method = "fork"


class Named(Task):
    def __init__(self, jobs=1, name=""):
        super().__init__(jobs=jobs)


def chosen(jobs=1):
    method = "forkserver"
    if jobs == 1:
        method = "fork"
    return method


def perhaps(jobs):
    method = "forkserver"
    for job in jobs:
        if jobs:
            method = "fork"
    return method


reveal(Task().method)  # reveals: 'fork'
reveal(Task(2).method)  # reveals: 'fork' | 'forkserver'
reveal(Named(name="a").method)  # reveals: 'fork'
reveal(Task(count()).method)  # reveals: 'fork' | 'forkserver'
reveal(chosen())  # reveals: 'fork'
reveal(chosen(2))  # reveals: 'forkserver'
reveal(perhaps([1]))  # reveals: 'fork' | 'forkserver'
