"""The class that packs records is once in a package: the other files import it, and the program still runs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest

from dllint.engine import Request, Result, check
from dllint.fix import Applicability, Edit, edited
from dllint.source import Source

BASE = """\
from torch.utils.data import Dataset


class Base(Dataset):
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
"""
ROWS = """\
import json
{imports}

class {name}({base}):
    def __init__(self, path):
        with open(path) as file:
            self.rows = [json.loads(line) for line in file]
{more}"""
OWN = """
    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
"""
MAIN = """\
from torch.utils.data import DataLoader
{imports}

if __name__ == "__main__":
    for kind in ({names},):
        print([int(batch["n"]) for batch in DataLoader(kind("rows.jsonl"), num_workers=2)])
"""
NAMES = ("Cats", "Dogs", "Eels")
STAND_IN = {
    "torch/__init__.py": """\
import numpy


class Tensor(numpy.ndarray):
    def numpy(self):
        return numpy.asarray(self)


def from_numpy(values):
    return values.view(Tensor)


def tensor(values, device=None):
    return from_numpy(numpy.array(values))


def set_num_threads(number):
    pass
""",
    "torch/utils/__init__.py": "",
    "torch/utils/data.py": """\
import pickle


class Dataset:
    pass


class DataLoader:
    def __init__(self, dataset, num_workers):
        self.sent = pickle.dumps(dataset)

    def __iter__(self):
        dataset = pickle.loads(self.sent)
        return iter([dataset[index] for index in range(len(dataset))])
""",
}
"""What these programs use of torch, whose import takes most of a run; a loader gives the items of a copy."""


def rows(name: str, imports: str = "", base: str = "Base") -> str:
    return ROWS.format(name=name, imports=imports, base=base, more="" if base == "Base" else OWN)


def plain(name: str, imports: str = "") -> str:
    return rows(name, f"{imports}from torch.utils.data import Dataset\n", "Dataset")


def based(spelled: str = ".base") -> dict[str, str]:
    """A package of three datasets with one base."""
    files = {f"data/{name.lower()}.py": rows(name, f"\nfrom {spelled} import Base\n") for name in NAMES}
    return {"data/base.py": BASE, "data/__init__.py": "", **files}


def with_helper(imports: str, above: str = "", below: str = "") -> dict[str, str]:
    """A package of three datasets without a base, and a module that they import."""
    files = {f"data/{name.lower()}.py": rows(name, imports, "Dataset") for name in NAMES}
    helper = f"import re\n{above}\n\ndef cleaned(text):\n    return re.sub(' +', ' ', text)\n{below}"
    return {**files, "data/texts.py": helper, "data/__init__.py": "", "main.py": main()}


def main(names: tuple[str, ...] = NAMES, package: str = "data.") -> str:
    imports = "".join(f"from {package}{name.lower()} import {name}\n" for name in names)
    return MAIN.format(imports=imports, names=", ".join(names))


def make(root: Path, files: dict[str, str]) -> None:
    root.mkdir(exist_ok=True)
    (root / "dllint.toml").touch()
    (root / "rows.jsonl").write_text("".join(f'{{"n": {number}}}\n' for number in range(3)))
    write(root, files)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def run(root: Path, *paths: str, fix: bool = False) -> Result:
    wanted = tuple(str(root / path) for path in paths or (".",))
    return check(Request(paths=wanted, fix=fix, unsafe_fixes=True))


def runs(root: Path, number: int = 3, torch: dict[str, str] = STAND_IN) -> bool:
    """Whether the program prints what it did before it was fixed."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), torch)
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH", "")]))
        env = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "main.py"], cwd=root, env=env, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return done.stdout == "[0, 1, 2]\n" * number


def defining(root: Path) -> list[str]:
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    return [path for path in files for _ in re.findall("^class Serialized:", (root / path).read_text(), re.MULTILINE)]


def importing(root: Path) -> dict[str, str]:
    """The line of each file that imports the class."""
    files = (
        (path, re.search(r"^from .* import .*\bSerialized\b.*", path.read_text(), re.M)) for path in root.rglob("*.py")
    )
    return {path.relative_to(root).as_posix(): line.group() for path, line in files if line}


def apply_one(root: Path, result: Result, path: str) -> None:
    """What an editor does that applies the fix of one finding."""
    (fix,) = [fix for finding, fix in result.findings if finding.path == path and finding.code == "DLL202"]
    assert fix is not None
    assert fix.applicability is Applicability.UNSAFE
    by_path: dict[str, list[Edit]] = defaultdict(list)
    for edit in fix.edits:
        by_path[edit.path].append(edit)
    for place, edits in by_path.items():
        text = (root / place).read_text()
        (root / place).write_text(edited(Source(place, text), edits).text)


