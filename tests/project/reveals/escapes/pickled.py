"""What a method of an object's own returns that pickle asks for."""

import sys

from torch.utils.data import DataLoader


class Rows:
    def __init__(self, clean):
        self.clean = clean

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index


class Given(Rows):
    def __reduce__(self):
        return Given, (self.clean,)


class Written(Rows):
    def __reduce__(self):
        return Written, (lambda index: index,)


class Made(Rows):
    def __reduce_ex__(self, protocol):
        def make():
            return Made(len)

        return make, ()


class BothWays(Rows):
    def __reduce__(self):
        return BothWays, (len,)

    def __getstate__(self):
        return {"clean": self.clean}


class OfItsOwn(Rows):
    def __getstate__(self):
        return {"clean": self.clean}


class Chosen(Rows):
    def __getstate__(self):
        if sys.argv[1:]:
            return (self.clean,)
        return None


class Usual(Rows):
    def __reduce__(self):
        return super().__reduce__()


class Emptied(Rows):
    def __getstate__(self):
        state = dict(self.__dict__)
        for name in ("clean", "other"):
            state[name] = None
        return state


def given():
    return DataLoader(Given(lambda index: index), num_workers=2)
    # ships: Given <- dataset
    # ships: lambda <- tuple[] <- tuple[] <- Given.__reduce__ <- dataset
    # ships: tuple <- Given.__reduce__ <- dataset
    # ships: tuple <- tuple[] <- Given.__reduce__ <- dataset
    # ships: type[Given] <- tuple[] <- Given.__reduce__ <- dataset


def written():
    return DataLoader(Written(len), num_workers=2)
    # ships: Written <- dataset
    # ships: lambda <- tuple[] <- tuple[] <- Written.__reduce__ <- dataset
    # ships: tuple <- Written.__reduce__ <- dataset
    # ships: tuple <- tuple[] <- Written.__reduce__ <- dataset
    # ships: type[Written] <- tuple[] <- Written.__reduce__ <- dataset


def made():
    return DataLoader(Made(lambda index: index), num_workers=2)
    # ships: Made <- dataset
    # ships: make <- tuple[] <- Made.__reduce_ex__ <- dataset
    # ships: tuple <- Made.__reduce_ex__ <- dataset
    # ships: tuple <- tuple[] <- Made.__reduce_ex__ <- dataset


def both_ways():
    return DataLoader(BothWays(lambda index: index), num_workers=2)
    # ships: BothWays <- dataset
    # ships: tuple <- BothWays.__reduce__ <- dataset
    # ships: tuple <- tuple[] <- BothWays.__reduce__ <- dataset
    # ships: type[BothWays] <- tuple[] <- BothWays.__reduce__ <- dataset


def of_its_own():
    return DataLoader(OfItsOwn(lambda index: index), num_workers=2)
    # ships: OfItsOwn <- dataset
    # ships: dict <- OfItsOwn.__getstate__ <- dataset
    # ships: lambda <- dict[] <- OfItsOwn.__getstate__ <- dataset


def chosen():
    return DataLoader(Chosen(lambda index: index), num_workers=2)
    # ships: Chosen <- dataset
    # ships: perhaps lambda <- tuple[] <- Chosen.__getstate__ <- dataset
    # ships: perhaps tuple <- Chosen.__getstate__ <- dataset


def usual():
    return DataLoader(Usual(lambda index: index), num_workers=2)
    # ships: Usual <- dataset
    # ships: super().__reduce__() <- Usual.__reduce__ <- dataset


def emptied():
    return DataLoader(Emptied(lambda index: index), num_workers=2)
    # ships: Emptied <- dataset
    # ships: builtins.dict() <- Emptied.__getstate__ <- dataset
