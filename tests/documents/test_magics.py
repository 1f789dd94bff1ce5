"""What IPython takes from a cell, and what Python is left."""

from __future__ import annotations

import ast
import re

import pytest

from dllint.documents.magics import mask

CELLS = {
    "%matplotlib inline\nx = 1": "0#atplotlib inline\nx = 1",
    "!pip install a \\\n  b \\\n    c\nx = 1": "0#ip install a \\\n  # \\\n    #\nx = 1",
    "if x:\n    !ls\nelse:\n    %cd ..": "if x:\n    0#s\nelse:\n    0#d ..",
    "?len\nlen?\nx.y[0]??\nz?  ": "0#en\n0#n?\n0#y[0]??\n0#  ",
    "files = !ls *.py\nx = %sql select 1": "files = _#s *.py\nx = _#ql select 1",
    "a.b[0], c = !ls": "a.b[0], c = _#s",
    "%time x = 1\n%timeit -n 3 -r 1 f(x)": "0;    x = 1\n0;                f(x)",
    "%time for x in y: pass": "0#ime for x in y: pass",
    "%%time\nx = 1": "0#time\nx = 1",
    "\n%%capture out\n%cd x\ny = 2": "\n0#capture out\n0#d x\ny = 2",
    "#@title f\n\n# x\n%%time\nx = 1": "#@title f\n\n# x\n0#time\nx = 1",
    "/f 1\n,f a b\n;f a b": "0# 1\n0# a b\n0# a b",
    '!echo "it\'s\nx = "%d" % 3\n%echo \'': '0#cho "it\'s\nx = "%d" % 3\n0#cho \'',
    "!": "0",
    "cd ..": "0# ..",
    "\npip install a==1.0; x\n": "\n0#p install a==1.0; x\n",
    "mkdir -p {a}": "0#dir -p {a}",
    "time f(1)": "0;   f(1)",
    "timeit -n 5 f(1)": "0;          f(1)",
    "    x = 1\n    if x:\n        !ls": "   \fx = 1\n   \fif x:\n   \f    0#s",
    "\n\t# up\n\n# down\n\tx = 1": "\n\f# up\n\n# down\n\fx = 1",
    "    # up\n  x = 1": " \f  # up\n \fx = 1",
    "  f(\n  1,\n2)\n  !ls \\\n  a": " \ff(\n \f1,\n2)\n \f0#s \\\n  #",
    "  %%time\n  x = 1": " \f0#time\n \fx = 1",
    "  cd ..": " \f0# ..",
}
INDENTED = [code for code in CELLS if "\f" in CELLS[code]]


@pytest.mark.parametrize("code", CELLS)
def test_what_is_not_python_stands_aside(code: str) -> None:
    masked = mask(code)
    assert masked is not None
    assert masked.text == CELLS[code]
    assert [len(line) for line in masked.text.split("\n")] == [len(line) for line in code.split("\n")]
    ast.parse(masked.text)
    outside = list(code)
    for span in masked.spans:
        outside[span.start : span.end] = masked.text[span.start : span.end]
    assert "".join(outside) == masked.text


@pytest.mark.parametrize(
    "code",
    [
        "x = a % b\ny = a != b\nz = '''\n%cd\n!ls\n?\n'''",
        "f(\n    '%s'\n    % x\n)",
        "x = (\n    a\n    % b\n    )",
        "x = a \\\n    % b\nx %= 2",
        "# what? %cd\nx = '?'  # why?",
        'f"{x!r} {y}?"\nplt.plot();\nawait x\nasync with a: pass',
        "",
        "cd ..\nls",
        "# up\ncd ..",
        "cd ..\n\n",
        "git clone x",
        "ls",
        "time = 5",
        "cat(x)",
        "x = pwd y",
        "  # up\nx = 1",
        "# up\n  x = 1",
        "  # up\n    x = 1",
        "  ",
    ],
)
def test_python_stays(code: str) -> None:
    masked = mask(code)
    assert masked is not None
    assert (masked.text, masked.spans) == (code, ())


@pytest.mark.parametrize(
    "code",
    [
        "%%bash\nls",
        "%%html",
        "%%writefile a.py\nx",
        "%%!\nls",
        "\n%%javascript\nx",
        "%%",
        "  %%bash",
        '#@title Install { display-mode: "form" }\n\n  # here\n%%bash\npip install (',
    ],
)
def test_cells_that_are_not_the_kernels_own_python(code: str) -> None:
    assert mask(code) is None


@pytest.mark.parametrize("code", [code for code in CELLS if "%%" not in code and code not in INDENTED])
def test_ipython_takes_the_same_lines(code: str) -> None:
    """IPython's own transformation changes the lines that are masked, and no others."""
    manager = pytest.importorskip("IPython.core.inputtransformer2").TransformerManager()
    ours = mask(code)
    assert ours is not None
    for line, masked in zip(re.sub(r"\\\n", "", code).split("\n"), _joined(ours.text, code), strict=True):
        taken = manager.transform_cell(line.strip()) != line.strip() + "\n"
        assert taken == (line != masked), line


@pytest.mark.parametrize("code", INDENTED)
def test_a_cell_that_is_indented_as_a_whole_is_the_same_code(code: str) -> None:
    indent = code[: CELLS[code].index("\f") + 1].lstrip("\n")
    plain = "\n".join(line.removeprefix(indent) for line in code.split("\n"))
    indented, ours = mask(code), mask(plain)
    assert indented is not None and ours is not None
    assert ast.dump(ast.parse(indented.text)) == ast.dump(ast.parse(ours.text))


def _joined(masked: str, code: str) -> list[str]:
    """The masked lines, those that a backslash joins in the cell as one."""
    lines: list[str] = []
    joins = False
    for line, original in zip(masked.split("\n"), code.split("\n"), strict=True):
        lines[-1:] = [lines[-1] + line] if joins else [*lines[-1:], line]
        joins = original.endswith("\\")
    return lines
