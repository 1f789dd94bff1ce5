"""What the probed processes report about themselves: one JSON object a line, in files that only grow."""

from __future__ import annotations

import os

import msgspec


class Place(msgspec.Struct, frozen=True, order=True):
    """A line of a file; `last` is where the code that begins there ends."""

    path: str
    line: int
    last: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    def covers(self, path: str, line: int) -> bool:
        """Whether a line belongs to it."""
        return self.path == path and self.line <= line <= max(self.line, self.last)


class Part(msgspec.Struct, frozen=True):
    """Something that is shipped, by the path that leads to it from the loader."""

    path: str
    what: str
    places: tuple[Place, ...] = ()
    """Where it is defined, if it is code, and where it is stored."""
    rule: str = ""
    error: str = ""
    objects: int = 0
    bytes: int = 0


class Stage(msgspec.Struct, frozen=True, tag=True):
    """What begins now, and what a crash or a hang is blamed on."""

    name: str


class Loaded(msgspec.Struct, frozen=True, tag=True):
    """What the target is."""

    loader: str
    dataset: str
    iterable: bool
    items: int | None
    batch_size: int | None
    workers: int
    method: str
    """The start method that the loader itself asks for, or ""."""
    made: tuple[Place, ...]
    """The lines that were running when the loader was made, innermost first."""
    python: str
    torch: str


class Contents(msgspec.Struct, frozen=True, tag=True):
    """What is shipped."""

    culprits: tuple[Part, ...] = ()
    """What does not pickle."""
    holders: tuple[Part, ...] = ()
    """Attributes that hold many Python objects, the largest first."""
    handles: tuple[Part, ...] = ()
    code: tuple[Place, ...] = ()
    """The classes and functions of what is shipped, as far as they are the project's own."""
    pickled: int = 0
    """Bytes."""


class Sample(msgspec.Struct, frozen=True, tag=True):
    """Memory in MB when so many items had been read."""

    items: int
    seconds: float
    main: float
    """PSS of the main process, USS where the platform knows no PSS."""
    workers: tuple[float, ...]
    """The same of each worker."""
    private: tuple[float, ...]
    """USS of each worker."""

    @property
    def total(self) -> float:
        return self.main + sum(self.workers)


class Progress(msgspec.Struct, frozen=True, tag=True):
    items: int
    batches: int


class Shared(msgspec.Struct, frozen=True, tag=True):
    """What a batch takes in the main process while it is kept."""

    descriptors: float
    megabytes: float


class Read(msgspec.Struct, frozen=True, tag=True):
    """The end of the reading of an epoch."""

    items: int
    batches: int
    seconds: float
    expected: int | None
    """Batches that the loader promised, when it ended by itself."""


class Compared(msgspec.Struct, frozen=True, tag=True):
    """Batches that the main process read again, twice: what is the same as a worker's, what is not, what is random."""

    same: int
    different: int
    random: int = 0
    different_keys: tuple[str, ...] = ()
    """The indices of the first that differ."""


class Variable(msgspec.Struct, frozen=True):
    """A variable of a module, or a part of one that has a name."""

    path: str
    name: str
    digest: str
    shown: str


class State(msgspec.Struct, frozen=True, tag=True):
    """What the project's modules keep when workers start: in the main process (-1), or in a worker."""

    worker: int
    variables: tuple[Variable, ...]


class Pace(msgspec.Struct, frozen=True, tag=True):
    """What one worker spent on its items."""

    worker: int
    items: int
    reading: float
    collating: float


class Seeds(msgspec.Struct, frozen=True, tag=True):
    """The states of a worker's random generators, by name; `used` are those that its items drew from."""

    worker: int
    epoch: int
    states: dict[str, str]
    used: tuple[str, ...] = ()
    places: dict[str, tuple[Place, ...]] = {}


class Item(msgspec.Struct, frozen=True, tag=True):
    """What a worker read: the digest of a batch by its indices, or of an item of an iterable by its number."""

    worker: int
    epoch: int
    key: str
    digest: str


class Unpicklable(msgspec.Struct, frozen=True, tag=True):
    """Items that cannot go back to the main process."""

    worker: int
    parts: tuple[Part, ...]


class Grown(msgspec.Struct, frozen=True, tag=True):
    """A container that grew in a worker, with its lengths at first and at last."""

    worker: int
    part: Part
    before: int
    after: int


class Speed(msgspec.Struct, frozen=True, tag=True):
    workers: int
    batches_per_second: float


class Failed(msgspec.Struct, frozen=True, tag=True):
    """An exception that ended the stage; `internal`: one of dllint itself."""

    internal: bool
    error: str
    message: str
    places: tuple[Place, ...] = ()
    """The project's own lines in the traceback, innermost first."""


class Misused(msgspec.Struct, frozen=True, tag=True):
    """The target is nothing that can be probed."""

    message: str


class Done(msgspec.Struct, frozen=True, tag=True):
    """The process got to its end."""


Message = (
    Stage | Loaded | Contents | Sample | Progress | Shared | Read | Compared | Pace | Seeds | Item | Unpicklable | Grown
    | State | Speed | Failed | Misused | Done
)  # fmt: skip
_DECODER: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


class Log:
    """Appends messages to a file. Each process has its own; what is written survives the process."""

    def __init__(self, folder: str, name: str) -> None:
        self._place = os.path.join(folder, f"{name}.jsonl")

    def tell(self, *messages: Message) -> None:
        with open(self._place, "ab") as stream:
            stream.write(b"".join(msgspec.json.encode(message) + b"\n" for message in messages))


class Reader:
    """Reads what was appended to the files of a folder since it was last asked."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._read: dict[str, int] = {}

    def new(self) -> list[Message]:
        """Whole lines only; anything that isn't a message of ours is left out."""
        found: list[Message] = []
        for name in sorted(os.listdir(self._folder)):
            if name.endswith(".jsonl"):
                found += self._of(name)
        return found

    def _of(self, name: str) -> list[Message]:
        with open(os.path.join(self._folder, name), "rb") as stream:
            stream.seek(self._read.get(name, 0))
            data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read[name] = self._read.get(name, 0) + len(whole)
        return [message for line in whole.splitlines() if (message := _decoded(line)) is not None]


def _decoded(line: bytes) -> Message | None:
    try:
        return _DECODER.decode(line)
    except msgspec.DecodeError:
        return None
