"""bench/speed: what is compared, and how it is shown."""

import json
import os
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from bench import hook, sections, speed, timing
from bench.timing import Cost

FOUND = {
    "ruff, no cache": [Cost(1, 1, 20), Cost(2, 1, 20), Cost(4, 1, 20)],
    "dllint, no cache": [Cost(8, 6, 50), Cost(8, 6, 60), Cost(8, 6, 70)],
}


def test_ratios_are_taken_in_the_same_round() -> None:
    assert speed.ratio(FOUND, "dllint, no cache", "wall") == 4, "the median of 8, 4 and 2"
    assert speed.ratio(FOUND, "dllint, no cache", "cpu") == 6
    assert speed.table(FOUND)[-1] == "| dllint, no cache | 8.00 | 6.00 | 4.0 | 6.0 | 60 |"


def test_the_plot_is_a_picture_with_a_bar_for_each() -> None:
    bars = ElementTree.fromstring(speed.plot(FOUND)).findall("{*}rect")
    assert float(bars[0].get("width", "")) < float(bars[1].get("width", ""))


unix = pytest.mark.skipif(not hasattr(os, "wait4"), reason="what a process cost")


@unix
def test_a_command_is_measured_to_its_end(tmp_path) -> None:
    cost = timing.measured([sys.executable, "-c", "x = [1] * 10**7; raise SystemExit(1)"], tmp_path, tmp_path)
    assert cost.peak > 70
    with pytest.raises(SystemExit, match="ended badly"):
        timing.measured([sys.executable, "-c", "import os; print('ended badly'); os.abort()"], tmp_path, tmp_path)


def test_the_largest_file_that_names_a_loader_is_asked_about(tmp_path) -> None:
    (package := tmp_path / "package").mkdir()
    for name, text in (("a", "DataLoader"), ("b", "# longer DataLoader"), ("c", "# the longest of all of them")):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    assert speed.copied(package, tmp_path / "copies").file == "b.py"


def test_the_power_of_the_lines_is_fitted() -> None:
    assert sections.exponent([(10, 3.0), (100, 30.0), (1000, 300.0)]) == pytest.approx(1)
    assert sections.exponent([(10, 1.0), (100, 100.0)]) == pytest.approx(2)


@unix
def test_a_hook_is_measured_beside_an_import(tmp_path) -> None:
    (project := tmp_path / "project").mkdir()
    (project / "dllint.toml").touch()
    plain, hazard = hook.cases(project, tmp_path / "cache", 1)
    assert (plain.module, hazard.module, len(plain.costs), len(hazard.costs)) == ("click", "libcst", 1, 1)
    assert list(project.iterdir()) == [project / "dllint.toml"], "the files of the hook are gone"
    assert hook.Case(9, "a", "b", [(Cost(1, 6, 1), Cost(1, 2, 1))]).row() == "| 9 | a | 6.000 | 3.00 × `import b` |"


@unix
def test_where_the_time_goes_is_asked_from_inside(tmp_path) -> None:
    (tmp_path / "dllint.toml").touch()
    (tmp_path / "train.py").write_text(hook.HAZARD, encoding="utf-8")
    (tmp_path / "plain.py").write_text(hook.PLAIN, encoding="utf-8")
    command = [sys.executable, "-m", "bench.parts"]
    parts, whole = (
        json.loads(timing.answered([*command, what, str(tmp_path)], tmp_path, tmp_path)[1])
        for what in ("parts", "whole")
    )
    assert parts["lines"] == hook.HAZARD.count("\n"), "the other file is not parsed"
    assert parts["whole"] > parts["ast"]
    assert (whole["files"], whole["largest"]) == (2, len(hook.HAZARD) / 1e3)
    assert whole["main"] > 20
