"""What code sets on what a function returns, before anything else gets it."""

from argparse import ArgumentParser


class Node:
    pass


def usual():
    node = Node()
    node.workers = 4
    node.size = 8
    return node


def parsed():
    parser = ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    return parser.parse_args()


class Program:
    def __init__(self, options):
        self.options = options


quiet = usual()
quiet.workers = 0
reveal(Program(quiet).options.workers)  # reveals: 0
reveal(quiet.size)  # reveals: 8

plain = usual()
reveal(Program(plain).options.workers)  # reveals: 4

early = usual()
program = Program(early)
early.workers = 0
reveal(program.options.workers)  # reveals: 0 | 4

perhaps = usual()
if input():
    perhaps.workers = 0
reveal(perhaps.workers)  # reveals: 0 | 4

options = parsed()
options.workers = 0
reveal(Program(options).options.workers)  # reveals: 0

asked = parsed()
reveal(Program(asked).options.workers)  # reveals: argparse.ArgumentParser().parse_args().workers
