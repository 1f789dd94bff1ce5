"""Tree-free facts about one module. No libcst, no IO."""
