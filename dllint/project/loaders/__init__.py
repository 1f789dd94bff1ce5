"""Where workers start: the loaders, what they are given, how many workers they get, and by which start method."""
