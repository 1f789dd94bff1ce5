"""An exported dataset, a helper that stays at home, and a transform for users."""

from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, paths):
        self.paths = sorted(paths, key=lambda path: path.name)
        self.open = lambda path: path.read_bytes()  # fact: shipped by users via Images.open; runs for users

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):  # fact: runs for users
        return self.open(self.paths[index])


class Report:
    """No dataset: nobody sends it anywhere."""

    def __init__(self):
        self.format = lambda value: f"{value:.2f}"
