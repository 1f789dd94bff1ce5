"""What the language server is made of: positions, texts that move, projects that are edited."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("lsprotocol")

from pygls.workspace import Workspace

from dllint.editor.desk import Desk
from dllint.editor.documents import Documents
from dllint.editor.moved import Moved
from dllint.editor.places import Places
from dllint.editor.reports import Reports
from dllint.editor.workbench import PAUSE_S, View, Workbench
from dllint.editor.worker import Worker
from dllint.engine.session import Request
from dllint.source import Part, Source, Span
from tests.test_cli import PROGRAM

TEXTS = st.text("ab\n\r\t é\N{GRINNING FACE}", max_size=20)


@given(TEXTS, st.integers(0, 20), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_a_position_leads_back(text: str, offset: int, encoding: str) -> None:
    part, places = Part(Source("a.py", text), 7), Places(encoding)
    offset = min(offset, len(text))
    row, column = part.source.location(offset)
    if part.source.row_span(row).end < offset:  # between \r and \n
        return
    position = places.position(part, 7 + offset)
    assert position.line == row - 1
    units = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    assert position.character == len(part.source.line(row)[: column - 1].encode(codec)) // units
    assert places.offset(part, position) == 7 + offset


@given(TEXTS, st.text("XY", max_size=9), st.text("XY", max_size=9), TEXTS)
def test_what_is_around_an_edit_moves_with_it(before: str, old: str, new: str, after: str) -> None:
    one, other = before + old + after, before + new + after
    moved = Moved(one, other)
    for start, end in ((0, len(before)), (len(before) + len(old), len(one))):
        span = moved.span(Span(start, end))
        assert 0 <= span.start <= span.end <= len(other)
        assert other[span.start : span.end] == one[start:end]


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    (tmp_path / "dllint.toml").touch()
    (tmp_path / "words.py").write_text(PROGRAM)
    (tmp_path / "other.py").write_text(PROGRAM.replace("Words", "Others"))
    return Workbench(Request(paths=(str(tmp_path),)))


def told(bench: Workbench, exact: bool = False) -> list[str]:
    view = bench.view(exact)
    return [
        f"{item.path}:{view.source(item.path).place(item.span.start)} {item.code} "
        f"{view.source(item.path).text[item.span.start : item.span.end]}"
        for item in view.findings
    ]


BOTH = ["other.py:8:35 DLL101 lambda: 0", "words.py:8:35 DLL101 lambda: 0"]


def test_every_prefix_of_a_program_keeps_the_findings_of_others(bench: Workbench) -> None:
    """What is typed into one file, letter by letter, never makes another's finding vanish."""
    assert told(bench) == BOTH
    for end in range(0, len(PROGRAM), 7):
        bench.put("words.py", PROGRAM[:end].encode())
        assert [item for item in told(bench) if "DLL900" not in item and "other" in item] == BOTH[:1]
    bench.put("words.py", PROGRAM.encode())
    assert told(bench) == BOTH


