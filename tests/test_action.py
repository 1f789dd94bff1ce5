"""`action.yml`: its steps run here as a runner runs them, in the environment that GitHub gives them.

Actions of others are played: the one that sets up Python says which, the upload and reviewdog keep what they are given.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.github import commit, git, repository
from tests.test_cli import PROGRAM, folder
from tests.test_formats import commands, valid

__all__ = ["folder", "repository"]

ROOT = Path(__file__).resolve().parent.parent
yaml = pytest.importorskip("yaml")
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None or os.name != "posix", reason="the steps are run with bash")
FOREIGN = ("GITHUB_", "DLLINT_", "PYTHONPATH")
"""Variables that a runner's step does not have from here."""
INSTALLED = f"""\
#!/bin/sh
PYTHONPATH='{ROOT}:{ROOT / "rules"}' exec '{sys.executable}' -m dllint "$@"
"""
REVIEWDOG = """\
#!/bin/sh
printf '%s\\n' "$@" > "$RUNNER_TEMP/reviewdog.arguments"
printf '%s' "$REVIEWDOG_GITHUB_API_TOKEN" > "$RUNNER_TEMP/reviewdog.token"
cat > "$RUNNER_TEMP/reviewdog.input"
"""
_EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")
_CONDITION = re.compile(r"([\w.-]+) == '([^']*)'")


def action() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8")))


class Runner:
    """As much of GitHub's runner as a composite action needs."""

    def __init__(self, workspace: Path, temp: Path, event: str = "pull_request", **inputs: str) -> None:
        self._workspace = workspace
        self._temp = temp
        self._action = action()
        self.outputs: dict[str, str] = {}
        self.log = ""
        self.uploaded: list[str] = []
        defaults = {name: value["default"] for name, value in self._action["inputs"].items()}
        known = {**defaults, **{name.replace("_", "-"): value for name, value in inputs.items()}}
        assert known.keys() == defaults.keys(), "an input that the action does not have"
        self._values = {
            "github.token": "secret",
            "github.action_path": str(ROOT),
            "github.event_name": event,
            "runner.temp": str(temp),
        }
        self._values |= {f"inputs.{name}": self._filled(value) for name, value in known.items()}

    @property
    def summary(self) -> str:
        return (self._temp / "summary.md").read_text(encoding="utf-8")

    def run(self, installed: bool) -> int:
        """Run the steps; the exit status of the one that failed, or 0. `installed`: dllint is there, as in this run."""
        for step in self._action["runs"]["steps"]:
            if not self._wanted(step.get("if", "")):
                continue
            if "uses" in step:
                self._use(step)
            elif installed and step.get("id") == "install":
                self._set("install", "dllint", str(self._wrapper("dllint", INSTALLED)))
            elif status := self._shell(step):
                return status
        self.outputs = {name: self._filled(one["value"]) for name, one in self._action["outputs"].items()}
        return 0

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self._values[match[1]], str(text))

    def _wanted(self, condition: str) -> bool:
        parts = condition.split(" && ") if condition else []
        matches = [_CONDITION.fullmatch(part) for part in parts]
        return all(match is not None and self._values[match[1]] == match[2] for match in matches)

    def _set(self, step: str, name: str, value: str) -> None:
        self._values[f"steps.{step}.outputs.{name}"] = value

    def _use(self, step: dict[str, Any]) -> None:
        given = {name: self._filled(value) for name, value in step.get("with", {}).items()}
        name, _, version = step["uses"].partition("@")
        assert version, "an action of others has a version"
        match name:
            case "actions/setup-python":
                assert given == {"python-version": "3.12", "update-environment": "False"}
                self._set(step["id"], "python-path", sys.executable)
            case "github/codeql-action/upload-sarif":
                self.uploaded.append(given["sarif_file"])
            case "reviewdog/action-setup":
                self._wrapper("reviewdog", REVIEWDOG)
            case _:
                raise AssertionError(f"{name} is not played here")

    def _wrapper(self, name: str, script: str) -> Path:
        file = self._temp / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(script)
        file.chmod(0o755)
        return file

    def _shell(self, step: dict[str, Any]) -> int:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "what is given is data, never a part of a script"
        output = self._temp / "output"
        output.write_text("")
        own = {name: self._filled(value) for name, value in step.get("env", {}).items()}
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)},
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self._workspace),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self._temp / "summary.md"),
            "RUNNER_TEMP": str(self._temp),
            "PATH": os.pathsep.join((str(self._temp / "bin"), os.environ["PATH"])),
            **own,
        }
        script = self._temp / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self._workspace / self._filled(step.get("working-directory", ".")),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        self.log += done.stdout
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self._set(step["id"], name, value)
        return done.returncode


