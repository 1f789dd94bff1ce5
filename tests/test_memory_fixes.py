"""DLL201's fix: an array where every use survives one, else what to paste and what stands in the way."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner
from dllint_rules.memory.dll201_path_list_on_dataset import PathListOnDataset

from dllint import Applicability, Finding, Fix, Project
from dllint.cli import cli
from dllint.collect import collect
from dllint.engine import Request, check
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports

HEAD = """\
import copy, csv, glob, gzip, h5py, itertools, json, os, pandas, random, re, zipfile
from natsort import natsorted
from pathlib import Path
from torch.utils.data import DataLoader, Dataset

class Files(Dataset):
    def __init__(self, root, *more):
{init}
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        return self.files[index]
{more}
DataLoader(Files("."), num_workers=2)
"""


LATER = "        self.files = np.array(self.files, dtype=str)\n"


def program(init: str, more: str = "") -> str:
    """A dataset that keeps `files`, with a loader that has workers."""
    return HEAD.format(init=textwrap.indent(init, " " * 8), more=more)


def reported(code: str) -> tuple[Project, list[Finding]]:
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    return project, list(PathListOnDataset().check(project))


def fix_of(code: str, targets: Targets | None = None) -> Fix:
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, targets or Targets(), lambda path: source)
    rule = PathListOnDataset()
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    return fix


def fixed(code: str, targets: Targets | None = None) -> str:
    fix = fix_of(code, targets)
    assert fix.applicability is Applicability.UNSAFE, fix.title
    source = Source("a.py", code)
    result = apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    compile(result, "a.py", "exec")
    return result


ARRAY = "np.array({}, dtype=str)"


@pytest.mark.parametrize(
    "value",
    [
        "glob.glob(root)",
        "os.listdir(root)",
        "sorted(os.listdir(root), reverse=True)",
        "[os.path.join(root, name) for name in os.listdir(root)]",
        "[f'{root}/{name}' for name in os.listdir(root) if name]",
        "[root + '/' + name for name in sorted(glob.glob(root))]",
        "list(json.load(open(root)).keys())",
        "sorted(json.load(open(root))['images'].keys())",
        "copy.deepcopy(os.listdir(root))",
        "zipfile.ZipFile(root).namelist()",
        "list({name: len(name) for name in os.listdir(root)})",
        "os.listdir(root).copy()",
        "[str(path) for path in Path(root).glob('*')]",
        "sorted(str(path) for path in Path(root).rglob('*'))",
        "list(map(str, Path(root).iterdir()))",
        "open(root).readlines()",
        "gzip.open(root, 'rt').readlines()",
        "[name.strip() for name in pandas.read_csv(root)['name'].tolist()]",
        "open(root).read().splitlines()",
        "[name.strip() for name in json.load(open(root))]",
        "[line.strip() for line in open(root)]",
        "sorted(glob.glob(root))[1:]",
        "[os.path.splitext(name)[0] + '.txt' for name in os.listdir(root)]",
        "[line.split()[0] + '' for line in open(root, 'r')]",
        "glob.glob(root) if root else []",
        "(glob.glob(root) + os.listdir(root))[int(root):]",
        "[name.replace('.b', '.c') for name in glob.glob(root) + []]",
        "sorted([*glob.glob(root), *os.listdir(root)])",
        "[*glob.glob(root), root + '/first']",
        "sum([glob.glob(name) for name in os.listdir(root)], [])",
        "sum((glob.glob(root), os.listdir(root)), [])",
        "list(itertools.chain.from_iterable(glob.glob(name) for name in os.listdir(root)))",
        "sorted(itertools.chain(glob.glob(root), *[os.listdir(name) for name in os.listdir(root)]))",
        "sorted(h5py.File(root).keys())",
        "pandas.read_csv(root)['name'].astype(str).tolist()",
        "open(root).readlines() * int(root)",
        "int(root) * (glob.glob(root) + os.listdir(root)[1:])",
        "[re.sub('a', '', name) for name in open(root)]",
        "[re.compile('a').sub('', name) for name in glob.glob(root)]",
    ],
)
def test_lists_of_strings_become_arrays(value: str) -> None:
    wanted = f"self.files = {ARRAY.format(value)}"
    result = "".join(fixed(program(f"self.files = {value}")).split())
    assert "".join(wanted.split()) in result.replace("=str,)", "=str)")


@pytest.mark.parametrize(
    ("use", "survives"),
    [
        ("files, more = self.files, self; print(len(files), files[0])", True),
        ("files, more = self.files, self; files.sort()", False),
        ("files = self.files; return files[0]", True),
        ("files = self.files; return files", False),
        ("import numpy as np; return np.array(self.files), np.unique(self.files)", True),
        ("import numpy as np; return np.put(self.files, 0, '')", False),
    ],
)
def test_variables_that_only_read_and_copies_by_numpy_are_as_good(use: str, survives: bool) -> None:
    code = program("self.files = glob.glob(root)", f"    def use(self):\n        {use}\n")
    assert (fix_of(code).applicability is Applicability.UNSAFE) is survives
    assert not survives or use in fixed(code)


@pytest.mark.parametrize("value", ["glob.glob(root)", "os.listdir(root)", "sorted(glob.glob(root), reverse=True)"])
def test_a_list_of_a_list_is_no_more(value: str) -> None:
    assert f"self.files = {ARRAY.format(value)}\n" in fixed(program(f"self.files = list({value})"))


@pytest.mark.parametrize("made", ["{}", "dict()", "collections.OrderedDict()"])
@pytest.mark.parametrize("taken", ["list(sizes)", "list(sizes.keys())", "sorted(sizes)", "list(sizes.keys()).copy()"])
def test_keys_of_a_dictionary_that_is_filled_are_strings(made: str, taken: str) -> None:
    filled = f"sizes = {made}\nfor line in open(root):\n    sizes[line.strip()] = len(line)\n"
    text = fixed(program(f"import collections\n{filled}self.files = {taken}"))
    assert f"self.files = np.array({taken}, dtype=str)" in text or f"self.files = Texts({taken})" in text


def test_a_variable_for_text_that_is_put_together() -> None:
    made = "name = os.path.splitext(name)[0] + '.txt'\n    self.files.append(name)\n"
    text = fixed(program(f"self.files = []\nfor name in os.listdir(root):\n    {made}"))
    assert text.count(LATER) == 1
    number = "size = len(name) + 1\n    self.files.append(size if more else name)\n"
    try:
        fix = fix_of(program(f"self.files = []\nfor name in os.listdir(root):\n    {number}"))
    except ValueError:
        return
    assert fix.applicability is Applicability.MANUAL


def test_keys_that_may_be_something_else_stay() -> None:
    init = "sizes = {}\nfor line in open(root):\n    sizes[tuple(line)] = 1\n    sizes[line] = 2\n"
    try:
        fix = fix_of(program(f"{init}self.files = list(sizes)"))
    except ValueError:
        return  # not reported at all
    assert fix.applicability is Applicability.MANUAL


FOUND = """\
    def found(self, folder):
        files = []
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                files.extend(self.found(path))
            else:
                files.append({item})
        return files
