"""What `--fix` and then `--fix --unsafe-fixes` make of real projects: `python -m bench.fixes > bench/FIXES.md`.

Works on copies: of the packages of `bench.corpus`, or of the folders that are named. Of every changed file it checks
that it still compiles, that the lines which belong to no edit are what they were, that comments, byte order mark and
newlines are kept; of every project that a second run changes nothing, and that no rule reports more. The table goes to
standard output, what is wrong to standard error (exit status 1), the diffs to `--diffs FOLDER`, where a person reads
them.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.corpus import default_root, fetch, packages

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 900
ROUNDS = {"safe": ("--fix",), "unsafe": ("--fix", "--unsafe-fixes")}
Files = dict[str, bytes]
Findings = list[dict[str, Any]]


class Round(NamedTuple):
    """What fixing a project came to: how many findings of each rule are gone, and what is wrong."""

    fixed: Counter[str]
    refused: int
    changed: int
    wrong: list[str]
    diff: str


def main() -> int:
    """Fix copies of the folders, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--diffs", type=Path, help="write one diff a project and round into this folder")
    arguments = parser.parse_args()
    wrong: list[str] = []
    print(_HEAD)
    for folder in arguments.folders or (place for _, place in fetch(default_root(), packages())):
        try:
            found, rounds = examine(folder)
        except subprocess.TimeoutExpired:
            wrong.append(f"{folder.name}: not done after {LIMIT_S} s")
            continue
        if rounds:
            print(_row(folder.name, found, rounds), flush=True)
        for name, one in rounds.items():
            wrong += [f"{folder.name}: {name}: {text}" for text in one.wrong]
            if arguments.diffs and one.diff:
                arguments.diffs.mkdir(parents=True, exist_ok=True)
                (arguments.diffs / f"{folder.name}.{name}.diff").write_text(one.diff, encoding="utf-8")
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


_HEAD = """\
# Fixes on real projects

`python -m bench.fixes` fixes a copy of each project, first with `--fix`, then with `--fix --unsafe-fixes`, with all
rules selected. After each round, it checks that every changed file compiles, lines outside the edits are unchanged,
comments are kept, a second run changes nothing, the fixed findings are gone, and no rule finds more. The table leaves
out projects without a fixable finding.

| project | findings | fixed by safe fixes | then by unsafe fixes | refused | files changed | wrong |
|---|---|---|---|---|---|---|"""


def _row(name: str, found: int, rounds: dict[str, Round]) -> str:
    def told(which: str) -> str:
        fixed = rounds[which].fixed if which in rounds else {}
        return ", ".join(f"{code} {number}" for code, number in sorted(fixed.items()))

    refused, changed = (sum(getattr(one, what) for one in rounds.values()) for what in ("refused", "changed"))
    wrong = sum(len(one.wrong) for one in rounds.values())
    return f"| {name} | {found} | {told('safe')} | {told('unsafe')} | {refused} | {changed} | {wrong} |"


def examine(folder: Path) -> tuple[int, dict[str, Round]]:
    """The number of findings in a project, and what the rounds of fixing did to a copy of it."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name).resolve() / folder.name
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        (copy / ".git").mkdir()  # where the project ends
        found = before = _lint(copy)
        rounds: dict[str, Round] = {}
        for name, options in ROUNDS.items():
            wanted = {"safe"} if name == "safe" else {"safe", "unsafe"}
            if any(item["fix"] and item["fix"]["applicability"] in wanted for item in before):
                rounds[name], before = _round(copy, before, wanted, options)
        return len(found), rounds


def _round(copy: Path, before: Findings, wanted: set[str], options: tuple[str, ...]) -> tuple[Round, Findings]:
    old = _files(copy)
    told = _lint(copy, *options)
    new = _files(copy)
    changed = [path for path in new if new[path] != old[path]]
    after = [item for item in told if item["code"] != "DLL904"]
    wrong = [f"{path}: {what}" for path in changed for what in _damage(path, old[path], new[path])]
    rows = _edited_rows(copy, before, wanted)
    wrong += [f"{path}: {what}" for path in changed for what in _strays(old[path], new[path], rows.get(path, set()))]
    was, now = (Counter(item["code"] for item in items) for items in (before, after))
    wrong += [f"{code}: {was[code]} findings have become {now[code]}" for code in now if now[code] > was[code]]
    again = _lint(copy, *options)
    wrong += [f"{path}: a second run changes it" for path, data in _files(copy).items() if data != new[path]]
    if Counter(item["code"] for item in again if item["code"] != "DLL904") != now:
        wrong.append("a second run finds something else")
    diff = "".join(
        line if line.endswith("\n") else line + "\n"
        for path in changed
        for line in difflib.unified_diff(_lines(old[path]), _lines(new[path]), f"a/{path}", f"b/{path}")
    )
    reasons = "".join(f"# {item['filename']}: {item['message']}\n" for item in told if item["code"] == "DLL904")
    return Round(was - now, len(told) - len(after), len(changed), wrong, reasons + diff), after


def _lint(folder: Path, *options: str) -> Findings:
    command = [sys.executable, "-m", "dllint", "check", "--no-cache", "--select", "ALL", "--output-format", "json"]
    command += [*options, "."]
    path = os.pathsep.join([str(ROOT), str(ROOT / "rules")])
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        print(f"{folder.name}: exit status {done.returncode}: {done.stderr[-2000:]}", file=sys.stderr)
    found = json.loads(done.stdout or "[]")
    return [item for item in found if not item["code"].startswith("DLL90") or item["code"] == "DLL904"]


def _files(folder: Path) -> Files:
    found = (path for path in sorted(folder.rglob("*.py")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _damage(path: str, old: bytes, new: bytes) -> Iterator[str]:
    """What fixing may not do to a file, whatever its edits are."""
    if _compiles(old) and not _compiles(new):
        yield "no longer compiles"
    if old.startswith(b"\xef\xbb\xbf") != new.startswith(b"\xef\xbb\xbf"):
        yield "byte order mark"
    if len(_endings(new)) > len(_endings(old)):
        yield "newlines are mixed now"
    lost = _comments(old) - _comments(new)
    if lost:
        yield f"comments are lost: {', '.join(lost)}"


def _compiles(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(ast.parse(data), "<file>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _endings(data: bytes) -> set[bytes]:
    return set(re.findall(rb"\r\n|\n|\r", data))


def _comments(data: bytes) -> Counter[str]:
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
    except (tokenize.TokenError, SyntaxError):
        return Counter()
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def _edited_rows(copy: Path, findings: Findings, wanted: set[str]) -> dict[str, set[int]]:
    """For each file the rows that the edits of its fixes touch."""
    rows: dict[str, set[int]] = {}
    for fix in (item["fix"] for item in findings if item["fix"] and item["fix"]["applicability"] in wanted):
        for edit in fix["edits"]:
            path = Path(edit["filename"]).relative_to(copy).as_posix()
            first, last = edit["location"]["row"], edit["end_location"]["row"]
            rows.setdefault(path, set()).update(range(first, last + 1))
    return rows


def _strays(old: bytes, new: bytes, rows: set[int]) -> Iterator[str]:
    """Lines that are gone although no edit touches them. Blank ones may be the same as their neighbours."""
    before, after = _lines(old), _lines(new)
    for tag, first, last, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag in ("replace", "delete"):
            for row in range(first + 1, last + 1):
                if row not in rows and before[row - 1].strip():
                    yield f"line {row} belongs to no edit and is gone: {before[row - 1].strip()}"


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").splitlines(keepends=True)


if __name__ == "__main__":
    sys.exit(main())
