"""The table of messages: the wordings of Python and torch are recognised, whatever tools add, and quickly."""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint import registry
from dllint.runtime.explain.message import Role, needle, pattern
from dllint.runtime.explain.messages import BY_KEY, MESSAGES
from dllint.runtime.explain.reading import read

PRINTED = [
    # What pickle says in the main process, from the oldest Python to the newest.
    ("AttributeError: Can't pickle local object 'Vocab.load.<locals>.<lambda>'", "local-object"),
    ("AttributeError: Can't get local object 'main.<locals>.worker_init_fn'", "local-object"),
    ("_pickle.PicklingError: Can't pickle local object <function go.<locals>.f at 0x7f2b1c0d3e20>", "local-object"),
    ("_pickle.PicklingError: Can't pickle local object <class '__main__.go.<locals>.D'>", "local-object"),
    ("_pickle.PicklingError: Can't pickle <function <lambda> at 0x7f>: attribute lookup <lambda> on __main__ failed",
     "not-found-by-name"),
    ("_pickle.PicklingError: Can't pickle <function D.<lambda> at 0x7>: attribute lookup D.<lambda> on __main__ failed",
     "not-found-by-name"),
    ("_pickle.PicklingError: Can't pickle <class '__main__.Record'>: attribute lookup Record on __main__ failed",
     "not-found-by-name"),
    ("_pickle.PicklingError: Can't pickle <class '__main__.Record'>: it's not found as __main__.Record",
     "not-found-by-name"),
    ("_pickle.PicklingError: Can't pickle <function coll at 0x7f11>: it's not the same object as __main__.coll",
     "not-the-same-object"),
    ("TypeError: can't pickle _thread.RLock objects", "unpicklable-handle"),
    ("TypeError: cannot serialize '_io.TextIOWrapper' object", "unpicklable-handle"),
    ("TypeError: cannot pickle '_io.BufferedReader' object", "unpicklable-handle"),
    ("TypeError: cannot pickle 'TextIOWrapper' instances", "unpicklable-handle"),
    ("TypeError: cannot pickle 'Environment' object", "unpicklable-handle"),
    ("TypeError: cannot pickle 'sqlite3.Connection' object", "unpicklable-handle"),
    ("TypeError: cannot pickle 'module' object", "unpicklable-handle"),
    ("TypeError: cannot pickle 'generator' object", "unpicklable-handle"),
    ("TypeError: cannot pickle 'weakref.ReferenceType' object", "unpicklable-handle"),
    ("TypeError: h5py objects cannot be pickled", "hdf5-handle"),
    ("ValueError: ctypes objects containing pointers cannot be pickled", "foreign-handle"),
    ("RuntimeError: Tried to serialize object __torch__.M which does not have a __getstate__ method defined!",
     "foreign-handle"),
    ("_pickle.PickleError: ScriptFunction cannot be pickled", "foreign-handle"),
    ("TypeError: no default __reduce__ due to non-trivial __cinit__", "foreign-handle"),
    ("RuntimeError: Queue objects should only be shared between processes through inheritance", "inherited-only"),
    ("NotImplementedError: ('{} cannot be pickled', '_MultiProcessingDataLoaderIter')", "pickled-loader-iterator"),
    ("RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
     "support crossing process boundaries.", "tensor-with-graph"),
    ("NotImplementedError: System entropy source does not have state.", "system-entropy"),
    ("RecursionError: maximum recursion depth exceeded while pickling an object", "pickling-too-deep"),
    ("OverflowError: cannot serialize a bytes object larger than 4 GiB", "pickle-too-large"),
    ("UserWarning: Got pickle error when attempting to start a worker Process. This might be because the worker "
     "Process arguments are not picklable.", "worker-arguments-warning"),
    # What workers say when they begin.
    ("        An attempt has been made to start a new process before the", "missing-guard"),
    ("RuntimeError: An attempt has been made to start a new process before the current process has finished its "
     "bootstrapping phase.", "missing-guard"),
    ("AttributeError: Can't get attribute 'D' on <module '__mp_main__' from 'C:\\\\work\\\\train.py'>",
     "name-missing-in-worker"),
    ("AttributeError: Can't get attribute 'D' on <module '__main__' (built-in)>", "name-missing-in-worker"),
    ("FileNotFoundError: [Errno 2] No such file or directory: '/data/project/<stdin>'", "script-on-standard-input"),
    ("RuntimeError: unable to resize file <filename not specified> to the right size: Invalid argument (22)",
     "tensor-made-while-pickling"),
    ("RecursionError: maximum recursion depth exceeded", "getattr-without-end"),
    ("EOFError: Ran out of input", "half-a-pickle"),
    ("_pickle.UnpicklingError: pickle data was truncated", "half-a-pickle"),
    ("OSError: cannot open resource", "resource-of-another-process"),
    ("OSError: [Errno 29] Illegal seek", "resource-of-another-process"),
    ("NameError: name 'args' is not defined", "name-error-in-worker"),
    ("absl.flags._exceptions.UnparsedFlagAccessError: Trying to access flag --size before flags were parsed.",
     "flags-not-parsed-in-worker"),
    # Starting.
    ("AssertionError: daemonic processes are not allowed to have children", "workers-in-worker"),
    ("RuntimeError: context has already been set", "start-method-set-twice"),
    ("ValueError: cannot find context for 'threads'", "start-method-set-twice"),
    ("RuntimeError: A SemLock created in a fork context is being shared with a process in a spawn context. This is "
     "not supported.", "mixed-contexts"),
    ("OSError: [Errno 12] Cannot allocate memory", "no-memory-for-a-process"),
    ("BlockingIOError: [Errno 11] Resource temporarily unavailable", "too-many-processes"),
    ("RuntimeError: can't start new thread", "too-many-processes"),
    ("DeprecationWarning: This process (pid=7) is multi-threaded, use of fork() may lead to deadlocks in the child.",
     "threads-before-fork"),
    ("huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling "
     "parallelism to avoid deadlocks...", "threads-before-fork"),
    ("AssertionError: can only test a child process", "only-a-child-can-be-tested"),
    # Devices.
    ("RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use "
     "the 'spawn' start method", "cuda-in-forked-process"),
    ("RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'", "generator-of-another-device"),
    ("RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
     "pinning-device-memory"),
    ("torch.AcceleratorError: CUDA error: initialization error", "cuda-in-forked-process"),
    ("RuntimeError: Attempted to send CUDA tensor received from another process; this is not currently supported. "
     "Consider cloning before sending.", "cuda-tensor-handed-on"),
    ("torch.AcceleratorError: CUDA error: invalid resource handle", "cuda-producer-ended"),
    ("[W1127 07:56:43.026676084 CudaIPCTypes.cpp:16] Producer process has been terminated before all shared CUDA "
     "tensors released. See Note [Sharing CUDA tensors]", "cuda-tensors-not-released"),
    # Shared memory and descriptors.
    ("RuntimeError: unable to allocate shared memory(shm) for file </torch_32371_1788749829_1>: No space left on "
     "device (28)", "shared-memory-full"),
    ("RuntimeError: unable to write to file </torch_3531_3962650647>", "shared-memory-full"),
    ("RuntimeError: Too many open files. Communication with the workers is no longer possible. Please increase the "
     "limit using `ulimit -n` in the shell", "too-many-open-files"),
    ("OSError: [Errno 24] Too many open files", "too-many-open-files"),
    ("RuntimeError: received 0 items of ancdata", "too-many-open-files"),
    ("RuntimeError: unable to open shared memory object </torch_1_2> in read-write mode: Too many open files (24)",
     "too-many-open-files"),
    ("RuntimeError: unable to open shared memory object </torch_31124_2696026929> in read-write mode",
     "shared-memory-gone"),
    ("RuntimeError: unable to mmap 280 bytes from file </torch_59534_1208885928>: Cannot allocate memory (12)",
     "too-many-mappings"),
    ("OSError: [WinError 1455] Die Auslagerungsdatei ist zu klein", "paging-file-too-small"),
    ("RuntimeError: Couldn't open shared file mapping: <torch_1_2_3>, error code: <1455>", "paging-file-too-small"),
    ("ConnectionRefusedError: [Errno 111] Connection refused", "sender-gone"),
    ("OSError: AF_UNIX path too long", "shared-memory-manager"),
    # Handles that forked workers share.
    ("lmdb.ReadersFullError: mdb_txn_begin: MDB_READERS_FULL: Environment maxreaders limit reached", "lmdb-readers"),
    ("zipfile.BadZipFile: Bad CRC-32 for file '700'", "archive-read-by-many"),
    # Dying.
    ("RuntimeError: DataLoader worker (pid 27) is killed by signal: Bus error. It is possible that dataloader's "
     "workers are out of shared memory. Please try to raise your shared memory limit.", "bus-error"),
    ("ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
     "bus-error"),
    ("RuntimeError: DataLoader worker (pid 27) is killed by signal: Killed. ", "killed"),
    ("[1234.5] Out of memory: Killed process 27 (python) total-vm:1kB", "out-of-memory-killer"),
    ("RuntimeError: [enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: you "
     "tried to allocate 80000000 bytes. Error code 12 (Cannot allocate memory)", "no-memory"),
    ("RuntimeError: DataLoader worker (pid 27) is killed by signal: Segmentation fault. ", "segmentation-fault"),
    ("RuntimeError: DataLoader worker (pid(s) 27, 28) exited unexpectedly", "worker-exited"),
    ("RuntimeError: DataLoader worker (pid 27) exited unexpectedly with exit code 1. Details are lost due to "
     "multiprocessing. Rerunning with num_workers=0 may give better error trace.", "worker-exited"),
    ("torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with exit code 1", "process-exited"),
    ("concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the "
     "future was running or pending.", "process-exited"),
    ("ValueError: Caught ValueError in DataLoader worker process 0.", "exception-in-worker"),
    # Waiting.
    ("RuntimeError: DataLoader timed out after 5 seconds", "loader-timeout"),
    ("Exception in thread QueueFeederThread:", "item-not-sent"),
    ("Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f>", "iterator-at-exit"),
    ("terminate called without an active exception", "iterator-at-exit"),
    ("BrokenPipeError: [Errno 32] Broken pipe", "broken-pipe"),
    ("ValueError: bad value(s) in fds_to_keep", "descriptors-to-keep"),
    ("RuntimeError: Trying to resize storage that is not resizable", "items-of-different-size"),
    ("RuntimeError: stack expects each tensor to be equal size, but got [5] at entry 0 and [2] at entry 1",
     "items-of-different-size"),
    # Arguments.
    ("ValueError: num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
     "loader-arguments"),
    ("ValueError: prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
     "multiprocessing, otherwise set prefetch_factor to None.", "loader-arguments"),
    ("AssertionError: prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter", "loader-arguments"),
    ("ValueError: persistent_workers option needs num_workers > 0", "loader-arguments"),
    ("AssertionError: _SingleProcessDataLoaderIter requires timeout == 0", "loader-arguments"),
    ("ValueError: DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle=True",
     "loader-arguments"),
    ("ValueError: sampler option is mutually exclusive with shuffle", "loader-arguments"),
    ("ValueError: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last",
     "loader-arguments"),
    ("ValueError: batch_size should be a positive integer value, but got batch_size=0", "loader-arguments"),
    ("ValueError: drop_last should be a boolean value, but got drop_last=1", "loader-arguments"),
    ("ValueError: num_samples should be a positive integer value, but got num_samples=0", "loader-arguments"),
    ("ValueError: batch_size attribute should not be set after DataLoader is initialized", "loader-arguments"),
    ("UserWarning: Length of IterableDataset <D object at 0x7f> was reported to be 4 (when accessing len(dataloader)), "
     "but 5 samples have been fetched.", "length-of-iterable"),
    ("ValueError: Seed must be between 0 and 2**32 - 1", "seed-too-large"),
]  # fmt: skip


DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "explain.md"
MARKS = ("<!-- begin messages -->\n", "<!-- end messages -->")


def _rows() -> str:
    """The table of messages for people."""
    lines = ["", "| key | text | rules |", "|---|---|---|"]
    for message in MESSAGES:
        text = re.sub(r"\{\w+\}", "...", message.wordings[0]).replace("|", "\\|")
        lines.append(f"| `{message.key}` | `` {text} `` | {_listed(message.rules)} |")
    return "\n".join([*lines, "", ""])


def _listed(rules: tuple[str, ...]) -> str:
    return ", ".join(rules) or "none"


def test_the_document_has_the_table() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    renewed = before + MARKS[0] + _rows() + MARKS[1] + after
    if os.environ.get("DLLINT_UPDATE"):
        DOCUMENT.write_text(renewed, encoding="utf-8")
        text = renewed
    assert text == renewed, "renew it with DLLINT_UPDATE=1 pytest tests/test_explain_messages.py"


def keys(log: str | bytes) -> list[str]:
    """What is recognised in a log, in its order."""
    return [seen.message.key for seen in read([log.encode() if isinstance(log, str) else log]).seen]


@pytest.mark.parametrize(("text", "key"), PRINTED, ids=lambda value: value[:60])
def test_a_message_is_recognised(text: str, key: str) -> None:
    assert keys(f"step 3\n{text}\nstep 4\n") == [key]


