"""How a file uses an attribute: nothing is overlooked, and what surely has no use is not parsed."""

from __future__ import annotations

import pytest

from dllint.source import Source
from dllint.syntax import uses
from dllint.syntax.uses import attribute_uses


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a = x.files\n", ["stored"]),
        ("a = (x.  # behind a comment\n    files)\n", ["stored"]),
        ("a = x. \\\n    files\n", ["stored"]),
        ("getattr(x, 'files')\n", ["named"]),
        ("x.files.__len__()\n", ["read"]),
        ("x.files.__add__(y)\n", ["other"]),
        ("files = 1\n", []),
        ("x.files_of = 1\n", []),
    ],
)
def test_uses_however_they_are_written(text: str, kinds: list[str]) -> None:
    assert [use.kind for use in attribute_uses(Source("a.py", text), "files") or ()] == kinds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x.files[key]\n", "read"),
        ("key in x.files\n", "read"),
        ("x.files.get(key)\n", "read"),
        ("call(**x.files)\n", "read"),
        ("{**x.files}\n", "read"),
        ("{1: x.files}\n", "other"),
        ("x.files is None\n", "read"),
        ("x.files == {}\n", "whole"),
        ("x.files[:2]\n", "other"),
        ("x.files[key] = 1\n", "filled"),
        ("x.files[key] += 1\n", "filled"),
        ("del x.files[key]\n", "filled"),
        ("a = x.files.pop(key)\n", "filled"),
        ("x.files |= a\n", "filled"),
        ("x.files.append(1)\n", "foreign"),
        ("json.dump(x.files)\n", "given"),
        ("isinstance(x.files, dict)\n", "given"),
    ],
)
def test_uses_of_a_dictionary(text: str, kind: str) -> None:
    assert [use.kind for use in attribute_uses(Source("a.py", text), "files", mapping=True) or ()] == [kind]


def test_rulers_of_hashes_take_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that tries every way through `#####` would not end."""
    monkeypatch.setattr(uses, "outline", lambda text: pytest.fail("parsed"))
    assert attribute_uses(Source("a.py", "x = 1.\n" + "#" * 5000 + "\nfiles = 1\n"), "files") == []
