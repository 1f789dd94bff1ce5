"""A number of workers that falls back on itself: the question ends, and the answer is not known."""

from torch.utils.data import DataLoader, TensorDataset


class Loader(DataLoader):
    def __init__(self, dataset, options):
        self.num_workers = options.get("workers_of_loader", self.num_workers)
        super().__init__(dataset, num_workers=self.num_workers)


class Scaled(DataLoader):
    def __init__(self, dataset, options):
        self.num_workers = options.workers_of_loader
        self.num_workers = max(self.num_workers * 2, 2)
        super().__init__(dataset, num_workers=self.num_workers)


def run(options):
    for batch in Loader(TensorDataset(), options):  # fact: workers unknown
        print(batch)
    for batch in Scaled(TensorDataset(), options):  # fact: workers some
        print(batch)
