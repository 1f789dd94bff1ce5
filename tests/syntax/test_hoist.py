"""Hoisting: the text that comes out, and that it does the same as before, and pickles."""

from __future__ import annotations

import pickle
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dllint.collect import collect
from dllint.fix import Applicability, Fix, apply
from dllint.source import Source
from dllint.syntax.hoist import hoist_lambda
from dllint.syntax.hoist_function import hoist_function
from dllint.syntax.parse import parse
from dllint.syntax.refused import Refused
from dllint.syntax.write import place_imports


def hoist(code: str) -> tuple[str, Fix | None]:
    """The text after hoisting the function marked with §, else the first lambda or nested function."""
    text = code.replace("§", "")
    source = Source("hoisted.py", text)
    tree, model = parse(source), collect(source)
    found = [item for item in model.functions if item.kind == "lambda" or (item.kind == "def" and item.parent >= 0)]
    marked = [item for item in found if item.span.start == code.find("§")]
    function = (marked or found)[0]
    move = hoist_lambda if function.kind == "lambda" else hoist_function
    try:
        fix = move(source, tree, model, function)
    except Refused:
        return text, None
    return apply(text, [*fix.edits, *place_imports(source, tree, fix.imports)]), fix


@pytest.fixture
def load() -> Iterator[Callable[[str], ModuleType]]:
    """Run a text as the module `hoisted`, so that pickle finds its functions."""

    def run(text: str) -> ModuleType:
        module = ModuleType("hoisted")
        sys.modules["hoisted"] = module
        exec(compile(text, "hoisted.py", "exec"), module.__dict__)
        return module

    yield run
    sys.modules.pop("hoisted", None)


def text(code: str) -> str:
    return textwrap.dedent(code).lstrip("\n")


