"""What happens to the words of a review before they become numbers."""

import random


class Compose:
    """Several steps, one after the other."""

    def __init__(self, steps):
        self.steps = steps

    def __call__(self, words):
        for step in self.steps:
            words = step(words)
        return words


def word_dropout(rate):
    """A step that leaves out some of the words."""

    def drop(words):
        return [word for word in words if random.random() >= rate]

    return drop


def train_transform(max_words, dropout):
    return Compose([lambda words: words[:max_words], word_dropout(dropout)])
