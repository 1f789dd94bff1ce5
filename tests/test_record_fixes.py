"""DLL202's fix: records as bytes where every use survives that, else what to paste and what is in the way."""

from __future__ import annotations

import ast
import contextlib
import itertools
import pickle
import re
import textwrap
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from dllint_rules.memory.dll202_python_container_on_dataset import PythonContainerOnDataset

from dllint import Applicability, Fix, Project
from dllint.cli import cli
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports

HEAD = """\
import collections, csv, glob, json, pandas, pickle, random
from torch.utils.data import DataLoader, Dataset

def count(rows):
    return len(rows) + sum(len(row) for row in rows)

def mark(rows):
    for row in rows:
        row["marked"] = True

def keep(rows, kept=[]):
    kept.append(rows)

class Rows(Dataset):
    def __init__(self, path, *more):
{init}
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        {item}
{more}
DataLoader(Rows("."), num_workers=2)
"""
FILLED = "self.rows = []\nfor line in open(path):\n    self.rows.append({'text': line, 'size': len(line)})\n"


def fix_of(init: str, item: str = "return self.rows[index]", more: str = "") -> tuple[str, Fix]:
    code = HEAD.format(init=textwrap.indent(init, " " * 8), item=item, more=more)
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = PythonContainerOnDataset()
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    return code, fix


def is_packed(init: str, item: str, more: str = "") -> bool:
    """Whether the fix packs what `__init__` keeps; what isn't reported at all has none."""
    try:
        _, fix = fix_of(init, item, more)
    except ValueError:
        return False
    return fix.applicability is not Applicability.MANUAL


def fixed(init: str, item: str = "return self.rows[index]", more: str = "") -> str:
    code, fix = fix_of(init, item, more)
    assert fix.applicability is Applicability.UNSAFE, fix.title
    source = Source("a.py", code)
    result = apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    compile(result, "a.py", "exec")
    return result


@pytest.mark.parametrize(
    "value",
    [
        "[line.split() for line in open(path)]",
        "[(line, len(line)) for line in open(path)]",
        "[{'text': line} for line in open(path)]",
        "list(csv.reader(open(path)))",
        "[dict(row) for row in csv.DictReader(open(path))]",
        "sorted(csv.reader(open(path)))[1:]",
        "list(zip(open(path), open(more[0])))",
        "json.load(open(path))",
        "[row for row in json.load(open(path))['images'] if row]",
        "[json.loads(line) for line in open(path)]",
        "pandas.read_csv(path).to_dict('records')",
    ],
)
def test_lists_of_records_are_packed(value: str) -> None:
    assert f"self.rows = Serialized({value})" in fixed(f"self.rows = {value}")


@pytest.mark.parametrize(
    ("init", "item"),
    [
        ("self.rows = tuple(csv.reader(open(path)))", "return self.rows[index]"),
        ("self.rows = json.load(open(path))", "return self.rows[f'{index}.jpg']"),
        ("self.rows = [(line, Rows) for line in open(path)]", "return self.rows[index]"),
        ("self.rows = [(line, open(line)) for line in open(path)]", "return self.rows[index]"),
        ("self.rows = [more[0](line) for line in csv.reader(open(path))]", "return self.rows[index]"),
        ("self.rows = pickle.load(open(path, 'rb'))", "return self.rows[index]"),
        ("import h5py\nself.rows = [(line, h5py.File(line)['a']) for line in open(path)]", "return self.rows[index]"),
        ("self.rows = list(csv.reader(open(path)))\nself.rows.append(open(path))", "return self.rows[index]"),
    ],
)
def test_what_may_be_no_list_of_records_stays(init: str, item: str) -> None:
    assert not is_packed(init, item)


@pytest.mark.parametrize(
    ("again", "why"),
    [
        ("self.rows *= 9", ""),
        ("self.rows *= int(path)", ""),
        ("self.rows = self.rows[::2] * int(path)", ""),
        ("self.rows *= more[0]", "multiplies it by what is not seen to be an integer: `more[0]`"),
        ("self.rows = json.load(open(path))['size'] * more[0]", "sets what is not certain to be a list of records"),
    ],
)
def test_a_list_of_records_is_repeated_by_integers(again: str, why: str) -> None:
    _, fix = fix_of(f"{FILLED}if more:\n    {again}\n")
    assert (fix.applicability is Applicability.UNSAFE) is not bool(why)
    assert why in fix.title


CUT = "self.rows = [row for row in self.rows if len(row) > 2]"
READ = "self.rows = [line.split() for line in open(path)]"


@pytest.mark.parametrize(
    "init",
    [
        f"{READ}\njson.dump(self.rows, open(path, 'w'))\n{CUT}",
        f"if more:\n    {READ}\nelse:\n    {READ}\n    json.dump(self.rows, open(path, 'w'))\n{CUT}",
        f"{READ}\nkeep(self.rows)\n{CUT}",
    ],
)
def test_what_gets_another_list_than_the_one_that_is_packed(init: str) -> None:
    assert f"self.rows = Serialized({CUT.partition(' = ')[2]})\n" in fixed(init)


def test_a_method_that_may_run_again_finds_what_it_has_packed() -> None:
    more = f"    def load(self, path):\n        keep(self.rows)\n        {CUT}\n"
    assert not is_packed(f"{READ}\nself.load(path)", "return self.rows[index]", more)


@pytest.mark.parametrize(
    ("imported", "value"),
    [
        ("", "sum([[(name, size) for size in range(9)] for name in open(path)], [])"),
        ("", "[(line, number) for number, line in enumerate(open(path))]"),
        ("import h5py\n", "[(name, 1) for name in h5py.File(path).keys()]"),
        ("from torchvision.datasets.folder import make_dataset\n", "make_dataset(path, {}, extensions='.png')"),
    ],
)
def test_lists_of_lists_that_are_joined_and_rows_of_libraries_are_packed(imported: str, value: str) -> None:
    result = "".join(fixed(f"{imported}self.rows = {value}").split())
    assert "".join(f"self.rows = Serialized({value})".split()) in result.replace(",)", ")")


LOAD = """\
    def load(self, path):
        rows = []
        for line in open(path):
            rows.append(line.split())
{more}
"""


@pytest.mark.parametrize(
    ("value", "more"),
    [
        ("self.load(path)", "return rows"),
        ("self.load(path)[0]", "return rows, len(rows)"),
        ("self.load(path)", "random.shuffle(rows)\nrows += [[]]\nprint(count(rows))\nreturn rows if path else []"),
        ("self.other(path)", "return rows\ndef other(self, path):\n    rows = self.load(path)\n    return rows"),
    ],
)
def test_lists_that_a_call_makes_are_packed(value: str, more: str) -> None:
    more = LOAD.format(more=textwrap.indent(more, " " * 8).replace("        def", "    def"))
    assert f"self.rows = Serialized({value})" in fixed(f"self.rows = {value}", more=more)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("self.all = rows\nreturn rows", "self.all = rows"),
        ("self.all = rows\nreturn self.all", "return self.all"),
        ("self.all[path] = rows\nreturn rows", "self.all[path] = rows"),
        ("keep(rows)\nreturn rows", "keep(rows)"),
        ("count.rows.append(rows)\nreturn rows", "count.rows.append(rows)"),
        ("return rows, rows", "return rows, rows"),
        ("same = rows\nreturn rows", "same = rows"),
        ("global rows\nreturn rows", "return rows"),
    ],
)
def test_a_list_that_a_function_keeps_as_well_stays(more: str, why: str) -> None:
    """What other code changes in it would be missing in the bytes."""
    value = "self.load(path)[0]" if "," in more else "self.load(path)"
    _, fix = fix_of(f"self.rows = {value}", more=LOAD.format(more=textwrap.indent(more, " " * 8)))
    assert fix.applicability is Applicability.MANUAL
    assert fix.title.endswith(f" may keep the same list: `{why}`")


def test_a_list_that_a_cache_or_a_function_on_the_way_keeps_stays() -> None:
    cached = LOAD.format(more="        return rows").replace(
        "def load", "import functools\n    @functools.lru_cache\n    def load"
    )
    shuffled = "    def shuffled(self, rows):\n        random.shuffle(rows)\n        return rows\n"
    for value in ("self.load(path)", "self.shuffled(self.load(path))"):
        _, fix = fix_of(f"self.rows = {value}", more=shuffled + cached)
        assert fix.title.endswith(" may keep the same list: `@functools.lru_cache`")


