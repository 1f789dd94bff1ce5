"""Classes and named tuples moved to module level: the text that comes out, and what stays where it is."""

from __future__ import annotations

import textwrap

import pytest

from dllint.collect import collect
from dllint.fix import Applicability, apply
from dllint.source import Source
from dllint.syntax.hoist_class import hoist_class
from dllint.syntax.parse import parse
from dllint.syntax.refused import Refused


def hoist(code: str) -> str | None:
    """The text after moving the statement marked with §."""
    text = code.replace("§", "")
    source = Source("hoisted.py", text)
    model, start = collect(source), code.index("§")
    around = max(
        (item for item in model.functions if item.span.start <= start < item.span.end), key=lambda item: item.span.start
    )
    try:
        fix = hoist_class(source, parse(source), model, start, around.index)
    except Refused:
        return None
    assert fix.applicability is Applicability.UNSAFE
    result = apply(text, fix.edits)
    compile(result, "hoisted.py", "exec")
    return result


MOVED = {
    "with decorators, comments and a docstring": (
        """
        import dataclasses


        def make():
            # A pair.
            @dataclasses.dataclass
            §class Pair:
                \"""Two.

                  And no more.
                \"""

                left: int = 0
                right: int = dataclasses.field(default=1)

                def sum(self):
                    return self.left + self.right
                # The end.

            return Pair()
        """,
        """
        import dataclasses


        # A pair.
        @dataclasses.dataclass
        class Pair:
            \"""Two.

              And no more.
            \"""

            left: int = 0
            right: int = dataclasses.field(default=1)

            def sum(self):
                return self.left + self.right
            # The end.


        def make():
            return Pair()
        """,
    ),
    "with a base, itself and its parent's methods": (
        """
        class Base:
            pass


        class Maker:
            def make(self):
                §class Inner(Base):
                    kinds = ("a", "b")

                    def __init__(self):
                        super().__init__()
                        self.made = Inner.kinds

                self.inner = Inner()
                return self.inner
        """,
        """
        class Base:
            pass


        class Inner(Base):
            kinds = ("a", "b")

            def __init__(self):
                super().__init__()
                self.made = Inner.kinds


        class Maker:
            def make(self):
                self.inner = Inner()
                return self.inner
        """,
    ),
    "a named tuple below imports": (
        """
        from collections import namedtuple


        def make():
            §Pair = namedtuple("Pair", ["left", "right"])
            return Pair(1, 2)
        """,
        """
        from collections import namedtuple

        Pair = namedtuple("Pair", ["left", "right"])


        def make():
            return Pair(1, 2)
        """,
    ),
    "a named tuple below assignments": (
        """
        import collections

        SIZE = 3

        def make():
            §Pair = collections.namedtuple("Pair", "left right", defaults=(SIZE,))
            return Pair(1)
        """,
        """
        import collections

        SIZE = 3
        Pair = collections.namedtuple("Pair", "left right", defaults=(SIZE,))

        def make():
            return Pair(1)
        """,
    ),
    "a named tuple below a function": (
        """
        from collections import namedtuple
        def one():
            return 1
        def make():
            §Pair = namedtuple("Pair", "left right")
            return Pair(1, 2)
        """,
        """
        from collections import namedtuple
        def one():
            return 1


        Pair = namedtuple("Pair", "left right")


        def make():
            return Pair(1, 2)
        """,
    ),
}


@pytest.mark.parametrize("name", MOVED)
def test_the_text_is_as_expected(name: str) -> None:
    before, after = (textwrap.dedent(text).lstrip("\n") for text in MOVED[name])
    assert hoist(before) == after


