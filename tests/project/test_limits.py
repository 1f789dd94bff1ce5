"""Limits: what is beyond one depends on no order, is never certain, and `--why` names the one that was met."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from dllint_rules.correctness.dll609_state_only_in_main import StateOnlyInMain
from dllint_rules.lifetime.analysis.restarts import Restarts
from dllint_rules.pickling.dll103_lambda_to_loader import LambdaToLoader
from dllint_rules.start.dll301_missing_main_guard import MissingMainGuard

from dllint import Certainty, Project
from dllint.collect import collect
from dllint.project.escape import shipped
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import MANY_RESULTS
from dllint.project.execution import call_graph, own_code
from dllint.project.loaders import told_apart
from dllint.project.loaders.told_apart import MAX_CONTEXTS, MAX_GIVEN
from dllint.project.program.carried import MAX_PLACES
from dllint.project.why import why
from dllint.source import Source
from dllint.targets import Targets

MAKER = """from torch.utils.data import DataLoader


def plain(batch):
    return batch


def make(collate):
    return DataLoader(range(4), num_workers=2, collate_fn=collate)


"""
WRAPPER = """def wrap(collate):
    return make(collate)


"""
GIVES_BACK = """from torch.utils.data import DataLoader


def plain(batch):
    return batch


def make(collate):
    return collate


def wrap(collate):
    return make(collate)


"""
TRAINS = """from torch.utils.data import DataLoader


def train():
    for batch in DataLoader(range(4), num_workers=2):
        print(batch)
