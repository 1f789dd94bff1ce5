"""The script: the number of workers is a command line option."""

import argparse

from data import Sentences
from torch.utils.data import DataLoader
from vocab import Vocab


def lower(words):  # fact: shipped via Sentences.transform, dataset; runs in worker via lower
    return [word.lower() for word in words]


def collate(samples):  # fact: shipped via collate_fn; runs in worker via collate_fn
    return pad(samples)


def pad(samples):  # fact: runs in worker via pad, collate, collate_fn
    return samples


def report(loader):
    return sum(len(batch) for batch in loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=lambda text: int(text), default=4)
    args = parser.parse_args()
    lines = ["a b", "b c"]
    vocab = Vocab().load(" ".join(lines).split())  # fact: shipped via Sentences.vocab, dataset
    dataset = Sentences(lines, vocab, lower)  # fact: shipped via dataset, DataLoader
    report(DataLoader(dataset, num_workers=args.workers, collate_fn=collate))  # fact: workers some


if __name__ == "__main__":
    main()
