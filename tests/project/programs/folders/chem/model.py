"""Another module of this name lies beside the other script."""

from torch.utils.data import Dataset


class Molecules(Dataset):
    def __init__(self):
        self.read = lambda index: index  # fact: shipped via Molecules.read, dataset; runs in worker

    def __len__(self):
        return 2

    def __getitem__(self, index):  # fact: runs in worker
        return self.read(index)
