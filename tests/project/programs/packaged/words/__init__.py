"""The package's front door."""

from .reading import Words
from .reading import lower as to_lower

__all__ = ["Words", "to_lower"]
