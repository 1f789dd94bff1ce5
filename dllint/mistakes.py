"""What is wrong in a configuration file, in plain words: where it is, and what was probably meant."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches

from dllint import schema
from dllint.keys import LoaderKeys, Options

_MEANT = {
    "extend-ignore": "add to `ignore`",
    "line-length": "dllint does not check style",
    "fix": "use `dllint check --fix`",
    "target-version": "use `target-python`",
    "python-version": "use `target-python`",
    "platforms": "use `target-platforms`",
    "disable": "use `ignore`",
    "enable": "use `extend-select`",
    "lint": "put its keys into `{}`",
    "format": "dllint does not format",
}
"""Keys that other tools have."""
_TYPES = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
_AT = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


def place(file: str, key: str, *inner: str) -> str:
    """`file:line` of a key, or of the last of those inside it that is found; the file alone where none is."""
    try:
        with open(file, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
    except (OSError, ValueError):
        return file
    start = 0
    if os.path.basename(file) == "pyproject.toml":
        tables = [row for row, line in enumerate(lines) if re.match(r"\s*\[\s*tool\s*\.\s*dllint\b", line)]
        start = tables[0] if tables else 0
    first = re.escape(key.partition(".")[0])
    wanted = re.compile(
        rf"""\s*(?:["']?{first}["']?\s*[.=]|\[(?:\s*tool\s*\.\s*dllint\s*\.)?\s*["']?{first}["']?\s*[\].])"""
    )
    row = next((row for row in range(start, len(lines)) if wanted.match(lines[row])), None)
    for word in inner if row is not None else ():
        row = next((below for below in range(row or 0, len(lines)) if word in lines[below]), row)
    return file if row is None else f"{file}:{row + 1}"


def syntax(file: str, error: ValueError) -> str:
    """A syntax error of TOML, with its line in front."""
    text = str(error)
    at = _AT.search(text)
    where = f"{file}:{at[1]}" if at and at[1] else file
    return f"{where}: not valid TOML: {_AT.sub('', text).rstrip('.')}"


def unknown(key: str, table: str, kind: type[Options | LoaderKeys] = Options) -> str:
    """What to say of a key that does not exist; `table` is where keys belong."""
    return f"unknown key `{key}`; {_meant(key, table, kind)}"


def _meant(key: str, table: str, kind: type[Options | LoaderKeys]) -> str:
    word = key.replace("_", "-").lower()
    if kind is Options and word in _MEANT:
        return _MEANT[word].format(table or "the file itself")
    close = get_close_matches(word, kind.__struct_encode_fields__, n=1, cutoff=0.75)
    listed = "`dllint config`" if kind is Options else "`dllint config loaders`"
    return f"did you mean `{close[0]}`?" if close else f"{listed} lists the keys"


def wrong_type(key: str, value: object, kind: type[Options | LoaderKeys] = Options) -> str:
    """What to say of a value that a key cannot have, with an example of one that it can."""
    known = schema.keys(kind)[key]
    choices = (
        [word.strip('"') for word in known.type.removeprefix("list of ").split(" | ")] if '"' in known.type else []
    )
    wrong = next((item for item in (value if isinstance(value, list) else [value]) if item not in choices), None)
    listed = known.type.startswith("list")
    if choices and isinstance(wrong, str) and isinstance(value, list) is listed:
        close = get_close_matches(wrong.lower(), choices, n=1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        return f"{wrong!r} is not one of {', '.join(choices)}{meant}"
    wanted = "a list of strings" if listed else _article(known.type)
    return f"expected {wanted}, not {_shown(value)}; for example: {known.example}"


def _article(kind: str) -> str:
    return kind if kind.startswith(("true", '"')) else f"a {kind}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        other = next((item for item in value if not isinstance(item, str)), None)
        return "a list" if other is None else f"a list with {_TYPES.get(type(other), 'a date')}"
    return _TYPES.get(type(value), "a date")
