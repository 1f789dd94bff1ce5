"""What a package offers under names that are computed elsewhere."""

from .small import SmallParts as small
