"""All projects that an editor has open, and which of them a file belongs to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

import msgspec

from dllint import config, files
from dllint.config import ConfigError
from dllint.editor.workbench import View, Workbench
from dllint.engine.session import Request
from dllint.files import is_asking, posix
from dllint.reduce import cores
from dllint.registry import Layer, RegistryError, UnknownRule

PROBLEMS = (ConfigError, RegistryError, UnknownRule)
"""What a person must correct before a project can be checked."""


class Settings(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What a user can set in the editor, in addition to the configuration file."""

    configuration: str = ""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class Desk:
    """The workbenches of an editor, made when a file of theirs is opened. Used by one thread."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.folders: tuple[str, ...] = ()
        self.problems: dict[str, str] = {}
        """Folders that cannot be checked, and why."""
        self._benches: dict[str, Workbench] = {}
        self._buffers: dict[str, bytes] = {}
        self._homes: dict[str, str] = {}

    def put(self, place: str, data: bytes | None) -> None:
        """A buffer in place of a file; None: the file itself again."""
        if data is None:
            self._buffers.pop(place, None)
        else:
            self._buffers[place] = data
        found = self.find(place, opened=True)
        if found is not None:
            found[0].put(found[1], data)

    def find(self, place: str, opened: bool = False) -> tuple[Workbench, str] | None:
        """The project of a file and its path there; None where it cannot be checked. A new project may be opened."""
        folder = os.path.dirname(place)
        if folder not in self._homes and opened:
            self._homes[folder] = self._home(place)
        home = self._homes.get(folder) or self._above(place)
        bench = self._bench(home) if home else None
        return (bench, posix(os.path.relpath(place, bench.root))) if bench is not None else None

    def _above(self, place: str) -> str:
        """The nearest open project that holds a file."""
        return max((home for home in self._benches if _holds(home, place)), key=len, default="")

    def _home(self, place: str) -> str:
        """The root of the project of a file: as configured, else the editor's folder."""
        try:
            root = config.load((place,), self.settings.configuration).root
        except PROBLEMS as error:
            self.problems[os.path.dirname(place)] = str(error)
            return ""
        around = (folder for folder in self.folders if _holds(folder, place))
        return root if config.marked(root) else max(around, key=len, default=root)

    def _bench(self, home: str) -> Workbench | None:
        if home not in self._benches and home not in self.problems:
            if not os.path.isdir(home):
                return None  # it is gone, and the folder above isn't a project
            settings = self.settings
            layer = Layer(settings.select, settings.extend_select, settings.ignore)
            shown = any(home == folder or _holds(folder, home) for folder in self.folders)
            request = Request(
                paths=(home,),
                layer=layer,
                config=settings.configuration,
                beside=not shown,
                cache=True,
                jobs=cores(),
            )
            try:
                bench = self._benches[home] = Workbench(request)
            except PROBLEMS as error:
                self.problems[home] = str(error)
                return None
            for place, data in self._buffers.items():
                if _holds(home, place) and self._homes.get(os.path.dirname(place)) == home:
                    bench.put(posix(os.path.relpath(place, home)), data)
        return self._benches.get(home)

    def open_folders(self, folders: Iterable[str]) -> None:
        """The folders that the editor shows are projects, too."""
        self.folders = tuple(folders)
        for folder in self.folders:
            home = self._homes[folder] = self._home(os.path.join(folder, "_"))
            for inner in _projects(home) if home else ():
                self._bench(inner)

    def changed(self, places: Sequence[str]) -> None:
        """Files on disk may have changed, came or went. What is only asked for options, the next view asks again."""
        places = [place for place in places if not is_asking(os.path.basename(place))]
        if not places:
            return
        for bench in self._benches.values():
            bench.touch(posix(os.path.relpath(place, bench.root)) for place in places)
        self.refresh()

    def saved(self, place: str) -> None:
        """A buffer is what is on disk; other files may be new, too."""
        found = self.find(place)
        if found is not None:
            found[0].saved(found[1])
        self.refresh()

    def refresh(self) -> None:
        """Read all files again; start over if a configuration changed."""
        try:
            unchanged = not self.problems and False not in [bench.refresh() for bench in self._benches.values()]
        except PROBLEMS:
            unchanged = False
        if not unchanged:
            self.begin_anew()

    def begin_anew(self) -> None:
        """Forget all projects and open them again."""
        self._benches.clear()
        self._homes.clear()
        self.problems.clear()
        self.open_folders(self.folders)
        for place, data in list(self._buffers.items()):
            self.put(place, data)

    def views(self, exact: bool = False) -> list[View]:
        """What is known of every project."""
        return [bench.view(exact) for bench in self._benches.values()]

    def view(self, place: str, exact: bool = False) -> tuple[View, str] | None:
        """What is known of the project of a file, and the file's path there."""
        found = self.find(place)
        return (found[0].view(exact), found[1]) if found is not None else None

    def told(self) -> str:
        """What is open, for reports of errors."""
        lines = [f"{bench.root}: {bench.session.config.file or 'no configuration'}" for bench in self._benches.values()]
        lines += [f"{home}: {why}" for home, why in self.problems.items()]
        lines += [f"buffer {place}" for place in sorted(self._buffers)]
        return "\n".join([f"Python {sys.version}", *lines])


def _projects(home: str) -> list[str]:
    """The projects that a folder holds: itself, unless it is one of projects only."""
    below = files.projects(home, (home,)) if config.homeless((home,)) else {}
    return [*below] or [home]


def _holds(folder: str, place: str) -> bool:
    return place.startswith(os.path.join(folder, ""))