"""
LOADER = "DataLoader(range(4), num_workers=2, collate_fn=wrap({}))"


def project(*files: str) -> Project:
    sources = {f"m{number}.py": Source(f"m{number}.py", text) for number, text in enumerate(files)}
    return Project({name: collect(source) for name, source in sources.items()}, Targets(), sources.__getitem__)


def callers(arguments: Iterable[str], call: str) -> str:
    return "\n\n".join(f"def build{n}():\n    return {call.format(item)}\n" for n, item in enumerate(arguments))


def said(found: Project, text: str) -> list[str]:
    """The reasons for the one line of the first file that has a text."""
    row, *_ = (row for row, line in enumerate(found.source("m0.py").text.splitlines(), 1) if text in line)
    return why(found, "m0.py", row, str)


@pytest.mark.parametrize("others", [3, MAX_CONTEXTS - 1, MAX_CONTEXTS, 3 * MAX_CONTEXTS, 2 * MAX_GIVEN])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    ("text", "call"),
    [(MAKER, "make({})"), (MAKER + WRAPPER, "wrap({})"), (GIVES_BACK, LOADER)],
    ids=["made there", "made two calls away", "given back"],
)
def test_the_lambda_of_one_of_many_callers_is_found(text: str, call: str, others: int, last: bool) -> None:
    given = ["plain"] * others
    given.insert(others if last else 0, "lambda batch: batch")
    found = project(text + callers(given, call))
    assert [finding.certainty for finding in LambdaToLoader().check(found)] == [Certainty.CERTAIN]


def test_a_call_among_many_gets_back_what_it_passes_alone() -> None:
    given = ["plain"] * (2 * MAX_CONTEXTS)
    text = f"{GIVES_BACK}other = wrap(lambda batch: batch)\n\n\n{callers(given, LOADER)}"
    assert not [*LambdaToLoader().check(project(text))]


def test_different_things_are_told_apart_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told_apart, "MAX_CONTEXTS", 3)
    monkeypatch.setattr(told_apart, "MAX_GIVEN", 5)
    lines = [f"lambda batch: batch[:{size}]" for size in range(70)]
    few, many = (project(MAKER + callers(lines[:count], "make({})")) for count in (5, 70))
    assert len([*LambdaToLoader().check(few)]) == 5
    assert not [*LambdaToLoader().check(many)]
    limit = "the calls of `make` give it more than 5 different things"
    assert any(limit in line for line in said(many, "num_workers=2"))
    assert said(many, "batch[:69]") == [f"`lambda` is given to `make(...)`: {limit}"]
    assert not any("more than" in line for line in said(few, "num_workers=2"))


def test_many_calls_with_any_number_of_arguments_are_not_told_apart() -> None:
    made = "def made(*collate):\n    return make(collate[0])\n\n\n"
    few, many = (project(MAKER + made + callers(["lambda b: b"] * count, "made({})")) for count in (5, 65))
    assert len([*LambdaToLoader().check(few)]) == 5
    assert not [*LambdaToLoader().check(many)]
    assert any("more than 64 calls give `made` any number of arguments" in line for line in said(many, "num_workers=2"))


def test_a_parameter_of_too_many_calls_is_told_as_such() -> None:
    text = MAKER + (
        "class Kept:\n    def __init__(self, collate):\n        self.collate = collate\n\n\n"
        "def through(collate):\n    return Kept(collate)\n\n\n"
        "loader = DataLoader(range(4), num_workers=1, collate_fn=through(plain).collate)\n\n\n"
    )
    found = project(text + callers(["lambda batch: batch"] * 70, "through({})"))
    (told,) = (line for line in said(found, "num_workers=1") if "`collate_fn`" in line)
    assert told.endswith("could not be followed: more than 64 calls may mean `through`, so they are not told apart")


def test_calls_of_values_that_are_too_many_to_follow_are_told_as_such() -> None:
    table = MAKER + "table = [make]\n\n\n"
    few, many = (project(table + callers(["lambda batch: batch"] * count, "table[0]({})")) for count in (64, 65))
    assert len([*LambdaToLoader().check(few)]) == 64
    assert not [*LambdaToLoader().check(many)]
    limit = "more than 64 calls of values may run `make`, so they are not followed"
    assert any(line.endswith(f"could not be followed: {limit}") for line in said(many, "num_workers=2"))
    assert f"`lambda` is given to `table[0](...)`: {limit}" in why(many, "m0.py", 16, str)
    assert not any("more than" in line for line in said(few, "num_workers=2"))


def test_what_one_call_passes_is_not_certain_beside_calls_that_are_not_followed() -> None:
    text = (
        "from torch.utils.data import DataLoader\n\n\n"
        "def plain(batch):\n    return batch\n\n\n"
        "class Kept:\n    pass\n\n\nkept = Kept()\n\n\n"
        "def fill(collate):\n    kept.collate = collate\n\n\ntable = [fill]\nfill(lambda batch: batch)\n"
        "loader = DataLoader(range(4), num_workers=1, collate_fn=kept.collate)\n\n\n"
    )
    alone, among = (project(text + callers(["plain"] * count, "table[0]({})")) for count in (0, 65))
    assert [finding.certainty for finding in LambdaToLoader().check(alone)] == [Certainty.CERTAIN]
    assert [finding.certainty for finding in LambdaToLoader().check(among)] == [Certainty.LIKELY]


KEEPS = """from torch.utils.data import DataLoader


class Kept:
    pass


kept = Kept()


def fill(collate):
    kept.collate = collate


fill(lambda batch: batch)
loader = DataLoader(range(4), num_workers=1, collate_fn=kept.collate)


"""


@pytest.mark.parametrize("many", [False, True])
def test_what_is_passed_to_one_of_too_many_functions_may_be_called_there(many: bool) -> None:
    kinds = "".join(f"class Kind{n}:\n    def add(self, job):\n        pass\n\n\n" for n in range(8 + many))
    found = project(f"{KEEPS}{kinds}Kind0().add(fill)\n")
    expected = Certainty.LIKELY if many else Certainty.CERTAIN
    assert [finding.certainty for finding in LambdaToLoader().check(found)] == [expected]
    module = found.evaluator.index.modules["m0.py"]
    limit = "`fill` is passed to `add`, a name that more than 8 functions have, so not all of its calls are known"
    assert found.evaluator.carried.limit(module, 0) == limit * many


@pytest.mark.parametrize("many", [False, True])
def test_what_is_returned_by_too_many_functions_may_be_called_there(many: bool) -> None:
    makers = "".join(f"def back{n + 1}():\n    return back{n}\n\n\n" for n in range(2 + many))
    found = project(f"{KEEPS}def back0():\n    return fill\n\n\n{makers}")
    expected = Certainty.LIKELY if many else Certainty.CERTAIN
    assert [finding.certainty for finding in LambdaToLoader().check(found)] == [expected]


@pytest.mark.parametrize("others", [3, 80])
def test_what_calls_that_are_not_told_apart_start_is_what_they_surely_start(others: int) -> None:
    text = (
        "from torch.utils.data import DataLoader\n\n\n"
        "def job(flag):\n    if flag:\n        for _ in DataLoader(range(4), num_workers=2):\n            pass\n\n\n"
        + "".join(f"def run{n}():\n    job({n % 2})\n\n\n" for n in range(others))
        + "def main():\n    job(0)\n"
    )
    found = project(text)
    module = found.evaluator.index.modules["m0.py"]
    assert not found.loader_starts.of(module, module.model.functions[-1].index)


STATE = """from torch.utils.data import DataLoader, Dataset