SAME: dict[str, tuple[str, str]] = {
    "factory": (
        """
        from collections import defaultdict

        UNKNOWN = 1


        class Vocab:
            def __init__(self):
                self.word2id = defaultdict(lambda: UNKNOWN)


        def run():
            UNKNOWN = 5
            return Vocab().word2id["a"], Vocab().word2id
        """,
        """
        from collections import defaultdict

        UNKNOWN = 1


        def _default_word2id():
            return UNKNOWN


        class Vocab:
            def __init__(self):
                self.word2id = defaultdict(_default_word2id)


        def run():
            UNKNOWN = 5
            return Vocab().word2id["a"], Vocab().word2id
        """,
    ),
    "captures": (
        """
        def make(k, scale=2):
            offset = k * 10
            return lambda x, *more, y=1, **options: (x * scale + offset, more, y, options)


        def run():
            made = make(3)
            return made(1), made(1, 2, y=4, scale=9), made
        """,
        """
        import functools


        def _to_tuple(scale, offset, /, x, *more, y=1, **options):
            return (x * scale + offset, more, y, options)


        def make(k, scale=2):
            offset = k * 10
            return functools.partial(_to_tuple, scale, offset)


        def run():
            made = make(3)
            return made(1), made(1, 2, y=4, scale=9), made
        """,
    ),
    "existing partial, several lines": (
        """
        from functools import partial as bind


        # Batches.
        def make(keys):
            options = dict(collate_fn=lambda items: {
                key: [
                    item[key] for item in items
                ]

                for key in keys
            })
            return options["collate_fn"]


        def run():
            return make(["a"])([{"a": 1, "b": 2}]), make(("a", "b"))
        """,
        """
        from functools import partial as bind


        def _collate_to_dict(keys, items):
            return {
                key: [
                    item[key] for item in items
                ]

                for key in keys
            }


        # Batches.
        def make(keys):
            options = dict(collate_fn=bind(_collate_to_dict, keys))
            return options["collate_fn"]


        def run():
            return make(["a"])([{"a": 1, "b": 2}]), make(("a", "b"))
        """,
    ),
    "body over lines that are no deeper than the lambda": (
        """
        def run():
            made = {
                "a":
                lambda a, b: a.count(b) +
                a.count("a comment of more than eighty-eight characters is longer than lines"), "b": 1,
            }
            return made["a"]("ab", "b"), made
        """,
        """
        def _a(a, b):
            return (
                a.count(b) +
                a.count("a comment of more than eighty-eight characters is longer than lines")
            )


        def run():
            made = {
                "a": _a, "b": 1,
            }
            return made["a"]("ab", "b"), made
        """,
    ),
    "body over lines without brackets of its own": (
        """
        import functools


        def make(
            k,
        ):
            return functools.partial(
                lambda a, b:
                    a  # the first
                    + b, 1)


        def run():
            return make(1)(2), make(2)
        """,
        """
        import functools


        def _add(a, b):
            return (a  # the first
                + b)


        def make(
            k,
        ):
            return functools.partial(
                _add, 1)


        def run():
            return make(1)(2), make(2)
        """,
    ),
    "named at module level": (
        """
        import os
        double = lambda value, /, *, by=2: value * by  # twice
        def run():
            return double(4), double(4, by=3), double
        """,
        """
        import os


        def double(value, /, *, by=2):
            return value * by  # twice


        def run():
            return double(4), double(4, by=3), double
        """,
    ),
    "default argument": (
        """
        class Numbers:
            def __init__(self, clean=lambda value: value.strip("'")):
                self.clean = clean


        def run():
            return Numbers().clean("'a'"), Numbers()
        """,
        """
        def _clean(value):
            return value.strip("'")


        class Numbers:
            def __init__(self, clean=_clean):
                self.clean = clean


        def run():
            return Numbers().clean("'a'"), Numbers()
        """,
    ),
    "name taken, inside a guard": (
        """
        _collate = 1

        if __name__ == "hoisted":
            options = {"collate_fn": (lambda items: list(items))}


        def run():
            return options["collate_fn"]((1, 2)), _collate, options
        """,
        """
        _collate = 1


        def _collate_to_list(items):
            return list(items)


        if __name__ == "hoisted":
            options = {"collate_fn": _collate_to_list}


        def run():
            return options["collate_fn"]((1, 2)), _collate, options
        """,
    ),
    "import in the function around": (
        """
        def make():
            import math as m
            from operator import mul
            return lambda x: m.floor(mul(x, 1.5))


        def run():
            return make()(3), make()
        """,
        """
        def _floor(x):
            import math as m
            from operator import mul
            return m.floor(mul(x, 1.5))


        def make():
            return _floor


        def run():
            return make()(3), make()
        """,
    ),
    "bound in a branch that the lambda is in, and in with": (
        """
        import io


        def make(flag):
            if flag:
                k = 2
                with io.StringIO("ab") as stream:
                    word = stream.read()
                    return lambda x: (x, k, word)
            return flag


        def run():
            return make(True)(1), make(True)
        """,
        """
        import functools
        import io


        def _to_tuple(k, word, x):
            return (x, k, word)


        def make(flag):
            if flag:
                k = 2
                with io.StringIO("ab") as stream:
                    word = stream.read()
                    return functools.partial(_to_tuple, k, word)
            return flag


        def run():
            return make(True)(1), make(True)
        """,
    ),
    "tabs": (
        "def make(k):\n\tdef run():\n\t\treturn (§lambda: k)(), 1\n\treturn run\n\n\nrun = make(3)\n",
        "import functools\n\n\ndef _always_k(k):\n\treturn k\n\n\ndef make(k):\n\tdef run():\n"
        "\t\treturn (functools.partial(_always_k, k))(), 1\n\treturn run\n\n\nrun = make(3)\n",
    ),
    "nested function with captures that calls itself": (
        """
        def make(k):
            def total(items):
                return k + total(items[1:]) if items else 0
            return total


        def run():
            return make(2)([1, 2, 3]), make(2)
        """,
        """
        import functools


        def _total(k, items):
            return k + _total(k, items[1:]) if items else 0


        def make(k):
            return functools.partial(_total, k)


        def run():
            return make(2)([1, 2, 3]), make(2)
        """,
    ),
    "nested function with defaults that its loop sets": (
        """
        def make(scale):
            made = []
            for size in (1, 2):
                def enlarge(x, size=size, more: int = size, *, least=0):
                    return max(least, x * size * scale + more)
                made.append(enlarge)
            return made


        def run():
            return [one(3) for one in make(5)], make(5)
        """,
        """
        import functools


        def _enlarge(scale, x, size, more: int, *, least=0):
            return max(least, x * size * scale + more)


        def make(scale):
            made = []
            for size in (1, 2):
                made.append(functools.partial(_enlarge, scale, size=size, more=size))
            return made


        def run():
            return [one(3) for one in make(5)], make(5)
        """,
    ),
    "nested function whose default changes before its use": (
        """
        def make(k):
            def enlarge(x, k=k):
                return x + k
            k = 9
            return enlarge, k


        def run():
            return make(1)[0](2), make(1)[0]
        """,
        """
        import functools


        def _enlarge(x, k):
            return x + k


        def make(k):
            enlarge = functools.partial(_enlarge, k=k)
            k = 9
            return enlarge, k


        def run():
            return make(1)[0](2), make(1)[0]
        """,
    ),
    "nested function keeps its name": (
        '''
        import os


        def make():
            """Makes."""

            # Adds up,
            # slowly.
            def collate(items: list, *, start=0):
                """Doc
              moves along."""
                if len(items) > 1:
                    return items[0] + collate(items[1:], start=start)

                # one left
                return items[0] + start  # done
                # really

            first = collate
            return first


        def run():
            return make()([1, 2, 3], start=1), make().__doc__.split(), make()
        ''',
        '''
        import os


        # Adds up,
        # slowly.
        def collate(items: list, *, start=0):
            """Doc
          moves along."""
            if len(items) > 1:
                return items[0] + collate(items[1:], start=start)

            # one left
            return items[0] + start  # done
            # really


        def make():
            """Makes."""

            first = collate
            return first


        def run():
            return make()([1, 2, 3], start=1), make().__doc__.split(), make()
        ''',
    ),
    "nested function with captures": (
        """
        class Loader:
            def collate_fn(self, scale):
                def collate(
                    items,
                ):
                    def one(item):
                        return item * scale

                    return [one(item) for item in items]

                return collate


        def run():
            return Loader().collate_fn(2)([1, 2]), Loader().collate_fn(3)
        """,
        """
        import functools


        def _collate(
            scale,
            items,
        ):
            def one(item):
                return item * scale

            return [one(item) for item in items]


        class Loader:
            def collate_fn(self, scale):
                return functools.partial(_collate, scale)


        def run():
            return Loader().collate_fn(2)([1, 2]), Loader().collate_fn(3)
        """,
    ),
    "nested function that declares a variable of the module and never uses it": (
        """
        def make(scale):
            def stepped(item):
                global unused
                return item * scale

            return stepped


        def run():
            return make(3)(1), make(3)
        """,
        """
        import functools


        def _stepped(scale, item):
            global unused
            return item * scale


        def make(scale):
            return functools.partial(_stepped, scale)


        def run():
            return make(3)(1), make(3)
        """,
    ),
    "nested function whose name is taken": (
        """
        def collate(items):
            return items


        def make():
            def collate(items): return items[::-1]
            return collate


        def run():
            return make()([1, 2]), collate([1, 2]), make()
        """,
        """
        def collate(items):
            return items


        def _collate(items): return items[::-1]


        def make():
            return _collate


        def run():
            return make()([1, 2]), collate([1, 2]), make()
        """,
    ),
    "nested generator with an import around": (
        """
        def make():
            import math

            def numbers(items):
                "Floors."
                for item in items:
                    yield math.floor(item)

            return numbers


        def run():
            return list(make()([1.5, 2.5])), make()
        """,
        """
        def numbers(items):
            "Floors."
            import math

            for item in items:
                yield math.floor(item)


        def make():
            return numbers


        def run():
            return list(make()([1.5, 2.5])), make()
        """,
    ),
}


