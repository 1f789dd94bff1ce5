"""What stops processes from being started at all."""

from __future__ import annotations

from dllint.runtime.explain.message import Message, Role

STARTING = (
    Message(
        key="descriptors-to-keep",
        wordings=("bad value(s) in fds_to_keep",),
        happened="A process was to be started with a list of file descriptors in which one stands twice. Either a "
        "standard stream was closed and its number went to another file (daemons, services), or, with torch 1.x, two "
        "tensors that are views of one storage were sent to the process.",
        where="spawn and forkserver, on Linux and macOS",
        look="Do not close descriptors 0 to 2: point them at os.devnull. With an old torch, `.clone()` the views, or "
        "`torch.multiprocessing.set_sharing_strategy('file_system')`.",
        source="CPython Modules/_posixsubprocess.c; run with descriptor 2 closed under 3.11; views of one storage: "
        "pytorch/pytorch#31571, and not with torch 2.13",
    ),
    Message(
        key="workers-in-worker",
        wordings=("daemonic processes are not allowed to have children",),
        happened="Code that runs in a worker starts processes: a loader with workers, a Pool or a Process inside "
        "`__getitem__`, or a whole training run inside a daemonic process.",
        where="every start method",
        look="Give the inner loader `num_workers=0`; start the outer process with `daemon=False`.",
        source="CPython Lib/multiprocessing/process.py, 3.8 to 3.14",
        rules=("DLL403",),
    ),
    Message(
        key="start-method-set-twice",
        wordings=("context has already been set", "cannot find context for '{any}'"),
        happened="The start method was set a second time, or after something had used it (a loader, a queue, "
        "`get_context()`), or to a name that this platform does not have.",
        where="every start method",
        look="Set it once, under the main guard, before anything else; or give the one loader "
        '`multiprocessing_context="spawn"`.',
        source="CPython Lib/multiprocessing/context.py, 3.8 to 3.14",
        rules=("DLL305",),
    ),
    Message(
        key="mixed-contexts",
        wordings=("A SemLock created in a fork context is being shared with a process in a spawn context",),
        happened="A queue or lock was made under one start method and given to a process of another.",
        where="programs that use more than one start method",
        look="Make queues, locks and processes from one `get_context(...)`.",
        source="CPython Lib/multiprocessing/synchronize.py, from 3.11.5",
        rules=("DLL305",),
    ),
    Message(
        key="no-memory-for-a-process",
        wordings=("[Errno 12] Cannot allocate memory", "[Errno 12] Not enough space"),
        happened="The system refused the memory for another process. A fork promises as much again as the main "
        "process has, and strict overcommit or a container's limit counts that.",
        where="Linux; mostly fork from a large main process",
        look="Start the workers before the large data is loaded, use fewer, or spawn them; look at the limits.",
        source="CPython os.fork; the kernel's errno",
        rules=("DLL202", "DLL201", "DLL203"),
        checks=("doctor",),
    ),
    Message(
        key="too-many-processes",
        wordings=(
            "[Errno 11] Resource temporarily unavailable",
            "[Errno 35] Resource temporarily unavailable",
            "can't start new thread",
            "pthread_create failed",
            "Thread creation failed: Resource temporarily unavailable",
        ),
        happened="The limit on processes and threads was reached. Each worker brings the thread pools of its "
        "libraries along (OpenMP, OpenCV, BLAS).",
        where="Linux and macOS; containers count threads (`pids.max`)",
        look="Fewer workers, fewer threads each (`OMP_NUM_THREADS=1`, `cv2.setNumThreads(0)`), or a higher limit.",
        source="CPython os.fork and threading; libgomp",
        rules=("DLL403", "DLL401"),
        checks=("doctor",),
    ),
    Message(
        key="more-workers-than-cores",
        wordings=("This DataLoader will create {number} worker processes in total",),
        happened="The loader starts more workers than this process may use cores. They work, but take turns.",
        where="Linux, every start method",
        look="Use at most as many workers as the log suggests, unless they wait for disks or the network.",
        source="torch/utils/data/dataloader.py, 1.7 to 2.13",
        checks=("doctor",),
        role=Role.SIGN,
    ),
    Message(
        key="threads-before-fork",
        wordings=(
            "use of fork() may lead to deadlocks in the child",
            "The current process just got forked, after parallelism has already been used",
        ),
        happened="Threads ran when the process was forked. The child has none of them, and whatever they held "
        "(a lock) stays locked there: it can hang.",
        where="fork; Python says so from 3.12 on, tokenizers always",
        look="Start the workers before the threads, or spawn them; set `TOKENIZERS_PARALLELISM=false`.",
        source="CPython Modules/posixmodule.c, 3.12 to 3.14; the tokenizers package",
        rules=("DLL306", "DLL304"),
        checks=("doctor",),
        role=Role.CONSEQUENCE,
    ),
    Message(
        key="only-a-child-can-be-tested",
        wordings=("can only test a child process", "can only join a child process"),
        happened="A loader's iterator was copied into a forked process, which then tried to shut down workers that "
        "are not its own. Noise, when it follows something else.",
        where="fork",
        look="Do not keep iterators of loaders where other processes are forked; delete them when an epoch ends.",
        source="CPython Lib/multiprocessing/process.py; seen below `__del__` of the iterator",
        rules=("DLL402", "DLL403"),
        role=Role.SIGN,
    ),
)
