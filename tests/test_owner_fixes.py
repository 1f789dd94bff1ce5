"""Functions that read attributes of `self`: what `functools.partial` fills in, and where the value would be stale."""

from __future__ import annotations

import importlib.util
import os
import re

import pytest
from dllint_rules.pickling.dll103_lambda_to_loader import LambdaToLoader
from dllint_rules.pickling.dll104_local_function_shipped import LocalFunctionShipped

from dllint import Applicability, Fix, Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports
from dllint.testing.expectations import METHODS
from tests import claims

HEAD = """\
from torch.utils.data import DataLoader


def pad(rows, size=1, *, fill=0):
    return [[*row, *[fill] * size][:size] for row in rows]


"""
GIVEN = """\
class Feeder:
    def __init__(self, rows, size):
        self.rows = rows
        self.size = size

    def loader(self):
        return DataLoader(self.rows, num_workers=2, collate_fn={})
"""
LOCAL = """\
class Feeder:
    def __init__(self, rows, size):
        self.rows = rows
        self.size = size
        self._fill = 7

    def loader(self):
        def gather(rows):
            # The longest first.
            return pad(sorted(rows, reverse=True), self.size, fill=self._fill)

        return DataLoader(self.rows, num_workers=2, collate_fn=gather)
"""
WHOLE = """\
class Feeder:
    def __init__(self, rows, size):
        self.rows = rows
        self.size = size

    def grown(self, rows, by):
        self.size += by
        return pad(rows, self.size)

    def loader(self, by=0):
        fill = 7

        # The longest first.
        def gather(rows, **more):
            return self.grown(sorted(rows, reverse=True), by, **more) + [fill]

        return DataLoader(self.rows, num_workers=2, collate_fn=gather)

    def more(self):
        return self.loader(1)
"""
MAIN = """

if __name__ == "__main__":
    print([list(batch) for batch in Feeder([[1], [2, 3]], 2).loader()])
"""


def fix_of(code: str, other: str = "") -> tuple[str, Fix]:
    """The file with the fix of its first finding, and the fix."""
    sources = {"a.py": Source("a.py", code), **({"b.py": Source("b.py", other)} if other else {})}
    project = Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)
    for rule in (LambdaToLoader(), LocalFunctionShipped()):
        for finding in sorted(rule.check(project), key=lambda finding: finding.span):
            fix = rule.fix(finding, project)
            assert fix is not None
            return applied(sources["a.py"], fix), fix
    raise AssertionError("no finding")


def applied(source: Source, fix: Fix) -> str:
    if fix.applicability is Applicability.MANUAL:
        return source.text
    return apply(source.text, [*fix.edits, *place_imports(source, parse(source), fix.imports)])


def on_one_line(text: str) -> str:
    """The text with what is in brackets that end a line beside them."""
    return re.sub(r"\(\n +(.*)\n +\)", r"(\1)", text)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("lambda rows: pad(rows, size=self.size)", "functools.partial(pad, size=self.size)"),
        ("lambda rows: pad(rows, self.size)", "functools.partial(pad, size=self.size)"),
        ("lambda rows: pad(rows, self.size) + [[]]", "functools.partial(_collate_pad_add, self.size)"),
        ("lambda rows, size=0: pad(rows, self.size) + size", "functools.partial(_collate_pad_add_size, self.size)"),
        ("lambda rows: pad(rows, self.size.bit_length())", "functools.partial(_collate_pad, self.size)"),
        ("lambda rows: pad(rows, self.rows[0])", "functools.partial(_collate_pad, self.rows)"),
    ],
)
def test_attributes_that_init_sets_are_filled_in(given: str, expected: str) -> None:
    result, fix = fix_of(HEAD + GIVEN.format(given))
    assert f"collate_fn={expected})\n" in on_one_line(result)
    assert fix.applicability is Applicability.UNSAFE
    assert result.startswith("import functools\n")
    assert "self" not in result[: result.index("class Feeder")]


def test_a_nested_function_gets_them_as_parameters() -> None:
    result, fix = fix_of(HEAD + LOCAL)
    assert "def _gather(size, fill, rows):\n    # The longest first.\n" in result
    assert "    return pad(sorted(rows, reverse=True), size, fill=fill)\n" in result
    assert on_one_line(result).endswith("collate_fn=functools.partial(_gather, self.size, self._fill))\n")
    assert fix.applicability is Applicability.UNSAFE


