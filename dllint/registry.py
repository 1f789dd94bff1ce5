"""The rules: found by walking packages, chosen by code, prefix, name or ALL. Nothing lists them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import msgspec

from dllint import announced
from dllint.finding import Severity
from dllint.rule import Rule, RuleInfo

__all__ = [
    "ALL",
    "DIAGNOSTICS",
    "Layer",
    "RegistryError",
    "RuleInfo",
    "UnknownRule",
    "announce",
    "by_code",
    "families",
    "info",
    "infos",
    "length",
    "lookup",
    "matches",
    "renamed",
    "rules",
    "select",
    "validate",
]

OWN = "dllint_rules"
BUILT_IN = (OWN,)
"""Packages that are walked without being announced by an entry point."""
GROUP = "dllint.rules"
_more: list[str] = []
ALL = "ALL"
_PAGES = os.path.join(os.path.dirname(__file__), "diagnostics")
_CLASS = re.compile(rb"class \w+\(Rule\):\r?\n(?:(?! {4}(?:def |@)).*\n)*")
"""A rule's class as far as its first method."""
_FIELDS = tuple(name for name in RuleInfo.__struct_fields__ if name != "page")


class RegistryError(Exception):
    """No rules, two rules with one code, or a rule package that cannot be imported."""


class UnknownRule(Exception):
    """A selector that names no rule; the message suggests what may be meant."""


def _diagnostic(
    code: str, name: str, summary: str, severity: Severity, default: bool, fixable: str = "never"
) -> RuleInfo:
    page = os.path.join(_PAGES, f"{code.lower()}_{name.replace('-', '_')}.md")
    return RuleInfo(code, name, summary, severity, fixable, default, "stable", "0.1.0", page)


DIAGNOSTICS = (
    _diagnostic("DLL900", "syntax-error", "file does not parse as Python", Severity.ERROR, True),
    _diagnostic("DLL901", "unused-suppression", "comment silences nothing", Severity.WARNING, False, "always"),
    _diagnostic(
        *("DLL902", "unknown-code-in-suppression", "comment names a rule that does not exist", Severity.WARNING),
        default=False,
        fixable="always",
    ),
    _diagnostic("DLL903", "unreadable-file", "file could not be read or analyzed", Severity.WARNING, True),
    _diagnostic("DLL904", "fix-refused", "fix was available but not applied", Severity.INFO, True),
)
"""What the tool says about its own work; these have no Rule class."""


@cache
def rules() -> tuple[type[Rule], ...]:
    """Every rule class, sorted by code. Raises RegistryError when there are none."""
    found = {rule for name in _packages() for rule in _rules_of(_imported(name))}
    ordered = tuple(sorted(found, key=lambda rule: rule.code))
    if not ordered:
        raise RegistryError(f"no rules found in {', '.join(BUILT_IN)}: the installation is broken")
    _refuse_twins([info(rule) for rule in ordered])
    return ordered


def info(rule: type[Rule]) -> RuleInfo:
    """A rule's metadata, with the path of the page beside its module."""
    return _info(vars(Rule) | {name: getattr(rule, name) for name in _FIELDS}, sys.modules[rule.__module__].__file__)


def _info(values: Mapping[str, Any], file: str | None) -> RuleInfo:
    page = f"{os.path.splitext(file or '')[0]}.md"
    return RuleInfo(page=page, **{name: values[name] for name in _FIELDS})


def announce(package: str) -> None:
    """Find the rules of this package too, though no installed distribution announces it."""
    if package not in _more:
        _more.append(package)
        for known in (rules, infos, by_code, families):
            known.cache_clear()


@cache
def infos() -> tuple[RuleInfo, ...]:
    """The metadata of every rule and of the tool's own diagnostics, sorted by code.

    That of the rules that come with dllint is read from their sources: importing them takes as long as many a run.
    """
    found = [entry for name in _packages() for entry in (_read(name) if name == OWN else _infos_of(name))]
    if not found:
        raise RegistryError(f"no rules found in {', '.join(BUILT_IN)}: the installation is broken")
    _refuse_twins(found)
    return tuple(sorted((*found, *DIAGNOSTICS), key=lambda entry: entry.code))


def _infos_of(name: str) -> list[RuleInfo]:
    return [info(rule) for rule in {*_rules_of(_imported(name))}]


def _read(name: str) -> Iterator[RuleInfo]:
    """The metadata of a package's rules, whose classes begin with it, in literals."""
    heads = [(file, head) for file in _sources(name) for head in _heads(file)]
    parsed = ast.parse(b"".join(head for _, head in heads))  # one parse is twice as fast as one for each
    for (file, _), node in zip(heads, parsed.body, strict=True):
        yield _info(vars(Rule) | dict(_literals(node)), file)


