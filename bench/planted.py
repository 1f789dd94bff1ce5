"""Plants each rule's hazard into real code: `python -m bench.planted [--corpus FOLDER] > figures.md`.

In the audited packages of `bench.corpus`, datasets are looked up that are classes of a module, with `__init__` and
`__getitem__` of their own. For each rule (see `bench.plants`) such a module is copied beside itself, the hazard is put
into the class or into a script that trains with it; another copy gets the harmless twin. Then the package is linted.
Counted: hazards that their rule reports on a planted line, and twins of which it does.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.corpus import CorpusError, default_root, fetch, packages
from bench.plants import PLANTS, Plant, Side

ROOT = Path(__file__).resolve().parent.parent
MARK = "  # planted"
TIMEOUT_S = 300


class Host(NamedTuple):
    """A dataset of a package: the module's file, and what is needed to write into the class."""

    package: Path
    file: Path
    name: str
    parameter: str
    """Of `__getitem__`."""


def hosts(package: Path) -> Iterator[Host]:
    """The datasets of a package that can be written into, one a module."""
    for file in sorted(package.rglob("*.py")):
        if "test" in file.relative_to(package).as_posix() or b"Dataset" not in file.read_bytes():
            continue
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and _is_host(node):
                yield Host(package, file, node.name, _method(node, "__getitem__").args.args[1].arg)
                break


def _is_host(node: ast.ClassDef) -> bool:
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    custom = {"__getstate__", "__reduce__", "__reduce_ex__", "__getattr__", "__new__"} & set(methods)
    return (
        any(base in ("Dataset", "VisionDataset") for base in bases)
        and "__init__" in methods
        and "__getitem__" in methods
        and len(methods["__getitem__"].args.args) == 2
        and not custom
        and not any(method.decorator_list for method in (methods["__init__"], methods["__getitem__"]))
        and not any(isinstance(part, ast.Return) for part in ast.walk(methods["__init__"]))
    )


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef:
    return next(item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name)


def planted_in(text: str, host: Host, side: Side) -> str:
    """The module's text with one side of a plant in the class."""
    tree = ast.parse(text)
    node = next(item for item in tree.body if isinstance(item, ast.ClassDef) and item.name == host.name)
    init, item = _method(node, "__init__"), _method(node, "__getitem__")
    lines = text.splitlines(keepends=True)
    first = item.body[1] if ast.get_docstring(item) is not None and len(item.body) > 1 else item.body[0]
    decorators = [part.lineno for part in node.decorator_list]
    inserted = [
        (min([node.lineno, *decorators]) - 1, 0, side.top),
        (init.body[-1].end_lineno or 0, init.body[-1].col_offset, side.init),
        (first.lineno - 1, first.col_offset, side.item),
        (item.lineno - 1, item.col_offset, side.method),
    ]
    for line, indent, code in sorted(inserted, key=lambda part: -part[0]):
        new = [" " * indent + part + MARK + "\n" if part else "\n" for part in code.splitlines()]
        lines[line:line] = [part.replace("INDEX", host.parameter) for part in new]
    return "".join(lines)


def script(host: Host, module: str, side: Side) -> str:
    """A script that trains with the planted class."""
    parts = host.file.relative_to(host.package).with_suffix("").parts[:-1]
    dotted = ".".join((*(parts[1:] if parts[:1] in (("src",), ("lib",)) else parts), module))
    body = side.script.replace("HOST", host.name).replace("MODULE", dotted)
    return "".join(line + MARK + "\n" if line else "\n" for line in body.splitlines())


class Outcome(NamedTuple):
    """Whether the hazard of a plant was reported, and whether its twin was."""

    found: bool
    flagged: bool


def judge(host: Host, plants: list[Plant]) -> dict[str, Outcome]:
    """Write both sides of every plant beside the host's module, and lint all of them at once."""
    text = host.file.read_text(encoding="utf-8")
    written: dict[str, tuple[str, bool]] = {}
    for plant in plants:
        for hazard, side in ((True, plant.hazard), (False, plant.twin)):
            stem = f"planted_{plant.code.lower()}_{'hazard' if hazard else 'twin'}"
            module, main = host.file, host.package / f"{stem}_train.py"
            if side.top or side.init or side.item or side.method:
                module = host.file.with_name(f"{stem}_data.py")
                module.write_text(planted_in(text, host, side), encoding="utf-8")
            written |= dict.fromkeys((str(module), str(main)), (plant.code, hazard))
            main.write_text(script(host, module.stem, side), encoding="utf-8")
            if side.compose:
                compose = host.package / f"compose.{stem}.yaml"
                compose.write_text(side.compose.replace("STEM", stem).replace("\n", f"{MARK}\n"), encoding="utf-8")
                written[str(compose)] = plant.code, hazard
    seen = {
        written[name]
        for code, name, row in findings(host.package)
        if name in written and written[name][0] == code and on(name, row)
    }
    return {plant.code: Outcome((plant.code, True) in seen, (plant.code, False) in seen) for plant in plants}


def on(name: str, row: int) -> bool:
    """Whether a line was planted."""
    return Path(name).read_text(encoding="utf-8").splitlines()[row - 1].endswith(MARK)


def findings(package: Path) -> Iterator[tuple[str, str, int]]:
    """What the default selection and the opt-in rules with plants report in a package, by code and place."""
    command = [sys.executable, "-m", "dllint", "check", "--no-cache", "--isolated", "--exit-zero"]
    command += ["--extend-select", ",".join(plant.code for plant in PLANTS)]
    done = subprocess.run(
        [*command, "--output-format", "json", str(package)],
        cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=True,
    )  # fmt: skip
    for item in json.loads(done.stdout):
        yield item["code"], item["filename"], item["location"]["row"]


def alone(host: Host, scratch: Path) -> Host:
    """The host's module in a project of its own: the rest of the package takes time and decides nothing here."""
    place = host.file.relative_to(host.package)
    package = scratch / host.package.name
    (package / place).parent.mkdir(parents=True)
    shutil.copy(host.file, package / place)
    (package / "pyproject.toml").touch()
    return host._replace(package=package, file=package / place)


def main() -> None:
    """Plant, lint, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=default_root(), help="default: %(default)s")
    parser.add_argument("--hosts", type=int, default=1, help="datasets a package (default: %(default)s)")
    parser.add_argument("--only", help="only packages whose name has this in it")
    parser.add_argument("--select", nargs="+", metavar="CODE", help="only these rules")
    parser.add_argument("--misses", action="store_true", help="name the misses and the flagged twins on standard error")
    args = parser.parse_args()
    plants = [plant for plant in PLANTS if not args.select or plant.code in args.select]
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    wanted = [package for package in packages() if package.family != "lines" and (args.only or "") in package.name]
    try:
        for _, folder in fetch(args.corpus, wanted):
            for host in list(hosts(folder))[: args.hosts]:
                with tempfile.TemporaryDirectory() as scratch:
                    for code, outcome in judge(alone(host, Path(scratch)), plants).items():
                        outcomes[code].append(outcome)
                        if args.misses and outcome != (True, False):
                            what = "missed" if not outcome.found else "twin flagged"
                            print(f"{code} {what}: {folder.name} {host.name}", file=sys.stderr, flush=True)
    except CorpusError as error:
        sys.exit(str(error))
    print("| rule | hazards planted | found | twins flagged |\n|---|---|---|---|")
    for code, every in sorted(outcomes.items()):
        print(f"| {code} | {len(every)} | {sum(x.found for x in every)} | {sum(x.flagged for x in every)} |")


if __name__ == "__main__":
    main()
