"""The fix of DLL301: the end of the script under the main guard, where workers cannot notice that it is gone."""

from __future__ import annotations

import re
import sys

from dllint import (
    GUARD,
    Applicability,
    Expr,
    Finding,
    Fix,
    ImportedName,
    Module,
    Project,
    Running,
    Start,
    guarded,
    is_test,
    top_statements,
)
from dllint_rules.start.effects import Effects
from dllint_rules.start.worker_view import WorkerView

_CELL = re.compile(r"^# (?:%%|In\[|<codecell>)", re.MULTILINE)
_BY_NAME = re.compile(r"\b(?:import_module|__import__|run_module|run_path|exec|entry_points)\b")
_LOOKED_UP = {"globals", "exec", "eval"}


def fix_start(finding: Finding, project: Project) -> Fix | None:
    """The statements that start workers, and those above that feed them, under the guard; else why not."""
    start = finding.data
    assert isinstance(start, Start)
    tail = _Tail(project, project.index.modules[start.path])
    reason = tail.why_not()
    if reason:
        return Fix(f"Put what starts workers under the main guard; {reason}", (), Applicability.MANUAL, snippet=GUARD)
    return tail.fix()


class _Tail:
    """The last statements of a script."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module
        self.source = project.source(module.path)
        self.program = project.index.imports(module.path)
        self.statements = top_statements(self.source) or []
        while self.statements and self.statements[-1].kind in ("guard", "text"):
            self.statements.pop()
        starting = [entry.start.start for entry in self._entries() if entry.start and self._starts(entry)]
        spans = [item.span for item in self.statements]
        holding = (i for i, span in enumerate(spans) if any(span.start <= at < span.end for at in starting))
        self.first = next(holding, -1)
        self.view = WorkerView(project, self.program, self._known(starting))
        self.effects = Effects(project, self.view)

    def _entries(self, start: int = 0, end: int = sys.maxsize) -> list[Running]:
        """The module's own code between two offsets."""
        every = self.project.main_code.entries(self.module)
        return [entry for entry in every if entry.start and start <= entry.start.start < end]

    def _starts(self, entry: Running) -> bool:
        """Whether a statement starts workers, itself or in what it calls."""
        main_code = self.project.main_code
        for running in main_code.reach.walk([entry]):
            begun = main_code.begun_by(running.env)
            if any(running.env.function >= 0 or event is running.start for event, _ in begun):
                return True
        return False

    def _known(self, starting: list[int]) -> bool:
        """Whether it is known what the workers of this program are given: all are loaders' whose datasets are seen."""
        loaders = [start.loader for start in self.project.main_code.starts(self.module)]
        unseen = [loader for loader in self.project.open_loaders if loader.path in self.program]
        return all(loader is not None for loader in loaders) and not unseen and bool(starting)

    def why_not(self) -> str:
        """What stands in the way, in words; "" where nothing does."""
        if self.first < 0:
            return "it is not clear which statements do"
        needed = (self._needed(index) for index in range(self.first, len(self.statements)))
        reasons = (self._imported(), self._looked_up(), self._immovable(), *needed)
        return next((reason for reason in reasons if reason), "")

    def _imported(self) -> str:
        """Whether other code may import this file: what is under the guard, it would not get."""
        path, stem = self.module.path, self.module.path.removesuffix(".py")
        if is_test(path) or stem.endswith("__init__"):
            return "other programs import this file"
        if any(f"/{stem}".endswith(f"/{script.replace('.', '/')}") for script in self.project.targets.scripts):
            return "a console script imports this file"
        quoted = re.compile(rf"""["'](?:[\w./]*[./])?{re.escape(stem.rpartition("/")[2])}(?:\.py)?["']""")
        for other in self.project.index:
            if other is not self.module and any(self._is_named_by(other, item) for item in other.model.imports):
                return f"{other.path} imports this file"
            text = self.project.source(other.path).text
            if _BY_NAME.search(text) and quoted.search(text):
                return f"{other.path} may import this file by its name"
        return ""

    def _is_named_by(self, importer: Module, imported: ImportedName) -> bool:
        names = [imported.module, f"{imported.module}.{imported.attribute}".strip(".")]
        found = [self.project.index.find(importer.path, name, imported.level) for name in names]
        if any(module is self.module for module in found) or imported.module == "__main__":
            return True
        place = f"/{self.module.path.removesuffix('.py')}"
        return not imported.level and any(place.endswith("/" + name.replace(".", "/")) for name in names)

    def _looked_up(self) -> str:
        """Whether names may be read in ways that are not seen."""
        for path, function in sorted(self.view.code):
            module = self.project.index.modules[path]
            if any(_looks_up(expr) for event in module.events(function) for expr in event.walk()):
                return f"worker code (`{module.model.functions[function].qualname}`) may look up any name"
        return ""

    def _immovable(self) -> str:
        """Whether the last statements are such as must stay at module level."""
        tail = self.statements[self.first :]
        if any(item.kind == "definition" for item in tail):
            return "functions, classes or imports stand below, and workers may need them"
        text = self.source.text[tail[0].span.start : tail[-1].span.end]
        if _CELL.search(self.source.text) or re.search(r"^await\b", text, re.MULTILINE):
            return "this is a notebook"
        return "" if guarded(self.source, tail[0].span, tail[-1].span) else "a line holds several statements"

    def _needed(self, index: int) -> str:
        """What workers need of a statement, in words."""
        statement = self.statements[index]
        for name in sorted(statement.names):
            reader = self.view.reads.get((self.module.path, name))
            if reader:
                return f"worker code (`{reader}`) reads `{name}`"
        return self.effects.seen_by_workers(self._entries(statement.span.start, statement.span.end))

    def _top(self) -> int:
        """The first statement to move: above those that start workers, what merely feeds them."""
        top = self.first
        while top > 0 and self.statements[top - 1].kind in ("other", "constant", "text") and not self._needed(top - 1):
            top -= 1
        while self.statements[top].kind in ("constant", "text"):
            top += 1
        return top

    def _is_plain(self) -> bool:
        """Whether the script is one file whose own last statements loop over loaders."""
        starting = [entry for entry in self._entries() if self._starts(entry)]
        own = [
            any(event is entry.start for event, _ in self.project.main_code.begun_by(entry.env)) for entry in starting
        ]
        return self.program == {self.module.path} and self.view.known and all(own)

    def fix(self) -> Fix:
        """The edit; there must be nothing in the way."""
        last = self.statements[-1].span
        spans = [item.span for item in self.statements[self._top() : self.first + 1]]
        edit = next(edit for span in spans if (edit := guarded(self.source, span, last)) is not None)
        trust = Applicability.SAFE if self._is_plain() else Applicability.UNSAFE
        return Fix(f"Put the end of the script under `{GUARD}`", (edit,), trust)


def _looks_up(expr: Expr) -> bool:
    """Whether a call reads names that are not written there."""
    name = expr.args[0].name if expr.kind == "call" and expr.args[0].kind == "name" else ""
    return name in _LOOKED_UP or (name == "vars" and len(expr.args) == 1)
