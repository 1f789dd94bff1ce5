"""Which files matter: the walk with its excludes, the filter over the bytes, the closure over imports."""

from dllint.files.ignore import Globs
from dllint.files.sieve import Peek, close, peek, words
from dllint.files.walk import Selection, select

__all__ = ["Globs", "Peek", "Selection", "close", "peek", "select", "words"]