@pytest.mark.parametrize(("before", "after"), SAME.values(), ids=SAME)
def test_the_text_is_as_expected_and_does_the_same_and_pickles(
    before: str, after: str, load: Callable[[str], ModuleType]
) -> None:
    result, fix = hoist(text(before))
    before, after = text(before).replace("§", ""), text(after)
    assert fix is not None
    assert result == after
    *expected, _ = load(before).run()
    *values, _ = load(result).run()
    assert values == expected
    if "run():\n\t" not in before:
        with pytest.raises((AttributeError, pickle.PicklingError)):
            pickle.dumps(load(before).run()[-1])
    module = load(result)
    copy = pickle.loads(pickle.dumps(module.run()[-1]))
    assert type(copy) is type(module.run()[-1])


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_the_files_newlines_are_kept(newline: str) -> None:
    before = text(SAME["nested function with captures"][0]).replace("\n", newline)
    assert hoist(before)[0] == text(SAME["nested function with captures"][1]).replace("\n", newline)


GUARD = 'if __name__ == "__main__":'


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ("args=(1,)", "target=_work, args=(size, 1)"),
        ("args=(1, 2)", "target=_work, args=(size, 1, 2)"),
        ("args=()", "target=_work, args=(size,)"),
        ("args=[1] + list(more)", "target=_work, args=[size, 1] + list(more)"),
        ("args=more", "target=functools.partial(_work, size), args=more"),
        ("args=(1,), **more", "target=functools.partial(_work, size), args=(1,), **more"),
    ],
)
def test_a_process_is_given_what_its_target_captures(given: str, after: str) -> None:
    code = f"def run(size, more):\n    def work(*all):\n        return size\n    mp.Process(target=work, {given})\n"
    result, fix = hoist(code)
    assert fix is not None
    assert f"mp.Process({after})\n" in result
    assert ("import functools" in result) == ("partial" in after)


def test_what_the_main_program_binds_is_filled_in() -> None:
    before = f"{GUARD}\n    import torch\n    k = 2\n    f = g(lambda x: torch.stack(x) * k)\n"
    after = (
        "import functools\n\n\ndef _stack_multiply(k, x):\n    import torch\n    return torch.stack(x) * k\n\n\n"
        f"{GUARD}\n    import torch\n    k = 2\n    f = g(functools.partial(_stack_multiply, k))\n"
    )
    assert hoist(before)[0] == after
    before = f"def main():\n    return §lambda x: x * k\n\n\n{GUARD}\n    k = 2\n    main()\n"
    assert "return functools.partial(_multiply, k)\n" in hoist(before)[0]


