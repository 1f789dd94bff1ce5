"""DLL202's fix for the list of files that torchvision's base makes: below its `__init__`, in every use as before."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

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
import random
from torch.utils.data import DataLoader
from torchvision.datasets import DatasetFolder, ImageFolder

def keep(rows, kept=[]):
    kept.append(rows)

def count(rows):
    return len(rows)

"""
READ = """\
    def __getitem__(self, index):
        path, label = self.samples[index]
        return self.loader(path), label
"""
END = """
def main(root):
    data = Photos(root)
    loader = DataLoader(data, num_workers=2)
    {use}
    return loader
"""
INIT = "def __init__(self, root):\n    super().__init__(root)\n"
PACKED = "        self.samples = self.imgs = Serialized(self.samples)\n"
BELOW = f"        super().__init__(root)\n{PACKED}"


def program(
    init: str = INIT, use: str = "", more: str = "", item: str = READ, base: str = "ImageFolder", head: str = ""
) -> str:
    body = textwrap.indent(init, "    ") + "\n" * bool(init)
    return f"{HEAD}{head}class Photos({base}):\n{body}{item}{textwrap.indent(more, '    ')}{END.format(use=use)}"


def fix_of(code: str) -> Fix:
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = PythonContainerOnDataset()
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None
    return fix


def fixed(code: str) -> str:
    fix = fix_of(code)
    assert fix.applicability is Applicability.UNSAFE, fix.title
    source = Source("a.py", code)
    result = apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    compile(result, "a.py", "exec")
    again = Source("a.py", result)
    project = Project({"a.py": collect(again)}, Targets(), lambda path: again)
    assert not list(PythonContainerOnDataset().check(project))
    return result


@pytest.mark.parametrize(
    ("init", "below"),
    [
        (INIT, BELOW),
        (INIT.replace("super()", "super(Photos, self)"), f"super(Photos, self).__init__(root)\n{PACKED}"),
        (INIT.replace("super().__init__(", "ImageFolder.__init__(self, "), f"(self, root)\n{PACKED}"),
        (
            "def __init__(self, root):\n    super().__init__(\n        root,\n    )\n    self.size = 3\n",
            f"  )\n{PACKED}",
        ),
        (f"{INIT}    print(len(self.samples))\n", BELOW),
        (f"{INIT}    self.small = self.samples[:9]\n", BELOW),
        (f"{INIT}    self.size = count(self.samples)\n", BELOW),
        (f"{INIT}    self.names = [path for path, _ in self.imgs]\n", f"in self.imgs]\n{PACKED}"),
        (f"{INIT}    if root:\n        self.samples[0] = (root, 1)\n", f"(root, 1)\n{PACKED}"),
        (f"{INIT}    self.imgs.append((root, 1))\n    del self.samples[0]\n", f"del self.samples[0]\n{PACKED}"),
        (f"{INIT}    self.samples.extend([(root, 1)])\n    self.size = 3\n", f"[(root, 1)])\n{PACKED}"),
        (f"{INIT}    random.shuffle(self.samples)\n    self.size = 3\n", f"random.shuffle(self.samples)\n{PACKED}"),
        (f"{INIT}    self.samples.sort()\n    self.size = 3\n", f"self.samples.sort()\n{PACKED}"),
    ],
)
def test_the_list_is_packed_where_it_is_complete(init: str, below: str) -> None:
    assert below in fixed(program(init))


def test_only_image_folders_keep_it_under_two_names() -> None:
    init = "def __init__(self, root):\n    super().__init__(root, open, ('.txt',))\n"
    text = fixed(program(init, base="DatasetFolder"))
    assert "('.txt',))\n        self.samples = Serialized(self.samples)\n" in text
    assert "imgs" not in text


def test_a_class_without_init_gets_one_above_its_methods() -> None:
    text = fixed(program('"""Photos."""\n\nsize = 3\n\n# the item', item=READ))
    made = f"    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n{PACKED}\n"
    assert f"    size = 3\n\n{made}    # the item\n" in text.replace("    # the item\n\n", "    # the item\n")


@pytest.mark.parametrize(
    "use",
    [
        "print(len(data.samples), data.targets, data.classes)",
        "print(data.imgs[0], [path for path, _ in data.samples[:9]])",
        "paths, labels = zip(*data.samples)",
        "rows = data.imgs; print(len(rows), rows[0])",
        "other = ImageFolder(root); other.samples = []",
    ],
)
def test_uses_that_packed_lists_survive(use: str) -> None:
    assert BELOW in fixed(program(use=use))


@pytest.mark.parametrize("name", ["samples", "imgs"])
@pytest.mark.parametrize(
    ("use", "why"),
    [
        ("data.{name} = [one for one in data.{name} if one[1]]", "sets another list: `data.{name} = ["),
        ("data.{name}.append((root, 1))", "may need a list: `data.{name}.append("),
        ("data.{name}[0] = (root, 1)", "may need a list: `data.{name}[0] ="),
        ("data.{name}.sort()", "may need a list"),
        ("random.shuffle(data.{name})", "may need a list"),
        ("both = data.{name} + data.{name}", "may need a list"),
        ("same = data.{name} == []", "may need a list"),
        ("keep(data.{name})", "may need a list"),
        ("rows = data.{name}; rows.append((root, 1))", "may need a list"),
        ("rows = getattr(data, '{name}')", "may need a list"),
    ],
)
def test_uses_outside_that_need_a_list(use: str, why: str, name: str) -> None:
    for init in (INIT, ""):
        fix = fix_of(program(init, use=f"{use.format(name=name)}\n    print(loader)"))
        assert fix.applicability is Applicability.MANUAL
        assert why.format(name=name) in fix.title


