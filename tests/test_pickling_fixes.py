"""What stands in for a lambda: the same value as the lambda made, and only where the names mean what they say."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from dllint_rules.pickling.dll109_guarded_name_in_worker import GuardedNameInWorker
from dllint_rules.pickling.hoist import fix_argument, fix_factory, fix_function, fix_lambda
from dllint_rules.pickling.ready_made import BY_NAME, existing_callable, ready_made_factory

from dllint import Applicability, Fix, Func, ModuleModel, Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.hoist_both import hoist_with_helpers
from dllint.syntax.parse import parse
from dllint.syntax.refused import Refused
from dllint.syntax.write import place_imports

LOADER = "from torch.utils.data import DataLoader\n"
DEFAULT_CONVERT = "torch.utils.data.default_convert"
HEAD = "import collections, functools\nfrom collections import defaultdict, Counter\nfrom functools import partial\n"


def model_of(code: str) -> ModuleModel:
    return collect(Source("a.py", code))


def evaluate(code: str) -> Any:
    scope: dict[str, Any] = {}
    exec(HEAD, scope)
    return eval(code, scope)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("0", "int"),
        ("0.0", "float"),
        ("''", "str"),
        ('""', "str"),
        ("False", "bool"),
        ("[]", "list"),
        ("{}", "dict"),
        ("()", "tuple"),
        ("set()", "set"),
        ("list()", "list"),
        ("frozenset()", "frozenset"),
        ("(0)", "int"),
        ("Counter()", "Counter"),
        ("defaultdict()", "defaultdict"),
        ("collections.OrderedDict()", "collections.OrderedDict"),
        ("defaultdict(int)", "functools.partial(defaultdict, int)"),
        ("collections.defaultdict(list)", "functools.partial(collections.defaultdict, list)"),
        ("defaultdict(lambda: 0)", "functools.partial(defaultdict, int)"),
        (
            "defaultdict(lambda: defaultdict(set))",
            "functools.partial(defaultdict, functools.partial(defaultdict, set))",
        ),
        (
            "defaultdict(partial(defaultdict, str))",
            "functools.partial(defaultdict, functools.partial(defaultdict, str))",
        ),
        ("defaultdict(None)", "functools.partial(defaultdict, None)"),
        ("defaultdict(functools.lru_cache)", "functools.partial(defaultdict, functools.lru_cache)"),
        ("defaultdict(Counter)", "functools.partial(defaultdict, Counter)"),
    ],
)
def test_factories_that_exist(body: str, text: str) -> None:
    code = f"{HEAD}x = defaultdict(lambda: {body})\n"
    model = model_of(code)
    ready = ready_made_factory(model, model.functions[0])
    assert ready is not None
    assert ready.text.replace("partial(", "").count("(") == 0
    assert evaluate(ready.text)() == evaluate(f"(lambda: {body})()")
    assert type(evaluate(ready.text)()) is type(evaluate(f"(lambda: {body})()"))
    assert repr(evaluate(ready.text)()) == repr(evaluate(text)())
    pickle.dumps(evaluate(ready.text)())
    assert not ready.imports


def test_partial_is_imported_where_it_is_not() -> None:
    model = model_of("from collections import defaultdict as dd\nx = dd(lambda: dd(lambda: dd(int)))\n")
    outer = next(item for item in model.functions if item.span.start == min(f.span.start for f in model.functions))
    ready = ready_made_factory(model, outer)
    assert ready is not None
    assert ready.text == "functools.partial(dd, functools.partial(dd, int))"
    assert [item.statement for item in ready.imports] == ["import functools"]


@pytest.mark.parametrize(
    "body",
    [
        *(
            "None",
            "1",
            "-0.0",
            "'a'",
            "True",
            "[0]",
            "{1: 2}",
            "(1,)",
            "x",
            "self.x",
            "list(x)",
            "f()",
            "b'a'",
            "dict(a=1)",
        ),
        *("defaultdict(x)", "defaultdict(int, {})", "Counter('a')", "defaultdict(lambda: 1)", "defaultdict(lambda: x)"),
        *("collections.abc()", "partial(defaultdict, int)", "...", "not 1", "Unknown()", "[*x]"),
    ],
)
def test_no_factory_for_anything_else(body: str) -> None:
    model = model_of(f"{HEAD}x = defaultdict(lambda: {body})\n")
    outer = next(item for item in model.functions if item.span.start == min(f.span.start for f in model.functions))
    assert ready_made_factory(model, outer) is None


@pytest.mark.parametrize(
    "code",
    [
        "int = 3\nx = defaultdict(lambda: 0)\n",
        "def int(): pass\nx = defaultdict(lambda: 0)\n",
        "from numpy import *\nx = defaultdict(lambda: 0)\n",
        "from numpy import int\nx = defaultdict(lambda: 0)\n",
        "def f(int):\n    return defaultdict(lambda: 0)\n",
        "def f():\n    global int\n    int = 1\nx = defaultdict(lambda: 0)\n",
        "for int in y: x = defaultdict(lambda: 0)\n",
        "def f(int):\n    def g():\n        return defaultdict(lambda: 0)\n",
        "class A:\n    def int(self): pass\n    x = defaultdict(lambda: 0)\n",
        "x = f(lambda key: 0)\n",
        "x = f(lambda key=1: 0)\n",
    ],
)
def test_rebound_builtins_and_parameters(code: str) -> None:
    model = model_of(code)
    function = next(item for item in model.functions if item.kind == "lambda")
    assert ready_made_factory(model, function) is None


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("import torch\nf(lambda batch: torch.stack(batch))\n", "torch.stack"),
        ("import torch\nimport torch.utils.data\nf(lambda batch: torch.stack(batch))\n", "torch.stack"),
        ("import torch.utils.data\nf(lambda b: torch.utils.data.default_convert(b))\n", DEFAULT_CONVERT),
        ("import torch.nn.utils.rnn as r\nf(lambda b: r.pad_sequence(b))\n", "r.pad_sequence"),
        ("from torch.utils.data import default_collate as d\nf(lambda batch: d(batch))\n", "d"),
        ("f(lambda batch: tuple(batch))\n", "tuple"),
        ("f(lambda a, b: zip(a, b))\n", "zip"),
    ],
)
def test_functions_that_exist(code: str, text: str) -> None:
    model = model_of(code)
    ready = existing_callable(model, model.functions[0])
    assert ready is not None
    assert ready.text == text


@pytest.mark.parametrize(
    "code",
    [
        "import torch\nf(lambda batch: torch.stack(batch, 0))\n",
        "import torch\nf(lambda batch: torch.stack(batch, dim=0))\n",
        "import torch\nf(lambda *batch: torch.stack(*batch))\n",
        "import torch\nf(lambda batch=1: torch.stack(batch))\n",
        "import torch\nf(lambda a, b: torch.stack(b, a))\n",
        "import torch\ntorch = 1\nf(lambda batch: torch.stack(batch))\n",
        "def f(torch): return lambda batch: torch.stack(batch)\n",
        "def g():\n    import torch\n    f(lambda batch: torch.stack(batch))\n",
        "f(lambda batch: torch.stack(batch))\nimport torch\n",
        "f(lambda torch: torch.stack(torch))\n",
        "f(lambda batch: batch[0])\n",
        "f(lambda batch: batch)\n",
        "import mine\nf(lambda batch: mine.collate(batch))\n",
        "import random\nf(lambda worker: random.seed(worker))\n",
        "import numpy as np\nf(lambda worker: np.random.seed(worker))\n",
        "from numpy import random\nf(lambda worker: random.seed(worker))\n",
        "import torch\nf(lambda batch: torch.unique(batch))\n",
        "f(lambda: list())\n",
        "f(lambda a, b: a)\n",
    ],
)
def test_functions_that_do_less(code: str) -> None:
    model = model_of(code)
    function = next(item for item in model.functions if item.kind == "lambda")
    assert existing_callable(model, function) is None


@pytest.mark.parametrize(("module", "name"), [(m, name) for m, names in BY_NAME.items() for name in sorted(names)])
def test_the_functions_that_are_taken_for_granted_pickle_by_name(module: str, name: str) -> None:
    function = getattr(pytest.importorskip(module), name)
    assert pickle.loads(pickle.dumps(function)) is function


def fix_of(move: Any, code: str) -> Fix | None:
    source = Source("a.py", code.replace("§", ""))
    model = collect(source)
    project = Project({"a.py": model}, Targets(), lambda path: source)
    found = [item for item in model.functions if item.kind == "lambda" or item.parent >= 0]
    marked = [item for item in found if item.span.start == code.find("§")]
    index = (marked or found)[0].index
    module = next(iter(project.index))
    value = Func(module, index, project.evaluator.generic(module, model.functions[index].parent))
    fix: Fix | None = move(project, value)
    if fix is not None and fix.applicability is Applicability.MANUAL:
        assert "; " in fix.title
        return None
    return fix


def fixed(move: Any, code: str) -> tuple[str, Fix]:
    fix = fix_of(move, code)
    assert fix is not None
    source = Source("a.py", code)
    return apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)]), fix


def test_fixes_prefer_what_exists_and_say_how_far_to_trust_them() -> None:
    result, fix = fixed(fix_factory, "from collections import defaultdict\nx = defaultdict(lambda: 0)\n")
    assert result == "from collections import defaultdict\nx = defaultdict(int)\n"
    assert fix.applicability is Applicability.SAFE
    assert fix.title == "Use `int` instead of the lambda"
    result, fix = fixed(fix_argument, f"{LOADER}DataLoader(x, collate_fn=lambda batch: batch)\n")
    assert result == f"{LOADER}DataLoader(x, collate_fn=list)\n"
    assert fix.applicability is Applicability.SAFE
    code = f"{LOADER}def pad(batch): return batch\nDataLoader(x, collate_fn=lambda batch: {{}}(batch))\n"
    assert "collate_fn=pad)" in fixed(fix_argument, code.format("pad"))[0]
    assert "return abs(batch, 1)" in fixed(fix_argument, code.replace("{}(batch)", "abs(batch, 1)"))[0]
    assert fix_of(fix_argument, code.format("pad2")) is None


VARIABLE = """def f(ds):
    join = lambda items: list(zip(*items))
    return DataLoader(ds, collate_fn=join)
