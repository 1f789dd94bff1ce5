"""Which data READMEs name: which page is read, what counts in it, and that findings follow when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.config import Configs
from dllint.engine import Request, check
from dllint.files import Lists
from tests.test_cache import settle

__all__ = ["settle"]

SOURCE = """
import glob

from torch.utils.data import DataLoader, Dataset


class Names(Dataset):
    def __init__(self, root):
        self.names = glob.glob(root + "/**/*.jpg", recursive=True)

    def __getitem__(self, index):
        return self.names[index]


if __name__ == "__main__":
    print(list(DataLoader(Names("images"), num_workers=4)))
"""


def named(project: Path, folder: str = "", whole: bool = True) -> tuple[str, str, int] | None:
    return Lists(Configs((str(project),)), whole).data_set(folder)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Download KITTI-360.", "kitti360"),
        ("Download Set5 or Cityscapes.", "cityscapes"),
        ("# Cityscapes\n\nA model.", ""),
        ("# Data\n\nA model.\n\n* Cityscapes", "cityscapes"),
        ("Data\n----\n\n* Cityscapes", "cityscapes"),
        ("# Data\n\nAs follows.\n# Authors\nCornell", ""),
        ("The data is ours.\n\nBy Cornell.", ""),
        ("The data of Cityscapes.\n\nPretrained on ImageNet.", "imagenet"),
        ("# Data\n\n* ShanghaiTech\n* CUHK Avenue", ""),
        ("# Data\n\n* ShanghaiTech Campus", "shanghaitechcampus"),
        ("# Data\n\nThe crowds of ShanghaiTech Part A and ShanghaiTech_B", "shanghaitechb"),
        ("", ""),
    ],
)
def test_what_counts_in_a_page(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "README.md").write_text(text)
    found = named(tmp_path)
    assert (found[1] if found else "") == name


def test_the_nearest_page_that_names_data_is_read(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "readme.rst").write_text("Our data is ImageNet.")
    (tmp_path / "a" / "README").write_text("Our data is Cityscapes.")
    (tmp_path / "a" / "b" / "README.md").write_text("How to build it.")
    (tmp_path / "a" / "README.html").write_text("Our data is COCO.")
    assert named(tmp_path, "a/b") == named(tmp_path, "a") == ("a/README", "cityscapes", 24_998)
    assert named(tmp_path) == named(tmp_path, "c") == ("readme.rst", "imagenet", 1_431_167)
    assert named(tmp_path, whole=False) is None


def test_pages_that_are_left_out_are_not_read(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "README.md"
    other.write_text("Our data is Cityscapes.")
    (tmp_path / "README.md").symlink_to(other)
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "README.md").write_text("Our data is Cityscapes.")
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "README.md").write_text("Our data is Cityscapes.\n" * 20_000)
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "README.txt").write_bytes(b"Our data is Cityscapes.\xff")
    assert [named(tmp_path, folder) for folder in ("", "venv", "large", "binary")] == [None] * 4


@pytest.mark.usefixtures("settle")
def test_a_verdict_holds_while_the_page_names_the_same(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tmp_path / "train.py").write_text(SOURCE)
    (tmp_path / "dllint.toml").write_text("")
    request = Request(paths=(str(tmp_path),), cache=True, cache_dir=str(tmp_path_factory.mktemp("cache")))

    def codes() -> list[str]:
        return [finding.code for finding, _ in check(request).findings]

    assert codes() == codes() == ["DLL201"]
    page = tmp_path / "README.md"
    page.write_text("Download the data of Cityscapes.")
    assert codes() == codes() == []
    page.write_text("Download the data of Cityscapes and ImageNet.")
    assert codes() == ["DLL201"]
