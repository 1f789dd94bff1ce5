"""Statements over several lines: what Ruff makes of them, or nothing."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import textwrap

import pytest

from dllint.source import Source
from dllint.syntax.laid_out import laid_out
from dllint.syntax.refold import refolded

WIDTH = 40
RUFF = shutil.which("ruff", path=sysconfig.get_path("scripts")) or shutil.which("ruff")

CERTAIN = """\
stack = bbox_pad(bbox_list).as_context(cur)
print("accuracy: %.5f (%.5f)" % (test, best))
bg, image, seg, fr = data["bg"], data["image"], 1
loss = weight * (first_loss + second_loss_b)
loss = first_loss_of_all + second_loss_of_all
loss = aaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbb + ccccccccccc
parser.add_argument("--decay", default=0.1, help="a")
parser.add_argument("--decay", type=float, help="a decay")
table = {"a": model.parameters(), "b": opt.lr}
items = [{"params": model.parameters(), "lr": opt.lr}]
state.load(torch.load(args.load_path, map_to=dev))
all_names = list(filter(lambda x: x[0] == "a", names))
ids, scores, bbox, features, some = detector(img)
raise ValueError("no such option: {}".format(opt))
return first_loss_of_all * second_loss_of_all
batch.data["edge_features"] = nd.concat(a, dim=0)
assigned_name_that_is_long = "a text that is long"
self.first.second = [name for name in names if name]
if first_condition and second_condition_too:
    pass
if is_valid(first_condition, second_condition):
    pass
while first_condition_holds(of_something, a):
    pass
for first, second in zip(first_list, second_list):
    pass
total += first_of_all_values * second_of_values
value = (first - second) * third_value / fourth_v
"""

NOT_CERTAIN = """\
value = data["a key that is long enough for it"]
value = a.first(b).second(c).third(d).fourth(e, f)
value = call(first_argument, second)  # a comment
value = "one text that is here" "and another one"
value = a_long_name if condition_is_true else lambda: 3
first = second = call(first_argument, second_one)
with open(first_name_of_a_file, second_one) as f:
    pass
assert first_condition_holds, "a message that is it"
first_name, second_name, third, fourth, fifth = call(a)
"""


def by_ruff(code: str, width: int = WIDTH) -> str:
    assert RUFF is not None
    command = [RUFF, "format", "--isolated", "--line-length", str(width), "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True, check=True).stdout


def statements(code: str) -> list[str]:
    return [line for line in code.splitlines() if line.strip() != "pass"]


@pytest.mark.skipif(RUFF is None, reason="needs ruff")
@pytest.mark.parametrize("line", statements(CERTAIN))
def test_a_statement_is_split_as_ruff_splits_it(line: str) -> None:
    made = laid_out([line], 0, WIDTH, "    ")
    body = "\n    pass" if line.endswith(":") else ""
    assert made is not None
    assert len(made) > 1
    assert "\n".join(made) + body + "\n" == by_ruff(line + body + "\n")
    assert laid_out(made, 0, WIDTH, "    ") == made, "what is laid out stays as it is"
    wide = laid_out(made, 0, 120, "    ")
    assert wide is None or "\n".join(wide) + body + "\n" == by_ruff("\n".join(made) + body + "\n", 120)


@pytest.mark.parametrize("line", statements(NOT_CERTAIN))
def test_where_it_is_not_certain_nothing_is_split(line: str) -> None:
    assert laid_out([line], 0, WIDTH, "    ") is None


def folded(code: str, width: int = WIDTH) -> str:
    source = Source("a.py", code)
    source.width = width
    return refolded(source, textwrap.indent(code, "    "))


def test_all_lines_of_a_block_are_split_or_none() -> None:
    split = "value = first_function(second, third__)\n"
    certain = "    value = first_function(\n        second, third__\n    )\n"
    assert folded(split) == certain
    assert folded(split + "# a comment that is as long as that was\n").startswith(certain)
    other = 'value = names["a key that is so long"]\n'
    assert folded(split + other) == textwrap.indent(split + other, "    ")


@pytest.mark.parametrize(
    "other", ["call(first,\n     second)\n", "value = (\n    first\n)\n", "call(\n    first,\n    second)\n"]
)
def test_a_file_that_no_formatter_has_laid_out_stays_as_it_is(other: str) -> None:
    code = f"value = first_function(second, third__)\n{other}"
    assert folded(code) == textwrap.indent(code, "    ")


def call(length: int) -> str:
    """A call on a line of so many columns."""
    start = "value = function(first_argument, second_argument, "
    return f"{start}{'a' * (length - len(start) - 1)})\n"


def split(length: int) -> str:
    """The same, with its arguments on a line of their own."""
    return call(length).replace("(", "(\n    ").replace(")", "\n)")


@pytest.mark.skipif(RUFF is None, reason="needs ruff")
@pytest.mark.parametrize(("code", "width"), [(call(77) + split(82), 79), (call(86) + split(90), 88)])
def test_a_file_that_a_formatter_has_laid_out_says_how_long_its_lines_are(code: str, width: int) -> None:
    assert by_ruff(code, width) == code
    assert "if 1:\n" + folded(code, 0) == by_ruff("if 1:\n" + textwrap.indent(code, "    "), width)


@pytest.mark.parametrize("code", [call(86), call(77), call(77) + split(90), call(90) + call(86) + split(92)])
def test_where_the_length_of_lines_is_not_certain_they_stay(code: str) -> None:
    assert folded(code, 0) == textwrap.indent(code, "    ")


def test_a_bracket_behind_the_last_argument_stays_there() -> None:
    other = "call_of_it_with_a_name(\n    first_argument, second_argument)\n"
    below = textwrap.indent(other, "    ")
    long = "value = first_function(second, third__)\n"
    assert folded(long + other) == f"    value = first_function(\n        second, third__)\n{below}"
    assert folded("call_it_now(\n    first_argument=arg, second_=second)\n" + other) == (
        f"    call_it_now(\n        first_argument=arg,\n        second_=second)\n{below}"
    )
    for unknown in ("value = first_function(second[a], third)\n", "value = the_first + function(arg, second)\n"):
        assert folded(unknown + other) == textwrap.indent(unknown, "    ") + below
