"""Tree-free facts about one module. No libcst, no IO."""


class Damaged(Exception):
    """Bytes that aren't facts."""
