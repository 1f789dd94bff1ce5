"""Projects that mean the same: with comments, with other names, with files of other names, with one nobody imports."""

from __future__ import annotations

import ast
import builtins
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping

UNRELATED = """import json


class Ledger:
    def __init__(self, path):
        self.rows = [json.loads(line) for line in open(path)]

    def total(self, column):
        return sum(row[column] for row in self.rows)
"""
"""A file that has nothing to do with any other."""

_LINE = re.compile(r"(?<=\.py:)\d+(?::\d+)?")


def commented(text: str) -> tuple[str, list[int]]:
    """A blank line and a comment before every statement; and where each row went: `rows[old]` is the new one."""
    if not _parses(text):
        return text, list(range(text.count("\n") + 3))
    lines = text.splitlines(keepends=True)
    starts = {token.start[0]: token.start[1] for token in _first_tokens(text)}
    made: list[str] = []
    rows = [0]
    for number, line in enumerate(lines, 1):
        if number in starts:
            made += ["\n", f"{line[: starts[number]]}# a remark\n"]
        made.append(line)
        rows.append(len(made))
    return "".join(made), [*rows, len(made) + 1]


def _first_tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The first token of every logical line that begins a row."""
    skipped = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
    fresh = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if fresh and token.type not in (*skipped, tokenize.ENDMARKER, tokenize.NEWLINE):
            fresh = False
            if token.line[: token.start[1]].isspace() or token.start[1] == 0:
                yield token
        if token.type == tokenize.NEWLINE:
            fresh = True


def renamed(texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Every class and function that only the project can mean gets another name; and the old name of each new one."""
    new = {name: f"Qz{name}" if name[0].isupper() else f"qz_{name}" for name in _own_names(texts)}
    made = {}
    for path, text in texts.items():
        parts, end = [], 0
        offsets = _offsets(text)
        if not _parses(text):
            made[path] = text
            continue
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and token.string in new:
                start = offsets[token.start[0] - 1] + token.start[1]
                parts += [text[end:start], new[token.string]]
                end = start + len(token.string)
        made[path] = "".join([*parts, text[end:]])
    return made, {value: key for key, value in new.items()}


def _offsets(text: str) -> list[int]:
    found = [0]
    for line in text.splitlines(keepends=True):
        found.append(found[-1] + len(line))
    return found


def _own_names(texts: Mapping[str, str]) -> set[str]:
    """Names of one definition at a module's top level, which mean nothing else in any file."""
    defined: Counter[str] = Counter()
    taken = {*dir(builtins), *sys.stdlib_module_names, "main"}
    stems = {part for path in texts for part in re.split(r"[/.]", path)}
    for text in texts.values():
        if not _parses(text):  # written in a newer Python than this one
            taken |= set(re.findall(r"[A-Za-z_]\w*", text))
            continue
        tree = ast.parse(text)
        top = {node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        defined.update(node.name for node in top)
        for node in ast.walk(tree):
            taken |= set(_other_meanings(node, stems)) if node not in top else set()
    plain = {name for name, count in defined.items() if count == 1 and not name.startswith(("_", "test", "Test"))}
    return plain - taken - stems


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _other_meanings(node: ast.AST, stems: set[str]) -> Iterator[str]:
    """Names that a node uses for anything but a definition at the top of one of the project's modules."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.Constant(value=str(text)):
            yield from re.findall(r"[A-Za-z_]\w*", text)
        case ast.Import(names=aliases):
            yield from (part for alias in aliases for part in (*alias.name.split("."), alias.asname or ""))
        case ast.ImportFrom(module=module, names=aliases):
            own = (module or "").rpartition(".")[2] in stems or not module
            yield from (alias.name for alias in aliases if not own)
            yield from (alias.asname for alias in aliases if alias.asname)


def moved(texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Files get names in the opposite order, where imports alone name them; and the old name of each new one."""
    stems = sorted(_own_stems(texts), reverse=True)
    new = {stem: f"qz{number:03}_{stem}" for number, stem in enumerate(stems)}
    folders = {part for path in texts for part in path.split("/")[:-1]}
    made = {}
    for path, text in texts.items():
        folder, _, name = path.rpartition("/")
        stem = new.get(name.removesuffix(".py"), name.removesuffix(".py"))
        made[f"{folder}/{stem}.py".lstrip("/")] = _importing(text, new, folders)
    return made, {value: key for key, value in new.items()}


def _own_stems(texts: Mapping[str, str]) -> set[str]:
    """The names of files that mean nothing but a module: to Python, to a test runner, in strings, in a package."""
    found = {path.rpartition("/")[2].removesuffix(".py") for path in texts}
    found -= {part for path in texts for part in path.split("/")[:-1]}
    taken = {*sys.stdlib_module_names, "setup"}
    for path, text in texts.items():
        if not _parses(text):  # which of its names are modules isn't known
            taken |= set(re.findall(r"[A-Za-z_]\w*", text))
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Constant(value=str(words)) if re.fullmatch(r"[\w./-]+", words):
                    taken |= set(re.findall(r"[A-Za-z_]\w*", words))
                case ast.Import(names=aliases):
                    taken |= {part for alias in aliases if "." in alias.name for part in alias.name.split(".")}
                case ast.ImportFrom(module=str(), names=aliases) if path.endswith("__init__.py"):
                    taken |= {alias.asname or alias.name for alias in aliases}
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                    taken |= {name} if path.endswith("__init__.py") else set()
    special = re.compile(r"__\w+__|conftest.*|test_.*|.*_test")
    return {stem for stem in found - taken if stem.isidentifier() and not special.fullmatch(stem)}


def _importing(text: str, new: Mapping[str, str], folders: set[str]) -> str:
    """A file that imports modules by their new names, and calls them by their old ones."""
    lines = text.encode().splitlines(keepends=True)
    places: list[tuple[int, int, str, str]] = []
    for node in ast.walk(ast.parse(text)) if _parses(text) else ():
        if isinstance(node, ast.Import):
            places += [_place(alias, new) for alias in node.names if alias.name in new]
        elif isinstance(node, ast.ImportFrom):
            *above, last = (node.module or "").split(".")
            own = node.level > 0 or not above or above[0] in folders
            if own and last in new:
                named = re.compile(rb"from[\s.]+(?:\w+\.)*(?=%s\s)" % last.encode())
                found = named.match(lines[node.lineno - 1], node.col_offset)
                assert found, f"an import over several lines: {lines[node.lineno - 1]!r}"
                places.append((node.lineno, found.end(), last, new[last]))
            elif own and (not last or last in folders):
                places += [_place(alias, new) for alias in node.names if alias.name in new]
    for row, start, old, other in sorted(places, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + other.encode() + line[start + len(old) :]
    return b"".join(lines).decode()


def _place(alias: ast.alias, new: Mapping[str, str]) -> tuple[int, int, str, str]:
    """Where an import names a module, what stands there, and what then does."""
    name = new[alias.name]
    return alias.lineno, alias.col_offset, alias.name, name if alias.asname else f"{name} as {alias.name}"


def without_lines(message: str) -> str:
    """A message without the lines that it names."""
    return _LINE.sub("_", message)
