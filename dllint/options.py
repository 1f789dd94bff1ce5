"""The keys of a configuration file: read, validated, and laid over those of the file it extends."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from dllint import __version__, own_loaders, reading, registry
from dllint.keys import LoaderKeys, Options, Words
from dllint.reading import contents


class ConfigError(Exception):
    """The configuration cannot be used; the message names file and key."""


_KEYS = dict(zip(Options.__struct_encode_fields__, Options.__struct_fields__, strict=True))
_SELECTORS = ("select", "extend_select", "ignore", "fixable", "unfixable", "extend_safe_fixes", "extend_unsafe_fixes")


_COMPARISON = re.compile(r"\s*([<>!]=|[<>])\s*([0-9]{1,18}(?:\.[0-9]{1,18})*)\s*")
_ENDLESS = re.compile(r"[0-9]{19}")
"""No part of a version; Python makes no numbers of thousands of digits."""


class Pattern(msgspec.Struct, frozen=True):
    """A gitignore-style pattern and the absolute folder it is relative to."""

    base: str
    glob: str


class Patterns(msgspec.Struct, frozen=True):
    """What a file and those it extends say about paths; each pattern keeps the folder of its own file."""

    exclude: tuple[Pattern, ...] | None = None
    extend_exclude: tuple[Pattern, ...] = ()
    include: tuple[Pattern, ...] | None = None
    per_file_ignores: tuple[tuple[Pattern, Words], ...] = ()
    src: Words = ()
    cache_dir: str = ""


def toml(file: str) -> dict[str, Any]:
    """A TOML file's content. Raises ConfigError."""
    try:
        return _parsed(contents(file))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not valid UTF-8: {error}") from None
    except RecursionError:
        raise ConfigError(f"{file}: not valid TOML: nested too deeply") from None
    except ValueError as error:
        from dllint import mistakes

        raise ConfigError(mistakes.syntax(file, error)) from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from None


def has(file: str, words: bytes) -> bool:
    """Whether a file mentions something: to find out is cheaper than to parse it."""
    try:
        return words in contents(file)
    except OSError:
        return True  # the reader reports why that doesn't work


@lru_cache(maxsize=64)
def _parsed(data: bytes) -> dict[str, Any]:
    """Who asks for a pyproject.toml is not the only one in a run. Raises ValueError."""
    return reading.toml(data.decode())


def is_toml(line: str) -> bool:
    """Whether a line can be read."""
    try:
        return bool(_parsed(line.encode()))
    except ValueError:
        return False


