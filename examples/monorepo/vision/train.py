from torch.utils.data import DataLoader

from shared.records import Records


def main(rows):
    for batch in DataLoader(Records(rows, clean=lambda row: row.strip()), num_workers=4):
        print(len(batch))


if __name__ == "__main__":
    main(["one", "two"])