def test_a_half_written_line_leaves_the_file_as_it_was(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.put("words.py", PROGRAM.encode())
    assert told(bench) == BOTH
    project = bench.view().judged.projects[0]
    bench.put("words.py", f"import os\nif (\n{PROGRAM}".encode())
    view = bench.view()
    assert view.judged.projects[0] is project, "nothing is judged again"
    assert told(bench) == [BOTH[0], "words.py:10:35 DLL101 lambda: 0"]
    assert [view.fix(item) is None for item in view.findings] == [False, True]
    monkeypatch.setattr("time.monotonic", lambda: float("inf"))
    assert told(bench)[1] == "words.py:2:4 DLL900 ("
    assert PAUSE_S > 0


def test_every_file_for_python_2_is_marked(bench: Workbench, tmp_path: Path) -> None:
    for name in ("older.py", "oldest.py"):
        (tmp_path / name).write_text(f"{PROGRAM}print '{name}'\n")
    bench.refresh()
    view = bench.view()
    broken = [item for item in view.findings if item.code == "DLL900"]
    assert [item.path for item in broken] == ["older.py", "oldest.py"]
    reports = Reports(Documents(Workspace("")), Places("utf-8")).by_document(view)
    told = {uri.rpartition("/")[2]: each[-1] for uri, each in reports.items()}
    for name, other in (("older.py", "oldest.py"), ("oldest.py", "older.py")):
        same = [item.location.uri.rpartition("/")[2] for item in told[name].related_information]
        assert (told[name].code, same) == ("DLL900", [other])


def test_whether_a_file_has_a_safe_fix_is_asked_once(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    fix = View.fix
    monkeypatch.setattr(View, "fix", lambda view, finding: (asked.append(finding.path), fix(view, finding))[1])
    assert [bench.view().is_fixable(path) for path in ("words.py", "words.py", "gone.py")] == [True, True, False]
    assert asked == ["words.py"]
    bench.put("words.py", PROGRAM.replace("lambda: 0", "lambda: print()").encode())
    assert told(bench)[1] == "words.py:8:35 DLL101 lambda: print()"
    assert not bench.view().is_fixable("words.py")
    bench.put("words.py", f"if (\n{PROGRAM}".encode())
    assert not bench.view().is_fixable("words.py"), "what would be edited has moved"
    bench.put("words.py", PROGRAM.encode())
    assert bench.view().is_fixable("words.py")


def test_a_comment_is_judged_when_there_is_time(bench: Workbench) -> None:
    bench.put("words.py", PROGRAM.encode())
    project = bench.view().judged.projects[0]
    bench.put("words.py", f"# why\n\n{PROGRAM}".encode())
    view = bench.view()
    assert view.judged.projects[0] is project
    assert told(bench)[1] == "words.py:10:35 DLL101 lambda: 0"
    exact = bench.view(exact=True)
    assert exact.judged.projects[0] is not project
    places = [[(item.code, item.span, item.notes, item.anchors) for item in one.findings] for one in (view, exact)]
    assert places[0] == places[1]
    bench.put("words.py", PROGRAM.replace("0)", "0)  # noqa").encode())
    assert told(bench) == BOTH[:1]


def test_a_file_that_changes_under_way(bench: Workbench, tmp_path: Path) -> None:
    assert told(bench) == BOTH
    (tmp_path / "other.py").write_text("import torch.utils.data\n")
    bench.touch(["other.py"])
    assert told(bench) == BOTH[1:]
    (tmp_path / "third.py").write_text(PROGRAM)
    assert bench.refresh()
    assert told(bench) == ["third.py:8:35 DLL101 lambda: 0", BOTH[1]]
    (tmp_path / "dllint.toml").write_text('ignore = ["DLL1"]\n')
    assert not bench.refresh()
    bench.put(".venv/x.py", PROGRAM.encode())
    assert told(bench) == ["third.py:8:35 DLL101 lambda: 0", BOTH[1]]


def test_requests_that_are_cancelled_leave_the_worker_alive() -> None:
    worker = Worker()
    begun, go = threading.Event(), threading.Event()
    under_way = worker.submit(lambda: (begun.set(), go.wait(5)))
    waiting = worker.submit(lambda: pytest.fail("nobody waits for this answer"))
    assert begun.wait(5)
    assert waiting.cancel()
    assert not under_way.cancel()
    go.set()
    assert worker.submit(lambda: "alive").result(timeout=5) == "alive"
    worker.stop()


def test_a_folder_with_a_wrong_configuration_opens_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Least of all the folder that the server was started in."""
    (tmp_path / "dllint.toml").write_text("ignroe = []\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "dllint.toml").touch()
    monkeypatch.chdir(elsewhere)
    desk = Desk()
    desk.open_folders([str(tmp_path)])
    assert desk.views() == []
    assert list(desk.problems) == [str(tmp_path)]


def test_a_script_in_no_project_does_not_open_all_that_lies_below(tmp_path: Path) -> None:
    for name in ("train.py", "data/words.py", "other/words.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("import data.words, torch.utils.data\n")
    desk = Desk()
    desk.put(str(tmp_path / "train.py"), (tmp_path / "train.py").read_bytes())
    assert [view.corpus.has("data/words.py") for view in desk.views()] == [True]
    assert [view.corpus.has("other/words.py") for view in desk.views()] == [False]
    desk = Desk()
    desk.open_folders([str(tmp_path)])
    assert [view.corpus.has("other/words.py") for view in desk.views()] == [True]


def test_a_folder_of_projects_opens_each_of_them(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").touch()
        (tmp_path / name / "words.py").write_text(PROGRAM)
    desk = Desk()
    desk.open_folders([str(tmp_path)])
    assert sorted(view.corpus.root for view in desk.views()) == [str(tmp_path / "first"), str(tmp_path / "second")]
    desk.put(str(tmp_path / "first" / "words.py"), b"x = 1\n")
    assert {view.corpus.root: len(view.findings) for view in desk.views()} == {
        str(tmp_path / "first"): 0,
        str(tmp_path / "second"): 1,
    }
