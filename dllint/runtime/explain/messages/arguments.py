"""What loaders and samplers say when their arguments are invalid."""

from __future__ import annotations

from dllint.runtime.explain.message import Message, Role

EVERYWHERE = "every start method, without workers too"

ARGUMENTS = (
    Message(
        key="loader-arguments",
        wordings=(
            "num_workers option should be non-negative",
            "num_workers option cannot be negative",
            "timeout option should be non-negative",
            "prefetch_factor option could only be specified in multiprocessing",
            "prefetch_factor option should be non-negative",
            "prefetch_factor must be greater than 0",
            "persistent_workers option needs num_workers > 0",
            "requires timeout == 0",
            "multiprocessing_context can only be used with",
            "multiprocessing_context option should",
            "DataLoader with IterableDataset: expected unspecified {class} option",
            "sampler option is mutually exclusive with shuffle",
            "batch_sampler option is mutually exclusive",
            "batch_size=None option disables auto-batching",
            "batch_size should be a positive integer value",
            "drop_last should be a boolean value",
            "num_samples should be a positive integer value",
            "replacement should be a boolean value",
            "attribute should not be set after {class} is initialized",
            "DataLoader.__init__() takes from",
            "Sum of input lengths does not equal the length of the input dataset",
            "datasets should not be an empty iterable",
        ),
        happened="The loader or sampler was made with arguments that exclude each other, or with a value that it does "
        "not take.",
        where=EVERYWHERE,
        look="The line above the torch frames makes the loader; look at what its arguments are there.",
        source="torch/utils/data/dataloader.py and sampler.py, 1.0 to 2.13, 119 calls run with 2.13",
        rules=("DLL604",),
    ),
    Message(
        key="items-of-different-size",
        wordings=(
            "Trying to resize storage that is not resizable",
            "stack expects each tensor to be equal size",
        ),
        happened="The items of a batch have different sizes, so they cannot be stacked. In a worker the batch is made "
        "in shared memory for as many elements as the items have; where the first item is the largest, that is too "
        "little, and torch speaks of the storage instead of the sizes.",
        where="every start method; without workers torch names the sizes",
        look="Run with `num_workers=0`, which names the sizes. Resize or pad the items in `__getitem__`, or pad the "
        "batch in a `collate_fn`.",
        source="torch/utils/data/_utils/collate.py (`collate_tensor_fn`); run with 2.13 under fork and spawn",
        checks=("probe",),
    ),
    Message(
        key="length-of-iterable",
        wordings=("Length of IterableDataset {any} was reported to be",),
        happened="An iterable dataset yielded more than its `__len__` says. Usually every worker yields everything.",
        where="every start method, with two or more workers",
        look="Let `__iter__` take its share with `torch.utils.data.get_worker_info()`.",
        source="torch/utils/data/dataloader.py, 1.4 to 2.13",
        rules=("DLL601", "DLL607"),
    ),
    Message(
        key="seed-too-large",
        wordings=("Seed must be between 0 and 2**32 - 1",),
        happened="NumPy was seeded with torch's seed, which has 64 bits.",
        where="every start method, in worker_init_fn",
        look="`torch.initial_seed() % 2**32`.",
        source="NumPy random/_legacy_seeding.pyx",
        rules=("DLL606",),
    ),
    Message(
        key="exit-in-worker",
        wordings=("SystemExit: {any}",),
        happened="Something called `exit`. In a worker, its message is lost and the main process waits for seconds.",
        where="every start method",
        look="Raise an exception instead.",
        source="CPython; run under fork and spawn with torch 2.13",
        rules=("DLL406",),
        role=Role.SIGN,
        passes=("multiprocessing/", "torch/utils/data/"),
    ),
)
