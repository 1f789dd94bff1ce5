"""The folder above is put on the path first."""

import sys
from pathlib import Path

from model import Molecules
from torch.utils.data import DataLoader

sys.path.insert(0, str(Path(__file__).parent.parent))

from shared.collating import collate  # noqa: E402

if __name__ == "__main__":
    list(DataLoader(Molecules()))  # fact: workers none
    list(DataLoader([1, 2], num_workers=1, collate_fn=collate))  # fact: workers some
