"""What to paste where a dataset cannot keep something else by an edit."""

from __future__ import annotations

from dllint import (
    ALL_METHODS,
    FORK,
    Attribute,
    ExtInst,
    Fix,
    Held,
    Import,
    Kind,
    Listings,
    Place,
    Project,
    Seq,
    Span,
    Value,
    changed_entry,
    chosen_part,
)
from dllint_rules.memory.analysis.entries import Entries, Form
from dllint_rules.memory.kept import read_in_workers
from dllint_rules.memory.packed import BYTES, NAMES, RECORDS, TABLE, TEXTS, bound, packed, with_imports
from dllint_rules.memory.puts import puts
from dllint_rules.memory.set_anew import SetAnew
from dllint_rules.memory.text import Nothing, Texts

_CHANGES = ("filled", "set")
_LATER = "changes it in workers"
_ENTRY = "changes an entry in workers"
_SAMPLE = "random.sample takes no array: draw places from range(len(names)), and take the names there"


def are_bytes(project: Project, value: Value) -> bool:
    """Whether the strings of a list are bytes: keys of an LMDB file, which finds none for a `str`, or encoded text."""
    found = project.analysis(Entries).of(value)
    names = [item.name if isinstance(item, ExtInst) else "" for item in found]
    return bool(names) and all(
        name.endswith(".encode") or (name.startswith("lmdb.") and not name.endswith(".decode")) for name in names
    )


def would_pad(project: Project, held: Held) -> bool:
    """Whether an array of strings may take more than they do: of texts, whose lengths differ, without `StringDType`.

    It takes four bytes for each character of the longest, as often as there are texts.
    """
    if project.targets.needs_numpy_2(held.route[0].path):
        return False
    entries = project.analysis(Entries)
    return not (entries.name_files(held) or read_in_workers(project, held, entries.names_a_file))


def records_by_hand(project: Project, held: Held, why_not: str = "") -> Fix:
    """Arrays, or records as bytes in a tensor, to be put below the line where a container is complete."""
    step, name, entries = held.route[0], held.holder.name, project.analysis(Entries)
    source, form, mapping = entries.source(held), entries.form(held), entries.is_mapping(held)
    if source.endswith("annotations"):
        return Fix.manual(f"Keep the annotations of each image as bytes in a tensor, and read those, not `{name}`")
    if is_set(held.value):
        return Fix.manual(f"Keep `{name}` as a sorted array, and find its members with `np.searchsorted`")
    target, imports = project.text(step.path, step.span), list[Import]()
    np = bound(project.index.modules[step.path].model, "numpy", "np", imports)

    def array(how: str) -> str:
        return with_imports(f"{target} = {np}.{how}", imports)

    in_the_way = _in_the_way(project, held) or (f"; {why_not}" if why_not else "")
    after = f"once they are complete{in_the_way}"
    if form is Form.COLUMNS:
        each = f"{target} = {{key: {np}.asarray(value) for key, value in {target}.items()}}"
        title = f"Keep what is long in `{name}` as arrays, if its entries are of one shape"
        return Fix.manual(title, with_imports(each, imports))
    if form is Form.NUMBERS and not mapping:
        return Fix.manual(f"Keep the rows of `{name}` as one array, {after}", array(f"array({target})"))
    if form is Form.ARRAYS and not mapping:
        return Fix.manual(
            f"Keep the arrays of `{name}` as one, if they have one shape, {after}", array(f"stack({target})")
        )
    if not mapping and entries.are_identifiers(held):
        title = f"Keep `{name}` as one array: of numbers, if all are numbers, or of text"
        return Fix.manual(title, array(f"asarray({target})"))
    alone = _read_alone(project, held)
    if alone and mapping and _lists_files(project, held.value):
        each = f"{target} = {{key: {np}.array(names, dtype=str) for key, names in {target}.items()}}"
        drawn = f"\n# {_SAMPLE}" if "random.sample(" in alone else ""
        title = f"Keep the names that `{name}` has for each key as an array, not as bytes; {alone}"
        return Fix.manual(title, with_imports(each, imports) + drawn)
    if alone:
        return Fix.manual(f"Keep each part of the records of `{name}` as bytes in a tensor, not each record; {alone}")
    changed = in_the_way.endswith((_LATER, _ENTRY))
    records = "" if changed else packed(project, step.path, target, TABLE if mapping else RECORDS)
    if mapping:
        found = "found by its keys, if they are strings or numbers"
        return Fix.manual(f"Keep `{name}` as bytes in a tensor, {found}, {after}", records)
    if source.endswith("column"):
        texts = packed(project, step.path, target, TEXTS)
        title = f"Keep `{name}`, {source}, as one array of its numbers, or its texts as bytes in a tensor"
        return Fix.manual(title, f"# numbers:\n{array(f'array({target})')}\n\n# texts:\n{texts}")
    if form is Form.UNSEEN and entries.name_files(held):
        return Fix.manual(f"Keep `{name}` as one array, {after}", array(f"array({target})"))
    if form is Form.UNSEEN and records:
        title = f"Keep `{name}` as one array, if its entries are arrays of one shape, or as bytes in a tensor, {after}"
        return Fix.manual(title, f"# arrays of one shape:\n{array(f'stack({target})')}\n\n# other objects:\n{records}")
    return Fix.manual(f"Keep the records of `{name}` as bytes in a tensor, {after}", records)


