"""What the function that parses options asserts of them, before anything else gets them."""

from argparse import ArgumentParser


def parsed():
    parser = ArgumentParser()
    parser.add_argument("--pad", action="store_true")
    parser.add_argument("--cached", action="store_true")
    parser.add_argument("--mode", default="train")
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--names")
    parser.add_argument("--late", action="store_true")
    options = parser.parse_args()
    options.number = int(options.names)
    reveal(options.pad)  # reveals: argparse.ArgumentParser().parse_args().pad
    assert options.pad and not options.cached
    assert options.mode == "test"
    assert options.size > 2 and options.names
    if options.size > 4:
        assert not options.late
    return options


class Program:
    def __init__(self, options):
        self.options = options


options = parsed()
reveal(Program(options).options.pad)  # reveals: True
reveal(Program(options).options.cached)  # reveals: False
reveal(Program(options).options.mode)  # reveals: 'test'
reveal(Program(options).options.size)  # reveals: argparse.ArgumentParser().parse_args().size
reveal(Program(options).options.names)  # reveals: argparse.ArgumentParser().parse_args().names
reveal(Program(options).options.late)  # reveals: argparse.ArgumentParser().parse_args().late


def evaluated(options):
    return 1 if options.train else 2


def handed_on():
    parser = ArgumentParser()
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    reveal(evaluated(options))  # reveals: 1 | 2
    assert options.train
    return options


reveal(evaluated(handed_on()))  # reveals: 1 | 2


def left_before():
    parser = ArgumentParser()
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    if options.names:
        return options
    assert options.train
    return options


reveal(evaluated(left_before()))  # reveals: 1 | 2


def set_by_name(name):
    parser = ArgumentParser()
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    assert options.train
    setattr(options, name, False)
    return options


reveal(evaluated(set_by_name(input())))  # reveals: 1 | 2


def set_later():
    parser = ArgumentParser()
    parser.add_argument("--changed", action="store_true")
    options = parser.parse_args()
    assert options.changed
    return options


later = set_later()
later.copy = later
later.copy.changed = False
reveal(later.changed)  # reveals: argparse.ArgumentParser().parse_args().changed
