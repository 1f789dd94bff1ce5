"""Which files may be parts of one program, and what annotations rule out: what nobody has to follow."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dllint.collect import collect
from dllint.documents.settings import collect as collect_settings
from dllint.project import Project, Targets
from dllint.project.evaluate.abstract_values import Ext, Func, Klass
from dllint.project.evaluate.annotations import Annotations
from dllint.project.program.programs import Programs
from dllint.source import Source

A, B = "a/train.py", "b/words.py"


def project(files: Mapping[str, str], targets: Targets | None = None) -> Project:
    sources = {path: Source.from_bytes(path, text.encode()) for path, text in files.items()}
    models = {path: (collect_settings if path.endswith(".yaml") else collect)(item) for path, item in sources.items()}
    return Project(models, targets or Targets(), sources.__getitem__)


def share(files: Mapping[str, str], one: str = A, other: str = B) -> bool:
    index = project(files).index
    programs = Programs(index)
    found = programs.share(index.modules[one], index.modules[other])
    assert found == programs.share(index.modules[other], index.modules[one])
    assert (index.modules[other] in programs.sharing(index.modules[one])) == found
    return found


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({A: "", B: ""}, False),
        ({A: "import b.words", B: ""}, True),
        ({A: "def later():\n    from b import words", B: ""}, True),
        ({A: "import c", B: "import c", "c.py": ""}, False),
        ({A: "", B: "", "main.py": "import a.train, b.words"}, True),
        ({A: "", B: "", "main.py": "import x", "x.py": "import a.train, y", "y.py": "import b.words"}, True),
        ({A: "import x.one", B: "", "x/__init__.py": "import b.words", "x/one.py": ""}, True),
        ({A: "import x.one", B: "", "x/__init__.py": "", "x/one.py": "", "x/two.py": "import b.words"}, True),
        ({A: "from x.one import f", B: "", "x/__init__.py": "", "x/one.py": "", "x/two.py": "import b.words"}, False),
    ],
)
def test_programs_are_what_some_file_imports(files: dict[str, str], expected: bool) -> None:
    assert share(files) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("import_module('b.words')", True),
        ("import_module('c.words')", False),
        ("import_module(f'b.{name}')", True),
        ("import_module('b.' + name)", True),
        ("import_module(f'c.{name}')", False),
        ("__import__(name)", False),
        ("__import__(name), 'b.words'", True),
        ("__import__(name), 'b.'", True),
        ("__import__(name), 'on words. b. c'", False),
    ],
)
def test_names_that_are_computed_mean_what_is_written_down(call: str, expected: bool) -> None:
    assert share({A: f"from importlib import import_module\nfound = {call}\n", B: ""}) == expected


@pytest.mark.parametrize("path", ["a/data/words.py", "words.py"])
def test_computed_names_mean_all_of_the_own_folder_and_of_the_top(path: str) -> None:
    assert share({A: "__import__(name)", path: ""}, A, path)
    assert not share({A: "__import__(name)", f"tests/test_{path[-8:]}": ""}, A, f"tests/test_{path[-8:]}")


def test_settings_belong_to_what_makes_their_objects() -> None:
    settings = {"c/conf.yaml": "data:\n  _target_: b.words.Words\n", B: "class Words: pass\n"}
    assert share({A: "import hydra\nhydra.utils.instantiate(config)\n", **settings})
    assert not share({A: "import hydra\n", **settings})


def test_a_file_reaches_what_it_imports() -> None:
    index = project({A: "import b.words", B: "", "c.py": "import a.train"}).index
    programs, files = Programs(index), index.modules
    reached = [(one, other) for one in files for other in files if programs.reaches(files[one], files[other])]
    assert reached == [(A, A), (A, B), (B, B), ("c.py", A), ("c.py", B), ("c.py", "c.py")]


CLASSES = """
from typing import Optional, Protocol, Union
from b.words import Other

class Named(Protocol): pass
class Words: pass
class Long(Words): pass
class Text(str): pass

def use(item{annotation}):
    {before}
    item.size = 1