"""


def test_a_function_that_calls_itself_lists_strings_if_all_others_are() -> None:
    texts = fixed(program("self.files = self.found(root)", FOUND.format(item="path")))
    assert "self.files = np.array(self.found(root), dtype=str)" in texts
    copied = "sorted(list(sorted(list(sorted(list(sorted(self.found(root))))))))"
    assert "self.files = np.array(" in fixed(program(f"self.files = {copied}", FOUND.format(item="path")))
    others = FOUND.format(item="path if len(path) > 9 else None")
    assert fix_of(program("self.files = self.found(root)", others)).applicability is Applicability.MANUAL


@pytest.mark.parametrize(
    "again",
    [
        "self.files = self.files * int(more[0])",
        "self.files = self.files[::2]\n    self.files = random.sample(self.files, k=9) * int(more[0])",
        "self.files *= more[0]",
    ],
)
def test_a_list_that_is_cut_or_repeated_before_it_is_an_array(again: str) -> None:
    init = f"self.files = open(root).readlines()\nif len(self.files) > len(more):\n    {again}"
    text = fixed(program(init, "    def first(self):\n        return open(self.files[0])\n"))
    assert text.count("np.array(") == text.count("np.array(self.files, dtype=str)") == 1


def test_a_part_of_a_part_of_an_array_is_one() -> None:
    cut = "if len(self.files) > int(root):\n    self.files = self.files[int(root)::2][:9]"
    text = fixed(program(f"with open(root) as file:\n    self.files = [line.strip() for line in file]\n{cut}"))
    assert "self.files = np.array([line.strip() for line in file], dtype=str)\n" in text
    assert "            self.files = self.files[int(root)::2][:9]\n" in text


@pytest.mark.parametrize(("made", "known"), [("pickle.load(open('a', 'rb'))", False), ("os.listdir(root)", True)])
def test_what_a_file_had_before_a_part_of_it_is_saved_there_is_not_known(made: str, known: bool) -> None:
    saves = f"self.files = sorted({made})\n    pickle.dump(self.files, open('a', 'wb'))"
    fix = fix_of(program(f"import pickle\nif more:\n    self.files = glob.glob(root)\nelse:\n    {saves}"))
    assert fix.applicability is (Applicability.UNSAFE if known else Applicability.MANUAL)


def test_a_list_may_lose_some_before_it_is_an_array() -> None:
    later = "for name in os.listdir(root):\n    self.files.remove(name)"
    text = fixed(program(f"self.files = glob.glob(root)\n{later}"))
    assert "self.files.remove(name)\n        self.files = np.array(self.files" in text


@pytest.mark.parametrize(
    "value",
    [
        "[*Path(root).glob('*'), None]",
        "[*glob.glob(root), *[None]]",
        "[*glob.glob(root), *map(len, os.listdir(root))]",
        "open(root, 'rb').readlines()",
        "gzip.open(root).readlines()",
        "[line.strip() for line in open(root, 'rb')]",
        "glob.glob(root) if os.getenv('ALL') else None",
        "glob.glob(root) + [None]",
        "tuple(glob.glob(root))",
        "more[0] or glob.glob(root)",
        "[line.split() for line in open(root)]",
        "sum([os.listdir(root), [None]], [])",
        "list(itertools.chain(os.listdir(root), [None]))",
        "list(itertools.chain.from_iterable(os.listdir(root)) if more else more)",
        "sorted(glob.glob(root))\nself.files.append(None)",
        "sorted(glob.glob(root))\nself.files[0] = more",
        "list()\nfor name in glob.glob(root):\n    self.files.append((name, 1) if more else name)",
        "(glob.glob(root) + [None])[1:] * int(root)",
        "[re.sub(*more) for name in glob.glob(root)]",
        "[re.sub(more[0], b'', name) for name in glob.glob(root)]",
        "[re.compile(b'a').sub(b'', name) for name in open(root, 'rb')]",
    ],
)
def test_what_may_hold_something_else_stays(value: str) -> None:
    try:
        fix = fix_of(program(f"self.files = {value}"))
    except ValueError:
        return  # not reported at all
    assert fix.applicability is Applicability.MANUAL


SURVIVING = [
    "return [len(name) for name in self.files]",
    "for number, name in enumerate(self.files): print(name)",
    "return dict(zip(self.files, range(9)))",
    "return self.files[0].upper(), self.files[-1]",
    "return [name for name in self.files[2:5]]",
    "return len(self.files[2:])",
    "return sorted(self.files, key=len), set(self.files), list(self.files)",
    "yield from self.files",
    "return os.path.join(*self.files)",
    "return random.choice(range(len(self.files)))",
    "return lambda: self.files[0]",
    "return random.choice(self.files), random.choices(self.files, k=3)",
    "return ', '.join(self.files)",
    "return unknown.files[:3].cpu(), unknown.files.shape",
    "self.files = self.files[:3]",
    "self.files = self.files[:3] if root else self.files[3:] if len(self.files) else self.files",
    "return self.files.__len__()",
]


@pytest.mark.parametrize("body", SURVIVING)
def test_uses_that_an_array_survives(body: str) -> None:
    assert "np.array(" in fixed(program("self.files = glob.glob(root)", f"    def more(self):\n        {body}\n"))


BREAKING = [
    "return self.files",
    "other = self.files; other.append(1)",
    "self.other = self.files",
    "return self.files or 1",
    "self.files.append('a')",
    "self.files.remove('a')",
    "self.files.sort()",
    "self.files[0] = 'a'",
    "del self.files[0]",
    "del self.files",
    "self.files += ['a']",
    "self.files = None",
    "self.files = self.files[:3] if root else None",
    "self.files = self.files if root else [1]",
    "self.files, x = 1, 2",
    "random.shuffle(self.files)",
    "return isinstance(self.files, list)",
    "return unknown(self.files)",
    "return {'a': self.files}",
    "return getattr(self, 'files')",
    "return [self.files for _ in range(2)]",
    "return lambda: self.files",
    "return self.files[len(self.files) > 3]",
    "return self.files[True]",
    "return self.files[not root]",
    "return self.filter(self.files)",
    "return pool.map(len, self.files)",
]


@pytest.mark.parametrize("body", BREAKING)
def test_uses_that_an_array_breaks(body: str) -> None:
    fix = fix_of(program("self.files = glob.glob(root)", f"    def more(self):\n        {body}\n"))
    assert fix.applicability is Applicability.MANUAL
    assert not fix.edits
    assert f"{body.rpartition('; ')[2]}`" in fix.title
    assert fix.snippet == "import numpy as np\n\n\nself.files = np.array(self.files, dtype=str)"


def test_another_list_of_strings_becomes_an_array_as_well() -> None:
    more = "    def sample(self, kept):\n        self.files = [self.files[i] for i in kept]\n"
    init = "self.files = []\nfor name in os.listdir(root):\n    self.files.append(name)\nself.files = self.files[:9]"
    result = fixed(program(init, more))
    assert "            self.files.append(name)\n        self.files = np.array(self.files[:9], dtype=str)\n" in result
    assert "        self.files = np.array([self.files[i] for i in kept], dtype=str)\n" in result


ASKING = {
    "return self.files[2:]": "return self.files.tolist()[2:]",
    "return 'a' in self.files": "return 'a' in self.files.tolist()",
    "return self.files + ['a']": "return self.files.tolist() + ['a']",
    "return self.files == []": "return self.files.tolist() == []",
    "return self.files.index('a')": "return self.files.tolist().index('a')",
    "return random.sample(self.files, 2)": "return random.sample(self.files.tolist(), 2)",
    "return f'{self.files}'": "return f'{self.files.tolist()}'",
    "if self.files: print()": "if len(self.files): print()",
    "while not self.files: print()": "while not len(self.files): print()",
    "return bool(self.files)": "return bool(len(self.files))",
}


@pytest.mark.parametrize(("body", "wanted"), ASKING.items())
def test_uses_that_ask_for_a_list_get_one(body: str, wanted: str) -> None:
    """But for those that run for each item: they would make the list again and again."""
    result = fixed(program("self.files = glob.glob(root)", f"    def more(self):\n        {body}\n"))
    assert "np.array(" in result
    assert wanted in result
    per_item = program("self.files = glob.glob(root)", f"    def more(self):\n        {body}\n")
    per_item = per_item.replace("return self.files[index]", "self.more()\n        return self.files[index]", 1)
    assert fix_of(per_item).applicability is Applicability.MANUAL


@pytest.mark.parametrize(
    "more",
    [
        "    def pick(self, last=False):\n        return self.files[last]\n",
        "    def pick(self, last: bool):\n        return self.files[last]\n",
        "    def pick(self):\n        last = len(self.files) > 3\n        return self.files[last]\n",
        "    def pick(self, last):\n        last = 0 if last else last == 1\n        return self.files[last]\n",
        "    def pick(self):\n        return sorted(self.files)\ndef sorted(names): return names or 1\n",
        "    def set(self, at=True):\n        self.at = at\n    def pick(self):\n        return self.files[self.at]\n",
        "    def pick(self, filter):\n        return filter(self.files)\n",
    ],
)
def test_an_index_that_is_a_bool_and_functions_named_like_built_in_ones(more: str) -> None:
    assert fix_of(program("self.files = glob.glob(root)", more)).applicability is Applicability.MANUAL


@pytest.mark.parametrize("more", ["    def pick(self, at=0):\n        at += 1\n        return self.files[at]\n"])
def test_an_index_that_is_a_number(more: str) -> None:
    assert "np.array(" in fixed(program("self.files = glob.glob(root)", more))


@pytest.mark.parametrize(
    "outside",
    [
        "class Sub(Files):\n    def more(self):\n        return unknown(self.files)\n",
        "class Sub(Files):\n    def __init__(self):\n        super().__init__('.')\n        self.files = []\n",
        "class Sub(Files):\n    files = []\n",
        "class Sub(Files):\n    @property\n    def files(self): return []\n",
        "ds = Files('.')\nprint(ds.files)\n",
        "def f(ds):\n    print(ds.files)\nf(Files('.'))\n",
        "def f(ds):\n    print(ds.files)\n",
        "ds = DataLoader(Files('.'))\nprint(ds.dataset.files)\n",
        "import copy\nds = copy.copy(Files('.'))\nprint(ds.files)\n",
        "Files('.').files = []\n",
        "setattr(Files('.'), 'files', [])\n",
        "print(getattr(unknown(), 'files', []))\n",
    ],
)
def test_uses_elsewhere_count(outside: str) -> None:
    fix = fix_of(program("self.files = glob.glob(root)", outside))
    assert fix.applicability is Applicability.MANUAL


@pytest.mark.parametrize(
    "outside",
    [
        "class Other:\n    def __init__(self):\n        self.files = []\n        self.files.append(1)\n",
        "class Other:\n    files = []\nprint(Other().files, Other.files)\n",
        "ds = Files('.')\nprint(len(ds.files), ds.files[0], [x for x in ds.files])\n",
        "import argparse\nargs = argparse.ArgumentParser().parse_args()\nprint(args.files)\n",
        "files = []\nfiles.append(1)\n",
    ],
)
def test_other_things_of_the_same_name_do_not(outside: str) -> None:
    assert "np.array(" in fixed(program("self.files = glob.glob(root)", outside))


def test_a_list_that_is_filled_is_converted_where_it_is_complete() -> None:
    init = """\
    self.files = []
    if not root:
        raise ValueError
    for name in os.listdir(root):
        if name:
            self.files.append(os.path.join(root, name))  # all of them
    if not self.files:
        raise ValueError
    for folder in more:
        self.files += glob.glob(folder)
    print(len(self.files))"""
    result = fixed(program(textwrap.dedent(init)))
    assert (
        "            self.files += glob.glob(folder)\n"
        "        self.files = np.array(self.files, dtype=str)\n"
        "        print(len(self.files))\n"
    ) in result
    assert result.count("np.array") == 1


@pytest.mark.parametrize(
    "init",
    [
        "self.files = []\nfor name in os.listdir(root): self.files.append((name, 1))",
        "self.files = []\nfor name in os.listdir(root): self.files.append(name)\nself.names = self.files",
        "self.files = []\nfiles = self.files\nfor name in os.listdir(root): self.files.append(name)",
        "self.files = []\nself.files += os.listdir(root); more",
        "self.files = []\nif root: self.files += os.listdir(root)\nelse: self.files = None",
        "for name in more:\n    if self.files: print()\n    self.files = os.listdir(root)",
        "files = os.listdir(root)\nself.files = files\nfiles.append(1)",
        "files = os.listdir(root)\nself.files = files\nself.names = files",
        "for name in more:\n    files = os.listdir(root)\n    self.files = files",
        "self.names = os.listdir(root)\nself.files = self.names",
        "self.files = self.names = os.listdir(root)",
        "self.files: list[str] = os.listdir(root)",
        "names = []\nself.files, sizes = names, []\nfor name in os.listdir(root):\n    self.files.append(name)",
        "self.files = [row[0] for row in csv.reader(open(root), quoting=csv.QUOTE_NONNUMERIC)]",
    ],
)
def test_a_list_that_may_change_stays(init: str) -> None:
    try:
        fix = fix_of(program(init))
    except ValueError:
        return  # not reported at all
    assert fix.applicability is Applicability.MANUAL, fix.edits


@pytest.mark.parametrize(
    ("init", "line"),
    [
        ("self.files = []\nif root: self.files += os.listdir(root)\nelse: self.files = os.listdir(root)", LATER),
        ("self.files = []\nfor name in more:\n    self.files += glob.glob(name)", LATER),
        (
            "self.files = []\nfor name in os.listdir(root):\n    self.files.append(name)\n"
            "self.files = sorted(self.files)",
            "self.files = np.array(sorted(self.files), dtype=str)",
        ),
        (
            "self.files = []\nfor name in os.listdir(root):\n    self.files.append(name)\n"
            "self.files = natsorted(self.files)",
            "self.files = np.array(natsorted(self.files), dtype=str)",
        ),
        ("self.files = os.listdir(root)\nrandom.shuffle(self.files)", LATER),
        (
            "self.files = []\nfor name in os.listdir(root): self.files.append(name)\nif not self.files: raise OSError",
            LATER + "        if not len(self.files): raise OSError\n",
        ),
        ("self.files = []\nfor name in os.listdir(root):\n    self.files += [name]", LATER),
        ("self.files, sizes = [], []\nfor name in os.listdir(root):\n    self.files.append(name)", LATER),
        (
            "names = []\nfor row in csv.reader(open(root), delimiter='|'): names.append(row[0])\nself.files = names",
            "self.files = np.array(names, dtype=str)",
        ),
        (
            "self.files = os.listdir(root)\nself.files = self.files[::2]",
            "self.files = np.array(self.files[::2], dtype=str)",
        ),
        (
            "self.files = sorted(os.listdir(root))\nself.files = self.files[:9] if more else self.files[9:]",
            "self.files = np.array(self.files[:9] if more else self.files[9:], dtype=str)",
        ),
        (
            "self.files, self.names = [], []\nif root:\n    self.files = os.listdir(root)",
            "self.files = np.array(os.listdir(root), dtype=str)",
        ),
    ],
)
def test_what_happens_to_the_list_before_there_is_an_array(init: str, line: str) -> None:
    result = fixed(program(init))
    assert line in result
    assert result.count("np.array") == 1


def test_a_list_over_several_lines_is_laid_out_as_formatters_do(tmp_path: Path) -> None:
    code = program("self.files = [\n    os.path.join(root, name)\n    for name in os.listdir(root)\n]")
    (tmp_path / "a.py").write_text(code)
    (tmp_path / "ruff.toml").write_text("line-length = 90\n")
    check(Request(paths=(str(tmp_path),), in_full=True, fix=True, unsafe_fixes=True))
    assert (
        "        self.files = np.array(\n            [\n                os.path.join(root, name)\n"
        "                for name in os.listdir(root)\n            ],\n            dtype=str,\n        )\n"
    ) in (tmp_path / "a.py").read_text()


@pytest.mark.parametrize(
    ("length", "inside", "joined"),
    [
        (120, "os.path.join(root, name) for name in os.listdir(root)", True),
        (88, "os.path.join(root, name, name) for name in os.listdir(root)", True),
        (120, "os.path.join(root, name, name, name, name, name) for name in os.listdir(root)", False),
        (88, "os.path.join(root, name, name, name, name, name) for name in os.listdir(root)", False),
        (90, "os.path.join(root, name) for name in os.listdir(root)  # all", False),
        (90, "root,", False),
    ],
)
def test_what_fits_a_line_with_its_brackets_is_joined(tmp_path: Path, length: int, inside: str, joined: bool) -> None:
    (tmp_path / "a.py").write_text(program(f"self.files = [\n    {inside}\n]"))
    (tmp_path / "ruff.toml").write_text(f"line-length = {length}\n")
    check(Request(paths=(str(tmp_path),), in_full=True, fix=True, unsafe_fixes=True))
    result = (tmp_path / "a.py").read_text()
    own = f"            [{inside}],\n"
    assert (f"        self.files = np.array(\n{own}            dtype=str,\n        )\n" in result) == joined


def test_lines_that_are_aligned_stay_so() -> None:
    code = program("self.files = [name\n              for name in os.listdir(root)]")
    rest = " " * 31 + "for name in os.listdir(root)], dtype=str)\n"
    assert f"        self.files = np.array([name\n{rest}" in fixed(code)


def test_what_one_assignment_sets_becomes_arrays_together_or_not_at_all() -> None:
    init = "self.files, self.masks = self.load(root)"
    more = """
    def load(self, root):
        names = sorted(os.listdir(root))
        return names, [name + '.png' for name in names]
    def mask(self, index):
        return self.masks[index]
