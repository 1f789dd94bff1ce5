"""What a source may take, and the ways in which it fails before it is analyzed."""

from __future__ import annotations

import msgspec

from dllint.survey.outcome import Kind

MIB = 1024 * 1024


class Limits(msgspec.Struct, frozen=True):
    """The limits of one source. Memory and sizes in MiB."""

    seconds: float = 120
    memory: int = 2048
    unpacked: int = 1024
    """What an archive may hold, unpacked; also what of it is decompressed at all."""
    files: int = 100_000
    depth: int = 100
    """Folders in folders."""


class Refused(Exception):
    """A source that is not analyzed; the message says why."""

    kind: Kind


class Broken(Refused):
    """It cannot be read: missing, damaged, encrypted, misconfigured."""

    kind = "broken"


class Hostile(Refused):
    """It asks for what no source needs: places outside its folder, devices, two files of one name."""

    kind = "hostile"


class TooLarge(Refused):
    """It holds more than the limits allow."""

    kind = "over-size"


class Unfit(Exception):
    """This machine cannot do the work (no room, no git): nothing that the source is to blame for."""
