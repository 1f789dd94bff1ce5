"""The fix of DLL106 and DLL112: what belongs to one process is opened by each process, on first use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from dllint import (
    Applicability,
    Const,
    Edit,
    Expr,
    ExtInst,
    Fix,
    Held,
    Import,
    Lazy,
    OwnAttribute,
    Project,
    Span,
    Write,
    closed_if_open,
    is_part,
    is_view,
    lazy_attribute,
    lazy_members,
    made_again,
    module_alias,
    name_uses,
    own_attribute,
    reference,
    state_without,
)
from dllint_rules.pickling.alternatives import other_views
from dllint_rules.pickling.analysis.escaping_handles import instead_of
from dllint_rules.pickling.analysis.maps import mapped
from dllint_rules.pickling.only_local import setter_of_local
from dllint_rules.pickling.reads_on import reads_on

_MODES = {
    **dict.fromkeys(("builtins.open", "gzip.open", "bz2.open", "lzma.open", "io.FileIO"), ("mode", 2, "r")),
    **dict.fromkeys(("h5py.File", "zipfile.ZipFile", "tarfile.open", "rasterio.open"), ("mode", 2, "r")),
    **dict.fromkeys(("tables.open_file", "netCDF4.Dataset", "soundfile.SoundFile"), ("mode", 2, "r")),
    "numpy.memmap": ("mode", 3, "r+"),
    "numpy.load": ("mmap_mode", 2, "r"),
}
"""The parameter that says what it is opened for, its position, its default. Only readers can be opened twice."""
_WITHOUT_MODE = {
    *("lmdb.open", "lmdb.Environment", "openslide.OpenSlide", "openslide.open_slide", "pyfaidx.Fasta"),
    *("pysam.FastaFile", "pyarrow.parquet.ParquetFile", "cv2.VideoCapture", "decord.VideoReader", "cv2.createCLAHE"),
}
_MADE_ANEW = {f"threading.{name}" for name in ("Lock", "RLock", "Condition", "Event", "local")} | {
    f"queue.{name}" for name in ("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue")
}
"""What the threads of one process share: every process needs one of its own, empty and free."""
_CONNECTIONS = ("sqlite3.", "redis.", "sqlalchemy.", "psycopg2.", "pymongo.", "boto3.", "google.cloud.")
"""What may be in the middle of something: only a person can tell whether a new one does."""
_TRANSACTIONS = {"lmdb.open().begin", "lmdb.Environment().begin"}
"""Views of an environment: one that is opened for reading only gives every process the same."""
_OPENED_ONCE = {"lmdb.open": "lmdb", "lmdb.Environment": "lmdb"}
"""What refuses to open a path again while the process has it open: a forked one has what its parent opened."""
_SAME_PATH = {f"os.path.{name}" for name in ("abspath", "expanduser", "normpath", "realpath")}
"""What gives another name of the file that a path names."""
_POSITIONED = {
    *("builtins.open", "gzip.open", "bz2.open", "lzma.open", "io.FileIO", "soundfile.SoundFile", "cv2.VideoCapture"),
}
"""What reads on from where it is: to read in `__init__` and to open again is not the same."""


def fix_handle(project: Project, held: Held) -> Fix | None:
    """A property that opens in the process that uses it; what to paste, if there is an obstacle."""
    made = held.value
    if not isinstance(made, ExtInst) or held.holder.kind != "attribute":
        return _told("it is not kept as an attribute of its own")
    if is_view(made):
        path, spans = made.env.module.path, [view.span for view in (made.call, *other_views(made, held.holder.name))]
        edits = (edit for span in spans for edit in ((span.start, "list("), (span.end, ")")))
        inserted = tuple(Edit(path, Span(at, at), text) for at, text in edits)
        return Fix("Keep a list", inserted, Applicability.UNSAFE)
    instead = instead_of(made)
    if instead:
        return Fix.manual(f"{instead[:1].upper()}{instead[1:]}")
    if made.call.kind != "call":
        return _told(f"`{held.holder.name}` is a part of what a call gives")
    attribute = own_attribute(project, held.holder.name, made, through_local=made.name not in _MADE_ANEW)
    if attribute is None:
        return _told(f"`{held.holder.name}` is not set to just the result of a call")
    if made.name in _MADE_ANEW:
        return _left_out(project, attribute, made)
    opened = mapped(project, made) or made
    if opened.name in _TRANSACTIONS:
        base = made.call.args[0].args[0]
        if base.kind != "attribute" or base.name not in attribute.klass.facts.methods:
            return _told(
                f"`{project.text(made.env.module.path, base.span)}`, which it reads, must be opened there first"
            )
    elif opened.name not in _MODES.keys() | _WITHOUT_MODE and not opened.name.startswith(_CONNECTIONS):
        what = project.text(made.env.module.path, made.call.args[0].span) if opened is made else opened.name
        return _told(f"a second `{what}` may behave differently")
    if made.name == "numpy.load" and made.call.keyword("mmap_mode") is None and _is_read_while_made(attribute):
        return Fix.manual(f"Don't keep `{attribute.name}`: read it in a `with` statement where objects are made")
    read = reads_on(attribute) if made.name in _POSITIONED else None
    if read is not None:
        text = " ".join(project.text(*read).split())
        return Fix.manual(
            f"Read by the index; `{text}` reads what comes next, which is the same in every worker's file"
        )
    change = _Change(project, attribute, made, opened)
    why_not = change.why_not()
    return change.by_hand(why_not) if why_not else change.fix()


def _is_read_while_made(attribute: OwnAttribute) -> bool:
    """Whether nothing but `__init__`, of the class and of derived ones, uses it: no worker needs it."""
    places = attribute.attribute.places or []
    functions = {(place.module.model.functions[place.function].name if place.function >= 0 else "") for place in places}
    return len(places) > 1 and functions == {"__init__"} and not attribute.set_again()


def _told(why: str) -> Fix:
    return Fix(f"Make it in the process that uses it; {why}", (), Applicability.MANUAL)


def _left_out(project: Project, attribute: OwnAttribute, made: ExtInst) -> Fix:
    """A lock or a queue of threads isn't pickled, and is created again where its object arrives."""
    source, call = project.source(made.env.module.path), made.call
    text = " ".join(project.text(source.path, call.span).split())
    given = (*call.args[1:], *(value for _, value in call.keywords))
    local = attribute.module.model.functions[attribute.write.function].bound
    known = call.args[0].dotted and call.args[0].dotted.partition(".")[0] not in local
    plain = known and all(value.kind == "constant" for value in given)
    why_not = attribute.why_no_property(pickled=False) if plain else "what it is made with is not known there"
    edits = () if why_not else made_again(source, attribute.write.event.start, attribute.name, text)
    title = f"Leave `{attribute.name}` out of the pickle, and create it again"
    if edits:
        defines = (f"{attribute.klass.facts.qualname}.__getstate__",)
        return Fix(title, edits, Applicability.UNSAFE, defines=defines)
    snippet = state_without(attribute.name, text)
    return Fix.manual(f"{title}; {why_not or 'its content or lock state is lost'}", snippet)