"""
PASSING = """def scale(x, mean, std, **more): pass


def maker(table):
    mean, std = table
    def run(x, **more):
        return scale(x, mean=mean, std=std, **more)
    return f(run)
"""


def test_a_variable_for_a_lambda_is_no_longer_needed() -> None:
    result = fixed(fix_argument, f"{LOADER}{VARIABLE}")[0]
    assert "def join(items):\n    return list(zip(*items))\n\n\ndef f(ds):\n    return" in result
    assert result.endswith("collate_fn=join)\n")
    other = f"{LOADER}def g():\n    join = 1\n{VARIABLE}"
    assert "    join = _join\n" in fixed(fix_argument, other)[0] or "join = _zipped" in fixed(fix_argument, other)[0]


def test_a_local_function_that_only_calls_another_is_a_partial_of_that() -> None:
    result, fix = fixed(fix_function, PASSING)
    assert result.endswith("    mean, std = table\n    return f(functools.partial(scale, mean=mean, std=std))\n")
    assert fix.title == "Use `functools.partial(scale, mean=mean, std=std)` instead of `run`"
    assert (
        "partial(_maker"
        in fixed(fix_function, PASSING.replace("**more)\n    return f", "**more) + 1\n    return f"))[0]
    )


def test_keyword_arguments_are_taken_apart() -> None:
    code = "def g(**options):\n    f(lambda x: x.endswith(options.get('suffix')))\n{}"
    assert "f(functools.partial(_ends_with_suffix, options.get('suffix')))" in fixed(fix_lambda, code.format(""))[0]
    changed = fixed(fix_lambda, code.format("    options.pop('suffix')\n"))[0]
    assert "f(functools.partial(_ends_with_suffix, options))" in changed


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("", "x, batch_size=None, collate_fn=§"),
        ("", "x, None, collate_fn=§"),
        ("", "x, batch_size=unknown(), collate_fn=§"),
        ("", "x, collate_fn=§, **options"),
        ("", "x, *options, collate_fn=§"),
        ("list = 1\n", "x, collate_fn=§"),
        ("class D:\n    def __getitems__(self, indices): return 1\n", "D(), collate_fn=§"),
        ("def f(size):\n    return DataLoader(x, size, collate_fn=§)\nf(None)\n", ""),
    ],
)
def test_a_batch_that_may_be_no_list_is_left_as_it_is(head: str, call: str) -> None:
    code = LOADER + (head + (f"DataLoader({call})\n" if call else "")).replace("§", "lambda batch: batch")
    assert "return batch" in fixed(fix_argument, code)[0]


@pytest.mark.parametrize(
    ("move", "code"),
    [
        (fix_factory, "x = defaultdict(lambda: 1)\n"),
        (fix_argument, "f(worker_init_fn=lambda worker: worker)\n"),
        (fix_lambda, "f(lambda x: abs(x) + 1)\n"),
        (fix_function, "def f():\n    def g(): return 1\n    return g\n"),
    ],
)
def test_else_they_move_the_function_unsafely(move: Any, code: str) -> None:
    result, fix = fixed(move, code)
    assert result.startswith("def ")
    assert fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize("value", ["defaultdict(lambda: [1])", "[lambda: 1]", "make(key=lambda: 1)"])
def test_a_factory_of_lambdas_is_left_alone(value: str) -> None:
    assert fix_of(fix_factory, f"from collections import defaultdict\nx = defaultdict(§lambda: {value})\n") is None


def test_a_comment_is_not_lost() -> None:
    assert "# zero\n" in fixed(fix_factory, "x = defaultdict(lambda: (  # zero\n    0\n))\n")[0]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("import torch\nf(lambda x: torch.FloatTensor(x))\n", "f(torch.FloatTensor)"),
        ("from skimage import measure\nf(lambda x: measure.label(x))\n", "f(measure.label)"),
        ("f(lambda x: x['label'])\n", "f(operator.itemgetter('label'))"),
        ("from operator import itemgetter\nf(lambda x: x[0])\n", "f(itemgetter(0))"),
        ("f(lambda x: x.label)\n", 'f(operator.attrgetter("label"))'),
        ("import torch\nf(lambda x: torch.stack(x, dim=1))\n", "f(functools.partial(torch.stack, dim=1))"),
        ("def pad(x, k): pass\ndef g(k):\n    f(lambda x: pad(x, k))\n", "f(functools.partial(pad, k=k))"),
        ("def pad(k, x): pass\ndef g(k):\n    f(lambda x: pad(k, x))\n", "f(functools.partial(pad, k))"),
        ("def pad(x, k): pass\nf(lambda *args: pad(*args, k=(-3, 3)))\n", "f(functools.partial(pad, k=(-3, 3)))"),
        ("def pad(x, k): pass\nf(lambda *args: pad(1, *args))\n", "f(functools.partial(pad, 1))"),
        (
            "def pad(x, y, k): pass\nf(lambda x, *args, **more: pad(x, *args, k=3, **more))\n",
            "f(functools.partial(pad, k=3))",
        ),
        ("def pad(x, y): pass\nf(lambda *args: pad(*args, 3))\n", "f(_pad)"),
        ("def pad(x, k): pass\nf(lambda *args: pad(*args, k=args))\n", "f(_pad)"),
        ("def pad(x, k): pass\nf(lambda *args: pad(args, k=3))\n", "f(_pad)"),
        (
            "def pad(x, *, k): pass\ndef g(args):\n    f(lambda x: pad(x, k=args.k))\n",
            "f(functools.partial(pad, k=args.k))",
        ),
        (
            "class A:\n    def g(self):\n        f(lambda x: self.pad(x))\n    def pad(self, x): pass\n",
            "f(self.pad)",
        ),
        (
            'def g(cfg):\n    f(lambda x: x.reshape(cfg["size"]))\n',
            'f(functools.partial(_reshape_to_size, cfg["size"]))',
        ),
        ("def g(args):\n    f(lambda x: x + args.k)\n", "f(functools.partial(_add, args.k))"),
        ("def g(args):\n    f(lambda x: x + args.k + args.h(x))\n", "f(functools.partial(_add, args))"),
        ("def g(n):\n    f(lambda x, k=n: x + k)\n", "f(functools.partial(_add, n))"),
        ("for i in range(3):\n    f(lambda x, i=i: x + i)\n", "f(functools.partial(_add, i))"),
        ("def g():\n    for i in range(3):\n        f(lambda x: x + i)\n", "f(functools.partial(_add, i))"),
    ],
)
def test_what_a_lambda_only_calls_or_takes(code: str, text: str) -> None:
    assert text in fixed(fix_lambda, code)[0]


@pytest.mark.parametrize(
    "code",
    [
        "f(lambda x: x[1:])\n",
        "f(lambda x, y: x[0])\n",
        "f(lambda x: y[0])\n",
        "import torch\nf(lambda x: torch.stack([x], dim=1))\n",
        "def pad(x, k): pass\nf(lambda x: pad(x, []))\n",
        "def pad(x, k): pass\nf(lambda x: pad(x, k=x))\n",
        "def pad(x, *k): pass\nf(lambda x: pad(x, 1))\n",
    ],
)
def test_what_a_lambda_does_besides(code: str) -> None:
    fix = fix_of(fix_lambda, code)
    assert fix is None or "def _" in "".join(edit.text for edit in fix.edits)


def with_helpers(code: str, index: int = -1) -> str:
    """The code with a function moved together with those that it calls: the one of an index, else the first lambda."""
    source = Source("a.py", code)
    model = collect(source)
    function = next(item for item in model.functions if item.index == index or (index < 0 and item.kind == "lambda"))
    fix = hoist_with_helpers(source, parse(source), model, function)
    return apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)])


def test_a_local_function_that_a_lambda_calls_moves_along() -> None:
    code = "def g(k):\n    def half(x):\n        return x / 2\n    f(§lambda x: half(x) + k, half)\n".replace("§", "")
    result = with_helpers(code)
    assert result == (
        "import functools\n\n\ndef _half_add(k, x):\n    return half(x) + k\n\n\ndef half(x):\n    return x / 2\n\n\n"
        "def g(k):\n    f(functools.partial(_half_add, k), half)\n"
    )


@pytest.mark.parametrize(
    ("user", "used"),
    [
        ("lambda x: half(x, 3)", "functools.partial(half, by=3)"),
        ("lambda x: half(x, by=k)", "functools.partial(half, by=k)"),
        ("lambda x, by: half(x, by)", "half"),
        ("lambda x: half(x, x)", "_half"),
    ],
)
def test_what_only_calls_a_local_function_becomes_a_partial_of_that(user: str, used: str) -> None:
    code = f"def g(k):\n    def half(x, by=2):\n        return x / by\n    f({user}, half)\n"
    result = with_helpers(code)
    assert result.endswith(f"def g(k):\n    f({used}, half)\n")
    assert result.count("def half(x, by=2):\n    return x / by\n") == 1


@pytest.mark.parametrize("helper", ["def half(x):\n        return x / k", "half = lambda x: x / k"])
@pytest.mark.parametrize("user", ["f(lambda x: half(x) + 1)", "def user(x):\n        return half(x) + 1\n    f(user)"])
def test_a_local_function_with_captures_stays_as_a_partial(helper: str, user: str) -> None:
    code = f"def g(f, k):\n    {helper}\n    if k < 0:\n        half = float\n    {user}\n"
    result = with_helpers(code, 2)
    assert "\n    half = functools.partial(_" in result
    assert "    f(functools.partial(_" in result
    scope: dict[str, Any] = {}
    exec(result, scope)
    kept: list[Any] = []
    scope["g"](kept.append, 4)
    assert kept[0](8) == 3
    assert "<locals>" not in repr(kept)


@pytest.mark.parametrize(
    ("more", "user", "is_that"),
    [
        ("", "lambda x: half(x)", True),
        ("", "lambda x, y=1: half(x)", False),
        ("", "lambda x: half(x + 1)", False),
        ("if k < 0:\n        half = float", "lambda x: half(x)", False),
    ],
)
def test_a_lambda_that_only_calls_such_a_partial_is_that(more: str, user: str, is_that: bool) -> None:
    code = f"def g(k):\n    def half(x):\n        return x / k\n    {more}\n    f(scale={user})\n"
    result = with_helpers(code)
    assert "\n    half = functools.partial(_half, k)\n" in result
    assert result.endswith("    f(scale=half)\n" if is_that else "    f(scale=functools.partial(_scale, half))\n")


def test_what_calls_each_other_stays() -> None:
    code = "def g(k):\n    def a(x):\n        return b(x)\n    def b(x):\n        return a(x + k)\n    return a\n"
    source = Source("a.py", code)
    model = collect(source)
    with pytest.raises(Refused, match="which is local, too"):
        hoist_with_helpers(source, parse(source), model, model.functions[1])


def test_a_function_below_is_given_its_keyword_where_it_is_defined_in_time() -> None:
    code = "def make(r):\n    f(lambda batch: pad(batch, r))\n\n\n{}def pad(batch, r):\n    pass\n"
    assert "functools.partial(pad, r=r)" in fixed(fix_lambda, code.format(""))[0]
    assert "functools.partial(pad, r=r)" not in fixed(fix_lambda, code.format("make(1)\n\n\n"))[0]


def test_methods_of_other_objects_and_properties_stay() -> None:
    head = "class A:\n    def g(self, other):\n        f(lambda x: {})\n    @property\n    def pad(self): pass\n"
    for body in ("self.pad(x)", "other.pad(x)", "self.pad(x) + 1"):
        fix = fix_of(fix_lambda, head.format(body))
        assert fix is None or "self.pad" not in fix.edits[-1].text


@pytest.mark.parametrize("call", ["fs.append(lambda: i)", "yield lambda: i", "fs[i] = lambda: i"])
def test_what_a_later_round_would_change_is_not_fixed_now(call: str) -> None:
    assert fix_of(fix_lambda, f"def g(fs):\n    for i in range(3):\n        {call}\n") is None


def test_lines_aligned_with_a_bracket_stay_aligned() -> None:
    code = (
        "class A:\n    def f(self, root):\n        self.make = lambda: open(root, {1},\n{0}2)\n        f(self.make)\n"
    )
    long = "1" * 80
    aligned = fixed(fix_lambda, code.format(" " * 33, long))[0]
    assert f"    return open(root, {long},\n                2)\n" in aligned
    assert f"    return open(root, {long},\n        2)\n" in fixed(fix_lambda, code.format(" " * 12, long))[0]
    assert "    return open(root, 1, 2)\n" in fixed(fix_lambda, code.format(" " * 33, 1))[0]


@pytest.mark.parametrize("between", [".\n      ", "\n      .", "."])
def test_what_fits_a_line_is_joined_without_blanks_around_a_dot(between: str) -> None:
    result, _ = fixed(fix_lambda, f"f(0, make=lambda img: img{between}convert('L'))\n")
    assert "    return img.convert('L')\n" in result


def test_what_stood_on_several_lines_gets_several_where_it_needs_them() -> None:
    code = "def pad(x, k, more): pass\n\n\nf(\n    places=lambda *args: pad(\n        *args, {}\n    ),\n)\n"
    short = fixed(fix_lambda, code.format("k=(1, 2)"))[0]
    assert "\n    places=functools.partial(pad, k=(1, 2)),\n" in short
    values = "k=(1000000000, 2000000000), more=(1000000000, 2000000000)"
    long = fixed(fix_lambda, code.format(values))[0]
    assert f"\n    places=functools.partial(\n        pad, {values}\n    ),\n" in long


def test_what_a_lambda_keeps_as_a_default_is_filled_in_by_its_name() -> None:
    head = "def turn(image, angle): pass\n\n\ndef g(angles, first):\n    for a in angles:\n        "
    assert "f(functools.partial(turn, angle=a))\n" in fixed(fix_lambda, f"{head}f(lambda x, a=a: turn(x, a))\n")[0]
    assert "f(functools.partial(turn, angle=a))\n" in fixed(fix_lambda, f"{head}f(lambda x, b=a: turn(x, b))\n")[0]
    assert "partial(turn, first[0])" in fixed(fix_lambda, f"{head}f(lambda x, b=first[0]: turn(b, x))\n")[0]
    other = fixed(fix_lambda, f"{head}f(lambda x, b=angles: turn(x, b + 1))\n")[0]
    assert "def _turn(angles, x):\n    return turn(x, angles + 1)\n" in other
    assert "_turn, 1" not in fixed(fix_lambda, f"{head}f(lambda x, b=1: turn(x, b))\n")[0]


def test_what_is_written_alike_is_changed_alike() -> None:
    head = "def turn(image, angle): pass\n\n\ndef g(k):\n    "
    twice = f"{head}f(transform=lambda x: x + k)\n    h(transform=lambda x: x + k)\n    f(transform=lambda x: x + k)\n"
    after = fixed(fix_lambda, twice)[0]
    assert after.count("f(transform=functools.partial(_transform, k))\n") == 2
    assert "h(transform=lambda x: x + k)\n" in after
    along = f"{head}f([lambda x: turn(x, k)], [lambda x: turn(x, k)])\n    f([lambda x: turn(x, k)])\n"
    assert fixed(fix_lambda, along)[0].count("f([functools.partial(turn, angle=k)]") == 2
    apart = f"{head}f(lambda x: x + k)\n    k = 2\n    f(lambda x: x + k)\n\n\ndef h(k):\n    f(lambda x: x + k)\n"
    assert fixed(fix_lambda, apart.replace("    k = 2\n", ""))[0].count("functools.partial(_add, k)") == 2
    everywhere = "def g():\n    f(lambda x: 2 * x)\n\n\ndef h():\n    f(lambda x: 2 * x)\n"
    assert fixed(fix_lambda, everywhere)[0].count("f(_multiply_by_2)\n") == 2


@pytest.mark.parametrize("place", [0, 1])
def test_what_a_table_has_twice_is_named_after_what_it_does_and_keeps_its_comment(place: int) -> None:
    table = 'T = {\n    "b": (lambda t: t != "_"),  # no letter\n    "a": (lambda t: t != "_"),\n}\n'
    parts = table.split("lambda")
    code = "lambda".join(parts[: place + 1]) + "§lambda" + "lambda".join(parts[place + 1 :])
    fix = fix_of(fix_lambda, code)
    assert fix is not None
    assert apply(table, fix.edits) == (
        'def _is_not_low_line(t):\n    return t != "_"  # no letter\n\n\n'
        'T = {\n    "b": _is_not_low_line,\n    "a": _is_not_low_line,\n}\n'
    )


@pytest.mark.parametrize(("value", "behind"), [("t.lower()", "  # a mark"), ('t != "_"', "  # noqa: E501")])
def test_a_comment_that_is_not_about_a_literal_stays_in_the_table(value: str, behind: str) -> None:
    after = fixed(fix_lambda, f'T = {{\n    "b": lambda t: {value},{behind}\n}}\n')[0]
    assert f'    "b": _b,{behind}\n' in after


def test_what_is_captured_keeps_its_annotation() -> None:
    body = "    def run(x: int) -> int:\n        return x + flag + other\n    return f(run)\n"
    code = f"def make(flag: bool, other):\n{body}"
    assert "def _make_run(flag: bool, other, x: int) -> int:\n" in fixed(fix_function, code)[0]
    assert "def _make_run(flag, other, x):\n" in fixed(fix_function, code.replace("x: int) -> int", "x)"))[0]
    assert "(flag, other, x: int)" in fixed(fix_function, code.replace(": bool", ": Unknown"))[0]


def test_a_function_of_another_module_is_filled_in() -> None:
    code = "import torch.nn.functional as F\ndef g(k):\n    f(lambda x: F.pad(x, k))\n"
    assert "F.pad(x, k)" in fixed(fix_lambda, code)[0]  # a library's: whether it pickles is not known


def test_nested_functions_of_one_name_are_told_apart_by_what_is_around_them() -> None:
    code = "def TestMergeFn(size):\n    def merge(x):\n        return x + size\n    return f(merge)\n"
    taken = f"_merge = 1\n{code}"
    assert "partial(_merge, size)" in fixed(fix_function, code)[0]
    assert "partial(_test_merge, size)" in fixed(fix_function, taken)[0]
    assert "partial(_read_merge, size)" in fixed(fix_function, taken.replace("TestMergeFn", "make_read"))[0]


def test_an_import_goes_along_where_nothing_else_needs_it() -> None:
    code = "def g(ds):\n    import os.path as p, sys\n    return f(lambda x: p.basename(x) + sys.byteorder, {})\n"
    result = fixed(fix_lambda, code.format("sys"))[0]
    assert "def g(ds):\n    import sys\n    return" in result
    assert "    import os.path as p, sys\n    return f(_" in fixed(fix_lambda, code.format("p, sys"))[0]
    local = "def g(ds):\n    import os\n    def base(x):\n        return os.path.split(x) + 'a'\n    return f(base)\n"
    assert "def g(ds):\n    return f(base)" in fixed(fix_function, local)[0]


def test_a_method_that_pickle_finds_by_its_class() -> None:
    code = (
        "class Batch:\n    @{}\n    def collate(items): pass\n\ndef g():\n    f(lambda items: Batch.collate(items))\n"
    )
    assert "    f(Batch.collate)\n" in fixed(fix_lambda, code.format("staticmethod"))[0]
    assert "    f(Batch.collate)\n" in fixed(fix_argument, code.format("classmethod"))[0]
    assert "f(_collate)" in fixed(fix_lambda, code.format("property"))[0]


_GUARDED = """
from multiprocessing import get_context

