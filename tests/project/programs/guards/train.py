"""Branches that only the main process takes are not worker code."""

from torch.utils.data import DataLoader, Dataset, get_worker_info


def in_main():
    return "main"


def in_worker():  # fact: runs in worker via in_worker, __getitem__
    return "worker"


def in_both():  # fact: runs in worker
    return "both"


class Items(Dataset):
    def __init__(self):
        in_main()

    def __len__(self):
        return 2

    def __getitem__(self, index):  # fact: runs in worker via Items.__getitem__
        if get_worker_info() is None:
            in_main()
        else:
            in_worker()
        return in_both()


if __name__ == "__main__":
    items = Items()  # fact: shipped
    items[0]
    list(DataLoader(items, num_workers=2))  # fact: workers some
