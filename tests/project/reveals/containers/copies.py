"""Parts of copies of containers, by a number or unpacked."""

import glob
import json
from collections import OrderedDict, defaultdict


class Train:
    pass


class Val:
    pass


def make(names):
    made = OrderedDict()
    for name in names:
        made[name] = Train() if name == "train" else Val()
    return made


def use(names, path):
    made = make(names)
    reveal(made["train"])  # reveals: Train | Val
    reveal(list(made.values())[0])  # reveals: Train | Val
    reveal(tuple(made.values())[names.index("val")])  # reveals: Train | Val
    train, val = list(made.values())
    reveal(train)  # reveals: Train | Val
    reveal(val)  # reveals: Train | Val
    ordered = OrderedDict(train=Train(), val=Val())
    reveal(ordered["val"])  # reveals: Val
    reveal(ordered[path])  # reveals: Train | Val


def read(path):
    reveal(list(json.load(open(path)))[0])  # reveals: builtins.list()[]()
    reveal(sorted(glob.glob(path))[0])  # reveals: builtins.sorted()[]()
    reveal(set(make(path).values()))  # reveals: builtins.set()


def group(path, key):
    groups = defaultdict(list)
    for line in open(path):
        groups[line[0]].append(line)
    reveal(dict(groups)[key])  # reveals: collections.defaultdict()[]()
