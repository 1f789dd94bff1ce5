"""Rules and knowledge of other packages: found, used, and named when they are broken. The example package is one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lint import ROOT

EXAMPLE = ROOT / "examples" / "plugin"
PROGRAM = """\
import httpx
from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments


class Pages:
    def __init__(self):
        self.client = httpx.Client()

    def __getitem__(self, index):
        return self.client.get(str(index))

    def __len__(self):
        return 9


if __name__ == "__main__":
    args = SentenceTransformerTrainingArguments("out", dataloader_num_workers=4)
    trainer = SentenceTransformerTrainer(None, args, Pages(), data_collator=lambda pages: pages)
"""


def dllint(folder: Path, *args: str, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a folder, with a site of installed packages."""
    paths = [site, EXAMPLE / "src"] if site else []
    path = os.pathsep.join(map(str, (*paths, ROOT, ROOT / "rules")))
    env = {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "dllint", *args]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False)


def install(site: Path, points: str, name: str = "dllint-house") -> Path:
    """What an installer leaves of a package besides its modules."""
    info = site / f"{name.replace('-', '_')}-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(points)
    return site


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The example package, installed: its entry points are read from its own pyproject.toml."""
    text = (EXAMPLE / "pyproject.toml").read_text()
    groups = text.split("[project.entry-points.")[1:]
    points = "".join(f"[{part}".split("\n[tool")[0].replace('"', "") for part in groups)
    return install(tmp_path / "site", points)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "dllint.toml").touch()
    (folder / "pages.py").write_text(PROGRAM)
    return folder


def test_the_example_passes_its_own_tests(tmp_path: Path, site: Path) -> None:
    for at, words, installed in ((tmp_path, [str(EXAMPLE)], None), (tmp_path, ["dllint_house"], site)):
        done = dllint(at, "test", *words, site=installed)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
        assert done.stderr == "2 cases on 1 page: all as the pages say.\n"


def test_an_installed_package_adds_its_rules(project: Path, site: Path) -> None:
    (project / "more.py").write_text(
        "import requests\nfrom torch.utils.data import DataLoader\n\n\ndef ask(page):\n    return requests.get(page)\n"
        "\n\nif __name__ == '__main__':\n    loader = DataLoader([1], num_workers=2, collate_fn=ask)\n"
    )
    done = dllint(project, "check", "more.py", site=site)
    assert done.stdout.startswith("more.py:6:12: DLL701 request without a timeout in worker code")
    assert dllint(project, "check", "--ignore", "request-without-timeout", "more.py", site=site).returncode == 0
    assert dllint(project, "rule", "DLL701", site=site).stdout.startswith("# request-without-timeout (DLL701)")
    assert "unknown rule selector" in dllint(project, "check", "--ignore", "DLL701").stderr, "not without the package"


def test_an_installed_package_adds_its_knowledge(project: Path, site: Path) -> None:
    assert dllint(project, "check").stdout == ""
    for args in ((), ("--isolated",)):
        told = dllint(project, "check", *args, site=site).stdout
        assert "pages.py:7:23: DLL106 `httpx.Client`" in told, "an unpicklable class"
        assert "pages.py:18:77: DLL103 `lambda` as `data_collator`" in told, "a loader, and what it ships"


BUILT_IN = """
from dllint import Knowledge
from dllint.knowledge import DATASETS, LOADERS
OWN = {name.replace("mxnet.gluon", "house"): boundary for name, boundary in LOADERS.items()}
KNOWLEDGE = Knowledge({**LOADERS, **OWN}, tuple(DATASETS))
"""


def test_a_package_can_say_all_that_the_built_in_table_says(project: Path, tmp_path: Path) -> None:
    """`mxnet.gluon.data.DataLoader` among it, whose workers are threads if `thread_pool` is true."""
    site = install(tmp_path / "site", "[dllint.knowledge]\nx = table:KNOWLEDGE\n", "dllint-x")
    (site / "table.py").write_text(BUILT_IN)
    program = "from house.data import DataLoader\nDataLoader([1], batchify_fn=lambda b: b, num_workers=2{})\n"
    for name, more in (("none", ""), ("threads", ", thread_pool=True"), ("processes", ", thread_pool=0")):
        (project / f"{name}.py").write_text(program.format(more))
    told = dllint(project, "check", ".", "--output-format", "json-lines", site=site)
    found = [
        (finding["filename"].rpartition("/")[2], finding["code"])
        for finding in map(json.loads, told.stdout.splitlines())
    ]
    assert found == [("none.py", "DLL103"), ("processes.py", "DLL103")], told.stderr


@pytest.mark.parametrize(
    ("points", "module", "told"),
    [
        (
            "[dllint.rules]\nx = broken\n",
            "import nothing_of_the_kind",
            "the rule package 'broken' of dllint-x 0.1.0: Mod",
        ),
        ("[dllint.rules]\nx = absent\n", "", "the rule package 'absent' of dllint-x 0.1.0: ModuleNotFoundError"),
        (
            "[dllint.knowledge]\nx = broken:K\n",
            "",
            "'broken:K', which dllint-x 0.1.0 announces as dllint.knowledge: Attr",
        ),
        ("[dllint.knowledge]\nx = broken:K\n", "K = {}", "is not a `dllint.Knowledge`"),
        (
            "[dllint.knowledge]\nx = broken:K\n",
            "from dllint import Knowledge\nK = Knowledge(dataset_bases='a.B')",
            "Expected `array`, got `str` - at `$.dataset_bases`",
        ),
    ],
)
def test_a_broken_package_is_named(project: Path, tmp_path: Path, points: str, module: str, told: str) -> None:
    broken = install(tmp_path / "broken", points, "dllint-x")
    (broken / "broken.py").write_text(module)
    done = dllint(project, "check", site=broken)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_two_packages_may_not_have_one_code(project: Path, site: Path) -> None:
    install(site, "[dllint.rules]\nx = twin\n", "dllint-x")
    rule = "from dllint import Rule\nclass R(Rule):\n    code, name, summary = 'DLL701', 'twin-rule', 'A twin'\n"
    (site / "twin.py").write_text(rule)
    done = dllint(project, "check", site=site)
    assert done.returncode == 2
    assert "DLL701 and DLL701 are both called 'DLL701'" in done.stderr
