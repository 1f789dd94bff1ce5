"""From what processes told to answers, to text, to JSON and back, to pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("psutil")

from dllint.cli import cli
from dllint.report.paint import Paint
from dllint.runtime.probe import against, answers, compare, plot, text
from dllint.runtime.probe.contain import Ending
from dllint.runtime.probe.messages import (
    Compared,
    Contents,
    Done,
    Failed,
    Item,
    Loaded,
    Log,
    Message,
    Part,
    Place,
    Read,
    Reader,
    Sample,
    Seeds,
    Speed,
    Stage,
    State,
    Variable,
)
from dllint.runtime.probe.observed import Observed
from dllint.runtime.probe.report import Answer, Method, NotAReport, Report, Verdict, decode, encode
from tests.test_cli import PROGRAM

LOADED = Loaded("torch.utils.data.DataLoader", "data.Names", False, 100, 10, 2, "", (), "3.11", "2.13")
ITERABLE = Loaded("torch.utils.data.DataLoader", "data.Stream", True, None, 10, 2, "", (), "3.11", "2.13")
WELL = Ending(0, "", "", 0, 1.0)
NAMES = Part("loader.dataset.names", "list", (Place("data.py", 3),), "DLL201", objects=2_000_000, bytes=200_000_000)


def observed(*messages: Message, ending: Ending = WELL) -> Observed:
    found = Observed(ending=ending)
    for message in (Stage("load"), *messages):
        found.take(message)
    return found


def sample(items: int, main: float, *workers: float) -> Sample:
    return Sample(items, items / 100, main, workers, workers)


def seeds(worker: int, epoch: int, state: str) -> tuple[Seeds, Seeds]:
    return Seeds(worker, epoch, {"dataset.rng": state}), Seeds(worker, epoch, {"dataset.rng": state}, ("dataset.rng",))


def asked(question: str, name: str, found: Observed, contents: Contents | None = None) -> Answer:
    method = answers.method(name, True, found, contents or Contents())
    return next(answer for answer in method.answers if answer.question == question)


def test_a_process_that_dies_at_once_could_not_load() -> None:
    dead = observed(ending=Ending(-6, "", "", 0, 1.0))
    answer = asked("loads", "fork", dead)
    assert (answer.verdict, answer.text) == (Verdict.FAILS, "the process died of SIGABRT")


def test_an_exception_is_told_with_its_rule() -> None:
    failed = Failed(False, "AssertionError", "daemonic processes are not allowed to have children")
    answer = asked("reads", "fork", observed(LOADED, Stage("read"), *seeds(0, 0, "a"), failed))
    assert (answer.verdict, answer.rule) == (Verdict.FAILS, "DLL403")


def test_a_worker_that_never_spoke_did_not_start() -> None:
    failed = Failed(False, "RuntimeError", "DataLoader worker (pid(s) 12) exited unexpectedly with exit code 1.")
    printed = (
        "Traceback (most recent call last):\nAttributeError: Can't get attribute 'Names' on <module '__mp_main__'>\n"
    )
    ending = Ending(1, "", printed, len(printed), 1.0)
    answer = asked("workers start", "spawn", observed(LOADED, Stage("read"), failed, ending=ending))
    assert answer.verdict is Verdict.FAILS
    assert "Can't get attribute 'Names'" in answer.text
    assert answer.rule == "DLL109"


def test_a_hang_is_told_with_its_place() -> None:
    hanging = observed(
        LOADED, Stage("read"), *seeds(0, 0, "a"), ending=Ending(None, "nothing happened for 20 s", "", 0, 25)
    )
    hanging.stacks = {"worker 0": Place("data.py", 7), "main process": Place("train.py", 9)}
    answer = asked("reads", "fork", hanging)
    assert answer.text == "hangs: nothing happened for 20 s, at data.py:7"


def test_items_are_pickled_under_spawn_only() -> None:
    contents = Contents(culprits=(Part("loader.collate_fn", "lambda", (), "DLL103"),))
    assert asked("shipped objects pickle", "fork", observed(LOADED, Done()), contents).verdict is Verdict.UNKNOWN
    assert asked("shipped objects pickle", "spawn", observed(LOADED, Done()), contents).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("states", "verdict", "words"),
    [
        ({(0, 0): "a", (1, 0): "b", (0, 1): "c", (1, 1): "d"}, Verdict.OK, "loader.dataset.rng"),
        ({(0, 0): "a", (1, 0): "a", (0, 1): "c", (1, 1): "c"}, Verdict.FAILS, "begins the same in all workers"),
        ({(0, 0): "a", (1, 0): "b", (0, 1): "a", (1, 1): "b"}, Verdict.FAILS, "begins the same in every epoch"),
        ({(0, 0): "a", (1, 0): "a", (0, 1): "a"}, Verdict.FAILS, "begins the same in all workers and every epoch"),
    ],
)
def test_streams_that_repeat(states: dict[tuple[int, int], str], verdict: Verdict, words: str) -> None:
    told = [message for (worker, epoch), state in states.items() for message in seeds(worker, epoch, state)]
    answer = asked("random streams differ", "fork", observed(LOADED, *told, Done()))
    assert (answer.verdict, answer.text) == (verdict, words)


def test_a_generator_that_no_item_draws_from_may_repeat() -> None:
    told = [Seeds(worker, 0, {"dataset.rng": "a"}) for worker in (0, 1)]
    method = answers.method("fork", True, observed(LOADED, *told, Done()), Contents())
    assert not any(answer.question == "random streams differ" for answer in method.answers)


@pytest.mark.parametrize(
    ("items", "verdict"),
    [
        ([(0, "a"), (1, "a"), (0, "b"), (1, "b")], Verdict.FAILS),
        ([(0, "a"), (1, "b"), (0, "c"), (1, "d")], Verdict.OK),
        ([(0, "a"), (0, "b")], Verdict.UNKNOWN),
    ],
)
def test_an_iterable_that_every_worker_yields(items: list[tuple[int, str]], verdict: Verdict) -> None:
    told = [Item(worker, 0, str(number), digest) for number, (worker, digest) in enumerate(items)]
    assert asked("workers share the items", "fork", observed(ITERABLE, *told, Done())).verdict is verdict


def test_an_epoch_that_ends_early() -> None:
    answer = asked("reads", "fork", observed(LOADED, Read(50, 5, 1.0, 10), Done()))
    assert (answer.verdict, answer.rule) == (Verdict.FAILS, "DLL407")
    assert asked("reads", "fork", observed(LOADED, Read(100, 10, 1.0, 10), Done())).verdict is Verdict.OK


def test_batches_that_differ_from_the_main_process() -> None:
    handle = Part("loader.dataset.file", "TextIOWrapper")
    answer = asked(
        "items survive", "fork", observed(LOADED, Compared(3, 2, 0, ("[1]",)), Done()), Contents(handles=(handle,))
    )
    assert (answer.verdict, answer.rule) == (Verdict.FAILS, "DLL106")


@pytest.mark.parametrize(("name", "rule"), [("fork", ""), ("spawn", "DLL609"), ("forkserver", "DLL609")])
def test_batches_that_differ_without_a_handle(name: str, rule: str) -> None:
    answer = asked("items survive", name, observed(LOADED, Compared(3, 2, 0, ("[1]",)), Done()), Contents())
    assert (answer.verdict, answer.rule) == (Verdict.FAILS, rule)


def test_the_state_that_workers_do_not_have_is_named() -> None:
    size, mean = Variable("config.py", "SIZE", "a", "64"), Variable("config.py", "MEAN", "c", "0.5")
    told = State(-1, (size, mean)), State(0, (Variable("config.py", "SIZE", "b", "224"), mean))
    answer = asked("items survive", "spawn", observed(LOADED, *told, Compared(0, 2, 0, ("[0]", "[1]")), Done()))
    assert answer.text.endswith("[0]; [1]")
    assert [(part.path, part.what) for part in answer.parts] == [
        ("config.py: SIZE", "64 in the main process, 224 in workers")
    ]


def test_what_differs_between_fork_and_spawn_is_compared() -> None:
    same, other = Answer("items survive", Verdict.OK), Answer("items survive", Verdict.FAILS, "2 batches differ: [0]")
    methods = Method("fork", True, (same,)), Method("spawn", True, (other,))
    report = Report(dllint="", target="", platform="", methods=methods)
    assert "    data, fork and spawn: 2 batches differ: [0]\n" in compare.render(report, report)
    handle = Report(dllint="", target="", platform="", methods=(Method("fork", True, (other,)), methods[1]))
    assert "data," not in compare.render(handle, handle)


@pytest.mark.parametrize(
    ("name", "last", "holders", "verdict", "rule"),
    [
        ("fork", 150.0, (NAMES,), Verdict.WARNS, "DLL201"),
        ("fork", 12.0, (NAMES,), Verdict.OK, ""),
        ("spawn", 12.0, (NAMES,), Verdict.WARNS, "DLL201"),
        ("spawn", 12.0, (), Verdict.OK, ""),
        ("fork", 18.0, (), Verdict.OK, ""),
        ("fork", 40.0, (), Verdict.UNKNOWN, ""),
        ("fork", 150.0, (), Verdict.WARNS, ""),
    ],
)
def test_memory(name: str, last: float, holders: tuple[Part, ...], verdict: Verdict, rule: str) -> None:
    samples = (sample(0, 100, 10, 10), sample(1000, 100, last, last))
    answer = asked("memory", name, observed(LOADED, *samples, Done()), Contents(holders=holders))
    assert (answer.verdict, answer.rule) == (verdict, rule)


def test_a_short_run_that_grows_fast_is_not_ok() -> None:
    samples = (sample(0, 100, 10, 10), sample(300, 100, 19, 19))
    answer = asked("memory", "fork", observed(LOADED, *samples, Done()), Contents())
    assert answer.verdict is Verdict.UNKNOWN
    assert "+30 MB a worker per 1,000 items: too few were read" in answer.text


@pytest.mark.parametrize(
    ("question", "verdict"), [("memory", "not reproduced"), ("shipped objects pickle", "confirmed")]
)
def test_only_what_a_rule_predicts_confirms_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, verdict: str
) -> None:
    """Memory that grows at the line of a lambda says nothing of pickling."""
    (tmp_path / "dllint.toml").touch()
    (tmp_path / "words.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    part = Part("loader.dataset.counts", "defaultdict", (Place("words.py", 8),))
    methods = (
        Method("fork", True, (Answer(question, Verdict.WARNS, "grows", "", (part,)),)),
        Method("spawn", True, (Answer("loads", Verdict.OK),)),
    )
    made = LOADED.__class__(
        "torch.utils.data.DataLoader", "W", False, 3, 1, 2, "", (Place("words.py", 18),), "3.11", "2"
    )
    report = Report(dllint="1", target="words:loader", platform="", loaded=made, methods=methods, contents=Contents())
    (checked,) = against.against(report).checked
    assert (checked.code, checked.verdict) == ("DLL101", verdict)


def test_growth_is_per_worker_and_thousand_items() -> None:
    method = Method("fork", True, (), (sample(0, 100, 10, 20), sample(2000, 100, 30, 40)))
    assert method.growth() == pytest.approx(10)
    assert Method("fork", True, (), (sample(0, 100, 10), sample(10, 100, 30))).growth() is None


# Reports.


def report(total: float = 100.0, verdict: Verdict = Verdict.FAILS, used: bool = True) -> Report:
    samples = (sample(0, 50, 25, 25), sample(2000, 50, total / 2 - 25, total / 2 - 25))
    answer = Answer("reads", verdict, "ValueError: no", places=(Place("data.py", 3),))
    method = Method("fork", used, (answer,), samples, 2000, 1.0, 0.5, 0.1, 2.0, 1.5)
    speed = (Speed(0, 10.0), Speed(2, 20.0))
    return Report(
        dllint="1",
        target="data:loader",
        platform="Linux",
        loaded=LOADED,
        methods=(method,),
        speed=speed,
        speed_method="fork",
    )


def test_json_and_back() -> None:
    assert decode(encode(report())) == report()


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", encode(report()).replace(b'"version": 1', b'"version": 7')])
def test_what_is_no_report_is_refused(data: bytes) -> None:
    with pytest.raises(NotAReport):
        decode(data)


def test_only_what_is_used_counts_as_failed() -> None:
    assert report().failed
    assert not report(used=False).failed
    assert not report(verdict=Verdict.WARNS).failed


def test_text_tells_what_failed_and_the_figures() -> None:
    told = text.render(report(total=300), Paint(False))
    assert "data:loader: DataLoader over data.Names with 100 items; 2 workers, batches of 10" in told
    assert "reads under fork: ValueError: no\n    at data.py:3\n" in told
    assert "memory in all, MB (PSS)               100 -> 300" in told
    assert "    0: 10.0   2: 20.0" in told
    assert all(len(line) < 130 for line in told.splitlines())


def test_what_was_printed_cannot_harm_a_terminal() -> None:
    answer = Answer("loads", Verdict.FAILS, "the process exited with status 1")
    method = Method("fork", True, (answer,), output="\x1b[2Jgone\x07\n")
    told = text.render(Report(dllint="1", target="a:b", platform="", methods=(method,)), Paint(False))
    assert "gone" in told
    assert "\x1b" not in told
    assert "\x07" not in told


def test_two_reports_compared() -> None:
    told = compare.render(report(total=300), report(total=150, verdict=Verdict.OK))
    assert "    fork: reads: fails -> ok\n" in told
    assert "    fork: memory in all: 300 -> 150 MB (-50 %)" in told
    assert "memory" not in compare.render(Report(dllint="1", target="a:b", platform=""), report())


# Messages.


def test_messages_arrive_whole_and_once(tmp_path: Path) -> None:
    reader = Reader(str(tmp_path))
    Log(str(tmp_path), "main").tell(Stage("load"), Stage("read"))
    with (tmp_path / "main.jsonl").open("ab") as stream:
        stream.write(b'not json\n{"type":"Unheard"}\n{"type":"Stage","na')
    assert reader.new() == [Stage("load"), Stage("read")]
    with (tmp_path / "main.jsonl").open("ab") as stream:
        stream.write(b'me":"end"}\n')
    assert reader.new() == [Stage("end")]
    assert reader.new() == []


# Pictures.


def test_axes_end_at_round_figures() -> None:
    assert plot.steps(1557) == [0, 500, 1000, 1500, 2000]
    assert plot.steps(100) == [0, 20, 40, 60, 80, 100]
    assert plot.steps(0)[0] == 0


def test_a_picture_is_well_formed_and_its_labels_apart() -> None:
    curves = plot.lines(report(300), report(301)) + plot.lines(report(299), report(298))
    root = ElementTree.fromstring(plot.svg(curves, "names & <numbers>"))
    space = "{http://www.w3.org/2000/svg}"
    assert [line.get("stroke-dasharray") is not None for line in root.iter(f"{space}polyline")] == [True, False] * 2
    labels = sorted(float(label.get("y", "0")) for label in root.iter(f"{space}text") if "fork" in (label.text or ""))
    assert len(labels) == 4
    assert min(below - above for above, below in pairwise(labels)) > 14
    assert max(labels) < plot.HEIGHT


def test_a_plot_in_a_terminal() -> None:
    told = list(plot.terminal(plot.lines(report(300)), columns=40, rows=6))
    assert told[0].startswith("400 |")
    assert told[-1].endswith("--- fork: 100 -> 300 MB")
    assert all(len(line) <= 60 for line in told)


# The command line.


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["loaders"],
        ["loaders:"],
        ["loaders:a b"],
        ["loaders:train", "--plot", "memory.pdf"],
        ["loaders:train", "--scaling", "two"],
        ["loaders:train", "--start-method", "thread"],
        ["loaders:train", "--compare", "missing.json"],
    ],
)
def test_wrong_usage_is_told_before_anything_runs(arguments: list[str]) -> None:
    done = CliRunner().invoke(cli, ["probe", *arguments])
    assert done.exit_code == 2
    assert "dllint probe runs code" not in done.output


def test_what_a_program_says_is_text() -> None:
    told = "\x1b]0;title\x07\u202e\n::stop-commands::x"
    answer = Answer("pickles", Verdict.FAILS, told, places=(Place("a\x9b2J.py", 1),))
    method = Method("fork", True, (answer,), output="\x1b[2J exited")
    hostile = Report(dllint="1", target="a\x1b.py:b", platform="", methods=(method,))
    rendered = text.render(text.harmless(hostile), Paint(False))
    assert "title" in rendered
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*rendered}
    assert not any(line.lstrip().startswith("::") for line in rendered.splitlines())
    assert text.harmless(report()) == report(), "and nothing else changes"
