"""An item that a function reads several times: it gets a name where that means the same."""

from __future__ import annotations

import re
import textwrap

import pytest

from dllint.fix import apply
from dllint.source import Source, Span
from dllint.syntax.read_once import read_once

CLASS = """\
class Rows:
    def __init__(self, rows):
        self.rows = rows
        self.keys = sorted(rows)
        self.keys.sort()

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, index, more=()):
{body}"""


def read(body: str) -> str:
    """The body with what reads `self.rows` in it; the same where nothing changes."""
    text = CLASS.format(body=textwrap.indent(textwrap.dedent(body), " " * 8))
    start = text.index("def __getitem__")
    reads = [Span(*match.span()) for match in re.finditer(r"self\.rows", text) if match.start() > start]
    edits = read_once(Source("a.py", text), reads)
    new = apply(text, edits) if edits else text
    compile(new, "a.py", "exec")
    return textwrap.dedent(new.partition("more=()):\n")[2])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "return self.rows[index][0], self.rows[index][1]\n",
            "record = self.rows[index]\nreturn record[0], record[1]\n",
        ),
        (
            "key = self.keys[index]\nimage = self.rows[key]\nif image:\n    image = self.rows[key]\n",
            "key = self.keys[index]\nrecord = self.rows[key]\nimage = record\nif image:\n    image = record\n",
        ),
        (
            "if more:\n    record = 1\n    a = self.rows[index]['a']\n    b = [x for x in self.rows[index]['b']]\n",
            "if more:\n    record = 1\n    entry = self.rows[index]\n"
            "    a = entry['a']\n    b = [x for x in entry['b']]\n",
        ),
        (
            "row = self.rows[index]\nreturn row[0], self.rows[index][1]\n",
            "row = self.rows[index]\nreturn row[0], row[1]\n",
        ),
        (
            "a = self.rows[self.keys[index]][0]\nreturn a + self.rows[self.keys[index]][1]\n",
            "record = self.rows[self.keys[index]]\na = record[0]\nreturn a + record[1]\n",
        ),
        (
            "for i in more:\n    print(self.rows[i][0])\n    print(self.rows[i][1])\n",
            "for i in more:\n    record = self.rows[i]\n    print(record[0])\n    print(record[1])\n",
        ),
        (
            "if self.rows[index][0]:\n    return self.rows[index][1]\n",
            "record = self.rows[index]\nif record[0]:\n    return record[1]\n",
        ),
        (
            "index = index % 3\nreturn self.rows[index][0], self.rows[index][1]\n",
            "index = index % 3\nrecord = self.rows[index]\nreturn record[0], record[1]\n",
        ),
        (
            "while True:\n    try:\n        if 'a' in self.rows[index]:\n            return self.rows[index]['a']\n"
            "    except OSError:\n        index = 3\n",
            "while True:\n    try:\n        record = self.rows[index]\n        if 'a' in record:\n"
            "            return record['a']\n    except OSError:\n        index = 3\n",
        ),
    ],
)
def test_an_item_that_is_read_several_times_gets_a_name(body: str, expected: str) -> None:
    assert read(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "return self.rows[index]\n",
        "return self.rows[index], self.rows[index + 1], self.rows[-1]\n",
        "a = self.rows[index]\nindex = 3\nreturn a, self.rows[index]\n",
        "if more:\n    a = self.rows[index]\nelse:\n    a = self.rows[index][1]\n",
        "a = self.rows[index] if more else 1\nreturn a, self.rows[index]\n",
        "a = more and self.rows[index]\nreturn a, self.rows[index]\n",
        "try:\n    a = self.rows[index]\nexcept KeyError:\n    return self.rows[index]\n",
        "while more:\n    more = self.rows[index]\n    index += self.rows[index]\n",
        "return [self.rows[i][0] + self.rows[i][1] for i in more]\n",
        "return lambda: self.rows[index][0] + self.rows[index][1]\n",
        "a = self.rows[place][0]\nreturn a, self.rows[place][1]\n",
        "self.keys.pop()\na = self.rows[self.keys[index]]\nreturn a, self.rows[self.keys[index]]\n",
        "pass; a = self.rows[index]\nreturn a, self.rows[index]\n",
        "while more:\n    a = self.rows[index]\n    index += 1\n    more = self.rows[index]\n",
        "a = more or (self.rows[index][x] for x in self.rows[index])\nindex += 1\nreturn list(a)\n",
        "a = [self.rows[index][0], (self.rows[index][x] for x in more)]\nindex += 1\nreturn list(a[1])\n",
        "def skip():\n    nonlocal index\n    index += 1\na = self.rows[index]\nskip()\nreturn a, self.rows[index]\n",
        "a = [self.rows[index], (index := 3)]\nreturn a, self.rows[index]\n",
        "global g\ng = 1\na = self.rows[g]\nreturn a, self.rows[g]\n",
    ],
)
def test_where_a_read_may_give_another_item_or_not_come_all_stay(body: str) -> None:
    assert read(body) == body
