"""Archives that are out to harm whoever unpacks them: each kind with the outcomes that are right for it.

A kind writes its archive to the path that it is given. The program in most of them is fine, so that one that is
analysed after all shows in its outcome.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

PROGRAM = b"import torch\n"
MIB = 1024 * 1024
Maker = Callable[[Path], None]


class Kind(NamedTuple):
    """A kind of archive. `outcome` is what a survey with small limits must say; "ok": what is harmful is left out."""

    name: str
    suffix: str
    outcome: str
    make: Maker


KINDS: list[Kind] = []


def kind(name: str, suffix: str, outcome: str) -> Callable[[Maker], Maker]:
    """Enter a maker into the list."""

    def enter(make: Maker) -> Maker:
        KINDS.append(Kind(name, suffix, outcome, make))
        return make

    return enter


def _zip(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.py", PROGRAM)
        for name, content in members:
            archive.writestr(name, content)


def _member(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def _tar(path: Path, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w") -> None:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for info, content in ((_file("a.py", PROGRAM), PROGRAM), *members):
            archive.addfile(info, io.BytesIO(content))


def _file(name: str, content: bytes = b"") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    return info


def _special(name: str, form: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = form, target
    return info, b""


def _patched(path: Path, signature: bytes, offset: int, value: bytes, last: bool = True) -> None:
    """Change bytes of a zip's record."""
    data = bytearray(path.read_bytes())
    at = (data.rindex if last else data.index)(signature) + offset
    data[at : at + len(value)] = value
    path.write_bytes(data)


_CENTRAL, _LOCAL, _END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"


# Names that lead elsewhere.


def _named(name: str, written: str, suffix: str) -> None:
    def make(path: Path) -> None:
        if suffix == ".zip":
            _zip(path, (written, PROGRAM))
        else:
            _tar(path, (_file(written, PROGRAM), PROGRAM))

    kind(f"{name} in a {suffix[1:]}", suffix, "hostile")(make)


for _suffix in (".zip", ".tar"):
    _named("parent folder", "../escaped.py", _suffix)
    _named("parent folder further in", "pkg/../../escaped.py", _suffix)
    _named("absolute name", "/tmp/escaped-from-a-survey.py", _suffix)
    _named("backslashes", "..\\..\\escaped.py", _suffix)
    _named("drive", "C:\\escaped.py", _suffix)


@kind("NUL in a name", ".zip", "hostile")
def _(path: Path) -> None:
    _zip(path, ("x" * 4 + ".py", PROGRAM))
    path.write_bytes(path.read_bytes().replace(b"xxxx.py", b"xx\0/.py"))


# Links.


@kind("link out of the folder, then through it", ".tar", "ok")
def _(path: Path) -> None:
    through = (_file("out/escaped.py", PROGRAM), PROGRAM)
    _tar(path, _special("out", tarfile.SYMTYPE, "../.."), through)


@kind("absolute link", ".tar", "ok")
def _(path: Path) -> None:
    _tar(path, _special("passwords.py", tarfile.SYMTYPE, "/etc/passwd"))


@kind("links in a circle", ".tar", "ok")
def _(path: Path) -> None:
    _tar(path, _special("x.py", tarfile.SYMTYPE, "y.py"), _special("y.py", tarfile.SYMTYPE, "x.py"))


@kind("link to its own folder", ".tar", "ok")
def _(path: Path) -> None:
    _tar(path, _special("again", tarfile.SYMTYPE, "."))


@kind("link out of the folder in a zip", ".zip", "ok")
def _(path: Path) -> None:
    _zip(path, (_member("passwords.py", 0o120777), b"/etc/passwd"))


@kind("hard link out of the folder", ".tar", "hostile")
def _(path: Path) -> None:
    _tar(path, _special("passwords.py", tarfile.LNKTYPE, "/etc/passwd"))


@kind("hard link up", ".tar", "hostile")
def _(path: Path) -> None:
    _tar(path, _special("passwords.py", tarfile.LNKTYPE, "../../../../etc/passwd"))


@kind("hard link to nothing", ".tar", "ok")
def _(path: Path) -> None:
    _tar(path, _special("b.py", tarfile.LNKTYPE, "nothing.py"))


@kind("hard link to itself", ".tar", "ok")
def _(path: Path) -> None:
    _tar(path, _special("b.py", tarfile.LNKTYPE, "b.py"))


@kind("many hard links to a large file", ".tar", "over-size")
def _(path: Path) -> None:
    large = b"#" * (2 * MIB)
    links = [_special(f"l{number}.py", tarfile.LNKTYPE, "large.py") for number in range(50)]
    _tar(path, (_file("large.py", large), large), *links)


# What is no file.


@kind("character device", ".tar", "hostile")
def _(path: Path) -> None:
    _tar(path, _special("zero.py", tarfile.CHRTYPE))


