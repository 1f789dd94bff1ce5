"""Choosing and applying fixes: whole or not at all, whatever the order they come in."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dllint.fix import Applicability, Edit, Fix, Import, apply, choose, in_order
from dllint.source import Span

TEXT = "0123456789"


def edit(start: int, end: int, text: str = "x", path: str = "a.py") -> Edit:
    return Edit(path, Span(start, end), text)


def fix(*edits: Edit, applicability: Applicability = Applicability.SAFE, defines: tuple[str, ...] = ()) -> Fix:
    return Fix("title", edits, applicability, defines=defines)


edits = st.builds(
    lambda start, length, text, path: edit(start, min(start + length, len(TEXT)), text, path),
    st.integers(0, len(TEXT)),
    st.integers(0, 4),
    st.sampled_from(["", "a", "b", "line\n", "other\n"]),
    st.sampled_from(["a.py", "b.py"]),
)
fixes = st.builds(
    lambda edits, applicability, defines: Fix("t", tuple(edits), applicability, defines=defines),
    st.lists(edits, max_size=3),
    st.sampled_from(Applicability),
    st.sampled_from([(), ("_f",)]),
)


def rewrite(chosen: list[Fix], path: str) -> str:
    return apply(TEXT, [edit for fix in chosen for edit in fix.edits if edit.path == path])


@given(st.lists(fixes, max_size=8))
def test_chosen_fixes_can_be_applied_together_and_are_never_manual(candidates: list[Fix]) -> None:
    chosen = choose(candidates)
    assert all(fix in candidates and fix.edits for fix in chosen)
    assert Applicability.MANUAL not in {fix.applicability for fix in chosen}
    for path in ("a.py", "b.py"):
        assert isinstance(rewrite(chosen, path), str)


@given(st.lists(fixes, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(candidates: list[Fix], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = random.sample(candidates, len(candidates))
    for path in ("a.py", "b.py"):
        assert rewrite(choose(candidates), path) == rewrite(choose(shuffled), path)


@given(st.lists(fixes, max_size=6))
def test_choosing_again_changes_nothing(candidates: list[Fix]) -> None:
    chosen = choose(candidates)
    assert choose(chosen) == chosen


@given(fixes)
def test_a_fix_alone_is_chosen_unless_it_is_broken_or_for_people(candidate: Fix) -> None:
    try:
        for path in ("a.py", "b.py"):
            rewrite([candidate], path)
        sound = True
    except ValueError:
        sound = False
    wanted = sound and bool(candidate.edits) and candidate.applicability is not Applicability.MANUAL
    assert choose([candidate]) == ([candidate] if wanted else [])


@given(st.lists(edits.filter(lambda edit: edit.path == "a.py"), max_size=4))
def test_applying_is_independent_of_the_order(candidates: list[Edit]) -> None:
    try:
        expected = apply(TEXT, candidates)
    except ValueError:
        return
    assert all(apply(TEXT, order) == expected for order in itertools.permutations(candidates))


def test_the_first_of_two_that_overlap_is_chosen_and_the_other_waits() -> None:
    first, second, third = fix(edit(0, 4)), fix(edit(2, 6)), fix(edit(6, 8))
    assert choose([third, second, first]) == [first, third]


def test_a_fix_is_left_out_whole_when_one_of_its_edits_overlaps() -> None:
    first, second = fix(edit(0, 4)), fix(edit(2, 3), edit(8, 9))
    assert choose([first, second]) == [first]


def test_equal_edits_count_once() -> None:
    shared = edit(0, 0, "import a\n")
    first, second = fix(shared, edit(2, 3)), fix(shared, edit(5, 6))
    assert choose([first, second]) == [first, second]
    assert apply(TEXT, [*first.edits, *second.edits]) == "import a\n01x34x6789"


def test_whole_lines_at_one_place_go_together_but_pieces_of_lines_do_not() -> None:
    lines = [fix(edit(3, 3, "a\n")), fix(edit(3, 3, "b\n"))]
    pieces = [fix(edit(3, 3, "a")), fix(edit(3, 3, "b"))]
    assert choose(lines) == lines
    assert rewrite(lines, "a.py") == "012a\nb\n3456789"
    assert choose(pieces) == pieces[:1]


def test_the_same_new_name_twice_waits_for_the_next_pass() -> None:
    first, second = fix(edit(0, 0, "def _f\n"), defines=("_f",)), fix(edit(5, 5, "def _f\n"), defines=("_f",))
    elsewhere = fix(edit(0, 0, "def _f\n", "b.py"), defines=("_f",))
    assert choose([first, second, elsewhere]) == [first, elsewhere]


def test_what_two_would_define_alike_is_defined_by_the_first_and_used_by_the_other() -> None:
    new = "def _f(): ...\n"
    first = fix(edit(0, 0, new), edit(3, 4, "_f"), defines=("_f",))
    second = fix(edit(5, 5, new), edit(7, 8, "_f"), defines=("_f",))
    used = Fix("title", (edit(7, 8, "_f"),), Applicability.SAFE, uses=(("a.py", "_f"),))
    assert choose([second, first]) == [first, used]
    other = fix(edit(5, 5, "def _f(): 1\n"), edit(7, 8, "_f"), defines=("_f",))
    assert choose([other, first]) == [first]


def test_an_insertion_beside_a_replacement_comes_first() -> None:
    assert apply(TEXT, [edit(3, 5, "B"), edit(3, 3, "a"), edit(5, 5, "c")]) == "012aBc56789"


def test_imports_come_before_definitions_at_the_same_place() -> None:
    assert apply("x\n", [edit(0, 0, "def f(): ...\n"), edit(0, 0, "import a\n")]) == "import a\ndef f(): ...\nx\n"


@pytest.mark.parametrize(
    "pair", [(edit(0, 4), edit(3, 5)), (edit(0, 4), edit(2, 2)), (edit(1, 2, "a"), edit(1, 2, "b"))]
)
def test_overlapping_edits_are_not_applied(pair: tuple[Edit, Edit]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply(TEXT, pair)


def test_applicability_has_an_order_and_words() -> None:
    assert Applicability.MANUAL < Applicability.UNSAFE < Applicability.SAFE
    assert [level.label for level in Applicability] == ["display-only", "unsafe", "safe"]


@pytest.mark.parametrize(
    ("wanted", "bound", "statement"),
    [
        (Import("a.py", "functools"), "functools", "import functools"),
        (Import("a.py", "numpy", alias="np"), "np", "import numpy as np"),
        (Import("a.py", "functools", "partial"), "partial", "from functools import partial"),
        (Import("a.py", "functools", "partial", "_p"), "_p", "from functools import partial as _p"),
        (Import("a.py", "torch.utils.data"), "torch", "import torch.utils.data"),
    ],
)
def test_imports_as_python(wanted: Import, bound: str, statement: str) -> None:
    assert (wanted.bound, wanted.statement) == (bound, statement)


def test_new_functions_are_named_in_the_order_of_their_use() -> None:
    def uses(at: int, text: str) -> Fix:
        edits = (Edit("a.py", Span(0, 0), text), Edit("a.py", Span(at, at + 1), "f"))
        return Fix(f"at {at}", edits, Applicability.SAFE, defines=("f",))

    first, second = uses(2, "z\n"), uses(5, "a\n")
    assert choose([second, first]) == [first]


def test_what_is_inserted_at_one_place_keeps_its_order_below_imports() -> None:
    place, other = Span(0, 0), Edit("a", Span(2, 3), "x")
    texts = ["def z(): ...\n", "\n", "def a(): ...\n", "\n", "import os\n"]
    found = in_order(
        [*(Edit("a", place, text) for text in texts[:3]), other, *(Edit("a", place, t) for t in texts[3:])]
    )
    assert found == [Edit("a", place, "import os\n\ndef z(): ...\ndef a(): ...\n"), other]