def section(table: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """A nested table, empty where there is none."""
    for key in keys:
        value = table.get(key)
        table = value if isinstance(value, dict) else {}
    return table


def read(file: str, base: str, children: tuple[str, ...] = ()) -> tuple[Options, Patterns]:
    """A file's options and its patterns (relative to `base`), laid over those of the file it extends."""
    if file in children:
        raise ConfigError(f"{file}: extend: the files extend each other: {' -> '.join((*children, file))}")
    options = _own_options(file)
    patterns = _own_patterns(options, base)
    if options.extend is None:
        return options, patterns
    target = os.path.normpath(os.path.join(os.path.dirname(file), os.path.expanduser(options.extend)))
    if not os.path.isfile(target):
        raise _Table(file, {}).wrong("extend", f"{options.extend} does not exist")
    under, under_patterns = read(target, os.path.dirname(target), (*children, file))
    return over(options, patterns, under, under_patterns)


def given(settings: Sequence[str], base: str) -> tuple[Options, Patterns]:
    """The keys of the command line, each as a line of TOML; patterns are relative to `base`. Raises ConfigError."""
    if not settings:
        return Options(), Patterns()
    try:
        options = _checked(_Table("command line", _parsed("\n".join(settings).encode())))
    except ValueError as error:
        raise ConfigError(f"command line: --config: not valid TOML: {error}") from None
    if options.extend is not None:
        raise ConfigError("command line: extend is valid only in a file")
    return options, _own_patterns(options, base)


def over(options: Options, patterns: Patterns, under: Options, under_patterns: Patterns) -> tuple[Options, Patterns]:
    """What is nearer, laid over what is further away."""
    return _over(options, under), _patterns_over(options, patterns, under_patterns)


def _own_patterns(options: Options, base: str) -> Patterns:
    def based(globs: Words | None) -> tuple[Pattern, ...] | None:
        return None if globs is None else tuple(Pattern(base, glob) for glob in globs)

    ignores = [*(options.per_file_ignores or {}).items(), *options.extend_per_file_ignores.items()]
    return Patterns(
        based(options.exclude),
        based(options.extend_exclude) or (),
        based(options.include),
        tuple((Pattern(base, glob), codes) for glob, codes in ignores),
        tuple(os.path.normpath(os.path.join(base, folder)) for folder in options.src or ()),
        os.path.join(base, os.path.expanduser(options.cache_dir)) if options.cache_dir else "",
    )


def _patterns_over(options: Options, own: Patterns, under: Patterns) -> Patterns:
    ignores = own.per_file_ignores
    if options.per_file_ignores is None:
        ignores = under.per_file_ignores + ignores
    return Patterns(
        under.exclude if own.exclude is None else own.exclude,
        under.extend_exclude + own.extend_exclude,
        under.include if own.include is None else own.include,
        ignores,
        under.src if options.src is None else own.src,
        own.cache_dir or under.cache_dir,
    )


def _over(options: Options, under: Options) -> Options:
    """The nearer file wins; keys that begin with `extend-` add up."""
    merged: dict[str, Any] = {}
    for name in _KEYS.values():
        mine, theirs = getattr(options, name), getattr(under, name)
        if name.startswith("extend_"):
            merged[name] = {**theirs, **mine} if isinstance(mine, dict) else theirs + mine
        else:
            merged[name] = theirs if mine is None else mine
    return Options(**merged)


class _Table(NamedTuple):
    """A table of keys, and what messages call it."""

    file: str
    keys: dict[str, Any]
    name: str = ""
    kind: type[Options | LoaderKeys] = Options
    inside: tuple[str, ...] = ()
    """The keys that lead to this table."""

    def wrong(self, key: str, problem: str) -> ConfigError:
        """A mistake in the value of a key."""
        from dllint import mistakes  # takes longer than to read the file

        shown = f"{self.name}.{key}" if self.name else key
        return ConfigError(f"{mistakes.place(self.file, *self.inside, key)}: {shown}: {problem}")

    def loader(self, name: str) -> _Table:
        """The table of one of the loaders."""
        shown = f"{self.name}.loaders" if self.name else "loaders"
        return _Table(self.file, self.keys["loaders"][name], f'{shown}."{name}"', LoaderKeys, ("loaders", name))


def _own_options(file: str) -> Options:
    table: Any = toml(file)
    name = ""
    if os.path.basename(file) == "pyproject.toml":
        table, name = section(table, "tool").get("dllint", {}), "tool.dllint"
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.dllint: must be a table")
    return _checked(_Table(file, table, name))


def _checked(table: _Table) -> Options:
    if not table.keys:
        return Options()  # what the types of all keys mean takes longer to find out than the rest
    options: Options = _converted(table)
    _check_codes(table, options)
    _check_versions(table, options)
    for name, loader in (options.loaders or {}).items():
        mistake = own_loaders.misnamed(loader)
        if mistake is not None:
            raise table.loader(name).wrong(*mistake)
    return options


def _converted(table: _Table) -> Any:
    for key in table.keys:
        if key not in table.kind.__struct_encode_fields__:
            from dllint import mistakes

            place = mistakes.place(table.file, *table.inside, key)
            raise ConfigError(f"{place}: {mistakes.unknown(key, table.name, table.kind)}")
    for key, value in table.keys.items():
        _convert(table, {key: value})
    return _convert(table, table.keys)


def _convert(table: _Table, keys: dict[str, Any]) -> Any:
    try:
        return msgspec.convert(keys, table.kind)
    except msgspec.ValidationError:
        from dllint import mistakes

        key, value = next(iter(keys.items()))
        for name, inner in value.items() if key == "loaders" and isinstance(value, dict) else ():
            if isinstance(inner, dict):
                _converted(table.loader(name))
        raise table.wrong(key, mistakes.wrong_type(key, value, table.kind)) from None


def _check_codes(table: _Table, options: Options) -> None:
    lists = {name.replace("_", "-"): getattr(options, name) or () for name in _SELECTORS}
    for glob, codes in (options.per_file_ignores or {}).items():
        lists[f"per-file-ignores.{glob!r}"] = codes
    for glob, codes in options.extend_per_file_ignores.items():
        lists[f"extend-per-file-ignores.{glob!r}"] = codes
    for key, words in lists.items():
        try:
            # The rules are imported only when something names one.
            if words:
                registry.validate(words)
        except registry.UnknownRule as error:
            raise table.wrong(key, str(error)) from None


def _check_versions(table: _Table, options: Options) -> None:
    if options.target_python is not None and specifier(options.target_python) is None:
        raise table.wrong("target-python", f"{options.target_python!r} is not a version or specifier, such as '>=3.10'")
    if options.required_version is None:
        return
    wanted = specifier(options.required_version)
    if wanted is None:
        raise table.wrong("required-version", f"{options.required_version!r} is not a version or specifier")
    from packaging.specifiers import SpecifierSet

    if not SpecifierSet(wanted, prereleases=True).contains(__version__):
        told = f"{options.required_version} is required, this is dllint {__version__}"
        raise table.wrong("required-version", told)


def specifier(text: str) -> str | None:
    """A PEP 440 specifier; a bare version such as `3.11` means that release. None when it is neither."""
    known = plain(text)
    if known is not None or _ENDLESS.search(text):
        return known
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    bare = text.strip()
    if bare[:1].isdigit():
        bare = f"=={bare}" if bare.count(".") > 1 or "*" in bare else f"=={bare}.*"
    try:
        return str(SpecifierSet(bare))
    except InvalidSpecifier:
        return None


def plain(text: str) -> str | None:
    """A specifier of comparisons with numbers, as `packaging` writes it, whose import is a tenth of a short run.

    None for any other text.
    """
    parts = [_COMPARISON.fullmatch(part) for part in text.split(",") if part.strip()]
    return None if None in parts else ",".join(sorted({f"{part[1]}{part[2]}" for part in parts if part}))
