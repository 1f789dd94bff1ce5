"""Programs that lead back to themselves: following them ends, and soon."""

from __future__ import annotations

import pytest

from dllint import registry
from dllint.collect import collect
from dllint.project import Project
from dllint.project.evaluate import exclusion, own_tests
from dllint.project.evaluate.abstract_values import TOP, Const, Inst, Klass, Opaque, Value
from dllint.project.evaluate.call_sites import MAX_JOINED, MAX_ON_OBJECTS
from dllint.project.evaluate.contents import Contents
from dllint.project.evaluate.exclusion import Known
from dllint.project.evaluate.shapes import MAX_VALUES
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.index import Index
from dllint.project.program.module import Module
from dllint.source import Source
from dllint.targets import Targets

MOST_VALUES = 2_000
"""Expressions that are followed in activations of their own; without bounds they are millions here."""

OPTION = """\
import argparse
from torch.utils.data import DataLoader

class Options:
    def __init__(self, param):
        self.param = param
        self.parser = argparse.ArgumentParser()
        self.parser.add_argument("--num-workers", type=int, default=int(self.param.opt.num_workers))

args = Options(None).parser.parse_args()
loader = DataLoader([], num_workers=args.num_workers)
"""

SEGMENTS = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Segment:
    def __init__(self, samples, rate):
        self._samples = samples
        self._rate = rate

    @classmethod
    def joined(cls, *segments):
        rate = segments[0]._rate
        samples = np.concatenate([segment._samples for segment in segments])
        return cls(samples, rate)

    @classmethod
    def silence(cls, duration, rate):
        return cls(np.zeros(duration), rate)

    def padded(self, duration, sides):
        cls = type(self)
        silence = self.silence(duration, self._rate)
        if sides == "before":
            padded = cls.joined(silence, self)
        elif sides == "after":
            padded = cls.joined(self, silence)
        else:
            padded = cls.joined(silence, self, silence)
        self._samples = padded._samples

    def faster(self, rate):
        self._samples = np.interp(rate, self._samples).astype("float32")

    def cut(self, start, end):
        self._samples = self._samples[start:end]

class Audio(Dataset):
    def __init__(self, path):
        self.segment = Segment.joined(Segment.silence(1, 2), Segment(np.load(path), 1))
        self.segment.padded(1, path)
        self.noise = [self.segment._samples]
    def __len__(self):
        return 1
    def __getitem__(self, index):
        return self.segment._samples

DataLoader(Audio("a"), num_workers=2)
"""

PARTIALS = """\
from functools import partial
from torch.utils.data import DataLoader, Dataset

def cast(value, depth, **options):
    again = partial(cast, depth=depth, **options)
    if depth:
        return again(value.inner)
    return [again(value.first), again(value.second)]

def there(value, key):
    return partial(back, key=key)(value)

def back(value, key):
    return partial(there, key=key)(value.x) or partial(there, key=value)(value.y)

class Columns(Dataset):
    def __init__(self):
        self.cast = cast(self, 3)
        self.there = there(self, 3)
    def __len__(self):
        return 1
    def __getitem__(self, index):
        return self.cast(index), self.there(index)

DataLoader(Columns(), num_workers=2)
"""

CLOSURES = """\
from torch.utils.data import DataLoader, Dataset

def compose(first, second):
    return lambda x: first(second(x))

def power(function, n):
    return function if n == 1 else compose(function, power(compose(function, function), n - 1))

def retried(function):
    def run(x):
        again = retried(run)
        return again(x) or function(x)
    return run

def numeral(n):
    def run(function):
        def inner(x):
            return numeral(lambda h: run(h))(function)(inner)(x)
        return inner
    return run

class Functions(Dataset):
    def __init__(self):
        self.power = power(retried(len), 4)
        self.numeral = numeral(3)
    def __len__(self):
        return 1
    def __getitem__(self, index):
        return self.power(index), self.numeral(self.power)(index)

DataLoader(Functions(), num_workers=2)
"""

MAKERS = """\
from functools import partial
from torch.utils.data import DataLoader, Dataset

class Node:
    def __init__(self, left=None, right=None, parent=None, make=None):
        self.left, self.right, self.parent, self.make = left, right, parent, make
    def grown(self):
        return Node(Node(self, self.right), Node(self.left, self), self, self.grown)
    def wrapped(self):
        return Wrapped(self, partial(self.grown))

