"""A table that is handed on to a function with many callers: each caller gets what its own table has."""


class Table:
    def __init__(self):
        self.made = {}

    def add(self, item):
        self.made[item.__name__] = item
        return item

    def get(self, name):
        return self.made.get(name)


SETS = Table()
LAYERS = Table()


@SETS.add
class Images:
    pass


@LAYERS.add
class Linear:
    pass


def made(options, table):
    return table.get(options["type"])()


def made_all(options, table):
    return made(options, table)


def image_set(options):
    return made_all(options, SETS)


def layer(options):
    return made_all(options, LAYERS)


def hook_0(options):
    return made(options, LAYERS)


def hook_1(options):
    return made(options, LAYERS)


def hook_2(options):
    return made(options, LAYERS)


def hook_3(options):
    return made(options, LAYERS)


def hook_4(options):
    return made(options, LAYERS)


def hook_5(options):
    return made(options, LAYERS)


def hook_6(options):
    return made(options, LAYERS)


def hook_7(options):
    return made(options, LAYERS)


def hook_8(options):
    return made(options, LAYERS)


def hook_9(options):
    return made(options, LAYERS)


def hook_10(options):
    return made(options, LAYERS)


def hook_11(options):
    return made(options, LAYERS)


def hook_12(options):
    return made(options, LAYERS)


def hook_13(options):
    return made(options, LAYERS)


def hook_14(options):
    return made(options, LAYERS)


def hook_15(options):
    return made(options, LAYERS)


def hook_16(options):
    return made(options, LAYERS)


def hook_17(options):
    return made(options, LAYERS)


def hook_18(options):
    return made(options, LAYERS)


def hook_19(options):
    return made(options, LAYERS)


def hook_20(options):
    return made(options, LAYERS)


def hook_21(options):
    return made(options, LAYERS)


def hook_22(options):
    return made(options, LAYERS)


def hook_23(options):
    return made(options, LAYERS)


def hook_24(options):
    return made(options, LAYERS)


def hook_25(options):
    return made(options, LAYERS)


def hook_26(options):
    return made(options, LAYERS)


def hook_27(options):
    return made(options, LAYERS)


reveal(image_set(settings()))  # reveals: Images
reveal(layer(settings()))  # reveals: Linear
