"""What a fresh worker says when it reads what it was sent, or runs the main script again."""

from __future__ import annotations

from dllint.runtime.explain.message import Message, Role

FRESH = "spawn and forkserver: macOS, Windows, and Linux from Python 3.14 on; never under fork"
PROBE = ("probe",)
WORKERS = ("multiprocessing/", "concurrent/futures/", "torch/utils/data/")

UNPICKLING = (
    Message(
        key="missing-guard",
        wordings=("An attempt has been made to start a new process before the",),
        happened="A worker imports the main script to find the dataset's class. The script has no "
        '`if __name__ == "__main__":` around the code that starts workers, so the worker starts workers again.',
        where=FRESH,
        look="Put everything that runs on import under the guard, in the script that is started.",
        source="CPython Lib/multiprocessing/spawn.py, 3.8 to 3.14 (the sentence goes on in the next line)",
        rules=("DLL301", "DLL305", "DLL308"),
    ),
    Message(
        key="name-missing-in-worker",
        wordings=(
            "Can't get attribute '{name}' on <module '{module}' from '{any}'>",
            "Can't get attribute '{name}' on <module '{module}'",
            "Can't get attribute '{name}'",
            "module '__mp_main__' has no attribute '{name}'",
        ),
        happened="The worker imported the main script again, and the class or function is not there: it is defined "
        "under the main guard, in a notebook or on standard input, or made while the program ran.",
        where=FRESH,
        look="Move the definition above the guard, or into a module of its own; from a notebook, into a file.",
        source="CPython Lib/pickle.py and Modules/_pickle.c, 3.8 to 3.13",
        rules=("DLL109", "DLL104", "DLL105", "DLL107"),
        checks=PROBE,
    ),
    Message(
        key="script-on-standard-input",
        wordings=("No such file or directory: '{any}<stdin>'", "can't open file '{any}<stdin>'"),
        happened="Workers import the main script from its file, and this program came on standard input.",
        where=FRESH,
        look="Save the program to a file and run that.",
        source="CPython Lib/multiprocessing/spawn.py, run on 3.11",
    ),
    Message(
        key="tensor-made-while-pickling",
        wordings=("unable to resize file <filename not specified> to the right size",),
        happened="A tensor was made while the dataset was pickled (`torch.Generator` does that, and a `__getstate__` "
        "that makes tensors); its shared memory was gone before the worker read it.",
        where=FRESH,
        look="Keep a seed and make the generator in the worker; let `__getstate__` return arrays, bytes or numbers.",
        source="torch aten/src/ATen/MapAllocator.cpp, run with 2.13",
        rules=("DLL110",),
        checks=PROBE,
    ),
    Message(
        key="getattr-without-end",
        wordings=("RecursionError: maximum recursion depth exceeded",),
        happened="A class whose `__getattr__` reads an attribute that is not there yet calls itself forever: pickle "
        "makes the object first and gives it its attributes later.",
        where=f"when a worker unpickles: {FRESH}; elsewhere, an endless recursion of the program's own",
        look="Let `__getattr__` raise AttributeError for names that begin with `__` and for the attribute it reads.",
        source="CPython Python/ceval.c",
        rules=("DLL113",),
        checks=PROBE,
        passes=WORKERS,
    ),
    Message(
        key="half-a-pickle",
        wordings=("EOFError: Ran out of input", "pickle data was truncated"),
        happened="The worker got only a part of what it was to unpickle, because the main process failed while it "
        "pickled. On Windows this is often all that is seen.",
        where=f"{FRESH}; mostly seen on Windows",
        look="Look for the other traceback, of the main process: it names what cannot be pickled.",
        source="CPython Lib/multiprocessing/spawn.py and reduction.py",
        rules=("DLL104", "DLL102", "DLL101", "DLL103", "DLL105", "DLL106", "DLL108"),
        checks=PROBE,
        role=Role.CONSEQUENCE,
        passes=WORKERS,
    ),
    Message(
        key="resource-of-another-process",
        wordings=("OSError: cannot open resource", "[Errno 29] Illegal seek", "[Errno 9] Bad file descriptor"),
        happened="What arrived in the worker refers to something of the main process: a font, a file descriptor.",
        where=FRESH,
        look="Open it in the worker, on first use.",
        source="Pillow's ImageFont and CPython's os.pread, run on 3.11 under spawn",
        rules=("DLL106",),
        checks=PROBE,
        role=Role.CONSEQUENCE,
        passes=WORKERS,
    ),
    Message(
        key="name-error-in-worker",
        wordings=(
            "Caught NameError in DataLoader worker process {number}",
            "NameError: name '{variable}' is not defined",
        ),
        happened="Code that runs in a worker reads a global that only the main process has set: it is under the "
        "main guard.",
        where=f"{FRESH}, when the name is set under the guard; otherwise a plain mistake",
        look="Set the global above the guard, or pass the value to the dataset.",
        source="CPython Python/ceval.c; torch/_utils.py (`Caught ... in`)",
        rules=("DLL109",),
        role=Role.CONSEQUENCE,
        passes=WORKERS,
    ),
    Message(
        key="flags-not-parsed-in-worker",
        wordings=("Trying to access flag --{name} before flags were parsed",),
        happened="absl's flags are parsed by `app.run` in the main process. A fresh worker has their definitions only.",
        where=FRESH,
        look="Pass the value to the dataset; or parse in each worker: `FLAGS(sys.argv)` in `worker_init_fn`.",
        source="absl-py 2.5, absl/flags/_flagvalues.py, run under spawn and forkserver",
        rules=("DLL610",),
        role=Role.CONSEQUENCE,
        passes=WORKERS,
    ),
)