"""
    code = program(init, more).replace("return self.files[index]", "return self.files[index], self.mask(index)")
    project, findings = reported(code)
    titles = [fix.title for fix in (PathListOnDataset().fix(finding, project) for finding in findings) if fix]
    assert titles == ["Keep `files` as a NumPy array", "Keep `masks` as a NumPy array"]
    project, findings = reported(code.replace("return self.masks[", "return self.masks and self.masks["))
    fixes = [fix for fix in (PathListOnDataset().fix(finding, project) for finding in findings) if fix]
    assert [fix.applicability for fix in fixes] == [Applicability.MANUAL] * 2
    assert "; the same assignment sets `masks`: a.py:" in fixes[0].title


def test_both_arms_that_unpack_a_list() -> None:
    init = "if root:\n    self.files, n = list_files(root)\nelse:\n    self.files, n = list_files('.')"
    result = fixed(program(init, "def list_files(root): return os.listdir(root), 1\n"))
    assert result.count(f"    {LATER}") == 2


def test_a_local_variable_that_is_done_with() -> None:
    init = (
        "files = []\nfor name in os.listdir(root):\n    files.append(name)\nself.files = files\nself.size = len(files)"
    )
    assert f"self.files = {ARRAY.format('files')}\n" in fixed(program(init))


@pytest.mark.parametrize(("around", "kept"), [("if root:", True), ("with root:", True), ("for name in more:", False)])
def test_a_local_variable_that_is_kept_in_a_block(around: str, kept: bool) -> None:
    init = f"files = os.listdir(root)\n{around}\n    self.files = files\nprint(len(files))"
    edits = fix_of(program(init)).edits
    assert [edit.text for edit in edits] == (["np.array(", ", dtype=str)"] if kept else [])


def test_numpy_goes_by_the_name_it_has() -> None:
    code = program("self.files = glob.glob(root)")
    assert "self.files = numpy.array(glob" in fixed("import numpy\n" + code)
    assert "\nimport numpy as np\n" in fixed(code)
    assert "import numpy as _numpy" in fixed("np = 1\n" + code)


ARMS = "if more:\n    self.files = glob.glob(root)\nelif root:\n    self.files = {}\nelse:\n    self.files = []"


def test_what_other_branches_set_becomes_an_array_as_well() -> None:
    result = fixed(program(ARMS.format("[name for name in os.listdir(root)]")))
    assert "            self.files = np.array(glob.glob(root), dtype=str)\n" in result
    assert "            self.files = np.array([name for name in os.listdir(root)], dtype=str)\n" in result
    assert "            self.files = []\n" in result


@pytest.mark.parametrize("value", ["names", "glob.glob(root) + names", "glob.glob(root) + os.listdir(root)"])
def test_branches_that_set_names_or_sums_have_one_statement_below(value: str) -> None:
    names = "names = []\nfor name in os.listdir(root):\n    names.append(name)\n"
    arms = f"if more:\n    self.files = glob.glob(root)\nelse:\n    self.files = {value}\n"
    assert f"            self.files = {value}\n{LATER}" in fixed(program(names + arms))


@pytest.mark.parametrize("later", ["names.append(more)", "self.names = names"])
def test_a_branch_that_sets_a_name_which_other_code_has_or_changes_keeps_all_lists(later: str) -> None:
    arms = "names = os.listdir(root)\nif more:\n    self.files = glob.glob(root)\nelse:\n    self.files = names\n"
    assert fix_of(program(arms + later)).applicability is Applicability.MANUAL


def test_paths_below_a_folder_that_is_joined_are_paths() -> None:
    init = "folder = Path(root) / more[0]\nself.files = []\nfor path in (folder / 'a').iterdir():\n    "
    result = fixed(program(f"{init}self.files.append(path)\n"))
    assert "        self.files = np.array([str(path) for path in self.files], dtype=str)\n" in result
    assert "return Path(self.files[index])" in result


def test_a_list_that_list_makes_is_filled() -> None:
    filled = "self.files = list()\nfor name in os.listdir(root):\n    self.files.append(os.path.join(root, name))"
    assert LATER in fixed(program(filled))


def test_a_list_that_a_loop_takes_items_of_is_an_array_below() -> None:
    loop = "for place in range(9):\n    self.more.append(self.files[place])"
    result = fixed(program(f"self.files = glob.glob(root)\nself.more = []\n{loop}"))
    assert f"            self.more.append(self.files[place])\n{LATER}" in result


def test_a_branch_that_sets_what_is_not_known_keeps_all_lists() -> None:
    assert "in another branch, sets" in fix_of(program(ARMS.format("load(root)"))).title


def test_lines_that_an_array_makes_too_long_begin_below_its_bracket() -> None:
    value = f"[os.path.join(root, name, 'a long name of some folder') for name in\n{' ' * 22}os.listdir(root)]"
    result = fixed(program("").replace("\n    def __len__", f"        self.files = {value}\n    def __len__", 1))
    lines = [line.strip() for line in value.split("\n")]
    assert f"np.array(\n            {lines[0]}\n             {lines[1]},\n            dtype=str,\n        )\n" in result


def test_a_project_that_needs_numpy_2_gets_the_smaller_array(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\nnumpy>=2.1\n")
    init = program("self.files = glob.glob(root)")
    assert ", dtype=np.dtypes.StringDType())" in fixed(init, Targets(root=str(tmp_path)))
    assert ", dtype=str)" in fixed(init)


def test_spawned_workers_share_a_tensor_only() -> None:
    targets = Targets(start_method="spawn")
    result = fixed(program("self.files = glob.glob(root)"), targets)
    assert "import torch\n" in result
    assert result.index("class Names:") < result.index("class Files(Dataset):")
    assert "self.files = Names(glob.glob(root))\n" in result
    fix = fix_of(program("self.files = glob.glob(root)\nother = self.files"), targets)
    assert fix.snippet.endswith("\n\n\nself.files = Names(self.files)")
    compile(fix.snippet, "snippet.py", "exec")


@pytest.mark.parametrize(
    "value",
    ["sorted(self.every)", "sorted(name for name in self.every if name)", "[name for name in self.every if name]"],
)
def test_what_another_attribute_keeps_as_well_is_not_packed_for_spawned_workers(value: str) -> None:
    init = f"self.every = set(glob.glob(root))\nself.files = {value}"
    fix = fix_of(program(init), Targets(start_method="spawn"))
    assert fix.title.endswith("`every` keeps the same strings, and spawned workers get those, too")


TEXTS = """\
from torch.utils.data import DataLoader, Dataset

