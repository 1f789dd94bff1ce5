"""Which files matter: the walk with its excludes, the filter over the bytes, the closure over imports."""

from dllint.files.counted import Count, Lists
from dllint.files.ignore import Globs, posix
from dllint.files.listings import Listings
from dllint.files.sieve import Peek, Words, close, packed, peek, unpacked, words
from dllint.files.walk import Selection, alike, projects, select

__all__ = [
    "Count",
    "Globs",
    "Listings",
    "Lists",
    "Peek",
    "Selection",
    "Words",
    "alike",
    "close",
    "packed",
    "peek",
    "posix",
    "projects",
    "select",
    "unpacked",
    "words",
]
