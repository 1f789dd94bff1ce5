"""Has nothing to do with the program that has an option of this name."""

import json

from torch.utils.data import DataLoader


class Settings(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


def loader(settings, rows):
    return DataLoader(rows, num_workers=int(settings.workers))  # fact: workers unknown


def main():
    with open("settings.json") as file:
        print(list(loader(Settings(json.load(file)), [7, 8])))
