"""DLL301's fix: what goes under the main guard, and what workers would miss if it did."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pytest
from dllint_rules.start.dll301_missing_main_guard import MissingMainGuard

from dllint import Applicability, Certainty, Fix, Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source, Span
from dllint.syntax.parse import parse
from dllint.syntax.tail import guarded
from dllint.syntax.write import place_imports

HEAD = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self, size=4):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return {item}


"""


def script(tail: str, item: str = "index") -> str:
    return HEAD.format(item=item) + textwrap.dedent(tail).lstrip("\n")


def fix_of(files: str | Mapping[str, str], targets: Targets | None = None, path: str = "train.py") -> Fix:
    """The fix of the first finding in a file."""
    texts = {"train.py": files} if isinstance(files, str) else dict(files)
    sources = {name: Source(name, text) for name, text in texts.items()}
    models = {name: collect(source) for name, source in sources.items()}
    project = Project(models, targets or Targets(), lambda name: sources[name])
    rule = MissingMainGuard()
    finding = next(found for found in rule.check(project) if found.path == path)
    fix = rule.fix(finding, project)
    assert fix is not None
    return fix


ITERATORS = """\
shown = iter(DataLoader(Numbers(), num_workers=2))
also = iter(DataLoader(Numbers(), num_workers=2))


def step(batches):
    print(next(batches))


for _ in range(2):
    print(next(shown))
    step(also)
"""


def test_workers_start_where_an_iterator_is_made_not_where_it_is_used() -> None:
    code = script(ITERATORS)
    source = Source("train.py", code)
    project = Project({"train.py": collect(source)}, Targets(), lambda _: source)
    (finding,) = MissingMainGuard().check(project)
    rows = [source.location(note.span.start)[0] for note in finding.notes if note.text.endswith("too")]
    assert rows == [source.location(code.index("also ="))[0]]


OPTIONAL = """\
try:
    from tensorboardX import SummaryWriter
except ImportError:
    SummaryWriter = None

for batch in DataLoader(Numbers(), num_workers=2):
\tprint(batch, SummaryWriter)
"""


def test_imports_that_are_tried_stay_above_and_the_block_keeps_its_indentation() -> None:
    code = script(OPTIONAL)
    (edit,) = fix_of(code).edits
    wanted = 'if __name__ == "__main__":\n\tfor batch in DataLoader(Numbers(), num_workers=2):\n\t\tprint('
    assert apply(code, [edit]).startswith(code.partition("for batch")[0] + wanted)


def test_a_block_is_indented_like_most() -> None:
    loop = "if torch:\n  print()\nfor batch in DataLoader(Numbers(), num_workers=2):\n    if batch:\n        break\n"
    (edit,) = fix_of(script(loop)).edits
    assert "\n        if batch:\n            break\n" in edit.text


@pytest.mark.parametrize(
    ("test", "certainty"),
    [
        ("SIZE or unknown", Certainty.CERTAIN),
        ("SIZE", Certainty.CERTAIN),
        ("not SIZE", None),
        ('os.environ.get("TRAIN") != "0"', Certainty.LIKELY),
    ],
)
def test_what_is_not_known_makes_a_start_likely(test: str, certainty: Certainty | None) -> None:
    text = script(f"""
        import os
        SIZE = 4
        if {test}:
            list(DataLoader(Numbers(), num_workers=2))
        """)
    source = Source("train.py", text)
    project = Project({"train.py": collect(source)}, Targets(), lambda path: source)
    assert [found.certainty for found in MissingMainGuard().check(project)] == ([certainty] if certainty else [])


