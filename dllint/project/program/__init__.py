"""Which file and which name is meant.

The modules of the project with their blocks and guards, the names that they find in one another through imports and
re-exports, and which files may be parts of one program. It reads text and structure only: what an expression is, the
evaluator says.
"""
