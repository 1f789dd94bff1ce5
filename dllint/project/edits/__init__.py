"""What fixes need from the project: how an attribute is used, and whether a property can replace it."""
