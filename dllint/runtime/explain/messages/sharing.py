"""What goes wrong with shared memory and with the descriptors that stand for it."""

from __future__ import annotations

from dllint.runtime.explain.message import Message, Role

SHARING = (
    Message(
        key="shared-memory-full",
        wordings=(
            "unable to allocate shared memory(shm) for file <{file}>: No space left on device (28)",
            "unable to allocate shared memory(shm) for file",
            "unable to write to file <",
            "[Errno 28] No space left on device",
        ),
        happened="A worker had a batch to send, and /dev/shm, where batches are handed over, is full. Containers get "
        "64 MB by default.",
        where="Linux, every start method; mostly in containers",
        look="Give the container more (`--shm-size=8g`, compose `shm_size`, an emptyDir with medium Memory), remove "
        "leaked /dev/shm/torch_* files, or send smaller batches with fewer workers.",
        source="torch aten/src/ATen/MapAllocator.cpp, 2.1 to 2.13 (`allocate`), TH/ATen before (`write`)",
        rules=("DLL502", "DLL501", "DLL207"),
        checks=("doctor",),
    ),
    Message(
        key="too-many-open-files",
        wordings=(
            "Too many open files. Communication with the",
            "received 0 items of ancdata",
            "unable to open shared memory object <{file}> in read-write mode: Too many open files (24)",
            "[Errno 24] Too many open files",
            "too many fds",
        ),
        happened="Every tensor that came from a worker holds a file descriptor for as long as it, or a view of it, "
        "is kept; the limit of the process was reached.",
        where="Linux, every start method, with the sharing strategy file_descriptor; macOS allows 256 by default",
        look="Find where batches are collected: `.clone()` what is kept (`.cpu()`, `.detach()` and slices share). "
        "`ulimit -n` raises the limit.",
        source="torch/utils/data/dataloader.py, CPython Lib/multiprocessing/reduction.py; died here at 241 batches",
        rules=("DLL207", "DLL208", "DLL402"),
        checks=("doctor",),
    ),
    Message(
        key="shared-memory-gone",
        wordings=(
            "unable to open shared memory object <{file}> in read-write mode: No such file or directory (2)",
            "unable to open shared memory object <{file}> in read-write mode: File exists (17)",
            "unable to open shared memory object <{file}> in read-write mode",
            "unable to open shared memory object",
        ),
        happened="A shared-memory file that one process named to another is not there, or cannot be opened: /dev/shm "
        "was cleared, the sender has ended, or (in older versions, without a reason) descriptors ran out.",
        where="Linux, every start method; with the sharing strategy file_system",
        look="Keep the sender alive until the tensor is read; look at `ulimit -n`; jobs on one machine must not clear "
        "each other's /dev/shm.",
        source="torch aten/src/ATen/MapAllocator.cpp, 1.0 (no reason given) to 2.13",
        rules=("DLL405", "DLL207", "DLL501"),
        checks=("doctor",),
    ),
    Message(
        key="too-many-mappings",
        wordings=(
            "unable to mmap {number} bytes from file",
            "unable to mmap memory: you tried to mmap",
            "unable to mmap",
        ),
        happened="The system refused another memory mapping. Every shared tensor is one; the limit is "
        "`vm.max_map_count`, or the memory itself.",
        where="Linux, every start method; large numbers of shared tensors",
        look="Keep one large tensor instead of thousands of small ones on the dataset; `.clone()` batches that are "
        "kept.",
        source="torch aten/src/ATen/MapAllocator.cpp, 1.0 to 2.13",
        rules=("DLL207", "DLL208", "DLL202"),
        checks=("doctor",),
    ),
    Message(
        key="paging-file-too-small",
        wordings=(
            "[WinError 1455]",
            "error code: <1455>",
            "The paging file is too small for this operation to complete",
            "Couldn't open shared file mapping: <{file}>, error code: <{number}>",
            "Couldn't map view of shared file",
        ),
        happened="Windows could not promise more memory: every spawned worker loads all of torch's libraries and a "
        "copy of the dataset, and shared batches are backed by the paging file.",
        where="Windows",
        look="A larger paging file, fewer workers, or a dataset that keeps less.",
        source="torch aten/src/ATen/MapAllocator.cpp (Windows), Windows error 1455; read, not run",
        rules=("DLL201", "DLL202", "DLL203", "DLL112", "DLL207"),
        checks=("doctor",),
    ),
    Message(
        key="sender-gone",
        wordings=(
            "[Errno 111] Connection refused",
            "[Errno 104] Connection reset by peer",
            "in rebuild_storage_fd",
            "rebuild_storage_fd",
            "RuntimeError: No such file or directory",
        ),
        happened="A tensor came through a queue, and the process that sent it had ended before it was read. What a "
        "queue carries is a reference; the memory stays with the sender.",
        where="every start method, with the sharing strategy file_descriptor",
        look="Keep the sender alive (an Event) until everything is read, or send NumPy arrays.",
        source="CPython Lib/multiprocessing/resource_sharer.py, torch/multiprocessing/reductions.py",
        rules=("DLL405", "DLL107"),
        role=Role.CONSEQUENCE,
        passes=("multiprocessing/",),
    ),
    Message(
        key="shared-memory-manager",
        wordings=(
            "torch_shm_manager at ",
            "Shared memory manager connection has timed out",
            "could not generate a random directory for manager socket",
            "AF_UNIX path too long",
        ),
        happened="torch's manager of shared files, or the socket of multiprocessing, could not be reached: the folder "
        "of temporary files is full, cannot be written to, or has too long a name.",
        where="Linux and macOS",
        look="Set `TMPDIR` to a short path that can be written to; look at how full it is.",
        source="torch/lib/libshm, 1.0 to 2.13; CPython Modules/socketmodule.c",
        rules=("DLL501",),
        checks=("doctor",),
    ),
    Message(
        key="leaked-at-exit",
        wordings=(
            "leaked semaphore objects to clean up at shutdown",
            "leaked semaphores to clean up at shutdown",
            "leaked shared_memory objects to clean up at shutdown",
        ),
        happened="A process ended without cleaning up: it was killed, or crashed. What killed it is the thing to "
        "look for.",
        where="spawn and forkserver, whose helper process says so",
        look="Search the log above for what ended the process.",
        source="CPython Lib/multiprocessing/resource_tracker.py (semaphore_tracker.py to 3.7)",
        checks=("doctor",),
        role=Role.SIGN,
    ),
)