@pytest.fixture
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runner temp")


def test_annotations_summary_and_failure(repository: Path, temp: Path) -> None:
    commit(repository, words=PROGRAM)
    runner = Runner(repository, temp)
    assert runner.run(installed=True) == 1
    ((level, properties, _),) = commands(runner.log)
    assert (level, properties["file"], properties["line"]) == ("error", "words.py", "8")
    assert runner.summary.startswith("### dllint: 1 finding\n")
    assert not runner.uploaded
    assert not (temp / "reviewdog.input").exists()
    assert (temp / "dllint-cache").is_dir(), "the cache is not in the repository"


def test_options_paths_and_the_base(repository: Path, temp: Path) -> None:
    commit(repository, words=PROGRAM, other=PROGRAM)
    runner = Runner(repository, temp, paths="words.py none/../other.py", options="--select DLL2 --exit-zero")
    (repository / "none").mkdir()
    assert runner.run(installed=True) == 0
    assert "0 findings in 2 files." in runner.log
    git(repository, "checkout", "-q", "-b", "later")
    commit(repository, new="x = 1\n")
    runner = Runner(repository, temp, diff_base="work")
    assert runner.run(installed=True) == 0
    assert "0 findings in 3 files." in runner.log


def test_an_error_is_one_at_once(repository: Path, temp: Path) -> None:
    runner = Runner(repository, temp, diff_base="origin/none", fail="false", sarif="true")
    assert runner.run(installed=True) == 1
    assert "error: git has no commit 'origin/none'" in runner.log
    assert not runner.uploaded


def test_what_is_given_is_no_script(repository: Path, temp: Path) -> None:
    runner = Runner(repository, temp, paths='"; touch hacked; "', options="$(touch hacked)")
    assert runner.run(installed=True) == 1
    assert not (repository / "hacked").exists()


def test_code_scanning_and_suggestions(repository: Path, temp: Path) -> None:
    commit(repository, words=PROGRAM)
    runner = Runner(repository, temp, sarif="true", suggestions="true")
    assert runner.run(installed=True) == 1, "the findings are uploaded before the job fails"
    (file,) = runner.uploaded
    log = json.loads(Path(file).read_text())
    valid(log, "sarif-2.1.0-rtm.5.json")
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["DLL101"]
    told = json.loads((temp / "reviewdog.input").read_text())
    valid(told, "rdjson.json")
    assert told["diagnostics"][0]["suggestions"][0]["text"] == "int"
    assert "-reporter=github-pr-review" in (temp / "reviewdog.arguments").read_text().splitlines()
    assert (temp / "reviewdog.token").read_text() == "secret"


def test_suggestions_are_for_pull_requests_and_a_job_may_be_told_not_to_fail(repository: Path, temp: Path) -> None:
    commit(repository, words=PROGRAM)
    runner = Runner(repository, temp, event="push", suggestions="true", fail="false")
    assert runner.run(installed=True) == 0
    assert runner.outputs == {"status": "1"}
    assert not (temp / "reviewdog.input").exists()


@pytest.mark.slow
def test_the_action_installs_what_it_lies_in(repository: Path, temp: Path) -> None:
    commit(repository, words=PROGRAM)
    runner = Runner(repository, temp)
    assert runner.run(installed=False) == 1
    assert len(commands(runner.log)) == 1
    assert (temp / "dllint" / "bin" / "dllint").exists()
