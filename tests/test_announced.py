"""What installed packages announce: as Python hears it, and without Python's search where there is nothing to hear."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, entry_points
from pathlib import Path

import pytest

from dllint import announced
from tests.lint import ROOT

TEXT = "[dllint.rules]\nhouse = house_rules\n"


def heard() -> list[str]:
    """The values that are announced, which are those that Python finds."""
    points = announced.points("dllint.rules")
    assert points == list(entry_points(group="dllint.rules"))
    return [point.value for point in points]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all there is on the search path."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    return tmp_path


def metadata(folder: Path, file: str, text: str = TEXT) -> None:
    """What an installer leaves of a package."""
    folder.mkdir(parents=True)
    (folder / file).write_text("Metadata-Version: 2.1\nName: house\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(text)


@pytest.mark.parametrize(
    "text", ["", "[console_scripts]\ndllint = dllint.cli:main\n", "[flake8.extension]\nDLL = a:B\n"]
)
def test_other_groups_are_not_ours(site: Path, text: str) -> None:
    metadata(site / "house-1.dist-info", "METADATA", text)
    assert heard() == []


@pytest.mark.parametrize(("name", "file"), [("house-1.dist-info", "METADATA"), ("House.EGG-INFO", "PKG-INFO")])
def test_an_installed_package_is_heard(site: Path, name: str, file: str) -> None:
    metadata(site / name, file)
    assert heard() == ["house_rules"]


def test_an_egg_is_heard(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata(site / "house-1.egg" / "EGG-INFO", "PKG-INFO")
    assert heard() == []
    monkeypatch.setattr(sys, "path", [str(site / "house-1.egg")])
    assert heard() == ["house_rules"]


def test_an_archive_on_the_search_path_is_left_to_python(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(site / "house-1-py3-none-any.whl", "w") as archive:
        archive.writestr("house-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: house\nVersion: 1\n")
        archive.writestr("house-1.dist-info/entry_points.txt", TEXT)
    monkeypatch.setattr(sys, "path", [str(site / "house-1-py3-none-any.whl")])
    assert heard() == ["house_rules"]


def test_another_finder_is_left_to_python(site: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("far")
    metadata(place / "house-1.dist-info", "METADATA")

    class Finder:
        """One that tells of packages that are on no path."""

        def find_spec(self, *_: object) -> None: ...

        def find_distributions(self, context: object) -> list[Distribution]:
            return [Distribution.at(place / "house-1.dist-info")]

    assert heard() == []
    sys.meta_path.append(Finder())
    try:
        assert heard() == ["house_rules"]
    finally:
        del sys.meta_path[-1]


def test_where_nothing_is_announced_python_does_not_search(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.append({str(ROOT)!r}); from dllint.announced import points\n"
        "print(points('dllint.rules'), 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["[]", "False"]
