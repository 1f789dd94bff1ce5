"""What knowledge can say of a loader: when its workers are processes, what it defaults to, what its attributes are."""

from __future__ import annotations

import pytest

from dllint.collect import collect
from dllint.knowledge import Boundary
from dllint.project import Project, Targets
from dllint.project.data.growth import Growth
from dllint.project.evaluate.abstract_values import Func
from dllint.source import Source

DATASET = """
import company

class Words:
    def __init__(self):
        self.clean = lambda word: word

    def __getitem__(self, index):
        return self.clean(index)

"""
LOADER = Boundary(
    ("dataset", "method"),
    ("dataset",),
    workers="processes",
    processes_when={"method": ("process", "fork")},
    defaults={"processes": 4, "method": "thread"},
    attributes={"source": "dataset"},
)


def project(program: str, known: Boundary = LOADER) -> Project:
    source = Source.from_bytes("program.py", (DATASET + program).encode())
    return Project({"program.py": collect(source)}, Targets(loaders={"company.Loader": known}), lambda _: source)


@pytest.mark.parametrize(
    ("call", "workers"),
    [
        ("company.Loader(Words(), 'process')", ["some"]),
        ("company.Loader(Words(), method='fork', processes=2)", ["some"]),
        ("company.Loader(Words(), method='process', processes=0)", ["none"]),
        ("company.Loader(Words(), 'thread')", []),
        ("company.Loader(Words())", []),
        ("company.Loader(Words(), method=input())", ["unknown"]),
        ("company.Loader(Words(), method='process' if input() else 'thread')", ["unknown"]),
        ("company.Loader(Words(), **eval(input()))", ["unknown"]),
    ],
)
def test_workers_are_processes_only_under_the_conditions(call: str, workers: list[str]) -> None:
    found = project(f"loader = {call}\n")
    assert [loader.workers.value for loader in found.loaders] == workers
    assert any("Words.clean" in str(held.route) or held.holder.name == "clean" for held in found.shipped) == (
        bool(workers) and workers != ["none"]
    )


@pytest.mark.parametrize(("method", "workers"), [("'thread'", []), ("'process'", ["some"]), ("input()", ["unknown"])])
def test_subclasses_and_partials_are_asked_the_same(method: str, workers: list[str]) -> None:
    subclass = "class Own(company.Loader):\n    def __init__(self, data, method):\n"
    subclass += "        super().__init__(data, method=method)\n\n"
    partial = f"import functools\n\nmake = functools.partial(company.Loader, method={method})\nloader = make(Words())\n"
    for program in (f"{subclass}\nloader = Own(Words(), {method})\n", partial):
        assert [loader.workers.value for loader in project(program).loaders] == workers


def test_without_conditions_the_default_number_counts() -> None:
    loaders = project("loader = company.Loader(Words())\n", LOADER._replace(processes_when={})).loaders
    assert [loader.workers.value for loader in loaders] == ["some"]


@pytest.mark.parametrize("attribute", ["source", "dataset"])
def test_an_attribute_is_what_the_loader_was_given(attribute: str) -> None:
    found = project(
        "from torch.utils.data import DataLoader\n\n"
        f"first = company.Loader(Words())\nsecond = DataLoader(first.{attribute}, num_workers=2)\n"
    )
    assert [loader.name for loader in found.loaders] == ["DataLoader"]
    assert "clean" in {held.holder.name for held in found.shipped}


@pytest.mark.parametrize("package", ["catalyst.utils", "catalyst.dl.utils"])
@pytest.mark.parametrize(("workers", "shipped"), [("", 2), (", num_workers=0", 0)])
def test_catalyst_makes_the_dataset_itself(package: str, workers: str, shipped: int) -> None:
    program = (
        f"from {package} import get_loader\nget_loader([1], lambda row: row, dict_transform=Words().clean{workers})"
    )
    found = project(program)
    lambdas = [held for held in found.shipped if held.holder.kind == "argument" and held.value.__class__ is Func]
    assert len(lambdas) == shipped


MAKING = "def made({0}):\n    chosen = {0}\n    return chosen([1], num_workers=2)\n"
LOADER_CLASS = """\
from torch.utils.data import DataLoader
from other import *

class Loader(DataLoader):
    @classmethod
    def make(cls):
        {}

Loader.make()
"""
OWN_CLASS = [
    ("kind = cls\n        return kind([1], num_workers=2)", ""),
    ("return made(maker=cls)", MAKING.format("maker")),
    ("return made(cls=cls)", MAKING.format("cls")),
    ("return made(cls)", "def made(cls):\n    return cls([1], num_workers=2)\n"),
    (
        "return Kept(cls).made()",
        "class Kept:\n    def __init__(self, cls):\n        self.cls = cls\n"
        "    def made(self):\n        return self.cls([1], num_workers=2)\n",
    ),
]


def project_of(**texts: str) -> Project:
    sources = {f"{name}.py": Source(f"{name}.py", text) for name, text in texts.items()}
    return Project({path: collect(source) for path, source in sources.items()}, Targets(), lambda path: sources[path])


@pytest.mark.parametrize(("body", "other"), OWN_CLASS)
def test_a_loader_is_known_under_the_names_that_its_class_gets(body: str, other: str) -> None:
    (loader,) = project_of(main=LOADER_CLASS.format(body), other=other).loaders
    assert loader.name == "Loader"


def test_the_names_of_another_class_mean_no_loader() -> None:
    other = (
        "class Found:\n    def __init__(self):\n        self.cls = dict(a=1)\n"
        "    @classmethod\n    def found(cls, match):\n        current = cls\n        end = current\n"
        "        return match.end(), end()\n    def run(self, x):\n        return self.cls(x)\n"
        "def remade(cls):\n    return cls([1])\n"
    )
    found = project_of(main=LOADER_CLASS.format("return cls([1], num_workers=2)"), other=other)
    assert found.boundaries.names.isdisjoint({"current", "end"})
    assert {site.module.path for site in found.boundaries._sites} == {"main.py"}


def test_what_a_configured_loader_yields_comes_from_data() -> None:
    made = project("for row in company.Loader(Words()):\n    kept = row\n")
    module = made.index.modules["program.py"]
    row = next(event for event in module.model.events if event.kind == "assign" and event.value.name == "row")
    values = made.evaluator.values(row.value, made.evaluator.generic(module, -1))
    assert values and all(map(made.analysis(Growth).from_data, values))
