"""What to paste where a list of names cannot be replaced by itself."""

from __future__ import annotations

import re

from dllint import ALL_METHODS, FORK, Applicability, ExtInst, Fix, Held, Kind, Listings, Project, Records, Seq, Value

_ARRAY = "{target} = np.array({items}, dtype={dtype})"
_PACKED = '''\
class {name}:
    """{what} in one tensor, which worker processes share."""

    def __init__(self, {items}):
        encoded = [{encode} for {item} in {items}]
        self.ends = torch.tensor([0, *map(len, encoded)]).cumsum(0)
        self.data = torch.frombuffer(bytearray(b"".join(encoded)), dtype=torch.uint8)

    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, index):
        index = range(len(self))[index]
        start, end = self.ends[index : index + 2].tolist()
        return {decode}(self.data[start:end].numpy().tobytes())


{target} = {name}({target})'''
_NAMES = {
    "name": "Names",
    "what": "Strings",
    "items": "names",
    "item": "name",
    "encode": "os.fsencode(name)",
    "decode": "os.fsdecode",
}
_RECORDS = {
    "name": "Serialized",
    "what": "Records",
    "items": "records",
    "item": "record",
    "encode": "pickle.dumps(record)",
    "decode": "pickle.loads",
}


_TEXTS = {
    "name": "Texts",
    "what": "Texts",
    "items": "texts",
    "item": "text",
    "encode": "text.encode()",
    "decode": "bytes.decode",
}
_LONG = re.compile(
    r"(?:^|_)(?:text|sentence|caption|docstring|code|question|answer|query|querie|document|doc|paragraph|passage|comment"
    r"|summary|summarie|article|transcript|transcription|utterance|prompt|description|instruction|response|review|tweet"
    r"|abstract|dialogue?|storie|story|corpus)s?(?:_list)?$",
    re.IGNORECASE,
)


def would_pad(project: Project, held: Held) -> bool:
    """Whether an array of strings takes more than they do: of texts, whose lengths differ, without `StringDType`."""
    return bool(_LONG.search(held.holder.name)) and not project.targets.needs_numpy_2(held.route[0].path)


def records_by_hand(project: Project, held: Held) -> Fix | None:
    """A list of records as bytes in a tensor, to be put below the line where it is complete."""
    value, step = held.value, held.route[0]
    if not (isinstance(value, Seq) and value.kind == "list"):
        return Fix.manual(f"Keep what workers read of `{held.holder.name}` as arrays or as bytes; {_what_it_is(value)}")
    target = project.text(step.path, step.span)
    if project.analysis(Records).are_identifiers(value):
        title = f"Keep `{held.holder.name}` as one array: of numbers, if all are numbers, or of text"
        return Fix(title, (), Applicability.MANUAL, snippet=f"{target} = np.asarray({target})")
    snippet = _PACKED.format(target=target, **_RECORDS)
    title = f"Keep the records of `{held.holder.name}` as bytes in a tensor, once they are complete"
    return Fix(title, (), Applicability.MANUAL, snippet=snippet)


def _what_it_is(value: Value) -> str:
    """Why one cannot tell what to write for records."""
    if isinstance(value, Seq):
        return f"it is a {value.kind}, not a list"
    if isinstance(value, ExtInst) and value.call.kind == "call" and value.call.args[0].name in ("tolist", "to_list"):
        return "without its `tolist` a column of numbers is an array, but what this one holds is not seen"
    made = value.name.partition("()")[0] if isinstance(value, ExtInst) else ""
    return (
        f"what `{made}` gives may be a list or a dictionary of anything" if made else "whether it is a list is not seen"
    )


def by_hand(project: Project, held: Held, why_not: str) -> Fix:
    """An array for workers that are forked, a tensor for those that are spawned, in the project's own names."""
    step = held.route[0]
    target = project.text(step.path, step.span)
    reason = f"; {why_not}" if why_not else ""
    texts = would_pad(project, held)
    if texts or FORK not in project.failing(held, ALL_METHODS):
        title = f"Keep `{held.holder.name}` as bytes in a tensor{reason}"
        return Fix(
            title, (), Applicability.MANUAL, snippet=_PACKED.format(target=target, **(_TEXTS if texts else _NAMES))
        )
    paths = project.analysis(Listings).kept(held) is Kind.PATH
    items = f"[str(path) for path in {target}]" if paths else f"sorted({target})" if is_set(held.value) else target
    dtype = "np.dtypes.StringDType()" if project.targets.needs_numpy_2(step.path) else "str"
    again = f"\n# and Path({target}[index]) where a Path is needed" if paths else ""
    snippet = _ARRAY.format(target=target, items=items, dtype=dtype) + again
    return Fix(f"Keep `{held.holder.name}` as a NumPy array{reason}", (), Applicability.MANUAL, snippet=snippet)


def is_set(value: Value) -> bool:
    """Whether a value is a set, of which NumPy would make an array of one object."""
    if isinstance(value, Seq):
        return value.kind == "set"
    return isinstance(value, ExtInst) and value.name in ("builtins.set", "builtins.frozenset")