def test_a_nested_function_that_needs_the_object_becomes_a_method() -> None:
    result, fix = fix_of(HEAD + WHOLE)
    assert fix.applicability is Applicability.UNSAFE
    assert on_one_line(result) == "import functools\n\n" + HEAD + WHOLE.replace(
        """
        # The longest first.
        def gather(rows, **more):
            return self.grown(sorted(rows, reverse=True), by, **more) + [fill]

        return DataLoader(self.rows, num_workers=2, collate_fn=gather)
""",
        """
        return DataLoader(self.rows, num_workers=2, collate_fn=functools.partial(self._gather, by, fill))

    # The longest first.
    def _gather(self, by, fill, /, rows, **more):
        return self.grown(sorted(rows, reverse=True), by, **more) + [fill]
""",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Feeder:", "from lightning import LightningDataModule\n\nclass Feeder(LightningDataModule):"),
        ("self.size = size", "self.size = size; self.model = make()"),
        ("    def loader(self", "    @classmethod\n    def loader(self"),
        ("fill = 7", "fill = 7; self = copy(self)"),
        ("fill = 7\n", "fill = 7\n        for fill in range(3): pass\n"),
        ("(rows, reverse=True)", "(rows, key=gather)"),
        ("rows, **more", "rows: list, **more"),
        ("fill = 7", "fill = self._gather, self._loader_gather"),
    ],
)
def test_where_a_method_would_take_more_along_or_mean_something_else(old: str, new: str) -> None:
    code = HEAD + WHOLE.replace("**more)", "**more)").replace(old, new, 1)
    code = code.replace("def more(self)", "list = 0\n\n    def more(self)")
    result, fix = fix_of(code)
    assert (result, fix.applicability) == (code, Applicability.MANUAL)


def test_a_method_is_told_apart_from_those_of_relatives() -> None:
    derived = "from a import Feeder\n\nclass Wide(Feeder):\n    def _gather(self): return 3\n"
    nested = "from a import Feeder\n\nclass Wide(Feeder):\n    def f(self):\n        def gather(): return self\n"
    plain = nested.replace("return self", "return 3")
    for other, name in ((derived, "_loader_gather"), (nested, "_loader_gather"), (plain, "_gather")):
        assert f"    def {name}(self, by, fill, /, rows, **more):\n" in fix_of(HEAD + WHOLE, other)[0]


def test_a_name_that_is_a_builtin_gets_an_underscore() -> None:
    code = HEAD + GIVEN.replace("size", "max").format("lambda rows: pad(rows, self.max) + [[]]")
    assert "def _collate_pad_add(max_, rows):\n    return pad(rows, max_) + [[]]\n" in fix_of(code)[0]


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("def grow(self):\n        self.size += 1", "`self.size` may change"),
        ("def grow(self):\n        self.size = 3", "`self.size` may change"),
        ("def grow(self):\n        setattr(self, 'size', 3)", "`self.size` may change"),
        ("def grow(self):\n        self.rows.append(1)", ""),
        ("def grow(self):\n        return self.size", ""),
    ],
)
def test_what_another_method_sets_again_is_left_alone(method: str, why: str) -> None:
    code = f"{HEAD}{GIVEN.format('lambda rows: pad(rows, self.size)')}\n    {method}\n"
    result, fix = fix_of(code)
    assert (result == code) == bool(why)
    assert why in fix.title


@pytest.mark.parametrize(
    ("inside", "fixed"),
    [
        ("self.size = 2\n        loader = §\n", True),
        ("loader = §\n        self.size = 2\n", False),
        ("for self.size in range(3):\n            yield §\n        loader = 0\n", False),
        ("for size in range(3):\n            loader = §\n            self.size = size\n", False),
        ("for size in range(3):\n            self.size = size\n        loader = §\n", True),
    ],
)
def test_the_method_itself_sets_them_before(inside: str, fixed: bool) -> None:
    made = "DataLoader(self.rows, num_workers=2, collate_fn=lambda rows: pad(rows, self.size))"
    inside = inside.replace("§", made)
    code = f"{HEAD}class Feeder:\n    def __init__(self, rows):\n        self.rows = rows\n\n"
    code += f"    def loader(self):\n        {inside}        return loader\n"
    assert (fix_of(code)[0] != code) == fixed


@pytest.mark.parametrize(
    ("first", "fixed"),
    [("self.size = None", True), ("self.size = None  # later", True), ("self.size = 0", False), ("pass", True)],
)
def test_what_one_method_sets_later_counts_where_init_leaves_it_open(first: str, fixed: bool) -> None:
    code = GIVEN.format("lambda rows: pad(rows, self.size)").replace("self.size = size", first)
    code = f"{HEAD}{code}\n    def setup(self):\n        self.size = 4\n"
    assert (fix_of(code)[0] != code) == fixed
    assert fix_of(f"{code}\n    def widen(self):\n        self.size = 9\n")[1].applicability is Applicability.MANUAL