def test_decorators_that_keep_nothing_are_none_in_the_way() -> None:
    load = LOAD.format(more="        return rows")
    for decorator in ("@torch.no_grad()", "@torch.inference_mode"):
        more = load.replace("def load", f"{decorator}\n    def load") + "\nimport torch\n"
        assert "self.rows = Serialized(self.load(path))" in fixed("self.rows = self.load(path)", more=more)
    own = load.replace("def load", "@more.no_grad()\n    def load")
    assert fix_of("self.rows = self.load(path)", more=own)[1].title.endswith(": `@more.no_grad()`")


def test_what_is_set_where_there_is_nothing_is_packed_as_well() -> None:
    init = "self.rows = None\nif more: self.rows = [line.split() for line in open(path)]\nif self.rows is None:\n    "
    text = fixed(f"{init}self.rows = [(line, 1) for line in open(path)]")
    assert "self.rows = Serialized([line.split() for line in open(path)])" in text
    assert "self.rows = Serialized([(line, 1) for line in open(path)])" in text
    _, fix = fix_of(f"{init}self.rows = pickle.load(open(path, 'rb'))")
    assert fix.title.endswith("line 19, in another branch, sets what is not certain to be a list of records")


SAVED = """\
if more:
    with open({read}, "rb") as file:
        return pickle.load(file)
rows = [line.split() for line in open(path)]
{more}with open({path}, "wb") as file:
    pickle.dump({what}, file)
return rows
"""


@pytest.mark.parametrize(
    ("read", "more", "path", "what", "packed"),
    [
        ("self.cache", "", "self.cache", "rows", True),
        ("f'{path}.pkl'", "", "f'{path}.pkl'", "rows", True),
        ("self.cache", "", "self.other", "rows", False),
        ("path", "path = path[:9]\n", "path", "rows", False),
        ("self.cache", "", "self.cache", "{'rows': rows}", False),
        ("self.cache", "", "self.cache", "[open(path)]", False),
    ],
)
def test_what_a_function_loads_is_what_it_saves_in_the_same_file(
    read: str, more: str, path: str, what: str, packed: bool
) -> None:
    text = textwrap.indent(SAVED.format(read=read, more=more, path=path, what=what), " " * 8)
    more = f"    def load(self, path, more):\n{text}"
    _, fix = fix_of("self.rows = self.load(path, more)", more=more)
    assert (fix.applicability is Applicability.UNSAFE) is packed


ROWS = """\
{name} = []
for line in open(more[0]):
    {name}.append(line.split())
pickle.dump({name}, open(path, "wb"))
"""


@pytest.mark.parametrize(
    ("name", "rest", "packed"),
    [
        ("self.rows", "", "\n        self.rows = Serialized(self.rows)"),
        ("rows", "self.rows = rows\n", "\n        self.rows = Serialized(rows)"),
        ("rows", "    self.rows = rows\n", "\n            self.rows = rows\n        self.rows = Serialized(self.rows)"),
    ],
)
def test_a_constructor_that_loads_what_it_has_saved_packs_both(name: str, rest: str, packed: str) -> None:
    loaded = "self.rows" if rest.startswith(" ") else name
    rows = textwrap.indent(ROWS.format(name=name), "    ")
    text = fixed(f"if self.has(path):\n    {loaded} = pickle.load(open(path, 'rb'))\nelse:\n{rows}{rest}")
    assert f'pickle.dump({name}, open(path, "wb")){packed}\n' in text


CACHED = """\
self.cache = path
if more:
    with open({path} + ".pkl", "rb") as file:
        self.rows = pickle.load(file)
else:
    lines = list(open(path))
    if random.random() < 0.5:
        with multiprocessing.Pool() as pool:
            self.rows = list(tqdm.tqdm(pool.imap({task}, lines)))
    else:
        self.rows = [parsed(line) for line in lines]
    {more}with open({path} + ".pkl", "wb") as file:
        pickle.dump(self.rows, file)
"""
TASKS = """
import multiprocessing, tqdm

def parsed(line):
    return line.split(), len(line)

def opened(line):
    return open(line)

def found(line):
    if line:
        return None
    return parsed(line)
"""


@pytest.mark.parametrize(
    ("path", "task", "more", "packed"),
    [
        ("self.cache", "parsed", "", True),
        ("self.cache", "str.split", "", False),
        ("self.cache", "opened", "", False),
        ("self.cache", "found", "", False),
        ("self.cache", "parsed", "self.cache = path[:9]\n    ", False),
        ("self.name()", "parsed", "", False),
    ],
)
def test_what_a_pool_makes_and_a_file_of_the_object_keeps(path: str, task: str, more: str, packed: bool) -> None:
    init = CACHED.format(path=path, task=task, more=more)
    code, fix = fix_of(init, more=f"    def name(self):\n        return self.cache\n{TASKS}")
    assert (fix.applicability is Applicability.UNSAFE) is packed
    if packed:
        result = apply(code, fix.edits)
        assert "            pickle.dump(self.rows, file)\n        self.rows = Serialized(self.rows)\n" in result
        assert result.count("Serialized(") == 1


@pytest.mark.parametrize(
    ("use", "packed"),
    [
        ("rows = self.rows; print(len(rows), rows[0]['text'], [row['size'] for row in rows])", True),
        ("path, rows = self.path, self.rows; print(len(rows), rows[0]['text'])", True),
        ("path, rows = self.path, self.rows; rows.append({})", False),
        ("path, self.kept = self.path, self.rows", False),
        ("path, *rows = self.path, self.rows", False),
        ("rows = rows, self.rows", False),
        ("rows = self.rows; rows.append({})", False),
        ("rows = self.rows; rows[0]['text'] = ''", False),
        ("rows = self.rows; keep(rows)", False),
        ("rows = self.rows; return rows", False),
        ("rows = self.all = self.rows", False),
        ("global rows; rows = self.rows", False),
    ],
)
def test_a_variable_for_the_list_is_as_good_where_it_is_only_read(use: str, packed: bool) -> None:
    _, fix = fix_of(FILLED, more=f"    def show(self):\n        {use}\n")
    assert (fix.applicability is Applicability.UNSAFE) is packed


OBJECTS = """
import dataclasses, functools, typing

class Base:
    def __init__(self, line):
        self.parts = line.split()

class Record({base}):
    def __init__(self, line, count=1):
        super().__init__(line)
        self.count = count

    @property
    def label(self):
        return int(self.parts[1]) + self.count
{more}

@dataclasses.dataclass
class Row:
    text: str

class Pair(typing.NamedTuple):
    text: str
    size: int

class Node:
    def __init__(self, line, depth=3):
        self.inner = Node(line, depth - 1) if depth else line
"""


@pytest.mark.parametrize(
    "made", ["Record(line)", "Row(line)", "Pair(line, size=len(line))", "{'row': Record(line, 2)}", "(line, Row(line))"]
)
def test_objects_that_only_keep_data_are_records(made: str) -> None:
    value = f"[{made} for line in open(path)]"
    more = OBJECTS.format(base="Base", more="")
    assert f"self.rows = Serialized({value})" in fixed(f"self.rows = {value}", more=more)


@pytest.mark.parametrize(
    ("base", "more", "item"),
    [
        ("Base", "    def read(self):\n        self.count += 1", "return self.rows[index].label"),
        ("Base", "    def read(self):\n        self.parts[0] = ''", "return self.rows[index].label"),
        ("Base", "    def read(self):\n        self.parts.append('')", "return self.rows[index].label"),
        ("Base", "    def read(self):\n        setattr(self, 'read', 1)", "return self.rows[index].label"),
        (
            "Base",
            "    @functools.cached_property\n    def read(self):\n        return 1",
            "return self.rows[index].label",
        ),
        ("Base", "    def __del__(self):\n        print(self)", "return self.rows[index].label"),
        ("more", "", "return self.rows[index].label"),
        (
            "Base",
            "    count = open(__file__)\n    def a(self, other):\n        other.count = 1",
            "return self.rows[index]",
        ),
        ("Base", "", "return [row for row in self.rows if row is not self.rows[index]]"),
        ("Base", "", "row = self.rows[index]; return row in self.seen"),
        ("Base", "", "return self.rows.index(self.rows[index])"),
        ("Base", "", "row = self.rows[index]; row.count = 2; return row"),
    ],
)
def test_objects_that_change_or_are_told_apart_stay(base: str, more: str, item: str) -> None:
    value = "[Record(line) for line in open(path)]"
    _, fix = fix_of(f"self.rows = {value}", item, more=OBJECTS.format(base=base, more=more))
    assert fix.applicability is Applicability.MANUAL