def test_a_function_that_is_there_is_used() -> None:
    head = "import torch\n\n\ndef {}(x):\n    return torch.stack(x)\n\n\n"
    assert hoist(head.format("_f") + "y = f(lambda x: torch.stack(x))\n")[0] == head.format("_f") + "y = f(_f)\n"


@pytest.mark.parametrize(
    "other", ["x: torch.cat(x)", "z: torch.stack(x)", "x, y: torch.stack(x)", "*x: torch.stack(x)"]
)
def test_a_function_that_is_nearly_there_is_not(other: str) -> None:
    code = f"import torch\n\n\ndef _f(x):\n    return torch.stack(x)\n\n\ny = f(lambda {other})\n"
    assert "\ny = f(_f)" not in hoist(code)[0]


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("def f(k):\n    def g(): return k\n    h(g)\n    return g\n", True),
        ("def f(k):\n    def g(): return k\n    return [g for _ in k]\n", True),
        ("def f(k):\n    def g(): return k\n    return lambda: g\n", True),
        ("def f(k):\n    def g(): return k\n    for _ in k: h(g)\n", True),
        ("def f(k):\n    if k:\n        def g(): return k\n    return g\n", True),
        ("def f(k):\n    def g(): return k\n    return h(x=g)\n", False),
        ("def f(k):\n    for _ in k:\n        def g(): return _ and k\n        h(x=g)\n", True),
        ("def f(k):\n    if k:\n        h()\n        def g(): return k\n    else: g = 1\n    return g\n", True),
    ],
)
def test_the_old_name_goes_where_it_is_used_once(code: str, kept: bool) -> None:
    result, fix = hoist(code)
    if fix is None:
        assert kept
    else:
        assert ("g = functools.partial(_g, k)" in result) == kept


def test_one_level_of_indentation_is_the_files_first() -> None:
    code = "def f():\n\n  if x:\n    pass\n  return lambda: 1\n"
    assert "def _always_1():\n  return 1\n" in hoist(code)[0]


def test_a_string_in_place_of_a_comment_stays_with_its_class() -> None:
    code = '"""Doc."""\nx = 1\n\n"""About A."""\nclass A:\n    f = staticmethod(lambda: 1)\n'
    assert '\n\n\n"""About A."""\nclass A:' in hoist(code)[0]


