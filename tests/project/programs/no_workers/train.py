"""Nothing is sent anywhere: no loader of the project has workers."""

from collections import defaultdict

from torch.utils.data import DataLoader, Dataset

WORKERS = 0


class Words(Dataset):
    def __init__(self, words):
        self.words = words
        self.counts = defaultdict(lambda: 0)

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return self.counts[self.words[index]]


def loaders(words, workers=0):
    yield DataLoader(Words(words))  # fact: workers none
    yield DataLoader(Words(words), num_workers=0)  # fact: workers none
    yield DataLoader(Words(words), num_workers=WORKERS)  # fact: workers none
    yield DataLoader(Words(words), num_workers=workers, collate_fn=lambda batch: batch)  # fact: workers none


if __name__ == "__main__":
    for loader in loaders(["a", "b"]):
        print(list(loader))
