"""`python -m package`: workers leave the `__main__.py` of a package alone, which DLL301 rests on; run on torch."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

LOADING = """\
from torch.utils.data import DataLoader
for batch in DataLoader(range(2), num_workers=1, multiprocessing_context="{method}"):
    print(batch)
"""


@pytest.mark.parametrize(
    "method",
    ["spawn", pytest.param("forkserver", marks=pytest.mark.skipif(sys.platform == "win32", reason="has none"))],
)
def test_workers_do_not_import_it(method: str, tmp_path: Path) -> None:
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "__init__.py").touch()
    (tmp_path / "tool" / "__main__.py").write_text(LOADING.format(method=method))
    by_name = subprocess.run([sys.executable, "-m", "tool"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (by_name.returncode, by_name.stdout) == (0, "tensor([0])\ntensor([1])\n"), by_name.stderr


def test_a_script_is_imported(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(LOADING.format(method="spawn"))
    script = subprocess.run([sys.executable, "tool.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert script.returncode != 0
    assert "if __name__ == '__main__':" in script.stderr
