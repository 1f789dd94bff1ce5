"""What CUDA says in worker processes: run with torch 2.11 on an NVIDIA H200, if a source doesn't say otherwise."""

from __future__ import annotations

from dllint.runtime.explain.message import Message, Role

DEVICES = (
    Message(
        key="cuda-in-forked-process",
        wordings=(
            "Cannot re-initialize CUDA in forked subprocess",
            "Cannot re-initialize XPU in forked subprocess",
            "Cannot re-initialize MTIA in forked subprocess",
            "CUDA error: initialization error",
            "cuda runtime error (3)",
        ),
        happened="A forked worker used the GPU after the main process had used it. The driver's state does not "
        "survive a fork. `pin_memory=True` and `torch.cuda.is_available()` in the main process are enough.",
        where="fork: Linux to Python 3.13, and a fork server that has imported such code; spawned workers take GPU "
        "memory instead",
        look="Return CPU tensors from the dataset and the collate function, and move batches in the training loop.",
        source="torch/cuda/__init__.py, 1.0 to 2.13; torch/xpu, torch/mtia (read, not run)",
        rules=("DLL302", "DLL304", "DLL303", "DLL308", "DLL305"),
    ),
    Message(
        key="generator-of-another-device",
        wordings=(
            "Expected a '{class}' device type for generator but found",
            "Expected a '{class}:{number}' generator device but found",
        ),
        happened="CUDA was made the default device or tensor type, so the loader's sampler shuffles on the GPU with a "
        "generator of the CPU.",
        where="every start method, without workers too",
        look='Give the loader `generator=torch.Generator(device="cuda")`, or do not change the default.',
        source="torch aten/src/ATen/core/Generator.h, 1.6 to 2.13",
        rules=("DLL307",),
    ),
    Message(
        key="pinning-device-memory",
        wordings=("cannot pin '{type}' only dense CPU tensors can be pinned", "cannot pin '{type}'"),
        happened="The loader has `pin_memory=True` and gets batches that are on the GPU already.",
        where="every start method, without workers too",
        look="Return CPU tensors from the dataset and the collate function.",
        source="torch aten/src/ATen/native/Memory.cpp, 1.0 to 2.13",
        rules=("DLL302", "DLL303", "DLL307"),
    ),
    Message(
        key="cuda-tensor-handed-on",
        wordings=("Attempted to send CUDA tensor received from another process",),
        happened="A worker returned a CUDA tensor, or a view of one, that its dataset got from the main process. What "
        "came from one process cannot be handed on: the batch is lost, and the main process waits for it forever.",
        where="spawn and forkserver",
        look="Return CPU tensors from workers; `.clone()` makes a tensor of the worker's own.",
        source="torch/multiprocessing/reductions.py, torch/csrc/StorageSharing.cpp",
        rules=("DLL303", "DLL302"),
    ),
    Message(
        key="cuda-producer-ended",
        wordings=("CUDA error: invalid resource handle",),
        happened="GPU memory is shared by reference: a tensor was received after the process that made it had ended.",
        where="spawn and forkserver",
        look="Return CPU tensors from workers; a process that sends CUDA tensors must wait until they are received.",
        source="torch/multiprocessing/reductions.py, torch/csrc/CudaIPCTypes.cpp",
        rules=("DLL302",),
    ),
    Message(
        key="cuda-tensors-not-released",
        wordings=("Producer process has been terminated before all shared CUDA tensors released",),
        happened="A worker that had returned CUDA tensors ended before the main process gave back the last of them. "
        "Those that it holds stay readable.",
        where="spawn and forkserver; a loop that works prints it, too",
        look="Return CPU tensors from workers.",
        source="torch/csrc/CudaIPCTypes.cpp",
        rules=("DLL302", "DLL303"),
        role=Role.SIGN,
    ),
)

PINNING = (
    Message(
        key="pin-memory-thread",
        wordings=("Pin memory thread exited unexpectedly", "in pin memory thread for device"),
        happened="The thread that copies batches to pinned memory failed; the reason stands with it.",
        where="every start method, with `pin_memory=True`",
        look="Read the traceback of the thread: often too many open files, or a batch that is on the GPU already.",
        source="torch/utils/data/dataloader.py and _utils/pin_memory.py, 1.0 to 2.13",
        rules=("DLL207", "DLL302"),
        checks=("doctor",),
        role=Role.SIGN,
    ),
)
