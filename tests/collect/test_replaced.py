"""Which definitions never mean anything, because later ones replace them."""

import ast

import pytest

from dllint.collect.replaced import replaced

DEAD = {
    "functions": "def f(): ...\ndef f(): ...",
    "three": "def f(): ...\nasync def f(): ...\nclass f: ...",
    "classes": "class f:\n def g(self): ...\nclass f: ...",
    "a static method": "@staticmethod\ndef f(): ...\n@torch.no_grad()\ndef f(): ...",
    "a recursive function": "def f(): f()\ndef f(): f()",
    "imports and values in between": "def f(): ...\nimport os\nx = [os.sep]\ndef f(): ...",
    "a function in between that names it": "def f(): ...\ndef g(): f()\ndef f(): ...",
    "a function above that names it": "def g(): f()\ndef f(): ...\ndef f(): ...",
    "a call of other code in between": "def f(): ...\nx = len(y)\ndef f(): ...",
}
ALIVE = {
    "one": "def f(): ...",
    "a decorator": "@register\ndef f(): ...\n@register\ndef f(): ...",
    "an overload": "@overload\ndef f(): ...\n@overload\ndef f(): ...\ndef f(): ...",
    "a property and its setter": "@property\ndef f(self): ...\n@f.setter\ndef f(self, x): ...",
    "registered": "@singledispatch\ndef f(): ...\n@f.register\ndef f(): ...",
    "a branch": "if x:\n def f(): ...\nelse:\n def f(): ...",
    "an error that is caught": "try:\n def f(): ...\n import x\n def f(): ...\nexcept ImportError: ...",
    "a default": "def f(): ...\ndef f(x=f): ...",
    "a base": "class f: ...\nclass f(f): ...",
    "another name": "def f(): ...\ng = f\ndef f(): ...",
    "a property of it": "def f(self): ...\ng = property(f)\ndef f(self): ...",
    "a call": "def f(): ...\nf()\ndef f(): ...",
    "a call of what calls it": "def g(): f()\ndef f(): ...\ng()\ndef f(): ...",
    "a decorator in between": "def f(): ...\n@once\ndef g(): f()\ndef f(): ...",
    "a function that is returned": "def g(): f()\ndef f(): ...\nif x:\n return g\ndef f(): ...",
    "a computed name": "def f(): ...\ng = globals()['f']\ndef f(): ...",
    "a module's attribute": "def f(): ...\ng = getattr(sys.modules[__name__], 'f')\ndef f(): ...",
    "removed": "def f(): ...\ndel f\ndef f(): ...",
    "a global of others": "global f\ndef f(): ...\nrun()\ndef f(): ...",
    "a default that registers": "def f(x=register()): ...\ndef f(): ...",
    "a class whose body does more": "class f:\n x = register()\nclass f: ...",
    "a metaclass": "class f(metaclass=Registry): ...\nclass f: ...",
}


@pytest.mark.parametrize("text", DEAD.values(), ids=DEAD)
def test_what_never_means_anything(text: str) -> None:
    body = ast.parse(text).body
    defined = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    assert list(replaced(body)) == [node for node in defined if node.name == "f"][:-1]


@pytest.mark.parametrize("text", ALIVE.values(), ids=ALIVE)
def test_what_may_be_used(text: str) -> None:
    assert not [found for body in _bodies(ast.parse(text)) for found in replaced(body)]


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    """The bodies of scopes."""
    inner = [node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [tree.body, *inner]