@pytest.mark.parametrize("spelled", [".base", "data.base"])
def test_files_with_a_common_base_import_the_class_from_there(tmp_path: Path, spelled: str) -> None:
    make(tmp_path, {**based(spelled), "main.py": main()})
    assert len(run(tmp_path, fix=True).applied) == 3
    assert defining(tmp_path) == ["data/base.py"]
    line = f"from {spelled} import Base, Serialized"
    assert importing(tmp_path) == {f"data/{name.lower()}.py": line for name in NAMES}
    assert not run(tmp_path).findings
    assert runs(tmp_path)


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed: pip install torch")
def test_the_workers_of_torch_read_the_shared_class(tmp_path: Path) -> None:
    make(tmp_path, {**based(), "main.py": main()})
    run(tmp_path, fix=True)
    assert runs(tmp_path, torch={})


@pytest.mark.parametrize("order", [("cats", "dogs", "eels"), ("eels", "cats", "dogs")])
def test_fixes_are_right_one_at_a_time_in_any_order(tmp_path: Path, order: tuple[str, ...]) -> None:
    make(tmp_path, {**based(), "main.py": main()})
    for number, name in enumerate(order, start=1):
        apply_one(tmp_path, run(tmp_path), f"data/{name}.py")
        assert (defining(tmp_path), len(importing(tmp_path))) == (["data/base.py"], number)
        if number == 1:
            assert runs(tmp_path)
    assert not run(tmp_path).findings


@pytest.mark.parametrize("unit", ["\t", "  "])
def test_the_class_is_indented_as_its_file_is(tmp_path: Path, unit: str) -> None:
    plain_files = {f"data/{name.lower()}.py": plain(name) for name in NAMES}
    for kind, files in (("based", based()), ("plain", {**plain_files, "data/__init__.py": ""})):
        written = {}
        for own in ("    ", unit):
            root = tmp_path / f"{kind}{len(own)}"
            make(root, {path: text.replace("    ", own) for path, text in {**files, "main.py": main()}.items()})
            apply_one(root, run(root), "data/cats.py")
            assert len(run(root, fix=True).applied) == 2
            assert len(defining(root)) == 1
            assert not run(root, fix=True).applied
            assert runs(root)
            written[own] = {path: (root / path).read_text() for path in files}
        assert written[unit] == {path: text.replace("    ", unit) for path, text in written["    "].items()}


def test_fixes_of_one_state_go_together(tmp_path: Path) -> None:
    make(tmp_path, based() | {"main.py": main()})
    edits = {edit for _, fix in run(tmp_path).findings if fix for edit in fix.edits if edit.path == "data/base.py"}
    text = edited(Source("data/base.py", BASE), edits).text
    assert text.count("class Serialized:") == text.count("import pickle") == 1


def test_files_without_a_common_base_import_it_from_the_first(tmp_path: Path) -> None:
    files = {f"data/{name.lower()}.py": plain(name) for name in NAMES}
    make(tmp_path, {**files, "data/__init__.py": "", "main.py": main()})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/cats.py"]
    line = "from data.cats import Serialized"
    assert importing(tmp_path) == {"data/dogs.py": line, "data/eels.py": line}
    assert runs(tmp_path)


@pytest.mark.parametrize("more", ["", "class Kept:\n    pass\n"])
def test_files_with_a_common_helper_import_it_from_there(tmp_path: Path, more: str) -> None:
    imports = "from torch.utils.data import Dataset\n\nfrom data.texts import cleaned\n"
    make(tmp_path, with_helper(imports, below=more))
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/texts.py"]
    assert "Dataset\n\nfrom data.texts import Serialized, cleaned\n" in (tmp_path / "data/dogs.py").read_text()
    assert not run(tmp_path).findings
    assert runs(tmp_path)


@pytest.mark.parametrize(
    ("shown", "brought"), [("", True), ("__all__ = ['cleaned']\n", False), ("__all__ = [*'ab']\n", False)]
)
def test_a_star_import_brings_the_class_unless_its_module_says_what_it_shows(
    tmp_path: Path, shown: str, brought: bool
) -> None:
    imports = "from torch.utils.data import Dataset\nfrom data.texts import *\n"
    make(tmp_path, with_helper(imports, above=f"\n{shown}a = b = 0\n"))
    apply_one(tmp_path, run(tmp_path), "data/dogs.py")
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/texts.py"]
    line = "from data.texts import Serialized"
    assert importing(tmp_path) == ({} if brought else {f"data/{name.lower()}.py": line for name in NAMES})
    assert not run(tmp_path).findings
    assert runs(tmp_path)


