"""Which files matter: the walk with its excludes, the filter over the bytes, the closure over imports."""

from dllint.files.ignore import Globs, posix
from dllint.files.sieve import Peek, Words, close, peek, words
from dllint.files.walk import Selection, projects, select

__all__ = ["Globs", "Peek", "Selection", "Words", "close", "peek", "posix", "projects", "select", "words"]
