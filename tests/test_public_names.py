"""The names that rules may import: they exist, and type checkers see the same ones."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import dllint


def stub() -> ast.Module:
    return ast.parse((Path(dllint.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))


def test_the_stub_has_the_public_names() -> None:
    imported = {item.asname for node in stub().body if isinstance(node, ast.ImportFrom) for item in node.names}
    assert imported | {"__version__"} == set(dllint.__all__)


@pytest.mark.parametrize("node", [node for node in stub().body if isinstance(node, ast.ImportFrom)], ids=ast.unparse)
def test_the_stub_names_the_same_objects(node: ast.ImportFrom) -> None:
    module = importlib.import_module(node.module or "")
    for alias in node.names:
        assert getattr(dllint, alias.name) is getattr(module, alias.name)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = dllint.nothing_of_the_kind
