"""The vocabulary: built here, kept by the dataset, sent to workers by the script."""

from collections import defaultdict

UNKNOWN = 0


class Vocab:
    def load(self, words):
        self.numbers = defaultdict(  # fact: shipped via Vocab.numbers, Sentences.vocab, dataset
            lambda: UNKNOWN  # fact: shipped via defaultdict, Vocab.numbers, Sentences.vocab, dataset, DataLoader
        )
        for word in sorted(set(words), key=lambda word: len(word)):
            self.numbers[word] = len(self.numbers) + 1
        return self

    def number(self, word):  # fact: runs in worker via number, __getitem__, dataset
        return self.numbers[word]

    def words(self):
        return list(filter(lambda word: word, self.numbers))
