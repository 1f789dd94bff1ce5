"""`dllint test`: the pages of a folder or a package, each case with all checks, in folders of its own."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dllint import registry
from dllint.config import ConfigError
from dllint.testing import checks, pages
from dllint.testing.cases import Crashed, Project, page_code
from dllint.testing.expectations import PageError
from dllint.testing.pages import Case


class NothingToTest(Exception):
    """What was named has no pages; the message says so."""


class Outcome(NamedTuple):
    """What became of a case, or of a page as a whole (no `case`)."""

    page: Path
    case: str
    problems: tuple[str, ...]


def collect(word: str) -> list[Path]:
    """The pages below a path or in a package; their rules are found from now on. Raises NothingToTest."""
    place = Path(word)
    if place.is_file():
        found = [place.resolve()]
    elif place.is_dir():
        found = pages.below(place.resolve())
    else:
        found = [page for folder in _folders(word) for page in pages.below(folder)]
    if not found:
        raise NothingToTest(f"{word}: no pages found (Markdown files besides README.md)")
    for page in found:
        _find_rule(page)
    return found


def _folders(package: str) -> list[Path]:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.submodule_search_locations is None:
        raise NothingToTest(f"{package}: no such file, folder or package")
    return [Path(folder).resolve() for folder in spec.submodule_search_locations]


def _find_rule(page: Path) -> None:
    """Announce the package that contains a rule's page, if no installed package has the rule."""
    code, top = page_code(page), page.parent
    if not code or code in registry.by_code() or not page.with_suffix(".py").is_file():
        return
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    sys.path.append(str(top.parent))
    registry.announce(top.name)


def run(page: Path, update: bool = False) -> Iterator[Outcome]:
    """Check a page and every case of it; `update` writes the diffs of its fixes first."""
    try:
        parsed = pages.read(page)
        yield Outcome(page, "", tuple(_of_rule(parsed)))
    except PageError as error:
        yield Outcome(page, "", (str(error),))
        return
    for case in parsed.cases:
        if update:
            with tempfile.TemporaryDirectory() as folder:
                case = renew(case, Path(folder).resolve())
        yield Outcome(page, case.name, tuple(_problems(case)))


def renew(case: Case, folder: Path) -> Case:
    """Write a case's diff into its page, wherever earlier ones have moved it; the case as the page now has it."""
    written = pages.unified(case.files, Project.of(case, folder).fix(unsafe=True))
    current = _again(case)
    if current.diff is not None and written:
        pages.write_diff(case.page, current.diff, written)
    return _again(case)


def _again(case: Case) -> Case:
    return next(again for again in pages.read(case.page).cases if again.name == case.name)


def _of_rule(parsed: pages.Page) -> Iterator[str]:
    code = page_code(parsed.path)
    info = registry.by_code().get(code)
    if code and info is None:
        yield f"{parsed.path}: {code} is not a rule of an installed package"
    elif info is not None and info not in registry.DIAGNOSTICS:
        yield from checks.page(parsed, code, info.fixable != "never")


def _problems(case: Case) -> Iterator[str]:
    try:
        yield from checks.problems(case)
    except (Crashed, ConfigError, registry.UnknownRule) as error:
        yield f"{case.page}:{case.line}: {error}"
