"""What every branch of an `if` binds again, unless it leaves, is gone below."""


def unknown(name):
    chosen = "placeholder"
    if name == "a":
        chosen = "first"
    elif name == "b":
        chosen = "second"
    else:
        raise ValueError(name)
    return chosen


def lacks_one(name):
    chosen = "placeholder"
    if name == "a":
        chosen = "first"
    elif name == "b":
        chosen = "second"
    return chosen


def inside(name):
    chosen = "placeholder"
    if name == "a":
        chosen = "first"
    else:
        reveal(chosen)  # reveals: 'placeholder'
        raise ValueError(name)


def caught(name):
    chosen = "placeholder"
    try:
        if name == "a":
            chosen = "first"
        else:
            raise ValueError(name)
        reveal(chosen)  # reveals: 'first'
    except ValueError:
        reveal(chosen)  # reveals: 'first' | 'placeholder'


def in_rounds(names):
    chosen = "placeholder"
    for name in names:
        if name:
            chosen = "first"
        else:
            break
        reveal(chosen)  # reveals: 'first'
    reveal(chosen)  # reveals: 'first' | 'placeholder'


def in_part(name):
    chosen = "placeholder"
    if name == "a":
        chosen = "first"
    else:
        for part in name:
            chosen = "second"
    return chosen


reveal(unknown(given()))  # reveals: 'first' | 'second'
reveal(lacks_one(given()))  # reveals: 'first' | 'placeholder' | 'second'
reveal(in_part(given()))  # reveals: 'first' | 'placeholder' | 'second'

tokenize = "placeholder"
if given() == "a":
    tokenize = "first"
elif given() == "b":
    tokenize = "second"
else:
    raise ValueError
reveal(tokenize)  # reveals: 'first' | 'second'