def fixed(files: str | Mapping[str, str], trust: Applicability = Applicability.UNSAFE) -> str:
    fix = fix_of(files)
    assert fix.applicability is trust, fix.title
    text = files if isinstance(files, str) else files["train.py"]
    source = Source("train.py", text)
    result = apply(text, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    compile(result, "train.py", "exec")
    return result


def refused(files: str | Mapping[str, str], targets: Targets | None = None, path: str = "train.py") -> str:
    """Why there is no fix."""
    fix = fix_of(files, targets, path)
    assert fix.applicability is Applicability.MANUAL, fix.edits
    assert not fix.edits
    return fix.title.partition("; ")[2]


LOOP = "for batch in DataLoader(Numbers(), num_workers=2):\n    print(batch)\n"
JOIN = "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
MAIN = "def main(*more):\n" + textwrap.indent(LOOP, "    ") + "\n\n"


def test_empty_lines_are_as_many_as_a_block_has() -> None:
    tail = (
        'SIZE = 3\n\n\nloader = DataLoader(Numbers(SIZE), num_workers=2)\nTEXT = """a\n\n\nb"""\n\n\nprint(*loader)\n'
    )
    after = (
        'SIZE = 3\n\n\nif __name__ == "__main__":\n    loader = DataLoader(Numbers(SIZE), num_workers=2)\n'
        '    TEXT = """a\n\n\nb"""\n\n    print(*loader)\n'
    )
    assert fixed(script(tail), Applicability.SAFE) == script(after)


def test_what_feeds_the_loop_moves_with_it() -> None:
    tail = '''\
    EPOCHS = 3
    # The data.
    loader = DataLoader(Numbers(), num_workers=2)  # two
    model = torch.nn.Linear(
        1, 1)

    TEXT = """a
      b"""
    for epoch in range(EPOCHS):
        # One epoch.
        for batch in loader:
            print(model(batch), \\
                  TEXT)

    print("done")
    # The end.
    '''
    after = '''\
    EPOCHS = 3

    if __name__ == "__main__":
        # The data.
        loader = DataLoader(Numbers(), num_workers=2)  # two
        model = torch.nn.Linear(
            1, 1)

        TEXT = """a
      b"""
        for epoch in range(EPOCHS):
            # One epoch.
            for batch in loader:
                print(model(batch), \\
                      TEXT)

        print("done")
    # The end.
    '''
    assert fixed(script(tail), Applicability.SAFE) == script(after)


_MAIN = 'if __name__ == "__main__":'


@pytest.mark.parametrize(
    "guard", [f'# Only as a script.\n{_MAIN}\n    print("done")\n', f'{_MAIN} print("done")\n']
)
def test_a_guard_at_the_end_stays_where_it_is(guard: str) -> None:
    result = fixed(script(f"{LOOP}\n\n{guard}"), Applicability.SAFE)
    assert result == script(f"{_MAIN}\n{textwrap.indent(LOOP, '    ')}\n\n{guard}")


@pytest.mark.parametrize("unit", ["    ", "  "])
def test_a_guard_that_follows_gets_what_moves(unit: str) -> None:
    header, rest = f"{_MAIN}  # no worker\n", f'{unit}# At last.\n{unit}print("done")\n'
    result = fixed(script(f"{LOOP}\n\n{header}{rest}"), Applicability.SAFE)
    assert result == script(f"{header}{textwrap.indent(LOOP, unit)}\n{rest}")


def test_the_search_path_stays_at_the_top() -> None:
    loop = "for batch in DataLoader(Numbers(), num_workers=2):\n    print(batch)\n"
    result = fixed(script("import sys\nsys.path.append('..')\n" + loop), Applicability.SAFE)
    assert "\nsys.path.append('..')\n\nif __name__" in result


def test_a_guard_with_more_conditions_stays_where_it_is() -> None:
    guard = 'if __name__ == "__main__" and not torch.cuda.is_available():\n    print("slow")\n'
    loop = "for batch in DataLoader(Numbers(), num_workers=2):\n    print(batch)\n"
    result = fixed(script(guard + loop), Applicability.SAFE)
    moved = 'if __name__ == "__main__":\n' + textwrap.indent(loop, "    ")
    assert result.endswith(f"{guard}\n{moved}")


@pytest.mark.parametrize(
    ("end", "moves"),
    [("# train(0)\n# for x in y:\n#     z(x)\n", True), ("# That is all.\n", False), ("# vim: set(x)\n", False)],
)
def test_code_that_is_commented_out_at_the_end_goes_along(end: str, moves: bool) -> None:
    code = (
        "from torch.utils.data import DataLoader\nfor batch in DataLoader(range(8), num_workers=2):\n    print(batch)\n"
    )
    source = Source("a.py", code + "\n" + end)
    loop = code.index("for ")
    edit = guarded(source, Span(loop, len(code) - 1), Span(loop, len(code) - 1))
    assert edit is not None
    result = apply(source.text, [edit])
    assert result.endswith("        print(batch)\n\n" + (textwrap.indent(end, "    ") if moves else end))


def test_a_string_at_the_end_stays_where_it_is() -> None:
    text = '\n"""\nHow to run it.\n"""\n'
    assert fixed(script(LOOP + text), Applicability.SAFE).endswith("        print(batch)\n" + text)


@pytest.mark.parametrize(("item", "moves"), [("vars(self)['size']", True), ("eval('scale')", False), ("vars()", False)])
def test_names_that_are_looked_up(item: str, moves: bool) -> None:
    fix = fix_of(script("scale = 1\n" + LOOP, item=item))
    assert (fix.applicability is Applicability.SAFE) == moves


def test_tabs_and_newlines_are_the_files_own() -> None:
    text = script(LOOP).replace("    ", "\t").replace("\n", "\r\n")
    result = fixed(text, Applicability.SAFE)
    assert '\r\nif __name__ == "__main__":\r\n\tfor batch in' in result
    assert "\r\n\t\tprint(batch)\r\n" in result


@pytest.mark.parametrize(
    ("files", "trust"),
    [
        (script(LOOP), Applicability.SAFE),
        (script(MAIN + "main()\n"), Applicability.UNSAFE),
        ({"train.py": "import more\n" + script(LOOP), "more.py": "import torch\n"}, Applicability.UNSAFE),
        (script("from multiprocessing import Process\nProcess(target=print).start()\n"), Applicability.UNSAFE),
    ],
)
def test_only_a_plain_script_is_safe(files: str | Mapping[str, str], trust: Applicability) -> None:
    assert fix_of(files).applicability is trust


@pytest.mark.parametrize(
    ("above", "moves"),
    [
        ("model = torch.nn.Linear(1, 1)", True),
        ("torch.manual_seed(0)", True),
        ("torch.backends.cudnn.benchmark = True", True),
        ("import random", False),
        ("if torch:\n    import random", True),
        ("if torch:\n    from random import *", False),
        ("def helper(): pass", False),
        ("from collections import namedtuple\nPoint = namedtuple('Point', 'x')", False),
        ("WIDTH = 3", True),
        ("scale = 3", False),
        ("torch.set_default_dtype(torch.float64)", False),
        ("np.seterr(all='raise')", False),
        ("Numbers.width = 3", False),
        ("table['a'] = 1", False),
        ("table.update(a=1)", False),
        ("Dataset.extra = 1", False),
    ],
)
def test_what_workers_need_stays_above(above: str, moves: bool) -> None:
    head = "table = {}\nstr(table)\n"
    text = script(f"{head}{above}\n{LOOP}", item="index * scale + len(table)")
    result = fixed(text, Applicability.SAFE)
    guard = result.index("if __name__")
    assert (guard < result.index(above.splitlines()[-1].strip())) == moves
    assert guard < result.index("for batch in")


REFUSED = [
    ("scale = 1\n" + LOOP + "scale = 2\n" + LOOP, "worker code (`Numbers.__getitem__`) reads `scale`"),
    (LOOP + "x = 1\ndef later(a=x): pass\n", "workers may need `later`, defined in line 20, which reads what"),
    (LOOP + "def later(): pass\nlater = 1\n", "workers may need `later`, defined in line 19, a name that is"),
    (LOOP + "from random import *\n", "workers may need the names that line 19 imports"),
    (LOOP + "if torch:\n    from random import *\n", "workers may need the names that line 19 imports"),
    ("if torch.rand(1):\n    def scale(): pass\n    " + LOOP.replace("\n", "\n    ").strip() + "\n", "reads `scale`"),
    (LOOP + "Numbers.width = 3\n" + LOOP, "`Numbers` is changed there"),
    (LOOP + "torch.set_default_dtype(torch.float64)\n", "`torch.set_default_dtype` is set for this process only"),
    ("scale = []\n" + LOOP + "scale.append(1)\n", "worker code reads `scale`, which may be changed there"),
    ("scale = {}\n" + LOOP + "scale['a'] = 1\n", "worker code reads `scale`, which is changed there"),
    ("scale = [[]]\n" + LOOP + "for part in scale:\n    part.append(1)\n", "`scale`, which may be changed there"),
    ("scale = [{}]\n" + LOOP + "for i, part in enumerate(scale):\n    part['a'] = i\n", "`scale`, which is changed"),
    ("scale = [torch]\n" + LOOP + "for a, b in zip(scale, []):\n    a.data['a'] = b\n", "`scale`, which is changed"),
    ("scale = {}\n" + LOOP + "for a, b in scale.items():\n    b.data = a\n", "`scale`, which is changed there"),
    ("scale = [[]]\n" + LOOP + "scale[0].append(1)\n", "`scale`, which may be changed there"),
    (MAIN + "def more():\n    global scale\n    scale = 1\nmain(more())\n", "reads `scale`, which is set there"),
    ("scale = {}\n" + MAIN + "def more(x):\n    x['a'] = 1\nmain(more(scale))\n", "reads `scale`, which is changed"),
    (MAIN + "def more():\n    Numbers.scale = 1\nmain(more())\n", "`Numbers` is changed there"),
    ("x = 1; list(DataLoader(Numbers(), num_workers=2))\n", "a line holds several statements"),
    ("# %%\n" + LOOP, "this is a notebook"),
    (f"{JOIN}rank = dist.get_rank()\ndef f(a=rank): pass\n{LOOP}", "joins a process group in every worker (train.py:"),
    ("import os\nif os.path.exists('a'):\n    exit(x := 3)\ndef f(a=x): pass\n" + LOOP, "is there by then (train"),
    ("torch.set_default_dtype(torch.half)\n" + LOOP + "torch.set_default_dtype(torch.float32)\n", "is set for this"),
    ("def f():\n    return late\nlist(DataLoader(unknown(), num_workers=2))\nlate = 1\n", "may run (`f`) reads `late`"),
]  # fmt: skip


@pytest.mark.parametrize(("tail", "why"), REFUSED)
def test_what_workers_would_miss_is_not_moved(tail: str, why: str) -> None:
    assert why in refused(script(tail, item="index * scale"))


@pytest.mark.parametrize(
    "tail",
    [
        "scale = ['a']\n" + LOOP + "for part in scale:\n    part.casefold()\n",
        "scale = [[]]\n" + LOOP + "for part in scale:\n    print(part)\nfor part in [[]]:\n    part.append(1)\n",
        "scale = [[]]\n" + LOOP + "for i in range(len(scale)):\n    i.real = 1\n",
    ],
)
def test_what_is_no_element_of_what_workers_read_may_change(tail: str) -> None:
    assert "if __name__" in fixed(script(tail, item="index * scale"), Applicability.SAFE)


def test_definitions_below_go_above_the_guard() -> None:
    tail = """\
    loader = DataLoader(Numbers(), num_workers=2)
    print(len(loader))
    # One epoch.
    def train(epoch):
        for batch in loader:
            print(batch, epoch)
        # done
    import random
    # The start.
    train(random.random())
    class Later:
        size = 1
    print(Later)
    """
    after = """\
    # One epoch.
    def train(epoch):
        for batch in loader:
            print(batch, epoch)
        # done


    class Later:
        size = 1


    if __name__ == "__main__":
        for batch in DataLoader(Numbers(), num_workers=2):
            print(batch)
        loader = DataLoader(Numbers(), num_workers=2)
        print(len(loader))
        import random
        # The start.
        train(random.random())
        print(Later)
    """
    assert fixed(script(LOOP + textwrap.dedent(tail))) == script(textwrap.dedent(after))


def test_what_ends_the_program_goes_under_the_guard_and_functions_above_it() -> None:
    ends = "import os\nscale = 3\nif os.path.exists('out'):\n    exit()\ndef count(by=scale):\n    return by\n"
    result = fixed(script(ends + "count()\n" + LOOP, item="index"), Applicability.SAFE)
    assert "scale = 3\n\n\ndef count(by=scale):\n    return by\n\n\nif __name__ == " in result
    assert "    if os.path.exists('out'):\n        exit()\n    count()\n    for batch in" in result


def test_a_setting_that_is_the_default_anyway_is_no_change() -> None:
    result = fixed(script("torch.set_default_dtype(torch.float32)\n" + LOOP), Applicability.SAFE)
    assert '"__main__":\n    torch.set_default_dtype' in result


@pytest.mark.parametrize(
    ("tail", "moves"),
    [
        ("torch.set_grad_enabled(True)\n" + LOOP, True),
        (LOOP + "torch.autograd.set_grad_enabled(mode=True)\n", True),
        ("with torch.set_grad_enabled(False):\n    print()\n" + LOOP + "torch.set_grad_enabled(True)\n", True),
        ("torch.set_grad_enabled(False)\n" + LOOP + "torch.set_grad_enabled(True)\n", False),
        (LOOP + "torch.set_grad_enabled(len('abc') > 2)\n", False),
    ],
)
def test_gradients_that_are_on_in_every_process(tail: str, moves: bool) -> None:
    if moves:
        assert '"__main__":\n    ' in fixed(script(tail), Applicability.SAFE)
    else:
        assert "is set for this process only" in refused(script(tail))


LOCAL = """\
def shown():
    pass


def show(item):
    config = {made}
    config.size = item


"""


@pytest.mark.parametrize(("made", "moves"), [("lambda: None", True), ("shown", False), ("Numbers", False)])
def test_what_each_run_of_a_function_makes_may_be_changed(made: str, moves: bool) -> None:
    code = script(LOCAL.format(made=made) + LOOP + "show(3)\n")
    if moves:
        assert '"__main__":\n    ' in fixed(code, Applicability.SAFE)
    else:
        assert "`config` is changed there, and workers import it unchanged" in refused(code)


PATCHED = """\
import networks.layers


class Model:
    def __init__(self):
        networks.layers.Layer = None
"""
PATCHING = (
    "from {place} import Numbers\nfrom models import Model\n"
    "from torch.utils.data import DataLoader\nmodel = Model()\n{loop}model = Model()\n"
)


@pytest.mark.parametrize(
    ("data", "moves"),
    [
        ("", True),
        ("import json\n", True),
        ("import networks\n", False),
        ("import loading\n", False),
    ],
)
def test_a_library_that_workers_have_nothing_to_do_with_may_be_changed(data: str, moves: bool) -> None:
    files = {
        "train.py": PATCHING.format(place="rows", loop=LOOP),
        "models.py": PATCHED,
        "rows.py": data + HEAD.format(item="index"),
    }
    if moves:
        assert '\nif __name__ == "__main__":\n' in fixed(files)
    else:
        assert "`networks.layers` is changed there, and workers import it unchanged (models.py:6)" in refused(files)


def test_a_library_whose_object_a_dataset_keeps_may_not_be_changed() -> None:
    tail = LOOP.replace("Numbers()", "Numbers(networks.Crop(3))")
    files = {
        "train.py": "import networks\n" + PATCHING.format(place="rows", loop=tail),
        "models.py": PATCHED,
        "rows.py": HEAD.format(item="self.size(index)"),
    }
    assert "`networks.layers` is changed there" in refused(files)


@pytest.mark.parametrize("name", ["torch.Tensor.shown", "numpy.random.shown"])
def test_a_library_that_others_build_upon_may_not_be_changed(name: str) -> None:
    head = f"import {name.partition('.')[0]}\n"
    assert "is changed there" in refused(head + script(LOOP + f"{name} = 3\n"))


def test_an_import_that_workers_need_goes_above_the_guard() -> None:
    result = fixed(script(LOOP + "import random\nprint(random)\n", item="random.random()"))
    assert result.index("import random") < result.index("if __name__") < result.index("print(random)")


def test_a_lookup_in_another_file_cannot_see_the_names_of_the_script() -> None:
    data = HEAD.format(item="eval('index')")
    files = {"train.py": "from data import *\nscale = 1\n" + LOOP, "data.py": data}
    assert "if __name__" in fixed(files)


def test_a_bare_call_of_main_is_guarded() -> None:
    main = (
        "scale = 1\ndef main(*more):\n    global scale\n    scale = 2\n    loader = build(unknown)\n    list(loader)\n"
    )
    build = "def build(data):\n    return DataLoader(data, num_workers=2)\n"
    result = fixed(script(build + main + "main()\n"))
    assert result.endswith('\nif __name__ == "__main__":\n    main()\n')


def test_a_test_runner_imports_tests_only() -> None:
    head = "import data_test\n"
    files = {"data_test.py": "import torch\n", "train.py": head + script(LOOP)}
    assert "if __name__" in fixed(files)


def test_a_file_of_the_same_folder_is_what_an_import_means() -> None:
    files = {"train.py": script(LOOP), "other/train.py": "import torch\n", "other/run.py": "import train\n"}
    assert fix_of(files).applicability is Applicability.SAFE


def test_a_page_of_a_gallery_keeps_its_blocks_at_the_margin() -> None:
    title = '"""\nTraining\n========\n\nHow it is done.\n"""\n'
    block = "#" * 79 + "\n# Then we loop.\n"
    assert "a gallery renders" in refused(title + script(block + LOOP))
    assert "if __name__" in fixed(script(block + LOOP), Applicability.SAFE)
    assert "if __name__" in fixed(title + script(LOOP), Applicability.SAFE)


def test_a_banner_is_read_in_one_pass() -> None:
    """It took time that doubles with each character."""
    banner = f"{'#' * 79}\n# pytorch\n# by hand\n{'#' * 79}\n\n"
    assert "if __name__" in fixed(banner + script("#" * 79 + "\n" + LOOP), Applicability.SAFE)
    commented = banner + '"""\nTraining\n========\n"""\n' + script("#" * 79 + "\n" + LOOP)
    assert "a gallery renders" in refused(commented)


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("other.py", "import train\n", "other.py imports this file"),
        ("other.py", "from train import loader\n", "other.py imports this file"),
        ("other.py", "from __main__ import loader\n", "other.py imports this file"),
        ("a/b.py", "import importlib\nimportlib.import_module('train')\n", "a/b.py may import this file by its name"),
        ("a/b.py", "import runpy\nrunpy.run_path('scripts/train.py')\n", "a/b.py may import this file by its name"),
    ],
)
def test_a_file_that_others_import_is_left_alone(path: str, text: str, why: str) -> None:
    assert refused({"train.py": script(LOOP), path: text}) == why