class Lines(Dataset):
    def __init__(self, path):
        {init}
    def __len__(self):
        return len(self.lines)
    def __getitem__(self, index):
        return self.lines[index]
{more}
DataLoader(Lines("a.txt"), num_workers=2)
"""


@pytest.mark.parametrize(
    ("init", "more", "wanted"),
    [
        ("self.lines = open(path).readlines()", "", "self.lines = Texts(open(path).readlines())\n"),
        (
            "self.lines = []\n        for line in open(path): self.lines.append(line.strip())\n        print(1)",
            "",
            "        self.lines = Texts(self.lines)\n        print(1)\n",
        ),
        (
            "self.lines = open(path).readlines()",
            "    def has(self, lines):\n        return lines == self.lines and self.lines[1:3]",
            "        return lines == list(self.lines) and self.lines[1:3]\n",
        ),
    ],
)
def test_texts_become_bytes(init: str, more: str, wanted: str) -> None:
    result = fixed(TEXTS.format(init=init, more=more))
    assert wanted in result
    assert "import numpy as np\n" in result and "import torch\n" in result
    assert result.index("class Texts:") < result.index("class Lines(Dataset):")


@pytest.mark.parametrize(
    "more",
    [
        "    def cut(self, count):\n        self.lines = self.lines[:count]",  # which would be a list again
        "    def more(self, other):\n        self.lines += other",
        "class Texts: pass\n\nTexts().lines",
    ],
)
def test_texts_that_must_be_a_list_stay(more: str) -> None:
    fix = fix_of(TEXTS.format(init="self.lines = open(path).readlines()", more=more))
    assert fix.applicability is (Applicability.MANUAL if "def" in more else Applicability.UNSAFE)
    assert "class PackedTexts:" in fix.snippet + "".join(edit.text for edit in fix.edits) or "def" in more


def test_names_are_those_of_files_by_how_items_use_them() -> None:
    code = TEXTS.format(init="self.lines = open(path).readlines()", more="")
    opened = code.replace("return self.lines[index]", "return open(self.lines[index]).read()")
    assert "self.lines = np.array(open(path).readlines(), dtype=str)\n" in fixed(opened)


@pytest.mark.parametrize(
    ("taken", "are_files"),
    [("glob.glob(path)", True), ("sorted(glob.glob(path))", True), ("open(path).readlines()", False)],
)
def test_names_are_those_of_files_if_a_list_takes_over_some(taken: str, are_files: bool) -> None:
    init = f"rows = []\n        rows.extend({taken})\n        self.lines = rows"
    result = fixed("import glob\n" + TEXTS.format(init=init, more=""))
    assert ("self.lines = np.array(rows, dtype=str)\n" in result) is are_files
    assert ("self.lines = Texts(rows)\n" in result) is not are_files


SCANNED = """\
import os
from torch.utils.data import DataLoader, Dataset


