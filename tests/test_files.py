"""Which files make up a project, which are reported on, and which must be parsed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dllint.config import Config, Configs, Pattern
from dllint.files import Listings, close, ignore, peek, select, words


def make(root: Path, *names: str) -> None:
    for name in names:
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")


LISTINGS: dict[Path, Listings] = {}
"""What the latest walk of a root left, whatever its patterns were and its files."""


def found(root: Path, **keys: object) -> list[str]:
    """What a walk finds; one that has an earlier walk's listings, be they out of date, finds the same."""
    config = Config(root=str(root), **keys)  # type: ignore[arg-type]
    files = select(Configs.only(config), [str(root)]).files
    for _ in range(2):
        listings = Listings(LISTINGS[root].seen if root in LISTINGS else None)
        assert select(Configs.only(config), [str(root)], listings=listings).files == files
        LISTINGS[root] = listings
    assert not listings.changed
    return list(files)


def patterns(root: Path, *globs: str) -> tuple[Pattern, ...]:
    return tuple(Pattern(str(root), glob) for glob in globs)


def link(place: Path, target: str | Path) -> None:
    try:
        place.symlink_to(target)
    except OSError:
        pytest.skip("no symbolic links here")


def test_the_walk_takes_python_files_and_leaves_out_what_is_not_source(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/c.py", "a/d.pyi", "e.txt", "n.ipynb", ".hidden/f.py")
    make(tmp_path, ".venv/x.py", "build/x.py", "a/__pycache__/x.py", "a/node_modules/x/y.py", "venv/lib/x.py")
    assert found(tmp_path) == [".hidden/f.py", "a/c.py", "b.py", "n.ipynb"]


def test_folders_called_like_files(tmp_path: Path) -> None:
    make(tmp_path, "x.py/y.py", "x.py/build.py")
    assert found(tmp_path) == ["x.py/build.py", "x.py/y.py"]


def test_exclude_replaces_the_defaults_and_extend_exclude_adds(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "docs/conf.py", "build/x.py", "pkg/docs/y.py")
    assert found(tmp_path, extend_exclude=patterns(tmp_path, "/docs", "*_pb2.py")) == ["a.py", "pkg/docs/y.py"]
    assert found(tmp_path, exclude=patterns(tmp_path, "docs/")) == ["a.py", "build/x.py"]


def test_include(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.pyw", "c.txt")
    assert found(tmp_path, include=patterns(tmp_path, "*.py", "*.pyw")) == ["a.py", "b.pyw"]


def test_gitignore_files_at_every_level_and_beside_the_repository(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "out/x.py", "pkg/gen.py", "pkg/kept.py", "pkg/sub/gen.py", "local.py", "top/data/x.py")
    make(tmp_path, ".git/info/exclude")
    (tmp_path / ".gitignore").write_text("out/\ngen.py\n# comment\n")
    (tmp_path / "pkg/sub/.gitignore").write_text("!gen.py\n")
    (tmp_path / ".git/info/exclude").write_text("local.py\n")
    assert found(tmp_path) == ["a.py", "pkg/kept.py", "pkg/sub/gen.py", "top/data/x.py"]
    (tmp_path / ".gitignore").write_text("/top/data\n")
    assert found(tmp_path / "top") == [], "the ignore files of the repository above the root count"
    assert found(tmp_path / "top", respect_gitignore=False) == ["data/x.py"]


def test_listings_are_of_their_patterns_and_entries(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "a.py", "out/x.py", "pkg/b.py", "pkg/local/c.py")
    (tmp_path / ".gitignore").write_text("out/\n")
    assert found(tmp_path) == ["a.py", "pkg/b.py", "pkg/local/c.py"]
    (tmp_path / ".gitignore").write_text("pkg/*.py\n")
    assert found(tmp_path) == ["a.py", "out/x.py", "pkg/local/c.py"]
    (tmp_path / "pkg/.gitignore").write_text("local/\n")
    assert found(tmp_path) == ["a.py", "out/x.py"]
    assert found(tmp_path, extend_exclude=patterns(tmp_path, "out/")) == ["a.py"]
    assert found(tmp_path, include=patterns(tmp_path, "*.toml")) == []
    make(tmp_path, "new.py")
    assert found(tmp_path) == ["a.py", "new.py", "out/x.py"]
    (tmp_path / ".git").rename(tmp_path / "git")
    assert found(tmp_path) == ["a.py", "new.py", "out/x.py", "pkg/b.py", "pkg/local/c.py"]


def test_patterns_are_not_asked_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, ".git/HEAD", "a.py", "out/x.py")
    (tmp_path / ".gitignore").write_text("out/\n")
    first = found(tmp_path)
    monkeypatch.setattr(ignore._Spec, "verdict", lambda *_: pytest.fail("asked"))
    listings = Listings(LISTINGS[tmp_path].seen)
    assert (
        list(select(Configs.only(Config(root=str(tmp_path))), [str(tmp_path)], listings=listings).files)
        == first
        == ["a.py"]
    )


def test_a_pattern_that_git_would_skip_does_no_harm(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("!\nb.py\n")
    assert found(tmp_path) == ["a.py"]


def test_ignore_files_count_in_repositories_only(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", "inner/a.py", "inner/b.py")
    (tmp_path / ".gitignore").write_text("b.py\n")
    (tmp_path / "inner/.gitignore").write_text("a.py\n")
    assert found(tmp_path) == ["a.py", "b.py", "inner/a.py", "inner/b.py"]
    (tmp_path / "inner/.git").mkdir()
    assert found(tmp_path) == ["a.py", "b.py", "inner/b.py"]
    (tmp_path / ".git").mkdir()
    assert found(tmp_path) == ["a.py"]


def test_worktrees_share_the_exclude_file_of_their_repository(tmp_path: Path) -> None:
    make(tmp_path, "repo/.git/info/exclude", "repo/.git/worktrees/w/commondir", "w/.git", "w/a.py", "w/b.py")
    (tmp_path / "repo/.git/info/exclude").write_text("b.py\n")
    (tmp_path / "repo/.git/worktrees/w/commondir").write_text("../..\n")
    (tmp_path / "w/.git").write_text(f"gitdir: {tmp_path}/repo/.git/worktrees/w\n")
    assert found(tmp_path / "w") == ["a.py"]


def test_targets_are_the_arguments_and_the_project_is_everything(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "pkg/b.py", "pkg2/c.py")
    picked = select(Configs.only(Config(root=str(tmp_path))), [str(tmp_path / "pkg"), str(tmp_path / "a.py")])
    assert picked.files == ("a.py", "pkg/b.py", "pkg2/c.py")
    assert picked.targets == {"a.py", "pkg/b.py"}
    assert picked.named == {"a.py"}


def test_a_script_in_no_project_has_what_lies_beside_it_and_is_imported(tmp_path: Path) -> None:
    make(tmp_path, "helper.py", "pkg/deep/b.py", "unasked/c.py", "deeper/d.py", "node_modules/e.py", "own/f.py")
    make(tmp_path, "own/.git/HEAD", "away/train.py", "away/near/g.py")
    (tmp_path / "train.py").write_text("import pkg.deep.b\nimport node_modules.e\nfrom own import f\n")
    (tmp_path / "pkg/deep/b.py").write_text("from deeper import d\nfrom . import near\n")
    script = str(tmp_path / "train.py")
    near = ("deeper/d.py", "helper.py", "pkg/deep/b.py", "train.py")
    assert select(Configs([script]), [script]).files == near
    assert select(Configs([str(tmp_path)]), [str(tmp_path)], beside=True).files == near
    assert select(Configs([script]), [], overlay=script).files == near
    both = [script, str(tmp_path / "away/train.py")]
    assert select(Configs(both), both).files == tuple(sorted((*near, "away/near/g.py", "away/train.py")))
    everything = select(Configs([str(tmp_path)]), [str(tmp_path)]).files
    assert {"unasked/c.py", "own/f.py"} < set(everything)
    make(tmp_path, "pyproject.toml")
    assert select(Configs([script]), [script]).files == everything


def test_what_is_named_counts_though_it_is_excluded_unless_forced(tmp_path: Path) -> None:
    make(tmp_path, "build/a.py", "build/b.py", "c.pyi", "d.ipynb", "gen/e.py")
    (tmp_path / ".gitignore").write_text("gen\n")
    make(tmp_path, ".git/HEAD")
    places = [str(tmp_path / name) for name in ("build/a.py", "c.pyi", "gen", "d.ipynb", "none.py")]
    config = Config(root=str(tmp_path))
    picked = select(Configs.only(config), places)
    assert picked.targets == {"build/a.py", "c.pyi", "gen/e.py", "d.ipynb"}
    assert picked.files == ("build/a.py", "c.pyi", "d.ipynb", "gen/e.py")
    assert picked.missing == (places[4],)
    forced = select(Configs.only(Config(root=str(tmp_path), force_exclude=True)), places)
    assert forced.targets == {"c.pyi", "d.ipynb"}


def test_a_folder_that_configuration_excludes_can_be_named(tmp_path: Path) -> None:
    make(tmp_path, "old/a.py", "old/deep/b.py")
    config = Config(root=str(tmp_path), extend_exclude=patterns(tmp_path, "old/"))
    assert select(Configs.only(config), [str(tmp_path)]).files == ()
    assert select(Configs.only(config), [str(tmp_path / "old")]).targets == {"old/a.py", "old/deep/b.py"}


def test_links_count_once_and_loops_end(tmp_path: Path) -> None:
    make(tmp_path, "root/a.py", "root/sub/b.py", "outside/c.py", "outside/data/d.py")
    root = tmp_path / "root"
    link(root / "same.py", "a.py")
    link(root / "self.py", "self.py")
    link(root / "broken.py", "nowhere.py")
    link(root / "sub" / "up", root)
    link(root / "data", tmp_path / "outside")
    link(root / "c1.py", tmp_path / "outside/c.py")
    link(root / "c2.py", tmp_path / "outside/c.py")
    assert found(root) == ["a.py", "c1.py", "sub/b.py"]
    config = Config(root=str(root))
    assert select(Configs.only(config), [str(root / "same.py"), str(root / "sub/up/sub/b.py")]).named == {
        "a.py",
        "sub/b.py",
    }
    assert select(Configs.only(config), [str(root / "data")]).targets == {"data/c.py", "data/data/d.py"}


def test_a_file_on_stdin_need_not_exist(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    place = str(tmp_path / "new.py")
    assert select(Configs.only(Config(root=str(tmp_path))), [], place).targets == {"new.py"}
    excluded = Config(root=str(tmp_path), force_exclude=True, extend_exclude=patterns(tmp_path, "new.py"))
    assert select(Configs.only(excluded), [], place).targets == set()


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils.data import DataLoader",
        "import torch.multiprocessing as mp",
        "for x in self.train_dataloader():",
        "trainer = Trainer(model)",
        "from my.loaders import FastPipe",
        "wake()",
        "transforms.Compose([lambda image: image])",
        "rows = rows.map(work, num_proc=4)",
        "import pebble",
        "import litdata",
    ],
)
def test_words_that_let_a_file_pass(text: str) -> None:
    assert peek("a.py", text.encode(), words([b"wake("], ["my.loaders.FastPipe"])).passes


@pytest.mark.parametrize(
    "text", ["import torch", "pretrainer = 1", "MyTrainers()", "num_processes=4", "def __getitem__(self): ...", ""]
)
def test_words_that_do_not(text: str) -> None:
    assert not peek("a.py", text.encode(), words()).passes


BELOW = {"a.*", "..c.d.*", "f.g.*"}


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        ("import a, b.c as d  # e\n", {"a", "b.c"}),
        ("from a.b import c as d, e\n", {"a.b", "a.b.c", "a.b.e"}),
        ("from . import c\nfrom ..a import (\n    b,  # x\n    d,\n)\n", {".", ".c", "..a", "..a.b", "..a.d"}),
        ("from a import *\n", {"a"}),
        ("from a import b, \\\r\n    c\r\n", {"a", "a.b", "a.c"}),
        ("try: import a\nexcept ImportError: import b; import c\n", {"a", "b", "c"}),
        ("if x:\n\timport a\n", {"a"}),
        ("import a\rimport b\r", {"a", "b"}),
        ("from a import(b)\n", {"a", "a.b"}),
        ("important = 1\n", set()),
        ("importlib.import_module('a.b')\nimport_module(\n    \"c\",\n)\n", {"a.b", "c"}),
        ("import_module('.a', 'b')\nimport_module(f'a_{c}')\nimport_module(f'.{c}')\nimport_module(b)\n", set()),
        ("import_module('a.%s' % b)\nimport_module(f'..c.d.{e}')\nimport_module('f.g.h_' + i)\n", BELOW),
    ],
)
def test_imports_are_read_from_the_bytes(text: str, imports: set[str]) -> None:
    assert set(peek("a.py", text.encode(), words()).imports) == imports


