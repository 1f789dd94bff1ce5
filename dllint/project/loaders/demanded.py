"""What files that aren't modules give to options: keys in JSON, and the command lines of scripts and pages.

A command line names the script that it runs, which must be of the option's program, and of that of the code that reads
the option: several programs may share the file that adds it. A key in JSON counts where the program reads JSON, in the
folder of the file or in the nearest one around it that has modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from functools import cached_property
from posixpath import commonpath, dirname, normpath
from typing import TYPE_CHECKING

from dllint.knowledge import JSON_READERS
from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env
from dllint.project.evaluate.command_lines import destinations
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.documents.demands import Demand, Passed

Ask = Callable[[str], "tuple[Demand, ...]"]
"""Asks the files for the names of an option, which spaces separate."""
AskTexts = Callable[[str], "tuple[Passed, ...]"]
"""Asks them for texts."""


def none(names: str) -> tuple[()]:
    """The answer where there are no such files."""
    return ()


def named(call: Expr) -> set[str]:
    """The names of an option that a call adds: those on command lines, and the keys that it has in settings."""
    names = {arg.value for arg in call.args[1:] if isinstance(arg.value, str)}
    options = {part for name in names for part in name.split("/") if part.startswith("-")}
    return {*options, *(name.lstrip("-") for name in options if name.startswith("--")), *destinations(call)}


def spelled(name: str) -> set[str]:
    """The same of an option that a parser makes of a field."""
    return {name, f"--{name}", f"--{name.replace('_', '-')}"}


class Demanded:
    """Finds what is given to an option in the program that has it."""

    def __init__(self, evaluator: Evaluator, ask: Ask, ask_texts: AskTexts) -> None:
        self.evaluator = evaluator
        self.index = evaluator.index
        self.programs = evaluator.programs
        self.ask = ask
        self.ask_texts = ask_texts
        self._known: dict[tuple[str, Module, Module | None, frozenset[Module]], Demand | None] = {}

    def first(self, names: Iterable[str], module: Module, program: Module | None, reader: Env) -> Demand | None:
        """The first number above 0 that is given to an option of a module, where only one script runs: to its.

        `reader`: the activation that reads the option. What runs it runs what leads there, too.
        """
        key = " ".join(sorted(names)), module, program, frozenset(_files(reader))
        if key not in self._known:
            asked = (demand for demand in self.ask(key[0]) if self._is_for(demand, *key[1:]))
            self._known[key] = next(asked, None)
        return self._known[key]

    def texts(self, names: Iterable[str], module: Module, program: Module | None) -> list[Passed]:
        """The texts that command lines give to an option of a module, where only one script runs: to its."""
        asked = self.ask_texts(" ".join(sorted(names)))
        return [given for given in asked if self._is_run(given, program, {module})]

    def _is_for(self, demand: Demand, module: Module, program: Module | None, files: frozenset[Module]) -> bool:
        if not demand.script:
            return module.path.startswith(self._around(demand.path)) and self._reads_json(module)
        return self._is_run(demand, program, {module, *files})

    def _is_run(self, demand: Demand | Passed, program: Module | None, files: Set[Module]) -> bool:
        """Whether a command line runs a script that has all of some files."""
        scripts = (script for script in self._scripts(demand) if program in (None, script))
        return any(all(self.programs.reaches(script, file) for file in files) for script in scripts)

    def _around(self, path: str) -> str:
        """The folder whose modules may read a file, with a slash behind it."""
        folder = dirname(path)
        while folder and folder not in self._folders:
            folder = dirname(folder)
        return f"{folder}/" if folder else ""

    @cached_property
    def _folders(self) -> set[str]:
        """The folders that have modules, in themselves or below."""
        found: set[str] = set()
        for module in self.index:
            folder = dirname(module.path) if not module.settings else ""
            while folder and folder not in found:
                found.add(folder)
                folder = dirname(folder)
        return found

    def _reads_json(self, module: Module) -> bool:
        return any(self.programs.share(reader, module) for reader in self._json_readers)

    @cached_property
    def _json_readers(self) -> list[Module]:
        return [
            module
            for module in self.index
            if any(
                not item.level and not {item.module, f"{item.module}.{item.attribute}"}.isdisjoint(JSON_READERS)
                for item in module.model.imports
            )
        ]

    def _scripts(self, demand: Demand | Passed) -> list[Module]:
        """The scripts that a command line may mean: by their whole paths, or the nearest one of its name."""
        here, modules = dirname(demand.path), self.index.modules
        for ending in _endings(demand.script):
            places = dict.fromkeys(
                normpath(f"{folder}/{ending}") if folder else normpath(ending) for folder in ("", here)
            )
            exact = [modules[place] for place in places if place in modules]
            if exact:
                return exact
            tail = f"/{normpath(ending).replace('../', '')}"
            near = [module for module in self.index if f"/{module.path}".endswith(tail)]
            depths = [_common(here, module.path) for module in near]
            nearest = [module for module, depth in zip(near, depths, strict=True) if depth == max(depths)]
            if nearest:
                return nearest if len(nearest) == 1 else []
        return []


def _files(env: Env) -> Iterator[Module]:
    """The files of an activation, and of the calls that lead to it."""
    where: Env | None = env
    while where is not None:
        yield where.module
        where = where.caller


def _endings(script: str) -> Iterator[str]:
    """How the path of a script ends: without a variable before it; a module is a file, or a package that runs."""
    if script.endswith(".py"):
        known = script.rpartition("$")[2].partition("/")[2] if "$" in script else script
        yield from [known] if known else ()
    else:
        path = script.replace(".", "/")
        yield f"{path}.py"
        yield f"{path}/__main__.py"


def _common(folder: str, path: str) -> int:
    """How many folders two places have in common."""
    shared = commonpath([folder, dirname(path)])
    return shared.count("/") + 1 if shared else 0
