"""Types as pickle names them, and the handles that hold or are such objects."""

from __future__ import annotations

import re

from dllint.project.escape.handle_table import HANDLES
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import ExtInst

_LOCKED = (
    "lock",
    "thread",
    "queue",
    "executor",
    "logging handler",
    "event writer",
    "storage client",
    "pool of processes",
)
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"_io\.|TextIOWrapper|Buffered(Reader|Writer|Random)|FileIO", ("open file", "open zip file", "open tar file")),
    (r"_csv\.", ("CSV reader", "CSV writer")),
    (r"Environment", ("LMDB environment",)),
    (r"Transaction|Cursor", ("LMDB transaction", "database connection")),
    (r"_thread\.R?[lL]ock", (*_LOCKED, "database connection", "child process", "open data file")),
    (r"_thread\._local", ("thread-local object", "database connection", "storage client")),
    (r"_queue\.SimpleQueue|SimpleQueue", ("executor", "queue")),
    (r"generator|coroutine|ScandirIterator", ("generator",)),
    (r"module", ("module",)),
    (r"sqlite3|[Cc]onnection|Engine|Client|Redis", ("database connection", "storage client")),
    (r"cv2", ("OpenCV object",)),
    (r"(re\.)?Match", ("regular expression match",)),
    (r"weakref|weakproxy", ("weak reference", "manager of shared objects")),
    (r"mmap", ("memory map", "open data file")),
    (r"memoryview", ("memory view",)),
    (r"_hashlib|hashlib|HASH|_md5|_sha|zlib|Compress|Decompress", ("compression or hash object",)),
    (r"Struct", ("compiled `struct.Struct`",)),
    (r"SSLContext|SSLSocket", ("SSL context", "storage client", "database connection")),
    (r"epoll|poll|selector", ("selector",)),
    (r"Context(Var)?", ("context variable",)),
    (r"[Pp]arquet|Arrow|OSFile|MemoryMappedFile", ("open Arrow file",)),
    (r"Dataset(Reader|Base)|netCDF4", ("open data file",)),
    (r"Swig|SwigPyObject", ("SimpleITK reader", "OpenCV object")),
    (r"av\.|Video|Audio", ("open video", "OpenCV object")),
    (r"pysam|AlignmentFile|FastaFile|VariantFile", ("open genome file",)),
    (r"OpenSlide|LP__OpenSlide", ("open slide",)),
)
_BY_MESSAGE = {
    "hdf5-handle": ("open HDF5 file",),
    "foreign-handle": ("open slide", "storage client", "TorchScript object", "open video", "open genome file",
                       "open Arrow file", "open data file"),
    "system-entropy": ("system random generator",),
    "lmdb-readers": ("LMDB environment", "LMDB transaction"),
    "archive-read-by-many": ("open zip file", "open tar file"),
    "hdf5-read-by-many": ("open HDF5 file",),
    "connection-used-by-many": ("database connection", "storage client"),
    "resource-of-another-process": ("open file", "font"),
}  # fmt: skip
"""What the object is where the message names no type."""


def handle_of(data: object) -> str:
    """What kind of handle a finding of DLL106 is about, in the words of the table of handles; "" for anything else."""
    if isinstance(data, Held) and isinstance(data.value, ExtInst) and data.value.name in HANDLES:
        return HANDLES[data.value.name].what
    return ""


def handles_for(key: str, pickled: str) -> tuple[str, ...]:
    """The kinds of handles that a message can mean, by its key and by the type that it quotes."""
    if key in _BY_MESSAGE:
        return _BY_MESSAGE[key]
    return next((kinds for form, kinds in _KINDS if pickled and re.search(form, pickled)), ())