REFUSED = {
    "self": "class A:\n    def f(self):\n        self.g = lambda: self.x\n",
    "loop variable": "def f():\n    for i in range(3):\n        yield lambda: i\n",
    "bound in the same loop": "def f():\n    while True:\n        k = g()\n        yield lambda: k\n",
    "comprehension variable": "def f():\n    return [lambda: i for i in range(3)]\n",
    "bound again": "def f(k):\n    g = lambda: k\n    k = 2\n    return g\n",
    "augmented": "def f(k):\n    g = lambda: k\n    k += 2\n    return g\n",
    "deleted": "def f(k):\n    g = lambda: k\n    del k\n    return g\n",
    "bound only after": "def f():\n    g = lambda: k\n    k = 2\n    return g\n",
    "bound to itself": "def f(k):\n    k = lambda: k\n    return k\n",
    "bound in one branch": "def f(a):\n    if a:\n        k = 1\n    return lambda: k\n",
    "nonlocal elsewhere": (
        "def f(k):\n    g = lambda: k\n    def h():\n        nonlocal k\n        k = 3\n    return g, h\n"
    ),
    "local function": "def h():\n    def i(): pass\n    return §lambda: i()\n",
    "local lambda": "def f():\n    g = lambda: 1\n    return §lambda: g()\n",
    "exception": "def f():\n    try: pass\n    except E as e:\n        return lambda: e\n",
    "default of a parameter before others": "def f(k):\n    return lambda x=k, y=1: x + y\n",
    "mutable default": "f = g(lambda x=[]: x)\n",
    "walrus": "f = g(lambda x: (y := x) + y)\n",
    "yield": "f = g(lambda x: (yield x))\n",
    "super": "class A(B):\n    def f(self):\n        return lambda: super\n",
    "class cell": "class A:\n    def f(self):\n        return lambda: __class__\n",
    "mangled": "class A:\n    def f(a):\n        return lambda x: x.__private\n",
    "locals": "def f(k):\n    return lambda: locals()\n",
    "comment": "f = g(\n    lambda x,  # first\n    y: [x, y]\n)\n",
    "method of a local class": "def f(k):\n    class A:\n        g = lambda self: k\n    return A\n",
    "bound by the function outside the next": (
        "def f():\n    k = 1\n    def g():\n        return §lambda: k\n    k = 2\n    return g\n"
    ),
    "nested: writes": "def f(k):\n    def g():\n        nonlocal k\n        k = 1\n    return g\n",
    "nested: writes a global": "def f(k):\n    def g():\n        global x\n        x = 1\n    return g\n",
    "nested: decorated": "def f(k):\n    @d\n    def g():\n        return 1\n    return g\n",
    "nested: recursion by name with captures": (
        "def f(k):\n    def g(n):\n        return k and map(g, n)\n    return g\n"
    ),
    "nested: recursion with kept defaults": (
        "def f(k):\n    def g(n, m=k):\n        return n and g(n - m)\n    return g\n"
    ),
    "nested: default that is created": "def f():\n    def g(n, m=[]):\n        return n, m\n    return g\n",
    "nested: default in front of another": "def f(k):\n    def g(n=1, m=k):\n        return n, m\n    return g\n",
    "nested: later annotation": "def f():\n    def g(x: Later): pass\n    return g\n\n\nclass Later: pass\n",
    "nested: attribute": "def f():\n    def g(): pass\n    g.x = 1\n    return g\n",
    "nested: self": "class A:\n    def f(self):\n        def g():\n            return self.x\n        return g\n",
    "nested: written later": (
        "def f(function):\n    def g():\n        return function()\n    function = 1\n    return g\n"
    ),
    "changed by the main program": (
        "scale = 1\ndef init(k):\n    global scale\n    scale = k\n\nf = g(§lambda x: x * scale)\n"
    ),
    "changed for what it calls": (
        "scale = 1\ndef init(k):\n    global scale\n    scale = k\ndef h(x): return x * scale\nf = g(§lambda x: h(x))\n"
    ),
    "bound by nobody seen here": "def init():\n    globals()['scale'] = 1\n\nf = g(lambda x: x * scale)\n",
    "defined under the guard": f"{GUARD}\n    def h(): pass\n    f = g(§lambda: h())\n",
    "bound twice, once under the guard": f"k = 1\n{GUARD}\n    k = 2\n    f = g(lambda: k)\n",
    "bound under the guard, for what it calls": (f"def h(): return k\n{GUARD}\n    k = 2\n    f = g(§lambda: h())\n"),
    "bound later under the guard": f"{GUARD}\n    f = g(lambda: k)\n    k = 2\n",
    "nested: changed by the main program": (
        "def init(k):\n    global scale\n    scale = k\n\ndef f():\n    §def g(): return scale\n    return g\n"
    ),
    "unfaithful": "\fimport a\nf = g(lambda: 1)\n",
}


@pytest.mark.parametrize("code", REFUSED.values(), ids=REFUSED)
def test_refused_rather_than_wrong(code: str) -> None:
    assert hoist(code) == (code.replace("§", ""), None)


def trust(code: str) -> Any:
    fix = hoist(code)[1]
    return fix and fix.applicability