def test_a_name_in_another_package_is_another_file() -> None:
    names = "import importlib\ndef find(name):\n    if name == 'train':\n        print(name)\n    {}\n"
    files = {"train.py": script(LOOP), "rows/train.py": "count = 4\n"}
    found = names.format("where = 'rows.{}'.format(name)\n    return importlib.import_module(where)")
    assert fix_of({**files, "rows/__init__.py": found}).applicability is Applicability.SAFE
    assert "may import" in refused({"train.py": script(LOOP), "rows/__init__.py": found})
    found = names.format("return importlib.import_module(f'.{name}', 'rows')")
    assert fix_of({**files, "rows/__init__.py": found}).applicability is Applicability.SAFE
    found = names.format("return importlib.import_module(name)")
    assert "may import" in refused({**files, "rows/__init__.py": found})


def test_a_package_runs_when_it_is_imported_and_tests_when_they_are_run() -> None:
    files = {"rows/__init__.py": script(LOOP), "train.py": "import rows\n"}
    assert refused(files, path="rows/__init__.py") == "whatever imports the package runs this file"
    text = script(LOOP + "def test_rows():\n    pass\n")
    assert refused({"tests/train.py": text}, path="tests/train.py") == "a test runner imports this file"


OTHERS = ["import pretrain\n", "from utils import train\n", "from a.train import x\n", "'train'\n"]


