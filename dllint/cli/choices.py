"""Options that override the configuration: the same for every command that checks."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from dllint.registry import Layer

Command = TypeVar("Command", bound=Callable[..., Any])
LISTS = ("exclude", "extend_exclude", "fixable", "unfixable", "target_platforms")
"""Options whose words are a key of the configuration."""


def words(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Comma-separated words; the option may be repeated."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def _completed(context: click.Context, option: click.Parameter, incomplete: str) -> list[Any]:
    from dllint.cli import completion

    return list(completion.selectors(context, option, incomplete))


def _rules(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(name, multiple=True, metavar="RULES", callback=words, shell_complete=_completed, help=text)


def _words(name: str, metavar: str, text: str) -> Callable[[Command], Command]:
    return click.option(name, multiple=True, metavar=metavar, callback=words, help=text)


_SELECTION = (
    _rules("--select", "Report only these rules: codes, prefixes, families, names or ALL, comma-separated."),
    _rules("--extend-select", "Also report these rules."),
    _rules("--ignore", "Do not report these rules."),
    _words("--per-file-ignores", "PATTERN:RULE", "Do not report a rule in files that match."),
    _words("--exclude", "PATTERNS", "Exclude these instead of the default ones."),
    _words("--extend-exclude", "PATTERNS", "Also exclude these."),
    _words("--target-platforms", "PLATFORMS", "The platforms of the project: linux, macos, windows."),
    click.option(
        "--target-python", metavar="VERSIONS", default="", help="The Python versions of the project: '<3.14' or 3.12."
    ),
    click.option("--config", metavar="FILE|KEY=VALUE", multiple=True, help="Use only this file, or set a key."),
    click.option("--isolated", is_flag=True, help="Ignore all configuration files."),
    click.option("--ignore-noqa", is_flag=True, help="Also report what comments silence."),
)
_FIXING = (
    _rules("--fixable", "Apply only the fixes of these rules."),
    _rules("--unfixable", "Do not apply the fixes of these rules."),
)


def selection(command: Command) -> Command:
    """The options that say what is reported."""
    return functools.reduce(lambda done, option: option(done), reversed(_SELECTION), command)


def fixing(command: Command) -> Command:
    """The options that say what is fixed."""
    return functools.reduce(lambda done, option: option(done), reversed(_FIXING), command)


def asked(options: dict[str, Any]) -> dict[str, Any]:
    """What a request takes from these options."""
    file, settings = _split(options["config"])
    lines = {**settings, **dict(_lines(options))}
    return {
        "layer": _layer(options),
        "config": file,
        "settings": tuple(lines.values()),
        "isolated": options["isolated"],
        "heed": not options["ignore_noqa"],
    }


def _layer(options: dict[str, Any]) -> Layer:
    from dllint.registry import Layer

    return Layer(options["select"] or None, options["extend_select"], options["ignore"])


def _split(values: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """The file among the values of --config, and the keys, each as a line of TOML."""
    files = [value for value in values if os.path.exists(value) or "=" not in value]
    if len(files) > 1:
        raise click.UsageError(f"--config names one file, not {len(files)}: {', '.join(files)}")
    given = [value.partition("=") for value in values if value not in files]
    for key, _, text in given:
        if not re.fullmatch(r"[\w.-]+", key.strip()):
            raise click.UsageError(f"--config {key}={text}: `{key.strip()}` is neither a key nor a file")
    return files[0] if files else "", {key.strip(): _line(key.strip(), text.strip()) for key, _, text in given}


def _line(key: str, text: str) -> str:
    """A key with its value, which may be TOML or plain words."""
    from dllint.options import is_toml

    if is_toml(f"{key} = {text}") and not re.fullmatch(r"[\d.]+", text):  # no key is a number, versions look like one
        return f"{key} = {text}"
    from dllint import schema  # takes a while, and most values are TOML

    known = schema.keys().get(key)
    if known is not None and known.type.startswith("list"):
        return _array(key, [word.strip() for word in text.split(",") if word.strip()])
    return f"{key} = {_quoted(text)}"


def _lines(options: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The options that are keys of the configuration, as lines of TOML."""
    for name in LISTS:
        if options.get(name):
            key = name.replace("_", "-")
            yield key, _array(key, options[name])
    if options["target_python"]:
        yield "target-python", f"target-python = {_quoted(options['target_python'])}"
    if options["per_file_ignores"]:
        yield "per-file-ignores", f"per-file-ignores = {{{', '.join(_ignores(options['per_file_ignores']))}}}"


def _ignores(pairs: tuple[str, ...]) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for pair in pairs:
        pattern, colon, rule = pair.rpartition(":")
        if not (colon and pattern and rule):
            raise click.UsageError(f"--per-file-ignores expects PATTERN:RULE, such as 'tests/*:DLL2', not {pair!r}")
        found.setdefault(pattern, []).append(rule)
    yield from (f"{_quoted(pattern)} = {_quoted(rules)}" for pattern, rules in found.items())


def _array(key: str, values: tuple[str, ...] | list[str]) -> str:
    return f"{key} = {_quoted(list(values))}"


def _quoted(value: str | list[str]) -> str:
    """TOML's strings and arrays are JSON's."""
    return json.dumps(value, ensure_ascii=False)
