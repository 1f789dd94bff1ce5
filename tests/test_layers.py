"""Who may import whom: the table of CONTRIBUTING.md, held against every import in the sources, lazy ones included."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import dllint

ROOT = Path(__file__).resolve().parent.parent
SHELLS = {"engine", "config", "report", "registry", "files", "suppress", "finding", "fix", "rule", "knowledge"} | {
    *(
        "garbage",
        "cache",
        "reduce",
        "survey",
        "runtime",
        "review",
        "testing",
        "schema",
        "options",
        "editor",
        "mistakes",
        "start_methods",
    ),
}

LAYERS: dict[str, set[str]] = {
    "source": set(),
    "knowledge": set(),
    "benchmarks": set(),
    "garbage": set(),
    "start_methods": set(),
    "reading": set(),
    "announced": {"reading"},
    "requirements": {"reading"},
    "style": {"reading"},
    "targets": {"knowledge", "requirements", "start_methods"},
    "finding": {"source"},
    "fix": {"source"},
    "model": {"source"},
    "documents": {"source", "fix", "model", "reading"},
    "syntax": {"source", "fix", "model", "garbage"},
    "collect": {"source", "syntax", "model", "knowledge"},
    "project": {"source", "model", "finding", "knowledge", "benchmarks", "documents", "targets", "start_methods"},
    "rule": {"project", "finding", "fix"},
    "registry": {"announced", "rule", "finding"},
    "keys": {"start_methods"},
    "schema": {"keys"},
    "mistakes": {"keys", "schema"},
    "own_loaders": {"keys", "knowledge"},
    "options": {"registry", "keys", "mistakes", "own_loaders", "reading"},
    "plugins": {"announced", "knowledge", "registry"},
    "package": {"options", "reading"},
    "config": {"keys", "options", "own_loaders", "package", "registry", "targets", "knowledge", "plugins"},
    "suppress": {"source", "model", "finding", "registry"},
    "files": {
        "source",
        "model",
        "finding",
        "knowledge",
        "benchmarks",
        "registry",
        "config",
        "options",
        "documents",
        "reading",
    },
    "cache": {"files", "source", "reading"},
    "reduce": {"source", "documents", "finding", "model", "collect", "syntax", "reading"},
    "noqa": {"source", "finding", "fix", "model", "collect"},
    "ruff": {"options"},
    "report": {"source", "finding", "fix", "rule", "start_methods"},
    "review": {"source", "finding", "fix", "report", "sealed"},
    "engine": {
        *(
            "source",
            "documents",
            "knowledge",
            "benchmarks",
            "targets",
            "start_methods",
            "requirements",
            "style",
            "finding",
            "fix",
            "model",
            "syntax",
            "collect",
            "project",
            "garbage",
            "announced",
            "reading",
        ),
        *(
            "rule",
            "registry",
            "mistakes",
            "options",
            "config",
            "suppress",
            "files",
            "cache",
            "reduce",
            "noqa",
            "ruff",
            "plugins",
        ),
        *("keys", "schema", "package", "own_loaders"),
    },
    "sealed": set(),
    "testing": {"engine", "config", "registry", "finding", "source", "start_methods"},
    "flake8": {"engine", "config", "registry", "reduce"},
    "survey": {"engine", "config", "files", "report", "registry", "reduce", "sealed", "start_methods"},
    "runtime": {"engine", "config", "report", "project", "model", "finding", "source", "start_methods"},
    "editor": {
        *("engine", "config", "report", "registry", "files", "reduce", "noqa", "finding", "fix", "source", "documents"),
        *("syntax", "garbage"),
    },
    "cli": SHELLS,
    "__main__": {"cli"},
    "__init__": set(),
}
"""The modules and packages of the engine, from the bottom up, each with those it may import."""

LAZY: set[tuple[str, str]] = {("project", "syntax")}
"""Imported inside functions only: a project makes a file's tree again for the few files that are fixed."""

