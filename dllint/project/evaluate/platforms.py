"""The answers that a program gets about the operating system it runs on."""

from __future__ import annotations

from dllint.project.evaluate.abstract_values import Const, Ext, ExtInst, Value

_NAMES = {
    "linux": {"sys.platform": "linux", "os.name": "posix"},
    "macos": {"sys.platform": "darwin", "os.name": "posix"},
    "windows": {"sys.platform": "win32", "os.name": "nt"},
}
_CALLS = {
    "linux": {"platform.system": "Linux", "platform.system.lower": "linux"},
    "macos": {"platform.system": "Darwin", "platform.system.lower": "darwin"},
    "windows": {"platform.system": "Windows", "platform.system.lower": "windows"},
}


def on_platform(value: Value, platform: str) -> Value:
    """A value as it is on a platform; one that says nothing of platforms stays itself."""
    match value:
        case Ext(name=name):
            told = _NAMES[platform].get(name)
        case ExtInst(name=name):
            told = _CALLS[platform].get(name)
        case _:
            told = None
    return value if told is None else Const(told, "str")
