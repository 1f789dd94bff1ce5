"""What running code changes beyond its own variables: things that a spawned worker would have to see."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cached_property

from dllint import (
    Const,
    Event,
    Expr,
    Ext,
    ExtInst,
    Func,
    Klass,
    Mod,
    Project,
    Running,
    Value,
    event_names,
    flat_targets,
)
from dllint_rules.start.worker_view import WorkerView, events_of

_FILTERS = ("warnings.filterwarnings", "warnings.simplefilter")
_SETTINGS = {
    *("torch.set_default_dtype", "torch.set_default_tensor_type", "torch.set_default_device"),
    *("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.multiprocessing.set_sharing_strategy"),
    *("torch.use_deterministic_algorithms", "torch.set_deterministic", "torch.set_flush_denormal"),
    *("numpy.seterr", "numpy.seterrcall", *_FILTERS),
    *("cv2.setNumThreads", "cv2.ocl.setUseOpenCL", "decimal.setcontext", "locale.setlocale"),
    *("sys.setrecursionlimit", "torchaudio.set_audio_backend", "torchvision.set_image_backend"),
}
"""Process-wide settings that worker code depends on and does not get from its parent."""
_GRADIENTS = ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled")
_FOUNDATIONS = frozenset(
    {"PIL", "cv2", "h5py", "numpy", "pandas", "scipy", "torch", "torchaudio", "torchvision", "tqdm"}
)
"""Libraries of which it is known that they need none but Python's and one another."""
_DEFAULT_TYPES = ("torch.float32", "torch.float")
_HARMLESS = (
    *("os.environ", "torch.backends", "matplotlib", "pandas.options"),
    *("sys.path", "sys.argv", "sys.stdout", "sys.stderr"),
)
"""What of libraries may be changed: a spawned worker inherits it, or it is none of its business."""
_READING = {
    *("get", "keys", "values", "items", "copy", "index", "count", "format", "join", "split", "startswith", "to"),
    *("rsplit", "splitlines", "partition", "rpartition", "endswith", "strip", "lstrip", "rstrip", "lower", "upper"),
    *("title", "capitalize", "zfill", "encode", "decode", "removeprefix", "removesuffix"),
}
"""Methods that change nothing."""


_GOING_THROUGH = {"enumerate", "iter", "list", "reversed", "sorted", "tqdm", "tuple", "zip"}
"""Functions whose loops give the elements of what they are given."""


