"""Writing: imports where the file's own order has them, names that are free, definitions in their place."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

from dllint.collect import collect
from dllint.fix import Edit, Import, apply
from dllint.source import Source, Span
from dllint.syntax.names import module_alias, reference
from dllint.syntax.parse import parse
from dllint.syntax.write import insertion_point, place_imports, reindent

FUNCTOOLS = Import("a.py", "functools")
PARTIAL = Import("a.py", "functools", "partial")
NUMPY = Import("a.py", "numpy", alias="np")


def added(text: str, *imports: Import, used: str = "") -> str:
    source = Source("a.py", text)
    result = apply(text, place_imports(source, parse(source), imports, text.find(used)))
    ast.parse(result)
    again = Source("a.py", result)
    assert place_imports(again, parse(again), imports, result.find(used)) == [], "they are there now"
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "import functools\n"),
        ("x = 1", "import functools\n\nx = 1"),
        ("\n\nx = 1\n", "import functools\n\n\nx = 1\n"),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\n\nimport functools\n\nx = 1\n'),
        ('"""Doc."""\n\nx = 1\n', '"""Doc."""\n\nimport functools\n\nx = 1\n'),
        ('"""Doc.\n"""', '"""Doc.\n"""\n\nimport functools\n'),
        ("#!/bin/python\n# Licence\n\nx = 1\n", "#!/bin/python\n# Licence\n\nimport functools\n\nx = 1\n"),
        ("# -*- coding: utf-8 -*-\nx = 1\n", "# -*- coding: utf-8 -*-\n\nimport functools\n\nx = 1\n"),
        (
            "from __future__ import annotations\nx = 1\n",
            "from __future__ import annotations\n\nimport functools\n\nx = 1\n",
        ),
        (
            '"""Doc."""\n\nfrom __future__ import annotations\n\nimport torch\n',
            '"""Doc."""\n\nfrom __future__ import annotations\n\nimport functools\n\nimport torch\n',
        ),
        ("import torch\nx = 1\n", "import functools\n\nimport torch\nx = 1\n"),
        ("import os\nimport sys\n\nimport torch\n", "import functools\nimport os\nimport sys\n\nimport torch\n"),
        ("import abc\nimport os\n", "import abc\nimport functools\nimport os\n"),
        ("import abc\nfrom os import path\n", "import abc\nimport functools\nfrom os import path\n"),
        ("from abc import ABC\nimport os\n", "from abc import ABC\nimport functools\nimport os\n"),
        ("import sys\nimport abc\n", "import sys\nimport abc\nimport functools\n"),
        ("import os, sys  # both\n", "import functools\nimport os, sys  # both\n"),
        ("from . import a\n", "import functools\n\nfrom . import a\n"),
        ("import abc; x = 1\ny = 2\n", "import abc; x = 1\nimport functools\ny = 2\n"),
        ("import abc\r\nx = 1\r\n", "import abc\r\nimport functools\r\nx = 1\r\n"),
        ("import abc\n# for speed\nimport torch\n", "import abc\nimport functools\n# for speed\nimport torch\n"),
        ("if x:\n    import os\n", "import functools\n\nif x:\n    import os\n"),
        ("import functools as f\n", "import functools as f\nimport functools\n"),
        ("import functools\n", "import functools\n"),
        ("def f():\n    import functools\n", "import functools\n\n\ndef f():\n    import functools\n"),
        ("import abc", "import abc\nimport functools\n"),
    ],
)
def test_a_plain_import(before: str, after: str) -> None:
    assert added(before, FUNCTOOLS) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\n\nimport torch\n", "import os\nfrom functools import partial\n\nimport torch\n"),
        ("from functools import cache\n", "from functools import cache, partial\n"),
        ("from functools import wraps\n", "from functools import partial, wraps\n"),
        ("from functools import (wraps)\n", "from functools import (partial, wraps)\n"),
        ("from functools import Cls, CONST, wraps  # c\n", "from functools import Cls, CONST, partial, wraps  # c\n"),
        (
            "from functools import (\n    cache,\n    wraps,  # w\n)\n",
            "from functools import (\n    cache,\n    partial,\n    wraps,  # w\n)\n",
        ),
        (
            "from functools import (\n    cache,  # c\n)\n",
            "from functools import (\n    cache,\n    partial,  # c\n)\n",
        ),
        ("from functools import (\n    cache\n)\n", "from functools import (\n    cache, partial\n)\n"),
        ("from functools import *\n", "from functools import *\nfrom functools import partial\n"),
        ("from functools import cache as c\n", "from functools import cache as c\nfrom functools import partial\n"),
        ("from functools import partial\n", "from functools import partial\n"),
    ],
)
def test_an_imported_name(before: str, after: str) -> None:
    assert added(before, PARTIAL) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from a.b import c\nimport zlib\n", "from a.b import c\nfrom a.x import y\nimport zlib\n"),
        (
            "import torch\nfrom a.b import c\nfrom PIL import Image\n",
            "import torch\nfrom a.b import c\nfrom a.x import y\nfrom PIL import Image\n",
        ),
        (
            "import sys\nsys.path.append('..')\nimport torch\n\nfrom a.x import z\n",
            "import sys\nsys.path.append('..')\nimport torch\n\nfrom a.x import y, z\n",
        ),
        (
            "import torch\n\nImageFile.LOAD = True\nfrom a.b import c\nfrom PIL import Image\n",
            "import torch\n\nImageFile.LOAD = True\nfrom a.b import c\nfrom a.x import y\nfrom PIL import Image\n",
        ),
        ("import torch\n\nrun()\nfrom a.b import c\n", "import torch\nfrom a.x import y\n\nrun()\nfrom a.b import c\n"),
        ("from a.x import (\n    b, z, c,\n    d\n)\n", "from a.x import (\n    b, y, z, c,\n    d\n)\n"),
        ("from a.x import (\n    z, zz\n)\n", "from a.x import (\n    y, z, zz\n)\n"),
        ("from a.x import (b, c,\n    z)\n", "from a.x import (b, c,\n    y, z)\n"),
    ],
)
def test_a_name_of_a_module_of_the_same_package(before: str, after: str) -> None:
    assert added(before, Import("a.py", "a.x", "y")) == after


@pytest.mark.parametrize(
    ("below", "after"),
    [
        ("from a.x import z\n", "from a.x import y, z\n"),
        (
            "import torch\n\nfrom a.x import (\n    z,  # z\n)\n",
            "import torch\n\nfrom a.x import (\n    y,\n    z,  # z\n)\n",
        ),
        ("def f():\n    pass\n\n\nfrom a.x import z\n", "def f():\n    pass\n\n\nfrom a.x import y, z\n"),
        ("from a.x import y\n", "from a.x import y\n"),
        ("from a.x import z as w\n", ""),
        ("from .x import z\n", ""),
        ("try:\n    from a.x import z\nexcept ImportError:\n    pass\n", ""),
        ("def f():\n    from a.x import z\n", ""),
        ("x = USE\nfrom a.x import z\n", ""),
    ],
)
def test_a_name_joins_an_import_further_down_that_is_above_its_use(below: str, after: str) -> None:
    head, tail = "import sys\n\nrun()\n", "\n\nclass A:\n    x = USE\n"
    alone = f"import sys\n\nfrom a.x import y\n\nrun()\n{below}"
    assert (
        added(head + below + tail, Import("a.py", "a.x", "y"), used="USE") == (head + after if after else alone) + tail
    )


@pytest.mark.parametrize(
    ("lines", "brought"),
    [
        ("from a.x import *\n", True),
        ("from b import *\nfrom a.x import *\n", True),
        ("run()\nfrom a.x import *\n", True),
        ("from a.x import *\nfrom b import *\n", False),
        ("from a.x import *\n\ntry:\n    from b import *\nexcept ImportError:\n    pass\n", False),
        ("from .x import *\n", False),
        ("def f():\n    import a.x\n", False),
        ("x = USE\nrun()\nfrom a.x import *\n", False),
    ],
)
def test_a_star_import_brings_a_public_name(lines: str, brought: bool) -> None:
    text = f"{lines}\n\nx = USE\n"
    assert (added(text, Import("a.py", "a.x", "y", starred=True), used="USE") == text) is brought
    assert "from a.x import y\n" in added(text, Import("a.py", "a.x", "y"), used="USE")


def test_a_name_that_is_bound_to_something_else_is_not_one_of_a_star_import() -> None:
    source = Source("a.py", "from a.x import *\n\ny = 1\n")
    with pytest.raises(ValueError, match="`y`"):
        place_imports(source, parse(source), [Import("a.py", "a.x", "y", starred=True)])


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("from a.b import c  # noqa F401 isort:skip\n", ""),
        ("from a.b import c  # isort: skip\n", ""),
        ("import a  # must be imported before torch\n", ""),
        ("# Import this first: it sets up the process.\nimport a\n", ""),
        ('"""Doc."""\n\nimport a  # keep first\nimport b  # isort:skip\n', ""),
        ("import a  # keep first\n", "\nimport torch\n"),
        ("import a  # keep first\n", "\nimport os\n\nimport torch\n"),
    ],
)
def test_what_is_said_to_be_imported_first_stays_there(first: str, rest: str) -> None:
    after = added(first + rest, NUMPY)
    assert after.startswith(first)
    assert after.index("import numpy") < after.find("import torch") or "torch" not in rest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\nimport torch\n", "import os\nimport torch\nfrom data.rows import Rows\n"),
        (
            "import os\n\nimport numpy as np\nimport torch\n\n\nclass A:\n    pass\n",
            "import os\n\nimport numpy as np\nimport torch\n\nfrom data.rows import Rows\n\n\nclass A:\n    pass\n",
        ),
        (
            "import torch\nfrom tqdm import tqdm\nimport os\n",
            "import torch\nfrom tqdm import tqdm\nimport os\nfrom data.rows import Rows\n",
        ),
        ("import data.io\nimport torch\n", "import data.io\nimport torch\nfrom data.rows import Rows\n"),
        (
            "import torch\n\nimport data.io\nimport util\n",
            "import torch\n\nimport data.io\nimport util\nfrom data.rows import Rows\n",
        ),
        (
            "import torch\n\nfrom .io import read\n",
            "import torch\n\nfrom data.rows import Rows\nfrom .io import read\n",
        ),
    ],
)
def test_the_projects_own_modules_are_below_other_packages(before: str, after: str) -> None:
    assert added(before, Import("a.py", "data.rows", "Rows", own=True)) == after


def test_several_imports_at_once() -> None:
    assert added("import os\nx = 1\n", NUMPY, PARTIAL, FUNCTOOLS, Import("a.py", "torch")) == (
        "import functools\nimport os\nfrom functools import partial\n\nimport numpy as np\nimport torch\n\nx = 1\n"
    )
    assert added("x = 1\n", NUMPY, FUNCTOOLS) == "import functools\n\nimport numpy as np\n\nx = 1\n"
    assert added("", Import("a.py", "torch"), Import("a.py", "torch", alias="torch")) == "import torch\n"
    assert added("import abc\nimport torch\n", NUMPY, FUNCTOOLS) == (
        "import abc\nimport functools\nimport numpy as np\nimport torch\n"
    ), "the file has no line between its sections"
    mixed = "import torch\nimport numpy\nimport os\nimport tqdm\n"
    assert added(mixed, Import("a.py", "own.store", "Rows")) == mixed + "from own.store import Rows\n"
    assert added("from functools import cache\n", PARTIAL, Import("a.py", "functools", "wraps")) == (
        "from functools import cache, partial, wraps\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "functools = 1\n",
        "def functools(): pass\n",
        "def f(functools): pass\n",
        "class C:\n    def functools(self): pass\n",
        "for a, (*functools, b) in c: pass\n",
        "with a as functools: pass\n",
        "try: pass\nexcept E as functools: pass\n",
        "import a as functools\n",
        "from functools import functools\n",
        "[functools := 1]\n",
        "match a:\n    case {'b': 1, **functools}: pass\n",
        "match a:\n    case [*functools] | functools: pass\n",
        "x = [functools for functools in y]\n",
    ],
)
def test_no_name_is_shadowed(text: str) -> None:
    source = Source("a.py", text)
    with pytest.raises(ValueError, match="functools"):
        place_imports(source, parse(source), [FUNCTOOLS])


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\n\n\n>x = [§1]\n",
        "a = 1\n>x = [\n    §1,\n]\n",
        ">@d\n@e(1)\nclass A:\n    def f(self):\n        §x = 1\n",
        "a = 1\n\n># about A\n# more\n@d\nclass A:\n    §x = 1\n",
        "# Licence\n>def f():\n    §x = 1\n",
        "a = '''\n# not a comment'''\n>def f(): §x\n",
        "a = 1  # c\n>x = §1\n",
        ">if __name__ == '__main__':\n    §f()\n",
        ">if a:\n    b\nelse:\n    §f()\n",
        "a = 1\n\n# apart\n\n>x = §1\n",
        "a = 1\n\n># I create another class,\n# A5, from B\n\nclass A5(B):\n    §x = 1\n\nclass C: pass\n",
        "a = 1\n\n># f is slow.\n\n\n@d\ndef f(): §x\n",
        "a = 1\n\n# helpers\n\n>class A5(B):\n    §x = 1\n\nclass C: pass\n",
        "a = 1\n\n# f(a)\n\n>def f(): §x\n",
        "# f of A\n\n>def f(): §x\n",
        "a = 1\n>§x = 1; y = 2\n",
        "a = 1\n>y = 2; x = §1\n",
        "a = 1\r\n\r\n># c\r\nx = §1\r\n",
        "a = 1\n\n>#####\n# A class\n#####\n\n\nclass A:\n    §x = 1\n\n\n# ----\n# Two\n# ----\n\nclass B: pass\n",
        "a = 1\n\n># ---- The class\n\n# about A\nclass A:\n    §x = 1\n",
        "a = 1\n\n# ---- Data ----\n\n>class A:\n    §x = 1\n",
        "a = 1\n\n# ---- Function and class ----\n\n>class A:\n    §x = 1\n\nclass B: pass\n",
    ],
)
def test_definitions_go_above_the_statement_with_its_decorators_and_comments(text: str) -> None:
    point = text.replace("§", "").index(">")
    plain = text.replace(">", "")
    before = plain.index("§")
    source = Source("a.py", plain.replace("§", ""))
    assert insertion_point(source, parse(source), before) == point


def test_a_definition_after_everything_goes_to_the_end() -> None:
    source = Source("a.py", "a = 1\n# end\n")
    assert insertion_point(source, parse(source), len(source.text)) == len(source.text)


def test_a_string_that_stands_alone_moves_along() -> None:
    text = '"""\nNext\n"""\nx = """\ny\n"""\nf(\n    """\nz""")\n'
    moved = '    """\n    Next\n    """\n    x = """\ny\n"""\n    f(\n        """\nz""")\n'
    assert reindent(text, "", "    ") == moved
    assert reindent(moved, "    ", "") == text


def test_dedenting_leaves_strings_alone_but_docstrings_and_moves_the_rest() -> None:
    before = (
        "    def f(a,\n          b):\n        '''Doc\n        more\n    '''\n  # odd\n        # even\n\n"
        "        x = a + \\\n            b\n        return f'''\n        {x}\n        '''\n"
    )
    after = (
        "def f(a,\n      b):\n    '''Doc\n    more\n'''\n# odd\n    # even\n\n"
        "    x = a + \\\n        b\n    return f'''\n        {x}\n        '''\n"
    )
    assert reindent(before, "    ", "") == after
    scope: dict[str, object] = {}
    inner: dict[str, object] = {}
    exec(after, scope)
    exec("def outer():\n" + before + "    return f\n", inner)
    assert scope["f"](1, 2) == inner["outer"]()(1, 2)  # type: ignore[operator]
    assert inspect.getdoc(scope["f"]) == inspect.getdoc(inner["outer"]())  # type: ignore[operator]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_indenting_and_dedenting_are_inverse(newline: str) -> None:
    text = textwrap.dedent('''\
        def f():
            """Doc
            more
            """
            text = """
        flush
            """
            return [
                1,

            ]  # c
        ''').replace("\n", newline)
    moved = reindent(text, "", "\t")
    assert moved != text
    assert f"{newline}flush{newline}" in moved
    assert reindent(moved, "\t", "") == text


def test_what_cannot_be_told_apart_is_refused() -> None:
    with pytest.raises(ValueError, match="re-indented"):
        reindent("x = (\n", "", "    ")


def test_edits_are_insertions_in_the_files_own_path() -> None:
    source = Source("a.py", "x = 1\n")
    assert place_imports(source, parse(source), [FUNCTOOLS]) == [Edit("a.py", Span(0, 0), "import functools\n\n")]


@pytest.mark.parametrize(
    ("head", "use", "wanted"),
    [
        ("from functools import lru_cache\n", "partial", ["partial"]),
        ("import functools\nfrom functools import lru_cache\n", "functools.partial", []),
        ("from functools import lru_cache as cached\n", "functools.partial", [""]),
        ("from functools import *\n", "functools.partial", [""]),
        ("from functools import lru_cache\npartial = 3\n", "functools.partial", [""]),
        ("def f():\n    from functools import lru_cache\n", "functools.partial", [""]),
        ("from numpy import pi\n", "functools.partial", [""]),
    ],
)
def test_a_name_joins_what_the_file_takes_from_a_module(head: str, use: str, wanted: list[str]) -> None:
    model = collect(Source("a.py", head))
    text, imports = reference(model, "functools", "partial", len(head))
    assert (text, [imported.attribute for imported in imports]) == (use, wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("def f():\n    import torch\n", "import torch"),
        ("def f():\n    return torch.ones(1)\n", "import torch"),
        ("if a:\n    import torch\n", "import torch"),
        ("def f():\n    import torch.nn\n", "import torch"),
        ("import torch.nn\n", ""),
        ("import torch\n", ""),
        ("def f(torch):\n    pass\n", "import torch as _torch"),
        ("torch = 1\n", "import torch as _torch"),
        ("def f():\n    from a import torch\n", "import torch as _torch"),
        ("def f():\n    import torch\n    torch = torch.nn\n", "import torch as _torch"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\n", "import torch as _torch"),
    ],
)
def test_a_module_has_an_alias_only_where_its_name_is_bound_to_something_else(text: str, wanted: str) -> None:
    name, imports = module_alias(collect(Source("a.py", text)), "torch", "torch", len(text))
    assert name == wanted.rpartition(" ")[2] or (name == "torch" and not wanted)
    assert [one.statement for one in imports] == [wanted][: bool(wanted)]
    assert added(text, *imports)
