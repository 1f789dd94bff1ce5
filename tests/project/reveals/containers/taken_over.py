"""Lists that take over all that a library returns: a loop over them goes over that, too."""

import json


def read(path, more):
    rows = [{}]
    rows.extend(json.load(open(path)))
    for row in rows:
        reveal(row)  # reveals: dict | json.load[]()
    others = ["a"]
    others += open(more).readlines()
    for line in others:
        reveal(line)  # reveals: 'a' | builtins.open().readlines[]()
    for name in [*sorted(json.load(open(more))), "b"]:
        reveal(name)  # reveals: 'b' | json.load[]()


def doubled(path):
    rows = json.load(open(path))["rows"]
    found = []
    found += rows
    found += found
    for row in found:
        reveal(row)  # reveals: json.load()[][]()
