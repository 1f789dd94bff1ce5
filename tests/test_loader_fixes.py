"""DLL604's fix, where it depends on the versions that a project allows."""

from __future__ import annotations

from pathlib import Path

import pytest
from dllint_rules.correctness.dll604_loader_argument_conflict import LoaderArgumentConflict

from dllint import Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source

CODE = """\
import argparse
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
DataLoader(range(8), num_workers=args.workers, prefetch_factor=4, shuffle=True)
"""


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("torch>=1.8", '**({"prefetch_factor": 4} if args.workers > 0 else {}), shuffle=True)'),
        ("torch>=2.0", "prefetch_factor=4 if args.workers > 0 else None, shuffle=True)"),
        ("torch", "prefetch_factor=4 if args.workers > 0 else None, shuffle=True)"),
    ],
)
def test_no_prefetching_is_written_as_all_allowed_versions_take_it(said: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"{said}\n")
    source = Source("a.py", CODE)
    project = Project({"a.py": collect(source)}, Targets(root=str(tmp_path)), lambda path: source)
    rule = LoaderArgumentConflict()
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    result = apply(CODE, fix.edits)
    assert text in result
    changed = Source("a.py", result)
    assert not list(rule.check(Project({"a.py": collect(changed)}, Targets(root=str(tmp_path)), lambda path: changed)))
