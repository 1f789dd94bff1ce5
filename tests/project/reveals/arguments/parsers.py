"""Options that several programs have."""

import argparse


def with_mode():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--mode", choices=("train", "test"))
    return parser