@kind("block device", ".tar", "hostile")
def _(path: Path) -> None:
    _tar(path, _special("disk.py", tarfile.BLKTYPE))


@kind("pipe", ".tar", "hostile")
def _(path: Path) -> None:
    _tar(path, _special("pipe.py", tarfile.FIFOTYPE))


@kind("pipe in a zip", ".zip", "hostile")
def _(path: Path) -> None:
    _zip(path, (_member("pipe.py", 0o010644), b""))


@kind("device in a zip", ".zip", "hostile")
def _(path: Path) -> None:
    _zip(path, (_member("zero.py", 0o020666), b""))


# Bombs.


@kind("zip bomb", ".zip", "over-size")
def _(path: Path) -> None:
    _zip(path, ("bomb.py", b"#" * (40 * MIB)))


@kind("zip bomb in many files", ".zip", "over-size")
def _(path: Path) -> None:
    _zip(path, *((f"b{number}.py", b"#" * MIB) for number in range(40)))


@kind("zip bomb in a data file", ".zip", "ok")
def _(path: Path) -> None:
    _zip(path, ("weights.bin", b"#" * (40 * MIB)))


@kind("zip in a zip in a zip", ".zip", "ok")
def _(path: Path) -> None:
    inner = b"#" * (40 * MIB)
    for depth in range(3):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(1 + 4 * bool(depth)):
                archive.writestr(f"{depth}-{copy}.zip", inner)
        inner = stream.getvalue()
    _zip(path, ("inner.zip", inner))


