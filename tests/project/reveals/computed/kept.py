"""Attributes that are read and set through `__dict__`, by a written name."""


class Provider:
    pass


class Config:
    def __init__(self, size):
        self.size = size

    @property
    def provider(self):
        if self.__dict__.get("_provider") is None:
            self.__dict__["_provider"] = Provider()
        return self.__dict__["_provider"]

    @property
    def lazy(self):
        self.__dict__["lazy"] = Provider()
        return self.__dict__["lazy"]


def use():
    config = Config(3)
    reveal(config.__dict__["size"])  # reveals: 3
    reveal(config.provider)  # reveals: Provider
    reveal(config.lazy)  # reveals: Provider
    reveal(config.__dict__["unknown"])  # reveals: ?
