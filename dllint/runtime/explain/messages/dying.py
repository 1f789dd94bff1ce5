"""What is said when a worker dies, or the system kills it."""

from __future__ import annotations

from dllint.runtime.explain.message import Message, Role

GROWTH = ("DLL202", "DLL201", "DLL203", "DLL204", "DLL112", "DLL208")
"""What fills the memory, most frequent first."""

DYING = (
    Message(
        key="bus-error",
        wordings=(
            "is killed by signal: Bus error",
            "Unexpected bus error encountered in worker",
            "exited unexpectedly with exit code -7",
        ),
        happened="A worker wrote a batch into shared memory (/dev/shm), and the memory behind it could not be had: "
        "/dev/shm is full. Containers get 64 MB by default.",
        where="Linux, every start method; mostly in containers",
        look="Give the container more (`--shm-size=8g`, compose `shm_size`, an emptyDir with medium Memory), or send "
        "smaller batches, with fewer workers or less prefetching.",
        source="torch/csrc/DataLoader.cpp, 1.0 to 2.13, raised here on a /dev/shm of 64 MB",
        rules=("DLL502", "DLL501", "DLL207"),
        checks=("doctor",),
    ),
    Message(
        key="killed",
        wordings=(
            "is killed by signal: Killed",
            "exited unexpectedly with exit code -9",
            "exited unexpectedly with exit code 137",
            "terminated with signal SIGKILL",
            "(exitcode: -9)",
            "exitcode  : -9",
        ),
        happened="A worker or process was killed from outside, nearly always by the kernel or the container because "
        "memory ran out. What grows: Python objects that every worker copies as it reads them, and caches.",
        where="every start method; under fork it grows while items are read, under spawn it is there from the start",
        look="`dmesg -T | grep -i kill` says what the kernel did. Watch the workers' memory; fewer workers, or arrays "
        "in place of lists of Python objects.",
        source="torch/csrc/DataLoader.cpp, 1.0 to 2.13; torch/multiprocessing/spawn.py; torch.distributed.run",
        rules=GROWTH,
        checks=("doctor", "probe"),
    ),
    Message(
        key="out-of-memory-killer",
        wordings=(
            "Out of memory: Kill",
            "oom-kill:constraint",
            "Memory cgroup out of memory",
            "invoked oom-killer",
            "oom-kill event",
            "oom_kill event",
            "OOMKilled",
        ),
        happened="The kernel ended a process because the machine or the container had no memory left.",
        where="Linux, every start method",
        look="Watch the workers' memory; fewer workers, or arrays in place of lists of Python objects.",
        source="the Linux kernel's log, Slurm, Kubernetes",
        rules=GROWTH,
        checks=("doctor", "probe"),
    ),
    Message(
        key="no-memory",
        wordings=(
            "DefaultCPUAllocator: can't allocate memory: you tried to allocate {number} bytes",
            "DefaultCPUAllocator: not enough memory: you tried to allocate {number} bytes",
            "Unable to allocate {any} for an array with shape",
            "MemoryError",
        ),
        happened="An allocation failed: a limit on memory was reached before the kernel had to kill anybody.",
        where="every start method; spawn needs a whole copy of the dataset for each worker",
        look="Look at what the dataset keeps, and at how many workers have a copy of it.",
        source="torch c10/core/impl/alloc_cpu.cpp, 1.0 to 2.13; NumPy; CPython",
        rules=GROWTH,
        checks=("doctor", "probe"),
    ),
    Message(
        key="segmentation-fault",
        wordings=(
            "is killed by signal: Segmentation fault",
            "Unexpected segmentation fault encountered in worker",
            "exited unexpectedly with exit code -11",
            "is killed by signal: Aborted",
            "Unexpected floating-point exception encountered in worker",
            "is killed by signal: Floating point exception",
        ),
        happened="Compiled code crashed in a worker: a decoder, or a library whose handle or threads came through a "
        "fork.",
        where="mostly fork",
        look='Try `multiprocessing_context="spawn"` on the loader, and `PYTHONFAULTHANDLER=1` for the Python line.',
        source="torch/csrc/DataLoader.cpp, 1.0 to 2.13",
        rules=("DLL106", "DLL302", "DLL304"),
        checks=("probe",),
    ),
    Message(
        key="terminated",
        wordings=("killed by signal: Terminated", "killed by signal: Hangup", "killed by signal: Interrupt"),
        happened="A worker was ended from outside: by a scheduler, a user, or the main process, which ended while the "
        "worker was starting.",
        where="every start method",
        look="If this was not intended, look at the scheduler's time and memory limits, and at iterators that outlive "
        "the loop.",
        source="torch/csrc/DataLoader.cpp, 1.0 to 2.13",
        rules=("DLL402",),
        role=Role.SIGN,
    ),
    Message(
        key="worker-exited",
        wordings=(
            "DataLoader worker (pid(s) {any}) exited unexpectedly",
            "DataLoader worker (pid {number}) exited unexpectedly with exit code",
            "DataLoader worker (pid {any}) exited unexpectedly",
        ),
        happened="A worker ended without giving a reason. Its own traceback, if it had one, is above in the log: it "
        "could not read what it was sent, it ran the main script again, it called `exit`, or it was killed. Of "
        "a killed worker of a fork server (Linux from Python 3.14 on), nothing else shows.",
        where="every start method; spawn and forkserver when it happens before the first batch",
        look="Search the log above for the worker's traceback. `num_workers=0` shows errors of the dataset itself.",
        source="torch/utils/data/dataloader.py and torch/csrc/DataLoader.cpp, 1.0 to 2.13",
        rules=("DLL301", "DLL109", "DLL110", "DLL113", "DLL406", *GROWTH),
        checks=("doctor", "probe"),
        role=Role.CONSEQUENCE,
    ),
    Message(
        key="process-exited",
        wordings=(
            "process {number} terminated with exit code {any}",
            "process {number} terminated with signal",
            "A process in the process pool was terminated abruptly",
        ),
        happened="A process of torch.multiprocessing or of a pool ended without an exception that could be sent back.",
        where="every start method; `torch.multiprocessing.spawn` spawns on every platform",
        look="Search the log above for the process's own traceback.",
        source="torch/multiprocessing/spawn.py; CPython Lib/concurrent/futures/process.py",
        rules=("DLL107", "DLL301", "DLL109", *GROWTH),
        checks=("doctor",),
        role=Role.CONSEQUENCE,
    ),
    Message(
        key="exception-in-worker",
        wordings=(
            "Caught {class} in DataLoader worker process {number}",
            "-- Process {number} terminated with the following error",
        ),
        happened="An exception of the dataset, a transform or the collate function, brought over from the worker; "
        "its own traceback follows.",
        where="every start method",
        look="Read the traceback below it: it is that of the worker. `num_workers=0` raises it in the main process.",
        source="torch/_utils.py, 1.1 to 2.13; torch/multiprocessing/spawn.py",
        role=Role.SIGN,
    ),
)
