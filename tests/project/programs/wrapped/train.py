"""A loader over what torch's own containers keep."""

from data import Dropped, Numbers, Prepared, Words
from torch.utils.data import ConcatDataset, DataLoader, Subset


def main():
    numbers = Numbers([1, 2], scale=2)  # fact: shipped via ConcatDataset, Subset, dataset
    words = Words(["one", "two"])  # fact: shipped
    prepared = Prepared([1])  # fact: shipped
    both = ConcatDataset([numbers, words, prepared, Dropped([1])])  # fact: shipped
    for batch in DataLoader(Subset(both, [0, 1]), num_workers=2):  # fact: workers some; shipped
        print(batch)


if __name__ == "__main__":
    main()
