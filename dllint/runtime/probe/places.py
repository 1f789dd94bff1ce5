"""Where things of the probed project are written: code by its own word, attributes by the lines that store them."""

from __future__ import annotations

import ast
import functools
import os
import site
import sys
import sysconfig
import types
from collections.abc import Iterator

from dllint.runtime.probe.messages import Place

_SITES = [*site.getsitepackages(), site.getusersitepackages()] if hasattr(site, "getsitepackages") else []
_FOLDERS = {*_SITES, *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))}
LIBRARIES = tuple(sorted((os.path.realpath(folder) + os.sep for folder in _FOLDERS), key=len, reverse=True))
"""Where libraries are, the innermost folders first."""
OURS = os.path.realpath(os.path.dirname(os.path.dirname(os.path.dirname(__file__)))) + os.sep


def own(path: str) -> bool:
    """Whether a file belongs to a user's project, not to a library or dllint."""
    place = os.path.realpath(path)
    return os.path.isfile(place) and not place.startswith((*LIBRARIES, OURS))


def place(path: str, line: int, last: int = 0) -> Place:
    """A line, its file as seen from where libraries are, or from the working directory, with forward slashes."""
    shown = os.path.realpath(path)
    for folder in (*LIBRARIES, os.path.realpath(os.getcwd()) + os.sep):
        if shown.startswith(folder):
            shown = shown[len(folder) :]
            break
    return Place(shown.replace(os.sep, "/"), line, last)


def of_code(code: types.CodeType) -> Place:
    lines = [line for _, _, line in code.co_lines() if line]
    return place(code.co_filename, code.co_firstlineno, max(lines, default=code.co_firstlineno))


def of_class(kind: type) -> Place | None:
    """The class statement, or the line that names what `namedtuple` and its like made."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not file or not file.endswith(".py"):
        return None
    node = _classes(file).get(kind.__qualname__)
    if node is not None:
        return place(file, node.lineno, node.end_lineno or node.lineno)
    line = next((line for text, line in _strings(file) if text == kind.__name__), 0)
    return place(file, line) if line else None


def stored(owner: object, attribute: str) -> Iterator[Place]:
    """The lines of the owner's class and of its bases that assign an attribute."""
    for kind in type(owner).__mro__:
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        if file and file.endswith(".py"):
            node = _classes(file).get(kind.__qualname__)
            for line, last in _assigned(node, attribute) if node is not None else ():
                yield place(file, line, last)


def _assigned(node: ast.ClassDef, attribute: str) -> Iterator[tuple[int, int]]:
    for part in ast.walk(node):
        targets: list[ast.expr] = []
        if isinstance(part, ast.Assign):
            targets = part.targets
        elif isinstance(part, ast.AnnAssign | ast.AugAssign):
            targets = [part.target]
        for target in targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Attribute) and name.attr == attribute:
                    assert isinstance(part, ast.stmt)
                    yield part.lineno, part.end_lineno or part.lineno


def traceback_places(trace: types.TracebackType | None) -> tuple[Place, ...]:
    """The project's own lines that an exception came by, innermost first."""
    found = []
    while trace:
        if own(trace.tb_frame.f_code.co_filename):
            found.append(place(trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return tuple(found[::-1])


@functools.lru_cache(maxsize=64)
def _tree(file: str) -> ast.Module:
    try:
        with open(file, "rb") as stream:
            return ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


@functools.lru_cache(maxsize=64)
def _classes(file: str) -> dict[str, ast.ClassDef]:
    """The classes of a file by their qualified names."""
    return dict(_named(_tree(file), ""))


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
            inner = f"{prefix}{child.name}."
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = f"{prefix}{child.name}.<locals>."
        yield from _named(child, inner)


@functools.lru_cache(maxsize=64)
def _strings(file: str) -> tuple[tuple[str, int], ...]:
    return tuple(
        (node.value, node.lineno)
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def ours(trace: types.TracebackType | None) -> bool:
    """Whether an exception was raised by dllint itself."""
    file = ""
    while trace:
        file, trace = trace.tb_frame.f_code.co_filename, trace.tb_next
    return os.path.realpath(file).startswith(OURS)
