"""DLL202's fix: records as bytes where every use survives that, else what to paste and what is in the way."""

from __future__ import annotations

import textwrap

import pytest
from dllint_rules.memory.dll202_python_container_on_dataset import PythonContainerOnDataset

from dllint import Applicability, Fix, Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports

HEAD = """\
import csv, json, pandas, pickle, random
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
    ],
)
def test_what_may_be_no_list_of_records_stays(init: str, item: str) -> None:
    try:
        _, fix = fix_of(init, item)
    except ValueError:
        return  # not reported at all
    assert fix.applicability is Applicability.MANUAL


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
        ("keep(self.rows)", "needs a list: `keep(self.rows)`"),
        ("self.rows.append({})", "needs a list: `self.rows.append({})`"),
    ],
)
def test_other_methods_that_need_the_list_are_named(more: str, why: str) -> None:
    _, fix = fix_of(FILLED, more=f"    def other(self):\n        {more}\n")
    assert fix.applicability is Applicability.MANUAL
    assert fix.title.endswith(why)


def test_what_replaces_a_list_is_packed_instead() -> None:
    chosen = "[row for row in self.rows if row['size']]"
    assert f"self.rows = Serialized({chosen})" in fixed(f"{FILLED}self.rows = {chosen}")


def test_several_lists_of_a_file_share_the_class() -> None:
    text = fixed("self.rows = [line.split() for line in open(path)]")
    text = text.replace("path, *more):", "path, *more):\n        self.others = [(line, 1) for line in open(path)]")
    source = Source("a.py", text.replace("return self.rows[index]", "return self.rows[index], self.others[index]"))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = PythonContainerOnDataset()
    fixes = [rule.fix(finding, project) for finding in rule.check(project)]
    texts = ["".join(edit.text for edit in fix.edits) for fix in fixes if fix is not None]
    assert texts == ["Serialized()"]