def test_partial_is_unsafe_and_a_plain_move_of_a_lambda_is_safe() -> None:
    assert trust("f = g(lambda: 1)\n") is Applicability.SAFE
    assert trust("def f(k):\n    return lambda: k\n") is Applicability.UNSAFE
    assert trust("def f():\n    def g(): pass\n    return g\n") is Applicability.UNSAFE


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("self.word2id = defaultdict(lambda: 1)", "_default_word2id"),
        ("x = collections.defaultdict(lambda: 1)", "_default_x"),
        ("f(defaultdict(lambda: 1))", "_default_value"),
        ("f(collate_fn=lambda x: zip(x))", "_collate_zip"),
        ("f(collate_fn=lambda x: x)", "_identity"),
        ("f(collate_fn=lambda x: list(x))", "_collate_to_list"),
        ("f(collate_fn=lambda x: x[0])", "_collate_first_only"),
        ("f(collate_fn=lambda x: list(zip(*x)))", "_collate_zipped"),
        ("f(collate_fn=lambda x: pad_collate(x, 1))", "_pad_collate"),
        ("f(collate_fn=lambda x: x if x else 1)", "_collate"),
        ("f(worker_init_fn=partial(lambda: 1))", "_init_worker"),
        ("f(worker_init_fn=lambda x: np.random.seed(x))", "_seed_worker"),
        ("options['collate_fn'] = lambda x: x or 1", "_collate"),
        ("options = {'a': 1, 'key fn': [lambda: 1]}", "_always_1"),
        ("self.get_label = lambda: 1", "_label"),
        ("f(clean=lambda x: x + 1)", "_clean"),
        ("f(func=lambda x: x + 1)", "_add_1"),
        ("f(transform=lambda x: x.float())", "_to_float"),
        ("f(target_transform=lambda y: y - 1)", "_subtract_1"),
        ("f(target_transform=lambda y: y if y else 0)", "_target_transform"),
        ("f(transform=lambda image: image if image else 0)", "_process_image"),
        ("f([Lambda(lambda x: x)])", "_identity"),
        ("f(lambda x: x * 1e2)", "_multiply_by_100"),
        ("f(lambda x: 2 * x)", "_multiply_by_2"),
        ("f(lambda x: x / 255.)", "_divide_by_255"),
        ("f(lambda x: (x - mean) / std)", "_subtract_mean_divide_by_std"),
        ("f(lambda x, a=None, b=None: (x / std, a, b))", "_divide_by_std"),
        ("f(lambda x, a=None: (x / std, a))", "_to_pair"),
        ("f(lambda x: x > 0)", "_is_above_0"),
        ("f(lambda x: x is not None)", "_is_not_none"),
        ("f(lambda x: x['label'])", "_label_of"),
        ("f(lambda x: x.label)", "_label_of"),
        ("f(lambda x: x[1])", "_second"),
        ("f(lambda x: x[:3])", "_select"),
        ("f(lambda x: table[x])", "_look_up_table"),
        ("f(lambda x: x.resize((256, 256)))", "_resize_to_256"),
        ("f(lambda x: x.convert('RGB'))", "_convert_to_rgb"),
        ("f(lambda x: x.astype(np.float32))", "_to_float32"),
        ("f(lambda x: ToTensor()(x))", "_to_tensor"),
        ("f(lambda crops: torch.stack([ToTensor()(crop) for crop in crops]))", "_to_tensor_and_stack"),
        ("f(lambda x: os.path.join(root, x))", "_path_of"),
        ("f(lambda x: x // 2)", "_halve"),
        ("f(lambda x: x.convert('RGB') if x.mode != 'RGB' else x)", "_convert_to_rgb"),
        ("f(lambda x: table.from_rows(x))", "_table_from_rows"),
        ("f(lambda x: x.mul_(255))", "_multiply_by_255"),
        ("f(lambda x: Image.open(x).convert('RGB'))", "_load_rgb"),
        ("f(lambda x: Image.open(x).resize(mean))", "_load_image"),
        ("f(lambda x: np.load(x).astype(np.float32))", "_load"),
        ("f(lambda x: x.view(3, 1024).t())", "_transpose_3x1024"),
        ("f(lambda x: x.view(1, -1).t())", "_reshape"),
        ("f(lambda x: pad(x.unsqueeze(0), (4, 4), mode='reflect').squeeze())", "_reflect_pad"),
        ("f(lambda x: x.mean(0).item())", "_mean"),
        ("f(lambda x: int(class_to_idx[x]))", "_class_to_idx"),
        ("f(lambda x: labels[x])", "_label_of"),
        ("f(lambda x: label_list[x])", "_label_of"),
        ("f(lambda x, k=labels: int(k[x]))", "_label_of"),
        ("f(lambda x, k=labels[0]: x - k)", "_subtract_first_label"),
        ("f(target_transform=lambda y: y + std * mean)", "_target_transform"),
        ("f(transform=lambda y, k=std: y + k * mean)", "_transform"),
        ("f(transform=lambda y: y[list(mean)] / 39)", "_transform"),
        ("f(transform=lambda y, k=2: k[y])", "_transform"),
        ("f(lambda x: x.reshape(1, -1))", "_reshape"),
        ("f(lambda x: x.reshape((1, mean, mean)))", "_reshape"),
        ("f(lambda x: x + 0.001 * torch.randn_like(x))", "_add_noise"),
        ("f(lambda x: x.endswith('.png'))", "_ends_with_png"),
        ("f(filter=lambda x: x.expand(3, -1))", "_expand_to_3"),
        ("f(filter=lambda x: x.expand(-1, 3))", "_expand"),
        ("f(filter=lambda x: np.floor(x / 2**3) / 2**5)", "_quantize"),
        ("self.check = lambda _, __: False", "_always_false"),
        ("f(lambda x: x.resize((224, 224), Image.NEAREST))", "_resize_nearest"),
        ("a.env_fn = lambda: pad_collate(table)", "_make_env"),
        ("self._create_env = lambda: pad_collate(table)", "_create_env"),
        ("default_transform = Compose([lambda x: x.expand(3)])", "_expand"),
        ("f(lambda x: (x, 1))", "_to_pair"),
        ("f(lambda x: dict(image=pad(x['image']), label=x['label']))", "_apply_pad"),
        ("f(lambda x: {'image': pad(x['image']), 'label': x['label']})", "_apply_pad"),
        ("f(lambda x: dict(image=x, size=len(x)))", "_to_dict"),
        ("f(lambda: None)", "_none"),
        ("steps = [lambda x: x.repeat(3)]", "_repeat"),
        ("steps = [lambda x: x if x else 1]", "_steps"),
        ("f([lambda x: [x]])", "_to_list"),
        ("f(lambda x: x._f(1))", "_f"),
        ("def f(a, clean=lambda: 1, *, b=2): pass", "_clean"),
        ("def f(a, *, c, clean=lambda: 1): pass", "_clean"),
        ("self._private = lambda: 1", "_private"),
        ("self.__class__ = lambda: 1", "_class"),
        ("f({'Magpie_Align_Something_Long_Filtered': lambda x: x + 1})", "_add_1"),
    ],
)
def test_names_come_from_the_place(code: str, name: str) -> None:
    head = "import os, torch, numpy as np\nfrom x import pad_collate, root, mean, std, table, ToTensor\n"
    head += "from x import Image, class_to_idx, label_list, labels, pad\n"
    fix = hoist(f"{head}{code}\n")[1]
    assert fix is not None
    assert fix.defines == (name,)


