"""Why a container is small: what is said of one route is not said of another one that was asked about later."""

from __future__ import annotations

import pytest

from dllint.project.data.sizes import Sizes
from tests.order import Files

PROGRAM = """
import os
from torch.utils.data import DataLoader, Dataset, Subset


class Frames(Dataset):
    def __init__(self, folder):
        self.frames = sorted(os.listdir(folder))

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        return self.frames[index]


def run(root):
    for video in os.listdir(root):
        frames = Frames(os.path.join(root, video))
        for batch in DataLoader(frames, num_workers=2):
            print(batch)
        for batch in DataLoader(Subset(frames, range(8)), num_workers=2):
            print(batch)
"""


@pytest.mark.parametrize("last_first", [False, True])
def test_only_a_dataset_that_a_loader_takes_alone_is_one_of_many(last_first: bool) -> None:
    project = Files(texts={"a.py": PROGRAM}).project()
    sizes = project.analysis(Sizes)
    kept = [held for held in project.every_route() if held.holder.name == "frames"]
    kept.sort(key=lambda held: len(held.route), reverse=last_first)
    alone, in_part = [sizes.why_small(held) for held in kept][:: -1 if last_first else 1]
    assert "one of many folders" in alone
    assert "one of many folders" not in in_part
