"""What only the main script's own process changes in libraries: spawned workers import them afresh, unchanged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from dllint.finding import Note
from dllint.knowledge import OPENCV_PARALLEL
from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Env, Ext
from dllint.project.evaluate.at_rest import AtRest, at_rest
from dllint.project.execution.call_graph import Running
from dllint.project.execution.processes import Task
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.events import flat_targets
from dllint.project.program.guards import only_in_main, under_main_guard
from dllint.project.program.module import Module, Site
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

_DEFAULT_DTYPE = "the default dtype"
_FLAGS = "absl.flags.FLAGS"
_GIN = "gin's bindings"
_FIELD_SIZE = "the limit of csv"
_THREADS = "the threads of OpenCV"
_SETTERS = {
    "torch.set_default_dtype": _DEFAULT_DTYPE,
    "torch.set_default_tensor_type": _DEFAULT_DTYPE,
    "absl.app.run": _FLAGS,
    _FLAGS: _FLAGS,
    "gin.parse_config": _GIN,
    "gin.parse_config_file": _GIN,
    "gin.parse_config_files_and_bindings": _GIN,
    "gin.bind_parameter": _GIN,
    "csv.field_size_limit": _FIELD_SIZE,
    "cv2.setNumThreads": _THREADS,
}
"""Calls that change a setting; run under fork, spawn and forkserver. `FLAGS(sys.argv)` parses, and `app.run` does."""
_OPENING = frozenset({"PIL.Image.open"})
_READERS = {
    "PIL.ImageFile.LOAD_TRUNCATED_IMAGES": _OPENING,
    "PIL.Image.MAX_IMAGE_PIXELS": _OPENING,
    _DEFAULT_DTYPE: frozenset(
        f"torch.{name}"
        for name in ("get_default_dtype", "zeros", "ones", "empty", "rand", "randn", "eye", "linspace", "logspace")
    ),
    _FIELD_SIZE: frozenset({"csv.reader", "csv.DictReader"}),
    _THREADS: frozenset(f"cv2.{name}" for name in OPENCV_PARALLEL),
}
"""Who depends on a setting without naming it."""
_CONFIGURABLE = frozenset({"gin.configurable", "gin.register"})
_ERRORS = {_FLAGS: "UnparsedFlagAccessError", _FIELD_SIZE: "field larger than field limit"}
"""What is raised where the setting is not made."""
_COSTS = {_THREADS: "each takes all cores"}
"""What else it costs where that changes no result."""


class MainSetting(NamedTuple):
    """A change that workers depend on and do not get."""

    what: str
    """As it is written: `torch.set_default_dtype`, `np.load`."""
    module: Module
    span: Span
    reader: str
    """The worker code that depends on it."""
    notes: tuple[Note, ...]
    error: str = ""
    """What is raised without it."""
    costs: str = ""
    """What workers take more of without it; with neither, the outcome is another one."""
    movable: bool = True
    """Whether the change can move to module level unchanged."""


class _Change(NamedTuple):
    name: str
    text: str
    site: Site
    scripts: tuple[Module, ...] = ()
    """The programs whose own processes make it, and no other process does."""


class MainSettings:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.guarded = project.guarded
        self._own_codes = project.own_codes
        self._only_in_main = AtRest(self.evaluator, self._find_only_in_main)

    def read_by(self, starter: Loader | Task, running: Iterable[Running]) -> Iterator[MainSetting]:
        """The changes by programs which start workers that the workers' code depends on."""
        code_in_workers = list(running)
        changes = self._changes if code_in_workers else {}
        readers = {reader: name for name in changes for reader in _READERS.get(name, ())}
        names = {name.rpartition(".")[2] for name in (*changes, *readers)}
        for code in code_in_workers if changes else ():
            for name, at in self._reads(code, changes, readers, names):
                for change in self._only_in_main[name]:
                    if not any(self._own_codes.makes(script, starter.env) for script in change.scripts):
                        continue
                    note = code.note(at, f"depends on `{change.text}`")
                    yield MainSetting(
                        change.text,
                        change.site.module,
                        change.site.expr.span,
                        code.env.facts.qualname,
                        (note, *code.route),
                        _ERRORS.get(name, ""),
                        _COSTS.get(name, ""),
                        name != _FLAGS,
                    )

    def _find_only_in_main(self, name: str) -> list[_Change]:
        """The changes of one setting by the main scripts' own processes; none if other processes make any."""
        made = [change._replace(scripts=self._scripts(change.site)) for change in self._changes[name]]
        return made if all(change.scripts for change in made) else []

    @at_rest
    def _changes(self) -> dict[str, list[_Change]]:
        """All changes, by what they change."""
        found: dict[str, list[_Change]] = defaultdict(list)
        for change in self._all_changes():
            found[change.name].append(change)
        return dict(found)

    def _scripts(self, site: Site) -> tuple[Module, ...]:
        if under_main_guard(site.module, site.function, site.event):
            return (site.module,)
        return self.guarded.scripts_of(site.module, site.function) if site.function >= 0 else ()

    def _all_changes(self) -> Iterator[_Change]:
        for site in self.evaluator.index.calls_named({name.rpartition(".")[2] for name in _SETTERS}):
            env = self.evaluator.generic(site.module, site.function)
            for value in self.evaluator.values(site.expr.args[0], env):
                if isinstance(value, Ext) and value.name in _SETTERS:
                    yield _Change(_SETTERS[value.name], site.expr.args[0].dotted, site)
        candidates = [site for module in self.evaluator.index for site in _stored_in(module)]
        guarded = {site.expr.name for site in candidates if self._may_be_only_in_main(site)}
        for site in candidates:
            if site.expr.name in guarded:
                yield from self._stored(site)

    def _may_be_only_in_main(self, site: Site) -> bool:
        """What can be said before any value is known."""
        if site.function < 0:
            return under_main_guard(site.module, -1, site.event)
        name = site.expr.dotted.partition(".")[0]
        return any(item.bound == name for item in site.module.model.imports)

    def _stored(self, site: Site) -> Iterator[_Change]:
        """`library.attribute = value`."""
        env = self.evaluator.generic(site.module, site.function)
        for value in self.evaluator.values(site.expr.args[0], env):
            if isinstance(value, Ext):
                yield _Change(f"{value.name}.{site.expr.name}", site.expr.dotted, site)

    def _reads(
        self, code: Running, changes: Container[str], readers: Mapping[str, str], names: set[str]
    ) -> Iterator[tuple[str, Expr]]:
        """What code reads of the changes, itself or through `readers`; `names` are the last names of both."""
        module, function = code.env.module, code.env.function
        if _GIN in changes and function >= 0:
            yield from ((_GIN, decorator) for decorator in self._gin_decorators(code))
        for event in code.events if function >= 0 else ():
            if only_in_main(module, function, event) or not self.evaluator.conditions.may_run(code.env, event.start):
                continue
            for expr, typed in _named(event, names):
                for value in self.evaluator.values(expr, code.env):
                    if isinstance(value, Ext):
                        owner = value.name.rpartition(".")[0]
                        if value.name in readers and not typed:
                            yield readers[value.name], expr
                        elif (value.name in changes or owner in changes) and _by_name(expr, code.env):
                            yield (value.name if value.name in changes else owner), expr

    def _gin_decorators(self, code: Running) -> Iterator[Expr]:
        """The decorators that have gin fill in the arguments of a function or of a class that is constructed."""
        module, facts = code.env.module, code.env.facts
        owner = module.model.classes[facts.owner] if facts.owner >= 0 and facts.name == "__init__" else None
        for decorator in (*facts.decorators, *(owner.decorators if owner is not None else ())):
            named = decorator.args[0] if decorator.kind == "call" else decorator
            values = self.evaluator.values(named, self.evaluator.env(module, -1))
            if any(isinstance(value, Ext) and value.name in _CONFIGURABLE for value in values):
                yield decorator


