"""The output formats for programs: their official schemas, real readers, and what each of them does with hard input.

Where the schemas come from is in `tests/schemas/README.md`. The suggestions of rdjson are held against `--fix` in
`test_suggestions.py`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pytest

from dllint import keys
from dllint.report.fingerprint import line_hashes
from dllint.report.formats import FORMATS, renderer
from dllint.source import Source
from tests import reviewdog
from tests.fakes import DATASET, words
from tests.test_cli import PROGRAM, check, dllint, folder, program

__all__ = ["folder", "program", "words"]

REPOSITORY = Path(__file__).resolve().parent.parent
SCHEMAS = REPOSITORY / "tests" / "schemas"
STRANGE = "a [b](1), 100% — grün & <c> 'd|e'.py"


def valid(instance: Any, schema: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    loaded = json.loads((SCHEMAS / schema).read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(loaded)
    kind(loaded, format_checker=kind.FORMAT_CHECKER).validate(instance)


def report(form: str, *args: str) -> str:
    done = check("--output-format", form, *args)
    assert done.exit_code in (0, 1), done.output
    return done.stdout


def files(folder: Path) -> None:
    """Findings of all kinds: safe, unsafe and manual fixes, a route, none of these, a file that does not parse."""
    (folder / ".git").mkdir()
    (folder / "sub").mkdir()
    (folder / "sub" / STRANGE).write_text(f"{DATASET}x = 'größe 🜂', BAD_A\nBAD_UNSAFE\n", encoding="utf-8")
    (folder / "manual.py").write_text(f"{DATASET}BAD_MANUAL\nBAD_NONE\nWORSE\n")
    (folder / "starts.py").write_text(f"{DATASET}START(BAD_A)\nSTART(BAD_UNSAFE)\n")
    (folder / "wrong.py").write_text(f"{DATASET}x = (\n")


@pytest.fixture
def many(folder: Path, words: None) -> Path:
    files(folder)
    return folder


def test_one_table_of_formats(folder: Path) -> None:
    assert tuple(FORMATS) == get_args(keys.Format)
    for form in FORMATS:
        assert callable(renderer(form))
    for form in FORMATS:
        (folder / "dllint.toml").write_text(f'output-format = "{form}"\n')
        assert check().exit_code == 0


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_found(folder: Path, form: str) -> None:
    (folder / "a.py").write_text("x = 1\n")
    text = report(form)
    if "json" in form or form in ("sarif", "gitlab", "full", "concise", "grouped", "pylint", "azure", "github"):
        assert "DLL" not in text
    assert check("--output-format", form).exit_code == 0


@pytest.mark.parametrize("form", FORMATS)
def test_every_finding_is_in_every_format(many: Path, form: str) -> None:
    text = report(form)
    assert len(re.findall(r"DLL900\b", text)) >= 1
    assert text.count("DLL801") >= 4
    assert text.count("DLL802") >= 1


@pytest.mark.parametrize(
    "form", ["full", "json", "json-lines", "sarif", "github", "rdjson", "rdjsonl", "junit", "markdown"]
)
def test_what_is_to_be_done_by_hand_is_shown(many: Path, form: str) -> None:
    assert "good = 2" in report(form)


# Where it goes.


def test_output_file(program: Path) -> None:
    done = check("--output-format", "json", "--output-file", "found.json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert [row["code"] for row in json.loads((program / "found.json").read_text())] == ["DLL101"]
    assert done.stderr.startswith("1 finding in 1 file.\n")
    assert check("--output-format", "json", "--output-file", "found.json").exit_code == 1


@pytest.mark.skipif(os.name != "posix", reason="modes and links are a matter of POSIX")
def test_an_output_file_keeps_mode_and_link(program: Path) -> None:
    mask = os.umask(0o027)
    try:
        check("--output-file", "new.txt")
        assert stat.S_IMODE((program / "new.txt").stat().st_mode) == 0o640
    finally:
        os.umask(mask)
    (program / "new.txt").chmod(0o600)
    (program / "link.txt").symlink_to("new.txt")
    check("--output-file", "link.txt")
    assert (program / "link.txt").is_symlink()
    assert stat.S_IMODE((program / "new.txt").stat().st_mode) == 0o600


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_an_output_file_may_be_a_pipe(program: Path) -> None:
    done = dllint(program, "check", "--output-file", "/dev/stdout")
    assert (done.returncode, done.stdout.count("DLL101")) == (1, 1)


def test_an_output_file_has_no_colours_and_no_frames(program: Path) -> None:
    check("--output-file", "found.txt", "--color", "always")
    text = (program / "found.txt").read_text()
    assert text.startswith("words.py:8:35: DLL101 ")


@pytest.mark.usefixtures("words")
def test_the_output_file_of_a_diff_and_of_standard_input(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\n")
    done = check("--diff", "--output-file", "fix.diff")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "+good_a" in (folder / "fix.diff").read_text()
    done = check("-", "--fix", "--output-file", "left.txt", stdin=b"BAD_A\nBAD_NONE\n")
    assert done.stdout == "good_a\nBAD_NONE\n"
    assert (folder / "left.txt").read_text() == "<stdin>.py:2:1: DLL801 `BAD_NONE` is bad\n"


@pytest.mark.parametrize("file", [".", "none/found.json"])
def test_an_output_file_that_cannot_be_is_told_before_the_work(program: Path, file: str) -> None:
    done = dllint(program, "check", "--fix", "--output-file", file)
    assert done.returncode == 2
    assert "Invalid value for '-o' / '--output-file'" in done.stderr
    assert (program / "words.py").read_text() == PROGRAM


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
def test_an_output_file_that_may_not_be_written(program: Path) -> None:
    (program / "shut").mkdir(mode=0o500)
    done = dllint(program, "check", "--output-file", "shut/found.json")
    assert (done.returncode, done.stderr) == (2, "error: shut/found.json: cannot be written: Permission denied\n")


# Text.


def test_grouped(many: Path) -> None:
    assert report("grouped", "manual.py", "sub") == (
        "manual.py:\n"
        "  2:1 DLL801 `BAD_MANUAL` is bad\n"
        "  3:1 DLL801 `BAD_NONE` is bad\n"
        "  4:1 DLL802 worse\n"
        "\n"
        f"sub/{STRANGE}:\n"
        "  2:16 DLL801 [*] `BAD_A` is bad\n"
        "  3:1  DLL801 `BAD_UNSAFE` is bad\n"
    )


def test_pylint(many: Path) -> None:
    assert report("pylint", "manual.py").splitlines()[-1] == "manual.py:4: [DLL802] worse"


def test_azure(many: Path) -> None:
    lines = report("azure").splitlines()
    assert lines[0] == (
        "##vso[task.logissue type=error;sourcepath=manual.py;linenumber=2;columnnumber=1;code=DLL801;]"
        "`BAD_MANUAL` is bad"
    )
    assert lines[2].startswith("##vso[task.logissue type=warning;")
    strange = "sub/a [b%5D(1), 100%AZP25 — grün & <c> 'd|e'.py"
    assert lines[3].split(";")[1] == f"sourcepath={strange}"


def test_markdown(many: Path) -> None:
    text = report("markdown")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 6 for row in rows)
    assert rows[1] == "| error | DLL801 | `manual.py:2:1` | `BAD_MANUAL` is bad | by hand |"
    assert text.endswith("\nDLL801 in `manual.py:2:1`: do it yourself (by hand):\n\n    good = 1\n    good = 2\n")


# JSON.


def test_json_lines_are_the_rows_of_json(many: Path) -> None:
    lines = report("json-lines").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(report("json"))


def test_jq_reads_json_lines(many: Path) -> None:
    jq = shutil.which("jq")
    if jq is None:
        pytest.skip("no jq here")
    told = 'select(.fix.applicability == "safe") | "\\(.code) \\(.location.row) \\(.fix.edits[0].content)"'
    done = subprocess.run([jq, "-r", told], input=report("json-lines"), capture_output=True, text=True, check=True)
    assert done.stdout == "DLL801 2 good_a\n"


# SARIF.


def sarif(*args: str) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(report("sarif", *args))
    valid(log, "sarif-2.1.0-rtm.5.json")
    return log


def run(*args: str) -> dict[str, Any]:
    (only,) = sarif(*args)["runs"]
    return dict(only)


def test_sarif_of_a_real_finding(program: Path) -> None:
    (program / ".git").mkdir()
    only = run("--unsafe-fixes")
    (rule,) = only["tool"]["driver"]["rules"]
    assert rule["id"] == "DLL101"
    assert rule["fullDescription"]["text"].startswith("A `defaultdict` with a lambda as its factory")
    assert "## Why" in rule["help"]["markdown"]
    assert rule["properties"]["precision"] == "very-high"
    assert rule["properties"]["tags"] == ["pytorch", "multiprocessing", "pickling"]
    assert only["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"{program.as_uri()}/"
    (result,) = only["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "words.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 8, "startColumn": 35, "endLine": 8, "endColumn": 44}
    (flow,) = result["codeFlows"][0]["threadFlows"]
    steps = [step["location"]["message"]["text"] for step in flow["locations"]]
    assert steps[0].startswith("`lambda` as factory")
    assert steps[1:] == [location["message"]["text"] for location in result["relatedLocations"]]
    links = re.findall(r"\[((?:[^\[\]\\]|\\.)+)\]\((\d+)\)", result["message"]["text"])
    assert [(re.sub(r"\\(.)", r"\1", text), int(number)) for text, number in links] == [
        (location["message"]["text"], location["id"]) for location in result["relatedLocations"]
    ]
    (fix,) = result["fixes"]
    assert [edit["insertedContent"]["text"] for edit in fix["artifactChanges"][0]["replacements"]] == ["int"]


def test_sarif_levels_paths_and_notifications(many: Path) -> None:
    only = run()
    levels = [(result["ruleId"], result["level"]) for result in only["results"]]
    assert levels.count(("DLL802", "warning")) == 1
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in only["results"]}
    assert "sub/a%20%5Bb%5D%281%29%2C%20100%25%20%E2%80%94%20gr%C3%BCn%20%26%20%3Cc%3E%20%27d%7Ce%27.py" in uris
    (told,) = only["invocations"][0]["toolExecutionNotifications"]
    assert told["associatedRule"]["id"] == "DLL900"
    assert only["invocations"][0]["executionSuccessful"]
    codes = [rule["id"] for rule in only["tool"]["driver"]["rules"]]
    assert all(codes[result["ruleIndex"]] == result["ruleId"] for result in only["results"])


def test_sarif_offers_unsafe_fixes_only_when_they_are_wanted(many: Path) -> None:
    def fixes(*args: str) -> list[str]:
        return [fix["description"]["text"] for result in run(*args)["results"] for fix in result.get("fixes", ())]

    assert fixes() == ["replace `BAD_A`"]
    assert fixes("--unsafe-fixes") == ["replace `BAD_A`", "replace `BAD_UNSAFE`"]
    (many / "dllint.toml").write_text("unsafe-fixes = true\n")
    assert len(fixes()) == 2


@pytest.mark.usefixtures("words")
def test_sarif_is_relative_to_the_repository(folder: Path) -> None:
    (folder / "dllint.toml").unlink()
    (folder / ".git").mkdir()
    inner = folder / "packages" / "inner"
    inner.mkdir(parents=True)
    (inner / "dllint.toml").touch()
    (inner / "a.py").write_text(f"{DATASET}BAD_NONE\n")
    only = run("packages/inner")
    place = only["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "packages/inner/a.py"
    assert only["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"{folder.as_uri()}/"


def test_sarif_tools_read_it(many: Path) -> None:
    loader = pytest.importorskip("sarif.loader")
    (many / "found.sarif").write_text(report("sarif"))
    read = loader.load_sarif_file(str(many / "found.sarif"))
    assert read.get_distinct_tool_names() == ["dllint"]
    rows = {(row["Code"], row["Location"], row["Line"], row["Severity"]) for row in read.get_records()}
    assert ("DLL802", "manual.py", 4, "warning") in rows
    assert len(read.get_records()) == 6


@pytest.mark.usefixtures("words")
def test_sarif_of_a_run_that_broke(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_CRASH\n")
    done = check("--output-format", "sarif")
    assert done.exit_code == 2
    (only,) = json.loads(done.stdout)["runs"]
    assert not only["invocations"][0]["executionSuccessful"]
    assert "internal error in the fix" in only["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


HASHES = [
    ("", ["c129715d7a2bc9a3:1"]),
    (" a\nb\n  \t\tc\n d", ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]),
    (
        " hello; \t{n}world!!!{n}{n}{n}  \t\tGreetings{n} End{n}",
        [
            *("e9496ae3ebfced30:1", "fb7c023a8b9ccb3f:1", "ce8ba1a563dcdaca:1", "e20e36e16fcb0cc8:1"),
            *("b3edc88f2938467e:1", "c8e28b0b4002a3a0:1", "c129715d7a2bc9a3:1"),
        ],
    ),
]
"""Texts and hashes by which codeql-action, whose algorithm it is, tests its own code."""


@pytest.mark.parametrize(("text", "hashes"), HASHES)
@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_line_hashes_are_those_of_the_upload_action(text: str, hashes: list[str], newline: str) -> None:
    assert line_hashes(Source("a.py", text.replace("{n}", newline))) == hashes


def test_equal_lines_have_numbers() -> None:
    hashes = line_hashes(Source("a.py", "x = 1\n" * 60))
    assert hashes[1].partition(":")[0] == hashes[2].partition(":")[0]
    assert [value.partition(":")[2] for value in hashes[:4]] == ["1", "2", "3", "4"]


def rolled(data: bytes) -> list[str]:
    """The same, as the action does it: one pass with a ring of the last hundred units."""
    ring, marks = [0] * 100, [0] * 100
    first = pow(37, 100, 1 << 64)
    state = {"value": 0, "at": 0}
    found: dict[int, str] = {}
    counts: dict[int, int] = {}

    def tell() -> None:
        at, value = state["at"], state["value"]
        if marks[at]:
            counts[value] = counts.get(value, 0) + 1
            found[marks[at]] = f"{value:x}:{counts[value]}"
            marks[at] = 0

    def push(unit: int) -> None:
        at = state["at"]
        state["value"] = (37 * state["value"] + unit - first * ring[at]) % (1 << 64)
        ring[at] = unit
        state["at"] = (at + 1) % 100

    row, fresh, after_return = 0, True, False
    text = data.decode("utf-8", "replace").encode("utf-16-le")
    for unit in [*(int.from_bytes(text[i : i + 2], "little") for i in range(0, len(text), 2)), 65535]:
        if unit in (32, 9) or (after_return and unit == 10):
            after_return = False
            continue
        after_return = unit == 13
        unit = 10 if after_return else unit
        tell()
        if fresh:
            row, fresh = row + 1, False
            marks[state["at"]] = row
        fresh = unit == 10
        push(unit)
    for _ in range(100):
        tell()
        push(0)
    return [found[number] for number in sorted(found)]


@pytest.mark.parametrize(
    "data",
    [
        *(path.read_bytes() for path in sorted((REPOSITORY / "examples" / "training").glob("*.py"))),
        b"\xef\xbb\xbfx = 1\r\n" * 30,
        "größe = '🜂' * 3\n\n\n".encode() * 9,
        "# coding: latin-1\ngröße = 1\n".encode("latin-1") * 5,
        (REPOSITORY / "dllint" / "knowledge.py").read_bytes(),
    ],
)
def test_line_hashes_are_those_of_a_rolling_hash(data: bytes) -> None:
    assert line_hashes(Source.from_bytes("a.py", data)) == rolled(data)


# GitHub.


def unescaped(text: str) -> str:
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """What the runner makes of a log: level, properties, message."""
    found = []
    for line in text.splitlines():
        if match := re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line):
            properties = dict(pair.split("=", 1) for pair in match[2].split(","))
            found.append((match[1], {key: unescaped(value) for key, value in properties.items()}, unescaped(match[3])))
    return found


@pytest.fixture
def actions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("actions")
def test_github_annotations(many: Path) -> None:
    told = commands(report("github"))
    assert [level for level, _, _ in told] == ["error"] * 5 + ["warning"]
    _, properties, message = told[0]
    assert properties == {
        "file": "manual.py",
        "line": "2",
        "endLine": "2",
        "col": "1",
        "endColumn": "11",
        "title": "dllint (DLL801)",
    }
    assert message == "`BAD_MANUAL` is bad\n\ndo it yourself (by hand):\n\n    good = 1\n    good = 2"
    assert f"sub/{STRANGE}" in {properties["file"] for _, properties, _ in told}


@pytest.mark.usefixtures("actions", "words")
def test_github_drops_what_is_too_much_so_the_rest_is_plain(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}{'WORSE; ' * 14}x\n{'BAD_NONE; ' * 12}x\n")
    text = report("github")
    told = commands(text)
    assert [level for level, _, _ in told] == ["error"] * 10 + ["warning"] * 10
    assert len(text.splitlines()) == 26
    plain = [line for line in text.splitlines() if not line.startswith("::")]
    assert plain[0] == "a.py:3:101: DLL801 `BAD_NONE` is bad"
    assert sum("DLL802" in line for line in plain) == 4


@pytest.mark.usefixtures("actions")
def test_github_paths_begin_at_the_workspace(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(many.parent))
    assert commands(report("github"))[0][1]["file"] == f"{many.name}/manual.py"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(many / "sub"))
    assert commands(report("github"))[0][1]["file"] == "manual.py"


@pytest.mark.usefixtures("actions")
def test_github_step_summary(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = many / "summary.md"
    file.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    report("github")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("before\n### dllint: 6 findings\n\n| | code |")
    assert text.count("\n| error |") == 5
    assert report("concise") and file.read_text(encoding="utf-8") == text, "only for GitHub's own format"


@pytest.mark.usefixtures("actions", "words")
def test_a_step_summary_is_never_too_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dllint.report import github

    (folder / "a.py").write_text(f"{DATASET}{''.join(f'BAD_{number}; ' for number in range(60))}x\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    monkeypatch.setattr(github.summary, "__defaults__", (2_000,))
    report("github")
    text = (folder / "summary.md").read_text()
    assert len(text) <= 2_000
    assert int(re.search(r"\nand (\d+) more, ", text)[1]) + text.count("| error |") == 60  # type: ignore[index]


# GitLab.


def test_gitlab(many: Path) -> None:
    rows = json.loads(report("gitlab"))
    valid(rows, "gitlab-code-quality.json")
    assert len({row["fingerprint"] for row in rows}) == len(rows) == 6
    assert {row["severity"] for row in rows} == {"major", "minor"}
    assert rows[0]["description"] == "DLL801: `BAD_MANUAL` is bad"
    assert not report("gitlab").startswith("\ufeff")


@pytest.mark.usefixtures("words")
def test_fingerprints_are_unique_and_have_no_positions(folder: Path) -> None:
    body = "BAD_NONE\nBAD_NONE; BAD_NONE\n"
    (folder / "a.py").write_text(f"{DATASET}{body}")
    before = [row["fingerprint"] for row in json.loads(report("gitlab"))]
    assert len(set(before)) == 3
    (folder / "a.py").write_text(f"{DATASET}\n\nx = 1\n{body}")
    assert [row["fingerprint"] for row in json.loads(report("gitlab"))] == before
    assert [row["fingerprint"] for row in json.loads(report("json"))] == before
    assert [result["partialFingerprints"]["dllint/v1"] for result in run()["results"]] == before


# Reviewdog.


def test_rdjson(many: Path) -> None:
    result = json.loads(report("rdjson"))
    valid(result, "rdjson.json")
    assert result["source"] == {"name": "dllint"}
    by_message = {one["message"].splitlines()[0]: one for one in result["diagnostics"]}
    strange = by_message["`BAD_A` is bad"]
    data = (many / "sub" / STRANGE).read_bytes()
    assert strange["location"]["path"] == f"sub/{STRANGE}"
    assert strange["location"]["range"]["start"] == {"line": 2, "column": 21}
    assert reviewdog.text(data, strange["location"]["range"]) == "BAD_A"
    assert reviewdog.applied(data, strange["suggestions"][0]) == data.replace(b"BAD_A", b"good_a")
    assert strange["related_locations"][0]["location"]["path"] == "starts.py"
    assert by_message["worse"]["severity"] == "WARNING"
    assert "suggestions" not in by_message["`BAD_UNSAFE` is bad"]
    assert by_message["`BAD_MANUAL` is bad"]["message"].endswith("\n    good = 1\n    good = 2")


def test_rdjsonl(many: Path) -> None:
    lines = [json.loads(line) for line in report("rdjsonl").splitlines()]
    valid({"diagnostics": lines}, "rdjson.json")
    assert [{key: value for key, value in line.items() if key != "source"} for line in lines] == json.loads(
        report("rdjson")
    )["diagnostics"]


# JUnit.


def test_junit(many: Path) -> None:
    text = report("junit")
    pytest.importorskip("xmlschema").XMLSchema(str(SCHEMAS / "junit-10.xsd")).validate(text)
    suites = list(pytest.importorskip("junitparser").JUnitXml.fromstring(text.encode()))
    assert sum(suite.tests for suite in suites) == sum(suite.failures for suite in suites) == 6
    case = next(case for suite in suites for case in suite if "BAD_A" in case.result[0].message)
    assert case.classname == f"sub/{STRANGE}"
    assert case.result[0].text.splitlines()[1] == "note: started here (starts.py:2:1)"


def test_junit_without_findings_is_a_test_that_passes(folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")
    text = report("junit")
    pytest.importorskip("xmlschema").XMLSchema(str(SCHEMAS / "junit-10.xsd")).validate(text)
    (suite,) = pytest.importorskip("junitparser").JUnitXml.fromstring(text.encode())
    assert (suite.tests, suite.failures, [case.is_passed for case in suite]) == (1, 0, [True])


@pytest.mark.skipif(sys.platform != "linux", reason="such file names are a matter of Linux")
@pytest.mark.usefixtures("words")
@pytest.mark.parametrize("form", FORMATS)
def test_file_names_that_hurt(folder: Path, form: str) -> None:
    name = os.fsdecode(b"a\xff\x01\n]]>,:;%.py")
    (folder / name).write_text(f"{DATASET}BAD_A\n")
    assert check("--output-format", form, "--output-file", "found").exit_code == 1
    text = (folder / "found").read_text(encoding="utf-8")
    if form == "junit":
        ElementTree.fromstring(text)
    if form in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(text)
    if form in ("github", "azure", "json-lines", "rdjsonl"):
        assert len(text.splitlines()) == 1
