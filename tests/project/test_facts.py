"""Every folder of `programs` is a project whose `# fact:` comments must be what the model answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.facts import disagreements, project_of

PROGRAMS = sorted(path for path in (Path(__file__).parent / "programs").iterdir() if path.is_dir())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_the_model_knows_what_the_program_says(program: Path) -> None:
    wrong = disagreements(program)
    assert not wrong, "\n".join(["", *wrong])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_every_route_ends_where_workers_start(program: Path) -> None:
    project = project_of(program)
    for item in (*project.shipped, *project.running):
        if item.loader is not None:
            assert item.route, item
            assert "starts the workers here" in item.route[-1].text
            assert (item.route[-1].path, item.route[-1].span) == (item.loader.path, item.loader.span)


def test_a_wrong_fact_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "from torch.utils.data import DataLoader\n"
        "loader = DataLoader([], num_workers=2, collate_fn=lambda batch: batch)  # fact: workers none\n"
        "other = sorted([], key=lambda item: item)  # fact: shipped via collate_fn\n",
        encoding="utf-8",
    )
    wrong = disagreements(tmp_path)
    assert [line.split("\n")[0] for line in wrong] == [
        "not known: train.py:2: workers none",
        "not known: train.py:3: shipped",
        "not written: train.py:2: runs in worker",
        "not written: train.py:2: shipped",
        "not written: train.py:2: workers some",
    ]
