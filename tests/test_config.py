"""Which configuration counts, and what it may say."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from packaging.specifiers import SpecifierSet

from dllint import __version__, keys, start_methods
from dllint.config import Config, ConfigError, Configs, Pattern, load
from dllint.knowledge import LOADERS, Boundary
from dllint.options import plain
from dllint.targets import Targets


def write(folder: Path, **files: str) -> None:
    """Write files; `__` in a name stands for a dot, `_s_` for a slash."""
    for name, text in files.items():
        place = folder / name.replace("_s_", "/").replace("__", ".")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def loaded(folder: Path, text: str, name: str = "dllint.toml") -> Config:
    (folder / name).write_text(text, encoding="utf-8")
    return load([str(folder)])


def complaint(folder: Path, text: str, name: str = "dllint.toml") -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(folder, text, name)
    return str(caught.value).replace(str(folder), "")


def test_without_any_marker_the_root_is_the_common_parent(tmp_path: Path) -> None:
    write(tmp_path, a_s_x__py="", b_s_c_s_y__py="")
    assert load([str(tmp_path / "a/x.py"), str(tmp_path / "b/c")]).root == str(tmp_path)
    assert load([str(tmp_path / "a/x.py")]).root == str(tmp_path / "a")


@pytest.mark.parametrize("marker", ["dllint.toml", ".dllint.toml", "pyproject.toml", ".git/HEAD"])
def test_the_root_is_the_nearest_folder_with_a_marker(tmp_path: Path, marker: str) -> None:
    place = tmp_path / "top" / marker
    place.parent.mkdir(parents=True)
    place.write_text("")
    write(tmp_path / "top", a_s_b_s_x__py="")
    assert load([str(tmp_path / "top/a/b/x.py")]).root == str(tmp_path / "top")


def test_precedence_within_a_folder(tmp_path: Path) -> None:
    write(tmp_path, pyproject__toml='[tool.dllint]\nignore = ["DLL1"]\n')
    assert load([str(tmp_path)]).layer.ignore == ("DLL1",)
    write(tmp_path, dllint__toml='ignore = ["DLL9"]\n')
    assert load([str(tmp_path)]).layer.ignore == ("DLL9",)
    write(tmp_path, __dllint__toml="")
    assert load([str(tmp_path)]).layer.ignore == ()


def test_a_nested_package_does_not_hide_the_configuration_of_its_repository(tmp_path: Path) -> None:
    write(tmp_path, __git_s_HEAD="", dllint__toml='ignore = ["DLL1"]\n')
    write(tmp_path, pkg_s_pyproject__toml="[project]\nname = 'x'\n", pkg_s_x__py="")
    config = load([str(tmp_path / "pkg/x.py")])
    assert (config.root, config.layer.ignore) == (str(tmp_path), ("DLL1",))


def test_outside_a_repository_a_package_hides_no_configuration_either(tmp_path: Path) -> None:
    write(tmp_path, dllint__toml='ignore = ["DLL1"]\n', pkg_s_pyproject__toml="", pkg_s_x__py="")
    config = load([str(tmp_path / "pkg/x.py")])
    assert (config.root, config.layer.ignore) == (str(tmp_path), ("DLL1",))


@pytest.mark.parametrize("marker", ["dllint.toml", "pyproject.toml"])
def test_outside_a_repository_the_outermost_marker_is_at_the_root(tmp_path: Path, marker: str) -> None:
    write(tmp_path, a_s_b_s_dllint__toml="", a_s_b_s_x__py="")
    (tmp_path / "a" / marker).touch()
    config = load([str(tmp_path / "a/b/x.py")])
    assert (config.root, config.file) == (str(tmp_path / "a"), str(tmp_path / "a/b/dllint.toml"))


def test_what_lies_in_the_home_folder_speaks_for_no_project_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, dllint__toml='ignore = ["DLL1"]\n', project_s_pyproject__toml="", project_s_x__py="")
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    config = load([str(tmp_path / "project/x.py")])
    assert (config.root, config.layer.ignore) == (str(tmp_path / "project"), ())
    assert load([str(tmp_path)]).layer.ignore == ("DLL1",), "unless it is what is checked"


def test_the_nearest_configuration_decides_whatever_is_named(tmp_path: Path) -> None:
    write(tmp_path, __git_s_HEAD="", dllint__toml='ignore = ["DLL1"]\nextend-exclude = ["old"]\n')
    write(tmp_path, a_s_dllint__toml='ignore = ["DLL2"]\n', a_s_deep_s_x__py="", b_s_x__py="")
    for named in (["."], ["a"], ["a/deep/x.py"], ["a/deep/x.py", "b/x.py"]):
        configs = Configs([str(tmp_path / path) for path in named])
        assert configs.root == str(tmp_path)
        assert configs.of("a/deep/x.py").layer.ignore == ("DLL2",)
        assert configs.of("a/deep/x.py").extend_exclude == ()
        assert configs.of("b/x.py").layer.ignore == ("DLL1",)


def test_a_package_further_down_says_its_own_pythons_only(tmp_path: Path) -> None:
    write(tmp_path, __git_s_HEAD="", pyproject__toml='[project]\nname = "x"\n[tool.dllint]\nignore = ["DLL1"]\n')
    write(tmp_path, new_s_pyproject__toml='[project]\nrequires-python = ">=3.14"\nscripts = {go = "new.main:go"}\n')
    configs = Configs([str(tmp_path)])
    own, other = configs.of("new/x.py"), configs.of("x.py")
    assert (own.layer.ignore, own.targets.pythons) == (("DLL1",), ">=3.14")
    assert other.targets.pythons == ""
    assert configs.targets(other).scripts == ("new.main",), "what is a script is one for the whole project"
    write(tmp_path, pyproject__toml='[tool.dllint]\ntarget-python = "<3.14"\n')
    assert Configs([str(tmp_path)]).of("new/x.py").targets.pythons == "<3.14", "a configuration beats metadata"


def test_a_template_of_a_package_further_down_is_none(tmp_path: Path) -> None:
    write(tmp_path, __git_s_HEAD="", dllint__toml='ignore = ["DLL1"]\n')
    write(tmp_path, template_s_pyproject__toml="[project]\nname = {{ name }}\n")
    assert Configs([str(tmp_path)]).of("template/x.py").layer.ignore == ("DLL1",)
    assert "pyproject.toml:2: not valid TOML" in complaint(tmp_path, "[project]\nname = {{ name }}\n", "pyproject.toml")


def test_keys_of_the_command_line_are_laid_over_every_file(tmp_path: Path) -> None:
    write(tmp_path, __git_s_HEAD="", dllint__toml='target-platforms = ["windows"]\nextend-exclude = ["a"]\n')
    write(tmp_path, sub_s_dllint__toml='ignore = ["DLL1"]\n')
    given = ('target-platforms = ["linux"]', 'extend-exclude = ["b"]')
    configs = Configs([str(tmp_path)], settings=given)
    assert configs.of("x.py").targets.platforms == configs.of("sub/x.py").targets.platforms == ("linux",)
    assert configs.of("sub/x.py").layer.ignore == ("DLL1",)
    assert [pattern.glob for pattern in configs.of("x.py").extend_exclude] == ["a", "b"]
    assert Configs([str(tmp_path)], isolated=True, settings=given).run.targets.platforms == ("linux",)
    with pytest.raises(ConfigError, match="unknown key `target-platform`; did you mean `target-platforms`"):
        Configs([str(tmp_path)], settings=("target-platform = 1",))


def test_isolated_ignores_files_and_package_metadata(tmp_path: Path) -> None:
    write(tmp_path, pyproject__toml='[project]\nrequires-python = ">=3.12"\n[tool.dllint]\nignore = ["DLL1"]\n')
    config = load([str(tmp_path)], isolated=True)
    assert config == Config(root=str(tmp_path), targets=Targets(packages=(".",))), "where a package lies is no setting"
    assert load([str(tmp_path)]).targets.pythons == ">=3.12"


def test_an_explicit_file_speaks_for_the_root_of_the_arguments(tmp_path: Path) -> None:
    write(tmp_path, elsewhere_s_my__toml='exclude = ["x"]\n', project_s_pyproject__toml="[tool.dllint]\nbogus = 1\n")
    config = load([str(tmp_path / "project")], str(tmp_path / "elsewhere/my.toml"))
    assert config.root == str(tmp_path / "project")
    assert config.exclude == (Pattern(str(tmp_path / "project"), "x"),)
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read"):
        load([str(tmp_path)], str(tmp_path / "none.toml"))


def test_extend_lays_the_nearer_file_over_the_other(tmp_path: Path) -> None:
    base = 'select = ["DLL1"]\nextend-select = ["DLL102"]\nignore = ["DLL101"]\nextend-exclude = ["a"]\nsrc = ["lib"]\n'
    write(tmp_path, base__toml=base + '[per-file-ignores]\n"t/*" = ["DLL103"]\n')
    near = 'extend = "../base.toml"\nselect = ["DLL103"]\nextend-select = ["DLL9"]\nextend-exclude = ["b"]\n'
    write(tmp_path, project_s_dllint__toml=near + '[extend-per-file-ignores]\n"u/*" = ["DLL1"]\n')
    config = load([str(tmp_path / "project")])
    here, there = str(tmp_path / "project"), str(tmp_path)
    assert (config.layer.select, config.layer.extend_select) == (("DLL103",), ("DLL102", "DLL9"))
    assert config.layer.ignore == ("DLL101",)
    assert config.extend_exclude == (Pattern(there, "a"), Pattern(here, "b"))
    assert config.per_file_ignores == ((Pattern(there, "t/*"), ("DLL103",)), (Pattern(here, "u/*"), ("DLL1",)))
    assert config.targets.src == ("../lib",)


def test_extend_that_leads_nowhere(tmp_path: Path) -> None:
    assert "dllint.toml:1: extend: no.toml does not exist" in complaint(tmp_path, 'extend = "no.toml"')
    assert "extend: the files extend each other" in complaint(tmp_path, 'extend = "dllint.toml"')


def test_what_is_misspelt_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    assert "dllint.toml:2: unknown key `extend-selct`; did you mean `extend-select`?" in complaint(
        tmp_path, "ignore = []\nextend-selct = []"
    )
    assert "unknown key `extend-ignore`; add to `ignore`" in complaint(tmp_path, "extend-ignore = []")
    assert "unknown key `frobnicate`; `dllint config` lists the keys" in complaint(tmp_path, "frobnicate = 1")
    (tmp_path / "dllint.toml").unlink()
    (tmp_path / "package").mkdir()
    package = tmp_path / "package"
    assert "pyproject.toml:4: unknown key `start_method`; did you mean `start-method`?" in complaint(
        package, '[tool.other]\nstart_method = 1\n[tool.dllint]\nstart_method = "fork"', "pyproject.toml"
    )
    assert "pyproject.toml:3: unknown key `lint`; put its keys into `tool.dllint`" in complaint(
        package, '[tool.dllint]\n\n[tool.dllint.lint]\nselect = ["DLL1"]', "pyproject.toml"
    )
    assert "ignore: unknown rule selector 'DLLL101'; did you mean 'DLL101'?" in complaint(
        tmp_path, 'ignore = ["DLLL101"]'
    )
    assert "select: unknown rule selector 'lambda-on-datset'; did you mean 'lambda-on-dataset'?" in complaint(
        tmp_path, 'select = ["lambda-on-datset"]'
    )
    assert "per-file-ignores.'a.py': unknown rule selector 'X9'" in complaint(
        tmp_path, '[per-file-ignores]\n"a.py" = ["X9"]'
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'select = "DLL1"',
            "1: select: expected a list of strings, not a string; for example: "
            'select = ["DLL1", "path-list-on-dataset"]',
        ),
        ("# x\nignore = [1]", "2: ignore: expected a list of strings, not a list with a number; for example: "),
        ("unsafe-fixes = 1", "1: unsafe-fixes: expected true or false, not a number; for example: unsafe"),
        ('per-file-ignores = ["a"]', "1: per-file-ignores: expected a table: pattern to list of strings, not a list"),
        ('[per-file-ignores]\n"a" = "DLL1"', "1: per-file-ignores: expected a table: pattern to list of strings"),
        ('target-platforms = ["mac"]', "1: target-platforms: 'mac' is not one of linux, macos, windows; did you mean"),
        ('target-platforms = "linux"', "1: target-platforms: expected a list of strings, not a string"),
        ('output-format = "xml"', "1: output-format: 'xml' is not one of azure, concise, full, github, "),
        ('start-method = "thread"', "1: start-method: 'thread' is not one of fork, forkserver, spawn"),
        ('target-python = "three"', "1: target-python: 'three' is not a version or specifier, such as '>=3.10'"),
        ('required-version = ">=99"', f"1: required-version: >=99 is required, this is dllint {__version__}"),
        ('required-version = "new"', "1: required-version: 'new' is not a version or specifier"),
        ("\nselect = DLL1", "2: not valid TOML: Invalid value"),
    ],
)
def test_wrong_values_name_file_line_and_key(tmp_path: Path, text: str, told: str) -> None:
    assert complaint(tmp_path, text).startswith(f"/dllint.toml:{told}")


def test_a_file_that_is_no_utf8(tmp_path: Path) -> None:
    (tmp_path / "dllint.toml").write_bytes(b'src = ["\xe9"]')
    with pytest.raises(ConfigError, match="not valid UTF-8"):
        load([str(tmp_path)])


def test_targets_come_from_the_configuration_and_the_package(tmp_path: Path) -> None:
    project = (
        '[project]\nrequires-python = ">=3.10"\ndependencies = ["torch", "numpy[x]>=2.1,<3; python_version>\'3\'"]\n'
    )
    targets = loaded(tmp_path, project, "pyproject.toml").targets
    assert (targets.pythons, targets.needs_numpy_2("a.py")) == (">=3.10", True)
    keys = 'target-platforms = ["linux"]\nstart-method = "spawn"\nloader-classes = ["a.L"]\ndataset-bases = ["a.D"]\n'
    more = 'src = ["lib"]\ntarget-python = "3.13"\nunpicklable-types = ["a.U"]\n'
    targets = loaded(tmp_path, f"{project}[tool.dllint]\n{keys}{more}", "pyproject.toml").targets
    assert (targets.platforms, targets.start_method, targets.pythons) == (("linux",), "spawn", "==3.13.*")
    assert (targets.loaders, targets.dataset_bases) == ({"a.L": LOADERS["torch.utils.data.DataLoader"]}, ("a.D",))
    assert targets.unpicklable_types == ("a.U",)
    assert targets.src == ("lib",)


LOADER = """
[loaders."company.Loader"]
parameters = ["source", "processes", "method"]
ships = ["source"]
workers = "processes"
processes-when = {method = ["process", true, 1]}
defaults = {processes = 4, method = false}
attributes = {dataset = "source"}
"""


def test_a_configuration_says_of_a_loader_what_a_plugin_can_say(tmp_path: Path) -> None:
    write(tmp_path, base__toml=LOADER)
    near = 'extend = "base.toml"\nloader-classes = ["company.Loader", "company.Other"]\n'
    known = loaded(tmp_path, near).targets.loaders
    assert known["company.Loader"] == Boundary(
        ("source", "processes", "method"),
        ("source",),
        "processes",
        processes_when={"method": ("process", True, 1)},
        defaults={"processes": 4, "method": False},
        attributes={"dataset": "source"},
    ), "a table says more than a name, wherever it is"
    torchs = LOADERS["torch.utils.data.DataLoader"]
    assert known["company.Other"] == torchs
    (own,) = loaded(tmp_path, '[loaders."company.Loader"]\nworkers = "processes"').targets.loaders.values()
    assert own == torchs._replace(workers="processes"), "what a table leaves out is as in DataLoader"
    given = ('loaders = {"a.L" = {ships = ["source"]}}',)
    assert load([str(tmp_path)], isolated=True, settings=given).targets.loaders["a.L"].ships == ("source",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ships = 3", '4: loaders."a.L".ships: expected a list of strings, not a number; for example: ships = ["so'),
        ("workers = 3", '4: loaders."a.L".workers: expected a string, not a number; for example: workers = "num_proc"'),
        ('workers = ""', '4: loaders."a.L".workers: expected the name of a parameter; what always has workers has a'),
        ("workrs = 3", "4: unknown key `workrs`; did you mean `workers`?"),
        ("disable = 3", "4: unknown key `disable`; `dllint config loaders` lists the keys"),
        ('processes-when = {shuffle = "yes"}', '4: loaders."a.L".processes-when: expected a table: parameter to list '),
        ("defaults = {shuffle = 1.5}", '4: loaders."a.L".defaults: expected a table: parameter to value, not a table'),
        (
            "defaults = {shufle = 1}",
            "4: loaders.\"a.L\".defaults: 'shufle' is neither in `parameters` nor in `ships`; d",
        ),
        ('attributes = {x = "y"}', "4: loaders.\"a.L\".attributes: 'y' is neither in `parameters` nor in `ships`"),
        ("processes-when = {y = [1]}", "4: loaders.\"a.L\".processes-when: 'y' is neither in"),
    ],
)
def test_mistakes_in_what_is_said_of_a_loader(tmp_path: Path, text: str, told: str) -> None:
    before = 'dataset-bases = ["a.L"]\n[loaders]\n[loaders."a.L"]\n'
    assert complaint(tmp_path, before + text).startswith(f"/dllint.toml:{told}")


def test_a_loader_that_is_only_named_is_none_of_these(tmp_path: Path) -> None:
    told = "1: loaders: expected a table: name to table, not a list; for example: loaders = "
    assert complaint(tmp_path, 'loaders = ["a.L"]').startswith(f"/dllint.toml:{told}")


def test_scripts_of_the_package_are_known(tmp_path: Path) -> None:
    project = '[project.scripts]\ntrain = "pkg.train:main"\n[project.gui-scripts]\nshow = "pkg.show"\nodd = 3\n'
    assert loaded(tmp_path, project, "pyproject.toml").targets.scripts == ("pkg.train", "pkg.show")


def test_package_metadata_counts_beside_a_configuration_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, pyproject__toml='[project]\nrequires-python = ">=3.9"\n', dllint__toml="")
    assert load([str(tmp_path)]).targets.pythons == ">=3.9"


def test_metadata_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    config = loaded(tmp_path, '[project]\nrequires-python = "^3.9"\n', "pyproject.toml")
    assert config.targets.pythons == ""
    assert "requires-python is not a version specifier" in config.warnings[0]


@pytest.mark.parametrize("text", ["", " ", ">=3.9", ">= 3.9 , <4", "<4,>=3.08,!=3.9.1,>3", ">=3,>=3,", "<=2"])
def test_plain_specifiers_are_read_as_packaging_reads_them(text: str) -> None:
    assert plain(text) == str(SpecifierSet(text))


@pytest.mark.parametrize(
    "text", ["==3.9.*", "~=3.9", ">=3.*", ">=3.9rc1", ">=3 9", "3.9", "^3.9", ">=", "doc>=1", "[x]>=1"]
)
def test_other_specifiers_are_left_to_packaging(text: str) -> None:
    assert plain(text) is None


def test_the_start_methods_of_the_configuration_are_those_of_the_table() -> None:
    assert get_args(keys.StartMethod) == start_methods.NAMES


def test_the_folders_of_packages(tmp_path: Path) -> None:
    write(
        tmp_path,
        tool__toml="",
        a_s_setup__py="",
        a_s_inner_s_x__py="",
        b_s_pyproject__toml="[build-system]\n",
        c_s_pyproject__toml="[tool.x]\n",
    )
    assert load([str(tmp_path)]).targets.packages == ("a", "b")
    assert load([str(tmp_path / "a" / "inner")]).targets.packages == (".",), "the folder around"
    assert load([str(tmp_path / "b" / "typo")]).targets.packages == (), "nothing is there"


@pytest.mark.parametrize("pythons", [">=3.14", "==3.14.*", ">=3.17"])
def test_a_default_holds_for_pythons_to_come(pythons: str) -> None:
    assert Targets(platforms=("linux",), pythons=pythons).methods() == {"forkserver"}
