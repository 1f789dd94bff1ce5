"""Words and their numbers."""

from collections import Counter, defaultdict

PAD_ID = 0
UNK_ID = 1


class Vocab:
    """Numbers for the words that occur often enough; every other word is UNK_ID."""

    def __init__(self, min_count=2):
        self.min_count = min_count
        self.word2id = {}

    def build(self, paths):
        counts = Counter()
        for path in paths:
            with open(path, encoding="utf-8") as file:
                counts.update(file.read().split())
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        words = [word for word, count in ranked if count >= self.min_count]
        self.word2id = defaultdict(lambda: UNK_ID)
        self.word2id.update({word: number for number, word in enumerate(words, start=UNK_ID + 1)})
        return self

    def __len__(self):
        return len(self.word2id) + 2

    def encode(self, words):
        return [self.word2id[word] for word in words]
