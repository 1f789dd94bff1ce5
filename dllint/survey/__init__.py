"""Many sources, one database: what `dllint check` says of each, in a process with limits of its own.

A source is a folder, a git repository at a commit, or an archive. `trees` finds them, `unit` analyses one, `local` and
`cluster` do that for many, `database` keeps exactly one outcome of each, and the rest reads the database.
"""