class Wrapped:
    def __init__(self, node, make):
        self.node, self.make = node, make
    def again(self):
        return Wrapped(self.make(), partial(self.again)).node.wrapped().again()
    def both(self):
        return Pair(self, self.again())

class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b
    def turned(self):
        return Pair(self.b, Pair(self.b, self.a)).turned()
    def mixed(self):
        return Wrapped(self.turned().a.node, lambda: self.turned().b).both().mixed()

class Trees(Dataset):
    def __init__(self):
        self.tree = Node().grown().wrapped().again().both().turned().mixed()
    def __len__(self):
        return 1
    def __getitem__(self, index):
        return self.tree.a.b.node.left.right.make(index)

DataLoader(Trees(), num_workers=2)
"""

MERGED = """\
from torch.utils.data import DataLoader, Dataset

def merged(batch, extra):
    batch = {**batch, **extra, "a": 1}
    extra = {**extra, **batch, **batch}
    batch.update(extra)
    extra.update(**batch, **extra)
    return {**merged(batch, extra), **merged(extra, batch), **batch}

class Batches(Dataset):
    def __init__(self, options):
        self.options = merged(options, {"b": 2})
    def __len__(self):
        return 1
    def __getitem__(self, index):
        return self.options["a"]

DataLoader(Batches({"a": len}), **merged({"num_workers": 2}, {"batch_size": 4}))
"""

JOINED = (
    """\
from torch.utils.data import DataLoader, Dataset

class Joined(Dataset):
    def __init__(self, first, last, step):
        self.first, self.last, self.step = first, last, step
    def __len__(self):
        return len(self.first) + len(self.last)
    def __getitem__(self, index):
        return self.picked(index)
    def picked(self, index):
        part = self.first if index < len(self.first) else self.last
        item = part.picked(index)
        return self.stepped(item)
    def stepped(self, item):
        return self.step(item)

def same(item):
    return item

"""
    + "".join(f"d{n} = Joined({f'd{n // 2}' if n else 1}, {f'd{n - 1}' if n else 2}, same)\n" for n in range(24))
    + """\
DataLoader(d23, num_workers=2)
"""
)

FAMILY = (
    """\
from torch.utils.data import DataLoader, Dataset

class Model(Dataset):
    def __init__(self, config):
        self.config = config
        self.decoding = BeamDecoding(self, config)
    @classmethod
    def from_config(cls, config):
        if config:
            return cls(config)
        return cls(config=config.inner)
    def changed(self, config):
        self.decoding = BeamDecoding(self, config)
        self.decoding = GreedyDecoding(self, config)
        return type(self).from_config(config)
    def __len__(self):
        return 1
    def __getitem__(self, index):
        return self.decoding.decoded(index)

class Decoding:
    def __init__(self, model, config):
        self.model = model
        self.steps = [BeamStep(self, config), GreedyStep(self, config), Step(self, config)]
    def decoded(self, index):
        return [step.taken(index) for step in self.steps]

class BeamDecoding(Decoding): pass
class GreedyDecoding(Decoding): pass

class Step:
    def __init__(self, decoding, config):
        self.decoding, self.config = decoding, config
        self.follower = Follower(self, config)
    def taken(self, index):
        return self.follower.followed(index, self.config)

class BeamStep(Step): pass
class GreedyStep(Step): pass

class Follower:
    def __init__(self, step, config):
        self.step, self.config = step, config
    def followed(self, index, config):
        return self.step.config, config, index

"""
    + "".join(f"class Model{n}(Model): pass\n" for n in range(40))
    + "".join(f"DataLoader(Model{n}.from_config({n}).changed(1), num_workers=2)\n" for n in range(40))
)

OPERATORS = """\
from torch.utils.data import DataLoader, Dataset

class Term:
    def __init__(self, op, data):
        self.op, self.data = op, data
    def __add__(self, other):
        if self.op == "a":
            return Term("sum", (self, other))
        return other + Term("a", self.data) + other
    def __mul__(self, other):
        if self.op == "b":
            return self.data * other * self
        if self.op == "c":
            return Term("c", other * self) + Term("b", other) * self
        return Term("product", (self, other)) * other + self
    def __sub__(self, other):
        return self + other * Term("minus", 1) - self * other
    def __pow__(self, other):
        return self * Term("power", other) ** other - Term("b", self) ** 2