def generator_by_hand(project: Project, held: Held) -> Fix | None:
    """A `torch.Generator` that each process makes from torch's seed: which seed must count is a person's decision."""
    made = held.value
    attribute = own_attribute(project, held.holder.name, made) if isinstance(made, ExtInst) else None
    if attribute is None:
        made_of = project.text(held.path, held.span).partition("(")[0]
        if isinstance(made, ExtInst) and made.name.startswith("torch.Generator"):
            return Fix.manual("Make the generator in the worker, from torch's seed; it is not a separate attribute")
        return Fix.manual(f"Keep the array that `{made_of}` is given, and make the tensor when it is needed")
    assert isinstance(made, ExtInst)
    setter = setter_of_local(project, attribute.name, made)
    if setter is not None:
        return Fix.manual(f"Make `{attribute.name}` a local variable of `{setter.name}`: no other code uses it")
    model, start = attribute.module.model, attribute.write.event.start
    (getpid, _), (torch, _) = reference(model, "os", "getpid", start), module_alias(model, "torch", "torch", start)
    store = attribute.free_name()
    device, local = _device_of_generator(project, attribute, made)
    value = f"{torch}.Generator{device}.manual_seed({torch}.initial_seed())"
    snippet = lazy_members(Lazy(attribute.name, value, store, f"{store}_pid", getpid))
    title = f"Make `{attribute.name}` in the process that uses it, from torch's seed"
    return Fix.manual(f"{title}; keep `{local}` for that" if local else title, snippet)


