"""Classes to paste that keep texts or records as bytes, and are read like the list or dictionary that they replace."""

from __future__ import annotations

from dllint import Import, ModuleModel, Project, free_name, module_alias, reference

_FILLED = """\
        data, ends = bytearray(), [0]
        for {item} in {each}:
            data += {encode}
            ends.append(len(data))
        values = {np}.frombuffer(data, dtype={np}.uint8)
        self.data = {torch}.from_numpy(values)
        self.ends = {torch}.from_numpy({np}.array(ends))
"""
_LIST = '''\
class {name}:
    """{what} as bytes in a tensor that workers share, read like a list."""

    def __init__(self, {items}):
{filled}
    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        place = range(len(self))[index]
        start, end = self.ends[place], self.ends[place + 1]
        return {decode}
'''
_DICT = '''\
class {name}({Mapping}):
    """{what} as bytes in a tensor that workers share, read like a dict."""

    def __init__(self, {items}):
{filled}        hashes = [self._hash(key) for key in {items}]
        self.hashes, self.places = {torch}.from_numpy({np}.array(hashes, dtype={np}.int64)).sort()

    def __len__(self):
        return len(self.places)

    def __iter__(self):
        return (self._item(place)[0] for place in range(len(self)))

    def __getitem__(self, key):
        wanted = self._hash(key)
        hashes = self.hashes.numpy()
        first, last = {np}.searchsorted(hashes, [wanted, wanted + 1])
        for place in self.places[first:last].tolist():
            own, record = self._item(place)
            if own == key:
                return record
        raise KeyError(key)

    def _item(self, place):
        start, end = self.ends[place], self.ends[place + 1]
        return {decode}

    @staticmethod
    def _hash(key):
        if isinstance(key, str):  # whose hash() differs between processes
            return {zlib}.crc32(key.encode("utf-8", "surrogatepass"))
        return hash(key or 0)  # hash(None) differs, too, before Python 3.12
'''
_BYTES = "self.data[start:end].numpy().tobytes()"
NAMES = {
    "name": "Names", "what": "Strings", "items": "names", "item": "name",
    "encode": "{os}.fsencode(name)", "decode": f"{{os}}.fsdecode({_BYTES})", "module": "os",
}  # fmt: skip
TEXTS = {
    "name": "Texts", "what": "Texts", "items": "texts", "item": "text",
    "encode": "text.encode()", "decode": f"{_BYTES}.decode()", "module": "",
}  # fmt: skip
BYTES = {
    "name": "Bytes", "what": "Byte strings", "items": "items", "item": "item",
    "encode": "item", "decode": _BYTES, "module": "",
}  # fmt: skip
"""An array with `dtype=bytes` would strip the NUL bytes at the end of each, as keys that are packed numbers have."""
RECORDS = {
    "name": "Serialized", "what": "Records", "items": "records", "item": "record",
    "encode": "{pickle}.dumps(record)", "decode": f"{{pickle}}.loads({_BYTES})", "module": "pickle",
}  # fmt: skip
TABLE = {
    "name": "SerializedDict", "what": "Records", "items": "records", "item": "item",
    "encode": "{pickle}.dumps(item)", "decode": f"{{pickle}}.loads({_BYTES})", "module": "pickle zlib",
}  # fmt: skip
"""Of a dictionary, whose keys are strings or numbers: each item is packed with its key."""


def packed(project: Project, path: str, target: str, words: dict[str, str], aliases: tuple[str, ...] = ()) -> str:
    """The class, with the imports that the file lacks, and the assignment that uses it in place of a target."""
    model = project.index.modules[path].model
    imports: list[Import] = []
    known = {alias: bound(model, module, alias, imports) for module, alias in modules_of(words)}
    if words is TABLE:
        known["Mapping"] = "Mapping"
        imports.append(Import(path, "collections.abc", "Mapping"))
    name = class_name(model, words)
    text = class_of(words, name, known, project.source(path).unit)
    return with_imports(f"{text}\n\n{' = '.join((target, *aliases))} = {name}({target})", imports)


def modules_of(words: dict[str, str]) -> list[tuple[str, str]]:
    """The modules that the class uses, and what they are usually called."""
    return [("numpy", "np"), ("torch", "torch"), *((own, own) for own in words["module"].split())]


def class_name(model: ModuleModel, words: dict[str, str]) -> str:
    """A free name for the class."""
    return free_name(model, words["name"], f"Packed{words['name']}")


def class_at(
    words: dict[str, str], name: str, model: ModuleModel, start: int, unit: str
) -> tuple[str, tuple[Import, ...]]:
    """The text of the class above a statement of a file that indents by `unit`, and the imports that this needs."""
    known = {alias: module_alias(model, module, alias, start) for module, alias in modules_of(words)}
    if words is TABLE:
        known["Mapping"] = _mapping(model, start)
    text = class_of(words, name, {alias: own for alias, (own, _) in known.items()}, unit)
    return text, tuple(one for _, more in known.values() for one in more)


def _mapping(model: ModuleModel, start: int) -> tuple[str, tuple[Import, ...]]:
    """What a file calls the base class of dictionaries of one's own."""
    found = [reference(model, module, "Mapping", start) for module in ("collections.abc", "typing")]
    own = next((one for one in found if not one[1]), None)
    if own is None and free_name(model, "Mapping") == "Mapping":
        return "Mapping", (Import(model.path, "collections.abc", "Mapping"),)
    return own or found[0]


def keeps_python_2(model: ModuleModel) -> bool:
    """Whether a file is written for Python 2 as well: it imports `six`, which nothing else needs."""
    return any(one.module.partition(".")[0] == "six" and not one.level for one in model.imports)


def class_of(words: dict[str, str], name: str, known: dict[str, str], unit: str) -> str:
    """The text of the class; `known` says what its file calls the modules, and the base class."""
    form, each = (_DICT, f"{words['items']}.items()") if words is TABLE else (_LIST, words["items"])
    used = {**words, **known, **{part: words[part].format(**known) for part in ("encode", "decode")}, "name": name}
    filled = _FILLED.format(**used, each=each)
    return form.format(**used, filled=filled).replace("    ", unit)


def bound(model: ModuleModel, module: str, alias: str, imports: list[Import]) -> str:
    """What a file calls a module; an import is added if it has none."""
    top = [one for one in model.imports if one.function < 0]
    own = [one.bound for one in top if one.module == module and not one.attribute and not one.level]
    if not own and all(one.bound != alias for one in top):
        imports.append(Import(model.path, module, alias=alias))
    return own[0] if own else alias


def with_imports(text: str, imports: list[Import]) -> str:
    """A text below imports."""
    lines = sorted({one.statement for one in imports}, key=lambda line: (line.startswith("from"), line))
    return "".join(f"{line}\n" for line in lines) + ("\n\n" if lines else "") + text
