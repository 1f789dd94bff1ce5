"""Found from the folder above the script, which the script puts on its path."""


def collate(samples):  # fact: shipped via collate_fn; runs in worker
    return samples
