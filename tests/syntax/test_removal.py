"""Statements that are taken out, lines that are put into `__getattr__`: the text that comes out."""

from __future__ import annotations

import pytest

from dllint.fix import apply
from dllint.source import Source
from dllint.syntax.getattr_guard import guard_getattr
from dllint.syntax.removal import without_statement


def removed(code: str) -> str:
    """The text without the call that § marks."""
    source = Source("a.py", code.replace("§", ""))
    return apply(source.text, without_statement(source, code.index("§")))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import gc\nx = 1\n§gc.collect()\ny = gc\n", "import gc\nx = 1\ny = gc\n"),
        (
            "import gc\n\nimport os\n\n\ndef f():\n    os.sep\n    §gc.collect()\n",
            "import os\n\n\ndef f():\n    os.sep\n",
        ),
        ("import os\n\nimport gc\n\n\n§gc.collect()\nos\n", "import os\n\n\nos\n"),
        ("def f():\n    §gc.collect()\n", "def f():\n    pass\n"),
        ("def f():\n    §gc.collect()\n\n    return 1\n", "def f():\n    return 1\n"),
        ("def f():\n    x\n\n    §gc.collect()\n    return 1\n", "def f():\n    x\n\n    return 1\n"),
        ("if x:\r\n\ty\r\n\t§gc.collect()\r\n", "if x:\r\n\ty\r\n"),
        ("x\n§gc.collect()", "x\n"),
    ],
)
def test_a_call_is_taken_out_with_the_import_it_needed(code: str, expected: str) -> None:
    assert removed(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "§gc.collect()  # memory is tight\nx\n",
        "x\n# memory is tight\n§gc.collect()\n",
        "x; §gc.collect()\n",
        "§gc.collect(); x\n",
        "if x: §gc.collect()\n",
        "y = §gc.collect()\n",
        "print(§gc.collect())\n",
        "§gc.collect(\n    # all of it\n)\n",
    ],
)
def test_a_call_stays_that_has_a_comment_or_company(code: str) -> None:
    assert removed(code) == code.replace("§", "")


@pytest.mark.parametrize(
    "code",
    [
        "import gc\n{}print(gc)\n",
        "import gc\n__all__ = ['gc']\n{}x\n",
        "if x:\n    import gc\n{}x\n",
        "import gc  # noqa\n{}x\n",
    ],
)
def test_an_import_stays_that_may_be_needed(code: str) -> None:
    assert removed(code.format("§gc.collect()\n")) == code.format("")


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("import gc, os\n{}os\n", "import os\nos\n"),
        ("import os, gc\n{}os\n", "import os\nos\n"),
        ("from os import path, gc\n{}path\n", "from os import path\npath\n"),
        ("from os import (\n    gc,\n    path,\n)\n{}path\n", "from os import (\n    path,\n)\npath\n"),
        ("from os import (\n    path,\n    gc,\n)\n{}path\n", "from os import (\n    path,\n)\npath\n"),
        (
            "from os import (\n    gc,  # why\n    path,\n)\n{}x\n",
            "from os import (\n    gc,  # why\n    path,\n)\nx\n",
        ),
        ("if x:\n    import gc\n    import os\n{}x\n", "if x:\n    import os\nx\n"),
    ],
)
def test_one_name_of_an_import_goes(code: str, left: str) -> None:
    assert removed(code.format("§gc.collect()\n")) == left


def test_an_import_stays_where_others_may_import_it_from() -> None:
    source = Source("a/__init__.py", "import gc\nx\ngc.collect()\n")
    assert apply(source.text, without_statement(source, 12)) == "import gc\nx\n"


def guarded(code: str) -> str:
    """The text with a guard in the `__getattr__` around what § marks."""
    source = Source("a.py", code.replace("§", ""))
    edit = guard_getattr(source, code.index("§"))
    return apply(source.text, [edit] if edit else [])


@pytest.mark.parametrize(
    ("head", "body", "test"),
    [
        ("self, name", "return getattr(§self.inner, name)", 'name.startswith("__") or name == "inner"'),
        ("me, key", "return getattr(§me._a, key, me._b)", 'key.startswith("__") or key in ("_a", "_b")'),
        ("self, name", "return self.find(§self.inner, self.__class__)", 'name.startswith("__") or name == "inner"'),
    ],
)
def test_a_guard_names_what_the_method_reads(head: str, body: str, test: str) -> None:
    lines = "class A:\n  def find(self): ...\n  def __getattr__({}):\n    '''Delegates.'''\n{}    {}\n"
    raised = f"    if {test}:\n      raise AttributeError({head.split()[-1]})\n"
    assert guarded(lines.format(head, "", body)) == lines.format(head, raised, body.replace("§", ""))


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def __getattr__(self, name): return getattr(§self.inner, name)\n",
        "class A:\n    def __getattr__(self, name):\n        return (lambda: §self.inner)()\n",
        "class A:\n    def __getattr__(self, *name):\n        return §self.inner\n",
    ],
)
def test_no_guard_where_the_method_has_another_form(code: str) -> None:
    assert guarded(code) == code.replace("§", "")
