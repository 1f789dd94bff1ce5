"""Remedies that are shown and not applied: whole pieces of code, with the program's own names."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint import Applicability, Fix, Project, engine, registry
from dllint.collect import collect
from dllint.engine import Request
from dllint.project import Targets
from dllint.registry import Layer
from dllint.source import Source
from dllint.testing.cases import Project as CaseProject
from dllint.testing.cases import page_code
from dllint.testing.pages import Page
from tests.lint import all_pages

HEAD = """\
import csv
import json
import pandas
import pickle
import torch
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __init__(self, path):
        {init}
    def __len__(self):
        return 4
    def __getitem__(self, index):
        {item}

DataLoader(Data("."), num_workers=2)
"""


def fix_of(code: str, init: str, item: str) -> Fix | None:
    source = Source("a.py", HEAD.format(init=init.replace("\n", "\n        "), item=item))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = next(rule() for rule in registry.rules() if rule.code == code)
    (finding,) = rule.check(project)
    return rule.fix(finding, project)


def test_a_value_that_is_wrong_by_itself_has_no_other() -> None:
    source = Source("a.py", "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=-1)\n")
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = next(rule() for rule in registry.rules() if rule.code == "DLL604")
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    assert fix.title == "Pass 0 or more; dllint can't tell which value is meant"


def test_a_class_whose_base_is_passed_stays() -> None:
    code = (
        "from torch.utils.data import DataLoader, Dataset\n"
        "def longer(kind):\n    class Longer(kind):\n        pass\n    return Longer\n"
        "class Data(Dataset):\n    pass\n"
        "DataLoader(longer(Data)(), num_workers=2)\n"
    )
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = next(rule() for rule in registry.rules() if rule.code == "DLL105")
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    assert (fix.applicability, fix.edits) == (Applicability.MANUAL, ())
    assert fix.title.startswith("Write a class at module level whose `__init__` gets an object of `kind`")


@pytest.mark.parametrize(
    ("code", "init", "item", "words"),
    [
        (
            "DLL202",
            "self.rows = {}\nfor row in csv.reader(open(path)): self.rows[tuple(row[:2])] = row[2:]",
            "return self.rows[index]",
            ["self.rows = SerializedDict(self.rows)", "class SerializedDict(Mapping):"],
        ),
        (
            "DLL202",
            "self.rows = []\nfor line in open(path):\n    for n in range(9): self.rows.append((n, len(line)))",
            "return self.rows[index]",
            ["import numpy as np\n\n\nself.rows = np.array(self.rows)"],
        ),
        (
            "DLL202",
            "self.rows = pickle.load(open(path, 'rb'))",
            "return self.rows[index]",
            ["self.rows = np.stack(self.rows)", "self.rows = Serialized(self.rows)"],
        ),
        (
            "DLL202",
            "self.rows = pickle.load(open(path, 'rb'))",
            "row = self.rows[index]\n        return row['a']",
            ["self.rows = Serialized(self.rows)"],
        ),
        (
            "DLL202",
            "self.rows = pickle.load(open(path, 'rb'))",
            "return self.rows['a'][index]",
            ["self.rows = {key: np.asarray(value) for key, value in self.rows.items()}"],
        ),
        (
            "DLL202",
            "self.rows = list(pandas.read_csv(path).values[:, 0])",
            "return self.rows[index]",
            ["self.rows = np.array(self.rows)", "self.rows = Texts(self.rows)"],
        ),
        (
            "DLL202",
            "self.ids = [row['image_id'] for row in json.load(open(path))]",
            "return self.ids[index]",
            ["self.ids = np.asarray(self.ids)"],
        ),
        (
            "DLL201",
            "self.captions = [line.strip() for line in open(path)]\nother = self.captions",
            "return self.captions[index]",
            ["self.captions = Texts(self.captions)", "data += text.encode()", ".numpy().tobytes().decode()"],
        ),
        (
            "DLL110",
            "self.noise = torch.Generator()",
            "return torch.rand(1, generator=self.noise)",
            [
                "self._noise = self._noise_pid = None",
                "def noise(self):",
                "self._noise = torch.Generator().manual_seed(torch.initial_seed())",
                'return {**self.__dict__, "_noise": None, "_noise_pid": None}',
            ],
        ),
        *(
            (
                "DLL110",
                f"self.noise = torch.Generator{device}{seeded}",
                "return torch.rand(1, generator=self.noise, device='cuda')",
                [f"self._noise = torch.Generator{device}.manual_seed(torch.initial_seed())"],
            )
            for device in ("(device='cuda')", "('cuda')", "(self.device)")
            for seeded in ("", ".manual_seed(1)")
        ),
    ],
)
def test_what_to_paste(code: str, init: str, item: str, words: list[str]) -> None:
    fix = fix_of(code, init, item)
    assert fix is not None
    assert (fix.applicability, fix.edits) == (Applicability.MANUAL, ())
    compile(fix.snippet, "a.py", "exec")
    for word in words:
        assert word in fix.snippet


def test_a_generators_device_that_only_init_knows_is_named() -> None:
    init = "device = path\nself.noise = torch.Generator(device)"
    fix = fix_of("DLL110", init, "return torch.rand(1, generator=self.noise)")
    assert fix is not None
    assert fix.title == "Make `noise` in the process that uses it, from torch's seed; keep `device` for that"


def test_code_that_adds_to_records_is_named() -> None:
    init = "self.rows = pickle.load(open(path, 'rb'))\nmore = self.rows + [{}]"
    fix = fix_of("DLL202", init, "row = self.rows[index]\n        return row['a']")
    assert fix is not None
    assert fix.title.endswith("once they are complete; a.py:11 (`more = self.rows + [{}]`) needs a list")


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("row = self.rows[index]\n        row.pop('a')\n        return row", "`row.pop('a')`"),
        ("row = self.rows[index]\n        row['b'] = 1\n        return row", "`row['b'] = 1`"),
        ("self.rows[index]['b'] = 1\n        return index", "`self.rows[index]['b'] = 1`"),
        ("self.rows[index].update(b=1)\n        return index", "`self.rows[index].update(b=1)`"),
        ("row = self.rows[index]\n        random.shuffle(row)\n        return row", "`random.shuffle(row)`"),
        ("row = dict(self.rows[index])\n        row['b'] = 1\n        return row", ""),
        ("row = self.rows[index]\n        row = dict(row)\n        row['b'] = 1\n        return row", ""),
        ("row = self.rows[index]\n        return row.pop('a', 1)", "`return row.pop('a', 1)`"),
        ("row: dict = self.rows[index]\n        row['b'] = 1\n        return row", "`row['b'] = 1`"),
        ("size, row = 1, self.rows[index]\n        row['b'] = size\n        return row", "`row['b'] = size`"),
        ("first = row = self.rows[index]\n        row['b'] = 1\n        return first", "`row['b'] = 1`"),
        ("if row := self.rows[index]:\n            row['b'] = 1\n        return row", "`row['b'] = 1`"),
        ("size, row = 1, self.rows[index]\n        return row['a'], size", ""),
        ("row = self.rows[index]\n        return row.add(1)", ""),
        ("row = self.rows[index]\n        other = {}\n        other['b'] = row\n        return other", ""),
    ],
)
def test_entries_that_workers_change_are_not_packed(item: str, why: str) -> None:
    init = "self.rows = [dict(row) for row in csv.reader(open(path))]"
    fix = fix_of("DLL202", init, item)
    assert fix is not None
    packs = fix.applicability is Applicability.UNSAFE
    assert packs != fix.title.endswith(f"({why}) changes an entry in workers")
    assert (packs, fix.snippet) == (not why, "")


def test_records_that_workers_change_are_not_packed() -> None:
    init = "self.rows = [dict(row) for row in csv.reader(open(path))]"
    fix = fix_of("DLL202", init, "self.rows[index] = row = self.rows[index]['a']\n        return row")
    assert fix is not None
    assert fix.title.endswith("(`self.rows[index] = row = self.rows[index]['a']`) changes it in workers")
    assert not fix.snippet


METHODS = """\
import os
import torch
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self):
        self.log = open(os.devnull, "w")
        self.size, self.pad_to = 4, list