@pytest.mark.parametrize("text", OTHERS)
def test_other_names_are_no_imports(text: str) -> None:
    files = {"train.py": script(LOOP), "other.py": text, "utils.py": "def train(): pass\n"}
    assert fix_of(files).applicability is Applicability.SAFE


def test_scripts_of_the_package_import_their_modules() -> None:
    assert refused(script(LOOP), Targets(scripts=("train",))) == "a console script imports this file"


def test_what_passes_or_is_told_elsewhere_is_no_change() -> None:
    head = "import logging\nlogger = logging.getLogger()\n"
    tail = "with torch.set_grad_enabled(False):\n    logger.info('a')\n" + textwrap.indent(LOOP, "    ")
    assert "\n    with torch" in fixed(script(head + tail, item="logger.name and index"), Applicability.SAFE)


def test_settings_of_other_files_count() -> None:
    config = "class Config:\n    scale = 1\n    def load(self, x):\n        self.scale = x\n\n\ncfg = Config()\n"
    text = "from config import cfg\n" + script("cfg.load(3)\n" + LOOP + "cfg.load(4)\n", item="index * cfg.scale")
    assert "worker code reads `cfg` of config.py, which" in refused({"train.py": text, "config.py": config})
    quiet = "from config import cfg\n" + script(LOOP + "cfg.load(4)\n")
    assert "if __name__" in fixed({"train.py": quiet, "config.py": config})
    text = "import config\n" + script(LOOP + "config.cfg = 4\n", item="index * config.cfg")
    assert "worker code reads `cfg` of `config`, which is set there" in refused({"train.py": text, "config.py": config})