def _by_name(expr: Expr, env: Env) -> bool:
    """Whether code reaches a library by a module's name, or an import of its own; what it is given goes by value."""
    name = expr.dotted.partition(".")[0]
    bindings = env.module.bindings[env.function, -1].get(name, []) if env.function >= 0 else []
    return bool(name) and all(binding.imported is not None for binding in bindings)


def _stored_in(module: Module) -> Iterator[Site]:
    """`a.b = value`, where a method's own object is not a."""
    for writes in module.attribute_writes.values():
        for write in writes:
            dotted = write.target.dotted if write.event.kind == "assign" else ""
            if dotted and module.receiver_name(write.function) != dotted.partition(".")[0]:
                yield Site(module, write.function, write.event, write.target)


def _named(event: Event, names: set[str]) -> Iterator[tuple[Expr, bool]]:
    """The names and attributes that an event reads under one of these last names, and whether a dtype is given."""
    targets = set(map(id, flat_targets(event.target))) if event.target is not None else set()
    typed = {id(expr.args[0]) for expr in event.walk() if expr.kind == "call" and expr.keyword("dtype") is not None}
    for expr in event.walk():
        owner = expr.args[0].name if expr.kind == "attribute" else ""
        if expr.kind in ("name", "attribute") and id(expr) not in targets and (expr.name in names or owner in names):
            yield expr, id(expr) in typed
