"""What a loader ships and what it does not: samplers stay, a bound method takes its owner along."""

from torch.utils.data import DataLoader, Sampler


class Longest(Sampler):
    def __init__(self, items):
        self.items = items
        self.key = lambda index: len(items[index])

    def __iter__(self):
        return iter(sorted(range(len(self.items)), key=self.key))

    def __len__(self):
        return len(self.items)


class Trainer:
    def __init__(self, items):
        self.items = items
        self.schedule = lambda step: 0.1 * step  # fact: shipped via Trainer.schedule, collate, collate_fn

    def collate(self, samples):  # fact: shipped via collate_fn; runs in worker via collate, collate_fn
        return self.joined(samples)

    def joined(self, samples):  # fact: runs in worker via joined
        return "".join(samples)

    def step(self, batch):
        return self.schedule(len(batch))

    def run(self):
        loader = DataLoader(  # fact: workers some
            self.items,
            sampler=Longest(self.items),
            num_workers=2,
            collate_fn=self.collate,
            worker_init_fn=seed,
        )
        return [self.step(batch) for batch in loader]


def seed(worker):  # fact: shipped via worker_init_fn, DataLoader; runs in worker
    print(worker)


if __name__ == "__main__":
    Trainer(["a", "b"]).run()  # fact: shipped via collate, collate_fn
