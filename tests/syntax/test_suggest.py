"""Names for nested functions that go to module level."""

from __future__ import annotations

import pytest

from dllint.syntax.suggest import function_name


@pytest.mark.parametrize(
    ("name", "around", "wanted"),
    [
        ("preprocess", "main", "_preprocess"),
        ("transform", "main", "_transform"),
        ("fn", "run", "_fn"),
        ("inner", "normalize", "_normalize_inner"),
        ("fn", "get_collate", "_collate"),
        ("transform", "train_transform", "_apply_train_transform"),
        ("transform", "initialize_bert_transform", "_bert_transform"),
        ("transform", "get_pretrained_s2_train_transform", "_pretrained_s2_train_transform"),
        ("transform", "get_" + 31 * "a", "_transform"),
    ],
)
def test_what_says_nothing_is_told_apart_by_a_function_that_says_something(name: str, around: str, wanted: str) -> None:
    assert function_name(name, around) == wanted
