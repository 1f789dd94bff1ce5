"""Git in untrusted repositories: programs that their configuration names never run."""

from __future__ import annotations

import os
from collections.abc import Iterable

OPTIONS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
"""Before git's own command: no pager, no watcher of files, no hooks."""
ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # what a partial clone lacks is not fetched, by whatever program
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
LIST_FILTERS = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
"""The command that tells for `without_filters` what is configured; it fails where nothing is."""


class Unsafe(Exception):
    """A filter cannot be switched off."""


def without_filters(keys: Iterable[str]) -> list[str]:
    """The options that switch off the filters that files pass when git compares them. Raises Unsafe."""
    options = []
    for name in dict.fromkeys(key.partition(".")[2].rpartition(".")[0] for key in keys if key.count(".") > 1):
        if "=" in name or "\n" in name:  # git ends the key of `-c` there
            raise Unsafe(f"the filter {name!r} of the configuration cannot be switched off")
        for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")):
            options += ["-c", f"filter.{name}.{key}={value}"]
    return options