def _device_of_generator(project: Project, attribute: OwnAttribute, made: ExtInst) -> tuple[str, str]:
    """The arguments of the generator in parentheses, and a local variable among them, which a property can't see."""
    call = made.call if made.name == "torch.Generator" else made.call.args[0].args[0]
    if call.kind != "call":
        return "()", ""
    path, bound = attribute.module.path, attribute.module.model.functions[attribute.write.function].bound
    given = (*call.args[1:], *(value for _, value in call.keywords))
    names = [part.name for value in given for part in value.walk() if part.kind == "name" and part.name in bound]
    text = " ".join(project.text(path, Span(call.args[0].end, call.end)).split())
    return text, next((name for name in names if name != "self"), "")


class _Change:
    """`made` is what the attribute is set to: what a call opened, or a view of the map that one made."""

    def __init__(self, project: Project, attribute: OwnAttribute, made: ExtInst, opened: ExtInst) -> None:
        self.project, self.attribute, self.made, self.opened = project, attribute, made, opened
        self.module, self.write, self.name = attribute.module, attribute.write, attribute.name

    @property
    def does(self) -> str:
        """What the process does to it."""
        return "Begin" if self.opened.name in _TRANSACTIONS else "Open"

    def why_not(self) -> str:
        """The obstacle, in words; "" if there is none."""
        if self.made.name.startswith(_CONNECTIONS):
            return "if a new connection will do"
        if not self._reads():
            return "it may be opened for something else than reading"
        if self.made.name in _POSITIONED and (self.attribute.used_in_set_up() or self._variable_is_used):
            return "it is read before the workers start"
        if self._given_changes():
            return "what it is opened with changes before it is kept"
        later = self._taken_with_later()
        if later:
            return f"which part of it is kept depends on `{later}`, which is set later"
        if self._opener in self._local and self._imported is None:
            return f"`{self._opener}`, which opens it, is a variable of `__init__`"
        return self.attribute.why_no_property(pickled=False)

    @property
    def _local(self) -> frozenset[str]:
        """The names that only `__init__` has."""
        return self.module.model.functions[self.write.function].bound - {self.attribute.receiver}

    @property
    def _opener(self) -> str:
        """The name that the call begins with."""
        return next(_chain(self.made.call)).args[0].dotted.partition(".")[0]

    @property
    def _imported(self) -> Import | None:
        """The import in `__init__` that the name comes from, if it has no other meaning there."""
        model, function = self.module.model, self.write.function
        found = [item for item in model.imports if (item.function, item.bound) == (function, self._opener)]
        assigned = self.module.bindings[function, -1].get(self._opener, [])
        if len(found) != 1 or found[0].block >= 0 or len(assigned) > 1:
            return None
        module, attribute, alias = "." * found[0].level + found[0].module, found[0].attribute, found[0].bound
        same = alias == (attribute or module.partition(".")[0])
        return Import(model.path, module, attribute, "" if same else alias)

    def _reads(self) -> bool:
        """Whether it is known to be opened for reading."""
        name, call = self.opened.name, self.opened.call
        if name in _WITHOUT_MODE:
            return True
        if name in _TRANSACTIONS:
            return self._only_views()
        if name not in _MODES:
            return False
        keyword, position, default = _MODES[name]
        given = call.keyword(keyword) or (call.args[position] if len(call.args) > position else None)
        if any(arg.kind == "star" for arg in call.args) or call.keyword("**") is not None:
            return False
        values = [Const(default)] if given is None else self.project.values(given, self.opened.env)
        return bool(values) and all(isinstance(value, Const) and _is_reading(value.value) for value in values)

    def _only_views(self) -> bool:
        """Whether a transaction reads an environment that is opened for reading only."""
        call, base = self.opened.call, self.opened.base
        given = base.call.keyword("readonly") if isinstance(base, ExtInst) else None
        plain = len(call.args) == 1 and {name for name, _ in call.keywords} <= {"buffers"}
        return plain and given is not None and given.value is True

    @cached_property
    def _variable_is_used(self) -> bool:
        """Whether the variable that held it first is used for more than to set the attribute."""
        local = self.attribute.local
        if local is None or local.target is None:
            return False
        span = self.module.model.functions[self.write.function].span
        uses = name_uses(self.project.source(self.module.path), local.target.name, span)
        return uses is None or len(uses) > 2

    def _given_changes(self) -> bool:
        """Whether a variable that it is opened with is set again before the attribute keeps what was opened."""
        local = self.attribute.local
        names = {part.name for part in self.made.call.walk() if part.kind == "name"} if local is not None else set()
        bound = self.module.bindings[self.write.function, -1]
        starts = (binding.start for name in names for binding in bound.get(name, ()))
        return local is not None and any(local.end <= start <= self.write.event.end for start in starts)

    @cached_property
    def lazy(self) -> Lazy:
        """The names and the text of the property."""
        store = self.attribute.free_name()
        getpid, _ = reference(self.module.model, "os", "getpid", self.write.event.start)
        arguments = _Arguments(self, self.made.call)
        text = arguments.rewritten()
        parts = tuple((write.target.name, arguments.of_part(write), write.event.start) for write in self._taken)
        kept = tuple(arguments.kept.items())
        local = self.attribute.local
        gone = local.start if local is not None and not self._variable_is_used else -1
        column = self.project.source(self.module.path).location(self.made.call.start)[1] - 1
        imported = self._imported.statement if self._imported else ""
        pid, library = f"{store}_pid", _OPENED_ONCE.get(self.opened.name, "")
        why = f"{library} refuses to open a path twice in one process" if library else ""
        return Lazy(self.name, text, store, pid, getpid, kept, parts, True, gone, column, imported, why)

    @cached_property
    def _taken(self) -> list[Write]:
        """The assignments that keep a part of it."""
        return [write for write in self.attribute.taken_from_it() if self._is_part(write)]

    def _taken_with_later(self) -> str:
        """A variable that is set below the line where it is opened, and that tells which part to take; or ""."""
        bound = self.module.bindings[self.write.function, -1]
        names = (part.name for write in self._taken for part in _key(write).walk() if part.kind == "name")
        return next(
            (name for name in names if any(one.start > self.write.event.start for one in bound.get(name, ()))), ""
        )

    def _is_part(self, write: Write) -> bool:
        env = self.project.evaluator.generic(self.module, self.write.function)
        values = self.project.values(write.event.value, env) if write.event.value is not None else ()
        return bool(values) and all(map(is_part, values))

    def _text(self, expr: Expr | None) -> str:
        return "" if expr is None else self.project.text(self.module.path, expr.span)

    def fix(self) -> Fix | None:
        """The edits; there must be nothing in the way."""
        source, start = self.project.source(self.module.path), self.write.event.start
        _, imports = reference(self.module.model, "os", "getpid", start)
        edits = lazy_attribute(source, start, self.lazy)
        title = f"{self.does} `{self.name}` in the process that uses it"
        if not edits:
            return self.by_hand("its line has a comment inside or another statement")
        defines = (f"{self.attribute.klass.facts.qualname}.__getstate__",)
        closed = closed_if_open(source, self.attribute.klass.facts.span, self.name, self.lazy.store)
        return Fix(title, (*edits, *closed), Applicability.UNSAFE, imports, defines=defines)

    def by_hand(self, why_not: str) -> Fix:
        """The same for a person to paste."""
        title = f"{self.does} `{self.name}` in the process that uses it; {why_not}"
        return Fix(title, (), Applicability.MANUAL, snippet=lazy_members(self.lazy))


