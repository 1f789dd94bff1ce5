"""Which code runs where: in workers, in the main process alone, on import, in processes of the project's own.

From what is shipped through everything that it calls, and from what a module does when it runs through everything that
this starts. It also tells in which order code, loops and workers come.
"""