def test_the_second_of_two_alike_is_told_apart() -> None:
    once = hoist("a.sampler = lambda x: x + 1\nb.sampler = lambda x: 2 * x\n")[0]
    twice = hoist(once)[0]
    assert "a.sampler = _sampler\n" in twice
    assert "b.sampler = _multiply_by_2\n" in twice
    same = hoist("a.f = lambda x: x\nb.f = lambda y: y\n")[0]
    assert "b.f = _identity\n" in hoist(same)[0]


@pytest.mark.parametrize(
    "choice",
    [
        "f = (x.map(lambda a: a + 1) if lazy else x.map(add))\n",
        "if lazy:\n    f = x.map(lambda a: a + 1)\nelse:\n    f = x.map(add)\n",
    ],
)
def test_a_choice_between_a_lambda_and_the_same_function_stays_one(choice: str) -> None:
    assert hoist("def add(a):\n    return a + 1\n\n\n" + choice)[1] is None
    assert hoist("def add(a):\n    return a + 1\n\n\n" + choice.replace("(add)", "(add, 2)"))[1] is not None


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("class A:\n    def f(self):\n        return lambda: str(self)\n", "it reads `self`, and the whole object"),
        ("class A:\n    def f(self):\n        return lambda: self.k\n", "`self.k` may change after this line, or be a"),
        ("def f():\n    def g(): pass\n    return §lambda: g\n", "it uses `g`, which is local, too"),
        ("def f(k):\n    g = lambda: k\n    k = 2\n    return g\n", "`k` may still change after this line"),
        ("def f():\n    return [lambda: i for i in range(3)]\n", "`i` changes with every round of the loop"),
        ("def f():\n    g = lambda: 1\n    return §lambda: g\n", "it uses `g`, which is a `lambda` itself"),
        ("f = g(lambda x: (yield x))\n", "it assigns, yields or awaits"),
        ("def f(k):\n    return lambda: locals()\n", "`locals` means something else outside"),
        ("def f(k):\n    @d\n    def g():\n        return 1\n    return g\n", "what its decorator makes of it"),
    ],
)
def test_a_refusal_says_what_stands_in_the_way(code: str, why: str) -> None:
    source = Source("hoisted.py", code.replace("§", ""))
    model = collect(source)
    start = code.find("§")
    functions = [item for item in model.functions if item.kind == "lambda" or item.parent >= 0]
    function = next((item for item in functions if item.span.start == start), functions[0])
    move = hoist_lambda if function.kind == "lambda" else hoist_function
    with pytest.raises(Refused) as refused:
        move(source, parse(source), model, function)
    assert why in str(refused.value)


def test_another_part_that_is_set_does_not_keep_a_part_from_being_filled_in(load: Callable[[str], ModuleType]) -> None:
    head = "def build(args):\n    args.size = 3\n"
    text, _ = hoist(f"{head}    return lambda x: x + args.by\n")
    assert "partial(_add_by, args.by)" in text
    made = load(text).build(SimpleNamespace(by=2))
    assert pickle.loads(pickle.dumps(made))(1) == 3
    text, _ = hoist(f"{head}    made = lambda x: x + args.by\n    args.by = 5\n    return made\n")
    assert ", args)" in text
    assert load(text).build(SimpleNamespace(by=2))(1) == 6


def test_an_item_of_a_table_goes_by_what_it_does_with_the_key() -> None:
    head = "import torch\n\n\ndef _add_noise(x):\n    return x\n\n\n"
    _, fix = hoist(f"{head}steps = {{'faces': [lambda x: x + torch.rand_like(x)]}}\n")
    assert fix is not None
    assert fix.defines == ("_faces_add_noise",)


