from torchdata.nodes import IterableWrapper, ParallelMapper


def batches(lines):
    words = ParallelMapper(IterableWrapper(lines), lambda line: line.split(), num_workers=2)
    return ParallelMapper(words, lambda split: " ".join(split), num_workers=4, method="process")


if __name__ == "__main__":
    print(list(batches(["one two", "three"])))
