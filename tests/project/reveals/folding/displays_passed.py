"""What is in a display that stands in a call: known in the function that is called, until that hands it on."""

from functools import partial


def read(rows, *more, named=()):
    reveal(len(rows))  # in contexts: 2; 3; builtins.len()
    reveal("few" if len(rows) < 3 else "many")  # in contexts: 'few'; 'few' | 'many'; 'many'
    reveal(len(more))  # in contexts: builtins.len(); builtins.len(); builtins.len()
    reveal(len(named))  # in contexts: 1; builtins.len(); builtins.len()
    reveal("some" if named else "none")  # in contexts: 'none' | 'some'; 'none' | 'some'; 'some'
    for row in rows:
        print(row)
    keep(rows)
    reveal(len(rows))  # in contexts: builtins.len(); builtins.len(); builtins.len()


def read_all(item, items):
    read([item, item], [1], named=[item])
    read([item, item, item])
    read(items)


def in_loop(rows):
    while len(rows) < 3:
        reveal("few" if len(rows) < 3 else "many")  # in contexts: 'few' | 'many'
        rows.append(1)


def in_closure(rows):
    def add():
        rows.append(1)

    add()
    reveal(len(rows))  # in contexts: builtins.len()


def anew(rows):
    rows = rows or load()
    reveal(len(rows))  # in contexts: builtins.len()


def of_name(rows):
    reveal(len(rows))  # in contexts: builtins.len()


def of_partial(rows):
    reveal(len(rows))  # in contexts: builtins.len(); builtins.len()
    rows.append(1)


def run(item):
    in_loop([item])
    in_closure([item])
    anew([item])
    named = [item]
    named.append(item)
    of_name(named)
    bound = partial(of_partial, [item])
    bound()
    bound()
