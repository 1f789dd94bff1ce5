"""bench/speed: what is compared, and how it is shown."""

import sys
import xml.etree.ElementTree as ElementTree

import pytest

from bench import speed
from bench.speed import Cost

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


@pytest.mark.skipif(not hasattr(speed.os, "wait4"), reason="what a process cost")
def test_a_command_is_measured_to_its_end(tmp_path) -> None:
    cost = speed.measured([sys.executable, "-c", "x = [1] * 10**7; raise SystemExit(1)"], tmp_path, tmp_path)
    assert cost.peak > 70
    with pytest.raises(SystemExit, match="ended badly"):
        speed.measured([sys.executable, "-c", "import os; print('ended badly'); os.abort()"], tmp_path, tmp_path)


def test_the_largest_file_that_names_a_loader_is_asked_about(tmp_path) -> None:
    (package := tmp_path / "package").mkdir()
    for name, text in (("a", "DataLoader"), ("b", "# longer DataLoader"), ("c", "# the longest of all of them")):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    assert speed.copied(package, tmp_path / "copies").file == "b.py"