ROOMS = ("program", "evaluate", "loaders", "escape", "execution", "data", "edits")
"""The rooms of `project`, from the bottom up: each imports those before it. The facade and `why` import all."""

ANALYSIS = {"source", "model", "finding", "knowledge", "benchmarks", "start_methods", "targets", "documents", "project"}
"""What the analyses of a family of rules may import: what `project` may, and its rooms."""

OUTSIDE: dict[str, set[str]] = {
    "libcst": {"syntax"},
    "yaml": {"documents"},
    "click": {"cli", "__main__"},
    "rich": {"report", "survey", "runtime"},
    "unidiff": {"review"},
    "packaging": {"options", "package", "project", "targets"},
    "tomli": {"reading"},
    "flake8": {"flake8"},
    "distributed": {"survey"},
    "lsprotocol": {"editor"},
    "pygls": {"editor"},
    "pyarrow": {"survey"},
    "psutil": {"survey", "runtime"},
    "matplotlib": {"runtime"},
    "torch": {"runtime"},
    "numpy": set(),
}
"""Who may import which distribution; msgspec and the standard library are everybody's."""

OUTSIDE_LAZY = {"rich", "packaging", "flake8", "distributed", "pyarrow", "psutil"}
"""Paid for only where they are used."""
PROBE = ROOT / "dllint" / "runtime" / "probe"
"""Imported by `dllint probe` alone, when it runs, and useless without psutil."""


@dataclass(frozen=True)
class Import:
    """An import: `lazy` when it stands in a function, `checked` when it is for type checkers only."""

    file: Path
    line: int
    module: str
    names: tuple[str, ...]
    lazy: bool
    checked: bool

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module} ({', '.join(self.names) or 'module'})"


def imports(file: Path) -> Iterator[Import]:
    """Every import of a file, at any depth."""
    yield from _imports(file, ast.parse(file.read_text(encoding="utf-8")), False, False)


