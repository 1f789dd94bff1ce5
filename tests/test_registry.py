"""Finding rules and choosing among them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint import __version__, registry
from dllint.registry import Layer, RegistryError, UnknownRule
from tests.fakes import DATASET, Word, words
from tests.test_cli import check, folder

__all__ = ["folder", "words"]


def chosen(file: Layer = Layer(), line: Layer = Layer()) -> set[str]:  # noqa: B008
    return set(registry.select(file, line))


RULES = {rule.code for rule in registry.rules()}
ALWAYS = {"DLL900", "DLL903", "DLL904"}
DEFAULT = {info.code for info in registry.infos() if info.default}


def test_rules_are_found_and_sorted() -> None:
    codes = [rule.code for rule in registry.rules()]
    assert {"DLL101", "DLL102", "DLL103"} <= set(codes)
    assert codes == sorted(codes)


def test_the_default_is_what_is_on_by_default() -> None:
    assert chosen() == DEFAULT
    assert not {"DLL901", "DLL902"} & DEFAULT


def test_select_by_code_prefix_name_and_all_in_any_case() -> None:
    assert chosen(line=Layer(select=("dll101",))) == {"DLL101"} | ALWAYS
    assert chosen(line=Layer(select=("DLL10",))) == {code for code in RULES if code.startswith("DLL10")} | ALWAYS
    assert chosen(line=Layer(select=("lambda-on-dataset",))) == {"DLL102"} | ALWAYS
    assert chosen(line=Layer(select=("all",))) == {info.code for info in registry.infos()}


def test_longer_beats_shorter_and_ignore_wins_among_equals() -> None:
    assert "DLL101" in chosen(Layer(select=("DLL101",), ignore=("DLL1",)))
    assert "DLL102" not in chosen(Layer(select=("DLL101",), ignore=("DLL1",)))
    assert "DLL101" not in chosen(Layer(select=("DLL1",), ignore=("DLL101",)))
    assert "DLL101" not in chosen(Layer(select=("DLL101",), ignore=("lambda-default-factory",)))


def test_the_command_line_beats_the_file() -> None:
    file = Layer(select=("DLL101",), extend_select=("DLL901",), ignore=("DLL102",))
    assert chosen(file, Layer(select=("DLL103",))) == {"DLL103"} | ALWAYS
    assert "DLL102" in chosen(file, Layer(select=("DLL102",)))
    assert "DLL102" in chosen(file, Layer(extend_select=("DLL102",)))
    assert "DLL101" not in chosen(file, Layer(ignore=("DLL1",)))
    assert {"DLL101", "DLL901"} <= chosen(file, Layer(extend_select=("DLL103",)))


def test_a_longer_ignore_of_the_file_survives_a_shorter_selector_of_the_command_line() -> None:
    file = Layer(ignore=("DLL102",))
    assert "DLL102" not in chosen(file, Layer(select=("ALL",)))
    assert "DLL102" not in chosen(file, Layer(select=("DLL1",)))


def test_broken_files_are_told_unless_ignored() -> None:
    assert chosen(Layer(select=("DLL101",))) == {"DLL101"} | ALWAYS
    assert "DLL900" not in chosen(line=Layer(ignore=("DLL900",)))
    assert "DLL903" not in chosen(Layer(ignore=("unreadable-file",)))


def test_unknown_selectors() -> None:
    with pytest.raises(UnknownRule, match=r"'DLL77'"):
        chosen(Layer(ignore=("DLL77",)))
    with pytest.raises(UnknownRule, match="did you mean 'lambda-to-loader'"):
        chosen(line=Layer(select=("lambda-to-loder",)))


def test_lookup() -> None:
    assert registry.lookup("DLL901").name == "unused-suppression"
    assert registry.lookup("Lambda-To-Loader").code == "DLL103"
    with pytest.raises(UnknownRule, match="did you mean 'DLL1"):
        registry.lookup("DLLL101")
    with pytest.raises(UnknownRule, match="the beginning of several codes"):
        registry.lookup("DLL1")


def test_every_page_exists() -> None:
    missing = [info.code for info in registry.infos() if not Path(info.page).is_file()]
    assert missing == []


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder on the path that a rule package may be put into, with the registry's memory cleared around it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "rules", registry.rules.__wrapped__)
    monkeypatch.setattr(registry, "infos", registry.infos.__wrapped__)
    (tmp_path / "more_rules").mkdir()
    yield tmp_path / "more_rules"
    for name in [name for name in sys.modules if name.split(".")[0] == "more_rules"]:
        del sys.modules[name]


RULE = """
from dllint import Rule

class Sample(Rule):
    code = "{code}"
    name = "{name}"
    summary = "A sample"
"""


def test_a_package_of_rules_needs_no_init_file_and_no_list(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILT_IN", ("dllint_rules", "more_rules"))
    (fresh / "deep").mkdir()
    (fresh / "deep" / "sample.py").write_text(RULE.format(code="DLL801", name="sample-hazard"))
    (sample,) = [rule for rule in registry.rules() if rule.code == "DLL801"]
    assert registry.info(sample).page == str(fresh / "deep" / "sample.md")


@pytest.mark.parametrize(("code", "name"), [("DLL101", "sample-hazard"), ("DLL801", "lambda-to-loader")])
def test_two_rules_may_not_share_a_code_or_a_name(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, code: str, name: str
) -> None:
    monkeypatch.setattr(registry, "BUILT_IN", ("dllint_rules", "more_rules"))
    (fresh / "sample.py").write_text(RULE.format(code=code, name=name))
    with pytest.raises(RegistryError, match="are both called"):
        registry.rules()


def test_a_rule_module_that_cannot_be_imported_is_named(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILT_IN", ("more_rules",))
    (fresh / "sample.py").write_text("import no_such_thing\n")
    with pytest.raises(RegistryError, match=r"more_rules\.sample: ModuleNotFoundError"):
        registry.rules()


def test_no_rules_at_all_is_an_error(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILT_IN", ("more_rules",))
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    with pytest.raises(RegistryError, match="no rules found"):
        registry.rules()


def test_a_rule_answers_to_its_former_code_and_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(Word, "formerly", ("DLL899", "nasty-word"))
    request.getfixturevalue("words")
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_B  # dllint: ignore[DLL899]\nBAD_C  # noqa: DLL899\n")
    done = check("--select", "DLL899")
    assert [line.split()[1:3] for line in done.stdout.splitlines()] == [["DLL801", "`BAD_A`"]]
    assert "warning: DLL899 is DLL801 (bad-word) now; the old selector will be removed" in done.stderr
    assert "warning: nasty-word is DLL801 (bad-word) now" in check("--ignore", "Nasty-Word".lower()).stderr
    (folder / "dllint.toml").write_text('ignore = ["DLL899"]\n')
    assert check().exit_code == 0
    assert registry.lookup("dll899").code == registry.lookup("nasty-word").code == "DLL801"
    assert registry.length("DLL899") == registry.length("nasty-word") == len("DLL801")
    assert "DLL902" not in check("--select", "DLL902").stdout, "a comment with a former code is no mistake"


def test_every_rule_says_since_when_it_is_there() -> None:
    from packaging.version import Version

    for info in registry.infos():
        assert Version("0.1.0") <= Version(info.since) <= Version(__version__), info.code