def test_objects_of_a_local_class_or_with_a_file_stay() -> None:
    local = "class Own:\n    def __init__(self, line):\n        self.line = line\n"
    assert not is_packed(f"{local}self.rows = [Own(line) for line in open(path)]", "return self.rows[index]")
    more = "class Own:\n    def __init__(self, line):\n        self.file = open(line)\n"
    _, fix = fix_of("self.rows = [Own(line) for line in open(path)]", more=more)
    assert fix.applicability is Applicability.MANUAL
    more = OBJECTS.format(base="Base", more="")
    shared = "self.rows = [Record(line, part) for part in more for line in open(path)]"
    assert not is_packed(shared, "return self.rows[index]", more)
    _, fix = fix_of("self.rows = [Node(line) for line in open(path)]", more=more)
    assert fix.applicability is Applicability.MANUAL


@pytest.mark.parametrize(
    ("item", "packed"),
    [
        ("return self.get(index)", True),
        ("return self.get(place=index)", True),
        ("return self.rows[index % len(self.rows)]", True),
        ("number = int(index); return self.rows[number - 1]", True),
        ("return self.rows[random.randint(0, 9)]", True),
        ("for number in range(9): print(self.rows[number], self.rows[self.names[index]])", True),
        ("return self.rows[0], self.rows[self.names[index]]", True),
        ("return self.rows[:9], self.rows[self.names[index]]", True),
        ("return self.rows[self.names[index]]", False),
        ("return self.rows[str(index)]", False),
        ("return self.get(self.names[index])", False),
        ("return self.rows['%d' % index]", False),
    ],
)
def test_what_is_read_by_a_number_is_a_list_in_json(item: str, packed: bool) -> None:
    more = "    def get(self, place):\n        return self.rows[place]\n" if "self.get(" in item else ""
    _, fix = fix_of("self.rows = json.load(open(path))", item, more=more)
    assert (fix.applicability is Applicability.UNSAFE) is packed


def test_a_number_that_another_class_has_says_nothing() -> None:
    more = "class Other:\n    def __getitem__(self, index):\n        return self.rows[index]\n"
    _, fix = fix_of("self.rows = json.load(open(path))", "return self.rows[self.names[index]]", more=more)
    assert fix.applicability is Applicability.MANUAL


@pytest.mark.parametrize(
    ("use", "packed"),
    [
        ("rows = getattr(self, name); rows.sort()", False),
        ("rows = getattr(self, f'{name}s'); rows.sort()", False),
        ("rows = getattr(self, 'r' + name); rows.sort()", False),
        ("rows = getattr(self, f'{name}_lines'); rows.sort()", True),
        ("rows = getattr(self, 'other_' + name); rows.sort()", True),
        ("getattr(self, name)()", True),
        ("getattr(self.path, name)", True),
    ],
)
def test_a_list_that_is_got_by_a_name_that_varies_stays(use: str, packed: bool) -> None:
    _, fix = fix_of(FILLED, more=f"    def use(self, name):\n        {use}\n")
    assert (fix.applicability is Applicability.UNSAFE) is packed


@pytest.mark.parametrize(
    ("change", "packed"),
    [
        ("layer.rows = layer.rows.half()", True),
        ("layer.rows.copy_(other)", True),
        ("layer.rows = other.half()", False),
        ("import torch; layer.rows = torch.from_numpy(other)", True),
        ("import torch; layer.rows = torch.load(other)", False),
        ("import torch\n    if isinstance(layer, torch.nn.Parameter):\n        return layer.rows", True),
        ("import torch\n    if not isinstance(layer, torch.nn.Parameter):\n        return layer.rows", False),
        ("layer.rows = layer.rows.copy()", False),
        ("layer.rows = layer.rows.to_list()", False),
    ],
)
def test_what_is_a_tensor_elsewhere_is_no_list(change: str, packed: bool) -> None:
    assert is_packed(FILLED, "return self.rows[index]", f"def convert(layer, other):\n    {change}\n") is packed


def test_a_parameter_that_may_be_handed_over_is_no_dataset() -> None:
    layer = """\
class Layer(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight_left = torch.nn.Parameter(torch.zeros(size))
    def share(self, weight_left):
        self.weight_left = weight_left
    def fill(self, made):
        self.weight_left.rows[0] = made(self.weight_left.rows[0])
"""
    assert is_packed("import torch\n" + FILLED, "return self.rows[index]", "import torch\n" + layer)


@pytest.mark.parametrize(
    ("use", "result"),
    [
        ("return numpy.array(self.rows)", "return numpy.array(list(self.rows))"),
        ("json.dump(self.rows, open(path, 'w'))", "json.dump(list(self.rows), open(path, 'w'))"),
        ("return collections.Counter(self.rows)", "return collections.Counter(list(self.rows))"),
        ("return pandas.DataFrame(self.rows)", "return pandas.DataFrame(list(self.rows))"),
        ("more.append(self.rows)", ""),
        ("return path(self.rows)", ""),
    ],
)
def test_a_function_of_a_library_that_copies_the_list_gets_one(use: str, result: str) -> None:
    more = f"    def use(self, path, more):\n        import numpy\n        {use}\n"
    if result:
        assert result in fixed(FILLED, more=more)
    else:
        assert fix_of(FILLED, more=more)[1].applicability is Applicability.MANUAL


def test_json_lines_and_text_are_records() -> None:
    given = "import jsonlines\nself.rows = "
    assert "Serialized(list(jsonlines.open(path)))" in fixed(f"{given}list(jsonlines.open(path))")
    assert not is_packed(f"{given}list(jsonlines.open(path, loads=more[0]))", "return self.rows[index]")
    loop = "for row in open(path):\n    if more:\n        row = json.loads(row)\n    self.rows.append(row)"
    assert "self.rows = Serialized(self.rows)" in fixed(f"self.rows = []\n{loop}")


@pytest.mark.parametrize(
    "later",
    [
        "self.rows.sort(key=len)",
        "random.shuffle(self.rows)",
        "for row in self.rows:\n    row['size'] += 1",
        "for number, row in enumerate(self.rows):\n    row.update(number=number)",
        "self.rows[0]['size'] = 0",
        "keep(self.rows)",
        "mark(self.rows)",
        "if more:\n    self.rows = self.rows[:9]",
        "self.size = sum(row['size'] for row in self.rows)",
        "for row in self.rows:\n    row = dict(row)\n    row['size'] = 1",
        "self.longest = max(self.rows, key=len)",
    ],
)
def test_a_list_is_packed_where_it_is_complete_and_nothing_goes_through_it_again(later: str) -> None:
    wanted = f"{textwrap.indent(later, ' ' * 8)}\n        self.rows = Serialized(self.rows)\n    def __len__"
    assert wanted in fixed(FILLED + later)


@pytest.mark.parametrize(
    "later",
    [
        "self.size = len(self.rows)",
        "self.size = count(self.rows)",
        "self.first = self.rows[0]",
        "self.first = self.rows[:9]",
        "if more:\n    return\nself.size = sum(row['size'] for row in self.rows)",
    ],
)
def test_what_reads_a_part_comes_below_and_what_not_every_call_comes_to(later: str) -> None:
    wanted = f"\n        self.rows = Serialized(self.rows)\n{textwrap.indent(later, ' ' * 8)}\n    def __len__"
    assert wanted in fixed(FILLED + later)


def test_a_list_that_is_made_at_once_is_packed_below_the_loops_over_it() -> None:
    init = "self.rows = json.load(open(path))\nif not self.rows:\n    raise RuntimeError(path)\n"
    loops = "self.sizes = [row['size'] for row in self.rows]\nif more:\n    self.names = list(self.rows)\n"
    text = fixed(f"{init}self.first = self.rows[0]\n{loops}self.path = path")
    assert "self.names = list(self.rows)\n        self.rows = Serialized(self.rows)\n        self.path = path" in text
    assert "self.rows = Serialized(json.load(open(path)))" in fixed(f"{init}self.first = self.rows[0]")


