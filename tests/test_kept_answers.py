"""What rests on the evaluator is kept by its memo, or as `evaluate/at_rest.py` does it.

While a question is open, the evaluator's answers are provisional. A dictionary, a list, `cached_property` or `OnDemand`
would keep what was found with them for good, so these are for what the text alone says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = [
    file
    for file in sorted((ROOT / "dllint" / "project").rglob("*.py"))
    if file.parent.name != "program" and file.name not in ("fixpoint.py", "at_rest.py")
]
ANALYSES = sorted((ROOT / "rules").glob("dllint_rules/*/analysis/*.py"))

OF_TEXT = {"index", "programs", "carried", "multiplicity", "loaders", "known", "platform", "source", "_read"}
"""Attributes that answer for the text of the program, or for a table."""
OF_EVALUATOR = OF_TEXT | {"generic", "klass", "env", "activations"}
"""Those of the evaluator that say no more: which activations there are."""
OTHER = {
    "Evaluator._answers": "equal answers, each once",
    "Reached._ways": "of the conditions, only which calls are written",
    "Names._bindings": "the same in every activation, and found anew where the evaluator is narrowed",
    "Boundaries._elsewhere": "objects that keep their own answers",
    "Boundaries._within": "objects that keep their own answers",
    "Boundaries._made_in": "loaders with the same number of workers, each once",
    "Declared._is_shown": "what command lines in files say",
    "Demanded._known": "what JSON and command lines in files say",
    "ListFiles._visits": "how far the walk that is under way has come",
    "ListFiles._commands": "what the walk that is under way asks for",
    "Shipped.partly": "what is in there without need costs a second walk, and changes nothing",
    "Project._worker_code": "an object that keeps its own answers",
    "RepeatedWork._where_cuda_is": "an object that keeps its own answers",
    "Unselected._as_given": "an object that keeps its own answers",
}
"""What is kept though it rests on the evaluator, and why it may be."""
CHANGING = {"setdefault", "append", "add", "update", "extend", "insert"}
PLAIN = {"dict", "list", "set", "defaultdict", "OnDemand", "AtRest"}


class Keepers:
    """What the methods of a class keep in its objects, by their own means."""

    def __init__(self, of: ast.ClassDef, functions: dict[str, ast.FunctionDef]) -> None:
        self.name = of.name
        self.functions = functions
        self.methods = {item.name: item for item in of.body if isinstance(item, ast.FunctionDef)}
        init = self.methods.get("__init__")
        self.assigned = dict(assignments(init)) if init is not None else {}

    def kept(self) -> Iterator[tuple[str, ast.AST]]:
        """The attributes that keep something, each with what finds it."""
        for attribute, value in self.assigned.items():
            if isinstance(value, ast.Call) and called(value) == "OnDemand":
                yield attribute, value
        for name, method in self.methods.items():
            if any(ast.unparse(item).endswith("cached_property") for item in method.decorator_list):
                yield name, method
            for node in ast.walk(method) if name != "__init__" else ():
                attribute = changed(node)
                if attribute:
                    yield attribute, method

    def rests_on(self, found_by: ast.AST) -> set[str]:
        """What is asked for it that may rest on the evaluator, itself or by other methods and functions."""
        asked: set[str] = set()
        waiting, seen = [found_by], set[ast.AST]()
        while waiting:
            code = waiting.pop()
            if code in seen:
                continue
            seen.add(code)
            members = {node.value: node.attr for node in ast.walk(code) if isinstance(node, ast.Attribute)}
            for node in ast.walk(code):
                if isinstance(node, ast.Name) and node.id in self.functions:
                    waiting.append(self.functions[node.id])
                elif isinstance(node, ast.Name) and node.id in ("evaluator", "project"):
                    asked.add(node.id)
                name = own(node)
                if name in self.methods:
                    waiting.append(self.methods[name])
                elif name and not self._is_plain(name, members, node):
                    asked.add(ast.unparse(node))
        return asked

    def _is_plain(self, name: str, members: dict[ast.expr, str], node: ast.AST) -> bool:
        """Whether an attribute says no more than the text."""
        value = self.assigned.get(name)
        if isinstance(value, ast.Call):
            return called(value) in PLAIN - {"AtRest"} or name in OF_TEXT
        member = next((attribute for base, attribute in members.items() if base is node), "")
        if name == "evaluator":
            return member in OF_EVALUATOR
        return isinstance(value, ast.Dict | ast.DictComp | ast.List | ast.Set | ast.Constant) or not OF_TEXT.isdisjoint(
            (name, member)
        )


def assignments(init: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    for node in ast.walk(init):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if own(target):
                yield own(target), node.value  # type: ignore[union-attr]


def called(call: ast.Call) -> str:
    """The name of what a call calls: `OnDemand` of `OnDemand[Module, bool](find)`."""
    return ast.unparse(call.func).partition("[")[0]


def own(node: ast.AST) -> str:
    """The name of `self.name`."""
    of_self = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if of_self else ""  # type: ignore[attr-defined]


def changed(node: ast.AST) -> str:
    """The attribute that `self.name = ...`, `self.name[key] = ...` or `self.name.append(...)` changes."""
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return own(node.value) if isinstance(node, ast.Subscript) else own(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        return own(node.func.value)
    return ""


def kept_by_hand(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """What the classes of a file keep that rests on the evaluator, with what it rests on."""
    functions = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            keepers = Keepers(node, functions)
            for attribute, found_by in keepers.kept():
                asked = keepers.rests_on(found_by)
                if asked:
                    yield f"{keepers.name}.{attribute}", asked


@pytest.mark.parametrize("file", [*ROOMS, *ANALYSES], ids=lambda file: str(file.relative_to(ROOT)))
def test_what_rests_on_the_evaluator_is_kept_at_rest(file: Path) -> None:
    found = dict(kept_by_hand(ast.parse(file.read_text(encoding="utf-8"))))
    assert {name: asked for name, asked in found.items() if name not in OTHER} == {}, (
        "keep it by `evaluator.ask`, `evaluator.kept`, `at_rest` or `AtRest`"
    )


def test_what_is_excused_is_kept() -> None:
    files = (ast.parse(file.read_text(encoding="utf-8")) for file in (*ROOMS, *ANALYSES))
    assert OTHER.keys() <= {name for tree in files for name, _ in kept_by_hand(tree)}


BY_HAND = {
    "dictionary": "self.kept[key] = self.find(key)",
    "list": "self.kept.append(self.find(key))",
    "attribute": "self.kept = self.find(key)",
}


@pytest.mark.parametrize("how", BY_HAND)
def test_what_is_kept_by_hand_is_seen(how: str) -> None:
    tree = ast.parse(f"""
class Analysis:
    def __init__(self, evaluator):
        self.evaluator = evaluator
        self.kept = {{}}

    def of(self, key):
        {BY_HAND[how]}

    def find(self, key):
        return self.evaluator.values(*key)
""")
    assert list(dict(kept_by_hand(tree))) == ["Analysis.kept"]


@pytest.mark.parametrize("asked", ["self.evaluator.values(key)", "of(self.evaluator, key)", "self.reach.edges(key)"])
def test_what_a_mapping_or_a_property_keeps_is_seen(asked: str) -> None:
    tree = ast.parse(f"""
class Analysis:
    def __init__(self, evaluator):
        self.evaluator = evaluator
        self.reach = Reach(evaluator)
        self.mapping = OnDemand(self.find)
        self.of_text = OnDemand(lambda key: self.evaluator.index.modules[key])

    def find(self, key):
        return {asked}

    @cached_property
    def all(self):
        return list(map(self.find, self.evaluator.index))
""")
    assert list(dict(kept_by_hand(tree))) == ["Analysis.mapping", "Analysis.all"]