def test_alternatives_go_by_what_they_do() -> None:
    code = "class A:\n    def __init__(self, much):\n        if much:\n            self.change = lambda x: x * 2\n"
    _, fix = hoist(f"{code}        else:\n            self.change = lambda x: x * 3\n")
    assert fix is not None
    assert fix.defines == ("_multiply_by_2",)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "    for i in range(2):\n        mp.Process(target=work, args=(i,)).start()\n",
            "    for i in range(2):\n        mp.Process(target=_work, args=(size, i)).start()\n",
        ),
        (
            "    return [mp.Process(target=work, args=[i, more]) for i in range(2)]\n",
            "    return [mp.Process(target=_work, args=[size, i, more]) for i in range(2)]\n",
        ),
        ("    return mp.Process(target=work)\n", "    return mp.Process(target=_work, args=(size,))\n"),
        (
            "    return mp.Process(\n        target=work,\n        daemon=True,\n    )\n",
            "    return mp.Process(\n        target=_work,\n        args=(size,),\n        daemon=True,\n    )\n",
        ),
        (
            "    return [mp.Process(target=work, args=(size,)) for size in range(2)]\n",
            "    work = functools.partial(_work, size)\n\n"
            "    return [mp.Process(target=work, args=(size,)) for size in range(2)]\n",
        ),
    ],
)
def test_processes_of_a_loop_are_given_what_their_target_captures(before: str, after: str) -> None:
    head = "import functools\n\n\n"
    code = f"{head}def run(size, more):\n    print(more)\n\n    def work(*all):\n        return size, all\n\n{before}"
    made = f"{head}def _work(size, *all):\n    return size, all\n\n\ndef run(size, more):\n    print(more)\n\n{after}"
    assert hoist(code)[0] == made


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n    def work(x):\n        return x\n\n    use(work)\n", "    use(work)\n"),
        ("    a = 1\n    def work(x):\n        return x\n\n    use(work)\n", "    a = 1\n\n    use(work)\n"),
        ("    a = 1\n\n    def work(x):\n        return x\n    use(work)\n", "    a = 1\n\n    use(work)\n"),
        ("    # one\n\n    def work(x):\n        return x\n\n    use(work)\n", "    # one\n\n    use(work)\n"),
        (
            "    '''Text.'''\n\n    def work(x):\n        return x\n\n    use(work)\n",
            "    '''Text.'''\n\n    use(work)\n",
        ),
    ],
)
def test_the_empty_lines_around_go_along(before: str, after: str) -> None:
    assert hoist(f"def run():\n{before}")[0] == f"def work(x):\n    return x\n\n\ndef run():\n{after}"


@pytest.mark.parametrize(
    ("head", "made", "parameter", "imported"),
    [
        ("from typing import Any\n", "clean = make(much)", "clean: Callable", "from typing import Any, Callable\n"),
        ("from typing import Any, Callable\n", "clean = make(much)", "clean: Callable", ""),
        ("from collections.abc import Callable\n", "clean = make(much)", "clean: Callable", ""),
        ("import typing\n", "clean = make(much)", "clean", ""),
        ("from typing import Any\n\nCallable = 1\n", "clean = make(much)", "clean", ""),
        ("from typing import Any\n", "clean: Any = make(much)", "clean: Any", ""),
        ("from typing import Any\n", "clean = make(much)\n    clean.strict = True", "clean: Callable", None),
    ],
)
def test_a_captured_variable_has_the_annotation_that_is_sure(
    head: str, made: str, parameter: str, imported: str | None, load: Callable[[str], ModuleType]
) -> None:
    code = f"{head}\n\ndef make(much):\n    return abs\n\n\ndef run(much):\n    {made}\n"
    code += "    def work(x: int) -> int:\n        return clean(x)\n    return work\n"
    result, fix = hoist(code)
    assert fix is not None
    assert f"def _work({parameter}, x: int) -> int:\n" in result
    assert imported is None or imported in result
    if "strict" not in code:
        assert pickle.loads(pickle.dumps(load(result).run(1)))(-2) == 2


def test_a_captured_variable_that_is_not_only_called_has_no_annotation() -> None:
    code = "from typing import Any\n\n\ndef run(much):\n    clean = make(much)\n    def work(x: Any) -> Any:\n"
    result, _ = hoist(f"{code}        return clean(x) + clean.size\n    return work\n")
    assert "def _work(clean, x: Any) -> Any:\n" in result
    assert "Callable" not in result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f = g or (lambda x: x + k)", "f = g or _f"),
        ("f = ( lambda x: x + k ) if g else None", "f = _f if g else None"),
        ("f = {'a': (lambda x: x + k)}", "f = {'a': _f}"),
        ("f = g(a=(lambda x: x + k))", "f = g(a=_f)"),
        ("f = (§lambda x: x + k)(1)", "f = _f(1)"),
        ("f = g(h or (\n    lambda x: x + k\n))", "f = g(h or (\n    _f\n))"),
    ],
)
def test_parentheses_that_only_a_lambda_needs_go_with_it(before: str, after: str) -> None:
    result, _ = hoist(f"k = 1\n{before}\n")
    statement = result[result.rindex("\nf = ") + 1 :].rstrip("\n")
    assert re.sub(r"\b_\w+", "_f", statement) == after
