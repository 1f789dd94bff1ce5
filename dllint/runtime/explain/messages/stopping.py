"""Programs that wait forever, and what they print when they are ended."""

from __future__ import annotations

from dllint.runtime.explain.message import Message, Role

STOPPING = (
    Message(
        key="loader-timeout",
        wordings=("DataLoader timed out after {number} seconds",),
        happened="No batch came within the loader's `timeout`. Workers are slow, or hang, or could not send their "
        "batch: what `__getitem__` or the collate function returned cannot be pickled, and the worker said so.",
        where="every start method",
        look="Search the log above for a pickling error of the queue's feeder thread; measure one item.",
        source="torch/utils/data/dataloader.py, 1.0 to 2.13",
        rules=("DLL111", "DLL306", "DLL205", "DLL206"),
        checks=("probe",),
        role=Role.CONSEQUENCE,
    ),
    Message(
        key="did-not-end",
        wordings=("the program was still running after {any} seconds and was ended",),
        happened="The program hung, or needs more time than it was given. Its stacks are above.",
        where="every start method",
        look="The innermost frames say what it waited for: a batch, a process, a lock, a queue that is never read.",
        source="dllint explain --run --timeout",
        rules=("DLL405", "DLL111", "DLL306", "DLL404", "DLL301"),
        checks=("probe",),
        role=Role.CONSEQUENCE,
    ),
    Message(
        key="item-not-sent",
        wordings=("Exception in thread QueueFeederThread", ", in _feed"),
        happened="A worker could not send what it had made: the thread that fills its queue raised, the batch was "
        "dropped, and the main process waits for it forever.",
        where="every start method, fork too",
        look="Return only arrays, tensors, numbers, strings and classes of a module from the dataset and collate_fn.",
        source="CPython Lib/multiprocessing/queues.py, 3.8 to 3.14; hangs here with torch 2.13",
        rules=("DLL111", "DLL207"),
        checks=("probe",),
        role=Role.CONSEQUENCE,
    ),
    Message(
        key="hang-at-shutdown",
        wordings=("in _shutdown_worker", "self._shutdown_workers()"),
        happened="The main process was about to end a loader's workers and waited: they were still busy with an item "
        "(it asks for 5 seconds each), hang themselves, or wrote into a queue that is never read.",
        where="every start method; versions before torch 1.2 hang here without a mistake of yours",
        look="See what the workers do (`py-spy dump --pid`), let no iterator outlive its loop, and do not replace "
        "the handler of SIGCHLD.",
        source="torch/utils/data/dataloader.py, 1.0 to 2.13 (`_shutdown_worker` in 0.4); seen after Ctrl-C",
        rules=("DLL402", "DLL404", "DLL306", "DLL111"),
        checks=("probe",),
        role=Role.CONSEQUENCE,
    ),
    Message(
        key="hang-at-exit",
        wordings=("in _exit_function", "in _finalize_join", "in join_thread"),
        happened="The program was over and waited for a process of its own, or for the thread that writes into a "
        "queue, which is not read any more.",
        where="every start method",
        look="Read the queue empty before you join the process that fills it; make helpers daemonic.",
        source="CPython Lib/multiprocessing/util.py and queues.py, 3.8 to 3.14; seen after Ctrl-C",
        rules=("DLL405", "DLL402"),
        role=Role.CONSEQUENCE,
    ),
    Message(
        key="joined-before-read",
        wordings=(
            "in _wait_for_tstate_lock",
            "in _try_wait_for_tstate_lock",
            "popen_fork.py{any} in wait",
            "in _get_data",
        ),
        happened="The main process waited when it was ended: for a worker's next batch, for a process or for a thread.",
        where="every start method",
        look="See what the others do (`py-spy dump --pid`): a lock taken before the fork, a queue that is "
        "never read, an item that takes forever.",
        source="CPython Lib/threading.py, Lib/multiprocessing/popen_fork.py; torch/utils/data/dataloader.py",
        rules=("DLL405", "DLL306", "DLL404", "DLL111"),
        checks=("probe",),
        role=Role.SIGN,
    ),
    Message(
        key="iterator-at-exit",
        wordings=(
            "Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__",
            "Exception ignored in: <bound method _MultiProcessingDataLoaderIter.__del__",
            "Exception ignored in: <function _DataLoaderIter.__del__",
            "Exception ignored in: <bound method _DataLoaderIter.__del__",
            "Exception ignored in: <bound method DataLoaderIter.__del__",
            "Exception ignored while calling deallocator <function _MultiProcessingDataLoaderIter.__del__",
            "terminate called without an active exception",
        ),
        happened="A loader's iterator was still alive when the program ended, and was taken down with it. Often only "
        "noise after the error that ended the program.",
        where="every start method",
        look="Let the iterator end with its loop; delete the one you keep (`del it`) before the program ends.",
        source="torch/utils/data/dataloader.py, 0.3 to 2.13",
        rules=("DLL402",),
        role=Role.SIGN,
    ),
    Message(
        key="broken-pipe",
        wordings=("[Errno 32] Broken pipe", "[WinError 109]", "[WinError 232]"),
        happened="The process at the other end was gone: on Windows, usually the worker that was to be started and "
        "died at once; elsewhere, a reader that had ended.",
        where="every start method; on Windows the visible half of a missing main guard",
        look="Search the log for the other process's traceback.",
        source="CPython Lib/multiprocessing/connection.py and reduction.py",
        rules=("DLL301", "DLL104", "DLL102", "DLL405"),
        role=Role.SIGN,
        passes=("multiprocessing/", "concurrent/futures/"),
    ),
)
