"""What a project says of its lines and quotes, and that fixes keep to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.engine import Request, check
from dllint.registry import Layer
from dllint.style import Style, style_of


@pytest.mark.parametrize(
    ("file", "text", "style"),
    [
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n", Style(100)),
        ("pyproject.toml", "[tool.ruff]\nsrc = ['a']\n[tool.other]\nline-length = 70\n", Style(88)),
        ("pyproject.toml", "[tool.black]\nline-length = 119\n[tool.ruff.lint]\nselect = ['E']\n", Style(119)),
        (
            "pyproject.toml",
            "[tool.ruff]\nsrc = ['a']\n[tool.yapf]\ncolumn_limit = 80\n",
            Style(80),
        ),
        ("pyproject.toml", "[tool.ruff]\n[tool.ruff.format]\nquote-style = 'single'\n", Style(88, "'")),
        ("ruff.toml", 'line-length = 72\n[format]\nquote-style = "double"\n', Style(72, '"')),
        ("setup.cfg", "[metadata]\nname = a\n\n[flake8]\nmax-line-length = 100\n", Style(100)),
        (".flake8", "[flake8]\nextend-ignore = E203\n", Style()),
        (".style.yapf", "[style]\nbased_on_style = google\ncolumn_limit = 80\n", Style(80)),
        (".editorconfig", "root = true\n[*.{js,py}]\nmax_line_length = 90\n", Style(90)),
        (".editorconfig", "[*.md]\nmax_line_length = 60\n", Style()),
        (".pre-commit-config.yaml", "repos:\n- repo: b\n  hooks:\n  - id: black\n", Style(88)),
        (".pre-commit-config.yaml", "- id: black\n  args: ['--line-length=110']\n", Style(110)),
        (".pre-commit-config.yaml", "- id: black\n  args: [-l, '79']\n", Style(79)),
        (".pre-commit-config.yaml", "- id: ruff\n", Style()),
        (".pre-commit-config.yaml", "- id: black\n- id: flake8\n  args: # a\n  - '--max-line-length=79'\n", Style(79)),
        (".pre-commit-config.yaml", "- id: black\n- id: isort\n  args: [-l, '79']\n", Style(88)),
        (".pre-commit-config.yaml", "- id: black\n- id: flake8\n  args: ['--max-line-length=120']\n", Style(88)),
        (".pre-commit-config.yaml", "- id: black  # 22\n  # checked: all\n  args: [--line-length=99]\n", Style(99)),
        (".pre-commit-config.yaml", "- id: ufmt\n  additional_dependencies: [black == 22.12.0]\n", Style(88)),
        (
            ".github/workflows/lint.yml",
            "- run: pip install black flake8\n- run: black -l 100 src\n",
            Style(100),
        ),
        (".circleci/config.yml", "- run:\n    command: |\n      pip install black && black .\n", Style(88)),
        (".circleci/config.yml", "- run:\n    name: black\n    command: pip install black==22.1\n", Style()),
        ("Makefile", "format:\n\tblack src/ --check\n", Style(88)),
        (
            "tox.ini",
            "deps =\n  black >= 22\ncommands =\n  python -m ruff format --line-length=90 .\n",
            Style(90),
        ),
        ("setup.cfg", "[isort]\nline_length = 88\n", Style(88)),
        (".isort.cfg", "[settings]\nline_length = 88\n", Style(88)),
        (".isort.cfg", "[isort]\nline_length=79\n", Style(79)),
        (".pre-commit-config.yaml", "- id: flake8\n- id: other\n  args: ['--max-line-length=79']\n", Style()),
    ],
)
def test_what_files_say(file: str, text: str, style: Style, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert style_of(str(tmp_path), "pkg/data.py") == style


def test_the_nearest_folder_decides(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "ruff.toml").write_text("line-length = 100\n")
    (tmp_path / "sub" / "ruff.toml").write_text("line-length = 79\n")
    assert (style_of(str(tmp_path), "sub/a.py").width, style_of(str(tmp_path), "a.py").width) == (79, 100)


CODE = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __init__(self, size, mode):
        self.transform = lambda image: image.resize(size, mode, 'a')

    def __getitem__(self, index):
        return self.transform(index)


def main(image_size_of_the_training_set, interpolation_of_the_training_set):
    for _ in DataLoader(Data(1, 2), num_workers=2):
        pass


main(1, 2)
"""


def fixed(folder: Path, code: str) -> str:
    (folder / "a.py").write_text(code, encoding="utf-8")
    check(Request(paths=(str(folder),), layer=Layer(), fix=True, unsafe_fixes=True))
    return (folder / "a.py").read_text(encoding="utf-8")


def test_lines_as_long_as_the_project_wants_them(tmp_path: Path) -> None:
    assert "        self.transform = functools.partial(_resize_to_size, size, mode)\n" in fixed(tmp_path, CODE)
    (tmp_path / "ruff.toml").write_text("line-length = 60\n")
    short = fixed(tmp_path, CODE)
    assert "functools.partial(\n            _resize_to_size, size, mode\n        )\n" in short


def test_strings_have_the_quotes_of_the_file(tmp_path: Path) -> None:
    assert "if __name__ == '__main__':\n    main(1, 2)\n" in fixed(tmp_path, CODE)
    (tmp_path / "ruff.toml").write_text('[format]\nquote-style = "double"\n')
    assert 'if __name__ == "__main__":\n    main(1, 2)\n' in fixed(tmp_path, CODE)


BEFORE = """\
import torch
from torch.utils.data import DataLoader

name = "a long name of a file that is here" + ".pt"
if "here" in name or name == "or in another place":
    print(name, "a line that gets longer than all")
for batch in DataLoader([1], num_workers=2):
    batch.sum()
"""


def test_lines_that_a_guard_makes_too_long_are_folded(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[flake8]\nmax-line-length = 53\n")
    lines = fixed(tmp_path, BEFORE).splitlines()
    assert max(map(len, lines)) <= 53
    block = lines[lines.index('if __name__ == "__main__":') + 1 :]
    assert block[:4] == ["    name = (", '        "a long name of a file that is here" + ".pt"', "    )", "    if ("]
    assert block[4:7] == ['        "here" in name', '        or name == "or in another place"', "    ):"]
    assert block[7:9] == ["        print(", '            name, "a line that gets longer than all"']


def test_two_of_a_line_that_gets_too_long_do_not_get_into_each_other(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[flake8]\nmax-line-length = 60\n")
    code = CODE.replace("= lambda image: image.resize(size, mode, 'a')", "= [lambda a: a + size, lambda a: a + size]")
    assert fixed(tmp_path, code).count("functools.partial(_add_size, size)") == 2


def test_comments_stay_below_each_other(tmp_path: Path) -> None:
    old = "        self.transform = lambda image: image.resize(size, mode, 'a')"
    assert old in CODE
    second = f"{'        self.size = size':<80}"
    code = CODE.replace(old, f"{old:<80}# resized\n{second}# in pixels")
    lines = [line for line in fixed(tmp_path, code).splitlines() if "# resized" in line or "# in pixels" in line]
    assert [line.index("#") for line in lines] == [80, 80]
    assert "lambda" not in lines[0]
