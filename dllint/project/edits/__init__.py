"""What fixes need to know.

How the project uses an attribute, whether a property can replace it, and which files may import from one another. It
edits nothing: the text of fixes is made by rules, with `syntax`.
"""