def test_a_method_that_asks_for_a_list_may_be_called_between() -> None:
    more = "    def show(self):\n        print(self.rows)\n"
    init = "self.rows = json.load(open(path))\nself.show()\nself.sizes = [row['size'] for row in self.rows]"
    assert "self.rows = Serialized(json.load(open(path)))\n        self.show()" in fixed(init, more=more)


def test_a_list_that_only_a_branch_sets_is_packed_there() -> None:
    init = "if path:\n" + textwrap.indent(FILLED + "keep(self.rows)\n", "    ") + "self.path = path"
    assert "            keep(self.rows)\n            self.rows = Serialized(self.rows)\n        self.path" in fixed(
        init
    )


def test_other_code_gets_a_list_where_it_needs_one() -> None:
    more = "    def dump(self):\n        return json.dumps(self.rows), self.rows[2:], self.rows + [1]\n"
    result = fixed(FILLED, more=more)
    assert "return json.dumps(list(self.rows)), self.rows[2:], list(self.rows) + [1]" in result


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("for row in self.rows: row['a'] = 1", "changes a record: `for row in self.rows: row['a'] = 1`"),
        ("self.rows[0].update(a=1)", "changes a record: `self.rows[0].update(a=1)`"),
        ("for row in self.rows: row['a'].sort()", "changes a record: `for row in self.rows: row['a'].sort()`"),
        ("self.rows[0]['a'][1] = 2", "changes a record: `self.rows[0]['a'][1] = 2`"),
        ("parts = self.rows[0]['a']; parts.append(1)", "a record: `parts = self.rows[0]['a']; parts.append(1)`"),
        (
            "row = self.rows[0]; [part.pop() for part in row['a']]",
            "a record: `row = self.rows[0]; [part.pop() for part in row['a']]`",
        ),
        ("keep(self.rows)", "needs a list: `keep(self.rows)`"),
        ("self.rows.append({})", "needs a list: `self.rows.append({})`"),
        ("self.rows = []", "sets another list: `self.rows = []`"),
        (
            "self.rows = self.path.rows",
            "sets what is not certain to be a list of records: `self.rows = self.path.rows`",
        ),
    ],
)
def test_other_methods_that_need_the_list_are_named(more: str, why: str) -> None:
    _, fix = fix_of(FILLED, more=f"    def other(self):\n        {more}\n")
    assert fix.applicability is Applicability.MANUAL
    assert fix.title.endswith(why)


GROUPS = """\
self.rows = []
for name in open(path):
    self.rows.append([])
    for line in open(name):
        self.rows[-1].append(line.split())
"""
CLIP = "place, part = self.places[index]; "


@pytest.mark.parametrize(
    ("item", "part"),
    [
        ("return self.rows[place][part]", "[part]"),
        ("return self.rows[place][part]['text']", "[part]"),
        ("row = self.rows[place]; return row[part]", "[part]"),
        ("row = self.rows[place] or []; return row[part - 1]", "[part - 1]"),
        ("return [self.rows[place][number] for number in range(part)]", "[number]"),
        ("return self.rows[place][random.randrange(5)]", "[random.randrange(5)]"),
    ],
)
def test_records_that_are_read_part_by_part_stay(item: str, part: str) -> None:
    """`pickle.loads` makes all of a record: of a video of AVA, 8.6 ms for the boxes of one second."""
    _, fix = fix_of(GROUPS, CLIP + item)
    assert fix.applicability is Applicability.MANUAL
    assert fix.title.endswith(f": each read of `{part}` would load the whole record")
    assert not fix.snippet


@pytest.mark.parametrize(
    "item",
    [
        "return self.rows[place]",
        "return self.rows[place][0]",
        "return self.rows[place][-1]",
        "return self.rows[place][FIRST]",
        "return self.rows[place][:part]",
        "first, *others = self.rows[place]; return first",
        "row = self.rows[place]; return [row[number] for number in range(part)]",
        "row = self.rows[place]; return [other for other in row if other[part]]",
        "row = self.rows[place]; row = list(row); return row[part]",
        "row = self.rows[place]; return row, len(row), len(self.rows)",
        "row = self.rows[place]; return [random.choice(row) for _ in range(part)]",
        "return self.sample(self.rows[place], 2)",
    ],
)
def test_records_of_which_more_than_a_part_is_read_are_packed(item: str) -> None:
    assert "self.rows = Serialized(self.rows)" in fixed(GROUPS, CLIP + item)


@pytest.mark.parametrize(
    ("value", "packed"),
    [
        ("[(line, len(line), index) for index, line in enumerate(open(path))]", True),
        ("[{'text': line, 'size': len(line)} for line in open(path)]", True),
        ("list(csv.reader(open(path)))", True),
        ("[row for row in csv.DictReader(open(path)) if row]", True),
        ("[line.split() for line in open(path)]", True),
        ("[[*open(line)] for line in open(path)]", False),
        ("json.load(open(path))", False),
    ],
)
def test_a_part_of_a_record_that_is_seen_to_be_small_may_be_chosen(value: str, packed: bool) -> None:
    assert is_packed(f"self.rows = {value}", "return self.rows[index][self.column]") is packed


def test_dictionaries_that_are_read_part_by_part_stay() -> None:
    frames = "self.rows = {line.strip(): [*open(line)] for line in open(path)}"
    for read in ("[index]", ".get(index)"):
        _, fix = fix_of(frames, f"return self.rows[self.name(index)]{read}")
        assert fix.title.endswith(f": each read of `{read}` would load the whole record")


NAMES = """\
self.rows = {made}
for file in glob.glob(path):
    kind = file.split("/")[-2]
    {group}.append(file)
"""
OF_NAMES = "self.rows = {key: np.array(names, dtype=str) for key, names in self.rows.items()}"
IN_SETDEFAULT = "self.rows.setdefault(kind, [])"


def named(read: str, made: str = "{}", group: str = IN_SETDEFAULT, later: str = "") -> Fix:
    item = f"kind = self.name(index); {read}; return found, random.choice(self.rows[kind])"
    return fix_of(NAMES.format(made=made, group=group) + later, item)[1]


@pytest.mark.parametrize("made", [("{}", IN_SETDEFAULT), ("collections.defaultdict(list)", "self.rows[kind]")])
@pytest.mark.parametrize(
    ("read", "drawn"),
    [
        ("found = random.choice(self.rows[kind])", "random.choice(self.rows[kind])"),
        ("found = random.choice(self.rows[kind].copy())", "random.choice(self.rows[kind].copy())"),
        ("found = random.sample(list(self.rows[kind]), 2)", "random.sample(list(self.rows[kind]), 2)"),
        ("names = self.rows[kind]; found = random.choices(names, k=2)", "random.choices(names, k=2)"),
        ("found = random.randrange(len(self.rows[kind]))", "len(self.rows[kind])"),
        ("found = self.rows[kind][index]", "[index]"),
    ],
)
def test_names_of_which_some_are_drawn_are_better_arrays(made: tuple[str, str], read: str, drawn: str) -> None:
    fix = named(read, *made)
    assert fix.title.startswith("Keep the names that `rows` has for each key as an array, not as bytes; ")
    assert fix.title.endswith(f": each read of `{drawn}` would load the whole record")
    assert OF_NAMES in fix.snippet
    assert ("random.sample takes no array" in fix.snippet) is ("random.sample" in drawn)


def test_the_length_of_a_word_may_be_asked() -> None:
    words = "self.rows = {}\nfor line in open(path):\n    name, word = line.split()\n    self.rows[name] = word\n"
    assert is_packed(words, "return len(self.rows[self.name(index)])")


@pytest.mark.parametrize("other", ["self.rows['a'] = [1]", "self.rows['a'] = more", "self.rows['a'].append(1)"])
def test_what_else_is_drawn_from_has_no_array_to_paste(other: str) -> None:
    fix = named("found = random.choice(self.rows[kind])", later=other)
    assert fix.applicability is Applicability.MANUAL
    assert OF_NAMES not in fix.snippet


