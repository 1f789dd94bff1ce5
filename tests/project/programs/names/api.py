"""Hands the names on."""

from loaders import PairLoader as Loader
from loaders import through_alias, through_module

__all__ = ["Loader", "through_alias", "through_module"]
