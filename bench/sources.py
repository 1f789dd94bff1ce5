"""What is surveyed: public packages and repositories, pinned; what is missing is fetched, a few at a time.

`bench/corpus.txt` and `bench/packages.txt` pin packages, which `bench.corpus` downloads and unpacks; `bench/survey.txt`
pins repositories by commit, which are fetched bare and without their history. Nothing of a repository is run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from bench import corpus
from dllint.survey.trees import Tree, tree

REPOSITORIES = Path(__file__).with_name("survey.txt")
PACKAGES = Path(__file__).with_name("packages.txt")
HOST = "https://github.com"
AT_ONCE = 4

_Pinned = TypeVar("_Pinned")


class Repository(NamedTuple):
    """A line of the list."""

    name: str
    commit: str

    def place(self, root: Path) -> Path:
        """The bare repository in the folder of all."""
        return root / f"{self.name}.git"

    def tree(self, root: Path) -> Tree:
        """The source that is surveyed."""
        return tree(f"{self.name}.git@{self.commit}", str(root))


def repositories() -> list[Repository]:
    """The pinned repositories."""
    lines = REPOSITORIES.read_text(encoding="utf-8").splitlines()
    return [Repository(*line.split()) for line in lines if line and line[0] != "#"]


def packages() -> list[corpus.Package]:
    """The pinned packages."""
    return [*corpus.packages(), *corpus.packages(PACKAGES)]


def fetch_repositories(root: Path, wanted: list[Repository], host: str = HOST) -> list[Tree]:
    """Fetch what is missing. What cannot be had any more is told and left out."""
    return [each.tree(root) for each in _had(wanted, lambda each: _repository(root, each, host))]


def fetch_packages(root: Path, wanted: list[corpus.Package]) -> list[Tree]:
    """Download what is missing. What cannot be had any more is told and left out."""
    return [tree(each.folder, str(root)) for each in _had(wanted, lambda each: _package(root, each))]


def _had(wanted: list[_Pinned], fetch: Callable[[_Pinned], str]) -> list[_Pinned]:
    """Those that are there then. `fetch` says why one cannot be had, or nothing."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        refusals = list(pool.map(fetch, wanted))
    for refusal in filter(None, refusals):
        print(refusal, file=sys.stderr)
    return [each for each, refusal in zip(wanted, refusals, strict=True) if not refusal]


def _package(root: Path, wanted: corpus.Package) -> str:
    try:
        list(corpus.fetch(root, [wanted]))
    except corpus.CorpusError as error:
        return str(error)
    return ""


def _repository(root: Path, wanted: Repository, host: str) -> str:
    place = wanted.place(root)
    if place.is_dir():
        return ""
    partial = place.with_suffix(".part")
    shutil.rmtree(partial, ignore_errors=True)
    address = f"{host}/{wanted.name}"
    done = _git("init", "--quiet", "--bare", str(partial)) and _git(
        "--git-dir", str(partial), "fetch", "--quiet", "--depth=1", address, wanted.commit
    )
    if not done:
        return f"{wanted.name}: {wanted.commit} cannot be fetched"
    partial.rename(place)
    return ""


def _git(*arguments: str) -> bool:
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    return not subprocess.run(["git", *arguments], env=quiet, capture_output=True).returncode
