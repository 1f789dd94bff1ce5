"""A number of workers that only files of settings have makes no loader certain, and none without a reader."""

from __future__ import annotations

import pytest

from dllint import Certainty, Project, Workers
from dllint.collect import collect
from dllint.documents import settings
from dllint.project import Targets
from dllint.source import Source

PROGRAM = """\
{imports}
from torch.utils.data import DataLoader


def batches(options):
    return DataLoader([1, 2], num_workers={number})
"""


@pytest.mark.parametrize(
    ("imports", "number", "workers", "certainty"),
    [
        ("import yaml", "options['workers']", Workers.SOME, Certainty.LIKELY),
        ("from omegaconf import OmegaConf", "int(options.workers)", Workers.SOME, Certainty.LIKELY),
        ("import json", "options['workers']", Workers.UNKNOWN, Certainty.LIKELY),
        ("import yaml", "4", Workers.SOME, Certainty.CERTAIN),
    ],
)
def test_settings_make_nothing_certain(imports: str, number: str, workers: Workers, certainty: Certainty) -> None:
    source = Source("train.py", PROGRAM.format(imports=imports, number=number))
    said = Source("train.yaml", "workers: 8\n")
    models = {"train.py": collect(source), "train.yaml": settings.collect(said)}
    project = Project(models, Targets(), lambda path: {"train.py": source, "train.yaml": said}[path])
    assert [(loader.workers, loader.certainty) for loader in project.loaders] == [(workers, certainty)]


FILLED = """\
import yaml
from torch.utils.data import DataLoader


class Batches:
    def __init__(self, size, workers=0):
        self.workers = workers

    def made(self):
        return DataLoader([1, 2], num_workers=self.workers)


with open("train.yaml") as file:
    settings = yaml.safe_load(file)
batches = Batches(**settings["{section}"]).made()
"""


@pytest.mark.parametrize(
    ("section", "workers", "certainty"),
    [("data", Workers.SOME, Certainty.LIKELY), ("model", Workers.NONE, Certainty.LIKELY)],
)
def test_settings_fill_parameters_from_their_own_section(section: str, workers: Workers, certainty: Certainty) -> None:
    source = Source("train.py", FILLED.format(section=section))
    said = Source("train.yaml", "data:\n  workers: 8\nmodel:\n  size: 3\n")
    models = {"train.py": collect(source), "train.yaml": settings.collect(said)}
    project = Project(models, Targets(), lambda path: {"train.py": source, "train.yaml": said}[path])
    assert [(loader.workers, loader.certainty) for loader in project.loaders] == [(workers, certainty)]


HANDED_ON = """\
import yaml
from torch.utils.data import DataLoader


def made(size, options=None):
    if options is None:
        options = {{}}
    return DataLoader([size, 2], **options)


with open("train.yaml") as file:
    settings = yaml.safe_load(file)
batches = made(**settings["{section}"])
"""


@pytest.mark.parametrize(
    ("section", "options", "workers"),
    [
        ("train", "num_workers: ${workers}", Workers.SOME),
        ("train", "num_workers: 4", Workers.SOME),
        ("train", "shuffle: true", Workers.UNKNOWN),
        ("test", "num_workers: 4", Workers.UNKNOWN),
        ("other", "num_workers: 4", Workers.SOME),
    ],
)
def test_settings_fill_a_mapping_that_is_handed_on(section: str, options: str, workers: Workers) -> None:
    source = Source("train.py", HANDED_ON.format(section=section))
    said = Source("train.yaml", f"workers: 8\ntrain:\n  size: 3\n  options:\n    {options}\ntest:\n  size: 4\n")
    models = {"train.py": collect(source), "train.yaml": settings.collect(said)}
    project = Project(models, Targets(), lambda path: {"train.py": source, "train.yaml": said}[path])
    assert [(loader.workers, loader.certainty) for loader in project.loaders] == [(workers, Certainty.LIKELY)]
