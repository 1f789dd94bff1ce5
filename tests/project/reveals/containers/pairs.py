"""Dictionaries that are made of pairs, or by a comprehension: what they have besides what is put in later."""

from collections import OrderedDict


class Rows:
    pass


class Shifted:
    pass


def of_pairs(names):
    made = dict((name, Rows()) for name in names)
    reveal(made["train"])  # reveals: Rows
    reveal(made[names[0]])  # reveals: Rows


def changed(names, shift):
    made = dict((name, Rows()) for name in names)
    if shift:
        for name in names:
            made[name] = Shifted()
    reveal(made["train"])  # reveals: Rows | Shifted


def comprehended(names, shift):
    made = {name: Rows() for name in names}
    if shift:
        for name in made:
            made[name] = Shifted()
    reveal(made["train"])  # reveals: Rows | Shifted


def written(name):
    made = OrderedDict([("train", Rows()), ("valid", Shifted())])
    reveal(made["train"])  # reveals: Rows
    reveal(made["valid"])  # reveals: Shifted
    reveal(made[name])  # reveals: Rows | Shifted


def unknown(read, names):
    made = dict((name, read(name)) for name in names)
    for name in names:
        made[name] = Shifted()
    reveal(made["train"])  # reveals: ? | Shifted
    reveal(dict(read(names))["train"])  # reveals: ?


def keys(names, more):
    made = {"train": Rows()}
    for name in made:
        reveal(name)  # reveals: 'train'
    for name in {split: Rows() for split in ("train", "valid")}:
        reveal(name)  # reveals: 'train' | 'valid'
    filled = {}
    filled["valid"] = Rows()
    for name in filled:
        reveal(name)  # reveals: 'valid'
    updated = {"train": Rows()}
    updated.update(more)
    for name in updated:
        reveal(name)  # reveals: 'train' | ?
    for name in {"train": Rows(), **more}:
        reveal(name)  # reveals: 'train' | ?


def under_keys(read):
    files = {}
    files["train"] = "a.txt"
    made = dict((name, read(file)) for name, file in files.items())
    again = dict((name, Rows()) for name in files)
    for name in files:
        again[name] = Shifted()
    reveal(made["train"])  # reveals: ?
    reveal(again["train"])  # reveals: Rows | Shifted
