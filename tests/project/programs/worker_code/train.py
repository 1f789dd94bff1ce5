"""Code that runs in workers, and code that only looks as if it did."""

from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, item):  # fact: runs in worker via __call__, __iter__
        for step in self.steps:
            item = step(item)
        return item


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, item):  # fact: runs in worker via Scale.__call__, Compose.steps, Numbers.transform, dataset
        return item * self.factor

    @property
    def factor(self):  # fact: runs in worker via factor
        return self.by

    def describe(self):
        return f"times {self.by}"


class Numbers(IterableDataset):
    def __init__(self, size, transform):
        self.size = size
        self.transform = transform
        self.check()

    def check(self):
        assert self.size > 0

    def __iter__(self):  # fact: runs in worker via Numbers.__iter__, dataset, DataLoader
        for number in self.mine():
            yield self.transform(number)

    def mine(self):  # fact: runs in worker via mine, __iter__
        info = get_worker_info()
        return range(info.id, self.size, info.num_workers)


def main():
    transform = Compose([Scale(2), Scale(3)])  # fact: shipped via Numbers.transform, dataset
    for batch in DataLoader(Numbers(10, transform), num_workers=2):  # fact: workers some; shipped via dataset
        print(batch, [step.describe() for step in transform.steps])


if __name__ == "__main__":
    main()
