"""Which files matter: the walk with its excludes, the filter over the bytes, the closure over imports."""

from dllint.documents.demands import is_asking
from dllint.files.counted import Answers, Count, Lists
from dllint.files.ignore import Globs, posix
from dllint.files.listings import Listings
from dllint.files.sieve import Peek, Words, close, packed, peek, unpacked, words
from dllint.files.walk import Selection, alike, projects, select

__all__ = [
    "Answers",
    "Count",
    "Globs",
    "Listings",
    "Lists",
    "Peek",
    "Selection",
    "Words",
    "alike",
    "close",
    "is_asking",
    "packed",
    "peek",
    "posix",
    "projects",
    "select",
    "unpacked",
    "words",
]
