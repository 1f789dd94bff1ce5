"""A helper whose calls are too many to be told apart by their callers' callers: what they pass is one set."""


def inner(value):
    return value


def outer(value):
    return inner(value)


outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)
outer(0)
outer(1)

reveal(outer("last"))  # reveals: 'last' | 0 | 1
reveal(inner("direct"))  # reveals: 'direct'