@kind("overlapping members", ".zip", "broken over-size")
def _(path: Path) -> None:
    """One compressed megabyte that every entry of the directory claims."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bbb.py", b"#" * MIB)
    data = path.read_bytes()
    start, end = data.index(_CENTRAL), data.index(_END)
    entries = b"".join(data[start:end].replace(b"bbb.py", b"%03d.py" % number) for number in range(40))
    tail = struct.pack("<4sHHHHIIH", _END, 0, 0, 40, 40, len(entries), start, 0)
    path.write_bytes(data[:start] + entries + tail)


@kind("gzip bomb", ".tar.gz", "over-size")
def _(path: Path) -> None:
    _tar(path, (_file("bomb.bin", bytes(60 * MIB)), bytes(60 * MIB)), mode="w:gz")


@kind("bzip2 bomb", ".tar.bz2", "over-size")
def _(path: Path) -> None:
    _tar(path, (_file("bomb.bin", bytes(60 * MIB)), bytes(60 * MIB)), mode="w:bz2")


@kind("xz bomb", ".tar.xz", "over-size")
def _(path: Path) -> None:
    _tar(path, (_file("bomb.bin", bytes(60 * MIB)), bytes(60 * MIB)), mode="w:xz")


@kind("xz that asks for much memory", ".tar.xz", "broken over-memory ok")
def _(path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(_file("a.py", PROGRAM), io.BytesIO(PROGRAM))
    small = bytearray(lzma.compress(stream.getvalue(), preset=0))
    # The header's byte for the size of the dictionary (4 GiB), and the header's checksum.
    small[16] = 40
    small[20:24] = struct.pack("<I", zlib.crc32(small[12:20]))
    path.write_bytes(small)


@kind("gzip in gzip", ".tar.gz", "broken")
def _(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.compress(bytes(MIB))))


@kind("many small files", ".tar", "over-size")
def _(path: Path) -> None:
    _tar(path, *((_file(f"{number}.txt"), b"") for number in range(3000)))


@kind("many small files in a zip", ".zip", "over-size")
def _(path: Path) -> None:
    _zip(path, *((f"{number}.txt", b"") for number in range(3000)))


@kind("deep folders", ".tar", "over-size")
def _(path: Path) -> None:
    _tar(path, (_file("d/" * 2000 + "x.py", PROGRAM), PROGRAM))


@kind("huge name", ".tar", "broken")
def _(path: Path) -> None:
    _tar(path, (_file("n" * 100_000 + ".py", PROGRAM), PROGRAM))


@kind("huge name in a zip", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("n" * 60_000 + ".py", PROGRAM))


@kind("huge header", ".tar.gz", "over-size over-memory broken")
def _(path: Path) -> None:
    info = _file("x.py", PROGRAM)
    info.pax_headers = {"comment": "c" * (60 * MIB)}
    _tar(path, (info, PROGRAM), mode="w:gz")


@kind("sparse file of a terabyte", ".tar", "over-size broken")
def _(path: Path) -> None:
    info = _file("sparse.py")
    info.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.name": "sparse.py",
        "GNU.sparse.size": str(2**40),
        "GNU.sparse.map": "0,0",
    }
    _tar(path, (info, b""))


# Names that meet.


@kind("one name twice", ".zip", "hostile")
def _(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _zip(path, ("a.py", b"import os\n"))


@kind("one name twice, by a detour", ".zip", "hostile")
def _(path: Path) -> None:
    _zip(path, ("./a.py", b"import os\n"))


@kind("names that differ in case", ".zip", "ok" if os.path.normcase("A") == "A" else "broken")
def _(path: Path) -> None:
    _zip(path, ("A.py", PROGRAM))


@kind("a file that is also a folder", ".tar", "broken")
def _(path: Path) -> None:
    _tar(path, (_file("a.py/b.py", PROGRAM), PROGRAM))


@kind("a folder that is also a file", ".tar", "broken")
def _(path: Path) -> None:
    _tar(path, (_file("b.py/c.py", PROGRAM), PROGRAM), (_file("b.py", PROGRAM), PROGRAM))


# Lies and damage.


@kind("larger than it says", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("b.py", b"#" * 5000))
    _patched(path, _CENTRAL, 24, struct.pack("<I", 10))


@kind("smaller than it says", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("b.py", b"#" * 5000))
    _patched(path, _CENTRAL, 24, struct.pack("<I", 6000))


@kind("wrong checksum", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("b.py", b"#" * 5000))
    _patched(path, _CENTRAL, 16, b"\1\2\3\4")


@kind("zip64 size", ".zip", "over-size broken")
def _(path: Path) -> None:
    """An entry that says that it is an exabyte."""
    info = zipfile.ZipInfo("b.py")
    _zip(path, (info, PROGRAM))
    data = path.read_bytes()
    at = data.rindex(_CENTRAL)
    end = data.index(_END)
    entry = bytearray(data[at:end])
    entry[24:28] = b"\xff" * 4
    extra = struct.pack("<HHQ", 1, 8, 2**60)
    entry[30:32] = struct.pack("<H", len(extra))
    entry += extra
    tail = bytearray(data[end:])
    size = struct.unpack("<I", tail[12:16])[0] + len(extra)
    tail[12:16] = struct.pack("<I", size)
    path.write_bytes(data[:at] + entry + tail)


@kind("more entries than there are", ".zip", "broken ok")
def _(path: Path) -> None:
    _zip(path)
    _patched(path, _END, 8, b"\xff\xfe\xff\xfe")


@kind("directory elsewhere", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path)
    _patched(path, _END, 16, b"\xff\xff\xff\x7f")


@kind("member elsewhere", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("b.py", PROGRAM))
    _patched(path, _CENTRAL, 42, b"\xff\xff\xff\x7f")


@kind("unknown compression", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("b.py", PROGRAM))
    _patched(path, _CENTRAL, 10, b"\x63\0")
    _patched(path, _LOCAL, 8, b"\x63\0")


@kind("encrypted", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("b.py", PROGRAM))
    _patched(path, _CENTRAL, 8, b"\1\0")
    _patched(path, _LOCAL, 6, b"\1\0")


@kind("truncated zip", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("b.py", os.urandom(5000)))
    path.write_bytes(path.read_bytes()[:-2000])


@kind("truncated tar", ".tar", "broken")
def _(path: Path) -> None:
    _tar(path, (_file("b.py", b"#" * 5000), b"#" * 5000))
    path.write_bytes(path.read_bytes()[:4000])


@kind("truncated gzip", ".tar.gz", "broken")
def _(path: Path) -> None:
    noise = os.urandom(50_000)
    _tar(path, (_file("b.py", noise), noise), mode="w:gz")
    path.write_bytes(path.read_bytes()[:20_000])


@kind("negative size", ".tar", "broken")
def _(path: Path) -> None:
    info = _file("b.py", PROGRAM)
    _tar(path, (info, PROGRAM))
    data = bytearray(path.read_bytes())
    header = 1024
    data[header + 124 : header + 136] = b"\xff" * 12
    data[header + 148 : header + 156] = b" " * 8
    data[header + 148 : header + 156] = b"%06o\0 " % sum(data[header : header + 512])
    path.write_bytes(data)


@kind("nothing at all", ".zip", "broken")
def _(path: Path) -> None:
    path.write_bytes(b"")


@kind("noise", ".tar.gz", "broken")
def _(path: Path) -> None:
    path.write_bytes(os.urandom(10_000))


# What is read.


@kind("a configuration that is none", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("dllint.toml", b"[[["))


@kind("a configuration that extends itself forever", ".zip", "broken")
def _(path: Path) -> None:
    _zip(path, ("dllint.toml", b'extend = "x.toml"'), ("x.toml", b'extend = "dllint.toml"'))


@kind("a git folder of its own", ".zip", "ok")
def _(path: Path) -> None:
    _zip(path, (".git/config", b"[core]\nfsmonitor = touch /tmp/escaped-from-a-survey.py\n"))


@kind("code that no parser likes", ".zip", "ok")
def _(path: Path) -> None:
    deep = b"import torch\nfrom torch.utils.data import DataLoader\nx = " + b"(" * 50_000 + b")" * 50_000
    _zip(path, ("deep.py", deep))
