"""Where each branch of a test binds a name, or leaves, what it had before is gone below."""


def either(test):
    rows = "before"
    if test:
        rows = "if"
    else:
        rows = "else"
    return rows


def chained(test):
    rows = "before"
    if test > 2:
        rows = "if"
    elif test > 1:
        rows = "elif"
    else:
        rows = "else"
    return rows


def open_chain(test):
    rows = "before"
    if test > 2:
        rows = "if"
    elif test > 1:
        rows = "elif"
    return rows


def nested(test, other):
    rows = "before"
    if test:
        if other:
            rows = "inner if"
        else:
            rows = "inner else"
    else:
        rows = "else"
    return rows


def in_loop(tests):
    rows = "before"
    for test in tests:
        if test:
            rows = "if"
        else:
            rows = "else"
    return rows


def one_twice(test):
    rows = "before"
    if test:
        rows = "once"
        rows = "twice"
    return rows


def tried(test):
    rows = "before"
    try:
        rows = test()
        rows = "try"
    except ValueError:
        pass
    else:
        rows = "else"
    return rows


class Rows:
    def __init__(self, test):
        self.rows = "before"
        if test:
            self.rows = "if"
        else:
            self.rows = "else"


def leaving(name):
    chosen = "before"
    if name == "a":
        chosen = "first"
    elif name == "b":
        chosen = "second"
    else:
        raise ValueError(name)
    return chosen


def inside(name):
    chosen = "before"
    if name == "a":
        chosen = "first"
    else:
        reveal(chosen)  # reveals: 'before'
        raise ValueError(name)


def caught(name):
    chosen = "before"
    try:
        if name == "a":
            chosen = "first"
        else:
            raise ValueError(name)
        reveal(chosen)  # reveals: 'first'
    except ValueError:
        reveal(chosen)  # reveals: 'before' | 'first'


def in_rounds(names):
    chosen = "before"
    for name in names:
        if name:
            chosen = "first"
        else:
            break
        reveal(chosen)  # reveals: 'first'
    reveal(chosen)  # reveals: 'before' | 'first'


def in_part(name):
    chosen = "before"
    if name == "a":
        chosen = "first"
    else:
        for part in name:
            chosen = "second"
    return chosen


reveal(either(count()))  # reveals: 'else' | 'if'
reveal(chained(count()))  # reveals: 'elif' | 'else' | 'if'
reveal(open_chain(count()))  # reveals: 'before' | 'elif' | 'if'
reveal(nested(count(), count()))  # reveals: 'else' | 'inner else' | 'inner if'
reveal(in_loop(count()))  # reveals: 'before' | 'else' | 'if'
reveal(one_twice(count()))  # reveals: 'before' | 'twice'
reveal(tried(count()))  # reveals: 'before' | 'else' | 'try'
reveal(Rows(count()).rows)  # reveals: 'else' | 'if'
reveal(leaving(given()))  # reveals: 'first' | 'second'
reveal(in_part(given()))  # reveals: 'before' | 'first' | 'second'

tokenize = "before"
if given() == "a":
    tokenize = "first"
elif given() == "b":
    tokenize = "second"
else:
    raise ValueError
reveal(tokenize)  # reveals: 'first' | 'second'
