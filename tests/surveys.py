"""Sources and results for tests of surveys: small real ones, and made-up results in any number."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from dllint.survey.database import Database
from dllint.survey.outcome import Outcome, Reported, Step
from dllint.survey.trees import Tree
from dllint.survey.unit import Settings

PROGRAM = """\
from torch.utils.data import DataLoader

numbers = list(range(10))

if __name__ == "__main__":
    loader = DataLoader(numbers, num_workers=2, collate_fn=lambda batch: batch)
"""
FOUND = ("DLL103", "train.py", 6)
"""What is reported of the program."""
_RULES = {
    "DLL101": ("lambda-default-factory", {"fork": "ok", "spawn": "exception", "forkserver": "exception"}),
    "DLL201": ("path-list-on-dataset", {"fork": "bloat", "spawn": "bloat", "forkserver": "bloat"}),
    "DLL302": ("cuda-in-worker", {"fork": "exception"}),
    "DLL405": ("join-before-drain", {"fork": "hang", "spawn": "hang", "forkserver": "hang"}),
    "DLL602": ("rng-on-dataset", {"fork": "corrupt", "spawn": "ok", "forkserver": "ok"}),
}


def folder(place: Path, text: str = PROGRAM) -> Path:
    """A folder with one program, the root of its project."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "train.py").write_text(text, encoding="utf-8")
    (place / "dllint.toml").touch()
    return place


def sdist(place: Path, text: str = PROGRAM) -> Path:
    """A source archive: all is in one folder."""
    with tarfile.open(place, "w:gz") as archive:
        for name, content in (("dllint.toml", b""), ("train.py", text.encode())):
            info = tarfile.TarInfo(f"{place.name.removesuffix('.tar.gz')}/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return place


def wheel(place: Path, text: str = PROGRAM) -> Path:
    """A wheel: the files as they are installed."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train.py", text)
        archive.writestr("train-1.0.dist-info/METADATA", "Name: train\n")
    return place


def git(place: Path, *arguments: str) -> str:
    """What a git command says."""
    command = ["git", "-C", str(place), "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def repository(place: Path, *texts: str) -> list[str]:
    """A bare repository with a commit for each text; the commits, the newest last."""
    work = place.with_name(f"{place.name}-work")
    commits = []
    for text in texts or (PROGRAM,):
        folder(work, text)
        if not commits:
            git(work, "init", "-q")
        git(work, "add", "-A")
        git(work, "commit", "-qm", "a commit")
        commits.append(git(work, "rev-parse", "HEAD"))
    subprocess.run(["git", "clone", "-q", "--bare", str(work), str(place)], check=True)
    shutil.rmtree(work)
    return commits


def outcomes(number: int, seed: int = 0) -> Iterator[tuple[Tree, Outcome]]:
    """Made-up sources with what became of them."""
    chance = random.Random(seed)
    for at in range(number):
        name = f"group-{at % 40}/repository-{at:05}"
        tree = Tree(name, "git", f"/srv/{name}", "")
        kind = chance.choices(["ok", "broken", "over-time"], [96, 2, 2])[0]
        if kind == "ok":
            findings = tuple(_finding(chance, line) for line in range(chance.choice([0, 0, 0, 1, 2, 3, 8])))
            yield tree, Outcome(kind="ok", files=chance.randrange(900), findings=findings, seconds=1.5, peak_mb=50.0)
        else:
            yield tree, Outcome(kind=kind, reason=f"made up <{kind}>")  # type: ignore[arg-type]


def _finding(chance: random.Random, line: int) -> Reported:
    code = chance.choice(sorted(_RULES))
    name, harms = _RULES[code]
    path = f"package/module_{chance.randrange(500)}.py"
    lines = "\n".join(
        f"{line + row:>4} | value_{chance.randrange(9999)} = something(<b>, 'x' * {row})" for row in range(5)
    )
    return Reported(
        code=code,
        rule=name,
        severity="error",
        certainty=chance.choice(["certain", "likely"]),
        path=path,
        row=line + 1,
        column=1,
        message=f"`value_{chance.randrange(9999)}` of `Words{chance.randrange(99)}` is made up: </script>",
        outcomes=harms,
        route=tuple(
            Step(f"kept as `a{step}` of `Dataset`", path, step + 3, 9) for step in range(chance.randrange(1, 6))
        ),
        frame=lines,
        fix="Move it (unsafe)",
        fingerprint=f"{chance.randrange(10**12):032x}",
    )


def database(place: Path, number: int, seed: int = 0) -> Database:
    """A database of made-up results."""
    made = Database(str(place), create=True)
    made.connection.execute("PRAGMA synchronous = OFF")
    for tree, outcome in outcomes(number, seed):
        made.save(tree, outcome, "0.1.0+made-up", Settings())
    return made
