"""Its loader has no workers."""

from torch.utils.data import Dataset


class Molecules(Dataset):
    def __init__(self):
        self.read = lambda index: index

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.read(index)