@pytest.mark.parametrize(
    "body",
    [
        "def make(size):\n    §class A:\n        def f(self): return size\n    return A()\n",
        "def make(size):\n    §class A:\n        width = size\n    return A()\n",
        "def make(k):\n    §class A:\n        k = 1\n        def f(self): return k\n    return A()\n",
        "def make(base):\n    §class A(base): pass\n    return A()\n",
        "def make():\n    base = object\n    §class A(base): pass\n    return A()\n",
        "def make():\n    import abc\n    §class A(abc.ABC): pass\n    return A()\n",
        "def make():\n    from torch import nn\n    §class A:\n        def f(self): return nn\n    return A()\n",
        "def make():\n    §class A(Later): pass\n    return A()\nclass Later: pass\n",
        "def make():\n    §class A:\n        def f(self, x: Later): pass\n    return A()\nclass Later: pass\n",
        "def make():\n    §class A:\n        seed = random()\n    return A()\n",
        "def make():\n    §class A:\n        cache = {}\n    return A()\n",
        "def make():\n    §class A:\n        cache = [object()]\n    return A()\n",
        "def make():\n    §class A:\n        for i in (1, 2): pass\n    return A()\n",
        "def make():\n    §class A:\n        if True:\n            x = 1\n    return A()\n",
        "def make():\n    §class A: pass\n    A.x = 1\n    return A()\n",
        "def make():\n    §class A: pass\n    A = wrap(A)\n    return A()\n",
        "A = 1\ndef make():\n    §class A: pass\n    return A()\n",
        "from a import *\ndef make():\n    §class A: pass\n    return A()\n",
        "def other():\n    A = 1\ndef make():\n    §class A: pass\n    return A()\n",
        "def make():\n    §class A: pass\n    def f():\n        nonlocal A\n        A = 1\n    return A()\n",
        "def make():\n    global A\n    §class A: pass\n    return A()\n",
        "def make(k):\n    if k:\n        §class A: pass\n    return A()\n",
        "def make():\n    §class A: pass\n",
        "def make():\n    §class int: pass\n    return int()\n",
        "def make():\n    §class A:\n        def f(self): return locals()\n    return A()\n",
        "def make():\n    §class A:\n        def f(self):\n            global K\n            K = 1\n    return A()\n",
        "class B:\n    def f(self):\n        §class A:\n            def g(self, b): b.__x\n        return A()\n",
        "def make(k):\n    §A = namedtuple('A', k)\n    return A()\n",
        "k = 'a'\ndef make(k):\n    §A = namedtuple('A', k)\n    return A()\n",
        "def make():\n    §A = unknown('A')\n    return A()\n",
        "def make():\n    §A, B = 1, 2\n    return A\n",
    ],
)
def test_what_would_mean_something_else_stays(body: str) -> None:
    assert hoist("from collections import namedtuple\nfrom random import random\n" + body) is None


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("class inner:\n            rounds = 0\n        start = settings.start", "settings"),
        ("class inner:\n            rounds = 0\n            more = rounds\n        start = settings.start", "settings"),
        ("class inner:\n            rounds = 0\n            def more(self): return rounds", "rounds"),
        ("class inner:\n            rounds = 0\n            more = [rounds for _ in range(3)]", "rounds"),
        ("class inner:\n            rounds = 0\n            more = lambda self: rounds", "rounds"),
        ("class inner:\n            more = rounds", "rounds"),
    ],
)
def test_the_reason_names_what_is_taken_from_the_function_around(body: str, name: str) -> None:
    text = f"def make(settings):\n    class A:\n        {body}\n    for rounds in range(3): pass\n    return A()\n"
    source = Source("a.py", text)
    with pytest.raises(Refused, match=f"`{name}` of the function around it"):
        hoist_class(source, parse(source), collect(source), text.index("class A"), 0)


def test_what_a_class_inside_binds_may_go_along() -> None:
    code = "def make():\n    k = 1\n    §class A:\n        class inner:\n            k = 0\n    return A(), k\n"
    assert (hoist(code) or "").startswith("class A:\n    class inner:\n        k = 0\n\n\ndef make")


def test_the_empty_line_that_would_begin_a_body_goes_along() -> None:
    code = "def make():\n\n    §class Pair:\n        left = 0\n\n    return Pair()\n"
    assert hoist(code) == "class Pair:\n    left = 0\n\n\ndef make():\n    return Pair()\n"
