"""One message a design: which findings are told once, how each format tells them, and that no place is lost."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from dllint import Finding, Span
from dllint.engine import designs
from dllint.source import Source
from tests.fakes import DATASET, words
from tests.github import commit, repository, suggested
from tests.notebooks import notebook
from tests.test_cli import check, folder
from tests.test_review import comments, made

__all__ = ["folder", "repository", "words"]

HEAD = """\
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T


class Images(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)


"""
PIPELINE = """\
pipeline = T.Compose([
    T.Lambda(lambda x: x + 1),
    T.Lambda(lambda x: x * 2),
    T.RandomApply([lambda x: -x]),
])
"""
LOADER = "loader = DataLoader(Images(pipeline), num_workers=2)\n"
TAIL = "if __name__ == '__main__':\n    next(iter(loader))\n"
TRAIN = f"{HEAD}{PIPELINE}{LOADER}{TAIL}"


def lines(*args: str) -> list[str]:
    return check(*args).stdout.splitlines()


def rows(*args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(check("--output-format", "json", *args).stdout)
    return found


def places(*args: str) -> list[tuple[str, int]]:
    return [(Path(row["filename"]).name, row["location"]["row"]) for row in rows(*args)]


# Which findings are one design.


def test_the_lambdas_of_one_pipeline_are_told_once(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN)
    (told,) = lines()
    assert told.startswith("train.py:14:14: DLL102 `lambda` kept by `Lambda` cannot be pickled: ")
    assert told.endswith("; use a module-level function (and 2 more here: lines 15, 16)")
    assert places() == [("train.py", 14), ("train.py", 15), ("train.py", 16)]
    assert check().stderr.startswith("3 findings of 1 design in 1 file.\n")


def test_the_lambdas_of_one_table_are_told_once(folder: Path) -> None:
    table = "TABLE = {\n    'up': lambda x: x + 1,\n    'down': lambda x: x - 1,\n}\npipeline = TABLE\n"
    (folder / "train.py").write_text(f"{HEAD}{table}{LOADER}{TAIL}")
    (told,) = lines()
    assert told.endswith("(and 1 more here: line 15)")


def test_pipelines_of_two_datasets_are_two_designs(folder: Path) -> None:
    other = PIPELINE.replace("+ 1", "+ 3").replace("* 2", "* 4").replace("-x", "abs(x)")
    for name, pipeline in (("train", PIPELINE), ("other", other)):
        (folder / f"{name}.py").write_text(f"{HEAD}{pipeline}{LOADER}{TAIL}")
    assert [line.partition(" (and ")[2] for line in lines()] == ["2 more here: lines 15, 16)"] * 2
    assert check().stderr.startswith("6 findings of 2 designs in 2 files.\n")


def test_training_and_validation_of_one_dataset_are_one_design(folder: Path) -> None:
    other = PIPELINE.replace("pipeline", "other").replace("+ 1", "+ 3").replace("* 2", "* 4").replace("-x", "abs(x)")
    second = LOADER.replace("pipeline", "other").replace("loader =", "second =")
    (folder / "train.py").write_text(f"{HEAD}{PIPELINE}{other}{LOADER}{second}{TAIL}    next(iter(second))\n")
    assert [line.partition(" (and ")[2] for line in lines()] == ["5 more here: lines 15, 16, 19, 20, 21)"]


LISTS = """\
class Names(Dataset):
    def __init__(self, root, rows):
        self.images = [str(path) for path in root.glob("*.png")]
        self.masks = [str(path) for path in root.glob("*.tif")]

    def __getitem__(self, index):
        return self.images[index], self.masks[index]


def main(root, rows):
    for batch in DataLoader(Names(root, rows), num_workers=4):
        print(batch)
"""


SENT = """\
import threading
from multiprocessing import Pool


class Work:
    def __init__(self):
        self.lock = threading.Lock()

    def one(self, item):
        return item

    def two(self, item):
        return item

    def run(self):
        Pool(2).map(self.one, [1])

    def again(self):
        Pool(2).imap(self.two, [1])


def main(items):
    lock = threading.Lock()
    Pool(2).map(print, [lock])
    Pool(2).starmap(print, [(lock, 1)])
    Work().run()
