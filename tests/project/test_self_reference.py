"""Values that are made of themselves, at every place that rules look at: all rules come to an end, and soon."""

from __future__ import annotations

import time

import pytest
from dllint_rules.correctness.analysis.module_globals import Globals

from dllint import registry
from dllint.syntax.refused import Refused
from tests.order import Files

MOST_SECONDS = 3
"""Of the processor, for all rules: of what is followed through each way to it, there are millions here."""
BRANCHES = 6

LOOPS = {
    "parsed": ("open(path)", ("json.load(x)", "json.loads(x)")),
    "read": ("open(path).read()", ("csv.reader(x)", "x.split(x)", "x.splitlines()")),
    "copied": ("['a', path]", ("list(x)", "sorted(x)", "x[:]", "copy.copy(x)")),
    "listed": ("os.listdir(path)", ("x + x", "list(x) + x", "[*x, x]", "tqdm(x)")),
    "rows": ("(path, np.zeros(3))", ("(x, np.load(path))", "[x, np.zeros(3)]", "{'x': x, 'y': np.zeros(3)}")),
    "comprehensions": ("os.listdir(path)", ("[item for item in x]", "[(x, i) for i in x]", "{i: x for i in x}")),
    "zipped": ("os.listdir(path)", ("zip(x, x)", "list(zip(*x))", "enumerate(x)", "map(back, x)", "filter(None, x)")),
    "chained": ("os.listdir(path)", ("itertools.chain(x, x)", "itertools.chain(*x)", "sum(x, [])", "iter(x)")),
    "mappings": ("{'a': path}", ("{**x, 'b': x}", "dict(x, **x)", "x.get('a', x)", "x['a']", "x.values()")),
    "texts": ("path", ("x + x", "os.path.join(x, x)", "f'{x}/'", "'%s/%s' % (x, x)", "'{}'.format(x)", "str(x)")),
    "globbed": ("'*.txt'", ("os.path.join(x, x)", "glob.glob(x)", "Path(x) / x")),
    "numbers": ("2", ("x * x", "max(x, x)", "x if x else x", "torch.initial_seed() + x", "hash(x)")),
    "tables": ("pd.read_csv(path)", ("pd.concat([x, x])", "x['a']", "np.asarray(x)", "x.values")),
    "arrays": ("np.load(path)", ("np.array(x)", "np.concatenate([x, x])", "np.where(x)[0]", "x.tolist()", "x[x]")),
    "views": ("pd.read_csv(path)", ("np.asarray(x)",) * 4),
    "maps": ("np.memmap(path)", ("np.asarray(x)", "x[:]", "np.load(x, mmap_mode='r')")),
    "devices": ("'cuda'", ("torch.device(x)", "x + x")),
    "handles": ("open(path)", ("open(x)", "gzip.open(x)", "h5py.File(x)['a']")),
    "partials": ("back", ("partial(x, x)", "partial(back, x)", "x(x)")),
    "composed": ("back", ("Compose([x])", "Compose([x, partial(x)])")),
    "called": ("back", ("x(x)", "back(x)", "wrapped(x)", "(lambda: x)")),
    "objects": ("Node(path)", ("Node(x)", "x.next", "x.make()", "type(x)(x)", "getattr(x, 'next')")),
    "datasets": ("Keeps(path)", ("Keeps(x)", "Subset(x, x)", "ConcatDataset([x, x])")),
    "loaders": ("DataLoader(Keeps(path), num_workers=2)", ("DataLoader(x, num_workers=2)", "zip(x, x)", "next(x)")),
    "coco": ("COCO(path)", ("COCO(x)", "x.loadAnns(x)", "x.loadRes(x)")),
    "generators": ("yielding(path)", ("yielding(x)", "iter(x)", "Keeps(path).walk()")),
    "randoms": ("random.Random(1)", ("random.Random(x)", "np.random.default_rng(x)", "torch.Generator(x)")),
    "augmenters": ("iaa.Noop()", ("iaa.Sequential([x, x])", "iaa.Sequential(x, [x])")),
    "modules": ("'a.b'", ("x + x", "f'{x}.c'", "importlib.import_module(x)")),
    "processes": ("back", ("mp.Process(target=x, args=(x,))", "mp.Pool(2).map(x, x)", "mp.get_context(x)")),
}
"""What a name is at first, and what branches of a loop make of it; each branch stands there several times."""
WRITTEN = {
    "list in itself": "x = []\nx.append(x)\nx.extend(x)\nx += x",
    "list of data in itself": "x = []\nfor row in os.listdir(path):\n    x.append(x)\n    x.append((row, np.zeros(3)))",
    "lists in each other": "x, y = [], []\nfor name in os.listdir(path):\n    x.append(y)\n    y.append(x)",
    "dictionary in itself": "x = {}\nx['me'] = x\nx['a'] = np.zeros(3)\nx.update(x, **x)",
    "keys of its own keys": "x, y = {}, {}\nfor name in x.keys():\n    x[name] = y[name] = (name, path)\n"
    "for name in [*y.keys(), *y]:\n    x[name] = y[name]",
    "default of itself": "x = defaultdict(lambda: x)\nx['a'].append(x)",
    "names that feed each other": "x, y = os.listdir(path), path\nwhile more(path):\n    x, y = sorted(y), list(x)",
    "files that feed each other": "x = y = open(path)\nwhile more(path):\n    x, y = json.load(y), json.loads(x)",
    "transforms of each other": "x = y = back\nwhile more(path):\n    x, y = Compose([y]), Compose([x])\nx(path)",
    "object that keeps itself": "x = Node(path)\nx.next = x\nx.items.append(x)\nx.me = x.me\nx = x.next",
    "objects that keep each other": "x, y = Node(path), Node(path)\nx.next, y.next = y, x",
    "function of itself": "def x(f=None):\n    return x(f or x)\nx = x(x)",
    "bases of each other": "while more(path):\n    a = b\n    b = a\nclass x(a): pass\nx = x()",
    "choice by its own number": "while more(path):\n    x = x if path > 0 else None\n"
    "    DataLoader([], num_workers=path, persistent_workers=x, prefetch_factor=x)",
    "texts twice as long": "x = path + 'a'\n" + "x = x + x\n" * 40,
    "constants twice as long": "x, n = 'ab', 3\n" + "x = x + x\nn = n * n\n" * 40,
    "lines until the end": "x = open(path)\nline = x.readline()\nwhile line:\n    x = line = x.strip().readline()",
}  # fmt: skip

