"""Memory of the example project with 2,000,000 reviews, before and after the fix of DLL201, as `dllint probe` sees it.

`python -m bench.probe` makes a copy of examples/training, two million file names in it (links to a few hundred
reviews), and probes its training loader twice: with everything fixed but the list of file names (as it is written,
nothing starts under spawn), and with that fixed, too. Writes docs/images/probe-memory.svg. Needs Linux, torch.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dllint.runtime.probe import plot
from dllint.runtime.probe.report import Report, decode

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "probe-memory.svg"
METHODS = ("fork", "spawn")
PROBED = '''"""What is probed: the training loader, with its own defaults."""

import argparse
import glob
import itertools
import os

from loaders import train_loader
from vocab import Vocab


def loader():
    args = argparse.Namespace(
        root="reviews", workers=4, start_method=None, batch_size=64, max_words=48, dropout=0.1
    )
    texts = glob.iglob(os.path.join(args.root, "train", "*", "*.txt"))
    return train_loader(args, Vocab().build(itertools.islice(texts, 1000)))
'''


def make_reviews(project: Path, count: int) -> None:
    """A few hundred texts, and so many names for them."""
    subprocess.run([sys.executable, "make_reviews.py"], cwd=project, check=True)
    (project / "reviews").rename(project / "texts")
    for label in ("good", "bad"):
        folder = project / "reviews" / "train" / label
        folder.mkdir(parents=True)
        for number in range(count // 2):
            target = f"../../../texts/train/{label}/{number % 120:04d}.txt"
            os.symlink(target, folder / f"{number:07d}_tt{number * 2654435761 % 9999991:07d}_{number % 10}.txt")


def dllint(project: Path, *arguments: str) -> bytes:
    """What a command prints."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "rules"))), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "dllint", *arguments]
    done = subprocess.run(command, cwd=project, env=env, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)}: exit status {done.returncode}")
    return done.stdout


def probe(project: Path, state: str, method: str, items: int) -> Report:
    """A report of the project as it is now; made once for each state and method."""
    place = project.parent / f"{state}-{method}.json"
    if not place.exists():
        limits = ["--items", str(items), "--seconds", "240", "--timeout", "560", "--idle", "120", "--scaling", ""]
        options = ["--start-method", method, *limits, "--output-format", "json"]
        place.write_bytes(dllint(project, "probe", "probed:loader", *options))
    return decode(place.read_bytes())


def make(folder: Path, names: int) -> Path:
    """The project with everything fixed but the list of file names."""
    project = folder / "training"
    if not project.exists():
        shutil.copytree(ROOT / "examples" / "training", project)
        (project / "probed.py").write_text(PROBED, encoding="utf-8")
        make_reviews(project, names)
        dllint(project, "check", "--fix", "--unsafe-fixes", "--ignore", "DLL201", ".")
    return project


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=2_000_000)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--folder", metavar="FOLDER", help="Leave all there, and do not repeat what is there already.")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        project = make(Path(args.folder or temporary).absolute(), args.names)
        before = [probe(project, "before", method, args.items) for method in METHODS]
        dllint(project, "check", "--fix", "--unsafe-fixes", ".")
        after = [probe(project, "after", method, args.items) for method in METHODS]
    curves = [line for pair in zip(after, before, strict=True) for line in plot.lines(*pair)]
    title = f"{args.names:,} file names, 4 workers: main process and workers, PSS"
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(plot.svg(curves, title), encoding="utf-8")
    print("\n".join(plot.terminal(curves)))


if __name__ == "__main__":
    main()
