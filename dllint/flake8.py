"""flake8's plugin `DLL`: the whole project is checked once, in the main process, and each file's findings looked up.

Where flake8's workers are forks they have the findings already. Where they are fresh interpreters, which read the
options again, they read them from a file of the main process, whose name they find in the environment.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import contextlib
import io
import json
import logging
import os
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dllint import __version__

if TYPE_CHECKING:
    from dllint.engine import Request, Result

Line = tuple[int, int, str]
"""Row from 1, column from 0, text: as flake8 wants it."""
HANDED_ON = "DLLINT_FLAKE8"
"""The environment variable that tells workers `PID:FILE`: whose children they are, and where the findings are."""
_NOT_OURS = ("DLL900",)
"""flake8 itself tells of syntax errors."""


class Plugin:
    """One file, as flake8 sees it."""

    name = "dllint"
    version = __version__
    _findings: ClassVar[Mapping[str, list[Line]]] = {}
    """Real paths to what is reported there."""
    _options: ClassVar[argparse.Namespace]

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._path = filename
        self._lines = lines

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Check the project, or find out what the main process found."""
        cls._options = options
        handed_on = _handed_on()
        if handed_on:
            with open(handed_on, encoding="utf-8") as stream:
                cls._findings = {path: [(*line,) for line in lines] for path, lines in json.load(stream).items()}
        else:
            paths = tuple(path for path in options.filenames or (".",) if os.path.exists(path))
            cls._findings = _check(options, paths=paths) if paths else {}
            _hand_on(cls._findings)

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """The file's findings."""
        findings = self._findings
        if "-" in self._options.filenames:
            findings = _check(self._options, paths=(), stdin=_encoded(self._lines), stdin_path=self._path)
        for row, column, text in findings.get(os.path.realpath(self._path), ()):
            yield row, column, text, type(self)


def _check(options: argparse.Namespace, **asked: Any) -> dict[str, list[Line]]:
    """What the standalone command would report, by real path. Raises what flake8 shows as its own failure."""
    from flake8.exceptions import ExecutionError

    from dllint import engine
    from dllint.config import ConfigError
    from dllint.registry import RegistryError, UnknownRule

    try:
        result = engine.check(_request(options, asked))
    except (ConfigError, RegistryError, UnknownRule) as error:
        raise ExecutionError(f"dllint: {error}") from error
    for warning in result.warnings:
        logging.getLogger("flake8.dllint").warning(warning)
    if result.crashes:
        raise ExecutionError(f"dllint: {'; '.join(result.crashes)}")
    return _by_path(result)


def _request(options: argparse.Namespace, asked: Mapping[str, Any]) -> Request:
    from dllint.engine import Request
    from dllint.reduce import cores
    from dllint.registry import Layer

    return Request(
        **asked,
        remedies=False,
        layer=Layer(extend_select=tuple(_selected(options))),
        cache=os.environ.get("DLLINT_NO_CACHE", "").lower() in ("", "0", "false"),
        cache_dir=os.environ.get("DLLINT_CACHE_DIR", ""),
        jobs=options.jobs.n_jobs if options.jobs.n_jobs > 0 else cores(),
    )


def _selected(options: argparse.Namespace) -> Iterator[str]:
    """Selectors of ours that are longer than the prefix: flake8's user wants these rules, opt-in ones too."""
    for selector in (*(options.select or ()), *(options.extend_select or ())):
        if selector.startswith("DLL") and selector != "DLL":
            yield selector


def _by_path(result: Result) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = defaultdict(list)
    for finding, _ in result.findings:
        if finding.code not in _NOT_OURS:
            row, column = result.source(finding.path).part(finding.span.start).location(finding.span.start)
            line = row, column - 1, f"{finding.code} {finding.message}"
            found[os.path.realpath(os.path.join(result.root, finding.path))].append(line)
    return found


def _encoded(lines: Iterable[str]) -> bytes:
    """The bytes of a text that flake8 has decoded by its coding comment."""
    text = "".join(lines)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(text.encode("utf-8", "replace")).readline)
    return text.encode(encoding, "replace")


def _hand_on(findings: Mapping[str, list[Line]]) -> None:
    """Leave the findings where workers that weren't forked find them; they are gone when this process ends."""
    handle, name = tempfile.mkstemp(prefix="dllint-flake8-", suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(findings, stream)
    os.environ[HANDED_ON] = f"{os.getpid()}:{name}"
    atexit.register(_remove, name, os.getpid())


def _remove(name: str, owner: int) -> None:
    if os.getpid() == owner:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _handed_on() -> str:
    """The file of the process that this one works for, or "" in the main process."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    owner, _, name = os.environ.get(HANDED_ON, "").partition(":")
    return name if parent is not None and owner == str(parent.pid) else ""