class Terms(Dataset):
    def __init__(self):
        self.term = Term("a", 1) * Term("b", 2) - Term("c", 3) ** Term("d", 4)
        self.other = self.term.__mul__(self.term) + self.term
    def __len__(self):
        return 1
    def __getitem__(self, index):
        return self.term * self.other ** self.term

DataLoader(Terms(), num_workers=2)
"""


def project(text: str) -> Project:
    source = Source("a.py", text)
    return Project({"a.py": collect(source)}, Targets(), lambda path: source)


def test_an_option_whose_default_is_the_option() -> None:
    (loader,) = project(OPTION).loaders
    assert loader.workers is Workers.UNKNOWN


def test_objects_that_make_objects_of_their_class() -> None:
    found = project(SEGMENTS)
    assert found.shipped and found.running
    assert found.evaluator.size < MOST_VALUES


@pytest.mark.parametrize("text", [PARTIALS, CLOSURES, MAKERS, MERGED], ids=["partials", "closures", "makers", "merged"])
def test_recursion_through_what_is_passed_on(text: str) -> None:
    """No call string bounds these: each partial, closure or object leads to one more of its kind."""
    found = project(text)
    assert found.shipped and found.running
    assert found.evaluator.size < MOST_VALUES


def test_objects_that_classes_of_one_family_make() -> None:
    """Each subclass has objects of its own, and these make others, but not all pairs of them are told apart."""
    found = project(FAMILY)
    assert len(found.loaders) == 40 and found.shipped and found.running
    assert found.evaluator.size < MOST_VALUES


def test_operators_of_one_class() -> None:
    found = project(OPERATORS)
    assert found.shipped and found.running
    assert found.evaluator.size < MOST_VALUES


def test_objects_that_call_each_other() -> None:
    """Objects of one class are told apart, but of the pairs of them only whether one calls itself."""
    evaluator = project(JOINED).evaluator
    (module,) = evaluator.index
    main = evaluator.generic(module, -1)
    objects = [evaluator.values(call.expr, main)[0] for call in module.calls["Joined"]]
    picked = next(function.index for function in module.model.functions if function.name == "picked")
    (first, again) = module.calls["picked"]
    outer = [evaluator.env(module, picked, first.expr, main, receiver) for receiver in objects]
    inner = {evaluator.env(module, picked, again.expr, env, receiver) for env in outer for receiver in objects}
    assert len(set(objects)) == len(set(outer)) == 24 and len(inner) == 48


OPTIONS = """\
def applied(function, data, **options):
    if isinstance(data, list):
        return [applied(function, item, **options) for item in data]
    if isinstance(data, dict):
        return {key: applied(function, item, **options) for key, item in data.items()}
    return function(data, options["dim"])

