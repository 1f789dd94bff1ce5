"""Where workers start, how many, and by which start method.

Every call that makes a loader is one loader for each activation of the code around it: what it is given, whether it has
workers (some, none, unknown) and on which of the declared platforms. Processes without a loader are in `execution`.
"""
