"""Which containers run the project's workers: their batches come back through the container's shared memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import dirname
from typing import TYPE_CHECKING

from dllint.project.loaders.boundaries import Loader
from dllint.project.loaders.worker_counts import Workers

if TYPE_CHECKING:
    from dllint.documents.containers.container import Container
    from dllint.project import Project

_SHELLS = frozenset({"bash", "sh", "zsh"})
_STARTERS = frozenset({"accelerate", "jupyter", "python", "python3", "torchrun", "deepspeed", "sleep", "tail", "exec"})
"""Commands that run whatever the project has, or keep a container for people to work in."""
_SCRIPT = re.compile(r"[\w./\-]+\.py$")
_APPLICATION = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*):\w+$")


class RunContainers:
    """Answers which containers start workers with no shared memory to speak of."""

    def __init__(self, project: Project) -> None:
        self._index = project.index
        self._containers = project.containers
        self._loaders = [loader for loader in project.loaders if project.starts_workers(loader)]

    def starved(self) -> Iterator[tuple[Container, Loader]]:
        """Containers without a setting for shared memory, each with a loader whose workers run there."""
        if not self._containers:
            return
        loaders = [loader for loader in self._loaders if not loader.in_tests]
        loaders.sort(key=lambda loader: loader.workers is not Workers.SOME)
        settled = {_known_as(container) for container in self._containers if container.enough and container.name}
        for container in self._containers:
            if not container.enough and _known_as(container) not in settled:
                loader = self._loader(container, loaders)
                if loader is not None:
                    yield container, loader

    def _loader(self, container: Container, loaders: Sequence[Loader]) -> Loader | None:
        """A loader with workers that runs in a container: of the programs it names, or of the folder it has."""
        programs = list(self._programs(container.words))
        if programs:
            reached = frozenset[str]().union(*(self._index.imports(path) for path in programs if path))
            return next((loader for loader in loaders if loader.path in reached), None)
        if not _runs_anything(container.words):
            return None
        folder = container.folder
        inside = [loader for loader in loaders if folder is not None and _is_below(loader.path, folder)]
        if inside:
            return inside[0]
        foreign = "/" in container.image and not container.image.lstrip("\"'").startswith("$")
        return next(iter(loaders), None) if container.gpu and not foreign and folder is None else None

    def _programs(self, words: Sequence[str]) -> Iterator[str]:
        """The project's programs that a command names; "" for one that the analysis never looked at."""
        for number, word in enumerate(words):
            application = _APPLICATION.match(word)
            if _SCRIPT.match(word):
                yield self._file(word) or ""
            elif application:
                yield self._file(application[1].replace(".", "/") + ".py") or ""
            elif number and words[number - 1] == "-m":
                inner = word.replace(".", "/")
                found = self._file(f"{inner}.py") or self._file(f"{inner}/__main__.py")
                if found:
                    yield found

    def _file(self, name: str) -> str | None:
        """The project's file that a path inside a container means: the one that shares most of its end."""
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        while parts:
            end = "/".join(parts)
            found = [module.path for module in self._index if module.path == end or module.path.endswith(f"/{end}")]
            if found:
                return min(found, key=len)
            del parts[0]
        return None


def _known_as(container: Container) -> tuple[str, str]:
    return dirname(container.path), container.name


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _runs_anything(words: Sequence[str]) -> bool:
    """Whether a command leaves open what is run: none, a shell, a variable, or Python itself."""
    if words[-1:] == ("-c",):
        return False  # what the shell is to run goes on where it was not followed
    left = [word for word in words if not word.startswith("-")]
    while left and left[0].rpartition("/")[2] in _SHELLS:
        del left[0]
    return not left or left[0].startswith("$") or left[0].rpartition("/")[2] in _STARTERS