{method}
    def train(self):
        for batch in DataLoader(range(4), num_workers=2, collate_fn=self.collate):
            print(batch)

Trainer().train()
"""


def shown_for(method: str) -> str:
    code = METHODS.format(method="".join(f"    {line}\n" for line in method.split("\n")))
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = next(rule() for rule in registry.rules() if rule.code == "DLL108")
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    return fix.snippet if fix else ""


@pytest.mark.parametrize(
    ("method", "function", "passed"),
    [
        (
            "def collate(self, items):\n    return torch.tensor(items)",
            "def collate(items):\n    return torch.tensor(items)\n",
            "\ncollate",
        ),
        (
            "def collate(self, items):\n    'Pads.'\n    return torch.tensor(items + [0] * self.size)",
            "def collate(size, items):\n    'Pads.'\n    return torch.tensor(items + [0] * size)\n",
            "\nfunctools.partial(collate, self.size)",
        ),
        (
            "def collate(self, items):\n    return self.pad_to(items) + self.size",
            "def collate(pad_to, size, items):\n    return pad_to(items) + size\n",
            "\nfunctools.partial(collate, self.pad_to, self.size)",
        ),
        (
            "def collate(self,\n            *items, **more):\n    return [self.size for _ in items]",
            "def collate(size, *items, **more):\n    return [size for _ in items]\n",
            "\nfunctools.partial(collate, self.size)",
        ),
    ],
)
def test_a_method_as_a_function(method: str, function: str, passed: str) -> None:
    snippet = shown_for(method)
    compile(snippet, "a.py", "exec")
    assert snippet.startswith(function)
    assert snippet.endswith(passed)


@pytest.mark.parametrize(
    "method",
    [
        "def collate(self, items):\n    return self.pad(items)",
        "def collate(self, items):\n    self.size = 5\n    return items",
        "def collate(self, items):\n    return show(self, items)",
        "def collate(self, size):\n    return size[: self.size]",
    ],
)
def test_no_function_where_the_method_needs_its_object(method: str) -> None:
    assert shown_for(method) == ""


RULE_PAGES = [page for page in all_pages() if page_code(page.path)]


@pytest.mark.parametrize("page", RULE_PAGES, ids=lambda page: page_code(page.path))
def test_every_finding_says_what_is_to_be_done(page: Page, tmp_path: Path) -> None:
    """What no edit mends has a remedy for a person, and it says why, or shows what to paste."""
    for number, case in enumerate(page.cases):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        project = CaseProject.of(case, folder)
        own = Layer(extend_select=(project.code,))
        result = engine.check(Request(paths=(str(folder),), layer=own))
        for finding, fix in result.findings:
            if not finding.code.startswith("DLL9"):
                assert fix is not None, (case.name, finding.message)
                assert fix.edits or fix.snippet or "; " in fix.title or ", " in fix.title, (case.name, fix.title)


NAMES = """\
import os
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __init__(self, root):
        self.names = {value}

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return sorted(self.names)[index]