def test_a_function_that_reads_part_by_part_gets_the_list() -> None:
    head = "def sizes(rows, places):\n    return [len(rows[i][j]) for i, j in places]\n\n"
    code = fixed(f"{GROUPS}self.sizes = sizes(self.rows, more)", more=f"\n{head}")
    assert "self.sizes = sizes(self.rows, more)\n        self.rows = Serialized(self.rows)\n" in code


def test_what_replaces_a_list_is_packed_instead() -> None:
    chosen = "[row for row in self.rows if row['size']]"
    assert f"self.rows = Serialized({chosen})" in fixed(f"{FILLED}self.rows = {chosen}")


def test_a_call_of_several_lines_stays_as_it_is() -> None:
    init = "self.rows = json.load(\n    open(path))\nself.path = path"
    wanted = f"{init}\n".replace("\nself.path", "\nself.rows = Serialized(self.rows)\nself.path")
    assert textwrap.indent(wanted, " " * 8) in fixed(init)


@pytest.mark.parametrize(
    "other",
    [
        "elif more:\n    self.rows = json.load(open(more[0]))\nelse:\n    raise ValueError(path)",
        "else:\n    if more:\n        self.rows = json.load(open(more[0]))\n    else:\n        raise ValueError(path)",
        "else:\n    print(path)\n    self.rows = [line.split() for line in open(path)]",
    ],
)
def test_branches_that_all_set_a_list_have_one_statement_below(other: str) -> None:
    init = f"if path.endswith('.json'):\n    self.rows = json.load(open(path))\n{other}\n"
    wanted = textwrap.indent(f"{init}self.rows = Serialized(self.rows)\n", " " * 8)
    assert wanted in fixed(init)


@pytest.mark.parametrize(
    "other",
    [
        "elif more:\n    self.rows = json.load(open(more[0]))",
        "else:\n    self.rows = json.load(open(more[0]))\n    self.first = self.rows[0]",
        "else:\n    self.rows = json.load(open(more[0]))\n    return",
    ],
)
def test_branches_that_set_or_do_something_else_are_changed_on_their_own(other: str) -> None:
    text = fixed(f"if path.endswith('.json'):\n    self.rows = json.load(open(path))\n{other}\n")
    assert text.count("self.rows = Serialized(json.load(open(") == 2


FOLDER = """\
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

class Rows(ImageFolder):
    def __init__(self, path):
        self.transform = self.target_transform = None
        self.{name} = []
        for line in open(path):
            self.{name}.append((line, len(line)))
{more}
DataLoader(Rows("."), num_workers=2)
"""
READING = "    def __getitem__(self, index):\n        return self.imgs[index]\n"


@pytest.mark.parametrize(("name", "more", "packed"), [("samples", "", True), ("imgs", READING, False)])
def test_samples_of_folder_datasets_are_packed(name: str, more: str, packed: bool) -> None:
    """Torchvision's code takes one of them for an item, and does more with other attributes."""
    source = Source("a.py", FOLDER.format(name=name, more=more))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = PythonContainerOnDataset()
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None and bool(fix.edits) is packed, fix


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("    rows: list[dict]\n", "the body of `Rows` declares it: `rows: list[dict]`"),
        ("    rows: list = ()\n", "the body of `Rows` binds `rows`, too"),
        ("    rows: list\n    rows = ()\n", "the body of `Rows` binds `rows`, too"),
    ],
)
def test_what_a_class_body_says_of_the_list_stays_true(body: str, why: str) -> None:
    """An annotation without a value binds nothing."""
    _, fix = fix_of(FILLED, more=body)
    assert fix.applicability is Applicability.MANUAL
    assert why in fix.title


DECLARED = """\
{above}self.rows: list[dict] = []
for line in open(path):
    {fill}
{below}"""
APPENDED = "self.rows.append({'text': line})"


@pytest.mark.parametrize(
    ("above", "fill", "below"),
    [
        ("", APPENDED, "print(len(self.rows))\n"),
        ("", APPENDED, "self.rows.sort(key=len)\n"),
        ("super().__init__()\n", "self.rows += [{'text': line, 'path': self.path} for _ in more]", ""),
        ("self.setup()\n", APPENDED, ""),
    ],
)
def test_a_declared_list_is_a_variable_until_it_is_complete(above: str, fill: str, below: str) -> None:
    text = fixed(DECLARED.format(above=above, fill=fill, below=below))
    line = fill.replace("self.rows", "rows")
    sort = "        rows.sort(key=len)\n" if "sort" in below else ""
    made = "        rows: list[dict] = []\n        for line in open(path):\n"
    assert f"{made}            {line}\n{sort}        self.rows = Serialized(rows)\n" in text
    assert ("print(len(self.rows))" in text) is ("print" in below)


@pytest.mark.parametrize(
    ("above", "fill", "below"),
    [
        ("", "self.add(line); self.rows.append({'text': line})", ""),
        ("", "self.rows.append({'text': line, 'place': len(self)})", ""),
        ("", "self.rows.append({'text': line, 'size': self.size})", ""),
        ("self.read = self.add\n", APPENDED, ""),
        ("helper = more[0](self)\n", APPENDED, ""),
        ("again = lambda: len(self.rows)\n", APPENDED, ""),
        ("rows = 1\n", APPENDED, ""),
        ("", f"if not line: return\n    {APPENDED}", ""),
        ("if more: ", APPENDED, ""),
    ],
)
def test_a_declared_list_that_other_code_may_ask_for_stays(above: str, fill: str, below: str) -> None:
    more = "    def add(self, line):\n        self.rows.append({'text': line})\n"
    more += "    @property\n    def size(self):\n        return len(self.rows)\n"
    _, fix = fix_of(DECLARED.format(above=above, fill=fill, below=below), more=more)
    assert fix.applicability is Applicability.MANUAL
    assert "self.rows: list[dict] = []" in fix.title


@pytest.mark.parametrize(
    ("between", "removed"),
    [
        ("", True),
        ("with open(path) as file:\n    ", True),
        ("self.path = path\n", True),
        ("print(len(self.rows))\n", False),
        ("print(len(self))\n", False),
        ("if more:\n    ", False),
        ("with more[0]:\n    ", False),
    ],
)
def test_a_declaration_that_nothing_reads_goes_with_the_list(between: str, removed: bool) -> None:
    text = fixed(f"self.rows: list[dict] = []\n{between}self.rows = json.load(open(path))")
    assert "self.rows = Serialized(json.load(open(path)))" in text
    assert ("self.rows: list[dict] = []" in text) is not removed


@pytest.mark.parametrize(("row", "packed"), [("{'text': line}", True), ("{'file': open(line)}", False)])
def test_a_sorted_copy_that_takes_the_place_of_the_list(row: str, packed: bool) -> None:
    filled = f"if path:\n    self.rows = []\n    for line in open(path):\n        self.rows.append({row})\n"
    code, fix = fix_of(f"{filled}self.rows = sorted(self.rows, key=len)")
    assert (fix.applicability is Applicability.UNSAFE) is packed
    assert not packed or "self.rows = Serialized(sorted(self.rows, key=len))" in apply(code, fix.edits)


def test_the_class_calls_modules_what_its_file_calls_them() -> None:
    init = "        self.rows = [line.split() for line in open(path)]"
    code = HEAD.format(init=init, item="return self.rows[index]", more="")
    source = Source("a.py", code.replace("pickle, random", "pickle as pkl, random"))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = PythonContainerOnDataset()
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    result = apply(source.text, fix.edits)
    assert "data += pkl.dumps(record)" in result
    assert "return pkl.loads(self.data" in result


def test_several_lists_of_a_file_share_the_class() -> None:
    text = fixed("self.rows = [line.split() for line in open(path)]")
    text = text.replace("path, *more):", "path, *more):\n        self.others = [(line, 1) for line in open(path)]")
    source = Source("a.py", text.replace("return self.rows[index]", "return self.rows[index], self.others[index]"))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = PythonContainerOnDataset()
    fixes = [rule.fix(finding, project) for finding in rule.check(project)]
    texts = ["".join(edit.text for edit in fix.edits) for fix in fixes if fix is not None]
    assert texts == ["Serialized()"]