scale = 1


class Rows(Dataset):
    def __getitem__(self, index):
        return index * scale

    def __len__(self):
        return 4


def launch(job):
    job()


def setup():
    global scale
    scale = 2


if __name__ == "__main__":
    {start}
    list(DataLoader(Rows(), num_workers=2))
"""


@pytest.mark.parametrize("start", ["setup()", "launch(setup)", "print(setup, launch(setup))"])
def test_what_is_handed_over_is_as_sure_as_the_code_that_does(start: str) -> None:
    surely, perhaps = (project(STATE.format(start=f"{test}{start}")) for test in ("", "if input(): "))
    assert [finding.certainty for finding in StateOnlyInMain().check(surely)] == [Certainty.CERTAIN]
    assert [finding.certainty for finding in StateOnlyInMain().check(perhaps)] == [Certainty.LIKELY]


def near_and_far(backwards: bool) -> tuple[str, str]:
    """Functions of which six call another one each, and the calls of the six."""
    numbers = range(6)[:: -1 if backwards else 1]
    functions = "\n\n\n".join(f"def near{n}():\n    far{n}()\n\n\ndef far{n}():\n    pass" for n in numbers)
    return functions, "; ".join(f"near{n}()" for n in numbers)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_scripts_own_code_ends_with_all_that_is_equally_near(
    monkeypatch: pytest.MonkeyPatch, backwards: bool
) -> None:
    monkeypatch.setattr(own_code, "MAX_FUNCTIONS", 4)
    functions, calls = near_and_far(backwards)
    found = project(f'{functions}\n\n\nif __name__ == "__main__":\n    {calls}\n')
    (module,) = found.index
    running = [item for item in found.own_codes.of(module).running if item.env.function >= 0]
    assert {item.env.facts.name for item in running} == {f"near{n}" for n in range(6)}
    assert all(item.truncated is call_graph.TOO_MANY_FUNCTIONS for item in running)


CODE = """from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __getitem__(self, index):
        {calls}
        return index

    def __len__(self):
        return 4


{functions}


list(DataLoader(Rows(), num_workers=2))
"""


@pytest.mark.parametrize("backwards", [False, True])
def test_a_walk_over_code_ends_with_all_that_are_equally_near(monkeypatch: pytest.MonkeyPatch, backwards: bool) -> None:
    monkeypatch.setattr(call_graph, "MAX_FUNCTIONS", 4)
    functions, calls = near_and_far(backwards)
    found = project(CODE.format(calls=calls, functions=functions))
    names = {running.env.facts.name: running for running in found.running}
    assert names.keys() >= {f"near{n}" for n in range(6)} and not names.keys() & {f"far{n}" for n in range(6)}
    assert {running.certainty for name, running in names.items() if name != "__getitem__"} == {Certainty.LIKELY}
    assert any("the walk has come to 3000 functions: nothing" in line for line in said(found, "    far3()"))


@pytest.mark.parametrize("backwards", [False, True])
def test_what_a_loader_ships_ends_with_all_that_is_equally_near(
    monkeypatch: pytest.MonkeyPatch, backwards: bool
) -> None:
    monkeypatch.setattr(shipped, "MAX_VISITED", 6)
    numbers = list(range(6))[:: -1 if backwards else 1]
    kept = "\n".join(f"        self.kept{n} = Kept(lambda: [{n}])" for n in numbers)
    text = (
        "from torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Kept:\n    def __init__(self, made):\n        self.made = made\n\n\n"
        f"class Rows(Dataset):\n    def __init__(self):\n{kept}\n\n    def __getitem__(self, index):\n"
        "        return index\n\n\nlist(DataLoader(Rows(), num_workers=2))\n"
    )
    found = project(text)
    held = {found.text(held.path, held.span): held for held in found.shipped}
    assert {f"Kept(lambda: [{n}])" for n in range(6)} <= held.keys()
    assert not [text for text in held if text.startswith("lambda")]
    assert any("the walk has come to 4000 values" in line for line in said(found, "self.kept3"))


NESTED = """from torch.utils.data import DataLoader, Dataset