def test_the_second_statement_that_calls_one_function_counts_too() -> None:
    tail = MAIN + 'def twice():\n    main()\n\n\ntwice()\nprint("between")\nmain()\n'
    result = fixed(script(tail))
    assert '\nif __name__ == "__main__":\n    twice()\n    print("between")\n    main()\n' in result


RUNNER = """\
import torch
from torch.multiprocessing import Process


class Runner:
    def __init__(self, number):
        self.number = number
        torch.set_default_dtype(torch.float64)
        self.work()

    def work(self):
        torch.backends.mine = Runner.size = self.number


{}
process = Process(target=Runner, args=(1,))
process.start()
Runner(0)
"""


def test_what_workers_do_themselves_they_do_not_need_of_the_script() -> None:
    result = fixed(RUNNER.format(""))
    assert '\nif __name__ == "__main__":\n    process = Process(' in result
    later = RUNNER.format("") + "torch.set_default_dtype(torch.float32)\n"
    assert "`torch.set_default_dtype` is set for this process only" in refused(later)


POOL = """\
import multiprocessing

found = []


def work(number):
    return number


def keep(number):
    found.append(number)


pool = multiprocessing.Pool(2)
for number in range(3):
    pool.apply_async(work, (number,), callback=keep)
pool.close()
pool.join()
found.append(3)
"""