def scan(root, deep=False):
    def _scan(folder):
        for entry in os.scandir(folder):
            if entry.is_file():
                name = entry.path if deep else os.path.relpath(entry.path, root)
                yield name
            elif deep:
                yield from _scan(entry.path)
            else:
                yield from {more}

    return _scan(root)


class Files(Dataset):
    def __init__(self, root):
        self.files = sorted(scan(root))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return open(self.files[index]).read()


def start(root):
    return DataLoader(Files(root), num_workers=4)
"""


@pytest.mark.parametrize(("more", "is_text"), [("os.listdir(folder)", True), ("unknown(folder)", False)])
def test_names_that_generators_yield(more: str, is_text: bool) -> None:
    """A generator that hands on what calls of its own function yield still yields text."""
    fix = fix_of(SCANNED.format(more=more))
    assert bool(fix.edits) is is_text


def test_what_is_called_is_no_list() -> None:
    """Elsewhere `batch.files()` is a method of something else."""
    more = "def names(batch):\n    return set(batch.files())\n"
    assert "dtype=str" in fixed(SCANNED.format(more="os.listdir(folder)") + more)


def test_several_lists_share_a_class(tmp_path: Path) -> None:
    code = TEXTS.format(init="self.lines = open(path).readlines()", more="")
    second = code.replace("Lines", "Others").partition("\n\n")[2]
    (tmp_path / "a.py").write_text(code + "\n" + second)
    check(Request(paths=(str(tmp_path),), isolated=True, fix=True, unsafe_fixes=True))
    result = (tmp_path / "a.py").read_text()
    assert result.count("class Texts:") == 1 and result.count("Texts(open(path).readlines())") == 2


def test_a_list_of_strings_and_other_things_has_no_array_to_paste() -> None:
    fix = fix_of(program(MIXED))
    assert "a.py:13 puts in what is not seen to be a string: `self.files.append(unknown(name))`" in fix.title
    assert not fix.snippet


MIXED = """\
self.files = []
for name in os.listdir(root):
    if more:
        self.files.append(name)
    else:
        self.files.append(unknown(name))
