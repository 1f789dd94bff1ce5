"""The documentation: links lead somewhere in the repository and on the site, the site builds, lists are complete.

`DLLINT_UPDATE=1 pytest tests/test_docs.py` writes the keys of the configuration into docs/configuration.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from click.testing import CliRunner

from dllint import registry, schema
from dllint.cli import COMMANDS, cli
from docs import addresses, home, links, pictures, rule_index, site

ROOT = site.ROOT
CONFIGURATION = ROOT / "docs" / "configuration.md"
BEGIN, END = "<!-- begin keys -->\n", "<!-- end keys -->"
LOADED = re.compile(
    r"<(?:script|img|iframe)[^>]* src=\"?(?:https?:)?//|<link[^>]*stylesheet[^>]*href=\"?(?:https?:)?//"
)
LIST = re.compile(r"(?:[-*]|\d+\.) ")


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", site.pages(), ids=relative)
def test_links_lead_somewhere(page: Path) -> None:
    assert not links.broken(page, ROOT)


@pytest.mark.parametrize("page", site.pages(), ids=relative)
def test_lists_are_lists_on_the_site_too(page: Path) -> None:
    """MkDocs wants a blank line before a list, GitHub does not."""
    lines = dict(links.prose(page.read_text(encoding="utf-8")))
    for number, line in lines.items():
        before = lines.get(number - 1, "")
        if LIST.match(line):
            assert not before or LIST.match(before) or before.startswith(" "), f"line {number}: no blank line before"


def test_the_checker_sees_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# One - two\n\n## Same\n\n## Same\n\n## `--fix`, and more\n")
    page = tmp_path / "page.md"
    targets = ("gone.md", "there.md#gone", "there.md#same", "there.md#one---two", "#gone", "../page.md", ".")
    good = ("there.md", "there.md#-fix-and-more", "there.md#fix-and-more", "https://example.org/x.md", "#page")
    text = "# Page\n\n" + "".join(f"[x]({target})\n" for target in (*targets, *good))
    page.write_text(text + '```py\n[x](code.md)\n```\n`[x](code.md)`\n<!-- [x](comment.md) -->\n<img src="gone.png">\n')
    wrong = {int(line.split(":")[1]) for line in links.broken(page, tmp_path)}
    told = text.splitlines()
    assert {told[number - 1] for number in wrong if number <= len(told)} == {
        *(f"[x]({target})" for target in targets),
        "[x](there.md#-fix-and-more)",
        "[x](there.md#fix-and-more)",
    }, "a heading whose name GitHub and MkDocs disagree on cannot be linked to"
    assert max(wrong) == len(page.read_text().splitlines())


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """The site's."""
    return site.files()


def test_the_site_has_all_pages_and_what_they_link_to(files: dict[str, bytes]) -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/check.md", "action.yml", "dllint/knowledge.py"} <= set(files)
    assert all(re.fullmatch(rb" *`{3,}\w+", line) for line in _fences(files) if line.strip(b" `"))


def test_the_first_page_of_the_site(files: dict[str, bytes]) -> None:
    first = files["README.md"].decode()
    assert f"pip install {addresses.PACKAGE} && dllint check ." in first
    assert [first.count(f"rules, {row}") for row in ("DLL101 to", "DLL2", "DLL3", "DLL4", "DLL5", "DLL6")] == [1] * 6
    assert first.index("images/terminal.svg") < first.index("## What it finds") < first.index("## Measured")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {line for line in readme.splitlines() if line.startswith("## ")} <= set(first.splitlines()), (
        "nothing is lost"
    )
    for number, words, page in home.figures(ROOT):
        measured = (ROOT / page).read_text(encoding="utf-8")
        assert all(found in measured for found in re.findall(r"\d[\d,.]*\d", f"{number} {words}")), number


def test_a_figure_that_is_gone_stops_the_site(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "FRESH.md").write_text("Most findings are true.\n")
    with pytest.raises(ValueError, match=r"bench/FRESH\.md does not match"):
        home.figures(tmp_path)


def test_the_pages_of_rules_on_the_site(files: dict[str, bytes]) -> None:
    page = files["rules/dllint_rules/pickling/dll101_lambda_default_factory.md"].decode()
    assert page.splitlines()[2] == "*error · on by default · fix: sometimes · stable since 0.1.0*"
    index = files["rules/README.md"].decode().splitlines()
    rows = {line[3:9]: line.removesuffix(" |").split(" | ")[2:] for line in index if line.startswith("| [DLL")}
    assert set(rows) == {info.code for info in registry.infos()}
    assert rows["DLL101"] == ["error", "sometimes", "on", "spawn, forkserver"]
    assert rows["DLL306"] == ["info", "no", "opt-in", "fork"]
    assert rows["DLL201"][-1] == rows["DLL605"][-1] == rows["DLL900"][-1] == "any"
    assert sum(line == rule_index.HEAD.splitlines()[0] for line in index) == 7