def test_a_second_list_of_a_file_has_the_class_of_a_star_import(tmp_path: Path) -> None:
    imports = "from torch.utils.data import Dataset\nfrom data.texts import *\n"
    make(tmp_path, with_helper(imports))
    run(tmp_path, fix=True)
    more = rows("Apes", "", "Dataset").replace("import json\n", "")
    with (tmp_path / "data/cats.py").open("a") as file:
        file.write(more)
    write(tmp_path, {"main.py": main().replace("(Cats,", "(Apes, Cats,").replace("import Cats", "import Apes, Cats")})
    run(tmp_path, fix=True)
    assert (defining(tmp_path), importing(tmp_path)) == (["data/texts.py"], {})
    assert (tmp_path / "data/cats.py").read_text().count("= Serialized(") == 2
    assert runs(tmp_path, 4)


def test_the_class_joins_an_import_below_calls(tmp_path: Path) -> None:
    imports = "import sys\n\nprint(end='')\n\nfrom torch.utils.data import Dataset\nfrom data.texts import cleaned\n"
    make(tmp_path, with_helper(imports))
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/texts.py"]
    assert set(importing(tmp_path).values()) == {"from data.texts import Serialized, cleaned"}
    assert runs(tmp_path)


def test_of_modules_that_all_import_it_goes_to_what_imports_least(tmp_path: Path) -> None:
    files = {f"data/{name.lower()}.py": plain(name, "from data.more import More\n") for name in NAMES}
    files |= {path: f"from data.parent import Parent\n{text}" for path, text in files.items()}
    files["data/more.py"] = "from data.parent import Parent\n\n\nclass More(Parent):\n    pass\n"
    files["data/parent.py"] = "class Parent:\n    pass\n"
    make(tmp_path, {**files, "data/__init__.py": "", "main.py": main()})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/parent.py"]
    assert runs(tmp_path)


def nested(names: dict[str, str], imports: str = "") -> dict[str, str]:
    """A package with datasets in folders of their own, each with a base beside it."""
    files = {"data/__init__.py": "", **{f"data/{folder}/base.py": BASE for folder in names.values()}}
    for name, folder in names.items():
        files[f"data/{folder}/__init__.py"] = ""
        files[f"data/{folder}/{name.lower()}.py"] = rows(name, f"\n{imports}from .base import Base\n")
    program = "".join(f"from data.{folder}.{name.lower()} import {name}\n" for name, folder in names.items())
    return {**files, "main.py": MAIN.format(imports=program, names=", ".join(names))}


def test_each_folder_has_the_class_in_its_base_where_they_share_nothing(tmp_path: Path) -> None:
    files = nested({"Cats": "land", "Dogs": "land", "Eels": "sea", "Fish": "sea", "Gulls": "air"})
    make(tmp_path, files)
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/air/gulls.py", "data/land/base.py", "data/sea/base.py"]
    assert not run(tmp_path, fix=True).applied
    assert runs(tmp_path, 5)


def test_folders_share_the_class_in_what_most_import(tmp_path: Path) -> None:
    files = nested({"Cats": "land", "Dogs": "land", "Eels": "sea", "Gulls": "air"}, "from data.kinds import kinds\n")
    files["data/air/gulls.py"] = files["data/air/gulls.py"].replace("data.kinds import kinds", "..names import NAMES")
    files |= {"data/kinds.py": "def kinds():\n    return []\n", "data/names.py": "NAMES = []\n"}
    make(tmp_path, files)
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/kinds.py"]
    others = ("data/land/cats.py", "data/land/dogs.py", "data/sea/eels.py")
    wanted = dict.fromkeys(others, "from data.kinds import Serialized, kinds")
    assert importing(tmp_path) == {**wanted, "data/air/gulls.py": "from ..kinds import Serialized"}
    assert not run(tmp_path, fix=True).applied
    assert runs(tmp_path, 4)


