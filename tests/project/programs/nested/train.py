"""A function below many objects: a dataset of datasets, cut and joined again and again, whose steps are lists."""

from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset


class Steps:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, value):  # fact: runs in worker
        for step in self.steps:
            value = step(value)
        return value


class Step:
    def __init__(self, function):
        self.function = function

    def __call__(self, value):  # fact: runs in worker
        return self.function(value)


class Numbers(Dataset):
    def __init__(self, steps):
        self.steps = steps

    def __len__(self):
        return 4

    def __getitem__(self, index):  # fact: runs in worker
        return self.steps(index)


class Several(Dataset):
    def __init__(self, **datasets):
        self.datasets = {name: dataset for name, dataset in datasets.items() if isinstance(dataset, Dataset)}

    def __len__(self):
        return 4

    def __getitem__(self, index):  # fact: runs in worker
        return {name: dataset[index] for name, dataset in self.datasets.items()}


class Changed(Dataset):
    def __init__(self, dataset, change):
        self.dataset = dataset
        self.change = change

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):  # fact: runs in worker
        return self.change(self.dataset[index])


def same(value):  # fact: runs in worker; shipped
    return value


def main():
    steps = Steps([Steps([Step(lambda value: value + 1)])])  # fact: runs in worker; shipped via Step.function
    several = Several(low=Numbers(steps), high=Numbers(steps))
    joined = ConcatDataset([Changed(Changed(Subset(several, [0, 1]), same), same)])
    cut = Subset(Subset(Subset(joined, [0, 1]), [0, 1]), [0, 1])
    for batch in DataLoader(Subset(ConcatDataset([cut]), [0]), num_workers=2):  # fact: workers some
        print(batch)


if __name__ == "__main__":
    main()