def test_a_pool_calls_its_callbacks_in_the_main_process() -> None:
    assert "\n    found.append(3)\n" in fixed(POOL)
    for more in ("    keep(3)\n", "    print(found)\n"):
        text = POOL.replace("    return number\n", f"{more}    return number\n")
        assert "reads `found`, which may be changed there" in refused(text)


LINES = """\
import multiprocessing
from tqdm import tqdm
from tools import load, names

options = load("options")
{}

def read(line):
    return options[line]


def work(number):
    return number


{}with multiprocessing.Pool(2) as pool:
    for item in pool.imap({}):
        print(item)
"""
GUARDED = '\nif __name__ == "__main__":\n    options = load("options")\n'


@pytest.mark.parametrize(
    ("between", "given"),
    [
        ("", "work, map(read, names)"),
        ("lines = tqdm(map(read, sorted(names)))\nlines.set_description()\n", "work, lines"),
        ("print(read(names[0]))\n", "work, names"),
        ("def show():\n    return read(names[0])\n\nprint(show())\n", "work, names"),
    ],
)
def test_what_only_the_main_process_calls_does_not_keep_what_it_reads_above(between: str, given: str) -> None:
    assert GUARDED in fixed(LINES.format("", between, given))


@pytest.mark.parametrize(
    ("above", "between", "given"),
    [
        ("", "", "read, names"),
        ("", "", "work, [read]"),
        ("", "lines = map(read, names)\n", "work, [lines]"),
        ("", "lines = map(read, names)\nother = lines\n", "work, lines"),
        ("", "lines = map(read, names)\n", "lines.send, names"),
        ("", "def other(function=read):\n    return function(1)\n\n", "work, names"),
        ("", "class Other:\n    line = read(1)\n\n", "work, names"),
        ("", "def other():\n    return read(1)\n\n", "work, names"),
        ("", "", "globals()['read'], names"),
        ("map = choose()\n", "", "work, map(read, names)"),
    ],
)
def test_what_workers_may_call_keeps_what_it_reads_above(above: str, between: str, given: str) -> None:
    assert GUARDED not in fixed(LINES.format(above, between, given))


def test_a_module_that_is_reloaded_is_read_as_a_worker_has_it() -> None:
    text = "import importlib\nimport config\n" + script(
        LOOP + "config.scale['a'] = 4\n", item="index * len(config.scale)"
    )
    files = {"train.py": text, "config.py": "scale = {}\n"}
    assert "worker code reads `scale`" in refused(files)
    files["train.py"] = text.replace("        return index", "        importlib.reload(config)\n        return index")
    assert "    config.scale['a'] = 4\n" in fixed(files)


@pytest.mark.parametrize(
    ("work", "moves"),
    [
        ("state = torch.load('state.pt')", True),
        ("model = torch.nn.Linear(1, 1).cuda()", True),
        ("def fetch():\n    os.makedirs('data')\nfetch()", True),
        ("model = torch.nn.Linear(1, 1)", True),
        ("print('hello')", True),
        ("text = ' '.join('ab')", False),
    ],
)
def test_work_that_every_worker_would_do_again_does_not_stay_above_functions(work: str, moves: bool) -> None:
    text = script(f"import os\n{work}\ndef score(batch):\n    return batch * 2\n{LOOP}")
    result = fixed(text, Applicability.SAFE)
    guard = result.index("if __name__")
    assert result.index("def score") < guard < result.index("for batch in")
    assert (guard < result.rindex(work.splitlines()[-1])) == moves