def test_imports_from_two_places_make_no_circle(tmp_path: Path) -> None:
    folders = {"Ants": "land", "Cats": "land", "Dogs": "land", "Eels": "sea", "Fish": "sea", "Gulls": "sea"}
    files = nested(folders)
    for name, folder in folders.items():
        imports = "" if name in ("Cats", "Gulls") else "from .words import word\n"
        files[f"data/{folder}/{name.lower()}.py"] = plain(name, imports)
    for folder, other in (("land", "sea.gulls import Gulls"), ("sea", "land.cats import Cats")):
        tried = f"try:\n    from data.{other}\nexcept ImportError:\n    raise\n"
        files[f"data/{folder}/words.py"] = f"{tried}\n\ndef word():\n    return {other.split()[-1]}\n"
    make(tmp_path, files)
    assert runs(tmp_path, 6)
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/land/words.py", "data/sea/gulls.py"]
    assert runs(tmp_path, 6)


EFFECT = "import torch\n\ntorch.set_num_threads(1)\n"
LIBRARY = "import yaml\n\nread = yaml.safe_load\n"
CALL = "from data.settings import SETTINGS\n"
QUIET = "import logging\n\nSIZE = 2 * 3\nlogger = logging.getLogger(__name__)\n"


@pytest.mark.parametrize(("more", "home"), [(EFFECT, "dogs"), (LIBRARY, "dogs"), (CALL, "dogs"), (QUIET, "cats")])
def test_a_file_whose_import_does_more_than_define_gives_no_class(tmp_path: Path, more: str, home: str) -> None:
    files = {f"data/{name.lower()}.py": plain(name) for name in NAMES}
    files["data/cats.py"] = plain("Cats", more)
    settings = "import os\n\nSETTINGS = os.environ.setdefault('MODE', 'fast')\n"
    make(tmp_path, {**files, "data/settings.py": settings, "data/__init__.py": "", "main.py": main()})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == [f"data/{home}.py"]
    assert set(importing(tmp_path).values()) == {f"from data.{home} import Serialized"}
    assert runs(tmp_path)


def test_files_that_all_do_something_when_they_are_imported_have_their_own(tmp_path: Path) -> None:
    files = {f"data/{name.lower()}.py": plain(name, EFFECT) for name in NAMES}
    make(tmp_path, {**files, "data/__init__.py": "", "main.py": main()})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == sorted(files)
    assert runs(tmp_path)


def test_what_a_file_imports_by_way_of_others_does_nothing_new(tmp_path: Path) -> None:
    files = {f"data/{name.lower()}.py": plain(name, EFFECT) for name in NAMES}
    files["data/eels.py"] = plain("Eels", "from data.dogs import Dogs\n")
    files["data/dogs.py"] = plain("Dogs", "from data.cats import Cats\n")
    make(tmp_path, {**files, "data/__init__.py": "", "main.py": main()})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/cats.py"]
    line = "from data.cats import "
    assert importing(tmp_path) == {"data/dogs.py": f"{line}Cats, Serialized", "data/eels.py": f"{line}Serialized"}
    assert runs(tmp_path)


def test_a_helper_outside_of_the_package_has_the_class_for_all_that_import_it(tmp_path: Path) -> None:
    files = {f"{name.lower()}/{name.lower()}.py": plain(name, "from helpers import cleaned\n") for name in NAMES}
    program = "".join(f"from {name.lower()}.{name.lower()} import {name}\n" for name in NAMES)
    helper = "def cleaned(text):\n    return text.strip()\n"
    make(tmp_path, {**files, "helpers.py": helper, "main.py": MAIN.format(imports=program, names=", ".join(NAMES))})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["helpers.py"]
    assert importing(tmp_path) == dict.fromkeys(files, "from helpers import Serialized, cleaned")
    assert runs(tmp_path)


@pytest.mark.parametrize(
    ("home", "gets"),
    [
        ("models/builder", False),
        ("data_models/builder", True),
        ("models/utils", True),
        ("common/builder", True),
        ("builder", True),
        ("sets/builder", True),
    ],
)
def test_a_module_of_another_folder_has_the_class_only_if_it_is_for_all(tmp_path: Path, home: str, gets: bool) -> None:
    imports = f"from pets.{home.replace('/', '.')} import cleaned\n"
    files = {f"pets/sets/{name.lower()}.py": plain(name, imports) for name in NAMES}
    files |= {f"pets/{home}.py": "def cleaned(text):\n    return text.strip()\n", "pets/__init__.py": ""}
    files |= {f"pets/{folder}/__init__.py": "" for folder in ("sets", home.rpartition("/")[0]) if folder}
    make(tmp_path, {**files, "main.py": main(package="pets.sets.")})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == [f"pets/{home if gets else 'sets/cats'}.py"]
    assert not run(tmp_path).findings
    assert runs(tmp_path)


