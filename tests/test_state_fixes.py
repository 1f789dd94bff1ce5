"""DLL609's fix: a `worker_init_fn` that sets what the main process sets, only where workers get just that."""

from __future__ import annotations

import textwrap

import pytest
from dllint_rules.correctness.dll609_state_only_in_main import StateOnlyInMain

from dllint import Applicability, Fix, Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports

CONFIG = "SCALE = 1\nCROP = {'size': 2}\n\n\ndef double(scale):\n    return 2 * scale\n"
DATA = """\
import config
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return config.SCALE, config.CROP["size"]


def make(rows):
    return DataLoader(rows, num_workers=2)
"""
TRAIN = """\
import sys

import config
from data import Rows, make
from torch.utils.data import DataLoader

{before}

def main({parameters}):
{body}

if __name__ == "__main__":
    main({given})
"""


def fix_of(body: str, before: str = "", parameters: str = "", given: str = "") -> tuple[str, Fix]:
    """The script with the fix of its first finding, and the fix."""
    indented = textwrap.indent(textwrap.dedent(body), "    ")
    train = TRAIN.format(body=indented, before=textwrap.dedent(before), parameters=parameters, given=given)
    texts = {"config.py": CONFIG, "data.py": DATA, "train.py": train}
    sources = {path: Source(path, text) for path, text in texts.items()}
    project = Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)
    finding = min(StateOnlyInMain().check(project), key=lambda finding: finding.span)
    fix = StateOnlyInMain().fix(finding, project)
    assert fix is not None
    source = sources["train.py"]
    return apply(source.text, [*fix.edits, *place_imports(source, parse(source), fix.imports)]), fix


LOOP = "for batch in DataLoader(Rows(), num_workers=2):\n    print(batch)\n"


@pytest.mark.parametrize(
    ("body", "written"),
    [
        (f"config.SCALE = 3\n{LOOP}", "def set_scale(worker):\n    config.SCALE = 3\n"),
        (f"config.SCALE = config.double\n{LOOP}", "def set_scale(worker):\n    config.SCALE = config.double\n"),
        (f"config.CROP['size'] = (1, -2)\n{LOOP}", "def set_crop(worker):\n    config.CROP['size'] = (1, -2)\n"),
        (
            f"config.SCALE = 3\nconfig.CROP['size'] = [4]\n{LOOP}",
            "def set_up_worker(worker):\n    config.SCALE = 3\n    config.CROP['size'] = [4]\n",
        ),
    ],
)
def test_what_is_assigned_is_assigned_in_workers(body: str, written: str) -> None:
    text, fix = fix_of(body)
    assert fix.applicability is Applicability.UNSAFE
    assert written in text
    assert f"DataLoader(Rows(), num_workers=2, worker_init_fn={fix.defines[0]})" in text
    compile(text, "train.py", "exec")


def test_a_number_that_is_passed_goes_along() -> None:
    text, fix = fix_of(f"config.SCALE = scale\n{LOOP}", parameters="scale", given="5")
    assert fix.applicability is Applicability.UNSAFE
    assert "import functools\n" in text
    assert "def set_scale(scale, worker):\n    config.SCALE = scale\n" in text
    assert "functools.partial(set_scale, config.SCALE)" in text


def test_all_loaders_that_read_it_set_it() -> None:
    text, _ = fix_of(f"config.SCALE = 3\n{LOOP}{LOOP}")
    assert text.count("def set_scale(worker):") == 1
    assert text.count("worker_init_fn=set_scale") == 2


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"if sys.argv[1:]:\n    config.SCALE = 3\n{LOOP}", "in some cases only"),
        (f"try:\n    import yaml\nexcept ImportError:\n    config.SCALE = 3\n{LOOP}", "in some cases only"),
        (f"config.SCALE = 3\n{LOOP}config.SCALE = 4\n{LOOP}", "in several places"),
        (f"config.SCALE = 3\nconfig.SCALE = 1\n{LOOP}", "in several places"),
        (f"{LOOP}config.SCALE = 3\n{LOOP}", "before the loader is made"),
        ("config.SCALE = 3\nfor batch in make(Rows()):\n    print(batch)\n", "in another file"),
        (f"config.CROP.update(size=3)\n{LOOP}", "more than an assignment"),
        (f"config.SCALE += 3\n{LOOP}", "more than an assignment"),
        (f"config.SCALE = open('scale.txt').read()\n{LOOP}", "not known to reach workers"),
        (f"config.SCALE = lambda: 3\n{LOOP}", "not known to reach workers"),
        (f"import config as settings\nsettings.SCALE = 3\n{LOOP}", "outside its function"),
        ("config.SCALE = 3\nfor _ in DataLoader(Rows(), num_workers=2, worker_init_fn=print):\n    pass\n", "has a"),
        ("config.SCALE = 3\nfor _ in DataLoader(Rows(), num_workers=2, **dict(sys.argv)):\n    pass\n", ""),
    ],
)
def test_it_is_left_to_a_person(body: str, reason: str) -> None:
    _, fix = fix_of(body)
    assert (fix.applicability, fix.edits) == (Applicability.MANUAL, ())
    assert reason in fix.title


def test_what_other_programs_do_not_set_is_left() -> None:
    more = """\
        def other():
            for batch in loader():
                print(batch)


        def loader():
            return DataLoader(Rows(), num_workers=2)
        """
    _, fix = fix_of("other()\nconfig.SCALE = 3\nfor batch in loader():\n    print(batch)\n", before=more)
    assert fix.applicability is Applicability.MANUAL