def test_work_stays_where_a_function_needs_it_when_it_is_made() -> None:
    for parameters, item in (("batch, state=state", "index"), ("batch", "index, state")):
        text = script(f"state = torch.load('state.pt')\ndef score({parameters}):\n    return batch\n{LOOP}", item=item)
        result = fixed(text, Applicability.SAFE)
        assert result.index("state = torch") < result.index("def score") < result.index("if __name__")


def test_empty_lines_between_functions_stay_as_they_are() -> None:
    functions = "def score(batch):\n    return batch\n\ndef test():\n    return score(1)\ndef save():\n    pass\n"
    result = fixed(script(f"model = torch.nn.Linear(1, 1).cuda()\n\n{functions}{LOOP}"), Applicability.SAFE)
    assert f"\n\n\n{functions}\n\nif __name__" in result


def test_lines_that_move_have_one_kind_of_indentation() -> None:
    loop = "for number in range(3):\n\tif number:\n\t\t# more\n\t\tprint(number,\n\t\t      number)\n"
    result = fixed(script(f"if True:\n    print(1)\n    print(2)\n{loop}{LOOP}"), Applicability.SAFE)
    moved = "    for number in range(3):\n        if number:\n            # more\n            print(number,\n"
    assert moved in result
    assert "\t" not in result


BETWEEN = """\
from torch import nn
{before}
model = nn.Linear(1, 1).cuda()
{imports}
print(model)
"""


@pytest.mark.parametrize(
    ("before", "imports"),
    [
        ("parts = 3", "import time"),
        ("parts = 3", "import time\nimport os.path"),
        ("parts = 3", "from torch.optim import Adam"),
        ("torch.manual_seed(0)", "import time"),
        ("os.environ['A'] = '1'", "import time"),
    ],
)
def test_imports_between_go_with_the_imports(before: str, imports: str) -> None:
    text = script("")[: -len("\n")] + BETWEEN.format(before=before, imports=imports) + LOOP
    result = fixed(text).replace('"__main__"', "'__main__'")
    assert f"from torch import nn\n{imports}\n\n\nif __name__ == '__main__':\n    {before}\n    model = " in result
    assert result.endswith(
        "    print(model)\n    for batch in DataLoader(Numbers(), num_workers=2):\n        print(batch)\n"
    )


@pytest.mark.parametrize(
    ("before", "imports"),
    [
        ("parts = 3", "import pandas"),
        ("parts = 3", "from torch.optim import *"),
        ("parts = 3", "try:\n    import time\nexcept ImportError:\n    pass"),
        ("torch.use_deterministic()", "from torch.optim import Adam"),
        ("os.environ['A'] = '1'", "from torch.optim import Adam"),
        ("import sys; sys.path.append('..'); x = 1", "from torch.optim import Adam"),
        ("time = 3", "import time"),
    ],
)
def test_an_import_that_something_above_may_prepare_stays_where_it_is(before: str, imports: str) -> None:
    text = script("")[: -len("\n")] + BETWEEN.format(before=before, imports=imports) + LOOP
    result = apply(text, fix_of(text).edits)
    assert result.index(before) < result.index(f"\n{imports}\n") < result.index("if __name__")


def test_an_import_below_other_statements_goes_to_the_top() -> None:
    text = script(f"torch.set_num_threads(1)\nmodel = torch.load('m')\ndef f(x):\n    return x\nimport time\n{LOOP}")
    result = fixed(text, Applicability.UNSAFE)
    assert result.startswith("import time\n\nimport numpy as np\n")
    assert result.count("import time") == 1


@pytest.mark.parametrize(
    ("above", "again", "moves"),
    [
        ("import time", "import time", True),
        ("import os.path as path", "import os.path as path", True),
        ("import os.path as path", "from os import path", False),
        ("time = 3", "import time", False),
        ("if torch:\n    import time", "import time", False),
    ],
)
def test_an_import_that_is_repeated_stops_nothing(above: str, again: str, moves: bool) -> None:
    text = script(f"{above}\nmodel = torch.load('m')\n{again}\nprint(model)\n{LOOP}")
    result = apply(text, fix_of(text).edits)
    assert (result.index("if __name__") < result.index("model =")) == moves
    assert (result.count(again) == 1) == moves or above not in again


def test_a_logger_that_workers_need_goes_above_the_guard() -> None:
    tail = (
        "import logging\nhandler = logging.FileHandler('log')\nlogger = logging.getLogger('')\n"
        "logger.addHandler(handler)\n\n\ndef f(x):\n    return x\n"
    )
    result = fixed(script(f"{tail}{LOOP}", item="logger.info(index)"))
    above, _, below = result.partition("if __name__")
    assert "import logging\n\n\nlogger = logging.getLogger('')\n\n\ndef f(x):" in above
    assert ":\n    handler = logging.FileHandler('log')\n    logger.addHandler(handler)\n" in below
    tail = tail.replace("''", "torch.name")
    result = fixed(script(f"{tail}{LOOP}", item="logger.info(index)"), Applicability.SAFE)
    assert result.index("FileHandler") < result.index("if __name__")


def test_an_import_without_work_above_stays_where_it_is() -> None:
    text = script("parts = 3\nstr(parts)\nimport time\nprint(time)\n" + LOOP)
    assert "str(parts)\nimport time\n\nif __name__ == " in fixed(text, Applicability.SAFE)