@pytest.mark.parametrize(
    ("init", "why"),
    [
        (f"{INIT}    self.samples[0] = (root, open(root))\n", "puts in what is not seen to be a record"),
        (f"{INIT}    self.samples.append(root.made())\n", "puts in what is not seen to be a record"),
        (f"{INIT}    self.samples[:2] = root\n", "puts in what is not seen to be a record"),
        (f"{INIT}    rows = self.samples\n", "needs a list: `rows = self.samples`"),
        (f"{INIT}    keep(self.samples)\n", "needs a list: `keep(self.samples)`"),
        (f"{INIT}    self.cut = lambda: self.samples.clear()\n", "needs a list"),
        (f"{INIT}    if root:\n        return\n    self.samples.sort()\n", "may return before it is complete"),
        (
            "def __init__(self, root):\n    if root:\n        super().__init__(root)\n",
            "not a statement that always runs",
        ),
        ("def __init__(self, root):\n    super().__init__(root); self.size = 3\n", "no line where it is complete"),
        (f"samples = ()\n\n{INIT}", "the body of `Photos` binds `samples`, too"),
        (f"imgs: list\n\n{INIT}", "the body of `Photos` declares it: `imgs: list`"),
        (f"{INIT}\ndef make_dataset(self, *args):\n    return keep(args)\n", "`make_dataset` of `Photos` makes it"),
    ],
)
def test_what_is_in_the_way_in_the_class(init: str, why: str) -> None:
    fix = fix_of(program(init))
    assert fix.applicability is Applicability.MANUAL
    assert why in fix.title
    assert fix.snippet.endswith("self.samples = self.imgs = Serialized(self.samples)")


def test_a_decorator_may_give_an_init() -> None:
    code = program("", head="import attrs\n\n@attrs.define\n")
    assert "a decorator of `Photos` may give it an `__init__`" in fix_of(code).title


def test_a_derived_class_that_changes_the_list_needs_one() -> None:
    derived = "class Cut(Photos):\n    def __init__(self, root):\n        super().__init__(root)\n        {change}\n\n"
    code = program(use="cut = DataLoader(Cut(root), num_workers=2)")
    code = code.replace("\ndef main", f"\n{derived.format(change='self.samples.pop()')}def main")
    assert "needs a list: `self.samples.pop()`" in fix_of(code).title
    assert BELOW in fixed(code.replace("self.samples.pop()", "self.size = len(self.samples)"))


TORCHVISION = """\
import os

from torch.utils.data import Dataset


class DatasetFolder(Dataset):
    def __init__(self, root, loader, extensions=None):
        self.loader, self.classes = loader, sorted(os.listdir(root))
        samples = []
        for number, name in enumerate(self.classes):
            folder = os.path.join(root, name)
            samples += [(os.path.join(folder, file), number) for file in sorted(os.listdir(folder))]
        self.samples = samples
        self.targets = [s[1] for s in samples]

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self.loader(path), target

    def __len__(self):
        return len(self.samples)


class ImageFolder(DatasetFolder):
    def __init__(self, root):
        super().__init__(root, os.path.basename)
        self.imgs = self.samples
"""
"""What torchvision's classes do with the list."""
RUN = """
if __name__ == "__main__":
    for data in (Photos("cats"), Views("cats")):
        loader = DataLoader(data, num_workers=2, multiprocessing_context="spawn", batch_size=2)
        print(len(data), data.targets, list(data.samples), data.imgs[-1], [list(map(list, batch)) for batch in loader])
"""


def test_the_base_goes_on_with_the_packed_list(tmp_path: Path) -> None:
    """Run with what torchvision's source has, since torchvision may not be installed."""
    views = READ.replace("path, label = self.samples[index]", "path, label = self.imgs[index][0], super()[index][1]")
    views = f"class Views(ImageFolder):\n{views}".replace("super()[index]", "super().__getitem__(index)")
    init = f"{INIT}    self.samples[0] = (self.samples[0][0], 7)\n"
    code = program(init).replace("\ndef main", f"\n{views}\ndef main") + RUN
    code = code.replace("    return loader\n", "    return loader, DataLoader(Views(root), num_workers=2)\n")
    code = code.replace("num_workers=2", "num_workers=1")  # each worker imports torch
    (tmp_path / "stubs" / "torchvision").mkdir(parents=True)
    (tmp_path / "stubs" / "torchvision" / "__init__.py").touch()
    (tmp_path / "stubs" / "torchvision" / "datasets.py").write_text(TORCHVISION)
    for place in ("cats/a/1.txt", "cats/a/2.txt", "cats/b/3.txt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = PythonContainerOnDataset()
    fixes = [fix for finding in rule.check(project) if (fix := rule.fix(finding, project))]
    assert [fix.applicability for fix in fixes] == [Applicability.UNSAFE] * 2
    edits = list(dict.fromkeys(edit for fix in fixes for edit in fix.edits))
    imports = tuple(dict.fromkeys(one for fix in fixes for one in fix.imports))
    (tmp_path / "before.py").write_text(code)
    (tmp_path / "after.py").write_text(apply(code, [*edits, *place_imports(source, parse(source), imports)]))
    before, after = (output(tmp_path, name) for name in ("before.py", "after.py"))
    assert before == after
    assert "3 [0, 0, 1] [('cats/a/1.txt', 7), " in before


def output(root: Path, name: str) -> str:
    path = os.pathsep.join(filter(None, [str(root / "stubs"), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, name],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
