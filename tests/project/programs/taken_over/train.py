"""Objects that take over keyword arguments, whatever their names."""

from torch.utils.data import DataLoader, Dataset


class Config:
    num_workers = 0
    batch_size = 4

    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)


class Options(Config):
    def __init__(self, batch_size, **kwargs):
        super().__init__(batch_size=batch_size, **kwargs)


class Chosen:
    """Takes over the names that it knows."""

    num_workers = 0

    def __init__(self, **kwargs):
        for name in ("batch_size",):
            setattr(self, name, kwargs[name])


class Namespace:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)


class Lines(Dataset):
    def __init__(self, path, **kwargs):
        self.path = path
        vars(self).update(**kwargs)

    def __len__(self):
        return 2

    def __getitem__(self, index):  # fact: runs in worker
        return self.parse(index)


class Trainer:
    def __init__(self, dataset, config):
        self.dataset = dataset
        self.config = config

    def loader(self):
        return DataLoader(self.dataset, num_workers=self.config.num_workers)  # fact: workers some


def main(path, rest):
    lines = Lines(path, parse=lambda index: index)  # fact: shipped via Lines.parse; runs in worker
    Trainer(lines, Config(num_workers=4)).loader()
    DataLoader(lines, num_workers=Options(2, num_workers=3).num_workers)  # fact: workers some
    DataLoader(lines, num_workers=Options(2).num_workers)  # fact: workers none
    DataLoader(lines, num_workers=Config(batch_size=2).num_workers)  # fact: workers none
    DataLoader(lines, num_workers=Config(**rest).num_workers)  # fact: workers unknown
    DataLoader(lines, num_workers=Chosen(num_workers=2).num_workers)  # fact: workers none
    DataLoader(lines, num_workers=Namespace(num_workers=2).num_workers)  # fact: workers some