found = applied(print, [], dim=0)
"""


def test_keywords_that_a_function_hands_on_to_itself() -> None:
    """Each call hands on what all of them pass: an answer that counted each again would double every time."""
    evaluator = project(OPTIONS).evaluator
    (module,) = evaluator.index
    (passed,), _ = evaluator.arguments.from_kwargs(evaluator.generic(module, 0), "dim")
    assert passed[0].value == 0


MANY = f"""
found = {{}}
{chr(10).join(f"class C{number}:{chr(10)}    size = {number}" for number in range(2 * MAX_VALUES))}
chosen = [{", ".join(f"C{number}" for number in range(2 * MAX_VALUES))}][number]
few = [C1, C2][number]
either = few if number else chosen
"""


@pytest.mark.parametrize(
    "expr", ["chosen", "either", "chosen.size", "chosen()", "chosen().size", "chosen[0]", "chosen + 1"]
)
def test_more_alternatives_than_are_told_apart(expr: str) -> None:
    """Nothing is known of them, nor of what comes from them, whatever else it may be."""
    found = project(f"{MANY}\nasked = {expr}\nfor item in {expr}:\n    pass\n")
    (module,) = found.index
    env = found.evaluator.env(module, -1)
    for name in ("asked", "item"):
        (binding,) = module.bindings[-1, -1][name]
        assert found.evaluator.names.bound_values(binding, name, env) == (TOP,)


def test_few_alternatives_are_told_apart() -> None:
    found = project(MANY)
    (module,) = found.index
    (binding,) = module.bindings[-1, -1]["few"]
    values = found.evaluator.names.bound_values(binding, "few", found.evaluator.env(module, -1))
    assert {value.facts.name for value in values if isinstance(value, Klass)} == {"C1", "C2"}


def test_many_star_imports_are_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {f"part{n}": f"class Part{n}: pass\n" for n in range(40)}
    modules["every"] = "".join(f"from part{n} import *\n" for n in range(40))
    modules["main"] = "import every\n\ndef made(name):\n    return getattr(every, name)\n"
    sources = {f"{name}.py": Source(f"{name}.py", text) for name, text in modules.items()}
    found = Project({path: collect(source) for path, source in sources.items()}, Targets(), lambda path: sources[path])
    module, asked, find = found.index.modules["every.py"], [], Index.find
    monkeypatch.setattr(Index, "find", lambda *args: asked.append(args) or find(*args))
    assert len(found.evaluator.namespaces.classes(module)) == 40
    assert len(asked) < 10 * 40, "not once for each name"


IMPORTS = (
    {"a": "from b import x", "b": "from a import x"},
    {"a": "from b import *", "b": "from a import *"},
    {"a": "from b import x", "b": "from c import y as x", "c": "from a import x as y"},
    {"a": "try:\n    from b import x\nexcept ImportError:\n    x = None", "b": "from a import x\nx = x"},
    {"a": "from b import x\nclass x(x): pass", "b": "from a import x\nx = x()"},
)


@pytest.mark.parametrize("modules", IMPORTS)
def test_names_that_modules_import_from_each_other(modules: dict[str, str]) -> None:
    ends = {"a": "\nfrom torch.utils.data import DataLoader\nDataLoader(x, num_workers=2)\n"}
    sources = {f"{name}.py": Source(f"{name}.py", text + ends.get(name, "\n")) for name, text in modules.items()}
    found = Project({path: collect(source) for path, source in sources.items()}, Targets(), lambda path: sources[path])
    (loader,) = found.loaders
    assert loader.path == "a.py"
    assert not [rule.code for rule in registry.rules() for _ in rule().check(found)], "nobody asks it for items"


@pytest.mark.parametrize(("unknown", "followed"), [(MAX_ON_OBJECTS, MAX_ON_OBJECTS + 1), (MAX_ON_OBJECTS + 1, 1)])
def test_calls_on_unknown_objects_are_followed_while_they_are_few(unknown: int, followed: int) -> None:
    found = project(
        "class Reader:\n    def seek(self, place): return place\n"
        "def read(files):\n" + "    files.seek(0)\n" * unknown + "read(Reader())\nreader = Reader()\nreader.seek(1)\n"
    )
    (module,) = found.index
    (seek,) = (facts.index for facts in module.model.functions if facts.name == "seek")
    assert len(found.evaluator.call_sites.callers(module, seek)) == followed
    assert found.evaluator.call_sites.is_called(module, seek)


def test_what_may_be_called_on_unknown_objects_is_called() -> None:
    text = "class Reader:\n    def seek(self): pass\ndef read(files):\n" + "    files.seek()\n" * (MAX_ON_OBJECTS + 1)
    found = project(text)
    (module,) = found.index
    assert not found.evaluator.call_sites.callers(module, 0)
    assert found.evaluator.call_sites.is_called(module, 0)


@pytest.mark.parametrize(("subclasses", "known"), [(MAX_JOINED, True), (MAX_JOINED + 1, False)])
def test_what_an_init_is_given_while_its_callers_are_few(subclasses: int, known: bool) -> None:
    calls = "".join(
        f"class Model{n}(Model):\n    def __init__(self):\n        super().__init__(1)\n" for n in range(subclasses)
    )
    found = project(f"class Model:\n    def __init__(self, size):\n        self.size = size\n{calls}")
    (module,) = found.index
    values = found.evaluator.arguments.parameter(found.evaluator.generic(module, 0), "size")
    assert (Const(1, "int") in values) is known


def test_a_base_that_a_function_finds_is_not_followed() -> None:
    found = project(
        "import models\nclass Known: pass\n"
        "def wrapper(name):\n    Base = getattr(models, name, Known)\n    Own = Known\n"
        "    class Wrapped(Base): pass\n    class Plain(Own): pass\n    return Wrapped, Plain\n"
    )
    wrapped, plain = found.evaluator.classes.all_classes[1:]
    assert not found.evaluator.classes.plain(wrapped)
    assert [klass.facts.name for klass in found.evaluator.classes.mro(plain)] == ["Plain", "Known"]


REGISTRY = """\
class Registry:
    def __init__(self, name, parent=None):
        self.known = {}
        self.children = []
        if parent is not None:
            parent.adopt(self)
    def adopt(self, registry):
        self.children.append(registry)
    def add(self, item):
        self.known[item.__name__] = item
    def register(self):
        def register_one(item):
            self.add(item)
            return item
        return register_one
    def get(self, name):
        for child in self.children:
            if name in child.known:
                return child.known[name]
        return self.known[name]