"""


@pytest.mark.parametrize(
    "value",
    [
        "sorted(path for path in Path(root).rglob('*') if path.suffix)",
        "[Path(root) / name for name in os.listdir(root)]",
        "[Path(name).with_suffix('.txt') for name in glob.glob(root)]",
    ],
)
def test_paths_are_read_as_paths(value: str) -> None:
    more = "    def more(self):\n        return [path.stem for path in self.files], len(self.files)\n"
    result = fixed(program(f"self.files = {value}", more))
    assert (
        f"self.files = {value}\n        self.files = np.array([str(path) for path in self.files], dtype=str)\n"
        in result
    )
    assert "        return Path(self.files[index])\n" in result
    assert "[path.stem for path in map(Path, self.files)], len(self.files)\n" in result


@pytest.mark.parametrize(
    ("value", "strings"),
    [
        ("list(Path(root).glob('*'))", "[str(path) for path in Path(root).glob('*')]"),
        ("sorted(Path(root).glob('*'))", "[str(path) for path in sorted(Path(root).glob('*'))]"),
        ("sorted(list(Path(root).iterdir()))", "[str(path) for path in sorted(list(Path(root).iterdir()))]"),
        (
            "list(path for path in Path(root).iterdir())",
            "[str(path) for path in list(path for path in Path(root).iterdir())]",
        ),
        ("[Path(name) for name in os.listdir(root)]", "[name for name in os.listdir(root)]"),
        (
            "[Path(name).with_suffix('.txt') for name in os.listdir(root)]",
            "[str(Path(name).with_suffix('.txt')) for name in os.listdir(root)]",
        ),
        ("[Path(root, name) for name in os.listdir(root)]", "[str(Path(root, name)) for name in os.listdir(root)]"),
    ],
)
def test_paths_become_strings_at_once_where_the_line_allows_it(value: str, strings: str) -> None:
    wide = fixed(program(f"self.files = {value}", f"# {'-' * 109}"))
    assert f"self.files = np.array({strings}, dtype=str)\n" in wide
    assert wide.count("self.files = ") == 1
    assert "        return Path(self.files[index])\n" in wide


def test_paths_become_strings_below_where_the_line_would_be_too_long() -> None:
    value = "sorted(Path(root).glob('**/*.json'))"
    result = fixed(program(f"self.files = {value}"))
    assert f"self.files = {value}\n        self.files = np.array([str(path) for path in self.files], " in result


@pytest.mark.parametrize(
    ("read", "is_path"),
    [
        ("open({})", False),
        ("str({})", False),
        ("os.path.basename({})", False),
        ("np.load({}, allow_pickle=True)", False),
        ("Image.open({}).convert('RGB')", False),
        ("unknown({})", True),
        ("len(str(os), {})", True),
        ("np.save({}, [])", True),
        ("[open(name) for name in [{}]]", True),
    ],
)
def test_functions_that_take_names_of_files_get_those(read: str, is_path: bool) -> None:
    imports = "import numpy as np\nfrom PIL import Image\n"
    code = program("self.files = sorted(Path(root).glob('*'))").replace("from pathlib import Path", "import pathlib")
    code = code.replace("Path(root)", "pathlib.Path(root)")
    result = fixed(imports + code.replace("return self.files[index]", f"return {read.format('self.files[index]')}"))
    item = "pathlib.Path(self.files[index])" if is_path else "self.files[index]"
    assert f"return {read.format(item)}\n" in result


def test_paths_in_a_slice_and_in_what_goes_through_them() -> None:
    value = "self.files, self.sizes = zip(*[(path, path.name) for path in Path(root).glob('*')])"
    more = "    def more(self, at):\n        return [pair for pair in zip(self.files[at:], enumerate(self.files))]\n"
    result = fixed(program(value, more))
    assert f"{value}\n        self.files = np.array([str(path) for path in self.files], dtype=str)\n" in result
    assert "zip(map(Path, self.files[at:]), enumerate(map(Path, self.files)))" in result


@pytest.mark.parametrize(
    ("base", "name", "why"),
    [
        ("torch_geometric.data.Dataset", "files", ""),
        ("torch_geometric.data.Dataset", "raw_paths", "the base class of `Files`, `torch_geometric.data.Dataset`, may"),
        ("somewhere.Dataset", "files", "the base class of `Files`, `somewhere.Dataset`, may use it"),
    ],
)
def test_what_a_library_does_with_attributes(base: str, name: str, why: str) -> None:
    code = program("self.files = glob.glob(root)").replace(".files", f".{name}")
    module, _, klass = base.rpartition(".")
    fix = fix_of(code.replace("class Files", f"from {module} import {klass}\n\nclass Files"))
    assert why in fix.title
    assert bool(fix.edits) is not bool(why)


def test_a_slice_that_is_set_elsewhere_is_an_array_as_well() -> None:
    more = "\ndef halve(files):\n    files.files = files.files[:9]\n\nhalve(Files('.'))\n"
    assert "self.files = np.array(glob.glob(root), dtype=str)" in fixed(program("self.files = glob.glob(root)", more))


def test_a_variable_that_holds_paths_is_read_once() -> None:
    result = fixed(program("found = list(Path(root).glob('*'))\nself.files = found"))
    assert "        self.files = np.array([str(path) for path in found], dtype=str)\n" in result
    assert result.count("self.files = ") == 1


@pytest.mark.parametrize(
    ("own", "derived", "kept"),
    [
        ("[]", "os.listdir(root)", "self.found(root)"),
        ("glob.glob(root)", "os.listdir(root)", "self.found(root)"),
        ("sorted([])", "sorted(os.listdir(root))[9:]", "self.found(root)"),
        ("[]", "list(Path(root).glob('*'))", "[str(path) for path in self.found(root)]"),
        ("glob.glob(root)", "unknown(root)", ""),
        ("os.listdir(root)", "list(Path(root).glob('*'))", ""),
        ("list(Path(root).glob('*'))", "os.listdir(root)", ""),
        ("os.listdir(root)", "known", ""),
    ],
)
def test_what_a_class_overrides_counts(own: str, derived: str, kept: str) -> None:
    more = f"""\
    def found(self, root):
        return {own}

