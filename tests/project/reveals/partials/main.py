from lib import job, twice


def decoy(value):
    return None


reveal(job())  # reveals: lambda
reveal(twice())  # reveals: other
