"""Answers for fixes: how an attribute is used, and whether a property can replace it."""
