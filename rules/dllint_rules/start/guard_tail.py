"""The fix of DLL301: the end of the script under the main guard, where workers cannot notice that it is gone."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterator, Set
from functools import cached_property

from dllint import (
    GUARD,
    Applicability,
    Expr,
    Finding,
    Fix,
    Func,
    Import,
    ImportedName,
    Module,
    Project,
    Running,
    Start,
    Statement,
    guarded,
    is_test,
    top_statements,
)
from dllint_rules.start.effects import Effects
from dllint_rules.start.only_called import OnlyCalled, looks_up
from dllint_rules.start.process_groups import joining
from dllint_rules.start.worker_view import WorkerView

_CELL = re.compile(r"^# (?:%%|In\[|<codecell>)", re.MULTILINE)
_TEXT_BLOCK = re.compile(r"^#{20,}[ \t]*$", re.MULTILINE)
_TITLE = re.compile(r"""\A(?:[ \t\f]*(?:#.*)?\n)*[rR]?(?:\"{3}|'{3})[^"']*?^[=\-*#~^]{3,}[ \t]*$""", re.MULTILINE)
"""A gallery renders a script that begins with a title as a page: its text blocks must not be indented."""
_BY_NAME = re.compile(r"\b(?:import_module|__import__|run_module|run_path|exec|entry_points)\b")
_IMPORTERS = frozenset({"import_module", "__import__"})
_LOGGER = re.compile(r"""\w+ = (?:logging\.)?getLogger\((?:__name__|["'][\w.]*["'])?\)""")
_DISK = {"exists", "isfile", "isdir", "is_file", "is_dir", "listdir", "scandir", "glob"}
_EXITS = {"exit", "_exit", "quit"}
_IDLE = {
    *("getLogger", "device", "is_available", "device_count", "compile", "join", "dirname", "abspath", "realpath"),
    *("bool", "dict", "float", "format", "frozenset", "getenv", "int", "len", "list", "max", "min", "range", "set"),
    *("round", "sorted", "split", "str", "sum", "tuple", "zip", "Lock", "object", "partial", "TypeVar", "Path"),
}
"""Names of calls that hardly take time and change nothing: every worker may do them again."""
_FEEDING = frozenset({"other", "constant", "text"})
"""Kinds of statements that may do nothing for workers."""
_CALLBACKS = ("callback", "error_callback")


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
        statements = top_statements(self.source)
        self.readable = statements is not None
        self.statements = statements or []
        while self.statements and self.statements[-1].kind in ("guard", "text"):
            self.statements.pop()
        starting = [entry.start.start for entry in self._entries() if entry.start and self._starts(entry)]
        spans = [item.span for item in self.statements]
        holding = (i for i, span in enumerate(spans) if any(span.start <= at < span.end for at in starting))
        self.first = next(holding, -1)
        self.view = WorkerView(project, self.program, self._known(starting), self._main_only())
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

    def _main_only(self) -> frozenset[tuple[str, int]]:
        """The functions that surely run in the main process: those that start workers, as no worker may, and callbacks.

        A pool calls those in the main process. So are those that only these and the script's statements call.
        """
        entries = [entry for entry in self._entries() if entry.start]
        running = (item for item in self.project.main_code.reach.walk(entries) if item.env.function >= 0)
        calls = OnlyCalled(self.project, self.module, self.program)
        starting = [item.function for item in running if self._starts(item)]
        return frozenset(calls.along_with({*starting, *self._callbacks(calls)}))

    def _callbacks(self, calls: OnlyCalled) -> Iterator[tuple[str, int]]:
        """The functions that are mentioned as callbacks of pools only."""
        tasks = [task for task in self.project.processes.tasks if task.path in self.program]
        given = {
            (task.path, value.start): (value, task.env)
            for task in tasks
            for key, value in task.call.keywords
            if key in _CALLBACKS and task.always
        }
        for value, env in given.values():
            for func in self.project.values(value, env):
                if isinstance(func, Func) and set(calls.mentions(func.facts.name)) <= given.keys():
                    yield func.module.path, func.index

    def why_not(self) -> str:
        """The obstacle, in words; "" if there is none."""
        if not self.readable:
            return "this file is written for another Python"
        if self.first < 0:
            return "it is not clear which statements do"
        tail, lifted = self.statements[self.first :], self._lifted()
        stay = (i for i, item in enumerate(tail, self.first) if item not in lifted and not self._repeats(item))
        needed = (self._needed(index) for index in stay)
        reasons = (self._imported(), self._looked_up(), self._immovable(), *needed)
        return next((reason for reason in reasons if reason), "") or self._leaves(self.top) or self._joins(self.top)

    def _lifted(self, first: int = -1) -> list[Statement]:
        """The definitions among the last statements that may go above them all: they read nothing of these yet."""
        tail = self.statements[self.first if first < 0 else first :]
        moved = [item for item in tail if self._may_rise(item)]
        while True:
            bound = {name for item in tail if item not in moved for name in item.names}
            free = [item for item in moved if not item.at_once & bound]
            if free == moved:
                return moved
            moved = free

    def _may_rise(self, statement: Statement) -> bool:
        """Whether a statement means the same above others: a definition, or an import or logger that workers need.

        So does an import between statements that move, where it only loads more of what is loaded.
        """
        read = any((self.module.path, name) in self.view.reads for name in statement.names)
        means_the_same = statement.kind == "definition" or (statement.kind == "import" and self._adds(statement))
        if not means_the_same and not (read and (statement.kind == "import" or self._names_logger(statement))):
            return False
        model = self.module.model
        others = {name for item in self.statements if item is not statement for name in item.names}
        declared = {name for function in model.functions for name in function.globals}
        shadowed = statement.names & set(dir(builtins))
        return not statement.names & (others | declared) and not self._read_above(statement, shadowed)

    def _names_logger(self, statement: Statement) -> bool:
        """Whether a statement only gives a name to a logger, which is the same at any time."""
        return _LOGGER.fullmatch(self._text(statement)) is not None

    def _read_above(self, statement: Statement, names: Set[str]) -> bool:
        """Whether code above a statement may read some names, at once or in functions that it calls."""
        start = statement.span.start
        at_once = {name for item in self.statements if item.span.start < start for name in item.at_once}
        later = (item.loads for item in self.module.model.functions if item.span.start < start)
        return not names.isdisjoint(at_once.union(*later))

    def _adds(self, statement: Statement) -> bool:
        """Whether an import above what starts workers is of Python's library, or of a package that is loaded by then.

        Nothing else in the file may depend on when that happens.
        """
        roots, index = self._roots(statement), self.statements.index(statement)
        loaded = {root for item in self.statements[:index] for root in self._roots(item) if root}
        return bool(roots) and index < self.first and roots <= loaded | sys.stdlib_module_names

    def _repeats(self, statement: Statement) -> bool:
        """Whether an import has no effect: nothing else binds its names than it and the same import above."""
        bindings = self.module.bindings[-1, -1]
        found = [bindings.get(name, []) for name in statement.names] if self._roots(statement) else []
        same = ({item.imported and _source_of(item.imported) for item in each} for each in found)
        above = (any(item.start < statement.span.start and item.block < 0 for item in each) for each in found)
        return bool(found) and all(len(each) == 1 and None not in each for each in same) and all(above)

    def _roots(self, statement: Statement) -> frozenset[str]:
        """The packages that an import at module level takes names from; none of one that is tried or takes all."""
        span = statement.span
        if statement.kind != "import" or not self._text(statement).startswith(("import ", "from ")):
            return frozenset()
        if self._binds_anything(statement):
            return frozenset()
        found = [item for item in self.module.model.imports if span.start <= item.span.start < span.end]
        return frozenset("" if item.level else item.module.partition(".")[0] for item in found)

    def _text(self, statement: Statement) -> str:
        return self.source.text[statement.span.start : statement.span.end]

    def _prepares(self, index: int) -> bool:
        """Whether a statement may set something up for an import below it that goes above it."""
        imports = (item for item in self._lifted(index + 1) if item.kind == "import")
        roots = {root for item in imports for root in self._roots(item)} - sys.stdlib_module_names
        text = self._text(self.statements[index])
        called = any(re.match(rf"{re.escape(root)}\.[\w.]+\s*[(\[=]", text) for root in roots)
        return called or (bool(roots) and re.search(r"\b(environ|putenv|chdir|sys)\b", text) is not None)

    def _imported(self) -> str:
        """Whether other code may import this file: what is under the guard, it would not get."""
        path, stem = self.module.path, self.module.path.removesuffix(".py")
        if stem.endswith("__init__"):
            return "whatever imports the package runs this file"
        if is_test(path) and self.module.has_tests:
            return "a test runner imports this file"
        if any(f"/{stem}".endswith(f"/{script.replace('.', '/')}") for script in self.project.targets.scripts):
            return "a console script imports this file"
        quoted = re.compile(rf"""["'](?:[\w./]*[./])?{re.escape(stem.rpartition("/")[2])}(?:\.py)?["']""")
        for other in self.project.index:
            if other is not self.module and any(self._is_named_by(other, item) for item in other.model.imports):
                return f"{other.path} imports this file"
            text = self.project.source(other.path).text
            if _BY_NAME.search(text) and quoted.search(text) and self._may_import(other):
                return f"{other.path} may import this file by its name"
        return ""

    def _may_import(self, other: Module) -> bool:
        """Whether what a file imports by a name may be this file: not if it begins all names with another package."""
        calls = [call for name in _IMPORTERS for call in other.calls.get(name, ()) if len(call.expr.args) > 1]
        words = {match[0] for match in _BY_NAME.finditer(self.project.source(other.path).text)}
        if not calls or words - _IMPORTERS or any(self.project.index.aliases.get(name) for name in _IMPORTERS):
            return True
        evaluator = self.project.evaluator
        return any(
            evaluator.namespaces.may_import(call.expr.args[1], evaluator.generic(other, call.function), self.module)
            for call in calls
        )

    def _is_named_by(self, importer: Module, imported: ImportedName) -> bool:
        names = [imported.module, f"{imported.module}.{imported.attribute}".strip(".")]
        found = [self.project.index.find(importer.path, name, imported.level) for name in names]
        if any(module is self.module for module in found) or imported.module == "__main__":
            return True
        if any(module is not None for module in found):
            return False
        place = f"/{self.module.path.removesuffix('.py')}"
        return not imported.level and any(place.endswith("/" + name.replace(".", "/")) for name in names)

    def _looked_up(self) -> str:
        """Whether names of this file may be read in ways that are not seen: only its own code looks them up here."""
        for path, function in sorted(self.view.code):
            if path == self.module.path:
                if any(looks_up(expr) for event in self.module.events(function) for expr in event.walk()):
                    return f"worker code (`{self.module.model.functions[function].qualname}`) may look up any name"
        return ""

    def _immovable(self) -> str:
        """Whether the last statements are such as must stay at module level."""
        tail, lifted = self.statements[self.first :], self._lifted()
        for item in tail:
            row, name = self.source.location(item.span.start)[0], min(item.names, default="")
            if self._binds_anything(item):
                return f"workers may need the names that line {row} imports"
            if item.kind == "definition" and item not in lifted:
                why = "which reads what is above it" if self._may_rise(item) else "a name that is bound twice"
                return f"workers may need `{name}`, defined in line {row}, {why}"
        text = self.source.text[tail[0].span.start : tail[-1].span.end]
        if _CELL.search(self.source.text) or re.search(r"^await\b", text, re.MULTILINE):
            return "this is a notebook"
        if _TEXT_BLOCK.search(self.source.text) and _TITLE.search(self.source.text):
            return "a gallery renders this file, and its text blocks must not be indented"
        spans = [item.span for item in lifted]
        return "" if guarded(self.source, tail[0].span, tail[-1].span, spans) else "a line holds several statements"

    def _binds_anything(self, statement: Statement) -> bool:
        """Whether a statement has an `import *`: whatever stays outside of the guard may read what it binds."""
        span = statement.span
        return any(span.start <= item.span.start < span.end for item in self.module.star_imports if item.function < 0)

    def _needed(self, index: int) -> str:
        """What workers need of a statement, in words."""
        statement = self.statements[index]
        for name in sorted(statement.names):
            reader = self.view.reads.get((self.module.path, name))
            if reader:
                return f"{self.view.reader} (`{reader}`) reads `{name}`"
        for path, function in self.view.code if statement.kind == "other" else ():
            facts = self.project.index.modules[path].model.functions[function]
            inside = statement.span.start <= facts.span.start < statement.span.end
            if path == self.module.path and facts.kind == "def" and inside:
                return f"workers may run `{facts.qualname}`, which is defined there"
        return self.effects.seen_by_workers(self._entries(statement.span.start, statement.span.end))

    @cached_property
    def top(self) -> int:
        """The first statement to move: above those that start workers, what merely feeds them.

        Definitions and imports between these stay where they are, unless what is above them must not stay, or is work
        that every worker would do again.
        """
        nearest = self._reached(_FEEDING)
        above = self._reached({*_FEEDING, "definition", "import"})
        if not self._leaves(nearest):
            above = self._before_work(above, nearest)
        return nearest if self._leaves(above) else above

    def _before_work(self, start: int, end: int) -> int:
        """Where the guard begins between two statements: below the last definitions or imports without work above."""
        work = next((index for index in range(start, end) if self._works(index)), -1)
        above = (index + 1 for index in range(start, work) if self.statements[index].kind in ("definition", "import"))
        return end if work < 0 else self._below_names(max(above, default=start))

    def _works(self, index: int) -> bool:
        """Whether a statement does something, which every worker would do again: it calls more than a bare name."""
        statement = self.statements[index]
        entries = self._entries(statement.span.start, statement.span.end) if statement.kind == "other" else []
        parts = (expr for entry in entries if entry.start is not None for expr in entry.start.walk())
        return any(expr.kind == "call" and expr.args[0].name not in _IDLE for expr in parts)

    def _reached(self, kinds: Set[str]) -> int:
        """The first of the statements of some kinds that may move."""
        top = self.first
        while top > 0 and self.statements[top - 1].kind in kinds and self._may_move(top - 1):
            top -= 1
        return self._below_names(top)

    def _below_names(self, index: int) -> int:
        """The first statement from an index on that is no definition, import or name for what is written out.

        A logger that goes above the guard stays there, too.
        """
        while self.statements[index].kind in ("constant", "text", "definition", "import") or self._is_lifted_logger(
            index
        ):
            index += 1
        return index

    def _is_lifted_logger(self, index: int) -> bool:
        statement = self.statements[index]
        return self._names_logger(statement) and statement in self._lifted(index)

    def _may_move(self, index: int) -> bool:
        """Whether a statement may go under the guard, together with those below it; a definition goes above it."""
        statement = self.statements[index]
        if statement.kind in ("definition", "import"):
            return statement in self._lifted(index) or self._repeats(statement)
        if self._prepares(index):
            return False
        if self._is_lifted_logger(index):
            return True
        at_once = {name for item in self._lifted(index + 1) for name in item.at_once}
        return not (statement.names & at_once or self._binds_anything(statement) or self._needed(index))

    def _leaves(self, top: int) -> str:
        """Whether what stays above the guard ends the program for what is on the disk by then: the training's own."""
        above = [*self.statements[:top], *self._lifted(top)]
        entries = [entry for item in above for entry in self._entries(item.span.start, item.span.end)]
        for running in self.project.main_code.reach.walk(entries):
            own = running.env.function < 0
            for event in [running.start] if own and running.start is not None else running.events:
                tests = (test for test, _ in running.env.module.tests_around[event.block])
                if any(map(_asks_disk, tests)) and any(map(_exits, event.walk())):
                    place = f"{running.path}:{self.project.source(running.path).location(event.start)[0]}"
                    return f"what stays above it may end every worker, for a file that is there by then ({place})"
        return ""

    def _joins(self, top: int) -> str:
        """Whether what stays above the guard makes every worker join a group of processes, which is complete."""
        above = [*self.statements[:top], *self._lifted(top)]
        entries = (entry for item in above for entry in self._entries(item.span.start, item.span.end))
        for running, call in joining(self.project, entries):
            place = f"{running.path}:{self.project.source(running.path).location(call.start)[0]}"
            return f"what stays above it joins a process group in every worker ({place})"
        return ""

    def _added(self) -> list[Statement]:
        """The lifted imports of Python's library that go to the file's own imports: none of these is right above."""
        lifted = self._lifted(self.top) if self.top and self.statements[self.top - 1].kind != "import" else []
        elsewhere = {name for function in self.module.model.functions for name in function.bound}
        return [
            item
            for item in lifted
            if self._roots(item) and self._roots(item) <= sys.stdlib_module_names and item.names.isdisjoint(elsewhere)
        ]

    def _imports(self, statement: Statement) -> Iterator[Import]:
        span, path = statement.span, self.module.path
        for item in self.module.model.imports:
            if span.start <= item.span.start < span.end:
                usual = item.attribute or item.module.partition(".")[0]
                yield Import(path, item.module, item.attribute, "" if item.bound == usual else item.bound)

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
        spans = [item.span for item in self.statements[self.top : self.first + 1]]
        added = self._added()
        lifted = [item.span for item in self._lifted(self.top) if item not in added]
        gone = [item.span for item in self.statements[self.top :] if item in added or self._repeats(item)]
        edit = next(edit for span in spans if (edit := guarded(self.source, span, last, lifted, gone)) is not None)
        imports = tuple(one for item in added for one in self._imports(item))
        kept = all(self._text(item).startswith(("def ", "async def ")) for item in self._lifted(self.top))
        trust = Applicability.SAFE if self._is_plain() and kept else Applicability.UNSAFE
        return Fix(f"Put the end of the script under `{GUARD}`", (edit,), trust, imports)


def _source_of(item: ImportedName) -> tuple[str, str, int]:
    return item.module, item.attribute, item.level


def _asks_disk(test: Expr) -> bool:
    return any(part.kind == "call" and part.args[0].name in _DISK for part in test.walk())


def _exits(expr: Expr) -> bool:
    return expr.kind == "call" and expr.args[0].name in _EXITS