def test_every_row_is_shown_by_a_message() -> None:
    by_frames = {"hang-at-shutdown", "hang-at-exit", "joined-before-read", "did-not-end"}
    rare = {message.key for message in MESSAGES} - {key for _, key in PRINTED} - by_frames
    assert rare <= {
        *("hdf5-read-by-many", "connection-used-by-many", "pin-memory-thread"),
        *("terminated", "exit-in-worker", "leaked-at-exit", "more-workers-than-cores"),
    }


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.key)
def test_a_row_is_whole(message) -> None:  # type: ignore[no-untyped-def]
    assert message.happened.endswith(".") and message.look.endswith(".") and message.where and message.source
    assert set(message.rules) <= set(registry.by_code())
    assert message.rules or message.checks or message.role is not Role.CAUSE or message.key in (
        "script-on-standard-input",
        "descriptors-to-keep",
    )  # fmt: skip
    for wording in message.wordings:
        assert len(needle(wording)) >= 7, wording
        shown = re.sub(r"\{(\w+)\}", lambda blank: "7" if blank[1] == "number" else "word", wording)
        assert pattern(wording).search(shown), wording


def test_no_wording_is_hidden_by_an_earlier_row() -> None:
    for message, other in itertools.combinations(MESSAGES, 2):
        for wording, later in itertools.product(message.wordings, other.wordings):
            assert not pattern(wording).fullmatch(later), (wording, later)