def _sources(name: str) -> Iterator[str]:
    """The modules of a package's rules."""
    spec = importlib.util.find_spec(name)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for family in os.listdir(folder):
            place = os.path.join(folder, family)
            names = os.listdir(place) if os.path.isdir(place) else ()
            yield from (os.path.join(place, name) for name in names if name.startswith("dll") and name.endswith(".py"))


def _heads(file: str) -> Iterator[bytes]:
    """The beginnings of the classes of rules in a module."""
    with open(file, "rb", buffering=0) as stream:
        data = stream.read()
    end = data.find(b"(Rule):")
    while end >= 0:
        match = _CLASS.match(data, data.rfind(b"\n", 0, end) + 1)
        yield from (match[0],) if match else ()
        end = data.find(b"(Rule):", end + 1)


def _literals(head: ast.stmt) -> Iterator[tuple[str, Any]]:
    assert isinstance(head, ast.ClassDef)
    for node in head.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            yield (
                node.targets[0].id,
                Severity[value.attr] if isinstance(value, ast.Attribute) else ast.literal_eval(value),
            )


@cache
def by_code() -> dict[str, RuleInfo]:
    return {entry.code: entry for entry in infos()}


def folders() -> Iterator[str]:
    """The folders of all packages of rules."""
    for name in _packages():
        spec = importlib.util.find_spec(name)
        yield from (spec.submodule_search_locations or ()) if spec else ()


def lookup(word: str) -> RuleInfo:
    """The one rule that a code or name means, in any case. Raises UnknownRule."""
    for entry in infos():
        if word.upper() == entry.code or word.lower() == entry.name or {word.upper(), word.lower()} & {*entry.formerly}:
            return entry
    raise UnknownRule(f"unknown rule {word!r}{_close(word) or '; `dllint rule --all` lists them'}")


def matches(selector: str, entry: RuleInfo) -> bool:
    """Whether a code, prefix of a code, family, name or ALL covers this rule."""
    word, name = selector.upper(), selector.lower()
    if word == ALL or (bool(word) and entry.code.startswith(word)) or name == entry.name:
        return True
    if word in entry.formerly or name in entry.formerly:
        return True
    return name == entry.family and entry not in DIAGNOSTICS


def renamed(selectors: Iterable[str]) -> Iterator[str]:
    """What to say of selectors that are former codes or names."""
    for selector in dict.fromkeys(selectors):
        for entry in infos():
            if selector.upper() in entry.formerly or selector.lower() in entry.formerly:
                yield f"{selector} is {entry.code} ({entry.name}) now; the old selector will be removed"


@cache
def families() -> tuple[str, ...]:
    """The families of rules."""
    return tuple(sorted({entry.family for entry in infos() if entry not in DIAGNOSTICS}))


def length(selector: str) -> int:
    """How specific a selector is: ALL least, then prefixes by length, then whole codes and names.

    A family is as specific as the prefix that it stands for, such as `DLL1`.
    """
    if selector.upper() == ALL:
        return 0
    if selector.lower() in families():
        return len("DLL1")
    named = (e for e in infos() if selector.lower() in (e.name, *e.formerly) or selector.upper() in e.formerly)
    entry = next(named, None)
    return len(entry.code) if entry else len(selector)


def validate(selectors: Iterable[str]) -> None:
    """Raise UnknownRule for the first selector that covers no rule."""
    for selector in selectors:
        if not any(matches(selector, entry) for entry in infos()):
            close = _close(selector)
            raise UnknownRule(f"unknown rule selector {selector!r}{close or _selectors(selector)}")


class Layer(msgspec.Struct, frozen=True):
    """The selectors of one source: the configuration file or the command line. `select` None means not given."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All selectors of the layer."""
        return (*(self.select or ()), *self.extend_select, *self.ignore)


def select(file: Layer, line: Layer) -> frozenset[str]:
    """The codes that are reported. Raises UnknownRule.

    In one layer the longer selector wins, and `ignore` among equals. The command line beats the file, except that a
    longer `ignore` of the file survives a shorter selector on the command line (`--select ALL`). What the tool says of
    broken files needs no selection: a narrow `--select` must not make them look clean.
    """
    validate((*file.words, *line.words))
    return frozenset(entry.code for entry in infos() if _selected(entry, file, line))


def in_full(file: Layer, line: Layer) -> frozenset[str]:
    """The codes whose findings of severity `info` are reported, too: a selector names them, and what the tool says."""
    words = (*(file.select or ()), *file.extend_select, *(line.select or ()), *line.extend_select)
    return frozenset(entry.code for entry in infos() if entry in DIAGNOSTICS or _strength(entry, words) >= 0)