known = os.listdir()

class Others(Files):
    def found(self, root):
        return {derived}

DataLoader(Others("."), num_workers=2)
"""
    code = program("self.files = self.found(root)", more)
    if kept:
        result = fixed(code)
        assert f"self.files = np.array({kept}, dtype=str)\n" in result
        assert ("Path(self.files[index])" in result) is ("path" in kept)
    else:
        assert not fix_of(code).edits


@pytest.mark.parametrize(
    "more",
    [
        "    def more(self):\n        return sorted(self.files)\n",
        "    def more(self):\n        return self.files[2:]\n",
        "ds = Files('.')\nprint(ds.files[0].stem)\n",
    ],
)
def test_paths_that_are_read_in_other_ways_stay(more: str) -> None:
    assert fix_of(program("self.files = list(Path(root).glob('*'))", more)).applicability is Applicability.MANUAL


def test_paths_are_told_how_to_stay_paths() -> None:
    fix = fix_of(program("self.files = list(Path(root).glob('*'))\nother = self.files"))
    assert fix.snippet == (
        "import numpy as np\n\n\n"
        "self.files = np.array([str(path) for path in self.files], dtype=str)\n"
        "# and Path(self.files[index]) where a Path is needed"
    )


ELSEWHERE = """\
from torch.utils.data import DataLoader
def show(ds):
    unknown(ds.files)