HEAD = """
import argparse, copy, csv, glob, gzip, importlib, itertools, json, os, random
import multiprocessing as mp
from collections import defaultdict
from functools import partial
from pathlib import Path
import h5py, torch
import imgaug.augmenters as iaa
import numpy as np
import pandas as pd
from pycocotools.coco import COCO
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, Subset
from torchvision.transforms import Compose
from tqdm import tqdm

def more(x):
    return bool(x)
def back(x=None, *more, **rest):
    return x
def wrapped(f):
    def inner(*args, **kwargs):
        return f(inner, *args, **kwargs)
    return inner
def yielding(x):
    yield x
    yield from yielding(x)
    yield yielding(x)
class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next
        self.items = [self]
    def __call__(self, x):
        return self.next or x
    def make(self):
        return Node(Node(self), self)
class Keeps(Dataset):
    def __init__(self, dataset, transform=None, **options):
        self.dataset = dataset
        self.transform = transform
        self.rows = dataset.rows
        self.__dict__.update(options)
    def __len__(self):
        return len(self.dataset)
    def __getitem__(self, index):
        return self.transform(self.dataset[index])
    def walk(self):
        yield from self.walk()
"""
PLACES = """
def made(path):
{body}
    return x

class Rows(Dataset):
    def __init__(self, path):
        self.kept = made(path)
        self.rows = []
        for item in self.kept:
            self.rows.append(item)
            self.rows.append((item, self.kept, np.zeros(3)))
        self.lines = [line.split() for line in open(self.kept)]
        self.names = sorted(glob.glob(self.kept))
        self.table = pd.DataFrame(self.kept)
        self.index = COCO(self.kept)
        self.rng = np.random.default_rng(self.kept)
        self.cache = {{}}
    def __len__(self):
        return len(self.kept)
    def __getitem__(self, index):
        x = made(index)
        self.cache[index] = x
        row = self.kept[index], self.rows[index], self.lines[index], self.names[index], self.table.iloc[index]
        return row, x, x(index), self.index.loadAnns(index), self.rng.random(), torch.zeros(3).to(x)

class Stream(IterableDataset):
    def __iter__(self):
        x = made("a")
        for item in x:
            yield item
        yield from x

def seeds(worker):
    np.random.seed(made(worker))

def main(path):
    x = made(path)
    DataLoader(Keeps(path, x, **x), num_workers=2, collate_fn=x, generator=x, sampler=x)
    DataLoader(x, num_workers=2, worker_init_fn=seeds, **x)
    DataLoader(importlib.import_module(x).Data(x), num_workers=x)
    dataset, losses = Rows(x), []
    dataset.kept = made(dataset.kept)
    loader = DataLoader(dataset, num_workers=2, persistent_workers=True, multiprocessing_context=x)
    for number, batch in enumerate(made(loader)):
        losses.append(batch)
        random.shuffle(x)
        dataset.epoch = x
    for item in tqdm(x):
        next(iter(DataLoader(Stream(), num_workers=2)))
    mp.Process(target=x, args=(x, losses)).start()
    mp.Pool(2, initializer=x).map(x, x)

if __name__ == "__main__":
    main(input())
"""


def in_branches(first: str, steps: tuple[str, ...]) -> str:
    """Code that makes something of a name in many branches of a loop, none of which is decided."""
    branches = [f"    if path.a{number}: x = {steps[number % len(steps)]}" for number in range(BRANCHES + len(steps))]
    return "\n".join((f"x = {first}", "while more(path):", *branches))


BODIES = {name: in_branches(*parts) for name, parts in LOOPS.items()} | WRITTEN


@pytest.mark.parametrize("name", BODIES)
def test_what_is_made_of_itself_is_followed_to_an_end(name: str) -> None:
    body = "\n".join(f"    {line}" for line in BODIES[name].splitlines())
    files = Files(texts={"main.py": HEAD + PLACES.format(body=body)})
    assert files.models
    started, project = time.process_time(), files.project()
    for rule in registry.rules():
        for finding in rule().check(project):
            try:
                rule().fix(finding, project)
            except Refused:
                continue
    assert time.process_time() - started < MOST_SECONDS


IN_EACH_OTHER = {
    "first.py": "from second import *\nfrom third import *\n",
    "second.py": "from first import *\n",
    "third.py": "value = {}\n",
}


@pytest.mark.parametrize("order", [("first.py", "second.py"), ("second.py", "first.py")])
def test_modules_that_import_each_other_have_the_same_names_whichever_is_asked_first(order: tuple[str, ...]) -> None:
    project = Files(texts=IN_EACH_OTHER).project()
    found = Globals(project.evaluator)
    meant = [found.variable(project.index.modules[path], "value") for path in order]
    assert [place and place.root for place in meant] == [("third.py", "value")] * 2
