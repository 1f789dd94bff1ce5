"""The members of zip and tar archives, read with distrust: nothing is believed before it is counted."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from tarfile import ReadError, TarFile
from typing import IO, Protocol

from dllint.survey.limits import MIB, Broken, Hostile, Limits, TooLarge
from dllint.survey.unpack import Unpacked

_CHUNK = 64 * 1024
_INVALID: type[Exception] = vars(tarfile)["InvalidHeaderError"]
_DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, UnicodeError, ValueError),
    *(NotImplementedError, RuntimeError, OverflowError, IndexError, KeyError),
)
"""What the readers of the standard library raise for archives that are not what they should be."""


class _Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


def unpack(path: str, into: Unpacked, limits: Limits) -> None:
    """Write an archive's files. Raises Refused and Unfit."""
    try:
        with open(path, "rb") as stream:
            if zipfile.is_zipfile(stream):
                _unzip(stream, into, limits)
            else:
                stream.seek(0)
                _untar(stream, into, limits)
    except _DAMAGE as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise Broken(f"the archive is damaged or of an unknown kind: {text[:200]}") from None
    except OSError as error:
        raise Broken(f"the archive cannot be read: {error.strerror or error}") from None


def _unzip(stream: IO[bytes], into: Unpacked, limits: Limits) -> None:
    with zipfile.ZipFile(stream) as archive:
        if len(archive.filelist) > limits.files:
            raise TooLarge(f"it holds more than {limits.files:,} files")
        for info in archive.filelist:
            parts = into.meet(info.orig_filename)
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind in (stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK):
                raise Hostile(f"{info.filename[:80]!r} is a device or a pipe")
            if info.is_dir() or kind == stat.S_IFLNK or not into.wants(parts, info.file_size):
                continue
            if info.flag_bits & 1:
                raise Broken("the archive is encrypted")
            with archive.open(info) as member:
                into.write(parts, info.file_size, _pieces(member))


def _untar(stream: IO[bytes], into: Unpacked, limits: Limits) -> None:
    read = _Counted(_decompressed(stream), limits)
    with tarfile.open(fileobj=read, mode="r|", tarinfo=_Checked) as archive:
        for member in archive:
            parts = into.meet(member.name)
            if member.ischr() or member.isblk() or member.isfifo():
                raise Hostile(f"{member.name[:80]!r} is a device or a pipe")
            if member.islnk():
                target = into.content(into.meet(member.linkname))
                if target is not None and into.wants(parts, len(target)):
                    into.write(parts, len(target), [target], again=True)
            elif member.isreg() and into.wants(parts, member.size):
                content = archive.extractfile(member)
                assert content is not None
                into.write(parts, member.size, _pieces(content), again=True)


class _Checked(tarfile.TarInfo):
    """A member of an archive. A damaged header ends the archive with an error, not silently, as behind others."""

    @classmethod
    def fromtarfile(cls, tarfile: TarFile) -> _Checked:
        try:
            return super().fromtarfile(tarfile)
        except _INVALID as error:
            raise ReadError(str(error)) from None


def _decompressed(stream: IO[bytes]) -> _Readable:
    head = stream.read(8)
    stream.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream)
    if head.startswith(b"BZh"):
        return bz2.BZ2File(stream)
    if head.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile(stream)
    return stream


def _pieces(stream: _Readable) -> Iterator[bytes]:
    while piece := stream.read(_CHUNK):
        yield piece


class _Counted(io.RawIOBase):
    """A stream that ends with an error when more comes out of it than the limits allow."""

    def __init__(self, stream: _Readable, limits: Limits) -> None:
        self._stream = stream
        self._limits = limits
        self._left = limits.unpacked * MIB

    def read(self, size: int = -1, /) -> bytes:
        """Some more; all of it is never asked for."""
        wanted = self._left + 1 if size < 0 else min(size, self._left + 1)
        data = self._stream.read(wanted)
        self._left -= len(data)
        if self._left < 0:
            raise TooLarge(f"unpacked, it takes more than {self._limits.unpacked} MiB")
        return data