def ask(number):
    return marks, unit, number

if __name__ == "__main__":
    count = 8
    marks = "pinyin"{rest}
    unit = True
    print(get_context("spawn").Pool(2).map(ask, range(count)))
"""


@pytest.mark.parametrize(("rest", "moved"), [("", True), ("  # or char", True), ("; more = 1", False)])
def test_names_under_the_guard_move_together_or_stay(rest: str, moved: bool) -> None:
    source = Source("a.py", _GUARDED.format(rest=rest))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = GuardedNameInWorker()
    fixes = [rule.fix(finding, project) for finding in rule.check(project)]
    assert [fix is not None and bool(fix.edits) for fix in fixes] == [moved, moved]
    assert moved or any(fix and "no fix moves `marks`" in fix.title for fix in fixes)


@pytest.mark.parametrize(("asked", "refused"), [("0.2.1", True), ("0.2.2", False)])
def test_an_old_lambda_of_torchvision_is_given_no_partial(asked: str, refused: bool, tmp_path: Path) -> None:
    code = "from torchvision import transforms\ndef make(size):\n    return transforms.Lambda(lambda x: x.crop(size))\n"
    (tmp_path / "requirements.txt").write_text(f"torchvision=={asked}\n")
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(root=str(tmp_path)), lambda path: source)
    module = next(iter(project.index))
    index = next(item.index for item in module.model.functions if item.kind == "lambda")
    fix = fix_lambda(project, Func(module, index))
    assert fix is not None and bool(fix.edits) != refused
    assert not refused or "refuses partials" in fix.title


_SCALED = """
def scaled(size):
    def scale(x):
        return x * size
    return scale


def twice(x):
    return x + x


def make(size):
    change = {}
    def collate(items):
        return [change(item) for item in items]
    return collate
"""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("twice", ""),
        ("scaled(size)", "`change`, which it captures, may be the local function `scale` of `scaled`"),
        ("twice if size else scaled(size)", "may be the local function `scale` of `scaled`"),
        ("twice if size else (lambda x: x)", "`change`, which it captures, may be a lambda"),
    ],
)
def test_what_is_captured_must_be_found_by_its_name_too(change: str, why: str) -> None:
    source = Source("a.py", _SCALED.format(change))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    module = next(iter(project.index))
    collate = next(item.index for item in module.model.functions if item.name == "collate")
    fix = fix_function(project, Func(module, collate))
    assert fix is not None
    assert why in fix.title if why else "functools.partial(_collate, change)" in fix.edits[-1].text
    assert bool(fix.edits) is not bool(why)
