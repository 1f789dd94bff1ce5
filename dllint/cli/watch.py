"""`--watch`: check again whenever a file changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from dllint.engine import Request

PAUSE_S = 0.5
"""Between two looks at the files; at most a tenth of the time is spent on looking."""

State = dict[str, int] | str


def watch(request: Request, check: Callable[[], object]) -> NoReturn:
    """Check, and again after every change of a file or of the configuration, until interrupted."""
    while True:
        state = _state(request)
        if sys.stdout.isatty():
            click.clear()
        try:
            check()
        except click.ClickException as error:
            error.show()
        click.echo("Watching for changes; press Ctrl-C to stop.", err=True)
        _wait(request, state)


def _wait(request: Request, state: State) -> None:
    while True:
        began = time.monotonic()
        if _state(request) != state:
            return
        time.sleep(max(PAUSE_S, 9 * (time.monotonic() - began)))


def _state(request: Request) -> State:
    """When each file of the project was changed; what is wrong with a configuration that cannot be used."""
    from dllint.config import ConfigError
    from dllint.engine import plan
    from dllint.registry import RegistryError, UnknownRule

    try:
        planned = plan(request)
    except (ConfigError, RegistryError, UnknownRule) as error:
        return str(error)
    paths = [os.path.join(planned.config.root, path) for path in planned.files]
    return {path: _changed(path) for path in (*paths, *planned.configurations)}


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
