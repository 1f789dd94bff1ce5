"""Where in the project the names and frames of a log are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from dllint.model.facts import Function
from dllint.project import Project
from dllint.runtime.explain.reading import Seen
from dllint.runtime.explain.scene import Frame
from dllint.source import Span

MAIN = ("__main__", "__mp_main__")
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib/python3|/Lib/(?!.*site-packages)|^<|importlib")
_REPRESENTED = re.compile(r"^<(?:function |class ')?(?P<name>.+?)(?: object)?(?: at 0x\w*)?(?:'?>)?$")


class Place(NamedTuple):
    """A definition in the project. The span is where findings about it point."""

    path: str
    span: Span
    whole: Span
    what: str
    """`lambda`, `function`, `class` or `namedtuple`."""


class InProject(NamedTuple):
    """A frame of a log with the project's file that it is in."""

    path: str
    frame: Frame


class Places:
    """The definitions and files of a project, by the names that logs have for them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._files: dict[str, list[str]] = defaultdict(list)
        for path in project.models:
            self._files[path.rpartition("/")[2]].append(path)

    def frames(self, frames: Iterable[Frame]) -> list[InProject]:
        """The frames in the project, whatever machine their paths are from."""
        found = ((frame, self._file(frame.path)) for frame in frames)
        return [InProject(path, frame) for frame, path in found if path]

    def _file(self, path: str) -> str:
        """The project's file with the longest common tail; a name alone counts where only one file has it."""
        parts = path.split("/")
        rated = []
        for own in self._files.get(parts[-1], ()):
            tail = own.split("/")
            same = len(_common(tail[::-1], parts[::-1]))
            whole = same == len(tail)
            rated.append((same, whole, own))
        rated.sort(reverse=True)
        if not rated or (len(rated) > 1 and rated[0][:2] == rated[1][:2]):
            return ""
        same, whole, own = rated[0]
        installed = _INSTALLED.search(path) is not None
        return own if (whole and (same > 1 or not installed)) or (same > 1 and not installed) else ""

    def named(self, seen: Seen) -> list[Place]:
        """What a message's quoted name can mean: exactly, or else by its last parts, after a module."""
        name = plain(seen.name)
        if not name:
            return []
        every = [*self._definitions()]
        exact = [place for qualname, place in every if qualname == name]
        if exact:
            return exact
        within = [(len(qualname), place) for qualname, place in every if name.endswith(f".{qualname}")]
        longest = max((length for length, _ in within), default=0)
        if longest:
            return [place for length, place in within if length == longest]
        return [place for qualname, place in every if "." in name and qualname.endswith(f".{name}")]

    def _definitions(self) -> Iterator[tuple[str, Place]]:
        for path, model in self.project.models.items():
            for function in model.functions:
                yield function.qualname, _function(path, function)
            for klass in model.classes:
                yield klass.qualname, Place(path, klass.header, klass.span, "class")
            yield from self._namedtuples(path)

    def _namedtuples(self, path: str) -> Iterator[tuple[str, Place]]:
        calls = self.project.index.modules[path].calls
        for site in (*calls.get("namedtuple", ()), *calls.get("NamedTuple", ())):
            typename = site.expr.args[1].value if len(site.expr.args) > 1 else None
            if isinstance(typename, str):
                yield typename, Place(path, site.expr.span, site.expr.span, "namedtuple")

    def enclosing(self, path: str, span: Span) -> str:
        """The name of the innermost function around a place, as tracebacks have it."""
        around = [
            function
            for function in self.project.models[path].functions
            if function.span.start <= span.start < function.span.end
        ]
        return max(around, key=lambda function: function.span.start).name if around else "<module>"

    def in_module(self, path: str, module: str, seen: Seen) -> bool:
        """Whether a file is the module that a message names; for the main one, the script that the log shows."""
        if module in MAIN:
            shown = seen.found.get("any", "").replace("\\", "/")
            scripts = [item.path for item in self.frames(seen.frames) if item.frame.function == "<module>"]
            return path == self._file(shown) if shown else path in scripts[:1]
        stem = path.removesuffix(".py").removesuffix("/__init__")
        return bool(module) and f"/{stem}".endswith("/" + module.replace(".", "/"))


def _function(path: str, function: Function) -> Place:
    if function.kind == "lambda":
        return Place(path, function.span, function.span, "lambda")
    return Place(path, function.header, function.span, "function")


def _common(left: list[str], right: list[str]) -> list[str]:
    """What two lists begin with."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return [one for one, _ in pairs]


def plain(name: str) -> str:
    """A name without what repr puts around it: `<function f at 0x7f>`, `<class 'm.C'>`."""
    if name == "<lambda>" or not name.startswith("<"):
        return name
    found = _REPRESENTED.match(name)
    return found["name"] if found else name