@pytest.mark.parametrize(
    ("below", "stays"),
    [("optimizer = Adam(model)", True), ("", False), ("from torch.optim import SGD\n", False)],
)
def test_a_comment_about_an_import_and_what_follows_stays_there(below: str, stays: bool) -> None:
    imports = f"# The optimizer.\nfrom torch.optim import Adam\n{below}"
    text = script("")[: -len("\n")] + BETWEEN.format(before="parts = 3", imports=imports) + LOOP
    result = fixed(text)
    guard = result.index("if __name__")
    assert result.index("import Adam") < guard
    assert (guard < result.index("# The optimizer.")) == stays
    assert ("    # The optimizer.\n    optimizer = Adam(model)\n" in result) == stays


@pytest.mark.parametrize(
    ("method", "why"), [("rsplit('/')", ""), ("upper()", ""), ("update(1)", "may be changed there")]
)
def test_methods_of_strings_change_nothing(method: str, why: str) -> None:
    text = script("import os\nname = os.path.join('a', 'b')\n" + LOOP + f"name.{method}\n", item="len(name)")
    if why:
        assert why in refused(text)
    else:
        assert f"    name.{method}" in fixed(text, Applicability.SAFE)


def test_workers_need_nothing_of_where_the_program_prints() -> None:
    tee = (
        "import sys\nclass Tee:\n    def __init__(self):\n        self.screen = sys.stdout\n        sys.stdout = self\n"
    )
    assert "\n    Tee()\n    for batch in" in fixed(script(tee + "Tee()\n" + LOOP), Applicability.SAFE)
    assert "`sys` is changed there" in refused(script("import sys\n" + LOOP + "sys.float_info = 1\n"))


@pytest.mark.parametrize(
    ("name", "item", "moves"),
    [
        ("torch._utils._rebuild_rows", "index", True),
        ("torch.rebuild_rows", "index", False),
        ("torch._utils._rebuild_rows", "torch._utils._rebuild_rows(index)", False),
    ],
)
def test_what_a_library_lacks_in_private_workers_do_not_miss(name: str, item: str, moves: bool) -> None:
    tail = f"import torch._utils\ntry:\n    {name}\nexcept AttributeError:\n    {name} = print\n"
    result = fixed(script(tail + LOOP, item=item), Applicability.SAFE)
    assert (f"        {name} = print" in result) == moves


@pytest.mark.parametrize(("kind", "stays"), [("raise", True), ("print('no more')", True), ("start()", False)])
def test_imports_that_tell_what_is_missing_are_imports(kind: str, stays: bool) -> None:
    tried = f"try:\n    import more\nexcept ImportError:\n    {kind}\n"
    result = fixed(script(tried + "print('begins')\n" + LOOP), Applicability.SAFE)
    assert (result.index("import more") < result.index("if __name__")) == stays


def test_a_name_by_the_version_of_a_library_stays_with_the_imports() -> None:
    chosen = "if torch.__version__ < '2':\n    drop = torch.nn.Dropout\nelse:\n    drop = torch.nn.Dropout1d\n"
    result = fixed(script(chosen + "model = drop()\n" + LOOP), Applicability.SAFE)
    assert f"\n{chosen}\nif __name__" in result.replace('"__main__"', "'__main__'")


def test_a_function_may_be_called_as_a_builtin_where_nothing_read_that_before() -> None:
    defined = "def eval(model):\n    return model\n"
    for before, rises in (("print('begins')", True), ("eval('1')", False)):
        text = script(f"{before}\n{defined}eval(1)\n{LOOP}")
        result = fixed(text, Applicability.SAFE)
        assert result.index("def eval") < result.index("if __name__") < result.index("    eval(1)")
        assert (f"\n    {before}\n" in result) == rises


HEADED = """\
import os
# Load it before torch.

######
# Options
# ------

print(os.name)
# ======
# Training the model
# ======

count = 3
def train_model():
    print(count)
# ------
# Data

# Where it is.

def find():
#   =====
    return "train_model"
for batch in DataLoader(Numbers(), num_workers=2):
    train_model()
    # find()

# done
"""
WITH_HEADINGS = """\
import os
# Load it before torch.


# ======
# Training the model
# ======

def train_model():
    print(count)
# ------
# Data

# Where it is.

def find():
#   =====
    return "train_model"


if __name__ == "__main__":
    ######
    # Options
    # ------

    print(os.name)

    count = 3
    for batch in DataLoader(Numbers(), num_workers=2):
        train_model()
        # find()

# done
"""


def test_headings_go_with_what_they_are_about() -> None:
    assert fixed(script(HEADED), Applicability.SAFE) == script(WITH_HEADINGS)


def test_code_that_is_commented_out_is_no_heading() -> None:
    head = "import os\n\n# from os import path\n\n"
    assert head in fixed(script(head + "print(os.name)\n" + LOOP), Applicability.SAFE)


def test_a_single_odd_indentation_is_none_of_the_block() -> None:
    result = fixed(
        script("size = 1\nif size:\n     print(size)\nlist(DataLoader(Numbers(), num_workers=2))\n"), Applicability.SAFE
    )
    assert "\n    size = 1\n    if size:\n         print(size)\n" in result