def train(root):
    for batch in DataLoader(Images(root), num_workers=2):
        print(batch)
"""


@pytest.mark.parametrize(
    "value",
    [
        "{os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names}",
        "set(os.listdir(root))",
    ],
)
def test_a_set_is_sorted_into_an_array(value: str) -> None:
    source = Source("a.py", NAMES.replace("{value}", value))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = next(rule() for rule in registry.rules() if rule.code == "DLL201")
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    assert fix.snippet == "import numpy as np\n\n\nself.names = np.array(sorted(self.names), dtype=str)"


def test_a_manager_stays_and_what_it_makes_goes() -> None:
    init = "import multiprocessing\nself.manager = multiprocessing.Manager()\nself.seen = self.manager.dict()"
    fix = fix_of("DLL106", init, "return self.seen.get(index)")
    assert fix is not None
    assert fix.title == "Keep only the lists and dictionaries that it makes, which can be pickled"


CAPTURED = """\
import torch
from torch.utils.data import DataLoader

class Encoder(torch.nn.Module):
    pass

def loader(items, {parameters}):
    {made}
    def collate(batch):
        return {used}.encode(batch)
    return DataLoader(items, collate_fn=collate, num_workers=2)
"""


@pytest.mark.parametrize(
    ("parameters", "made", "used", "moves"),
    [
        ("model", "", "model", False),
        ("other", "encoder = Encoder()", "encoder", False),
        ("vocabulary", "", "vocabulary", True),
        ("model", "words = model.vocabulary", "words", True),
        ("other", "model = {'size': 3}", "model", True),
    ],
)
def test_no_function_takes_a_model_to_the_workers(parameters: str, made: str, used: str, moves: bool) -> None:
    source = Source("a.py", CAPTURED.format(parameters=parameters, made=made or "pass", used=used))
    project = Project(
        {"a.py": collect(source)},
        Targets(),
        lambda path: source,
    )
    rule = next(rule() for rule in registry.rules() if rule.code == "DLL104")
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    assert bool(fix.edits) is moves
    if not moves:
        assert fix.title.endswith(f"every worker would get the model `{used}`: give it only what it uses of that")


def test_keys_of_an_lmdb_file_are_kept_with_the_nul_bytes_at_their_end() -> None:
    init = "import lmdb\nself.keys = [key for key, _ in lmdb.open(path).begin().cursor()]"
    fix = fix_of("DLL201", init, "return self.keys[index]")
    assert fix is not None
    assert fix.title == "Keep `keys` as bytes in a tensor"
    assert "data += item\n" in fix.snippet
    assert "return self.data[start:end].numpy().tobytes()\n" in fix.snippet
    assert fix.snippet.endswith("self.keys = Bytes(self.keys)")
