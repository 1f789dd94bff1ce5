"""Public packages to measure on, unpacked: `python -m bench.corpus [FOLDER]`.

`bench/corpus.txt` pins them: version, archive, SHA-256. Each is downloaded by pip, from the index pip is configured
for, and its Python files are unpacked into a folder of its own; what is there already stays. Nothing is installed;
pip builds the metadata of a source archive, which runs its build backend.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

LIST = Path(__file__).with_name("corpus.txt")
WANTED = (".py", ".pyi", "pyproject.toml")
TIMEOUT_S = 600


class Package(NamedTuple):
    """A line of the list. `family` is what it is audited for; `lines` is there for its size only."""

    name: str
    version: str
    form: str
    family: str
    sha256: str

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.version}"


class CorpusError(Exception):
    """A package could not be fetched as the list says."""


def packages(file: Path = LIST) -> list[Package]:
    """The pinned packages, in the list's order."""
    rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return [Package(*requirement.split("=="), *rest) for requirement, *rest in rows]


def fetch(root: Path, wanted: list[Package]) -> Iterator[tuple[Package, Path]]:
    """Each package with the folder that holds its files. Raises CorpusError."""
    root.mkdir(parents=True, exist_ok=True)
    for package in wanted:
        folder = root / package.folder
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=root, prefix=".") as scratch:
                archive = _download(package, Path(scratch, "archive"))
                files = Path(scratch, "files")
                _unpack(archive, files)
                files.rename(folder)
        yield package, folder


def lines(folder: Path) -> int:
    """The lines of Python in a folder, but for what is installed there."""
    files = (file for file in folder.rglob("*.py") if "site-packages" not in file.parts)
    return sum(file.read_bytes().count(b"\n") for file in files)


def default_root() -> Path:
    """A folder in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "dllint-corpus")


def _download(package: Package, folder: Path) -> Path:
    kind = f"--no-binary={package.name}" if package.form == "sdist" else f"--only-binary={package.name}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", kind, "--dest", str(folder)]
    try:
        done = subprocess.run(
            [*command, f"{package.name}=={package.version}"], capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise CorpusError(f"{package.folder}: pip took more than {TIMEOUT_S} s") from None
    if done.returncode:
        raise CorpusError(f"{package.folder}: pip failed:\n{done.stderr.strip()}")
    (archive,) = folder.iterdir()
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != package.sha256:
        raise CorpusError(f"{archive.name}: its SHA-256 is {found}, not {package.sha256} as pinned")
    return archive


def _unpack(archive: Path, target: Path) -> None:
    """Write an archive's Python files: no links, nothing outside the target. A source archive's one folder goes."""
    found: dict[PurePosixPath, bytes] = {}
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            found = {PurePosixPath(name): wheel.read(name) for name in wheel.namelist() if name.endswith(WANTED)}
    else:
        with tarfile.open(archive) as sdist:
            for member in sdist:
                if member.isfile() and member.name.endswith(WANTED):
                    content = sdist.extractfile(member)
                    assert content is not None
                    found[PurePosixPath(*PurePosixPath(member.name).parts[1:])] = content.read()
    for name, text in found.items():
        if name.is_absolute() or ".." in name.parts:
            raise CorpusError(f"{archive.name} holds {name}, which leads out of its folder")
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text)
    if not found:
        raise CorpusError(f"{archive.name} holds no Python files")
    # The package is its own project, wherever the folder is.
    (target / "pyproject.toml").touch()


def main() -> None:
    """Fetch what is missing and print the packages with their sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default_root(), help="default: %(default)s")
    parser.add_argument("--family", action="append", help="only packages of this family")
    parser.add_argument("--again", action="store_true", help="throw away what is there")
    args = parser.parse_args()
    wanted = [package for package in packages() if not args.family or package.family in args.family]
    total = 0
    try:
        if args.again:
            for package in wanted:
                shutil.rmtree(args.folder / package.folder, ignore_errors=True)
        for package, folder in fetch(args.folder, wanted):
            size = lines(folder)
            total += size
            print(f"{size:>9,} lines  {package.family:<10} {folder}", flush=True)
    except CorpusError as error:
        sys.exit(str(error))
    print(f"{total:>9,} lines")


if __name__ == "__main__":
    main()
