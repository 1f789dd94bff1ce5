"""A number that files ask for makes no loader certain, and is told where the program itself asks for none."""

from __future__ import annotations

import pytest

from dllint import Certainty, Project, Workers
from dllint.collect import collect
from dllint.documents.demands import Demand, Passed
from dllint.project import Targets
from dllint.source import Source

PROGRAM = """\
import argparse
import sys
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default={default})
args = parser.parse_args()
loader = DataLoader([1, 2], num_workers={number})
"""
SAID = "`DataLoader(...)` starts the workers here"


class Asked:
    """Files of which one asks for workers."""

    def __init__(self, script: str) -> None:
        self.script = script

    def longest(self, pattern: str) -> None:
        return None

    def demands(self, names: str) -> tuple[Demand, ...]:
        return (Demand("run.sh", 3, 2, self.script),) if "--workers" in names.split() else ()

    def passed(self, names: str) -> tuple[Passed, ...]:
        return ()


@pytest.mark.parametrize(
    ("default", "number", "script", "workers", "certainty", "said"),
    [
        ("0", "args.workers", "train.py", Workers.SOME, Certainty.LIKELY, f"{SAID}: `run.sh:3` asks for 2"),
        ("0", "int(args.workers)", "./train.py", Workers.SOME, Certainty.LIKELY, f"{SAID}: `run.sh:3` asks for 2"),
        ("0", "args.workers", "test.py", Workers.NONE, Certainty.LIKELY, SAID),
        ("4", "args.workers", "train.py", Workers.SOME, Certainty.CERTAIN, SAID),
        ("0", "2 if sys.argv else args.workers", "train.py", Workers.SOME, Certainty.LIKELY, SAID),
        ("0", "vars(args).get('workers', 4)", "train.py", Workers.SOME, Certainty.CERTAIN, SAID),
    ],
)
def test_what_is_asked_for(
    default: str, number: str, script: str, workers: Workers, certainty: Certainty, said: str
) -> None:
    source = Source("train.py", PROGRAM.format(default=default, number=number))
    project = Project({"train.py": collect(source)}, Targets(), lambda _: source, lists=Asked(script))
    found = [(loader.workers, loader.certainty, loader.start.text) for loader in project.loaders]
    assert found == [(workers, certainty, said)]


@pytest.mark.parametrize(
    ("launcher", "line"),
    [
        ('import os\nos.system("python train.py --workers 2")', 2),
        ('from os import system\nsystem("cd .. && N=1 python3 ./train.py --workers=2 | tee log")', 2),
        ('import os\nos.popen(f"python train.py --gpu {os.getpid()} --workers 2")', 2),
        ('import os\nos.system("python train.py "\n    f"--gpu {os.getpid()} "\n    "--workers 2")', 4),
        ('import os\nos.system(f"python {os.getcwd()}/train.py --workers 2")', 2),
        ('import os\nos.system("python {}/train.py --workers 2 --gpu %s".format(os.getcwd()) % 1)', 2),
        ('import os\nos.system("python train.py --gpu " + str(os.getpid()) + " --workers 2")', 2),
        ('import os\nos.system("""\n# first\npython train.py \\\\\n  --workers 2\n""")', 5),
        ('import subprocess\ncommand = ["python", "train.py",\n    "--workers", "2"]\nsubprocess.call(command)', 3),
        ('import subprocess as sp\nsp.Popen(["python", "-m", "train", *map(str, []), "--workers", "2"])', 2),
        ('import shlex, subprocess\nsubprocess.run(shlex.split("python train.py --workers 2"))', 2),
        ('import subprocess\nsubprocess.run("python train.py --workers 2".split(" "))', 2),
        ('import os\nos.system(" ".join(["python train.py", "--gpu 1", "--workers 2"]))', 2),
        ('import os\nfor command in ["python a.py", "python train.py --workers 2"]:\n    os.system(command)', 2),
        ('import os\nos.system("python train.py --workers %d" % os.cpu_count())', 0),
        ('import os\nos.system("python train.py --workers {}".format(os.cpu_count()))', 0),
        ('import os\nos.system(f"python train.py --workers {os.cpu_count()} 2")', 0),
        ('import os\nos.system("python train.py --workers 0 --others 2")', 0),
        ('import os\nos.system("python launch.py --workers 2")', 0),
        ('import os\n"python train.py --workers 2"\nos.system("ls")', 0),
        ('import os\nprint(os.getcwd(), "python train.py --workers 2")', 0),
        ('from .os import system\nsystem("python train.py --workers 2")', 0),
        ('import os\nos.system(b"python train.py --workers 2")', 0),
        pytest.param('import os\nos.system("python train.py --workers 2")' + "\n" * 70_000, 0, id="data"),
    ],
)
def test_what_python_files_ask_for(launcher: str, line: int) -> None:
    sources = {
        "train.py": Source("train.py", PROGRAM.format(default="0", number="args.workers")),
        "launch.py": Source("launch.py", launcher),
    }
    project = Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)
    found = [(loader.workers, loader.certainty, loader.start.text) for loader in project.loaders]
    said = f"{SAID}: `launch.py:{line}` asks for 2" if line else SAID
    assert found == [(Workers.SOME if line else Workers.NONE, Certainty.LIKELY, said)]