def _imports(file: Path, node: ast.AST, lazy: bool, checked: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(file, node.lineno, alias.name, (), lazy, checked)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{file}:{node.lineno}: write the whole module name"
        yield Import(file, node.lineno, node.module or "", tuple(a.name for a in node.names), lazy, checked)
    lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    checked = checked or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    for child in ast.iter_child_nodes(node):
        yield from _imports(file, child, lazy, checked)


def layer(file: Path) -> str:
    """The module or package of the engine that a file belongs to."""
    return file.relative_to(ROOT / "dllint").with_suffix("").parts[0]


def layers_named(found: Import) -> set[str]:
    """The layers an import of `dllint...` reaches; `from dllint import registry` names one too."""
    parts = found.module.split(".")
    if len(parts) > 1:
        return {parts[1]}
    return {name for name in found.names if name in LAYERS}


ENGINE = sorted((ROOT / "dllint").rglob("*.py"))
ANALYSES = sorted((ROOT / "rules").glob("dllint_rules/*/analysis/*.py"))
RULES = sorted(set((ROOT / "rules").rglob("*.py")) - set(ANALYSES))


@pytest.mark.parametrize("file", ENGINE, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_engine_module_imports_only_what_its_layer_may(file: Path) -> None:
    own = layer(file)
    assert own in LAYERS, f"{own} has no place in the table of layers"
    for found in imports(file):
        top = found.module.split(".")[0]
        if top == "dllint":
            handed_on = set(found.names) & set(dllint.__all__) - {"__version__"}
            assert found.module != "dllint" or not handed_on, f"{found}: name the module, public names are for rules"
            for named in layers_named(found) - {own}:
                lazily = (own, named) in LAZY and (found.lazy or found.checked)
                assert named in LAYERS[own] or lazily, f"{found}: not allowed for {own}"
        elif top in OUTSIDE:
            assert own in OUTSIDE[top] or found.checked, f"{found}: not allowed for {own}"
            late = found.lazy or found.checked or PROBE in file.parents
            assert late or top not in OUTSIDE_LAZY, f"{found}: import it where it is used"
        assert top != "dllint_rules", f"{found}: the engine does not know the rules by name"


@pytest.mark.parametrize("file", [file for file in ENGINE if file.parent.name in ROOMS], ids=lambda file: file.stem)
def test_a_room_of_the_project_imports_those_below_it_only(file: Path) -> None:
    own = ROOMS.index(file.parent.name)
    for found in imports(file):
        parts = found.module.split(".")
        if parts[:2] == ["dllint", "project"] and not found.checked:
            assert parts[2:] and parts[2] in ROOMS[: own + 1], f"{found}: not below {ROOMS[own]}"


def test_no_module_of_the_engine_imports_itself_through_others() -> None:
    files = {module_name(file): file for file in ENGINE}
    graph = {name: imported_modules(file, files) - {name} for name, file in files.items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def module_name(file: Path) -> str:
    """A module's full name; a package's is that of its `__init__.py`."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(file: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules of ours that a file names in imports that run, at any depth."""
    found = [one for one in imports(file) if not one.checked]
    named = (f"{one.module}.{name}" for one in found for name in one.names or ("",))
    return {name if name in known else name.rpartition(".")[0] for name in named} & set(known)


def test_every_module_of_the_project_has_a_room() -> None:
    folder = ROOT / "dllint" / "project"
    assert {file.name for file in folder.iterdir() if file.suffix == ".py"} == {"__init__.py", "why.py"}
    assert {file.name for file in folder.iterdir() if file.is_dir() and file.name != "__pycache__"} == set(ROOMS)


@pytest.mark.parametrize("file", ANALYSES, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_analysis_imports_the_project_and_its_own_family_only(file: Path) -> None:
    family = "dllint_rules." + file.parent.parent.name + ".analysis"
    for found in imports(file):
        top = found.module.split(".")[0]
        if top == "dllint":
            assert layers_named(found) <= ANALYSIS and found.module != "dllint", f"{found}: not for analyses"
        elif top == "dllint_rules":
            assert found.module.startswith(family), f"{found}: only analyses of its own family ({family})"
        else:
            assert top not in OUTSIDE, f"{found}: not for analyses"


@pytest.mark.parametrize("file", RULES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_rule_imports_public_names_and_its_own_family_only(file: Path) -> None:
    family = "dllint_rules." + file.parent.name
    for found in imports(file):
        top = found.module.split(".")[0]
        if found.module == "dllint":
            assert set(found.names) <= set(dllint.__all__), f"{found}: not a public name of dllint"
        elif top == "dllint":
            raise AssertionError(f"{found}: write `from dllint import ...`; what is not public there is not for rules")
        elif top == "dllint_rules":
            assert found.module.startswith(family), f"{found}: only helpers of its own family ({family})"
        elif top == "libcst":
            assert found.lazy or found.checked, f"{found}: inside `fix`, where it is paid for only when used"
        else:
            assert top not in OUTSIDE, f"{found}: not for rules"


def test_the_table_has_no_cycle() -> None:
    order: list[str] = []
    waiting = dict(LAYERS)
    while ready := [name for name, below in waiting.items() if below <= set(order)]:
        order.extend(ready)
        for name in ready:
            del waiting[name]
    assert not waiting, f"these import each other: {sorted(waiting)}"


def test_contributing_shows_this_table() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text.split("| part | may import |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    shown: dict[str, set[str]] = {}
    for row in rows:
        _, parts, may, _ = row.split("|")
        above = set(shown)
        for part in re.findall(r"`(\w+)`", parts):
            shown[part] = above if "all of these" in may else set(re.findall(r"`(\w+)`", may.split(";")[0]))
    assert shown == {part: below for part, below in LAYERS.items() if not part.startswith("_")}


def test_the_public_names_have_types() -> None:
    stubs = ROOT / "dllint" / "__init__.pyi"
    typed = {(name, found.module) for found in imports(stubs) for name in found.names}
    assert typed == set(dllint._PUBLIC.items())
    for name, module in dllint._PUBLIC.items():
        assert hasattr(importlib.import_module(module), name)