"""


def test_a_handle_that_several_functions_send_is_told_once(folder: Path) -> None:
    (folder / "work.py").write_text(SENT)
    kept, given = lines("--select", "DLL107")
    assert "`lock` of `Work`" in kept and kept.endswith("(and 1 more here: line 19)")
    assert "lock sent to `Pool.map`" in given and given.endswith("(and 1 more here: line 25)")
    first = rows("--select", "DLL107")[0]
    assert [(item["message"], item["location"]["row"]) for item in first["related"]][-1] == ("the same here", 19)


def test_lists_of_one_dataset_are_told_once(folder: Path) -> None:
    (folder / "train.py").write_text(f"{HEAD}{LISTS}")
    (told,) = lines("--select", "DLL201")
    assert re.findall("kept as `(.*?)`", told) == ["images"]
    assert told.endswith("(and 1 more here: line 16)")
    found = rows("--select", "DLL201")
    assert [re.findall("kept as `(.*?)`", row["message"])[0] for row in found] == ["images", "masks"]
    assert found[0]["design"] == found[1]["design"] == found[0]["fingerprint"]


def test_lists_of_two_datasets_and_with_two_remedies_are_told_by_themselves(folder: Path) -> None:
    (folder / "train.py").write_text(f"{HEAD}{LISTS}")
    (folder / "other.py").write_text(f"{HEAD}{LISTS.replace('Names', 'Others').replace('images', 'scans')}")
    assert [line.partition(" (and ")[2] for line in lines("--select", "DLL201")] == ["1 more here: line 16)"] * 2
    numbers = "[row['image_id'] for row in json.load(rows)]"
    records = "[(row['image_id'], row['text'], str(path)) for row in json.load(rows) for path in root.glob('*')]"
    text = re.sub(r"(images = ).*", rf"\1{numbers}", re.sub(r"(masks = ).*", rf"\1{records}", LISTS))
    (folder / "other.py").unlink()
    (folder / "train.py").write_text(f"import json\n{HEAD}{text}")
    assert [re.findall("kept as `(.*?)`", line) for line in lines("--select", "DLL202")] == [["images"], ["masks"]]


def test_copied_code_is_told_once_with_its_other_files(folder: Path) -> None:
    for name in "abcdefg":
        text = TRAIN if name != "g" else TRAIN.replace("x + 1", "x + 100").replace("x * 2", "x").replace("-x", "x[0]")
        (folder / f"{name}.py").write_text(text)
    first, second = lines()
    assert first.startswith("a.py:14:14: ")
    also = "2 more here: lines 15, 16; 3 in b.py: lines 14, 15, 16; 3 in c.py: lines 14, 15, 16; "
    assert first.endswith(f"(and {also}3 in d.py: lines 14, 15, 16; 6 in 2 other files)")
    assert second.startswith("g.py:14:14: ") and second.endswith("(and 2 more here: lines 15, 16)")
    assert len(places()) == 21


def test_a_cell_that_was_copied(folder: Path) -> None:
    (folder / "a.ipynb").write_text(notebook("import os", TRAIN))
    (folder / "b.ipynb").write_text(notebook(TRAIN))
    told = lines("--select", "DLL102")
    assert [line.partition(" DLL102 ")[0] for line in told] == ["a.ipynb:cell 2:14:14:"]
    assert told[0].endswith("(and 2 more here: cell 2 lines 15, 16; 3 in b.ipynb: cell 1 lines 14, 15, 16)")


def test_the_same_word_in_two_files_is_another_design_when_the_message_differs() -> None:
    texts = {"a.py": Source("a.py", "x = []\n"), "b.py": Source("b.py", "x = []\n")}
    found = [Finding("DLL202", path, Span(0, 6), f"kept as `x` of `{path}`") for path in texts]
    assert [one.design for one in designs.joined(found, texts.__getitem__)] == ["", ""]
    found = [Finding("DLL202", path, Span(0, 6), "kept as `x` of `A`") for path in texts]
    assert [one.design for one in designs.joined(found, texts.__getitem__)] == ["a.py:0:DLL202", "a.py:0:DLL202"]


def test_a_design_hangs_on_no_order(folder: Path) -> None:
    text = "".join(f"f({number % 3}, {number % 5})\n" for number in range(60))
    source = Source("a.py", text)
    spans = [Span(found.start(), found.end()) for found in re.finditer(r"f\(.*\)", text)]
    found = [Finding(f"DLL10{number % 2}", "a.py", span, "it") for number, span in enumerate(spans)]
    once = {one.span: one.design for one in designs.joined(found, lambda path: source)}
    assert len(set(once.values())) == 30, "a design for each text and rule"
    for seed in range(20):
        random.Random(seed).shuffle(found)
        assert {one.span: one.design for one in designs.joined(found, lambda path: source)} == once


LOADS = "from torch.utils.data import DataLoader\n"
OLD = {
    "a": "print 'a'\n",
    "b": "try:\n    pass\nexcept OSError, error:\n    print error\n",
    "c": "exec 'c'\n",
    "d": "x = `d`\n",
    "e": "x = 0777\n",
    "f": "if x:\n        y = 1\n\tz = 2\n",
    "g": "raise ValueError, 'g'\n",
}


@pytest.fixture
def old(folder: Path) -> Path:
    """A project for Python 2."""
    for name, text in OLD.items():
        (folder / f"{name}.py").write_text(f"{LOADS}{text}")
    return folder


@pytest.mark.usefixtures("old")
def test_files_for_python_2_are_told_once() -> None:
    (told,) = lines()
    assert told.startswith(
        "a.py:2:1: DLL900 syntax error: `print x` is Python 2, Python 3 has `print(x)` (and 1 more in "
    )
    assert told.endswith(
        "in b.py: line 4; 1 in c.py: line 2; 1 in d.py: line 2; 1 in e.py: line 2; 2 in 2 other files)"
    )
    assert check().stderr.startswith("7 findings of 1 design in 7 files.\n")
    assert check("--statistics").stdout.startswith("7  DLL900  ")
    first, *others = rows()
    assert [row["code"] for row in (first, *others)] == ["DLL900"] * 7
    same = [(Path(item["filename"]).name, item["location"]["row"]) for item in first["related"]]
    assert same == places()[1:], "no broken file is hidden"
    assert {row["design"] for row in others} == {first["fingerprint"]}


def test_each_file_for_python_2_is_silenced_and_ignored_by_itself(old: Path) -> None:
    (old / "a.py").write_text(f"{LOADS}print 'a'  # noqa: E999\n")
    told = places("--per-file-ignores", "b.py:DLL900")
    assert told == [("c.py", 2), ("d.py", 2), ("e.py", 2), ("f.py", 4), ("g.py", 2)]
    assert check("d.py").exit_code == 1
    assert lines("d.py")[0].endswith("(Python 2?)")
    assert check("--baseline", "known.json", "--write-baseline").exit_code == 1
    assert len(places("--baseline", "known.json")) == 6


def test_other_syntax_errors_are_told_by_themselves(old: Path) -> None:
    texts = {
        "open": "x = (\n",
        "too": "x = (\n",
        "merge": "<<<<<<< ours\nx = 1\n",
        "template": "from {{ name }} import x\n",
    }
    for name, text in texts.items():
        (old / f"x_{name}.py").write_text(f"{LOADS}{text}")
    assert [line.partition(":")[0] for line in lines()] == ["a.py", *(f"x_{name}.py" for name in sorted(texts))]


def test_files_for_python_before_3_7_are_another_design_than_those_for_python_2(old: Path) -> None:
    for name in "xy":
        (old / f"{name}.py").write_text(f"{LOADS}{name}.cuda(async=True)\n")
    assert [line.partition(" (and ")[2] for line in lines()[1:]] == ["1 more in y.py: line 2)"]


# No place is lost.


def test_each_place_is_fixed_silenced_and_kept_by_itself(folder: Path) -> None:
    file = folder / "train.py"
    file.write_text(TRAIN.replace("x + 1),", "x + 1),  # dllint: ignore[DLL102]"))
    assert lines()[0].startswith("train.py:15:14: ") and lines()[0].endswith("(and 1 more here: line 16)")
    file.write_text(TRAIN)
    assert check("--baseline", "known.json", "--write-baseline").stderr.endswith("known.json: 3 findings kept.\n")
    file.write_text(TRAIN.replace("    T.Lambda(lambda x: x * 2),\n", "    T.Lambda(lambda x: x * 2),\n" * 2))
    done = check("--baseline", "known.json")
    assert (done.exit_code, len(done.stdout.splitlines())) == (1, 1)
    assert " more " not in done.stdout
    done = check("--add-noqa", "train.py")
    assert "Silenced 4 findings (DLL102 4)." in done.stderr
    assert check().exit_code == 0


def test_the_last_place_is_told_still(folder: Path) -> None:
    (folder / "train.py").write_text(re.sub(r"    T\.(Lambda\(lambda x: x \+|RandomApply).*\n", "", TRAIN))
    (told,) = lines()
    assert told.startswith("train.py:14:14: DLL102 ") and told.endswith("; use a module-level function")
    assert check().stderr.startswith("1 finding in 1 file.\n")


def test_a_design_begins_in_what_is_checked(folder: Path) -> None:
    for name in ("a.py", "b.py"):
        (folder / name).write_text(TRAIN)
    (told,) = lines("b.py")
    assert told.startswith("b.py:14:14: ") and told.endswith("(and 2 more here: lines 15, 16)")


def test_the_cache_remembers_designs(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN)
    assert lines() == lines() == lines("--no-cache")


def test_only_changed_places_are_told_of_a_change(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "a.py").write_text(TRAIN)
    request.getfixturevalue("repository")
    commit(folder, b=TRAIN)
    (told,) = lines("--diff-base", "main")
    assert told.startswith("b.py:14:14: ") and told.endswith("(and 2 more here: lines 15, 16)")


def test_a_review_names_the_other_places_and_suggests_at_each(repository: Path) -> None:
    commit(repository, train=TRAIN)
    (comment,) = comments(made(repository))
    assert comment == ("train.py", 14, 14)
    (body,) = [one["body"] for one in made(repository).reviews[-1]["comments"]]
    assert "(and 2 more here: lines 15, 16)" in body
    commit(repository, train=TRAIN.replace("x * 2", "abs(x)").replace("-x", "len(x)"))
    sent = made(repository).reviews[-1]
    assert sent["body"].startswith("dllint: 3 findings of 1 design in what this change affects.")
    first, *others = [one["body"] for one in sent["comments"]]
    assert "(and 2 more here: lines 15, 16)" in first
    assert ["the same as at `train.py:14:14`" in body for body in others] == [True, True]
    assert [suggested(body) for body in others] == [["    T.Lambda(abs),"], ["    T.RandomApply([len]),"]]


# What the formats make of it.


@pytest.fixture
def copied(folder: Path) -> Path:
    for name in "ab":
        (folder / f"{name}.py").write_text(TRAIN)
    return folder


@pytest.mark.usefixtures("copied")
def test_json_has_every_place_and_the_first_names_the_others() -> None:
    first, *others = rows()
    route = [item["message"] for item in others[0]["related"]]
    assert "the same here" not in route
    same = first["related"][len(first["related"]) - 5 :]
    assert {item["message"] for item in same} == {"the same here"}
    assert [(Path(item["filename"]).name, item["location"]["row"]) for item in same] == places()[1:]
    assert {row["design"] for row in others} == {first["fingerprint"]} == {first["design"]}
    assert len({row["fingerprint"] for row in (first, *others)}) == 6


@pytest.mark.usefixtures("copied")
def test_a_terminal_shows_one_frame() -> None:
    text = check("--output-format", "full").stdout
    assert text.count(" --> ") == 1
    assert "   = also: 2 here: lines 15, 16\n   = also: 3 in b.py: lines 14, 15, 16\n" in text


@pytest.mark.usefixtures("copied")
def test_statistics_count_places_and_designs() -> None:
    assert check("--statistics").stdout.startswith("6  DLL102  ")
    assert check("--statistics").stdout.endswith("lambda-on-dataset (1 design)\n")
    (row,) = json.loads(check("--statistics", "--output-format", "json").stdout)
    assert (row["count"], row["designs"]) == (6, 1)


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize(
    ("form", "places"),
    [("concise", 1), ("full", 1), ("markdown", 1), ("grouped", 6), ("pylint", 6), ("azure", 6), ("github", 6)],
)
def test_how_often_each_format_tells_it(form: str, places: int) -> None:
    assert check("--output-format", form).stdout.count("cannot be pickled") == places


@pytest.mark.usefixtures("copied")
def test_reviewers_programs_have_each_place_and_the_others_with_the_first() -> None:
    (run,) = json.loads(check("--output-format", "sarif").stdout)["runs"]
    first, *others = run["results"]
    assert len(others) == 5
    same = [one for one in first["relatedLocations"] if one["message"]["text"] == "the same here"]
    assert len(same) == 5 and len({one["id"] for one in first["relatedLocations"]}) == len(first["relatedLocations"])
    assert "(and 2 more here: lines 15, 16; 3 in b.py" in first["message"]["text"]
    assert all("the same here" not in json.dumps(one) for one in others)
    told = json.loads(check("--output-format", "rdjson").stdout)["diagnostics"]
    assert [json.dumps(one).count("the same here") for one in told] == [5, 0, 0, 0, 0, 0]


@pytest.mark.usefixtures("words")
def test_github_drops_no_design_for_the_places_of_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (folder / "a.py").write_text(f"{DATASET}{'BAD_A; ' * 20}BAD_LAST\n")
    told = lines("--output-format", "github")
    assert "`BAD_A`" in told[0] and "(and 19 more here: line 2)" in told[0]
    assert "`BAD_LAST`" in told[1] and told[1].startswith("::error ")
    assert len(told) == 21
