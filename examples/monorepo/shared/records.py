"""Used by both packages."""

from torch.utils.data import Dataset


class Records(Dataset):
    def __init__(self, rows, clean):
        self.rows = rows
        self.clean = clean

    def __getitem__(self, index):
        return self.clean(self.rows[index])

    def __len__(self):
        return len(self.rows)
