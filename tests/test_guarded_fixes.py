"""DLL107's fix of a function under the main guard: it moves above it with what it reads; where not, the reason."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from dllint_rules.pickling.dll107_local_target import LocalTarget

from dllint import Applicability, Fix, Project
from dllint.collect import collect
from dllint.engine import Request, check
from dllint.fix import apply
from dllint.project import Targets
from dllint.registry import Layer
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports

HEAD = """\
import argparse, os
from multiprocessing import Pool


def solve(*args, **options):
    return args


"""
MAP = "with Pool(2) as pool:\n    print(pool.map(run_func, range(2)))\n"
DEFINED = "def run_func(number):\n    return solve(number, size)\n"


def fix_of(block: str) -> tuple[Source, Fix]:
    guard = 'if __name__ == "__main__":\n' + textwrap.indent(block, "    ")
    source = Source("a.py", HEAD + guard)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = LocalTarget()
    finding = next(iter(rule.check(project)))
    fix = rule.fix(finding, project)
    assert fix is not None
    return source, fix


def fixed(block: str) -> str:
    source, fix = fix_of(block)
    assert fix.applicability is Applicability.UNSAFE, fix.title
    result = apply(source.text, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    compile(result, "a.py", "exec")
    return result.removeprefix("import argparse, os\nimport functools\n")


@pytest.mark.parametrize(
    ("block", "call"),
    [
        (f"size = 3\n{DEFINED}{MAP}", "_run_solve, size"),
        (f"size = int(input())\n{DEFINED}{MAP}", "_run_solve, size"),
        (f"size = os.path.abspath('a')\n{DEFINED}{MAP}", "_run_solve, size"),
        (
            f"if input():\n    size = 3\n{textwrap.indent(DEFINED, '    ')}else:\n    size = 4\n"
            f"    run_func = solve\n{MAP}",
            "_run_solve, size",
        ),
        (
            f"opts = argparse.ArgumentParser().parse_args()\n{DEFINED.replace('size', 'opts.size, opts.size')}{MAP}",
            "_run_solve, opts.size",
        ),
    ],
)
def test_what_it_reads_goes_along(block: str, call: str) -> None:
    result = fixed(block)
    assert f"run_func = functools.partial({call})\n" in result
    assert result.index("def _run_solve(size, number):\n    return solve(number, size") < result.index("if __name__")


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (f"size = open('a')\n{DEFINED}{MAP}", "`size`, which it reads, would be pickled with every task"),
        (f"size = unknown()\n{DEFINED}{MAP}", "`size`, which it reads, would be pickled with every task"),
        (f"size = 3\n{DEFINED}size = 4\n{MAP}", "`size`, which it reads, may not be set there, or may change later"),
        (f"if input():\n    size = 3\n{DEFINED}{MAP}", "`size`, which it reads, may not be set there"),
        (f"for size in range(3):\n{textwrap.indent(DEFINED + MAP, '    ')}", "`size`, which it reads, may not be set"),
        (f"size = 3\n{DEFINED.replace('size', 'size, run_func')}{MAP}", "it sets a variable of the module, or calls"),
        (f"size = 3\n{DEFINED}run_func.size = 3\n{MAP}", "`run_func` is used where what it reads may have changed"),
        (
            f"for step in range(3):\n    size = int(step)\n{textwrap.indent(DEFINED, '    ')}{MAP}",
            "`run_func` is used where what it reads may have changed",
        ),
        (f"def size():\n    return 3\n{DEFINED}{MAP}", "`size`, which it uses, is not defined above the guard"),
        (f"import re as size\n{DEFINED}{MAP}", "`size`, which it uses, is not defined above the guard"),
    ],
)
def test_what_may_not_be_the_same(block: str, why: str) -> None:
    _, fix = fix_of(block)
    assert fix.applicability is Applicability.MANUAL, fix.edits
    assert fix.title.startswith("Move `run_func` above the guard; ")
    assert why in fix.title


def test_a_function_that_reads_nothing_moves_as_it_is() -> None:
    result = fixed(f"print()\n{DEFINED.replace(', size', '')}{MAP}")
    assert "def run_func(number):\n    return solve(number)\n\n\nif __name__" in result


def test_functions_of_one_name_in_several_arms(tmp_path: Path) -> None:
    arms = [
        f"{test}\n    size = {number}\n{textwrap.indent(DEFINED.replace('size', given), '    ')}"
        for test, number, given in (
            ("if input():", 1, "size, 1"),
            ("elif input():", 2, "2, size"),
            ("else:", 3, "size"),
        )
    ]
    place = tmp_path / "a.py"
    place.write_text(f'{HEAD}if __name__ == "__main__":\n{textwrap.indent("".join(arms) + MAP, "    ")}')
    for _ in range(2):
        result = check(Request(paths=(str(tmp_path),), layer=Layer(), fix=True, unsafe_fixes=True))
        assert not result.findings
    code = place.read_text()
    assert code.count("run_func = functools.partial(") == 3
    assert [line.partition("(")[0] for line in code.splitlines() if line.startswith("def _")] == [
        "def _run_solve",
        "def _run_func",
        "def _run_solve_2",
    ]