def closed(files: dict[str, str], root: str = "/x/project") -> set[str]:
    wanted = words()
    return set(close({path: peek(path, text.encode(), wanted) for path, text in files.items()}, root))


def test_closure_goes_up_to_the_programs_and_down_to_all_they_import() -> None:
    files = {
        "loaders.py": "DataLoader(ds)",
        "train.py": "import loaders, setup_",
        "main.py": "from train import run",
        "setup_.py": "from vocab import Vocab",
        "vocab.py": "",
        "other.py": "import vocab",
        "alone.py": "",
    }
    assert closed(files) == {"loaders.py", "train.py", "main.py", "setup_.py", "vocab.py"}


def test_closure_finds_modules_wherever_scripts_may_be_run_from() -> None:
    files = {
        "src/pkg/__init__.py": "from .data import D",
        "src/pkg/data.py": "import pkg.sub.deep",
        "src/pkg/sub/__init__.py": "",
        "src/pkg/sub/deep.py": "from ...pkg import util",
        "src/pkg/util.py": "",
        "tools/run.py": "from pkg import D\nfrom helper import DataLoader",
        "tools/helper.py": "",
        "other/helper.py": "",
        "pkg/unrelated.py": "",
    }
    assert closed(files) == set(files) - {"pkg/unrelated.py"}