DataLoader([1], num_workers=2)
"""


@pytest.mark.parametrize(
    ("more", "meets"),
    [
        ({"other/show.py": ELSEWHERE}, False),
        ({"other/show.py": ELSEWHERE, "main.py": "import one.files\nimport other.show\n"}, True),
        ({"other/show.py": "import lib.one.files\n" + ELSEWHERE}, True),
        ({"other/show.py": "from files import Files\n" + ELSEWHERE}, True),
        ({"other/show.py": "from importlib import import_module as load\nload('x')\n" + ELSEWHERE}, True),
        ({"one/show.py": ELSEWHERE}, True),
        ({"tests/test_show.py": ELSEWHERE}, True),
    ],
)
def test_only_code_that_may_get_the_object_counts(more: dict[str, str], meets: bool) -> None:
    texts = {"one/files.py": program("self.files = glob.glob(root)")} | more
    sources = {path: Source(path, text) for path, text in texts.items()}
    project = Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)
    rule = PathListOnDataset()
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    assert (fix.applicability is Applicability.MANUAL) == meets


@pytest.mark.parametrize("output_format", ["full", "json"])
def test_reports_show_what_to_paste(output_format: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(program("self.files = glob.glob(root)\nother = self.files"))
    arguments = ["check", "--isolated", "--output-format", output_format, str(tmp_path / "a.py")]
    output = CliRunner().invoke(cli, arguments).output
    assert "self.files = np.array(self.files, dtype=str)" in output
    assert "a.py:9 needs a list: `other = self.files`" in output
    assert ("(by hand)" if output_format == "full" else '"display-only"') in output
    assert "fixable" not in output


def test_a_set_stays_one() -> None:
    code = program("self.files = set(os.listdir(root))").replace("self.files[index]", "index in self.files")
    assert "it is a set" in fix_of(code).title


def test_strings_that_are_keys_of_what_workers_look_up_stay() -> None:
    init = "self.files, self.ages = [], {}\nfor name in os.listdir(root):\n"
    init += "    self.files.append(name)\n    self.ages[name] = len(name)\n"
    code = program(init).replace("return self.files[index]", "name = self.files[index]\n        return self.ages[name]")
    assert fix_of(code).title.endswith(
        "`ages` has the same strings as keys: what it has for each must become an array, too"
    )


def test_paths_beside_none_stay() -> None:
    init = "self.files = [None] * 9\nif more:\n"
    init += "    self.files = [path.with_suffix('.npy') for path in Path(root).iterdir()]\n"
    fix = fix_of(program(init))
    assert fix.applicability is Applicability.MANUAL
    assert fix.title.endswith("sets what is not certain to be a list of paths: `self.files = [None] * 9`")


def test_paths_stay_where_a_tuple_sets_none_in_their_place() -> None:
    more = "    def first(self):\n        return self.files[0].name\n"
    init = "self.files, self.size = [None] * 9, 9\nif more:\n    self.files = sorted(Path(root).glob('*'))"
    assert fix_of(program(init, more)).applicability is Applicability.MANUAL


NAMES = """\
from torch.utils.data import DataLoader, Dataset

class Names(Dataset):
    def __init__(self, path):
        self.data = open(path).read().splitlines()
    def __len__(self):
        return len(self.data)
    def __getitem__(self, index):
        return self.data[index]

DataLoader(Names("names.txt"), num_workers=2)

"""


@pytest.mark.parametrize(
    ("code", "needs"),
    [
        ("def step(p):\n    kept = p.data\n    return kept, p.grad\n", False),
        ("def begin(model):\n    w = model.proj.weight.data\n    return w.view(-1)\n", False),
        ("def step(p):\n    kept = p.data\n    return kept\n", True),
        ("def step(p, q):\n    kept = p.data\n    return kept, q.grad\n", True),
        ("def step(p):\n    kept = p.data\n    return p.grad if hasattr(p, 'grad') else kept\n", True),
        ("def step(p):\n    p.count = 1\n    kept = p.data\n    return kept, p.count\n", True),
    ],
)
def test_attributes_of_other_objects_need_no_list(code: str, needs: bool) -> None:
    fix = fix_of(NAMES + code)
    assert ("may need a list" in fix.title) == needs, fix.title
    assert (fix.applicability is Applicability.MANUAL) == needs