def test_init_itself_sets_them_before() -> None:
    code = (
        f"{HEAD}class Feeder:\n    def __init__(self, rows, size):\n        §\n"
        "        self.loader = DataLoader(rows, num_workers=2, collate_fn=lambda rows: pad(rows, size=self.size))\n"
    )
    assert "functools.partial(pad, size=self.size)" in fix_of(code.replace("§", "self.size = size"))[0]
    assert fix_of(code.replace("§", "pass"))[1].applicability is Applicability.MANUAL


@pytest.mark.parametrize(
    "given",
    [
        "lambda rows: pad(rows, self)",
        "lambda rows: self.shrink(rows)[:1]",
        "lambda rows: pad(rows, self.wide)",
        "lambda rows: pad(rows, self.unknown)",
        "lambda rows: pad(rows, getattr(self, 'size'))",
        "lambda rows: (rows, f'{self.size}')",
    ],
)
def test_methods_properties_and_the_object_itself_are_left_alone(given: str) -> None:
    code = (
        f"{HEAD}{GIVEN.format(given)}\n    def shrink(self, rows):\n        return rows\n"
        "\n    @property\n    def wide(self):\n        return 2 * self.size\n"
    )
    result, fix = fix_of(code)
    assert result == code
    assert "`self`" in fix.title or "may change after this line, or be a method" in fix.title


def test_a_property_or_writer_of_another_file_counts() -> None:
    code = HEAD + GIVEN.format("lambda rows: pad(rows, self.size)")
    derived = "from a import Feeder\n\nclass Wide(Feeder):\n    @property\n    def size(self): return 3\n"
    outside = "from a import Feeder\n\nfeeder = Feeder([], 1)\nfeeder.size = 4\n"
    for other in (derived, outside):
        assert fix_of(code, other)[1].applicability is Applicability.MANUAL
    assert fix_of(code, outside.replace("feeder.size = 4", "print(feeder.size)"))[0] != code


def test_fields_and_class_attributes_count_as_set() -> None:
    given = GIVEN.format("lambda rows: pad(rows, self.size)")
    body = given[given.index("    def loader") :]
    fields = f"import dataclasses\n{HEAD}@dataclasses.dataclass\nclass Feeder:\n    rows: list\n    size: int\n\n{body}"
    assert "size=self.size" in fix_of(fields)[0]
    assert "size=self.size" in fix_of(f"{HEAD}class Feeder:\n    rows = []\n    size = 4\n\n{body}")[0]


def test_a_default_that_reads_self_stays_beside_them() -> None:
    code = LOCAL.replace("fill=self._fill)", "fill=fill)").replace("gather(rows)", "_gather(rows, fill=self._fill)")
    result, _ = fix_of(HEAD + code.replace("=gather", "=_gather"))
    assert "def _loader_gather(size, rows, fill):\n" in result
    assert "        _gather = functools.partial(_loader_gather, self.size, fill=self._fill)\n" in result


def test_a_private_function_with_a_default_that_is_made_each_time() -> None:
    code = f"{HEAD}def loader(rows, size):\n    def _gather(rows, size=size):\n        return pad(rows, size)[:1]\n\n"
    code += "    return DataLoader(rows, num_workers=2, collate_fn=_gather)\n"
    result, _ = fix_of(code)
    assert "def _gather(rows, size):\n" in result
    assert on_one_line(result).endswith("collate_fn=functools.partial(_gather, size=size))\n")


@pytest.mark.torch
@pytest.mark.skipif(os.name != "posix", reason="fork and forkserver exist on Linux and macOS only")
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed: pip install torch")
@pytest.mark.parametrize(
    ("code", "printed", "method"),
    [
        pytest.param(code, printed, method, marks=[pytest.mark.slow] if method != "spawn" else [])
        for code, printed in [
            (GIVEN.format("lambda rows: pad(rows, size=self.size)"), "[[[1, 0]], [[2, 3]]]"),
            (GIVEN.format("lambda rows: pad(rows, self.size)[::-1]"), "[[[1, 0]], [[2, 3]]]"),
            (LOCAL, "[[[1, 7]], [[2, 3]]]"),
            (WHOLE, "[[[1, 0], 7], [[2, 3], 7]]"),
        ]
        for method in METHODS
    ],
)
def test_fixed_programs_work(code: str, printed: str, method: str) -> None:
    text = fix_of(HEAD + code + MAIN)[0]
    outcome = claims.run({"main.py": text.replace("num_workers=2", "num_workers=1")}, "main.py", method)
    assert (outcome.kind, outcome.stdout.strip()) == ("ok", printed), f"{text}\n{outcome.stderr}"
