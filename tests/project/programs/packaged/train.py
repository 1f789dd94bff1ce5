"""Uses the package by the names of its front door."""

import torch
import words
from words import to_lower


def loader(dataset, *, workers):
    return torch.utils.data.DataLoader(dataset, num_workers=workers)  # fact: workers some


if __name__ == "__main__":
    list(loader(words.Words(["A"], to_lower), workers=2))  # fact: shipped
    list(loader(words.Words(["A"]), workers=2))  # fact: shipped