def test_closure_over_the_modules_of_a_package_of_which_a_computed_name_may_be_any() -> None:
    files = {
        "train.py": "import_module(f'asr.models.{name}').train()",
        "asr/models/__init__.py": "",
        "asr/models/las/__init__.py": "from .train import train",
        "asr/models/las/train.py": "from asr import data",
        "asr/models/plain.py": "",
        "asr/data.py": "import_module(f'.kinds.{name}', __package__)  # DataLoader",
        "asr/kinds/words.py": "",
        "more/kinds/words.py": "",
        "other.py": "import_module(f'more.{name}')",
    }
    assert closed(files) == set(files) - {"more/kinds/words.py", "other.py"}


def test_closure_when_the_root_is_the_package_itself() -> None:
    assert closed({"a.py": "from project.b import x  # DataLoader", "b.py": ""}) == {"a.py", "b.py"}


@pytest.mark.parametrize(
    ("text", "all_of_it"),
    [
        ("from collections import Compose, Subset, Loader", False),
        ("import itertools\nitertools.cycle(colours)", False),
        ("from concurrent.futures import ThreadPoolExecutor", False),
        ("library = ctypes.WinDLL('a.DLL')", False),
        ("import itertools\nitertools.cycle(train_loader)", True),
        ("from concurrent.futures import ProcessPoolExecutor", True),
        ("from torchvision.transforms import Compose", True),
        ("import albumentations as A\nA.Compose([])", True),
        ("def loader(): return Loader(num_workers=2)", True),
        ("class Rows(Dataset): ...", True),
        ("import multiprocessing", True),
        ("x = 1  # noqa: DLL101", True),
        ("x = 1  # dllint: ignore", True),
        ("wake()", True),
        ("FastPipe()", True),
    ],
)
def test_a_project_whose_words_are_of_another_field_is_not_parsed(text: str, all_of_it: bool) -> None:
    wanted = words([b"cycle(", b"tee(", b"dllint:", b"DLL", b"wake("], ["my.loaders.FastPipe"])
    files = {"a.py": f"import b\n{text}", "b.py": "", "c.py": ""}
    found = close({path: peek(path, given.encode(), wanted) for path, given in files.items()}, "/x/project")
    assert peek("a.py", files["a.py"].encode(), wanted).passes
    assert found == ({"a.py", "b.py"} if all_of_it else set())


def test_paths_have_forward_slashes(tmp_path: Path) -> None:
    make(tmp_path, "a/b/c.py")
    assert all(os.sep == "/" or os.sep not in path for path in found(tmp_path))
    assert found(tmp_path) == ["a/b/c.py"]