def test_a_row_is_found_by_its_key() -> None:
    assert len(BY_KEY) == len(MESSAGES)


@pytest.mark.parametrize(
    "log",
    [
        "\x1b[31mTypeError\x1b[0m: \x1b[1mh5py objects\x1b[0m cannot be pickled\n",
        "  0%|      | 0/40937 [00:00<?, ?it/s]\r  1%|#     | 9/40937\rTypeError: h5py objects cannot be pickled\n",
        "  0%|      | 0/40937 [00:00<?, ?it/s]TypeError: h5py objects cannot be pickled",
        "[rank1]: TypeError: h5py objects cannot be pickled\r\n",
        "trainer-1  | TypeError: h5py objects cannot be pickled\n",
        "TypeError: h5py objects cannot be pickled\n".encode("utf-16"),
        "\ufeffTypeError: h5py objects cannot be pickled\n",
        b"\xff\xfe\x00\n\xe9\nTypeError: h5py objects cannot be pickled\n"[2:],
    ],
    ids=["colours", "bar", "glued", "rank", "compose", "utf-16", "bom", "latin-1"],
)
def test_what_terminals_and_tools_add_does_not_hide_a_message(log: str | bytes) -> None:
    assert keys(log) == ["hdf5-handle"]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("/v/torch/serialization.py", "AttributeError: Can't pickle local object 'f.<locals>.g'", []),
        ("/v/torch/optim/adam.py", "RecursionError: maximum recursion depth exceeded", []),
        ("/v/urllib3/connection.py", "ConnectionRefusedError: [Errno 111] Connection refused", []),
        ("/p/multiprocessing/connection.py", "ConnectionRefusedError: [Errno 111] Connection refused", ["sender-gone"]),
    ],
)
def test_the_traceback_says_what_is_meant(path: str, text: str, found: list[str]) -> None:
    log = f'Traceback (most recent call last):\n  File "{path}", line 3, in f\n{text}\n'
    assert keys(log) == found


def test_curly_quotes_are_quotes() -> None:
    assert keys("TypeError: cannot pickle ‘Environment’ object\n") == ["unpicklable-handle"]


def test_the_same_message_is_counted_and_another_name_is_another_message() -> None:
    log = "".join(f"AttributeError: Can't pickle local object 'f.<locals>.g{n % 2}'\n" for n in range(6))
    seen = read([log.encode()]).seen
    assert [(one.line, one.count, one.name) for one in seen] == [(1, 3, "f.<locals>.g0"), (2, 3, "f.<locals>.g1")]


def test_pieces_of_any_size_read_the_same() -> None:
    log = b'  File "C:\\a\\train.py", line 3, in main\r\nTypeError: h5py objects cannot be pickled\r\nend\r\n'
    whole = read([log])
    for size in (1, 2, 3, 7, 50):
        parts = read([log[start : start + size] for start in range(0, len(log), size)])
        assert [(seen.text, seen.frames) for seen in parts.seen] == [(seen.text, seen.frames) for seen in whole.seen]


def _frames(log: str) -> list[tuple[str, int, str]]:
    return [tuple(frame) for frame in read([log.encode()]).seen[0].frames]