"""


@pytest.mark.parametrize(
    ("annotation", "excluded"),
    [
        ("", False),
        (": Words", True),
        (": Words = None", True),
        (": 'Words'", True),
        (": 'list[Words]'", False),  # texts are no more than names
        (": Words | None", True),
        (": Optional[Words]", True),
        (": Union[Words, Long]", True),
        (": Union[Words, Other]", False),
        (": Other", False),
        (": int", True),
        (": dict[str, Other]", True),
        (": str", True),
        (": object", False),
        (": Named", False),
        (": unknown", False),
        (": type[Words]", False),
    ],
)
def test_annotations_exclude_other_classes(annotation: str, excluded: bool) -> None:
    files = {A: CLASSES.format(annotation=annotation, before="pass"), B: "class Other: pass\n"}
    assert _excludes(files) == excluded


@pytest.mark.parametrize("before", ["item = make()", "for item in items: pass"])
def test_what_a_name_gets_later_isnt_annotated(before: str) -> None:
    files = {A: CLASSES.format(annotation=": Words", before=before), B: "class Other: pass\n"}
    assert not _excludes(files)


def test_a_class_that_derives_from_what_is_named_is_not_excluded() -> None:
    files = {A: CLASSES.format(annotation=": Words", before="pass"), B: "class Other: pass\n"}
    assert not _excludes(files | {B: "from a.train import Words\nclass Other(Words): pass\n"})


def _excludes(files: dict[str, str]) -> bool:
    found = project(files)
    module, other = found.index.modules[A], found.index.modules[B]
    (function,) = (item.index for item in module.model.functions if item.name == "use")
    (write,) = module.attribute_writes["size"]
    return Annotations(found.evaluator).excludes(write.target.args[0], module, function, other)


def test_calls_of_another_program_or_of_another_class_are_no_callers() -> None:
    job = "class Job:\n    def run(self, path): pass\n"
    files = {
        "jobs.py": job,
        "others.py": job,
        "main.py": "from jobs import Job\nimport others\nJob().run(1)\ndef go(it: others.Job): it.run(2)\n",
        "apart.py": "from others import Job\nJob().run(3)\n",
    }
    found = project(files)
    module = found.index.modules["jobs.py"]
    callers = found.evaluator.call_sites.callers(module, 0)
    assert [(site.module.path, site.expr.args[1].value) for site, _ in callers] == [("main.py", 1)]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ("words.extra = 1", ["extra"]),  # no class has one
        ("words.size = 1", ["size"]),  # its code speaks of it
        ("words.width = 1", []),  # another class's
    ],
)
def test_attributes_set_outside(sets: str, expected: list[str]) -> None:
    files = {
        "words.py": "class Words:\n    def __len__(self): return self.size\n",
        "wide.py": "class Wide:\n    width = size = 0\n",
        "main.py": f"from words import Words\nimport wide\ndef fill(words):\n    {sets}\nfill(Words())\n",
    }
    found = project(files)
    klass = found.evaluator.klass(found.index.modules["words.py"], 0)
    assert isinstance(klass, Klass)
    assert list(found.evaluator.attributes.attributes_set_outside(klass)) == expected


def test_targets_share_an_evaluator_where_names_mean_the_same() -> None:
    one = project({A: ""})
    same, other = Targets(platforms=("linux",)), Targets(src=("a",))
    source = Source.from_bytes(A, b"")
    found = [Project(one.models, targets, lambda _: source, others=[one]) for targets in (same, other)]
    assert [item.evaluator is one.evaluator for item in found] == [True, False]
    assert Project(dict(one.models), same, lambda _: source, others=[one]).evaluator is not one.evaluator


def test_star_imports_are_followed_where_the_name_may_be() -> None:
    parts = {f"all/part{number}.py": f"def f{number}(): pass\n" for number in range(30)}
    stars = "".join(f"from .part{number} import *\n" for number in range(30))
    found = project({"all/__init__.py": stars, "main.py": "from all import *\nf7()\nmissing()\nTensor()\n", **parts})
    names, main = found.evaluator.names, found.index.modules["main.py"]
    (value,) = names.global_name(main, "f7") or ()
    assert isinstance(value, Func)
    assert value.module.path == "all/part7.py"
    assert names.global_name(main, "missing") is names.global_name(main, "Tensor") is None
    asked = [module.path for module, name in names._globals if name in ("missing", "Tensor")]
    assert asked == ["main.py", "main.py"]


def test_star_imports_of_torch_may_bind_classes() -> None:
    files = {"all.py": "from torch.nn import *\n", "main.py": "from all import *\n"}
    found = project(files)
    value = found.evaluator.names.global_name(found.index.modules["main.py"], "Linear")
    assert value == (Ext("torch.nn.Linear"),)
