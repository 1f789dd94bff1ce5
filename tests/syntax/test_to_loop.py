"""What workers put on a device, put there by the loops over their loader: the edits, and where there are none."""

from __future__ import annotations

import pytest

from dllint.fix import apply
from dllint.source import Source
from dllint.syntax.refused import Refused
from dllint.syntax.to_loop import moved_to_loops

PROGRAM = """\
def collate(items):
    x = stack(items)
    {moved}
    return x, items

loader = DataLoader(data, collate_fn=collate)
for x, items in loader:{body}
{after}
"""
PLAIN = {"moved": "x = x.cuda()", "body": "\n    step(x)", "after": ""}


def moved(**other: str) -> str:
    source = Source("a.py", PROGRAM.format(**PLAIN | other))
    at = (source.text.index(word) for word in ("x.cuda", "DataLoader", "for x"))
    call, loader, loop = at
    return apply(source.text, moved_to_loops(source, call, loader, [(loop, "x")]))


def test_the_loop_moves_what_it_gets() -> None:
    gone = PROGRAM.replace("    {moved}\n", "")
    assert moved() == gone.format(body="\n    x = x.cuda()\n    step(x)", after="")
    assert moved(body="\n    # one\n    step(x)") == gone.format(
        body="\n    x = x.cuda()\n    # one\n    step(x)", after=""
    )


def test_a_loop_that_moves_its_batch_stays() -> None:
    body = "\n    log()\n    x = x.to(device)\n    step(x)"
    assert moved(body=body) == PROGRAM.replace("    {moved}\n", "").format(body=body, after="")


@pytest.mark.parametrize(
    "other",
    [
        {"after": "fit(loader)"},
        {"after": "first = next(iter(loader))"},
        {"after": "again = loader"},
        {"body": " step(x)"},
        {"moved": "x = x.cuda()\n    y = x + 1"},
        {"moved": "y = x.cuda()"},
        {"moved": "if items:\n        x = x.cuda()"},
        {"moved": "x = x.cuda(\n        0)"},
    ],
)
def test_it_stays_where_that_is_not_the_same(other: dict[str, str]) -> None:
    with pytest.raises(Refused):
        moved(**other)


@pytest.mark.parametrize("after", ["print(len(loader))", "print(loader.dataset)"])
def test_a_loader_may_be_asked_for_its_length_and_its_parts(after: str) -> None:
    assert "    x = x.cuda()\n    step" in moved(after=after)
