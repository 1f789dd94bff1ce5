"""What a project's files say of the NumPy it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.requirements import may_be_below, only_before, only_from

CONDA = "dependencies:\n  - python=3.11\n  - numpy={}\n  - pip:\n    - torch\n"
LOCKED = '[[package]]\nname = "numpy"\nversion = "{}"\n\n[[package]]\nname = "torch"\nversion = "1.0"\n'
ONLY_2 = [
    ("requirements.txt", "torch\nnumpy>=2\n"),
    ("requirements-dev.txt", "numpy[extra]==2.1.3 ; python_version > '3.9'\n"),
    ("requirements/train.txt", "numpy ~= 2.0\n"),
    ("constraints.txt", "numpy==2.*\n"),
    ("pyproject.toml", '[project]\ndependencies = ["torch", "numpy>=2.1,<3"]\n'),
    ("pyproject.toml", '[dependency-groups]\ntrain = ["NumPy >= 2.1, < 3"]\n'),
    ("pyproject.toml", '[tool.poetry.dependencies]\nnumpy = "^2.0"\n'),
    ("pyproject.toml", '[tool.poetry.dependencies]\nnumpy = { version = "^2.0", optional = true }\n'),
    ("setup.py", "setup(install_requires=['numpy>=2.0'])\n"),
    ("setup.cfg", "[options]\ninstall_requires =\n    torch\n    numpy>=2\n"),
    ("environment.yml", CONDA.format("2.1.2=py311h64a7726_0")),
    ("environment-gpu.yaml", CONDA.format("2.1")),
    ("Pipfile", '[packages]\nnumpy = "==2.0.1"\n'),
    ("Pipfile.lock", '{"default": {"numpy": {"hashes": ["sha256:12"], "index": "pypi", "version": "==2.0.1"}}}'),
    ("poetry.lock", LOCKED.format("2.2.0")),
    ("uv.lock", LOCKED.format("2.2.0")),
    ("pdm.lock", LOCKED.format("2.2.0")),
]


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


@pytest.mark.parametrize(("name", "text"), ONLY_2)
def test_a_file_that_rules_out_numpy_1(name: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, name, text)
    assert only_from("numpy", 2, str(tmp_path), "src/package/data.py")


@pytest.mark.parametrize(("name", "text"), ONLY_2)
def test_the_same_file_of_a_project_with_numpy_1(name: str, text: str, tmp_path: Path) -> None:
    older = text.replace("2.", "1.").replace(">= 2", ">= 1").replace(">=2", ">=1").replace("<3", "<2")
    assert older != text
    write(tmp_path, name, older)
    assert not only_from("numpy", 2, str(tmp_path), "data.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "torch\nnumpy\n"),
        ("requirements.txt", "numpy<3\n"),
        ("requirements.txt", "numpy-stl==2.1\nnumpyro>=2\n"),
        ("requirements.txt", "# numpy>=2\ntorch  # numpy>=2\n"),
        ("requirements.txt", "numpy!=2.0.1\n"),
        ("requirements.txt", "numpy>=2; python_version >= '3.13'\nnumpy<2; python_version < '3.13'\n"),
        ("pyproject.toml", '[build-system]\nrequires = ["numpy>=2"]\n[project]\ndependencies = ["numpy"]\n'),
        ("README.md", "numpy>=2\n"),
    ],
)
def test_what_leaves_numpy_1_possible(name: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, name, text)
    assert not only_from("numpy", 2, str(tmp_path), "data.py")


def test_all_that_is_said_must_agree(tmp_path: Path) -> None:
    write(tmp_path, "poetry.lock", LOCKED.format("2.1.0"))
    write(tmp_path, "package/requirements.txt", "numpy>=2\n")
    assert only_from("numpy", 2, str(tmp_path), "package/data.py")
    write(tmp_path, "pyproject.toml", '[project]\ndependencies = ["numpy>=1.24"]\n')
    assert not only_from("numpy", 2, str(tmp_path), "package/data.py")


def test_other_folders_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, "other/requirements.txt", "numpy>=2\n")
    assert not only_from("numpy", 2, str(tmp_path), "package/data.py")
    assert not only_from("numpy", 2, str(tmp_path / "package"), "data.py")


@pytest.mark.parametrize(
    ("said", "below"),
    [("torch>=1.7", True), ("torch==1.13.1", True), ("torch<2.4", True), ("torch", False), ("torch>=2.1,<3", False)],
)
def test_an_old_version_is_possible_where_one_is_said(said: str, below: bool, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(f"numpy==1.26\n{said}\n")
    assert may_be_below("torch", 2, str(tmp_path), "a.py") == below


@pytest.mark.parametrize(
    ("said", "before"),
    [
        ("torchvision==0.2.0", True), ("torchvision=0.2.1", True), ("torchvision<0.2.2", True),
        ("torchvision>=0.1,<=0.2.1", True), ("torchvision~=0.2", False), ("torchvision==0.2.*", False),
        ("torchvision>=0.2.0", False), ("torchvision==0.2.2", False), ("torchvision<=0.2.2", False),
        ("torchvision==0.9.1", False), ("torchvision", False), ("torchvision!=0.2.0", False),
        ("torchvision==0.2.0\ntorchvision>=0.3", False), ("torch==0.3.1", False),
    ],
)  # fmt: skip
def test_only_old_versions_are_asked_for(said: str, before: bool, tmp_path: Path) -> None:
    (tmp_path / "requirement.txt").write_text(f"{said}\n")
    assert only_before("torchvision", "0.2.2", str(tmp_path), "a.py") == before
