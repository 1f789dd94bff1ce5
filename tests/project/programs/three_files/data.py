"""The dataset: reads one line per item."""

from torch.utils.data import Dataset


class Sentences(Dataset):
    def __init__(self, lines, vocab, transform=None):
        self.lines = lines
        self.vocab = vocab
        self.transform = transform

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):  # fact: runs in worker via Sentences.__getitem__, dataset, DataLoader
        words = self.split(self.lines[index])
        if self.transform:
            words = self.transform(words)
        return [self.vocab.number(word) for word in words]

    @staticmethod
    def split(line):  # fact: runs in worker via split
        return line.split()
