"""What the function that makes an object sets on it: in the call that made the object, no more than runs there."""


class Settings:
    def __init__(self, path):
        self.path = path

    def __getattr__(self, name):
        return self.path + name


def load(mode):
    settings = Settings("settings")
    if mode == 1:
        settings.mode = 1
    elif mode == 2:
        settings.mode = 2
    return settings


def main(mode):
    settings = load(mode)
    reveal(settings.mode)  # in contexts: 1; 2; ?


def asked(mode, path):
    settings = Settings(path)
    if mode:
        settings.mode = 1
    if path:
        settings.mode = 2
    reveal(settings.mode)  # in contexts: 1 | 2


main(1)
main(2)
main(3)
asked(True, input())
