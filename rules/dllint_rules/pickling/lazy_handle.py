"""The fix of DLL106 and DLL112: what belongs to one process is opened by each process, on first use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from dllint import (
    Applicability,
    Attribute,
    Const,
    Expr,
    ExtInst,
    Fix,
    Held,
    Lazy,
    Module,
    Project,
    Write,
    is_lazy_state,
    is_part,
    lazy_attribute,
    lazy_members,
    reference,
)

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
_CONNECTIONS = ("sqlite3.", "redis.", "sqlalchemy.", "psycopg2.", "pymongo.", "boto3.", "google.cloud.")
"""What may be in the middle of something: only a person can tell whether a new one does."""
_POSITIONED = {
    *("builtins.open", "gzip.open", "bz2.open", "lzma.open", "io.FileIO", "soundfile.SoundFile", "cv2.VideoCapture"),
}
"""What reads on from where it is: to read in `__init__` and to open again is not the same."""
_PICKLING = {
    *("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__getattr__", "__getattribute__", "__setattr__"),
    *("__copy__", "__deepcopy__", "__del__", "__slots__"),
}
_SETTING = ("write", "set", "filled", "named")
"""Kinds of uses that a property does not allow."""


def fix_handle(project: Project, held: Held) -> Fix | None:
    """A property that opens in the process that asks; what to paste, where something stands in the way."""
    made = held.value
    if not isinstance(made, ExtInst) or held.holder.kind != "attribute" or made.call.kind != "call":
        return None
    if made.name not in _MODES.keys() | _WITHOUT_MODE and not made.name.startswith(_CONNECTIONS):
        return None
    found = _write(project, held.holder.name, made)
    if found is None:
        return None
    change = _Change(project, *found, made)
    why_not = change.why_not()
    return change.by_hand(why_not) if why_not else change.fix()


def _write(project: Project, name: str, made: ExtInst) -> tuple[Module, Write] | None:
    """The assignment of just what is opened to the attribute."""
    for module in project.index:
        for write in module.attribute_writes.get(name, ()):
            if write.event.value is made.call and write.event.target is write.target:
                return module, write
    return None


class _Change:
    def __init__(self, project: Project, module: Module, write: Write, made: ExtInst) -> None:
        self.project, self.module, self.write, self.made = project, module, write, made
        self.name = write.target.name
        owner = module.method_owner(write.function)
        self.klass = project.evaluator.klass(module, owner) if owner >= 0 else None
        self.attribute = Attribute(project, self.klass, self.name) if self.klass else None

    def why_not(self) -> str:
        """What stands in the way, in words; "" where nothing does."""
        attribute, klass, write = self.attribute, self.klass, self.write
        if klass is None or attribute is None or self.module.model.functions[write.function].name != "__init__":
            return "it is not opened in `__init__`"
        if write.event.block >= 0 or write.target.args[0].name != self.module.receiver_name(write.function):
            return "it is not opened in every case"
        if self.made.name.startswith(_CONNECTIONS):
            return "if a new connection will do"
        if not self._reads():
            return "it may be opened for something else than reading"
        if attribute.hidden() or attribute.places is None or klass.facts.decorators:
            return "code that is not seen here may use it"
        special = next((name for name in self._methods() if name in _PICKLING), "")
        if special and not (special == "__getstate__" and self._written_before()):
            return f"the class has a `{special}` of its own"
        other = [place for place in attribute.places if place.use.kind in _SETTING]
        if [place.use.span for place in other] != [write.target.span]:
            return "other code sets it, too"
        return "" if self._at_the_start() else "it is read before the workers start"

    def _reads(self) -> bool:
        """Whether it is known to be opened for reading."""
        name, call = self.made.name, self.made.call
        if name in _WITHOUT_MODE:
            return True
        if name not in _MODES:
            return False
        keyword, position, default = _MODES[name]
        given = call.keyword(keyword) or (call.args[position] if len(call.args) > position else None)
        if any(arg.kind == "star" for arg in call.args) or call.keyword("**") is not None:
            return False
        values = [Const(default)] if given is None else self.project.values(given, self.made.env)
        return bool(values) and all(isinstance(value, Const) and _is_reading(value.value) for value in values)

    def _methods(self) -> Iterator[str]:
        """The methods of the family, and `__slots__`."""
        assert self.attribute is not None
        for klass in self.attribute.family.values():
            yield from klass.facts.methods
            targets = (event.target for event in klass.facts.events if event.target is not None)
            yield from (target.name for target in targets if target.name == "__slots__")

    def _written_before(self) -> bool:
        """Whether the only `__getstate__` of the family is one that an earlier fix has put into this class."""
        assert self.attribute is not None
        own = [
            (klass.module, klass.facts.methods["__getstate__"])
            for klass in self.attribute.family.values()
            if "__getstate__" in klass.facts.methods
        ]
        texts = [self.project.text(module.path, module.model.functions[index].span) for module, index in own]
        return own[0][0] is self.module and len(own) == 1 and is_lazy_state(texts[0])

    def _at_the_start(self) -> bool:
        """Whether it does not matter how far it was read when the object was made."""
        assert self.attribute is not None and self.attribute.places is not None and self.klass is not None
        before = self.project.handles.set_up(self.klass)
        used = [place for place in self.attribute.places if place.use.span != self.write.target.span]
        return self.made.name not in _POSITIONED or not any(
            (place.module.path, place.function) in before for place in used
        )

    @cached_property
    def lazy(self) -> Lazy:
        """The names and the text of the property."""
        store = self._free_name()
        getpid, _ = reference(self.module.model, "os", "getpid", self.write.event.start)
        text, kept = _Arguments(self, self.made.call).rewritten()
        parts = tuple((write.target.name, self._text(write.event.value), write.event.start) for write in self._parts())
        return Lazy(self.name, text, store, f"{store}_pid", getpid, kept, parts)

    def _parts(self) -> Iterator[Write]:
        """The assignments in `__init__` that keep parts of it (`self.images = self.file["images"]`), each once."""
        assert self.klass is not None
        whole = f"{self.module.receiver_name(self.write.function)}.{self.name}"
        for name, writes in self.module.self_writes.get(self.klass.index, {}).items():
            for write in writes:
                value = write.event.value
                taken = value is not None and value.kind == "subscript" and value.args[0].dotted == whole
                if taken and write.function == self.write.function and write.event.block < 0 and len(writes) == 1:
                    part = Attribute(self.project, self.klass, name)
                    sets = [place for place in part.places or () if place.use.kind in _SETTING]
                    if [place.use.span for place in sets] == [write.target.span] and self._is_part(write):
                        yield write

    def _is_part(self, write: Write) -> bool:
        env = self.project.evaluator.generic(self.module, self.write.function)
        values = self.project.values(write.event.value, env) if write.event.value is not None else ()
        return bool(values) and all(map(is_part, values))

    def _text(self, expr: Expr | None) -> str:
        return "" if expr is None else self.project.text(self.module.path, expr.span)

    def is_set_once(self, attribute: str) -> bool:
        """Whether objects of the family get an attribute once and for all."""
        assert self.attribute is not None and self.klass is not None
        own = [klass.module.self_writes.get(klass.index, {}) for klass in self.attribute.family.values()]
        outside = self.project.evaluator.attributes.outside_writes(self.klass, attribute)
        return sum(len(writes.get(attribute, ())) for writes in own) == 1 and not outside

    def _free_name(self) -> str:
        base = self.name.strip("_")
        family = self.attribute.family.values() if self.attribute else ()
        seen = "\n".join(self.project.text(klass.module.path, klass.facts.span) for klass in family)
        wanted = (f"_{base}", f"_own_{base}", f"_{base}_of_process", f"_lazy_{base}")
        return next((name for name in wanted if not re.search(rf"\b{name}(_pid)?\b", seen)), f"_{base}_opened_here")

    def fix(self) -> Fix | None:
        """The edits; there must be nothing in the way."""
        source, start = self.project.source(self.module.path), self.write.event.start
        _, imports = reference(self.module.model, "os", "getpid", start)
        edits = lazy_attribute(source, start, self.lazy)
        title = f"Open `{self.name}` in the process that uses it"
        if not edits:
            return self.by_hand("its line has a comment or company")
        defines = (f"{self.klass.facts.qualname}.__getstate__",) if self.klass else ()
        return Fix(title, edits, Applicability.UNSAFE, imports, defines=defines)

    def by_hand(self, why_not: str) -> Fix:
        """The same for a person to paste."""
        title = f"Open `{self.name}` in the process that uses it; {why_not}"
        return Fix(title, (), Applicability.MANUAL, snippet=lazy_members(self.lazy))


def _is_reading(mode: object) -> bool:
    return isinstance(mode, str) and mode.startswith("r") and "+" not in mode and "|" not in mode


class _Arguments:
    """A call that is written again elsewhere in its class: what it is given there must be the same."""

    def __init__(self, change: _Change, call: Expr) -> None:
        self.change, self.call = change, call
        self.function = change.write.function
        self.receiver = change.module.receiver_name(self.function)
        self.kept: dict[str, str] = {}

    def rewritten(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The call's text, and the attributes that `__init__` must set for it."""
        given = [("path" if index == 0 else f"{index}", value) for index, value in enumerate(self.call.args[1:])]
        text, start = self._text(self.call), self.call.start
        for name, value in sorted([*given, *self.call.keywords], key=lambda item: -item[1].start):
            text = text[: value.start - start] + self._again(name, value) + text[value.end - start :]
        return text, tuple(self.kept.items())

    def _text(self, expr: Expr) -> str:
        return self.change.project.text(self.change.module.path, expr.span)

    def _again(self, name: str, value: Expr) -> str:
        """How to write an argument."""
        local = self.change.module.model.functions[self.function].bound
        own = value.kind == "attribute" and value.args[0].name == self.receiver
        if value.kind == "constant" or (value.kind == "name" and value.name not in local):
            return self._text(value)
        if own and self.change.is_set_once(value.name):
            return self._text(value)
        stored = next(self._stored(value), "") if value.kind == "name" else ""
        if not stored:
            stored = f"_{self.change.name.strip('_')}_{value.name if value.kind == 'name' else name}"
            self.kept[stored] = self._text(value)
        return f"{self.receiver}.{stored}"

    def _stored(self, value: Expr) -> Iterator[str]:
        """The attributes that keep a local variable as it is."""
        module = self.change.module
        if len(module.bindings[self.function, -1].get(value.name, [])) != 1:
            return
        for attribute, writes in module.self_writes.get(module.method_owner(self.function), {}).items():
            for write in writes:
                kept = write.event.value
                same = kept is not None and kept.kind == "name" and kept.name == value.name
                if same and write.function == self.function and write.event.block < 0:
                    if self.change.is_set_once(attribute):
                        yield attribute