TABLE = "self.rows = {}\nfor line in open(path):\n    name, *words = line.split()\n    self.rows[name] = words\n"
BY_NAME = "return self.rows[self.name(index)]"


def table(later: str = "", item: str = BY_NAME, more: str = "") -> str:
    return fixed(TABLE + later, item, more)


@pytest.mark.parametrize(
    "value",
    [
        "{line.strip(): line.split() for line in open(path)}",
        "{name: {'words': name.split()} for name in json.load(open(path))}",
        "dict(zip([line.strip() for line in open(path)], csv.reader(open(path))))",
        "{row['id']: row for row in json.load(open(path))}",
        "{(line.strip() or None): line.split() for line in open(path)}",
    ],
)
def test_dictionaries_of_records_are_packed(value: str) -> None:
    laid_out = "".join(fixed(f"self.rows = {value}", BY_NAME).split())
    assert f"self.rows=SerializedDict({''.join(value.split())})" in laid_out


def test_lines_that_one_branch_reads_as_json_and_another_one_splits_are_packed() -> None:
    """In the next round of the loop, as far as assignments tell, `line` may be what the last one made of its own."""
    split = "name, text = line.strip().split('\\t')\n        line = {'name': name, 'text': text}"
    put = "self.rows[line['name']] = line['text']"
    made = f"    if more:\n        line = json.loads(line)\n    else:\n        {split}\n    {put}"
    init = f"self.rows = {{}}\nfor line in open(path):\n{made}"
    assert "self.rows = SerializedDict(self.rows)" in fixed(init, BY_NAME)
    assert not is_packed(init.replace("json.loads(line)", "more[0](line)"), BY_NAME)


@pytest.mark.parametrize(
    ("init", "why"),
    [
        ("self.all = json.load(open(path))\nself.rows = self.all['train']", "`self.all` keeps as well"),
        ("self.all = json.load(open(path))\nself.rows = self.all.get('train')", "`self.all` keeps as well"),
        ("rows = json.load(open(path))\nself.all = rows\nself.rows = rows['train']", "`self.all` keeps as well"),
    ],
)
def test_a_part_of_what_is_kept_as_well_stays(init: str, why: str) -> None:
    """The records would be there twice, in both forms, in each spawned worker."""
    _, fix = fix_of(init, BY_NAME)
    assert fix.applicability is Applicability.MANUAL
    assert why in fix.title


def test_a_part_of_what_is_deleted_is_packed() -> None:
    kept = "self.all = json.load(open(path))\nself.rows = self.all['train']\nself.size = len(self.rows.keys())\n"
    _, fix = fix_of(kept, BY_NAME)
    assert "`self.all` keeps as well" in fix.title
    assert "self.rows = SerializedDict(" in fixed(f"{kept}del self.all", BY_NAME)


def test_python_2_has_no_such_mapping() -> None:
    _, fix = fix_of("import six\nself.rows = {row['id']: row for row in json.load(open(path))}", BY_NAME)
    assert fix.title.endswith("the file still runs in Python 2")


def test_columns_are_not_packed_as_a_whole_which_every_item_would_unpack() -> None:
    columns = "self.rows = {'name': [row[0] for row in csv.reader(open(path))], 'line': [line for line in open(path)]}"
    every = "return [self.rows[key][index] for key in self.rows]"
    assert not is_packed(columns, every)
    assert is_packed("self.rows = {'': 0}\n" + "\n".join(TABLE.split("\n")[1:]), BY_NAME)


@pytest.mark.parametrize(
    "value",
    [
        "{tuple(line.split()): line.split() for line in open(path)}",
        "{more[0](line): line.split() for line in open(path)}",
        "{line: open(line) for line in csv.reader(open(path))}",
        "{line.strip(): more[0](line) for line in open(path)}",
    ],
)
def test_keys_that_have_no_hash_of_their_own_and_other_objects_stay(value: str) -> None:
    assert not is_packed(f"self.rows = {value}", BY_NAME)


@pytest.mark.parametrize(
    "later",
    [
        "self.rows.setdefault('none', [])",
        "self.rows.update(other=['other'])",
        "del self.rows[name]",
        "self.rows[name].append('word')",
        "for words in self.rows.values():\n    words.sort()",
        "self.names = sorted(self.rows)",
        "self.names = [name for name, words in self.rows.items() if words]",
    ],
)
def test_a_dictionary_is_packed_where_it_is_complete_and_nothing_goes_through_it_again(later: str) -> None:
    wanted = f"{textwrap.indent(later, ' ' * 8)}\n        self.rows = SerializedDict(self.rows)\n    def __len__"
    assert wanted in table(later)


@pytest.mark.parametrize(
    "use",
    [
        "self.rows[name]",
        "self.rows.get(name)",
        "name in self.rows",
        "len(self.rows)",
        "bool(self.rows)",
        "[*self.rows]",
        "sorted(self.rows)",
        "dict(self.rows)",
        "{**self.rows}",
        "self.rows.keys() & {name}",
        "[words for words in self.rows.values() if words]",
        "[key for key, words in self.rows.items() if words]",
        "self.rows is None",
        "1 if self.rows else 2",
    ],
)
def test_what_reads_a_dictionary_stays_as_it_is(use: str) -> None:
    assert f"return {use}\n" in table(more=f"    def other(self, name):\n        return {use}\n")


def test_other_code_gets_a_dictionary_where_it_needs_one() -> None:
    more = "    def dump(self):\n        return json.dumps(self.rows), self.rows == {}, self.rows.copy()\n"
    assert "json.dumps(dict(self.rows)), dict(self.rows) == {}, dict(self.rows).copy()" in table(more=more)
    more = "    def save(self, file):\n        pickle.dump(self.rows, file)\n"
    assert "pickle.dump(dict(self.rows), file)" in table(more=more)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("self.rows[str(name)] = []", "needs a dictionary"),
        ("del self.rows[name]", "needs a dictionary"),
        ("self.rows.pop(name)", "needs a dictionary"),
        ("return self.rows.setdefault(name, [])", "needs a dictionary"),
        ("self.rows.update({'a': []})", "needs a dictionary"),
        ("return self.rows", "needs a dictionary"),
        ("return isinstance(self.rows, dict)", "needs a dictionary"),
        ("keep(self.rows)", "needs a dictionary"),
        ("self.rows[name].append(1)", "changes a record"),
        ("self.rows.get(name).append(1)", "changes a record"),
        ("words = self.rows.get(name); words.append(1)", "changes a record"),
        ("words = self.rows.get(name) or []; words.append(1)", "changes a record"),
        ("for words in self.rows.values(): words.append(1)", "changes a record"),
        ("for name, words in self.rows.items(): words[0] = 1", "changes a record"),
    ],
)
def test_other_methods_that_need_the_dictionary_are_named(more: str, why: str) -> None:
    _, fix = fix_of(TABLE, BY_NAME, f"    def other(self, name):\n        {more}\n")
    assert fix.applicability is Applicability.MANUAL
    assert f"{why}: `{more}`" in fix.title


def test_dictionaries_that_make_what_they_lack_stay() -> None:
    _, fix = fix_of(f"import collections\n{TABLE.replace('{}', 'collections.defaultdict(list)')}", BY_NAME)
    assert fix.applicability is Applicability.MANUAL


def test_a_subclass_that_writes_needs_the_dictionary() -> None:
    more = "class Sub(Rows):\n    def add(self, name):\n        self.rows[name] = []\n"
    _, fix = fix_of(TABLE, BY_NAME, more)
    assert fix.applicability is Applicability.MANUAL


def test_a_tuple_that_sets_it_announces_nothing() -> None:
    more = "    def load(self, path):\n" + textwrap.indent(TABLE, " " * 8)
    _, fix = fix_of("self.rows, self.size = path\nself.load(path)", BY_NAME, more)
    assert fix.applicability is Applicability.MANUAL


def test_what_another_method_is_to_set_may_be_announced() -> None:
    more = "    def load(self, path):\n" + textwrap.indent(TABLE, " " * 8)
    text = fixed("self.rows = None\nself.load(path)", BY_NAME, more)
    assert "        self.rows = SerializedDict(self.rows)\n\nDataLoader" in text


