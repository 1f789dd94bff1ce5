"""What dllint says of its configuration, of the files that it would check, and how often rules report.

`DLLINT_UPDATE=1 pytest tests/test_settings.py` writes the schema of the configuration.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dllint import schema
from dllint.keys import LoaderKeys, Options
from dllint.options import ConfigError, read, toml
from tests.fakes import DATASET, words
from tests.test_cli import REPOSITORY, check, dllint, folder, program

__all__ = ["folder", "program", "words"]

SCHEMA = REPOSITORY / "dllint" / "dllint.schema.json"


# The keys and their schema.


def test_the_committed_schema_is_current() -> None:
    if os.environ.get("DLLINT_UPDATE"):
        SCHEMA.write_text(schema.text(), encoding="utf-8")
    assert SCHEMA.read_text(encoding="utf-8") == schema.text(), (
        "renew it with DLLINT_UPDATE=1 pytest tests/test_settings.py"
    )


@pytest.mark.parametrize("key", schema.keys().values(), ids=lambda key: key.name)
def test_every_key_is_explained_by_an_example_that_works(key: schema.Key, tmp_path: Path) -> None:
    assert key.description.endswith(".")
    assert f"{key.name} = " in key.example
    (tmp_path / "pyproject.toml").write_text("[tool.dllint]\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "dllint.toml").write_text(f"{key.example}\n")
    options, _ = read(str(tmp_path / "sub" / "dllint.toml"), str(tmp_path / "sub"))
    assert getattr(options, key.name.replace("-", "_")) != getattr(Options(), key.name.replace("-", "_"))


VALID = [key.example for key in schema.keys().values() if key.name != "extend"]
_LOADER = 'parameters = ["mode", "source", "num_proc"]\n'
VALID += [
    f'[loaders."a.L"]\n{"" if key.name == "parameters" else _LOADER}{key.example}'
    for key in schema.keys(LoaderKeys).values()
]
INVALID = [
    *("selct = []", 'select = "DLL1"', "ignore = [1]", "unsafe-fixes = 1", 'per-file-ignores = ["a"]'),
    *('target-platforms = ["darwin"]', 'output-format = "xml"', 'start-method = "thread"', "extend = []"),
    'per-file-ignores = {"a" = "DLL1"}',
    'loaders = ["a.L"]',
    'loaders = {"a.L" = {workrs = "n"}}',
    'loaders = {"a.L" = {ships = "dataset"}}',
    'loaders = {"a.L" = {defaults = {workers = [1]}}}',
]


@pytest.mark.parametrize("text", ["", *VALID, *INVALID])
def test_the_schema_accepts_what_dllint_accepts(text: str, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text()))
    validator.check_schema(validator.schema)
    file = tmp_path / "dllint.toml"
    file.write_text(text)
    assert validator.is_valid(toml(str(file))) == (text not in INVALID)
    if text in INVALID:
        with pytest.raises(ConfigError):
            read(str(file), str(tmp_path))
    else:
        read(str(file), str(tmp_path))


def test_config_lists_the_keys_and_explains_them() -> None:
    lines = dllint(REPOSITORY, "config").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(schema.keys())
    told = dllint(REPOSITORY, "config", "target-platforms").stdout
    assert told.startswith("target-platforms\n\nThe platforms that the project runs on. ")
    assert 'Type: list of "linux" | "macos" | "windows"\n' in told
    assert '    [tool.dllint]\n    target-platforms = ["linux"]\n' in told
    told = dllint(REPOSITORY, "config", "loaders").stdout
    assert "workers: The parameter that sets the number of workers" in told and '    workers = "num_proc"\n' in told
    (described,) = json.loads(dllint(REPOSITORY, "config", "loaders", "--output-format", "json").stdout)
    assert [key["name"] for key in described["keys"]] == list(schema.keys(LoaderKeys))
    assert dllint(REPOSITORY, "config", "--schema").stdout == SCHEMA.read_text()


def test_a_key_that_there_is_not() -> None:
    done = dllint(REPOSITORY, "config", "selct")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: unknown key `selct`; did you mean `select`?\n"


def test_the_keys_are_read_without_the_engine(folder: Path) -> None:
    code = (
        "import sys; sys.argv = ['dllint', 'config', 'select']; import dllint.cli\n"
        "try: dllint.cli.main()\nexcept SystemExit: pass\n"
        "print([n for n in ('libcst', 'dllint.engine', 'dllint_rules', 'rich') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


# What would be checked, and by which rules.


def test_show_files(program: Path) -> None:
    (program / "sub").mkdir()
    (program / "sub" / "a.py").write_text("x = 1\n")
    (program / "dllint.toml").write_text('extend-exclude = ["words.py"]\n')
    assert check("--show-files").stdout == "sub/a.py\n"
    assert check("--show-files", "words.py").stdout == "words.py\n"
    assert check("--show-files", "--force-exclude", "words.py").stdout == ""
    assert dllint(program / "sub", "check", "--show-files", "..").stdout == "a.py\n"


def test_show_settings(program: Path) -> None:
    (program / "dllint.toml").write_text('ignore = ["DLL2"]\nstart-method = "spawn"\n')
    done = check("--show-settings", "--extend-select", "DLL201")
    lines = done.stdout.splitlines()
    assert lines[0] == f"# {program / 'dllint.toml'}"
    values = {name: json.loads(value) for name, _, value in (line.partition(" = ") for line in lines[1:])}
    assert values["root"] == str(program)
    assert values["layer.ignore"] == ["DLL2"]
    assert values["targets.start-method"] == "spawn"
    assert "DLL201" in values["rules"]
    assert not {"DLL202", "DLL204"} & set(values["rules"])
    assert "# no configuration file" in check("--show-settings", "--isolated").stdout
    (program / "dllint.toml").write_text("selct = []\n")
    assert check("--show-settings").exit_code == 2


# Statistics.


@pytest.mark.usefixtures("words")
def test_statistics(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}WORSE\nBAD_A\nBAD_NONE\n" + "BAD_UNSAFE\n" * 9)
    done = check("--statistics")
    assert done.exit_code == 1
    assert done.stdout == "11  DLL801  [*] bad-word (3 designs)\n 1  DLL802      worse-word\n"
    assert done.stderr.startswith("12 findings of 4 designs in 1 file.")
    rows = json.loads(check("--statistics", "--output-format", "json").stdout)
    assert rows == [
        {"code": "DLL801", "name": "bad-word", "count": 11, "designs": 3, "fixable": 1},
        {"code": "DLL802", "name": "worse-word", "count": 1, "designs": 1, "fixable": 0},
    ]
    assert check("--statistics", "--select", "DLL802").stdout == "1  DLL802  worse-word\n"


def test_statistics_of_nothing(folder: Path) -> None:
    assert (check("--statistics").stdout, check("--statistics", "--output-format", "json").stdout) == ("", "[]\n")
