"""Things that belong to one process: which values are such, and whether they are open before the workers start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dllint.knowledge import DATASETS, WORKER_METHODS, keeps_as_it_is
from dllint.model.facts import Event, Expr
from dllint.project.escape.handle_table import (
    GENERATOR,
    HANDLES,
    ITERDIR,
    MODULE,
    STREAMS,
    SUBMODULES,
    VIEW,
    ZIP,
    Handle,
)
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import (
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Func,
    Inst,
    Klass,
    Method,
    Mod,
    Opaque,
    Seq,
    Value,
)
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.evaluate.shapes import decorated
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Module, Site, Write

Functions = frozenset[tuple[str, int]]
_SETUP = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__", "__len__", "__attrs_post_init__"})
"""Methods that run in the main process: what they lead to is done before any worker starts."""
_BACKED = frozenset({"anndata.read_h5ad", "anndata.read", "scanpy.read", "scanpy.read_h5ad"})
_DATA = frozenset({"slice", "ellipsis", "tuple", "list"})
_LISTED = frozenset({
    "glob.glob[]", "glob.iglob[]", "glob.glob()[]", "pathlib.Path().glob[]", "pathlib.Path().rglob[]",
})  # fmt: skip
"""The paths that a pattern has found."""
_EMPTYING = frozenset({"clear", "pop", "popitem", "popleft", "remove"})


def handle_of(value: Value) -> Handle | None:
    """The kind of handle that a value is itself; a part of one (`h5py.File(p)["x"]`) is none of its own."""
    match value:
        case Seq(expr=expr) if expr.kind == "comprehension" and expr.name == "generator":
            return GENERATOR
        case ExtInst(name=name, call=call):
            if name.endswith(ITERDIR) or name == "pathlib.Path().glob":
                return GENERATOR
            if name in _BACKED:
                return Handle("HDF5-backed data") if _is_set(call.keyword("backed")) else None
            if name == "numpy.load":
                return _archive(value)
            handle = HANDLES.get(name)
            return handle._replace(fork="") if handle is not None and _without_locks(value) else handle
        case Mod():
            return MODULE
        case Ext(name=name) if "." not in name or name in SUBMODULES:
            return MODULE
        case Ext(name=name):
            return STREAMS.get(name)
    return None


def _archive(loaded: ExtInst) -> Handle | None:
    """The archive of arrays that `numpy.load` opens: by its path, or because code reads it by written names.

    An array with named fields is read so, too.
    """
    path = _ending(loaded.call.args[1:2])
    if path.endswith(".npz"):
        return ZIP
    mapped = len(loaded.call.args) > 2 or loaded.call.keyword("mmap_mode") is not None
    named = loaded.call.kind == "call" and not path.endswith(".npy") and not mapped and _is_read_by_name(loaded)
    return ZIP._replace(sure=False) if named else None


def _ending(texts: Sequence[Expr]) -> str:
    """What the last of some expressions ends with, if that is written out."""
    parts = [part for expr in texts[-1:] for part in expr.walk()]
    last = parts[-1].value if parts else None
    return last if isinstance(last, str) else ""


def _ending_of(path: Value) -> str:
    """What a path ends with, or the pattern that has found it."""
    match path:
        case Const(value=str() as text):
            return text
        case Opaque(expr=expr) if expr.kind == "fstring":
            return _ending((expr,))
        case ExtInst(name="os.path.join", call=call):
            return _ending(call.args[1:])
        case ExtInst(name=name, base=ExtInst(call=found)) if name in _LISTED:
            return _ending(found.args[1:2])
    return ""


def _is_read_by_name(loaded: ExtInst) -> bool:
    """Whether an attribute is set to what a call returns, and its class reads that so: `self.data["poses"]`.

    Nothing can be set in an archive, or deleted from it: what that is done to is a dictionary.
    """
    module, function = loaded.env.module, loaded.env.function
    targets = (event.target for event in module.events(function) if event.value is loaded.call)
    kept = {target.dotted for target in targets if target is not None and target.kind == "attribute"}
    owner = module.method_owner(function)
    methods = module.model.classes[owner].methods.values() if owner >= 0 and kept else ()
    events = [event for index in methods for event in module.events(index)]
    changed = any(event.target is not None and _has_key(event.target, kept) for event in events)
    return not changed and any(_has_key(part, kept) for event in events for part in event.walk())


def _has_key(part: Expr, kept: set[str]) -> bool:
    """Whether an expression asks one of some names for a key that is written out."""
    return part.kind == "subscript" and isinstance(part.args[1].value, str) and part.args[0].dotted in kept


def _without_locks(made: ExtInst) -> bool:
    """Whether it is an LMDB environment with `lock=False`, or of one: forked workers read through that side by side."""
    if isinstance(made.base, ExtInst) and made.name.startswith("lmdb."):
        return _without_locks(made.base)
    lock = made.call.keyword("lock") if made.name in ("lmdb.open", "lmdb.Environment") else None
    return lock is not None and lock.value is False


def _is_set(expr: object) -> bool:
    return expr is not None and getattr(expr, "value", None) not in (None, False)


def lets_follow(made: ExtInst | ExtMethod) -> bool:
    """Whether what a value was taken from is kept alive by it: data read from a handle keep nothing open."""
    return is_part(made) or not _taken_from_handle(made)


def _taken_from_handle(value: Value) -> bool:
    base = value.base if isinstance(value, (ExtInst, ExtMethod)) else None
    return base is not None and (handle_of(base) is not None or _taken_from_handle(base))


def is_view(made: ExtInst) -> bool:
    """A view of a dictionary: `names.keys()`."""
    return HANDLES.get(made.name) is VIEW


def is_part(value: Value) -> bool:
    """A group or dataset of an open HDF5 file."""
    if not isinstance(value, ExtInst) or value.base is None or not value.name.endswith("[]"):
        return False
    if value.call.kind != "subscript" or len(value.call.args) != 2:
        return False
    index = value.call.args[1]
    if isinstance(value.base, ExtInst) and value.base.name == "h5py.File":
        return index.kind not in _DATA
    return is_part(value.base) and (isinstance(index.value, str) or index.kind == "fstring")


def gives_back(made: ExtInst) -> bool:
    """Whether an item of something holds on to what that was made of: `random_split(...)[0]`, a part of a file."""
    return is_part(made) or (isinstance(made.base, ExtInst) and keeps(made.base.name))


def keeps(name: str) -> bool:
    """Whether an external callable is known to keep what it is given as it is, not to read it."""
    return keeps_as_it_is(name) or name in DATASETS


class Handles:
    """Answers whether a handle is open before the workers start."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._set_up = AtRest(self.evaluator, self._find_set_up)
        self._methods = AtRest(self.evaluator, self._find_methods)
        self._run_by = AtRest(self.evaluator, self._find_run_by)

    def kind_of(self, value: Value) -> Handle | None:
        """The kind of handle that a value is, an archive of arrays also by a path that is made elsewhere."""
        if isinstance(value, ExtInst) and value.name == "numpy.load":
            paths = [path for arg in value.call.args[1:2] for path in self.evaluator.values(arg, value.env)]
            if paths and all(_ending_of(path).endswith(".npz") for path in paths):
                return ZIP
        return handle_of(value)

    def open_before(self, made: ExtInst | Seq, attribute: str, workers: Functions, loader: Loader | None) -> bool:
        """Whether the code that makes a handle runs in the main process, and leaves it under this attribute, if any.

        `workers` are the functions that run in workers; the loader is the one that ships it.
        """
        env: Env | None = made.env
        start = made.call.start if isinstance(made, ExtInst) else made.expr.start
        if not self.evaluator.conditions.may_run(made.env, start):
            return False
        while env is not None and env.function >= 0:
            owner = env.module.method_owner(env.function)
            if owner < 0 or _has_no_object(env):
                if env.caller is None and (env.module.path, env.function) in workers:
                    return False
                env = env.caller
                continue
            klass = env.receiver.klass if isinstance(env.receiver, Inst) else self.evaluator.klass(env.module, owner)
            if self._let_go(klass, attribute, env) or self._let_go_outside(klass, attribute, env):
                return False
            return self._runs_before(env, klass, attribute, workers, loader)
        return True

    def _runs_before(self, env: Env, klass: Klass, attribute: str, workers: Functions, loader: Loader | None) -> bool:
        if (env.module.path, env.function) in self.set_up(klass):
            if self._set_up_runs(env, klass) and self._set_up_leaves(env, klass, attribute):
                return True
        return self._used_outside(env, klass, workers, None if self.is_released(klass, attribute) else loader)

    def _used_outside(self, env: Env, klass: Klass, workers: Functions, loader: Loader | None = None) -> bool:
        """Whether other code of the main process uses the object in a way that leads there, before a loader is made."""
        leading = self.leading_to(env, klass)
        if "__enter__" in leading and self._entered_outside(env, klass, workers):
            return True
        return any(self._called_outside(name, env, klass, workers, loader) for name in sorted(leading))

    def set_up(self, klass: Klass) -> frozenset[tuple[str, int]]:
        """The methods that making an object of the class, or asking its length, leads to."""
        return self._set_up[klass]

    def _find_set_up(self, klass: Klass) -> frozenset[tuple[str, int]]:
        return frozenset(self._reached(self._entries(klass), self._methods[klass]))

    def _set_up_runs(self, env: Env, klass: Klass) -> bool:
        """Whether making this object, with what it is given, leads there: `if eager: self.open()`."""
        inst = env.receiver
        if not isinstance(inst, Inst) or inst.call is None:
            return True
        return (env.module.path, env.function) in self._reached(self._entries(klass), self._methods[klass], inst)

    def _set_up_leaves(self, env: Env, klass: Klass, attribute: str) -> bool:
        """Whether one of its calls in the set-up may set the attribute: not `self.open(keep=False)`, if True does."""
        owner, name = env.module.method_owner(env.function), env.facts.name
        writes = env.module.writers.get((owner, attribute), {}).get(env.function, ())
        if not writes or (env.module, env.function) in self._entries(klass):
            return True
        for path, index in self.set_up(klass):
            module = self.evaluator.index.modules[path]
            parts = [part for event in module.events(index) for part in event.walk() if part.args]
            own = [part for part in parts if part.name == name and part.args[0].name == module.receiver_name(index)]
            calls = [part for part in parts if part.kind == "call" and part.args[0] in own]
            if len(calls) < len(own):
                return True
            if any(self._may_set(env, writes, call, module, index) for call in calls):
                return True
        return False

    def _may_set(self, env: Env, writes: Iterable[Write], call: Expr, module: Module, index: int) -> bool:
        """Whether a call of a method in another one reaches one of its writes."""
        activations = self.evaluator.activations
        receiver = env.receiver
        caller = (
            activations.method_env(receiver, module, index)
            if receiver is not None
            else activations.generic(module, index)
        )
        entered = activations.activation(Func(env.module, env.function), call, caller, receiver)
        return any(self.evaluator.conditions.may_run(entered, write.target.start) for write in writes)

    def _entries(self, klass: Klass) -> list[tuple[Module, int]]:
        """The methods that making an object of the class, or asking its length, runs first."""
        methods, of_base = self._methods[klass], self.evaluator.library_bases.sets_up(klass)
        return [methods[name] for name in (*_SETUP, *of_base) if name in methods] + [
            (item.module, item.facts.methods["__init__"])
            for item in self.evaluator.classes.mro(klass)
            if "__init__" in item.facts.methods
        ]

    def _find_methods(self, klass: Klass) -> dict[str, tuple[Module, int]]:
        """The methods that a class has, by their names."""
        found: dict[str, tuple[Module, int]] = {}
        for item in self.evaluator.classes.mro(klass):
            for name, index in item.facts.methods.items():
                found.setdefault(name, (item.module, index))
        return found

    def leading_to(self, env: Env, klass: Klass) -> frozenset[str]:
        """The methods of a class that run the one of an activation, itself among them; not those that get items."""
        methods, wanted = self._methods[klass], (env.module.path, env.function)
        others = (name for name in methods if name not in WORKER_METHODS)
        return frozenset((env.facts.name, *(name for name in others if wanted in self._run_by[klass, name])))

    def _find_run_by(self, method: tuple[Klass, str]) -> set[tuple[str, int]]:
        """The methods that one of a class leads to on its own object."""
        klass, name = method
        methods = self._methods[klass]
        return self._reached([methods[name]], methods)

    def leads_only(self, env: Env, klass: Klass, method: tuple[Module, int]) -> bool:
        """Whether before workers start nothing but one method of the set-up leads to the method of an activation."""
        others = [entry for entry in self._entries(klass) if entry != method]
        reached = self._reached(others, self._methods[klass])
        return (env.module.path, env.function) not in reached and not self._used_outside(env, klass, frozenset())

    def _reached(
        self, entries: list[tuple[Module, int]], methods: dict[str, tuple[Module, int]], inst: Inst | None = None
    ) -> set[tuple[str, int]]:
        """The methods that some lead to on their own object, through properties too; on this one, if any is named."""
        stack = list(entries)
        seen: set[tuple[str, int]] = set()
        while stack:
            module, index = stack.pop()
            if (module.path, index) in seen:
                continue
            seen.add((module.path, index))
            receiver = module.receiver_name(index)
            for event in module.events(index):
                for part in event.walk():
                    if part.kind == "attribute" and part.args[0].name == receiver != "" and part.name in methods:
                        if inst is None or self._may_run(inst, module, index, part.start):
                            stack.append(methods[part.name])
        return seen

    def _may_run(self, inst: Inst, module: Module, function: int, offset: int) -> bool:
        env = self.evaluator.activations.method_env(inst, module, function)
        return self.evaluator.conditions.may_run(env, offset)

    def _called_outside(self, name: str, env: Env, klass: Klass, workers: Functions, loader: Loader | None) -> bool:
        """Whether the set-up of another class calls a method of this object, or a script the one that opens it.

        Any other method counts where a script surely calls it before it makes the loader.
        """
        own = {(item.module.path, item.index) for item in self.evaluator.classes.mro(klass)}
        for site in self.evaluator.index.calls_named((name,)):
            place = (site.module.path, site.function)
            owner = site.module.method_owner(site.function)
            if place in workers or (place[0], owner) in own:
                continue
            if owner >= 0 and place not in self.set_up(self.evaluator.klass(site.module, owner)):
                continue
            scope = self.evaluator.generic(site.module, site.function)
            first = loader is not None and loader.is_made_after(site)
            if owner >= 0 or name == env.facts.name or (first and self._surely_runs(scope, site)):
                if any(_on_object(value, env, name) for value in self.evaluator.values(site.expr.args[0], scope)):
                    return True
        return False

    def _surely_runs(self, env: Env, site: Site) -> bool:
        return self.evaluator.conditions.decided(env, site.event.start)

    def _entered_outside(self, env: Env, klass: Klass, workers: Functions) -> bool:
        """Whether code of the main process enters this object: `with store:`."""
        own = {(item.module.path, item.index) for item in self.evaluator.classes.mro(klass)}
        for module in self.evaluator.index:
            for function, _, events in module.scopes:
                place = module.path, function
                if place in workers or (module.path, module.method_owner(function)) in own:
                    continue
                scope = self.evaluator.generic(module, function)
                entered = (event.value for event in events if event.kind == "with" and event.value is not None)
                if any(_may_be(value, env) for expr in entered for value in self.evaluator.values(expr, scope)):
                    return True
        return False

    def is_released(self, klass: Klass, attribute: str) -> bool:
        """Whether a method closes what an attribute keeps or sets it to None, or other code sets it.

        What a container keeps is under no attribute ("").
        """
        events = (
            event
            for item in self.evaluator.classes.mro(klass)
            for name, function in item.facts.methods.items()
            if name not in ("__init__", "__del__", "__getstate__")
            for event in item.module.events(function)
        )
        outside = self.evaluator.attributes.outside_writes(klass, attribute)
        return bool(outside) or any(_releases(event, attribute) for event in events)

    def read_by(self, env: Env, attribute: str) -> bool:
        """Whether code reads something through an attribute of its object."""
        receiver = env.module.receiver_name(env.function)
        return any(
            part.kind == "attribute" and part.name == attribute and part.args[0].name == receiver != ""
            for event in env.module.events(env.function)
            if event.value is not None
            for part in event.value.walk()
        )

    def _let_go_outside(self, klass: Klass, attribute: str, env: Env) -> bool:
        """Whether other code sets it to None."""
        return any(
            write.event.value is not None
            and write.event.value.kind == "constant"
            and write.event.value.value is None
            and isinstance(env.receiver, Inst)
            and (inst.call is None or env.receiver.call is None or inst.call is env.receiver.call)
            for inst, write, _ in self.evaluator.attributes.outside_writes(klass, attribute)
        )

    def _let_go(self, klass: Klass, attribute: str, env: Env) -> bool:
        """Whether setting up also lets go of it: `del self.f`, or `self.f = None` in another method of the set-up."""
        before = self.set_up(klass)
        return any(
            _lets_go(item.module, index, event, attribute, env)
            for item in self.evaluator.classes.mro(klass)
            for index in item.facts.methods.values()
            if (item.module.path, index) in before
            for event in item.module.events(index)
        )