def _in_the_way(project: Project, held: Held) -> str:
    """The first use that bytes do not allow, in words: code that changes the records, or adds a list to them."""
    running = {item.function for item in project.running}
    attribute, anew = _attribute(project, held), project.analysis(SetAnew)
    if attribute is None:
        return ""
    near = attribute.near or []
    for place in near:
        changes = place.use.kind in _CHANGES and (place.module.path, place.function) in running
        if changes or place.use.kind == "joined":
            return f"; {_shown(project, place, place.use.span)} {_LATER if changes else 'needs a list'}"
    for place in near:
        entry = changed_entry(project.source(place.module.path), place.use.span)
        in_workers = (place.module.path, place.function) in running
        if entry is not None and in_workers and not anew.only(attribute, place):
            return f"; {_shown(project, place, entry)} {_ENTRY}"
    return ""


def _read_alone(project: Project, held: Held) -> str:
    """The first use in workers that takes a part out of a record that may be large, in words."""
    running = {item.function for item in (project.running if held.loader is not None else project.users_running)}
    for place in () if project.analysis(Entries).are_small([held.value]) else _near(project, held):
        source = project.source(place.module.path)
        part = chosen_part(source, place.use.span) if (place.module.path, place.function) in running else None
        if part is not None:
            row = source.location(part.start)[0]
            read = source.text[part.start : part.end]
            return f"{place.module.path}:{row}: each read of `{read}` would load the whole record"
    return ""


def _lists_files(project: Project, made: Value) -> bool:
    """Whether a dictionary is made empty, and each value is a list into which code puts names of files."""
    empty, texts, is_path = Nothing(project), Texts(project), project.analysis(Entries).is_path
    match made:
        case Seq(expr=expr):
            is_empty = expr.kind == "dict" and not expr.args
        case ExtInst(name=name, call=call):
            is_empty = len(call.args) == (2 if name == "collections.defaultdict" else 1) and not call.keywords
        case _:
            is_empty = False
    found = [put for _, _, put in puts(project, made)] if is_empty else []
    return any(put is not None and put.parts for put in found) and all(
        put is not None
        and not put.others
        and all(empty.is_list(value, put.env) for value in put.values)
        and all(texts.is_item(part, put.env) and is_path(part, put.env) for part in put.parts)
        for put in found
    )


def _near(project: Project, held: Held) -> list[Place]:
    """The uses of what is kept, in the files of its class."""
    attribute = _attribute(project, held)
    return (attribute and attribute.near) or []


def _attribute(project: Project, held: Held) -> Attribute | None:
    """The attribute that keeps it, if that is one of a class."""
    path = held.route[0].path
    module = project.index.modules[path]
    write = module.write_at(held.holder.name, held.route[0].span)
    owner = module.method_owner(write.function) if write is not None else -1
    klass = project.evaluator.klass(module, owner) if owner >= 0 else None
    mapping = project.analysis(Entries).is_mapping(held)
    return Attribute(project, klass, held.holder.name, mapping) if klass is not None else None


def _shown(project: Project, place: Place, span: Span) -> str:
    """The line of something in the file of a place."""
    source = project.source(place.module.path)
    row = source.location(span.start)[0]
    return f"{place.module.path}:{row} (`{source.line(row).strip()}`)"


def by_hand(project: Project, held: Held, why_not: str) -> Fix:
    """An array for workers that are forked, a tensor for those that are spawned, in the project's own names."""
    step = held.route[0]
    target = project.text(step.path, step.span)
    reason = f"; {why_not}" if why_not else ""
    if are_bytes(project, held.value):
        snippet = packed(project, step.path, target, BYTES)
        return Fix.manual(f"Keep `{held.holder.name}` as bytes in a tensor", snippet)
    texts = would_pad(project, held)
    if texts or FORK not in project.failing(held, ALL_METHODS):
        snippet = packed(project, step.path, target, TEXTS if texts else NAMES)
        return Fix.manual(f"Keep `{held.holder.name}` as bytes in a tensor{reason}", snippet)
    paths = project.analysis(Listings).kept(held) is Kind.PATH
    items = f"[str(path) for path in {target}]" if paths else f"sorted({target})" if is_set(held.value) else target
    imports: list[Import] = []
    np = bound(project.index.modules[step.path].model, "numpy", "np", imports)
    dtype = f"{np}.dtypes.StringDType()" if project.targets.needs_numpy_2(step.path) else "str"
    again = f"\n# and Path({target}[index]) where a Path is needed" if paths else ""
    snippet = with_imports(f"{target} = {np}.array({items}, dtype={dtype})", imports) + again
    return Fix.manual(f"Keep `{held.holder.name}` as a NumPy array{reason}", snippet)


def is_set(value: Value) -> bool:
    """Whether a value is a set, of which NumPy would make an array of one object."""
    if isinstance(value, Seq):
        return value.kind == "set"
    return isinstance(value, ExtInst) and value.name in ("builtins.set", "builtins.frozenset")
