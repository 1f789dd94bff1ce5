"""A class that another module looks up."""


class SmallParts:
    pass