def test_tracebacks_of_python_rich_and_ipython_are_followed() -> None:
    error = "TypeError: h5py objects cannot be pickled\n"
    python = f'Traceback (most recent call last):\n  File "C:\\w\\train.py", line 9, in main\n    go()\n{error}'
    assert _frames(python) == [("C:/w/train.py", 9, "main")]
    rich = f"╭─ Traceback (most recent call last) ─╮\n│ /w/train.py:9 in main               │\n{error}"
    assert _frames(rich) == [("/w/train.py", 9, "main")]
    ipython = f"Traceback (most recent call last)\nFile ~/w/train.py:9, in main(args)\n{error}"
    assert _frames(ipython) == [("~/w/train.py", 9, "main")]


def test_interleaved_tracebacks_are_kept_apart_by_their_prefix() -> None:
    log = (
        "[rank0]: Traceback (most recent call last):\n"
        "[rank1]: Traceback (most recent call last):\n"
        '[rank0]:   File "a.py", line 1, in f\n'
        '[rank1]:   File "b.py", line 2, in g\n'
        "[rank0]: TypeError: h5py objects cannot be pickled\n"
        "[rank1]: TypeError: cannot pickle 'Environment' object\n"
    )
    seen = read([log.encode()]).seen
    assert [[frame.path for frame in one.frames] for one in seen] == [["a.py"], ["b.py"]]


def test_an_earlier_traceback_is_not_the_one_of_a_message() -> None:
    log = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    raise KeyError(1)\nKeyError: 1\n'
        'Traceback (most recent call last):\n  File "b.py", line 2, in g\n    dump()\n'
        "TypeError: h5py objects cannot be pickled\n"
    )
    assert _frames(log) == [("b.py", 2, "g")]


def test_a_stack_of_faulthandler_is_turned_round() -> None:
    log = (
        "Current thread 0x00007f (most recent call first):\n"
        '  File "/usr/lib/python3.11/threading.py", line 5 in _wait_for_tstate_lock\n'
        '  File "/w/train.py", line 9 in main\n'
    )
    reading = read([log.encode()])
    assert [seen.message.key for seen in reading.seen] == ["joined-before-read"]
    assert reading.scene.words() == "Python 3.11, Linux"


def test_python_3_14_says_where_the_culprit_was_found() -> None:
    log = (
        "_pickle.PicklingError: Can't pickle local object <function build.<locals>.<lambda> at 0x7f>\n"
        "when serializing dict item 'word2id'\n"
        "when serializing data.Vocab state\n"
        "when serializing data.Vocab object\n"
    )
    seen = read([log.encode()]).seen[0]
    assert seen.name == "build.<locals>.<lambda>"
    assert seen.within == ["word2id", "Vocab", "Vocab"]


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        (r'File "C:\Python37\lib\multiprocessing\popen_spawn_win32.py", line 6, in f', "Python 3.7, Windows, spawn"),
        (r'File "C:\Users\me\train.py", line 6, in f', "Windows"),
        ('File "/Users/lib/python3.9/multiprocessing/popen_spawn_posix.py", line 3, in f', "Python 3.9, macOS, spawn"),
        ('File "/usr/lib/python3.14/multiprocessing/popen_forkserver.py", line 3', "Python 3.14, Linux, forkserver"),
        ('File "/usr/lib/python3.11/multiprocessing/popen_fork.py", line 71, in _launch', "Python 3.11, Linux, fork"),
    ],
)  # fmt: skip
def test_the_scene_is_read_from_the_frames(frames: str, words: str) -> None:
    assert read([f"  {frames}\n".encode()]).scene.words() == words


def _megabytes(count: int, line: bytes) -> Iterator[bytes]:
    piece = (line * (1_000_000 // len(line) + 1))[:1_000_000]
    yield from itertools.repeat(piece, count)


HOSTILE = {
    "progress": b" 12%|####      | 120/1000 [00:12<01:28, 9.97it/s, loss=0.123]\r",
    "one endless line": b"x" * 997,
    "almost messages": b"Can't pickle <function Can't pickle <function Can't pickle local object 'a b c d\n",
    "frames": b'  File "/w/a/b/c/train.py", line 12, in main\n',
    "quotes": b"cannot pickle 'cannot pickle 'cannot pickle 'cannot pickle '\n",
    "escapes": b"\x1b[31m\x1b]0;title\x1b[0;\x1b[\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_length_of_a_log_alone(name: str) -> None:
    def spent(megabytes: int) -> float:
        begun = time.process_time()
        read(_megabytes(megabytes, HOSTILE[name]))
        return time.process_time() - begun

    assert spent(2) < 4  # seconds; far less but on a busy machine


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_fifty_megabytes_are_read_in_seconds(name: str) -> None:
    begun = time.process_time()
    read(_megabytes(50, HOSTILE[name]))
    assert time.process_time() - begun < 60