def _has_no_object(env: Env) -> bool:
    """Whether code runs on no object of its class, so that what it opens is another's: whoever calls it."""
    return decorated(env.facts, "staticmethod") or decorated(env.facts, "classmethod")


def _on_object(value: Value, env: Env, name: str) -> bool:
    """Whether a value is a method, of this name, of the object that an activation runs on."""
    return isinstance(value, Method) and value.func.facts.name == name and _may_be(value.owner, env)


def _may_be(value: Value, env: Env) -> bool:
    """Whether a value may be the object that an activation runs on."""
    if not isinstance(value, Inst) or not isinstance(env.receiver, Inst):
        return False
    same = env.receiver.call is None or value.call is env.receiver.call
    return same and value.klass == env.receiver.klass


def _lets_go(module: Module, function: int, event: Event, attribute: str, env: Env) -> bool:
    """Whether an event of the set-up lets go of what `env` leaves under an attribute."""
    target, value = event.target, event.value
    if target is None or target.kind != "attribute" or target.name != attribute:
        return False
    same = module is env.module and function == env.function
    if event.kind == "del":
        return event.block < 0 or not same
    if same or event.kind != "assign" or value is None or value.kind != "constant" or value.value is not None:
        return False
    if module.model.functions[function].name != "__init__":
        return True
    opener = env.facts.name
    uses = [part.start for item in module.events(function) for part in item.walk() if part.name == opener]
    return event.block < 0 and bool(uses) and event.start > max(uses)


def _releases(event: Event, attribute: str) -> bool:
    """Whether an event closes an attribute, deletes it or sets it to None; if none is named, empties a container."""
    target, value = event.target, event.value
    if target is not None and target.kind == "attribute" and attribute in (target.name, ""):
        if event.kind == "del" or (value is not None and value.kind == "constant" and value.value is None):
            return True
        if not attribute and value is not None and value.kind in ("list", "dict", "set") and not value.args:
            return True
    callees = (part.args[0] for part in event.walk() if part.kind == "call" and part.args[0].kind == "attribute")
    closed = (callee for callee in callees if callee.name == "close" or (callee.name in _EMPTYING and not attribute))
    return any(attribute in (callee.args[0].name, "") for callee in closed)
