"""What the project's files give to options: keys in JSON, and the command lines of scripts, pages and Python files.

A command line names the script that it runs, which must be of the option's program, and of that of the code that reads
the option: several programs may share the file that adds it. A key in JSON counts where the program reads JSON, in the
folder of the file or in the nearest one around it that has modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from posixpath import commonpath, dirname, normpath
from typing import TYPE_CHECKING, Protocol

from dllint.knowledge import JSON_READERS
from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env
from dllint.project.evaluate.command_lines import destinations
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.documents.demands import Demand, Passed


class Asked(Protocol):
    """Some files of the project. The names of an option are separated by spaces."""

    def demands(self, names: str, /) -> tuple[Demand, ...]:
        """The numbers above 0 that files give to an option by any of its names."""

    def passed(self, names: str, /) -> tuple[Passed, ...]:
        """The texts that command lines in files give to such an option."""


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

    def __init__(self, evaluator: Evaluator, asked: Sequence[Asked]) -> None:
        self.evaluator = evaluator
        self.index = evaluator.index
        self.programs = evaluator.programs
        self.asked = asked
        self._known: dict[tuple[str, Module, Module | None, frozenset[Module]], Demand | None] = {}

    def first(self, names: Iterable[str], module: Module, program: Module | None, reader: Env) -> Demand | None:
        """The first number above 0 that is given to an option of a module, where only one script runs: to its.

        `reader`: the activation that reads the option. What runs it runs what leads there, too.
        """
        key = " ".join(sorted(names)), module, program, frozenset(_files(reader))
        if key not in self._known:
            given = (demand for files in self.asked for demand in files.demands(key[0]))
            self._known[key] = next((demand for demand in given if self._is_for(demand, *key[1:])), None)
        return self._known[key]

    def in_section(self, name: str, section: str, around: str, module: Module) -> Demand | None:
        """The first number above 0 that JSON has under a name, in a mapping that a module reads under a key.

        `around` is the key of the mapping around it, as far as it is known.
        """
        given = (demand for files in self.asked for demand in files.demands(name) if demand.keys[-1:] == (section,))
        near = (demand for demand in given if not around or demand.keys[:-1] in ((), (around,)))
        return next((demand for demand in near if self._is_for(demand, module, None, frozenset())), None)

    def texts(self, names: Iterable[str], module: Module, program: Module | None) -> list[Passed]:
        """The texts that command lines give to an option of a module, where only one script runs: to its."""
        return [given for given in self.passed(names) if self._is_run(given, program, {module})]

    def passed(self, names: Iterable[str]) -> Iterator[Passed]:
        """The texts that command lines give to an option, whatever they run."""
        key = " ".join(sorted(names))
        return (given for files in self.asked for given in files.passed(key))

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
