"""Lightning asks its modules for loaders; hyperparameters carry the number of workers."""

from torch.utils.data import DataLoader, Dataset

import lightning as L


class Items(Dataset):
    def __init__(self, convert):
        self.convert = convert

    def __len__(self):
        return 4

    def __getitem__(self, index):  # fact: runs in worker via Items.__getitem__
        return self.convert(index)


class Data(L.LightningDataModule):
    def __init__(self, num_workers=4):
        super().__init__()
        self.num_workers = num_workers
        self.twice = lambda item: item * 2  # fact: shipped via Items.convert, dataset; runs in worker

    def train_dataloader(self):
        return DataLoader(Items(self.twice), num_workers=self.num_workers)  # fact: workers some; shipped

    def val_dataloader(self):
        return DataLoader(Items(lambda item: item))  # fact: workers none
