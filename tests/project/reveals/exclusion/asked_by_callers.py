"""What a caller asks of what it passes: the test in the function has the same answer."""


def chosen(size=None):
    return "kept" if size is None else "cut"


def named(kind):
    if kind == "thread":
        return "threads"
    return "processes"


def long(rows):
    return "many" if rows else "none"


def rebound(size=None):
    size = size or None
    return "kept" if size is None else "cut"


def by_attribute(config):
    if config.size is not None:
        reveal(chosen(config.size))  # reveals: 'cut'
        reveal(chosen(config.other))  # reveals: 'cut' | 'kept'
        reveal(rebound(config.size))  # reveals: 'cut' | 'kept'
    else:
        reveal(chosen(config.size))  # reveals: 'kept'
    reveal(chosen(config.size))  # reveals: 'cut' | 'kept'


def among(config):
    if config.size not in [None, "none"]:
        reveal(chosen(size=config.size))  # reveals: 'cut'
    if config.size in (None, "none"):
        reveal(chosen(size=config.size))  # reveals: 'cut' | 'kept'


def by_name(kind, rows):
    if kind in ("process", "fork"):
        reveal(named(kind))  # reveals: 'processes'
    if rows:
        reveal(long(rows))  # reveals: 'many'


def changed(config, other):
    if config.size is not None:
        config.size = other
        reveal(chosen(config.size))  # reveals: 'cut' | 'kept'


if __name__ == "__main__":
    settings = open("settings.yaml").read()
    if settings.size is not None:
        reveal(chosen(settings.size))  # reveals: 'cut'
