"""The extension for VS Code: what it says agrees with the server; its own tests, where node and its packages are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dllint import __version__

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "editors" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
OF_THE_CLIENT = {"enable", "path", "interpreter", "trace.server"}


def test_the_extension_has_the_version_of_dllint() -> None:
    assert MANIFEST["version"] == __version__


def test_the_settings_are_those_that_the_server_takes() -> None:
    pytest.importorskip("lsprotocol")
    from dllint.editor.desk import Settings

    names = {name.removeprefix("dllint.") for name in MANIFEST["contributes"]["configuration"]["properties"]}
    taken = {re.sub(r"_(\w)", lambda match: match[1].upper(), field) for field in Settings.__struct_fields__}
    assert names == taken | OF_THE_CLIENT
    page = (EXTENSION / "README.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`dllint.{name}`" not in page] == []


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert [name for name, entry in packages.items() if "resolved" in entry] == []


def test_its_own_tests() -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    if not (EXTENSION / "node_modules").is_dir():
        pytest.skip("its packages are not installed: `npm ci` in editors/vscode")
    done = subprocess.run([npm, "test"], cwd=EXTENSION, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^(?:#|ℹ) pass [1-9]", done.stdout, re.MULTILINE), done.stdout
