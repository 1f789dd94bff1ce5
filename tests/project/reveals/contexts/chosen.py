"""A function that is chosen from several and called by another name."""

import calls


def at_once(rows):
    reveal(rows)  # reveals: 'rows'
    return rows


def one_by_one(rows):
    reveal(rows)  # reveals: 'rows'
    return rows


def by_default(rows):
    reveal(rows)  # reveals: 'kept' | 'rows'
    return rows


def run(options):
    read = at_once if options.fast else (one_by_one if options.slow else by_default)
    read("rows")
    keep = options.keep or by_default
    keep("kept")
    same = calls.same if options.same else calls.passed_on
    reveal(same(2))  # reveals: 2
