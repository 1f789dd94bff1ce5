"""What surrounds a release: the changelog, the forms for issues, and the command that makes one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from dllint import __version__
from dllint.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def test_the_changelog_has_the_form_of_keep_a_changelog() -> None:
    headings = re.findall(r"^(#+) (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == ("#", "Changelog")
    versions = [text for level, text in headings if level == "##"]
    assert versions[0] == "[Unreleased]" or versions[0].startswith(f"[{__version__}] - ")
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", text) for text in versions[1:])
    assert {text for level, text in headings if level == "###"} <= set(KINDS)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_a_form_is_one_that_github_shows(form: Path) -> None:
    found = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert found["name"] and found["description"]
    fields = [field for field in found["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 0
    assert all(field["type"] in ("input", "textarea") and field["attributes"]["label"] for field in fields)
    for command in re.findall(r"`dllint (\w+)", form.read_text(encoding="utf-8")):
        assert command in COMMANDS


def test_a_false_alarm_comes_with_what_it_takes_to_mend_it() -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "false_alarm.yml").read_text(encoding="utf-8"))
    required = {field["id"] for field in form["body"] if field.get("validations", {}).get("required")}
    assert {"rule", "project", "why", "version"} <= required


# The command. What it builds is tried by hand: it takes minutes, and a network.


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A committed project with a version and a changelog."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci" / "release")
    (tmp_path / "dllint").mkdir()
    (tmp_path / "dllint" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.3] - 2026-01-02\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "it")


def release(folder: Path, *arguments: str) -> str:
    """What the command says when it refuses."""
    env = {**os.environ, "PYTHON": "false"}  # what comes after the refusals begins with this
    command = ["bash", ".ci/release", *arguments, "--dry-run"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == (2 if done.stderr else 1)
    return done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_what_is_not_ready_is_not_released(checkout: Path) -> None:
    assert release(checkout, "1.2.3") == "", "all is well so far"
    assert "has another version" in release(checkout, "1.2.4")
    git(checkout, "tag", "v1.2.3")
    assert "the tag v1.2.3 is there already" in release(checkout, "1.2.3")
    git(checkout, "tag", "-d", "v1.2.3")
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")
    assert "not committed" in release(checkout, "1.2.3")
    commit(checkout)
    assert "CHANGELOG.md has no line '## [1.2.3] - " in release(checkout, "1.2.3")


@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_arguments_in_any_order(checkout: Path) -> None:
    assert release(checkout, "--dry-run", "1.2.3") == release(checkout, "1.2.3") == ""
    assert release(checkout) == "not released: no version; the command is .ci/release VERSION [--dry-run]\n"
    assert "two versions, 1.2.3 and 1.2.4" in release(checkout, "1.2.3", "1.2.4")
    assert "what is '--dryrun'?" in release(checkout, "--dryrun", "1.2.3")
