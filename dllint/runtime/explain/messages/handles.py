"""What shared files and connections say when forked workers use one that the main process opened."""

from __future__ import annotations

from dllint.runtime.explain.message import Message

FORK = "fork: Linux to Python 3.13"
REOPEN = "Open it in the worker, on first use: an `__init__`, `__len__` or `ds[0]` that opens it is too early."

HANDLES = (
    Message(
        key="lmdb-readers",
        wordings=("MDB_READERS_FULL", "MDB_BAD_RSLOT", "mdb_txn_begin: MDB_"),
        happened="Forked workers use an LMDB environment that the main process opened.",
        where=FORK,
        look=f"{REOPEN} With `readonly=True, lock=False` it works.",
        source="LMDB, run with py-lmdb 3.0 and four forked workers",
        rules=("DLL106",),
    ),
    Message(
        key="archive-read-by-many",
        wordings=(
            "Bad CRC-32 for file",
            "BadZipFile",
            "tarfile.ReadError",
            "invalid distance too far back",
            "incorrect data check",
            "invalid stored block lengths",
        ),
        happened="Several forked workers read through one open archive and move each other's position. If only the "
        "main process reads it, the archive is damaged.",
        where=FORK,
        look=REOPEN,
        source="CPython zipfile, tarfile, zlib; 4607 exceptions in 32,000 reads here",
        rules=("DLL106",),
        checks=("probe",),
    ),
    Message(
        key="hdf5-read-by-many",
        wordings=(
            "Can't read data",
            "Can't synchronously read data",
            "wrong B-tree signature",
            "bad object header version number",
            "unable to lock file, errno = {number}",
        ),
        happened="HDF5 could not read or lock its file. Forked workers that share one open file can see this; so can "
        "programs that write to it, or network file systems without locks.",
        where=FORK,
        look=f"{REOPEN} `HDF5_USE_FILE_LOCKING=FALSE` is for file systems without locks.",
        source="HDF5's error stack through h5py; not reproduced here with h5py 3.16",
        rules=("DLL106",),
        checks=("probe",),
    ),
    Message(
        key="connection-used-by-many",
        wordings=(
            "decryption failed or bad record mac",
            "SSL SYSCALL error: EOF detected",
            "lost synchronization with server",
            "SQLite objects created in a thread can only be used in that same thread",
            "Packet sequence number wrong",
        ),
        happened="Several processes use one connection to a server or database, and read each other's answers.",
        where=FORK,
        look=REOPEN,
        source="OpenSSL, libpq, PyMySQL, CPython's sqlite3; read, not run",
        rules=("DLL106",),
    ),
)
