"""What the default selection reports in public packages: `python -m bench.audit [FOLDER] > bench/PRECISION.md`.

Every finding in the audited packages of `bench.corpus` was read against the source and judged; `bench/verdicts.txt` has
the judgements. This runs dllint over the packages, and over the standard library with its tests, counts what it reports
by verdict, and stops at any internal error. Findings without a verdict are counted apart: someone has to read them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.corpus import CorpusError, default_root, fetch, lines, packages

ROOT = Path(__file__).resolve().parent.parent
VERDICTS = Path(__file__).with_name("verdicts.txt")
KINDS = ("true", "debatable", "false", "not judged")

EXPLANATION = """\
The packages weren't chosen for their bugs: for each kind of work, they are some that pip installs, with the examples
and tests in their archives ([bench/corpus.txt](corpus.txt) pins them). Each finding of the default selection was
checked against the source. *True* means that the hazard is real, for the project or for its users with workers.
*Debatable* means that it needs circumstances that may or may not occur. `python -m bench.audit` writes this page.
[PLANTED.md](PLANTED.md) shows how many planted hazards each rule finds in these packages."""


class Verdict(NamedTuple):
    """What was found out about one finding."""

    kind: str
    reason: str


class Run(NamedTuple):
    """dllint on one folder. Findings: (path, row, code)."""

    findings: list[tuple[str, int, str]]
    seconds: float
    peak_mb: int


def verdicts() -> dict[tuple[str, str, int, str], Verdict]:
    """The judgements by (package, path, row, code)."""
    found = {}
    for line in VERDICTS.read_text(encoding="utf-8").splitlines():
        if line and line[0] != "#":
            package, place, code, kind, reason = line.split(maxsplit=4)
            path, _, row = place.rpartition(":")
            found[package, path, int(row), code] = Verdict(kind, reason)
    return found


def run(folder: Path) -> Run:
    """Lint a folder, with time and peak memory of the process. Raises SystemExit for an internal error."""
    command = [sys.executable, "-m", "dllint", "check", "--no-cache", "--exit-zero", "--output-format", "json"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.monotonic()
        process = subprocess.Popen([*command, str(folder)], cwd=ROOT, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            sys.exit(f"dllint failed on {folder} (exit status {process.returncode}):\n{err.read()}")
        listed = json.load(out)
    root = folder.resolve().as_posix() + "/"
    found = [(item["filename"].removeprefix(root), item["location"]["row"], item["code"]) for item in listed]
    return Run(found, seconds, usage.ru_maxrss // 1024)


def table(rows: Sequence[tuple[str, ...]], *head: str) -> Iterator[str]:
    """Markdown."""
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    yield from ("| " + " | ".join(row) + " |" for row in rows)


def main() -> None:
    """Run, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default_root(), help="default: %(default)s")
    parser.add_argument("--only", default="", help="only packages whose name has this in it, and not the library")
    args = parser.parse_args()
    judged = verdicts()
    by_kind: Counter[str] = Counter()
    by_rule: dict[str, Counter[str]] = {}
    rows, sizes, details = [], [], []
    try:
        for package, folder in fetch(args.folder, [item for item in packages() if args.only in item.name]):
            result, size = run(folder), lines(folder)
            sizes.append((package.folder, f"{size:,}", f"{result.seconds:.0f}", str(result.peak_mb)))
            if package.family == "lines":
                continue
            kinds: Counter[str] = Counter()
            for path, row, code in sorted(result.findings):
                verdict = judged.get((package.folder, path, row, code), Verdict("not judged", ""))
                kinds[verdict.kind] += 1
                by_rule.setdefault(code, Counter())[verdict.kind] += 1
                details.append(f"* `{package.folder}` {path}:{row} {code}: **{verdict.kind}**. {verdict.reason}")
            by_kind += kinds
            rules = Counter(code for _, _, code in result.findings)
            named = ", ".join(f"{code} {count}" for code, count in sorted(rules.items()))
            counts = (str(kinds[kind]) if kinds[kind] else "" for kind in KINDS)
            rows.append((package.folder, package.family, f"{size:,}", *counts, named))
            print(package.folder, dict(kinds), file=sys.stderr, flush=True)
    except CorpusError as error:
        sys.exit(str(error))
    told = ""
    if not args.only:
        library = Path(sysconfig.get_path("stdlib"))
        result = run(library)
        listed = ", ".join(f"{path}:{row} {code}" for path, row, code in sorted(result.findings))
        told = f"Reported in the standard library: {listed or 'nothing'}."
        name = f"the standard library of Python {sys.version_info.major}.{sys.version_info.minor}, with its tests"
        sizes.append((name, f"{lines(library):,}", f"{result.seconds:.0f}", str(result.peak_mb)))
    total = sum(by_kind.values())
    print(f"# Precision on public packages\n\n{EXPLANATION}\n")
    print(f"{total} findings: " + ", ".join(f"{by_kind[kind]} {kind}" for kind in KINDS if by_kind[kind]) + ".\n")
    print("\n".join(table(rows, "package", "kind", "lines", *KINDS, "rules")), end="\n\n")
    per_rule = [(code, *(str(kinds[kind] or "") for kind in KINDS)) for code, kinds in sorted(by_rule.items())]
    print("\n".join(table(per_rule, "rule", *KINDS)), end="\n\n## Finding by finding\n\n")
    print("\n".join(details), end="\n\n## Time and memory\n\nOne process, no cache; seconds on a shared machine.\n\n")
    print("\n".join(table(sizes, "read", "lines", "seconds", "peak MB")))
    if told:
        print(f"\n{told}")


if __name__ == "__main__":
    main()