def made(**scope: Any) -> type[Mapping[object, object]]:
    """The class that a fix adds, with other things under the names of its file."""
    text = table()
    exec(
        "import numpy as np, pickle, torch, zlib\nfrom collections.abc import Mapping\n"
        + text[text.index("class S") : text.index("class Rows")],
        scope,
    )
    return scope["SerializedDict"]  # type: ignore[no-any-return]


def test_the_packed_dictionary_is_read_as_the_one_that_it_replaces() -> None:
    names = {f"{number % 7}/{number}.jpg": [number, "cat"] for number in range(3000)}
    for plain in (names, {number * 3 - 9: str(number) for number in range(500)}, {"\udc80é": 1, "": 2, 0.5: 3}, {}):
        packed = made()(plain)
        assert list(packed) == list(plain)
        assert list(packed.items()) == list(plain.items())
        assert packed == plain
        assert [packed.get(key) for key in plain] == list(plain.values())
        assert "missing" not in packed and -1 not in packed and packed.get(None) is None
        with pytest.raises(KeyError, match="missing"):
            packed["missing"]


def test_keys_with_the_same_hash_are_told_apart() -> None:
    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    packed = made()({"plumless": 1, "buckeroo": 2})
    assert (packed["buckeroo"], packed["plumless"], packed[np.str_("plumless")]) == (2, 1, 1)
    assert made()({-1: 1, -2: 2})[np.int64(-1)] == 1


def test_none_is_found_by_processes_that_have_another_hash_of_it() -> None:
    addresses = itertools.count()
    packed = made(hash=lambda key: next(addresses) if key is None else hash(key))({"a": 1, None: 2, 0: 3, 7: 4, "": 5})
    assert [packed[key] for key in ("a", None, 0, False, 7.0, "")] == [1, 2, 3, 3, 4, 5]
    with pytest.raises(KeyError):
        made()({0: 1})[None]


PAIRS = """\
rows = []
for name in sorted(os.listdir(path)):
    image = os.path.join(path, name)
    rows.append((image, image.replace(".jpg", ".png")))
self.rows = rows
"""


@pytest.mark.parametrize(
    ("init", "item", "more"),
    [
        (PAIRS, "image, mask = self.rows[index]; return open(image), open(mask)", ""),
        (PAIRS, "return open(self.rows[index][0]), open(self.rows[index][-1])", ""),
        (PAIRS, "return open(self.rows[index][0])", "    def all(self):\n        return [a for a, _ in self.rows]\n"),
        (PAIRS.replace("= rows\n", "= rows\nself.rows = self.rows[:9]\n"), "return open(self.rows[index][0])", ""),
    ],
)
def test_tuples_of_names_of_files_that_code_takes_apart_become_an_array(init: str, item: str, more: str) -> None:
    result = fixed(f"import os\n{init}", item, more)
    assert re.search(r"        self.rows = np.array\((self\.)?rows(\[:9\])?, dtype=str\)\n", result)
    assert "Serialized" not in result


@pytest.mark.parametrize(
    ("init", "item", "more"),
    [
        (PAIRS, "return self.rows[index]", ""),
        (PAIRS, "image, *masks = self.rows[index]; return open(image), masks", ""),
        (PAIRS, "return open(self.rows[index][0])", "    def has(self, row):\n        return row in self.rows\n"),
        (PAIRS, "return open(self.rows[index][0])", "    def all(self):\n        return count(self.rows)\n"),
        (PAIRS.replace("(image, image", "(image, len(image), image"), "return open(self.rows[index][0])", ""),
        (
            PAIRS.replace("    rows", "    if more:\n        rows.append((image,))\n    rows"),
            "return self.rows[index][0]",
            "",
        ),
        (PAIRS.replace("image.replace", "name[0] and more[0].replace"), "return open(self.rows[index][0])", ""),
    ],
)
def test_other_rows_are_packed_or_left(init: str, item: str, more: str) -> None:
    code, fix = fix_of(f"import os\n{init}", item, more)
    assert not any(re.search(r"(?<!from_numpy\()np\.array\(", edit.text) for edit in fix.edits), code


CLIPS = """\
self.rows = []
for number, line in enumerate(open(path)):
    for start in range(0, len(line), 4):
        self.rows.append((number, start + 1))
"""


NUMBERED = "self.rows = [(number, 0) for number, line in enumerate(open(path))]\n"


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        ("line, start = self.rows[index]; return line", "line, start = self.rows[index].tolist(); return line"),
        ("return self.rows[index][-1]", "return self.rows[index].tolist()[-1]"),
        (
            "return [line for line, start in self.rows if start > self.rows[index][1]]",
            "return [line for line, start in self.rows.tolist() if start > self.rows[index].tolist()[1]]",
        ),
    ],
)
@pytest.mark.parametrize("later", ["", "random.shuffle(self.rows)\n"])
def test_rows_of_integers_that_code_takes_apart_become_a_tensor(item: str, wanted: str, later: str) -> None:
    result = fixed(CLIPS + later, item)
    last = later or "        self.rows.append((number, start + 1))\n"
    assert f"        {last}        self.rows = torch.tensor(self.rows)\n" in result
    assert wanted in result and "Serialized" not in result


def test_a_list_of_integers_that_branches_fill_is_a_tensor_below() -> None:
    branches = f"if more:\n{textwrap.indent(CLIPS, '    ')}else:\n    self.rows = []\n"
    result = fixed(branches, "return [number for number, start in self.rows if start < self.rows[index][1]]")
    assert "            self.rows = []\n        self.rows = torch.tensor(self.rows)\n" in result
    assert "self.rows = torch.tensor(" in fixed(NUMBERED, "return self.rows[index][0]")


@pytest.mark.parametrize(
    ("line", "is_explicit"),
    [
        ("torch.set_default_device('cuda')", True),
        ("torch.set_default_tensor_type(torch.cuda.FloatTensor)", True),
        ("with torch.device('cuda'): rows = Rows('.')", True),
        ("with torch.cuda.device(0): rows = Rows('.')", False),
        ("device = torch.device('cuda')", False),
    ],
)
def test_a_tensor_of_integers_is_on_the_cpu_where_new_tensors_may_be_elsewhere(line: str, is_explicit: bool) -> None:
    code = fixed(CLIPS, "return self.rows[index][0]", f"import torch\nif __name__ == '__main__':\n    {line}\n")
    assert ("self.rows = torch.tensor(self.rows" + (', device="cpu")\n' if is_explicit else ")\n")) in code


@pytest.mark.parametrize(
    ("init", "item", "more"),
    [
        (CLIPS, "return self.rows[index]", ""),
        (CLIPS, "line, *more = self.rows[index]; return more", ""),
        (CLIPS, "line, start = self.rows[index]; return line", "    def last(self):\n        return self.rows[-1]\n"),
        (CLIPS, "line, start = self.rows[index]; return line", "    def cut(self):\n        return self.rows[:2]\n"),
        (CLIPS, "line, start = self.rows[index]; return line", "print(Rows('')[0], Rows('').rows[0][0])\n"),
        (CLIPS.replace("start + 1", "start / 2"), "line, start = self.rows[index]; return line", ""),
        (CLIPS.replace("start + 1", "True"), "line, start = self.rows[index]; return line", ""),
        (CLIPS.replace("start + 1", "more[0]"), "line, start = self.rows[index]; return line", ""),
        (f"{CLIPS}self.rows.append((1, 2, 3))\n", "return self.rows[index][0]", ""),
        (f"{CLIPS}self.rows = self.rows[::-1]\n", "return self.rows[index][0]", ""),
        (CLIPS, "return self.rows[index][0]", "    def clear(self):\n        self.rows = []\n"),
        (f"{NUMBERED}if more:\n    self.rows = [(2, 3)]\n", "return self.rows[index][0]", ""),
        (f"self.rows = []\nif more:\n    {NUMBERED}", "return self.rows[index][0]", ""),
        (f"if more:\n    {NUMBERED}else:\n    self.rows = []", "return self.rows[index][0]", ""),
    ],
)
def test_other_rows_of_numbers_become_none(init: str, item: str, more: str) -> None:
    _, fix = fix_of(init, item, more)
    assert not any("torch.tensor(self" in edit.text for edit in fix.edits)


COLUMN = "self.rows = list(pandas.read_csv(path, header=None).values[:, 0])"