def build(config, registry):
    return registry.get(config["type"])(**config)

DATASETS = Registry("datasets")
HOOKS = Registry("hooks")
LOCAL = Registry("local", parent=HOOKS)
"""


@pytest.mark.parametrize("others", [3, 2 * MAX_VALUES])
def test_registries_of_one_class_stay_apart(others: int) -> None:
    """However many calls fill them: what a method calls on its own object runs on that."""
    hooks = "".join(f"@HOOKS.register()\nclass Hook{number}: pass\n" for number in range(others))
    text = f"{REGISTRY}{hooks}@LOCAL.register()\nclass Local: pass\n"
    found = project(
        f"{text}@DATASETS.register()\nclass Rows: pass\ndef main(config):\n    dataset = build(config, DATASETS)\n"
    )
    (module,) = found.index
    (main,) = (facts.index for facts in module.model.functions if facts.name == "main")
    env = found.evaluator.generic(module, main)
    (dataset,) = (found.evaluator.values(event.value, env) for event in module.events(main) if event.value)
    assert [value.klass.facts.name for value in dataset if isinstance(value, Inst)] == ["Rows"]


WALKED = """
def walk(node):
    yield node
    for child in node.children:
        yield from walk(child)

for item in walk(root):
    found = item
"""


def test_a_generator_that_hands_on_its_own() -> None:
    found = project(WALKED)
    (module,) = found.index
    (binding,) = module.bindings[-1, -1]["found"]
    values = found.evaluator.names.bound_values(binding, "found", found.evaluator.env(module, -1))
    names = {value.expr.dotted for value in values if isinstance(value, Opaque)}
    assert names == {"root", "node.children"} and not found.evaluator.fixpoint.given_up


def test_a_comparison_asks_until_its_answers_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    either = "".join(f"if ask({number}):\n    key, names = '{number}', read({number})\n" for number in range(20))
    found = project(f"from files import ask, read\n{either}known = key in names\n")
    (module,) = found.index
    test = module.events(-1)[-1].value
    env = found.evaluator.generic(module, -1)
    assert test is not None and len(found.evaluator.values(test.args[0], env)) == 20
    asked: list[Value] = []
    monkeypatch.setattr(Contents, "of", lambda self, value: asked.append(value))
    assert found.evaluator.conditions.truth(test, env) is None
    assert len(asked) == 2


def test_what_tests_say_of_attributes_is_read_once_for_all_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[int] = []

    def known_at(module: Module, function: int, offset: int) -> list[Known]:
        places.append(offset)
        return exclusion.known_at(module, function, offset)

    monkeypatch.setattr(own_tests, "known_at", known_at)
    made = "".join(f"box{number} = Box({number}).run()\n" for number in range(10))
    found = project(
        "class Box:\n"
        "    def __init__(self, fast):\n"
        "        self.fast = fast\n"
        "        if self.fast:\n"
        "            self.job = 'job'\n"
        "    def run(self):\n"
        "        if self.fast:\n"
        f"            return self.job\n{made}"
    )
    (module,) = found.index
    for number in range(10):
        assert found.evaluator.names.global_name(module, f"box{number}")
    assert len(places) > 1
    assert len(places) == len(set(places))