def _is_reading(mode: object) -> bool:
    return isinstance(mode, str) and mode.startswith("r") and "+" not in mode and "|" not in mode


def _chain(call: Expr) -> Iterator[Expr]:
    """A call and those whose results its methods are called on, the first of them first."""
    base = call.args[0].args[0] if call.args[0].kind == "attribute" else None
    if base is not None and base.kind == "call":
        yield from _chain(base)
    yield call


def _given(call: Expr) -> Iterator[tuple[str, Expr]]:
    """What a call is given, each with the name that an attribute for it may have."""
    first = call.args[0].name if len(list(_chain(call))) > 1 else "path"
    yield from ((first if index == 0 else f"{index}", value) for index, value in enumerate(call.args[1:]))
    yield from (("options" if name == "**" else name, value) for name, value in call.keywords)


def _key(write: Write) -> Expr:
    """What an assignment selects a part by."""
    assert write.event.value is not None
    return write.event.value.args[1]


class _Arguments:
    """A call that is written again elsewhere in its class: what it is given there must be the same."""

    def __init__(self, change: _Change, call: Expr) -> None:
        self.change, self.call = change, call
        self.function = change.write.function
        self.receiver = change.attribute.receiver
        self.kept: dict[str, str] = {}

    def rewritten(self) -> str:
        """The call's text; `kept` are the attributes that `__init__` must set for it."""
        given = [pair for call in _chain(self.call) for pair in _given(call)]
        text, start = self._text(self.call), self.call.start
        for name, value in sorted(given, key=lambda item: -item[1].start):
            text = text[: value.start - start] + self._again(name, value) + text[value.end - start :]
        return text

    def of_part(self, write: Write) -> str:
        """The text of what an assignment keeps: an item of the attribute."""
        return f"{self.receiver}.{self.change.name}[{self._again(f'{write.target.name}_key', _key(write))}]"

    def _text(self, expr: Expr) -> str:
        return self.change.project.text(self.change.module.path, expr.span)

    def _again(self, name: str, value: Expr) -> str:
        """How to write an argument."""
        local = self.change.module.model.functions[self.function].bound
        own = value.kind == "attribute" and value.args[0].name == self.receiver
        if value.kind == "constant" or (value.kind == "name" and value.name not in local):
            return self._text(value)
        if own and self.change.attribute.is_set_once(value.name):
            return self._text(value)
        same = (kept for kept, text in self.kept.items() if text == self._text(value))
        stored = next(chain(self._stored(value, name == "path"), same), "") if value.kind == "name" else ""
        if not stored:
            stored = self._name_for(value.name if value.kind == "name" else "", name)
            text = self._text(value)
            while self.kept.get(stored, text) != text:  # `**a, **b`: both are options
                stored += "_more"
            self.kept[stored] = text
        return f"{self.receiver}.{stored}"

    def _name_for(self, variable: str, role: str) -> str:
        """The attribute that keeps an argument: called like the variable that it is, if that says enough."""
        attribute, store = self.change.attribute, self.change.attribute.free_name()
        own = f"_{variable.strip('_')}"
        if (
            "_" in variable.strip("_")
            and own not in (store, f"{store}_pid")
            and own not in self.kept
            and attribute.is_free(own)
        ):
            return own
        wanted = f"_{self.change.name.strip('_')}_{variable or role}"
        return wanted if attribute.is_free(wanted) else f"{wanted}_given"

    def _stored(self, value: Expr, is_path: bool) -> Iterator[str]:
        """The attributes that keep a local variable as it is, or what names the same file."""
        module, changed = self.change.module, self.change.attribute
        if len(module.bindings[self.function, -1].get(value.name, [])) != 1:
            return
        used_at_once = changed.used_in_set_up()
        for attribute, writes in module.self_writes.get(module.method_owner(self.function), {}).items():
            for write in writes:
                kept, start = write.event.value, write.event.start
                same = kept is not None and self._is_same(kept, value.name, is_path)
                in_time = start < self.change.write.event.start or not used_at_once
                if same and in_time and write.function == self.function and write.event.block < 0:
                    if changed.is_set_once(attribute):
                        yield attribute

    def _is_same(self, kept: Expr, name: str, is_path: bool) -> bool:
        """Whether an expression is a variable, or what gives the path of the same file."""
        if kept.kind != "call" or not is_path or len(kept.args) != 2 or kept.keywords:
            return kept.kind == "name" and kept.name == name
        change = self.change
        values = change.project.values(kept, change.project.evaluator.generic(change.module, self.function))
        named = bool(values) and all(isinstance(one, ExtInst) and one.name in _SAME_PATH for one in values)
        return named and self._is_same(kept.args[1], name, is_path)
