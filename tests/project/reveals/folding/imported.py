"""Imported modules: one is true, what stands in for one that can't be imported is not."""

import math as numbers

import constants
import numpy
import torch.nn as nn
from torch import distributed

try:
    import apex
except ImportError:
    apex = None

try:
    import containers
except ImportError:
    containers = None

wandb = None
try:
    import wandb
except ImportError:
    pass


def imported(has_faiss):
    faiss = None
    if has_faiss:
        import faiss
    holds(constants)  # holds: yes
    holds(not numpy)  # holds: no
    holds(numbers)  # holds: yes
    holds(nn)  # holds: unknown
    holds(distributed)  # holds: unknown
    holds(apex)  # holds: unknown
    holds(containers)  # holds: unknown
    holds(wandb)  # holds: unknown
    holds(faiss)  # holds: unknown
    holds(bool(constants))  # holds: yes
