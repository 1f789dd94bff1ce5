"""The answers that a program gets about the operating system it runs on, and that it gives: CUDA isn't on macOS."""

from __future__ import annotations

from dllint.project.evaluate.abstract_values import Const, Ext, ExtInst, Value

WITH_CUDA = "cuda"
"""Any platform, if it has CUDA: of none is that known."""
_NAMES: dict[str, dict[str, str]] = {
    "linux": {"sys.platform": "linux", "os.name": "posix"},
    "macos": {"sys.platform": "darwin", "os.name": "posix"},
    "windows": {"sys.platform": "win32", "os.name": "nt"},
    WITH_CUDA: {},
}
_CALLS: dict[str, dict[str, str | int]] = {
    "linux": {"platform.system": "Linux", "platform.system.lower": "linux"},
    "macos": {
        "platform.system": "Darwin",
        "platform.system.lower": "darwin",
        "torch.cuda.is_available": False,  # its builds of torch have no CUDA
        "torch.cuda.device_count": 0,
    },
    "windows": {"platform.system": "Windows", "platform.system.lower": "windows"},
    WITH_CUDA: {"torch.cuda.is_available": True},
}


TOLD = {
    name: frozenset(platform for platform, told in table.items() if name in told and platform != WITH_CUDA)
    for table in (_NAMES, _CALLS)
    for name in {name for told in table.values() for name in told}
}
"""What programs ask about the operating system, by its name, with the platforms that answer in their own way."""


def on_platform(value: Value, platform: str) -> Value:
    """A value as it is on a platform; one that says nothing of platforms stays itself."""
    match value:
        case Ext(name=name):
            told: str | int | None = _NAMES[platform].get(name)
        case ExtInst(name=name):
            told = _CALLS[platform].get(name)
        case _:
            told = None
    return value if told is None else Const(told, type(told).__name__)
