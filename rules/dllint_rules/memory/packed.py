"""Classes to paste that keep texts or records as bytes, and are read like the list or dictionary that they replace."""

from __future__ import annotations

from dllint import Import, ModuleModel, Project, Span, free_name

_FILLED = """\
        data, ends = bytearray(), [0]
        for {item} in {each}:
            data += {encode}
            ends.append(len(data))
        self.data = {torch}.from_numpy({np}.frombuffer(data, dtype={np}.uint8))
        self.ends = {torch}.tensor(ends)
"""
_LIST = '''\
class {name}:
    """{what} as bytes in a tensor, which worker processes share; read like a list."""

    def __init__(self, {items}):
{filled}
    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        place = range(len(self))[index]
        start, end = self.ends[place : place + 2].tolist()
        return {decode}
'''
_DICT = '''\
class {name}(Mapping):
    """{what} as bytes in a tensor, which worker processes share; read like a dictionary."""

    def __init__(self, {items}):
        self.places = {{key: place for place, key in enumerate({items})}}
{filled}
    def __len__(self):
        return len(self.places)

    def __iter__(self):
        return iter(self.places)

    def __getitem__(self, key):
        place = self.places[key]
        start, end = self.ends[place : place + 2].tolist()
        return {decode}
'''
_BYTES = "self.data[start:end].numpy().tobytes()"
NAMES = {
    "name": "Names", "what": "Strings", "items": "names", "item": "name",
    "encode": "os.fsencode(name)", "decode": f"os.fsdecode({_BYTES})", "module": "os",
}  # fmt: skip
TEXTS = {
    "name": "Texts", "what": "Texts", "items": "texts", "item": "text",
    "encode": "text.encode()", "decode": f"{_BYTES}.decode()", "module": "",
}  # fmt: skip
RECORDS = {
    "name": "Serialized", "what": "Records", "items": "records", "item": "record",
    "encode": "pickle.dumps(record)", "decode": f"pickle.loads({_BYTES})", "module": "pickle",
}  # fmt: skip


def packed(project: Project, path: str, span: Span, words: dict[str, str], mapping: bool = False) -> str:
    """The class, with the imports that the file lacks, and the assignment that uses it in place of a target."""
    model = project.index.modules[path].model
    imports: list[Import] = []
    modules = {alias: bound(model, module, alias, imports) for module, alias in modules_of(words)}
    imports += [Import(path, "collections.abc", "Mapping")] * mapping
    name, target = class_name(model, words), project.text(path, span)
    return with_imports(f"{class_of(words, name, modules, mapping)}\n\n{target} = {name}({target})", imports)


def modules_of(words: dict[str, str]) -> list[tuple[str, str]]:
    """The modules that the class uses, and what they are usually called."""
    own = words["module"]
    return [("numpy", "np"), ("torch", "torch"), *([(own, own)] if own else [])]


def class_name(model: ModuleModel, words: dict[str, str]) -> str:
    """A free name for the class."""
    return free_name(model, words["name"], f"Packed{words['name']}")


def class_of(words: dict[str, str], name: str, modules: dict[str, str], mapping: bool = False) -> str:
    """The text of the class; `modules` says what its file calls them."""
    each = f"{words['items']}.values()" if mapping else words["items"]
    filled = _FILLED.format(**words, **modules, each=each)
    return (_DICT if mapping else _LIST).format(**{**words, "name": name}, filled=filled)


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