class Kept:
    def __init__(self, inner):
        self.inner = inner


class Rows(Dataset):
    def __init__(self, long, short):
        {writes}

    def __getitem__(self, index):
        return index


kept = Kept([Kept([lambda: 0])])
far = Kept({far})
list(DataLoader(Rows({long}, kept), num_workers=2))
"""
LONG, SHORT = "self.a = long", "self.b = short"


def lambdas(found: Project) -> dict[str, Held]:
    return {text: held for held in found.shipped if (text := found.text(held.path, held.span)).startswith("lambda")}


@pytest.mark.parametrize("writes", [(LONG, SHORT), (SHORT, LONG)])
def test_what_is_near_by_one_way_is_reached_by_it(writes: tuple[str, str]) -> None:
    """The steps of the other way are too many for what `kept` holds."""
    long = "Kept(" * 57 + "kept" + ")" * 57
    found = project(NESTED.format(writes="; ".join(writes), far="0", long=long))
    held = lambdas(found)["lambda: 0"]
    assert held.surely is Certainty.CERTAIN and len(held.route) < 8


@pytest.mark.parametrize("writes", [(LONG, SHORT), (SHORT, LONG)])
def test_what_only_a_way_of_too_many_steps_leads_to_is_told_as_such(writes: tuple[str, str]) -> None:
    long = "Kept(" * 59 + "far" + ")" * 59
    found = project(NESTED.format(writes="; ".join(writes), far="lambda: 1", long=long))
    assert lambdas(found).keys() == {"lambda: 0"}
    assert "`Kept(lambda: 1)`: what it holds is not followed, as the shortest way to it has 60 steps" in said(
        found, "far = Kept"
    )
    assert not any("60 steps" in line for line in said(found, "lambda: 0"))


@pytest.mark.parametrize("sure", [False, True])
def test_a_long_way_that_is_sure_hides_nothing_of_a_short_one(sure: bool) -> None:
    long = "Kept(" * 57 + "kept" + ")" * 57
    text = NESTED.format(writes=f"{LONG}; {SHORT}", far="0", long=long)
    found = project(text if sure else text.replace(SHORT, "self.b = short if input() else None"))
    assert lambdas(found).keys() == {"lambda: 0"}


@pytest.mark.parametrize("writes", [("self.call = other.call", "self.kept = [[other]]")[::step] for step in (1, -1)])
def test_a_bound_method_takes_nothing_along_that_goes_without_it(writes: tuple[str, str]) -> None:
    text = (
        "from torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Other:\n    def call(self):\n        pass\n\n\n"
        f"class Rows(Dataset):\n    def __init__(self, other):\n        {'; '.join(writes)}\n\n"
        "    def __getitem__(self, index):\n        return index\n\n\n"
        "list(DataLoader(Rows(Other()), num_workers=2))\n"
    )
    found = project(text)
    (other,) = (held for held in found.shipped if found.text(held.path, held.span) == "Other()")
    assert other.method is None


PARTS = """import texts


def read(lines):
    for line in lines:
        line, field = line.rstrip().rsplit(" ", 1)
        if field == "#over":
            line, field = line.rsplit(" ", 1)
        elif field == "#more":
            line, field = line.rsplit(" ", 1)
        print(line, field)


