"""A git repository's files at a commit, without a work tree. Nothing that the repository configures is run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from typing import IO, NamedTuple

from dllint import sealed
from dllint.survey.limits import Broken, Unfit

_LINK, _MODULE = b"120000", b"160000"
_CHUNK = 64 * 1024


class Blob(NamedTuple):
    """A file of a commit. `name` as git has it; a size below zero: the repository, a partial clone, lacks it."""

    name: str
    digest: str
    size: int


def bare(path: str) -> bool:
    """Whether a folder is a bare repository."""
    return os.path.isfile(os.path.join(path, "HEAD")) and all(
        os.path.isdir(os.path.join(path, name)) for name in ("objects", "refs")
    )


def folder(path: str) -> str:
    """The git folder of a repository, bare or with a work tree; "" where there is none."""
    inner = os.path.join(path, ".git")
    return next((place for place in (path, inner) if bare(place)), "")


def commit(path: str, revision: str = "") -> str:
    """The commit that a revision (default: HEAD) names. Raises Broken and Unfit."""
    wanted = f"{revision or 'HEAD'}^{{commit}}"
    told = _run(path, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
    # Before git 2.30, `--end-of-options` is echoed.
    return told.split()[-1].decode("ascii", "replace")


def blobs(path: str, commit: str) -> Iterator[Blob]:
    """The files of a commit; links and submodules are none. Raises Broken and Unfit."""
    for entry in _run(path, "ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0"):
        facts, _, name = entry.partition(b"\t")
        parts = facts.split()
        if len(parts) == 4 and parts[0] not in (_LINK, _MODULE):
            size = int(parts[3]) if parts[3].isdigit() else -1
            yield Blob(os.fsdecode(name), parts[2].decode("ascii", "replace"), size)


def contents(path: str, wanted: list[Blob]) -> Iterator[tuple[Blob, Iterator[bytes]]]:
    """The contents of blobs in pieces, each of which must be read to its end. Raises Broken and Unfit."""
    with _start(path, "cat-file", "--batch") as process:
        assert process.stdin and process.stdout
        try:
            for blob in wanted:
                process.stdin.write(f"{blob.digest}\n".encode())
                process.stdin.flush()
                head = process.stdout.readline().split()
                if len(head) != 3 or int(head[2]) != blob.size:
                    raise Broken(f"{blob.name} is missing from the repository")
                yield blob, _pieces(process.stdout, blob)
                process.stdout.read(1)
        except BrokenPipeError:
            raise Broken("the repository is damaged") from None
        finally:
            process.kill()


def _pieces(stream: IO[bytes], blob: Blob) -> Iterator[bytes]:
    left = blob.size
    while left:
        piece = stream.read(min(left, _CHUNK))
        if not piece:
            raise Broken(f"{blob.name} is damaged in the repository")
        left -= len(piece)
        yield piece


def _run(path: str, *arguments: str) -> bytes:
    with _start(path, *arguments) as process:
        told, _ = process.communicate()
    if process.returncode:
        raise Broken(f"git {arguments[0]}: no such commit, or the repository is damaged")
    return told


def _start(path: str, *arguments: str) -> subprocess.Popen[bytes]:
    place = folder(path)
    if not place:
        raise Broken("no git repository")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    alone = {
        "GIT_DIR": place,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
    try:
        return subprocess.Popen(
            ["git", *sealed.OPTIONS, *arguments],
            env={**kept, **sealed.ENVIRONMENT, **alone},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise Unfit(f"git cannot be run: {error.strerror or error}") from None
