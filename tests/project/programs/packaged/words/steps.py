"""The default step, for those who ask for no other."""


def strip(word):  # fact: shipped via Words.prepare, dataset; runs in worker
    return word.strip()