read(texts.one().readlines())
read(texts.two().readlines())
"""


@pytest.mark.parametrize("seed", range(5))
def test_results_of_libraries_that_are_too_many_are_those_of_any_order(seed: int) -> None:
    """Each part is taken of parts; where too many are not told apart, fewer come back, and would be told apart."""
    found = project(PARTS)
    (module,) = found.index
    env = found.evaluator.generic(module, 0)
    asked = [
        part for event in module.events(0) if event.value for part in event.value.walk() if part.kind != "constant"
    ]
    random.Random(seed).shuffle(asked)
    for expr in asked:
        found.values(expr, env)
    (printed,) = (site.expr for site in module.calls["print"])
    assert [found.values(arg, env) for arg in printed.args[1:]] == [(MANY_RESULTS,)] * 2
    assert not found.evaluator.fixpoint.given_up


@pytest.mark.parametrize("readers", [0, MAX_PLACES + 1])
def test_a_name_that_goes_to_many_places_is_no_call_of_what_users_call(readers: int) -> None:
    rows = "class Rows:\n    def loader(self, **options):\n"
    rows += "        return DataLoader(range(4), collate_fn=lambda batch: batch, **options)\n\n\n"
    use = "def use{0}(given):\n    kept{0} = given.loader\n    return [kept{0}]\n\n\n"
    uses = "".join(use.format(n) for n in range(readers))
    found = project(f"from torch.utils.data import DataLoader\n\n\n{rows}{uses}")
    assert [finding.certainty for finding in LambdaToLoader().check(found)] == [Certainty.LIKELY]


@pytest.mark.parametrize(("folders", "modules", "found"), [(20, 4, 1), (60, 4, 0), (1, 60, 1)])
def test_a_text_that_may_name_many_modules_names_those_of_its_package(folders: int, modules: int, found: int) -> None:
    packages = [f"models/m{number}" for number in range(folders)]
    files = {f"{package}/part{part}.py": "" for package in packages for part in range(modules)}
    files |= {f"{package}/__init__.py": "from .part0 import train\n" for package in packages}
    files |= {f"{package}/part0.py": TRAINS for package in packages}
    files["main.py"] = "import importlib, sys\nimportlib.import_module(f'models.{sys.argv[1]}').train()\n"
    sources = {path: Source(path, text) for path, text in files.items()}
    whole = Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)
    assert len(list(MissingMainGuard().check(whole))) == found


@pytest.mark.parametrize("steps", [5, 80])
def test_calls_before_a_loop_hide_no_loader(steps: int) -> None:
    """What runs on the way is no matter, neither for what starts workers nor for whether a loop is an epoch."""
    calls = "\n".join(f"    step_{n}()" for n in range(steps))
    train = f"def train(loader):\n{calls}\n    go_over(loader)\n\n"
    others = "def go_over(loader):\n    for batch in loader:\n        pass\n\n"
    others += "".join(f"def step_{n}():\n    pass\n\n" for n in range(steps))
    program = "from torch.utils.data import DataLoader\n\n" + others + train
    main = "def main():\n    loader = DataLoader(range(4), num_workers=2)\n    train(loader)\n"
    found = project(program + main)
    module = found.evaluator.index.modules["m0.py"]
    (started,) = found.loader_starts.of(module, module.model.functions[-1].index)
    assert started[1].span == found.loaders[0].span
    looks = "    for step in range(4):\n        first = next(iter(loader))\n        train(loader)\n"
    program += main.replace("    train(loader)\n", looks)
    assert not list(Restarts(project(program)).restarts())
    assert list(Restarts(project(program.replace("        train(loader)\n", ""))).restarts())


def test_the_semantics_name_every_limit() -> None:
    rooms = Path(__file__).parent.parent.parent / "dllint" / "project"
    rows = (rooms / "evaluate" / "SEMANTICS.md").read_text(encoding="utf-8").split("\n| ")
    limits = {
        (name, file.stem)
        for file in rooms.rglob("*.py")
        for name in re.findall(r"^(_?MAX_\w+)\b.*=", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(limits) > 30
    assert {limit for limit in limits if not any(all(f"`{part}`" in row for part in limit) for row in rows)} == set()
