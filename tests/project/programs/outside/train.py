"""Attributes that arrive from outside the class: set on the object, by dataclass fields, by a base of old style."""

from collections import namedtuple
from dataclasses import dataclass

from torch.utils.data import DataLoader, Dataset

Item = namedtuple("Item", "name size")


class Plain(Dataset):
    transform = None

    def __init__(self):
        self.items = [Item("a", 1)]

    def __len__(self):
        return 1

    def __getitem__(self, index):  # fact: runs in worker via Plain.__getitem__, dataset
        return self.transform(self.items[index])


class Named(Plain):
    def __init__(self, name):
        super(Named, self).__init__()
        self.name = name


@dataclass
class Options:
    scale: object

    def apply(self, item):  # fact: shipped via Named.transform; runs in worker via apply
        return self.scale(item)


def main():
    plain = Plain()  # fact: shipped via dataset, DataLoader
    plain.transform = lambda item: item.size  # fact: shipped via Plain.transform, dataset; runs in worker
    list(DataLoader(plain, num_workers=2))  # fact: workers some

    def double(item):  # fact: shipped via Options.scale, Named.transform; runs in worker
        return item.size * 2

    named = Named("b")  # fact: shipped
    options = Options(double)  # fact: shipped via apply, Named.transform, dataset
    named.transform = options.apply
    list(DataLoader(named, num_workers=2))  # fact: workers some


if __name__ == "__main__":
    main()
