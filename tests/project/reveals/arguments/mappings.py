"""What a parameter may be that a `**mapping` may fill."""

from argparse import ArgumentParser


def cached(size, keep=False):
    return "kept" if keep else "read"


def handed_on(**options):
    return cached(1, **options)


def taken(**options):
    options.pop("keep", None)
    return cached(1, **options)


class Reader:
    def __init__(self, path, limit=None):
        if limit is not None:
            self.rows = "limited"
        else:
            self.rows = "all"


class Options:
    def __init__(self):
        self.size, self.keep = 1, True


options = ArgumentParser().parse_args()
name = input()

reveal(cached(1, **options.data))  # reveals: 'kept' | 'read'
reveal(cached(**vars(options)))  # reveals: 'kept' | 'read'
reveal(cached(**vars(Options())))  # reveals: 'kept' | 'read'
reveal(cached(**{name: 1}))  # reveals: 'kept' | 'read'
reveal(cached(**{"size": 1}))  # reveals: 'read'
reveal(cached(**{"size": 1, **options.data}))  # reveals: 'kept' | 'read'
reveal(cached(**dict(size=1)))  # reveals: 'read'
reveal(cached(**dict(options.data, size=1)))  # reveals: 'kept' | 'read'
reveal(cached(**{"size": 1, "keep": True}))  # reveals: 'kept'
reveal(cached(1, keep=False, **options.data))  # reveals: 'read'
reveal(handed_on())  # reveals: 'read'
reveal(handed_on(**options.data))  # reveals: 'kept' | 'read'
reveal(Reader(**options.data).rows)  # reveals: 'all' | 'limited'
reveal(taken(**options.data))  # reveals: 'read'
