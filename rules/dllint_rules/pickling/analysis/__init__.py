"""What the rules on pickling share: handles that escape, owners of bound methods, items and states."""
