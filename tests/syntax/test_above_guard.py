"""What goes from the guard's block above the guard, and what stays."""

from __future__ import annotations

import pytest

from dllint.fix import apply
from dllint.source import Source
from dllint.syntax.above_guard import lifted

GUARD = 'if __name__ == "__main__":\n'


def moved(code: str) -> str:
    """The code after the fix of the statement that begins at the mark."""
    source = Source("a.py", code.replace("§", ""))
    return apply(source.text, lifted(source, code.index("§")))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"import os\n\n{GUARD}    §class A:\n        pass\n\n    print(A)\n",
            f"import os\n\n\nclass A:\n    pass\n\n\n{GUARD}    print(A)\n",
        ),
        (
            f"import os\n\n# main\n{GUARD}\n    # what it is\n    @os.a\n    §def f():\n        return os\n    f()\n",
            f"import os\n\n\n# what it is\n@os.a\ndef f():\n    return os\n\n\n# main\n{GUARD}    f()\n",
        ),
        (
            f"x = 1\n\n{GUARD}    a()\n    §SIZE = (3, 4)\n    print(SIZE)\n",
            f"x = 1\nSIZE = (3, 4)\n\n{GUARD}    a()\n    print(SIZE)\n",
        ),
        (
            f"a()\n\n\n# main\n{GUARD}    a()\n\n    §SIZE = 3  # of all\n    b()\n\n    print(SIZE)\n",
            f"a()\n\n\nSIZE = 3  # of all\n\n# main\n{GUARD}    a()\n\n    b()\n\n    print(SIZE)\n",
        ),
    ],
)
def test_definitions_go_above_the_guard(before: str, after: str) -> None:
    assert moved(before) == after


@pytest.mark.parametrize(
    "code",
    [
        f"{GUARD}    §class A:\n        pass\n",
        f"{GUARD}    n = 1\n    §class A:\n        size = n\n    print(A)\n",
        f"{GUARD}    n = 1\n    §def f():\n        return n\n    f()\n",
        f"{GUARD}    §def f():\n        return 1\n    f = f()\n",
        f"A = 1\n{GUARD}    §class A:\n        pass\n    print(A)\n",
        f"{GUARD}    §SIZE = load()\n    print(SIZE)\n",
        f"{GUARD}    §A, B = {{}}, {{}}\n    print(A, B)\n",
        f"{GUARD}    if x:\n        §def f():\n            return 1\n    f()\n",
        "def main():\n    §class A:\n        pass\n    print(A)\n",
    ],
)
def test_what_may_mean_something_else_there_stays(code: str) -> None:
    assert moved(code) == code.replace("§", "")
