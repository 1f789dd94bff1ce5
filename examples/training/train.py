"""Trains a bag-of-words classifier: python make_reviews.py && python train.py"""

import argparse
import glob
import os

import torch
from torch import nn

from loaders import train_loader, valid_loader
from vocab import PAD_ID, Vocab


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default="reviews")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--start-method", choices=["fork", "spawn", "forkserver"], help="default: the platform's")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--max-words", type=int, default=48)
    parser.add_argument("--dropout", type=lambda text: min(max(float(text), 0.0), 1.0), default=0.1)
    return parser.parse_args()


class Classifier(nn.Module):
    def __init__(self, words, width=16, labels=2):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, width, padding_idx=PAD_ID)
        self.out = nn.Linear(width, labels)
        self.scale = lambda x: x * width**-0.5

    def forward(self, texts):
        return self.out(self.scale(self.embed(texts)))


def accuracy(model, loader):
    hits = total = 0
    with torch.no_grad():
        for texts, labels in loader:
            hits += (model(texts).argmax(1) == labels).sum().item()
            total += len(labels)
    return hits / total


def train(args):
    torch.manual_seed(0)
    vocab = Vocab().build(sorted(glob.glob(os.path.join(args.root, "train", "*", "*.txt"))))
    loader, valid = train_loader(args, vocab), valid_loader(args, vocab)
    model = Classifier(len(vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.7**epoch)
    for epoch in range(args.epochs):
        for texts, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(texts), labels)
            loss.backward()
            optimizer.step()
        schedule.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, valid accuracy {accuracy(model, valid):.2f}")


train(parse_args())
