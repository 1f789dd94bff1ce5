"""A library without a loader: its datasets are for the workers of others."""

from .data import Images

__all__ = ["Images"]
