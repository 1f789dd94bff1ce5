"""A script imports what lies beside it, not what has the same name elsewhere."""

from model import Molecules
from torch.utils.data import DataLoader

if __name__ == "__main__":
    list(DataLoader(Molecules(), num_workers=2))  # fact: workers some; shipped via dataset
