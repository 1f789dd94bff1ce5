"""Datasets that keep what their bases and callers give them."""

import functools

from torch.utils.data import Dataset


class Base(Dataset):
    def __init__(self, items, convert):
        super().__init__()
        self.items = items
        self.convert = convert

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):  # fact: runs in worker via __getitem__, ConcatDataset, Subset
        return self.load(index)

    def load(self, index):
        raise NotImplementedError


class Numbers(Base):
    def __init__(self, items, scale):
        def scaled(value):  # fact: shipped via Numbers.convert, ConcatDataset, Subset; runs in worker
            return value * scale

        super().__init__(items, scaled)

    def load(self, index):  # fact: runs in worker via load, __getitem__
        return self.convert(self.items[index])


class Words(Base):
    def __init__(self, items):
        convert = functools.partial(  # fact: shipped via Words.convert
            lambda word, size: word[:size],  # fact: shipped via partial, Words.convert, Subset; runs in worker
            size=3,
        )
        super().__init__(items, convert=convert)

    def load(self, index):  # fact: runs in worker via load
        return self.convert(self.items[index])


class Prepared(Base):
    """Keeps the result, not the function."""

    def __init__(self, items):
        prepare = lambda item: item + 1
        super().__init__([prepare(item) for item in items], convert=None)

    def load(self, index):  # fact: runs in worker
        return self.items[index]


class Dropped(Base):
    """Leaves the function out of its pickle."""

    def __init__(self, items):
        super().__init__(items, lambda item: item)

    def load(self, index):  # fact: runs in worker
        return self.items[index]

    def __getstate__(self):
        return {"items": self.items}
