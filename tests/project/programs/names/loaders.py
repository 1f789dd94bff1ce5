"""The loader's many names: aliases, a subclass, a function that hands keywords on, a re-export."""

import torch.utils.data as tud
from torch.utils import data
from torch.utils.data import DataLoader as TorchLoader


class PairLoader(TorchLoader):
    def __init__(self, items, **kwargs):
        super().__init__(
            items,
            collate_fn=lambda pairs: pairs,  # fact: shipped via collate_fn; runs in worker via collate_fn
            **kwargs,
        )


def through_alias(items):
    return tud.DataLoader(items, num_workers=1, collate_fn=first)  # fact: workers some


def through_module(items):
    return data.DataLoader(items, num_workers=1, worker_init_fn=start)  # fact: workers some


def first(batch):  # fact: shipped via collate_fn; runs in worker
    return batch[0]


def start(worker):  # fact: shipped via worker_init_fn; runs in worker
    return worker