def _selected(entry: RuleInfo, file: Layer, line: Layer) -> bool:
    always = entry.default and entry in DIAGNOSTICS
    on, off = _strength(entry, (*(line.select or ()), *line.extend_select)), _strength(entry, line.ignore)
    if max(on, off) >= 0:
        return on > off and on >= _strength(entry, file.ignore)
    if line.select is not None:
        return always
    on, off = _strength(entry, (*(file.select or ()), *file.extend_select)), _strength(entry, file.ignore)
    if max(on, off) >= 0:
        return on > off
    return always or (file.select is None and entry.default)


def _strength(entry: RuleInfo, selectors: Iterable[str]) -> int:
    """The length of the longest selector that covers the rule, or -1."""
    return max((length(selector) for selector in selectors if matches(selector, entry)), default=-1)


def _close(word: str) -> str:
    """What to say of a word that resembles a code, name or family; nothing if it resembles none."""
    from difflib import get_close_matches  # only for what is misspelt

    if len(word.split()) > 1:
        return "; separate rules with commas"
    if any(entry.code.startswith(word.upper()) for entry in infos()):
        return ", which is the beginning of several codes; `dllint rule --all` lists them"
    if word[-1:].isdigit():
        return _close_code(word.upper().replace("O", "0").replace("I", "1"))
    names = {name.upper(): name for entry in infos() for name in (entry.name, entry.family)}
    close = get_close_matches(word.upper(), names, n=1, cutoff=0.7)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def _close_code(word: str) -> str:
    """The code with one character more or less, else those of the family: another digit is another rule's."""
    near = {entry.code for entry in infos() if entry.code in {word, *_shorter(word)} or word in _shorter(entry.code)}
    if len(near) == 1:
        return f"; did you mean {near.pop()!r}?"
    same = [entry for entry in infos() if entry.code[:-2] == word[: len(entry.code) - 2]]
    return f"; the codes of {same[0].family} are {same[0].code} to {same[-1].code}" if same else ""


def _shorter(word: str) -> set[str]:
    """The words that lack one character of this one."""
    return {word[:index] + word[index + 1 :] for index in range(len(word))}


def _selectors(word: str) -> str:
    """What to say of a selector that resembles nothing: how codes begin, and the families."""
    letters = sorted({entry.code.rstrip("0123456789") for entry in infos()})
    codes = "" if word.upper().startswith(tuple(letters)) else f"codes begin with {' or '.join(letters)}, "
    return f"; {codes}families are {', '.join(families())}, and `dllint rule --all` lists codes and names"


def _packages() -> Iterator[str]:
    """The names of the packages that hold rules."""
    others = sorted({*(point.value for point in announced.points(GROUP)), *_more} - set(BUILT_IN))
    for name in (*BUILT_IN, *others):
        if name in BUILT_IN and importlib.util.find_spec(name) is None:
            _use_checkout()
        yield name


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        raise RegistryError(f"cannot import the rule package {name!r}{_origin(name)}: {problem}") from error


def _origin(name: str) -> str:
    """The distribution that announces a package."""
    owners = [point.dist for point in announced.points(GROUP) if point.value == name and point.dist]
    return f" of {owners[0].name} {owners[0].version}" if owners else ""


def _use_checkout() -> None:
    """A bare checkout keeps the rules beside the engine, in a second source root."""
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "rules")
    if os.path.isdir(beside) and beside not in sys.path:
        sys.path.append(beside)
        importlib.invalidate_caches()


def _rules_of(package: ModuleType) -> Iterator[type[Rule]]:
    for module in _modules(package):
        for value in vars(module).values():
            own = isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__
            if own and hasattr(value, "code"):
                yield value


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """The package and every module below it; folders need no `__init__.py`."""
    from pathlib import Path  # a run that remembers its verdict imports no rules

    yield package
    for folder in map(Path, getattr(package, "__path__", ())):
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder).with_suffix("").parts
            if parts[-1] == "__init__" or not all(part.isidentifier() for part in parts):
                continue
            if package.__name__ == OWN and not parts[-1].startswith("dll"):
                continue  # a family's helpers: imported by the rules that need them, when they do
            name = ".".join((package.__name__, *parts))
            try:
                yield importlib.import_module(name)
            except Exception as error:
                message = f"cannot import the rule module {name}: {type(error).__name__}: {error}"
                raise RegistryError(message) from error


def _refuse_twins(entries: list[RuleInfo]) -> None:
    seen: dict[str, str] = {}
    for entry in (*entries, *DIAGNOSTICS):
        for word in (entry.code, entry.name, *entry.formerly):
            if word in seen:
                raise RegistryError(f"{entry.code} and {seen[word]} are both called {word!r}")
            seen[word] = entry.code
