"""Loaders for training and validation."""

import random

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from data import ReviewDataset
from transforms import train_transform
from vocab import PAD_ID


def pad(samples, pad_id):
    """Samples of different lengths as one batch."""
    texts, labels = zip(*samples)
    return pad_sequence(texts, batch_first=True, padding_value=pad_id), torch.tensor(labels)


def train_loader(args, vocab):
    def seed_worker(worker_id):
        random.seed(torch.initial_seed() % 2**32)

    dataset = ReviewDataset(args.root, "train", vocab, train_transform(args.max_words, args.dropout))
    return DataLoader(
        dataset,
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        multiprocessing_context=args.start_method,
        collate_fn=lambda samples: pad(samples, PAD_ID),
        worker_init_fn=seed_worker,
    )


def valid_loader(args, vocab):
    """Validation is small: the main process reads it itself, so its lambda goes nowhere."""
    dataset = ReviewDataset(args.root, "valid", vocab)
    return DataLoader(dataset, batch_size=args.batch_size, collate_fn=lambda samples: pad(samples, PAD_ID))