@pytest.mark.parametrize("item", ["return open(self.rows[index])", "return self.rows[index].split('/')"])
def test_columns_of_which_workers_read_text_are_packed(item: str) -> None:
    assert COLUMN.replace("list(", "Serialized(list(") + ")" in fixed(COLUMN, item)
    assert "self.rows = Serialized(self.rows)" in fixed(f"table = pandas.read_csv(path)\n{DRAWN}", item)


def test_columns_of_text_are_one_array() -> None:
    text = COLUMN.replace("[:, 0]", "[:, 0].astype('str')")
    result = "".join(fixed(text, "return open(self.rows[index])").split())
    assert "".join(text.replace("list(", "np.array(list(").split()) + ",dtype=str" in result


DRAWN = """\
self.rows = list(table.values[1:, -1])
self.more = []
for place in range(9):
    self.more.append(self.rows[place])
"""


@pytest.mark.parametrize(
    ("init", "item"),
    [
        (COLUMN, "return self.rows[index]"),
        (COLUMN.replace("header", "converters=more[0], header"), "return open(self.rows[index])"),
        (COLUMN.replace(".values", ".apply(more[0]).values"), "return open(self.rows[index])"),
        (COLUMN.replace("[:, 0]", ""), "return open(self.rows[index])"),
        (f"{COLUMN}\nself.rows.append(more)", "return open(self.rows[index])"),
    ],
)
def test_columns_of_numbers_or_other_things_stay(init: str, item: str) -> None:
    assert not is_packed(init, item)


FLAGGED = """\
self.flag, self.kind = len(more), path
self.rows = [dict(row) for row in csv.DictReader(open(path))]
"""
SET = "row = self.rows[index]\n{}\nreturn row['b']"


def in_method(code: str) -> str:
    return code.replace("\n", "\n        ")


@pytest.mark.parametrize(
    ("item", "more"),
    [
        (SET.format("row['b'] = row['a'].split()"), ""),
        (SET.format("row['b'], row['c'] = row['a'], len(self.rows)"), ""),
        (SET.format("if self.flag:\n    row['b'] = 1"), ""),
        (SET.format("if self.flag and self.kind == '.':\n    row['b'] = 1\nelif not self.flag:\n    row['c'] = 1"), ""),
        (SET.format("row['b'] = 1\nif row['a']:\n    return row['a']"), ""),
        (SET.format("row['b'] = 1"), "def first(self):\n    return self.rows[0]['a'] + str(self.flag > 1)"),
        (SET.format("row['b'] = 1"), "def collate(self, batch):\n    return [row['a'] for row in batch]"),
    ],
)
def test_what_is_set_each_time_before_it_is_read_may_be_set_in_a_copy(item: str, more: str) -> None:
    methods = textwrap.indent(more, "    ")
    assert "self.rows = Serialized([dict(row)" in fixed(FLAGGED, in_method(item), methods)


@pytest.mark.parametrize(
    "item",
    [
        SET.format("row['b'] += 1"),
        SET.format("row['b'] = row['b'] + 1"),
        SET.format("if row['b']:\n    row['b'] = 1"),
        SET.format("if index:\n    row['b'] = 1"),
        SET.format("if self.flag and index:\n    row['b'] = 1"),
        SET.format("if self.ready():\n    row['b'] = 1"),
        SET.format("if self.flag:\n    row['b'] = 1\n    print(row['c'])\nelse:\n    row['c'] = 1"),
        SET.format("for row['b'] in range(3):\n    pass"),
        SET.format("for number in range(index):\n    row['b'] = 1"),
        SET.format("try:\n    row['b'] = int(row['a'])\nexcept ValueError:\n    pass"),
        SET.format("row[index] = 1"),
        SET.format("row['b'] = 1\ncount(row)"),
        SET.format("row['b'] = 1\ndel row['a']"),
        SET.format("row['b'] = self[index - 1]"),
        SET.format("row['b'] = count(self)"),
        SET.format("row['b'] = 1\nrow['a'].append(1)"),
        SET.format("row['b'] = []\nrow['b'].append(1)"),
        SET.format("row['b'] = 1\nrow = self.rows[0]"),
        SET.format("row['b'] = 1").replace("return row['b']", "return row"),
        SET.format("row['b'] = 1").replace("return", "yield"),
        "self.rows[index]['b'] = 1\nreturn self.rows[index]['b']",
    ],
)
def test_records_that_are_changed_otherwise_stay(item: str) -> None:
    _, fix = fix_of(FLAGGED, in_method(item), "    def ready(self):\n        return self.flag\n")
    assert fix.title.endswith("changes an entry in workers")


@pytest.mark.parametrize(
    "more",
    [
        "    def first(self):\n        return self.rows[0]['b']",
        "    def first(self):\n        return self.rows[0]",
        "    def first(self):\n        row = self.rows[0]; row['b'] = 2; return row['b']",
        "    def all(self):\n        return [row['a'] for row in self.rows]",
        "    def part(self):\n        return self.rows[1:]",
        "    def of(self, row):\n        return row['b']",
        "    def of(self, row):\n        return row.get('b')",
        "    def set(self, flag):\n        self.flag = flag",
        "    def set(self):\n        self.flag += 1",
        "    def take(self):\n        return self.flag",
        "class Sub(Rows):\n    flag = 0\n",
        "class Sub(Rows):\n    def turn(self):\n        self.flag = 0\n",
        "def turn(rows: Rows):\n    rows.flag = 0\n",
        "def first(rows: Rows):\n    return rows.rows[0]['b']\n",
    ],
)
def test_what_other_code_may_find_in_a_record_stays(more: str) -> None:
    item = in_method(SET.format("if self.flag:\n    row['b'] = 1"))
    assert "Serialized(" in fixed(FLAGGED, item)
    _, fix = fix_of(FLAGGED, item, more)
    assert fix.title.endswith("changes an entry in workers")


def test_a_record_that_is_read_several_times_is_made_once() -> None:
    item = "return self.rows[index]['text'], self.rows[index]['size']"
    once = "        record = self.rows[index]\n        return record['text'], record['size']\n"
    assert once in fixed(FILLED, item)
    made = "    def more(self):\n        self.rows = [{'a': line} for line in open('b')]\n"
    assert item in fixed(FILLED, item, made)


def test_records_that_are_made_once_are_the_same() -> None:
    code = fixed(FILLED, "return self.rows[index]['text'], self.rows[index]['size']")
    scope: dict[str, Any] = {}
    text = code.partition("DataLoader(Rows")[0].replace(" pandas,", "").replace("open(path)", "['a', 'bcd']")
    exec(text, scope)
    rows = scope["Rows"](".")
    assert [rows[0], rows[1], rows[-1]] == [("a", 1), ("bcd", 3), ("bcd", 3)]


def test_what_is_told_once_the_first_container_of_a_class_is_packed_is_packed_too(tmp_path: Path) -> None:
    """Of a class that only users of a library load, one container is told at a time."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").touch()
    file = tmp_path / "lib" / "rows.py"
    item = "if torch.rand(1) < 2:\n            return self.rows[index], self.more[index]"
    init = textwrap.indent(FILLED + FILLED.replace("rows", "more"), " " * 8)
    code = HEAD.format(init=init, item=item, more="").rpartition("DataLoader(")[0]
    file.write_text(f"import torch\n{code}")
    with contextlib.chdir(tmp_path):
        CliRunner().invoke(cli, ["check", "--no-cache", "--fix", "--unsafe-fixes", "."])
    assert "self.rows = Serialized(self.rows)" in file.read_text()
    assert "self.more = Serialized(self.more)" in file.read_text()


@pytest.mark.torch
def test_records_stay_where_forked_workers_can_read_them() -> None:
    """`torch.set_default_device` moves what `torch.tensor` makes: to the GPU, of which "meta" takes the place here."""
    torch = pytest.importorskip("torch")
    (made,) = (item for item in ast.parse(fixed(FILLED)).body if getattr(item, "name", "") == "Serialized")
    names: dict[str, Any] = {"np": np, "pickle": pickle, "torch": torch, "Dataset": object, "Sequence": object}
    exec(compile(ast.Module([made], []), "a.py", "exec"), names)
    with torch.device("meta"):
        rows = names["Serialized"]([{"text": "a"}, {"text": "b"}])
    assert [*rows] == [{"text": "a"}, {"text": "b"}]
