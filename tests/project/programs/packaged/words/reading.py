"""Behind it: relative imports and names that change on the way."""

from torch.utils.data import Dataset

from . import steps


class Words(Dataset):
    def __init__(self, words, prepare=steps.strip):
        self.words = words
        self.prepare = prepare

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):  # fact: runs in worker
        return self.prepare(self.words[index])


def lower(word):  # fact: shipped via Words.prepare, dataset; runs in worker
    return word.lower()