def _fences(files: dict[str, bytes]) -> list[bytes]:
    pages = [content for name, content in files.items() if name.endswith(".md")]
    return [line for page in pages for line in page.splitlines() if line.lstrip().startswith(b"```")]


def test_the_navigation_lists_every_page_once() -> None:
    listed = list(_pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]))
    assert len(listed) == len(set(listed))
    assert set(listed) == {relative(page) for page in site.pages() if not relative(page).startswith("examples/")}


def _pages(item: object) -> list[str]:
    """The pages of a part of the navigation."""
    if isinstance(item, dict):
        return _pages(list(item.values()))
    return [page for part in item for page in _pages(part)] if isinstance(item, list) else [str(item)]


def test_every_command_is_told_of() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert [name for name in COMMANDS if f"dllint {name}" not in text] == []


def test_the_hooks_of_the_page_say_everything_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "pre-commit.md").read_text(encoding="utf-8")
    (repository,) = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])["repos"]
    known = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    shutil.copytree(ROOT / "examples" / "training", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    told = []
    for hook in repository["hooks"]:
        program, *arguments = known[hook["id"]]["entry"].split()
        assert program == "dllint"
        told += CliRunner().invoke(cli, [*arguments, "vocab.py", "data.py"]).stdout.splitlines()
    assert len(told) == len(set(told)) == 3


def test_the_keys_of_the_configuration_are_up_to_date() -> None:
    text = CONFIGURATION.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}\n{_keys()}{END}{after}"
    if os.environ.get("DLLINT_UPDATE"):
        CONFIGURATION.write_text(new, encoding="utf-8")
        text = new
    assert text == new, "renew it with DLLINT_UPDATE=1 pytest tests/test_docs.py"


def _keys() -> str:
    return "".join(
        f"## {key.name}\n\n{_wrapped(key.description)}\n\n"
        f"{_wrapped(f'Type: {_code(key.type)}. Default: {_code(key.default)}.')}\n\n"
        f"```toml\n[tool.dllint]\n{key.example}\n```\n\n"
        f"{_inner(key)}"
        for key in schema.keys().values()
    )


def _inner(key: schema.Key) -> str:
    """The keys of each of its tables."""
    rows = [f"| `{one.name}` | {one.description} | {_code(one.default)} | `{one.example}` |\n" for one in key.keys]
    head = "| key | meaning | default | example |\n|---|---|---|---|\n"
    return f"Each table has these keys:\n\n{head}{''.join(rows)}\n" if rows else ""


def test_the_loader_that_the_configuration_describes_is_the_example() -> None:
    described = (ROOT / "examples" / "nodes" / "dllint.toml").read_text(encoding="utf-8")
    assert f"```toml\n{described}```\n" in CONFIGURATION.read_text(encoding="utf-8")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _code(words: str) -> str:
    """A value of TOML in backquotes, words as they are."""
    return f"`{words}`" if words[0] in '[{"' or words in ("true", "false") else words


def test_the_picture_of_a_terminal_is_up_to_date() -> None:
    """The words of it; a newer rich may draw them otherwise."""
    shown = ElementTree.fromstring((ROOT / "docs" / "images" / "terminal.svg").read_text(encoding="utf-8"))
    assert _words(shown) == _words(ElementTree.fromstring(pictures.terminal())), "python -m docs.pictures terminal.svg"


def _words(picture: ElementTree.Element) -> list[str]:
    return " ".join("".join(part.itertext()) for part in picture.iter() if part.tag.endswith("}text")).split()


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("material")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    public = re.sub("^repo_url: .*", "repo_url: https://example.org/dllint", settings, flags=re.MULTILINE)
    public = re.sub("^edit_uri: .*", "edit_uri: edit/main/", public, flags=re.MULTILINE)
    (tmp_path / "mkdocs.yml").write_text(public, encoding="utf-8")
    site.build(tmp_path / "build" / "pages")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = tmp_path / "build" / "site"
    assert (built / "docs" / "check" / "index.html").is_file()
    assert "edit/main/docs/check.md" in (built / "docs" / "check" / "index.html").read_text(encoding="utf-8")
    for page in built.rglob("*.html"):
        assert not LOADED.search(page.read_text(encoding="utf-8")), f"{page} loads something from another host"
