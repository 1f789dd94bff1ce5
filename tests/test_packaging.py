"""What is shipped and what it costs to start: the wheel, a bare checkout, and the modules that commands import."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {"libcst", "rich", "torch", "numpy", "pandas", "psutil", "packaging", "dllint_rules", "multiprocessing"}

LIST_MODULES = """
import json, sys
before = set(sys.modules)
sys.argv[0] = "dllint"
try:
    {code}
except SystemExit as end:
    assert end.code in (0, 1, None), end.code
names = sorted({{name.split(".")[0] for name in set(sys.modules) - before}})
print("MODULES", json.dumps(names))
"""


def python(code: str, *arguments: str, cwd: Path, path: Path = ROOT) -> str:
    """Standard output of a fresh interpreter that finds `path` first."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules_after(code: str, *arguments: str, cwd: Path) -> set[str]:
    """The top-level modules that a fresh interpreter has imported after running `code`."""
    last = python(LIST_MODULES.format(code=code), *arguments, cwd=cwd).splitlines()[-1]
    return set(json.loads(last.removeprefix("MODULES ")))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    python("import hatchling.build, sys; hatchling.build.build_sdist(sys.argv[1])", str(folder), cwd=ROOT)
    return next(folder.glob("dllint-*.tar.gz"))


@pytest.fixture(scope="session")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that pip builds from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    source = next(folder.glob("dllint-*"))
    python("import hatchling.build, sys; hatchling.build.build_wheel(sys.argv[1])", str(folder), cwd=source)
    return next(folder.glob("dllint-*.whl"))


def test_the_wheel_holds_engine_and_rules_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = {
        path.relative_to(root).as_posix()
        for root, package in ((ROOT, "dllint"), (ROOT / "rules", "dllint_rules"))
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == sources
    assert "dllint/py.typed" in held
    assert any(name.endswith(".md") for name in held), "rule pages are printed by `dllint rule`"


def test_the_wheel_announces_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(next(n for n in archive.namelist() if n.endswith("entry_points.txt"))).decode()
        metadata = archive.read(next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))).decode()
    points = configparser.ConfigParser()
    points.read_string(text)
    assert points["console_scripts"]["dllint"] == "dllint.cli:main"
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert not any("torch" in line or "numpy" in line for line in required)


def test_the_unpacked_wheel_runs(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = "import dllint, dllint_rules; from dllint import registry; print(dllint.__file__, len(registry.rules()))"
    file, count = python(code, cwd=tmp_path, path=tmp_path).split()
    assert Path(file).is_relative_to(tmp_path)
    assert int(count) == len(list((ROOT / "rules").rglob("dll[0-9][0-9][0-9]_*.py")))


def test_a_bare_checkout_finds_its_rules(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path[:] = [p for p in sys.path if p != {str(ROOT / 'rules')!r}]\n"
        "from dllint import registry; registry.rules(); print(sys.modules['dllint_rules'].__path__[0])"
    )
    assert Path(python(code, cwd=tmp_path).strip()) == ROOT / "rules" / "dllint_rules"


def test_importing_dllint_imports_nothing_else(tmp_path: Path) -> None:
    code = "import dllint, sys; print([name for name in sys.modules if name.startswith('dllint.')])"
    assert python(code, cwd=tmp_path).strip() == "[]"
    assert not modules_after("import dllint", cwd=tmp_path) & (HEAVY | {"msgspec", "click"})


def test_version_costs_no_heavy_import(tmp_path: Path) -> None:
    used = modules_after("from dllint.cli import main; main()", "--version", cwd=tmp_path)
    assert "click" in used
    assert not used & (HEAVY | {"msgspec", "pathspec"})


def test_a_project_without_loaders_is_never_parsed(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("print('no boundary here')\n", encoding="utf-8")
    used = modules_after("from dllint.cli import main; main()", "check", ".", cwd=tmp_path)
    assert not used & (HEAVY - {"packaging", "dllint_rules"})


def test_a_check_imports_neither_torch_nor_rich(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "from torch.utils.data import DataLoader\nloader = DataLoader([], num_workers=2, collate_fn=lambda b: b)\n",
        encoding="utf-8",
    )
    used = modules_after("from dllint.cli import main; main()", "check", ".", cwd=tmp_path)
    assert "dllint_rules" in used
    assert not used & {"torch", "numpy", "rich", "pandas", "libcst"}, "fixes are made for those who see them"
