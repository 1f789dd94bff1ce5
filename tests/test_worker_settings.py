"""What a worker has of the main process: each setting of the table on the families' page, run on real torch."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest

from tests import claims
from tests.worker_settings import DEFAULT, FAILS, INHERITED, RESET, SETTINGS, WORKS

ROOT = Path(__file__).parent.parent
PROGRAM = Path(__file__).parent / "worker_settings.py"
TABLE = (ROOT / "rules/dllint_rules/correctness/README.md").read_text(encoding="utf-8")
METHODS = ("fork", "spawn", "forkserver")


@pytest.fixture(scope="module")
def seen() -> dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]]:
    """What the main process had before, what it has, and what its worker has, under each start method."""
    found = {}
    for method in METHODS:
        outcome = claims.run({"main.py": PROGRAM.read_text(encoding="utf-8")}, "main.py", method)
        assert outcome.kind == "ok", f"{method}: {outcome}\n{outcome.stderr}"
        found[method] = json.loads(outcome.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", SETTINGS)
def test_the_table_names_it(name: str) -> None:
    section = TABLE.partition("## What a worker has of the main process")[2].partition("\n## ")[0]
    assert name in section.replace("`", ""), name


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.skipif(os.name != "posix", reason="fork and forkserver exist on Linux and macOS only")
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed: pip install torch")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_worker_has_what_the_table_says(
    name: str, method: str, seen: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]]
) -> None:
    before, after, worker = seen[method]
    if name not in worker:
        pytest.skip("its library is not installed")
    kind = SETTINGS[name].kind
    assert kind == WORKS or before[name] != after[name], "nothing was set"
    if kind in (INHERITED, WORKS) or (method == "fork" and kind in (DEFAULT, FAILS)):
        assert worker[name] == after[name]
    elif kind == DEFAULT:
        assert worker[name] == before[name]
    elif kind == FAILS:
        assert worker[name] == SETTINGS[name].error
    else:
        assert kind == RESET and worker[name] == {"torch.set_num_threads": "1"}.get(name, "False")
