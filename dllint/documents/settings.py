"""Settings in YAML and TOML as modules: the numbers in them, and the calls that they stand for.

`_target_: package.Class` (Hydra), `class_path` with `init_args` (LightningCLI), and `target` with `params` (what latent
diffusion began) name a class and its arguments. A file of settings becomes a module with one function that nothing
calls. In it, each document is a dictionary, and what names a class is a call. Whether any program reads the file isn't
known, so everything is under a test that cannot be decided.
"""

from __future__ import annotations

import re

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.representer import SafeRepresenter

from dllint import reading
from dllint.model.facts import Block, Event, Expr, Function, ImportedName, ModuleModel
from dllint.source import Source, Span

_LARGEST = 200_000
"""Characters; what is longer is data."""
_DEPTH = 20
_TELLING = re.compile(rb"workers|_target_|class_path|(?:^|\s)target:", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_REFERENCE = re.compile(r"\$\{\.*(?:[\w.]*\.)?(\w+)\}")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FUNCTION = 0


def is_telling(data: bytes) -> bool:
    """Whether settings may say something about workers or about what is made."""
    return len(data) <= _LARGEST and bool(_TELLING.search(data))


def collect(source: Source) -> ModuleModel:
    """The facts of a file; none of a file that can't be read, such as a template."""
    found = _Reading()
    try:
        for node in _nodes(source) if len(source.text) <= _LARGEST else ():
            found.made.append(found.expression(node, _DEPTH))
    except (yaml.YAMLError, RecursionError, ValueError):
        found = _Reading()
    return found.module(source)


def _nodes(source: Source) -> list[Node]:
    """The documents of a file, as YAML has them; nothing says where those of TOML are."""
    if source.path.endswith(".toml"):
        return [SafeRepresenter().represent_data(reading.toml(source.text))]
    return list(yaml.compose_all(source.text, Loader=_LOADER))


class _Reading:
    """What is found in a file."""

    def __init__(self) -> None:
        self.made: list[Expr] = []
        """What its documents say, and what nested settings make that are handed on as they are."""
        self.modules: dict[str, None] = {}

    def module(self, source: Source) -> ModuleModel:
        """All of it as a module."""
        end = len(source.text)
        whole = Span(0, end)
        names = frozenset(self.modules)
        importing = Event("import", 0, 0, 0, names=tuple(self.modules))
        events = (importing, *(Event("expr", expr.start, expr.end, 0, value=expr) for expr in self.made))
        function = Function(
            _FUNCTION, "def", "<settings>", "<settings>", whole, Span(0, 0), whole, (), (), -1, -1, events, names, names
        )
        return ModuleModel(
            path=source.path,
            imports=tuple(ImportedName(name, name, "", 0, Span(0, 0), _FUNCTION, 0) for name in self.modules),
            functions=(function,) if self.made else (),
            classes=(),
            events=(),
            blocks=(Block("if", -1, 0, end, Expr("unknown", 0, 0)),),
            bound=frozenset(),
            exports=None,
            suppressions=(),
        )

    def expression(self, node: Node | None, depth: int) -> Expr:
        """A node as an expression."""
        start, end = _place(node)
        if isinstance(node, ScalarNode):
            return _scalar(node, start, end)
        if isinstance(node, SequenceNode) and depth:
            return Expr("list", start, end, args=tuple(self.expression(item, depth - 1) for item in node.value))
        if isinstance(node, MappingNode) and depth:
            entries = _entries(node)
            return self._call(entries, start, end, depth) or self._dictionary(node, start, end, depth)
        return Expr("unknown", start, end)

    def _dictionary(self, node: MappingNode, start: int, end: int, depth: int) -> Expr:
        pairs = [(self.expression(key, 0), self.expression(value, depth - 1)) for key, value in node.value]
        return Expr("dict", start, end, args=tuple(part for pair in pairs for part in pair))

    def _call(self, entries: dict[str, Node], start: int, end: int, depth: int) -> Expr | None:
        """What a mapping that names a class makes."""
        for key, arguments in (("_target_", ""), ("class_path", "init_args"), ("target", "params")):
            named = entries.get(key)
            if not isinstance(named, ScalarNode) or not _NAME.fullmatch(named.value):
                continue
            if key == "target" and "params" not in entries:
                continue  # the word has other meanings
            given = _entries(entries.get(arguments)) if arguments else entries
            handed_on = key == "target"
            keywords = tuple(
                (name, self._handed_on(value, depth - 1) if handed_on else self.expression(value, depth - 1))
                for name, value in given.items()
                if not name.startswith("_")
            )
            partial = entries.get("_partial_")
            if isinstance(partial, ScalarNode) and partial.value.lower() == "true":
                args: tuple[Expr, ...] = (self._named("functools.partial", named), self._named(named.value, named))
            else:
                args = (self._named(named.value, named),)
            listed = entries.get("_args_")
            positional = listed.value if isinstance(listed, SequenceNode) else ()
            args += tuple(self.expression(item, depth - 1) for item in positional)
            return Expr("call", start, end, args=args, keywords=keywords)
        return None

    def _handed_on(self, node: Node, depth: int) -> Expr:
        """An argument that is not made before it is passed: what it stands for is made elsewhere."""
        found = self.expression(node, depth)
        if any(part.kind == "call" for part in found.walk()):
            self.made.append(found)
            return Expr("unknown", found.start, found.end)
        return found

    def _named(self, dotted: str, node: Node) -> Expr:
        start, end = _place(node)
        module, _, name = dotted.rpartition(".")
        self.modules[module] = None
        return Expr("attribute", start, end, name, (Expr("name", start, end, module),))


def _place(node: Node | None) -> tuple[int, int]:
    return (node.start_mark.index, node.end_mark.index) if node is not None and node.start_mark else (0, 0)


def _entries(node: Node | None) -> dict[str, Node]:
    pairs = node.value if isinstance(node, MappingNode) else ()
    return {key.value: value for key, value in pairs if isinstance(key, ScalarNode)}


def _scalar(node: ScalarNode, start: int, end: int) -> Expr:
    """A scalar; `${a.b}` is the attribute `b` of something unknown."""
    kind, text = node.tag.rpartition(":")[2], node.value
    reference = _REFERENCE.fullmatch(text)
    if reference:
        return Expr("attribute", start, end, reference[1], (Expr("unknown", start, end),))
    if "${" in text:
        return Expr("unknown", start, end)
    if kind == "int" and re.fullmatch(r"[-+]?\d[\d_]*", text):
        return Expr("constant", start, end, value=int(text))
    if kind in ("bool", "null"):
        yes = text.lower() in ("true", "yes", "on")
        return Expr("constant", start, end, value=yes if kind == "bool" else None)
    return Expr("constant", start, end, value=text) if kind == "str" else Expr("unknown", start, end)
