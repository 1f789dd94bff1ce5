"""dllint on public packages and on the standard library: the filter loses nothing, and nothing crashes.

The packages are those that `python -m bench.corpus` has fetched (into $DLLINT_CORPUS, if that is set).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from bench.corpus import Package, default_root, packages

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("DLLINT_CORPUS") or default_root())
RUN = "import sys; from dllint.cli import main; sys.exit(main())"
UNFILTERED = "from dllint import files; files.close = lambda peeks, root: frozenset(peeks); " + RUN

pytestmark = pytest.mark.slow


def check(folder: Path, program: str = RUN) -> list[object]:
    """The findings in a folder, without their fixes; a crash fails the test.

    A fix that is refused names the first place that speaks against it, in any of the files that were read.
    """
    command = [sys.executable, "-c", program, "check", "--no-cache", "--exit-zero", "--output-format", "json"]
    done = subprocess.run([*command, str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert "internal error" not in done.stderr
    found = json.loads(done.stdout)
    for finding in found:
        finding.pop("fix", None)
    return sorted(found, key=json.dumps)


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.name)
def test_the_filter_loses_nothing(package: Package) -> None:
    folder = CORPUS / package.folder
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: python -m bench.corpus")
    assert check(folder) == check(folder, UNFILTERED)


def test_the_standard_library_is_read() -> None:
    assert check(Path(sysconfig.get_path("stdlib"))) is not None
