"""Whether the project's Ruff would delete our comments: RUF100 and RUF102 take codes of others for mistakes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dllint.options import ConfigError, section, toml

FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")
"""In the order of precedence within one folder."""
_DELETING = ("RUF100", "RUF102")


def deletes_comments(root: str) -> str:
    """The configuration file of Ruff by which it deletes `# noqa: DLL101`, or ""."""
    file = next(_files(Path(root)), None)
    if file is None:
        return ""
    tables = _tables(file, [])
    selected = [code for code in _DELETING if _on(code, tables)]
    external = [word for table in tables for word in _words(table, "external")]
    return str(file) if selected and not any(word and "DLL".startswith(word) for word in external) else ""


def _files(folder: Path) -> Iterator[Path]:
    """The files that configure Ruff for a folder, the nearest first."""
    for place in (folder, *folder.parents):
        for name in FILES:
            if (place / name).is_file() and (name != FILES[-1] or _own(place / name)):
                yield place / name


def _own(file: Path) -> dict[str, Any]:
    """What a file says to Ruff; a file that cannot be read says nothing, and Ruff will complain of it."""
    try:
        table = toml(str(file))
    except ConfigError:
        return {}
    return dict(section(table, "tool", "ruff")) if file.name == FILES[-1] else table


def _tables(file: Path, seen: list[Path]) -> list[dict[str, Any]]:
    """The file's table and those that it extends, each with `lint` laid over the old place of its keys."""
    own = _own(file)
    tables = [{**own, **section(own, "lint")}]
    target = Path(os.path.normpath(file.parent / Path(str(own.get("extend", ""))).expanduser()))
    if "extend" in own and target.is_file() and target not in seen:
        tables += _tables(target, [*seen, file])
    return tables


def _words(table: dict[str, Any], key: str) -> list[str]:
    value = table.get(key)
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def _on(code: str, tables: list[dict[str, Any]]) -> bool:
    """Whether a rule is selected: the nearest `select`, every `extend-select`, and the longer selector wins."""
    select = next((_words(table, "select") for table in tables if "select" in table), [])
    ignore = next((_words(table, "ignore") for table in tables if "ignore" in table), [])
    more = [word for table in tables for word in _words(table, "extend-select")]
    return _length(code, [*select, *more]) > _length(code, ignore)


def _length(code: str, selectors: list[str]) -> int:
    """The length of the longest selector that covers the rule, or -1."""
    every = 0 if "ALL" in selectors else -1
    return max((len(word) for word in selectors if word and code.startswith(word)), default=every)