@pytest.mark.parametrize("shown", ["", '__all__ = ["Cats"]\n'])
def test_a_class_behind_a_package_that_is_imported_whole_is_named_where_it_is(tmp_path: Path, shown: str) -> None:
    files = {f"pets/water/{name.lower()}.py": plain(name, "from pets.land import *\n") for name in ("Eels", "Fish")}
    files |= {"pets/land/__init__.py": "from .cats import *\n", "pets/land/cats.py": plain("Cats", f"{EFFECT}{shown}")}
    files |= {"pets/__init__.py": "", "pets/water/__init__.py": ""}
    program = "from pets.land import Cats\nfrom pets.water.eels import Eels\nfrom pets.water.fish import Fish\n"
    make(tmp_path, {**files, "main.py": MAIN.format(imports=program, names="Cats, Eels, Fish")})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["pets/land/cats.py"]
    assert set(importing(tmp_path).values()) == {"from pets.land.cats import Serialized"}
    assert runs(tmp_path)


def test_files_that_import_each_other_with_dots_do_so_here(tmp_path: Path) -> None:
    files = {f"data/{name.lower()}.py": plain(name) for name in NAMES}
    imports = "".join(f"from .{name.lower()} import {name}\n" for name in NAMES)
    program = main().replace("data.cats", "data").replace("data.dogs", "data").replace("data.eels", "data")
    make(tmp_path, {**files, "data/__init__.py": imports, "main.py": program})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/cats.py"]
    assert set(importing(tmp_path).values()) == {"from .cats import Serialized"}
    assert runs(tmp_path)


def test_a_class_that_is_there_is_imported(tmp_path: Path) -> None:
    make(tmp_path, {"data/__init__.py": "", "data/dogs.py": plain("Dogs"), "main.py": main(("Dogs",))})
    run(tmp_path, fix=True)
    make(tmp_path, {"data/cats.py": plain("Cats"), "main.py": main(("Cats", "Dogs"))})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/dogs.py"]
    assert runs(tmp_path, 2)


def test_what_is_imported_imports_nothing_back(tmp_path: Path) -> None:
    cats = plain("Cats", "from data.dogs import Dogs\n")
    dogs, eels = plain("Dogs"), plain("Eels", "def more():\n    from data.dogs import Dogs\n    return Dogs\n\n")
    files = {"data/cats.py": cats, "data/dogs.py": dogs, "data/eels.py": eels}
    make(tmp_path, {**files, "data/__init__.py": "", "main.py": main()})
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["data/dogs.py"]
    assert runs(tmp_path)


def test_where_no_other_file_may_change_the_class_stays_beside_its_use(tmp_path: Path) -> None:
    make(tmp_path, {**based(), "main.py": main()})
    run(tmp_path, "data/dogs.py", fix=True)
    assert (defining(tmp_path), importing(tmp_path)) == (["data/dogs.py"], {})
    assert runs(tmp_path)


def test_scripts_and_packages_that_know_nothing_of_each_other_have_their_own(tmp_path: Path) -> None:
    script = plain("Cats") + '\n\nif __name__ == "__main__":\n    print(len(Cats("rows.jsonl")))\n'
    loader = (
        "\n\nfrom torch.utils.data import DataLoader\n\ndef loader():\n    return DataLoader({}(''), num_workers=2)\n"
    )
    one, two = plain("Dogs") + loader.format("Dogs"), plain("Eels") + loader.format("Eels")
    files = {"cats.py": script + loader.format("Cats"), "dogs.py": one, "one/dogs.py": one, "two/eels.py": two}
    make(tmp_path, files)
    run(tmp_path, fix=True)
    assert defining(tmp_path) == ["cats.py", "dogs.py", "one/dogs.py", "two/eels.py"]


def test_a_name_that_means_something_else_keeps_the_class_apart(tmp_path: Path) -> None:
    files = based()
    files["data/dogs.py"] = files["data/dogs.py"].replace("import json", "import json\nSerialized = None")
    make(tmp_path, {**files, "main.py": main()})
    run(tmp_path, fix=True)
    assert "class PackedSerialized:" in (tmp_path / "data/dogs.py").read_text()
    assert set(importing(tmp_path)) == {"data/cats.py", "data/eels.py"}
    assert runs(tmp_path)
