"""What pickle says when a worker is to be started, or a batch sent back, and something cannot be sent."""

from __future__ import annotations

from dllint.runtime.explain.message import Message, Role

SENT = "spawn and forkserver, which send pickles: macOS, Windows, and Linux from Python 3.14 on; never under fork"
PROBE = ("probe",)
SAVING = ("torch/serialization.py", "torch/package/")
"""Pickles that go into files."""

PICKLING = (
    Message(
        key="local-object",
        wordings=(
            "Can't pickle local object '{name}'",
            "Can't get local object '{name}'",
            "Can't pickle local object <function {function} at 0x",
            "Can't pickle local object <class '{name}'>",
            "Can't pickle local object <{function} object at 0x",
        ),
        happened="Pickle sends functions and classes by name, and this one has no name that another process could "
        "import: it is a lambda, or it is defined inside a function.",
        where=f"{SENT}; for what is sent to a pool, or comes back from a worker, under every start method",
        look="Follow what the loader is given (dataset, collate_fn, worker_init_fn) and what those keep: attributes, "
        "transforms, default factories. If the name is not in your code, a library made it: look for the call.",
        source="CPython Lib/pickle.py and Modules/_pickle.c, 3.8 to 3.14; 3.13 says `get`, 3.14 shows the object",
        rules=("DLL102", "DLL101", "DLL103", "DLL104", "DLL105", "DLL107", "DLL108", "DLL111", "DLL106"),
        checks=PROBE,
        elsewhere=SAVING,
    ),
    Message(
        key="not-the-same-object",
        wordings=(
            "Can't pickle <class '{name}'>: it's not the same object as",
            "Can't pickle {name}: it's not the same object as",
            "it's not the same object as",
        ),
        happened="Pickle found something else under this name: the function was wrapped (a decorator, lru_cache) and "
        "the original kept, or the name was bound again, as in `words = words()`.",
        where=SENT,
        look="Apply the decorator with `@`, with functools.wraps inside it, and keep the decorated function.",
        source="CPython Modules/_pickle.c and Lib/pickle.py, 3.8 to 3.14",
        rules=("DLL104", "DLL105", "DLL102", "DLL107"),
        checks=PROBE,
        elsewhere=SAVING,
    ),
    Message(
        key="not-found-by-name",
        wordings=(
            "Can't pickle <function {function} at 0x{any}>: attribute lookup {name} on {module} failed",
            "Can't pickle <function {function} at 0x",
            "Can't pickle <function {function}: attribute lookup",
            "Can't pickle <function {function}",
            "Can't pickle <class '{name}'>: attribute lookup {any} on {module} failed",
            "Can't pickle <class '{name}'>: attribute lookup",
            "Can't pickle <class '{name}'>: it's not found as",
            "Can't pickle {name}: attribute lookup",
        ),
        happened="Pickle looked for a function or class by its name and did not find it. A lambda's name is "
        "`<lambda>` wherever it stands; a namedtuple is looked for under the name it was given, not its variable's.",
        where=f"{SENT}; for what is sent to a pool, or comes back from a worker, under every start method",
        look="Look for module-level lambdas that something shipped keeps, and for namedtuples whose name differs "
        "from their variable.",
        source="CPython Modules/_pickle.c and Lib/pickle.py, 3.8 to 3.14",
        rules=("DLL102", "DLL103", "DLL101", "DLL105", "DLL104", "DLL107", "DLL111"),
        checks=PROBE,
        elsewhere=SAVING,
    ),
    Message(
        key="unpicklable-handle",
        wordings=(
            "cannot pickle '{type}' object",
            "cannot pickle '{type}' instances",
            "can't pickle {type} objects",
            "cannot serialize '{type}' object",
            "TypeError: cannot pickle {type}: {any}",
        ),
        happened="Something that belongs to one process is kept by what is sent to workers: an open file, a lock, a "
        "database, a generator, a module.",
        where=SENT,
        look="Find which attribute holds an object of this type; open it in the worker on first use, and leave it out "
        "in `__getstate__`.",
        source="CPython Objects/typeobject.c and Lib/copyreg.py; `can't pickle` to 3.8, `instances` for io from 3.12",
        rules=("DLL106", "DLL108", "DLL107", "DLL111", "DLL110"),
        checks=PROBE,
        elsewhere=SAVING,
    ),
    Message(
        key="hdf5-handle",
        wordings=("h5py objects cannot be pickled",),
        happened="An open HDF5 file, group or dataset is kept by what is sent to workers.",
        where=SENT,
        look="Keep the path and open the file in the worker; `h5py.File(path)['x']` is a handle as well.",
        source="h5py/_hl/base.py, run with 3.16",
        rules=("DLL106", "DLL108"),
        checks=PROBE,
        elsewhere=SAVING,
    ),
    Message(
        key="foreign-handle",
        wordings=(
            "ctypes objects containing pointers cannot be pickled",
            "no default __reduce__ due to non-trivial __cinit__",
            "cannot be converted to a Python object for pickling",
            "Pickling client objects is explicitly not supported",
            'Pickling of "{type}" instances is not enabled',
            "Tried to serialize object {any} which does not have a __getstate__ method defined",
            "ScriptFunction cannot be pickled",
        ),
        happened="An object of a compiled library is kept by what is sent to workers: a slide, a client, a file, a "
        "script module. Its memory cannot be sent.",
        where=SENT,
        look="Open it in the worker on first use; keep the path or the settings only.",
        source="CPython Modules/_ctypes, Cython and Boost.Python (generated code), google-cloud-storage, torch/jit",
        rules=("DLL106", "DLL108"),
        checks=PROBE,
        elsewhere=SAVING,
    ),
    Message(
        key="inherited-only",
        wordings=(
            "{class} objects should only be shared between processes through inheritance",
            "Pickling an AuthenticationString object is disallowed for security reasons",
        ),
        happened="A queue, lock or value of multiprocessing was pickled by something other than the start of a "
        "process: put into a queue, given to a pool, or saved.",
        where="every start method",
        look="Pass it as an argument of the process, or through the initializer of the pool; or use a Manager's.",
        source="CPython Lib/multiprocessing/context.py and process.py",
        rules=("DLL107", "DLL106"),
    ),
    Message(
        key="pickled-loader-iterator",
        wordings=(
            "('{} cannot be pickled', '{class}')",
            "_BaseDataLoaderIter cannot be pickled",
            "_DataLoaderIter cannot be pickled",
        ),
        happened="A loader's iterator, with its workers and queues, is kept by something that is sent to workers: "
        "usually a trainer whose method is the collate function.",
        where=SENT,
        look="Make the collate function a function of the module; do not keep `iter(loader)` on the same object.",
        source="torch/utils/data/dataloader.py, `__getstate__` of the iterator",
        rules=("DLL108", "DLL106", "DLL402"),
        checks=PROBE,
    ),
    Message(
        key="tensor-with-graph",
        wordings=("Cowardly refusing to serialize non-leaf tensor",),
        happened="A tensor with a graph behind it is sent: from a worker as part of an item, or with the dataset.",
        where="items: every start method; attributes: spawn and forkserver",
        look="`.detach()` it before it is kept or returned; compute nothing that requires gradients in a dataset.",
        source="torch/multiprocessing/reductions.py",
        rules=("DLL108", "DLL111"),
        checks=PROBE,
    ),
    Message(
        key="system-entropy",
        wordings=("System entropy source does not have state",),
        happened="A `random.SystemRandom` is kept by something that is sent to workers; it has no state to send.",
        where=SENT,
        look="Make it in the worker, or use `random.Random`.",
        source="CPython Lib/random.py",
        rules=("DLL106",),
        checks=PROBE,
    ),
    Message(
        key="pickling-too-deep",
        wordings=("maximum recursion depth exceeded while pickling an object",),
        happened="What is sent is nested too deeply for pickle: a linked list, a graph of nodes, or a class whose "
        "`__getattr__` or `__reduce__` calls itself.",
        where=SENT,
        look="Keep an array or a dict of ids instead of objects that hold each other.",
        source="CPython Modules/_pickle.c",
        rules=("DLL113", "DLL202"),
        checks=PROBE,
        elsewhere=SAVING,
    ),
    Message(
        key="pickle-too-large",
        wordings=(
            "cannot serialize a bytes object larger than 4 GiB",
            "cannot serialize a string larger than 4GiB",
            "'i' format requires -2147483648 <= number <= 2147483647",
        ),
        happened="More than 2 or 4 GB were to be sent to or from a worker in one pickle.",
        where=f"attributes: {SENT}; items: every start method, to Python 3.7",
        look="Keep paths or a memory map opened in the worker instead of the data itself.",
        source="CPython Modules/_pickle.c (protocol 3) and Lib/multiprocessing/connection.py (to 3.7)",
        rules=("DLL112", "DLL202", "DLL201", "DLL203"),
    ),
    Message(
        key="worker-arguments-warning",
        wordings=("Got pickle error when attempting to start a worker Process",),
        happened="torch says that the dataset, collate_fn or worker_init_fn cannot be pickled; the error itself "
        "follows in the log.",
        where=SENT,
        look="Read on: the exception after it names the object.",
        source="torch/utils/data/dataloader.py, 2.10 to 2.13",
        rules=("DLL102", "DLL101", "DLL103", "DLL104", "DLL105", "DLL106", "DLL108"),
        checks=PROBE,
        role=Role.SIGN,
    ),
)
