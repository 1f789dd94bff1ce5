"""Reviews on disk, one per file."""

import glob
import os
from collections import namedtuple

import torch
from torch.utils.data import Dataset

Label = namedtuple("ReviewLabel", "name number")


class ReviewDataset(Dataset):
    """The reviews of one split; the folder names are the labels."""

    def __init__(self, root, split, vocab, transform=None):
        self.files = sorted(glob.glob(os.path.join(root, split, "*", "*.txt")))
        self.labels = {name: Label(name, number) for number, name in enumerate(["bad", "good"])}
        self.vocab = vocab
        self.transform = transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path = self.files[index]
        with open(path, encoding="utf-8") as file:
            words = file.read().split()
        if self.transform is not None:
            words = self.transform(words)
        label = self.labels[os.path.basename(os.path.dirname(path))]
        return torch.tensor(self.vocab.encode(words), dtype=torch.long), label.number