class Effects:
    """Looks for changes in everything that some statements run."""

    def __init__(self, project: Project, view: WorkerView) -> None:
        self.project = project
        self.view = view

    @cached_property
    def _in_workers(self) -> frozenset[tuple[str, int]]:
        """The functions that surely run in workers: these do for themselves what they change."""
        tasks = self.project.processes.tasks
        sent = (code for task in tasks for code in self.project.processes.running(task))
        targets = (value for task in tasks for pair in task.targets for value in self.project.values(*pair))
        classes = [item for item in targets if isinstance(item, Klass)]
        methods = ((item.module.path, index) for item in classes for index in item.facts.methods.values())
        return frozenset([*(code.function for code in (*self.project.running, *sent)), *methods])

    def seen_by_workers(self, entries: Iterable[Running]) -> str:
        """A change that workers would have to see, in words; "" where there is none."""
        for running in self.project.main_code.reach.walk(entries):
            if running.env.function >= 0 and running.function in self._in_workers:
                continue
            for event in events_of(running.env.module, running.env.function, running.start):
                told = self._of_event(running, event)
                if told:
                    source = self.project.source(running.path)
                    return f"{told} ({running.path}:{source.location(event.start)[0]})"
        return ""

    def _of_event(self, running: Running, event: Event) -> str:
        facts = running.env.module.function_at(running.env.function)
        for name in event_names(event) if facts is not None else ():
            reader = self.view.reads.get((running.path, name)) if facts and name in facts.globals else None
            if reader:
                return f"{self.view.reader} (`{reader}`) reads `{name}`, which is set there"
        if event.target is not None and event.kind != "for":
            for target in flat_targets(event.target):
                if target.kind in ("attribute", "subscript"):
                    told = self._of_store(running, event, target)
                    if told:
                        return told
        for expr in event.walk():
            scoped = event.kind == "with" and expr is event.value
            told = self._of_call(running, expr) if expr.kind == "call" and not scoped else ""
            if told:
                return told
        return ""

    def _of_store(self, running: Running, event: Event, target: Expr) -> str:
        """`base.name = ...` or `base[key] = ...`."""
        base = target.args[0]
        read = self._read_of(base, running)
        if read is not None:
            return f"{self.view.reader} reads {self._named(read, running)}, which is changed there"
        for value in self.project.values(base, running.env):
            if isinstance(value, Klass | Func) and not _is_made_there(value, running):
                return f"`{base.dotted}` is changed there, and workers import it unchanged"
            if isinstance(value, Mod) and (value.module.path, target.name) in self.view.reads:
                return f"{self.view.reader} reads `{target.name}` of `{base.dotted}`, which is set there"
            if isinstance(value, Ext) and self._may_be_missed(running, event, f"{value.name}.{target.name}"):
                return f"`{base.dotted}` is changed there, and workers import it unchanged"
        return ""

    def _may_be_missed(self, running: Running, event: Event, name: str) -> bool:
        """Whether workers may notice that something of a library is not what it is here."""
        harmless = name.startswith(_HARMLESS) or self._adds_private(running, event, name)
        return not harmless and self._may_matter(name)

    def _adds_private(self, running: Running, event: Event, name: str) -> bool:
        """Whether a private name is put into a library that lacks it, and worker code reads none such.

        The library does without, and others have no business there.
        """
        module = running.env.module
        around = map(module.block, module.enclosing(event.block))
        lacking = any(
            block.kind == "except" and block.test is not None and block.test.dotted == "AttributeError"
            for block in around
        )
        parts = name.split(".")
        private = any(part.startswith("_") for part in parts)
        return lacking and private and self.view.known and parts[-1] not in self.view.attributes

    def _may_matter(self, name: str) -> bool:
        """Whether workers may run code of a library: all they use is known, and needs no such library."""
        root = name.partition(".")[0]
        others = self.view.libraries - sys.stdlib_module_names - _FOUNDATIONS
        return not self.view.known or root in _FOUNDATIONS or root in sys.stdlib_module_names or bool(others)

    def _of_call(self, running: Running, call: Expr) -> str:
        callee = call.args[0]
        for value in self.project.values(callee, running.env):
            if isinstance(value, Ext) and value.name in _SETTINGS and not self._is_quiet(value.name, call):
                return f"`{callee.dotted}` is set for this process only, and worker code may depend on it"
        if callee.kind == "attribute" and callee.name not in _READING:
            read = self._read_of(callee.args[0], running)
            if read is not None:
                return f"{self.view.reader} reads {self._named(read, running)}, which may be changed there"
        return ""

    def _read_of(self, expr: Expr, running: Running) -> Value | None:
        """The object of which a change of an expression changes something, if worker code reads that."""
        wholes = _wholes(expr, running)
        found = (value for whole in wholes for value in self.project.values(whole, running.env))
        read = next((value for value in found if value in self.view.objects), None)
        if read is None or read in self.project.values(expr, running.env):
            return read
        return None if self._is_fixed(expr, running) else read

    def _is_fixed(self, expr: Expr, running: Running) -> bool:
        """Whether an element is known to be one that no method changes: a string, a number, a path."""
        values = self.project.values(expr, running.env)
        return bool(values) and all(
            isinstance(value, Const) or (isinstance(value, ExtInst) and value.name.startswith("pathlib."))
            for value in values
        )

    def _named(self, value: Value, running: Running) -> str:
        """What worker code calls an object, and where that is bound, if in another file than what changes it."""
        path, name = self.view.objects[value]
        return f"`{name}`" if path == running.path else f"`{name}` of {path}"

    def _is_quiet(self, name: str, call: Expr) -> bool:
        """Whether a call only hides warnings, or sets the default as all others do."""
        if name in _FILTERS:
            return len(call.args) > 1 and call.args[1].value == "ignore"
        if name in _GRADIENTS:
            return self._keeps_gradients
        return name == "torch.set_default_dtype" and self._keeps_dtype

    @cached_property
    def _keeps_gradients(self) -> bool:
        """Whether all calls of the project that turn gradients on or off turn them on, as they are in a new process."""
        sites = self.project.index.calls_named([_GRADIENTS[0].rpartition(".")[2]])
        lasting = (site.expr for site in sites if site.event.kind != "with" or site.expr is not site.event.value)
        modes = (call.args[1] if len(call.args) > 1 else call.keyword("mode") for call in lasting)
        return all(mode is not None and mode.value is True for mode in modes)

    @cached_property
    def _keeps_dtype(self) -> bool:
        """Whether all calls of the project that set torch's default type set what it is anyway."""
        sites = self.project.index.calls_named(["set_default_dtype", "set_default_tensor_type"])
        return all(len(site.expr.args) > 1 and site.expr.args[1].dotted in _DEFAULT_TYPES for site in sites)


def _is_made_there(value: Klass | Func, running: Running) -> bool:
    """Whether each run of a function makes its own: no process imports that, and what it is given goes with it."""
    made = value.outer
    return made is not None and (made.module.path, made.function) == running.function


def _wholes(expr: Expr, running: Running) -> Iterator[Expr]:
    """An expression, and what it is a part or an element of: `x.part`, `x[0]`, and a variable of a loop over `x`."""
    waiting, names = [expr], set[str]()
    while waiting:
        whole = waiting.pop()
        yield whole
        if whole.kind == "subscript" or (whole.kind == "attribute" and whole.args[0].name != _receiver(running)):
            waiting.append(whole.args[0])
        elif whole.kind == "name" and whole.name not in names:
            names.add(whole.name)
            waiting += _gone_through(whole, running)


def _receiver(running: Running) -> str:
    return running.env.module.receiver_name(running.env.function) if running.env.function >= 0 else ""


def _gone_through(name: Expr, running: Running) -> Iterator[Expr]:
    """What the last loop above goes through whose variable a name is."""
    loops = [
        event.value
        for event in running.env.module.events(running.env.function)
        if event.kind == "for" and event.start < name.start and event.target is not None and event.value is not None
        if any(target.name == name.name for target in flat_targets(event.target))
    ]
    yield from _elements_of(loops[-1]) if loops else ()


def _elements_of(expr: Expr) -> Iterator[Expr]:
    """What an iterable gives the elements of."""
    callee = expr.args[0] if expr.kind == "call" else None
    if callee is None:
        yield expr
    elif callee.name in _GOING_THROUGH:
        for given in expr.args[1:]:
            yield from _elements_of(given)
    elif callee.kind == "attribute" and callee.name in ("items", "values"):
        yield callee.args[0]
