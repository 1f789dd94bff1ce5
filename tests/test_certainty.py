"""A finding is certain only if every test on the way is decided, and the calls on the way take what they are given."""

from __future__ import annotations

import textwrap

import pytest
from dllint_rules.correctness.dll602_rng_on_dataset import RngOnDataset
from dllint_rules.correctness.dll609_state_only_in_main import StateOnlyInMain
from dllint_rules.memory.dll201_path_list_on_dataset import PathListOnDataset
from dllint_rules.memory.dll204_growing_cache import GrowingCache
from dllint_rules.memory.dll208_loader_cached_by_cycle import LoaderCachedByCycle
from dllint_rules.pickling.dll102_lambda_on_dataset import LambdaOnDataset
from dllint_rules.pickling.dll103_lambda_to_loader import LambdaToLoader
from dllint_rules.pickling.dll107_local_target import LocalTarget
from dllint_rules.pickling.dll109_guarded_name_in_worker import GuardedNameInWorker
from dllint_rules.start.dll302_cuda_in_worker import CudaInWorker
from dllint_rules.start.dll308_import_side_effect_in_worker import ImportSideEffectInWorker

from dllint import Certainty, Project, Rule
from dllint.collect import collect
from dllint.source import Source
from dllint.targets import Targets

DATASET = """
from torch.utils.data import DataLoader, Dataset


class Pages(Dataset):
    def __init__(self, root, {parameters}):
        self.root = root
        self.crop = lambda page: page[:8]

    def __getitem__(self, index):
        return self.crop([index])


{program}
"""


def certainties(parameters: str, program: str, rule: type[Rule] = LambdaOnDataset) -> list[Certainty]:
    source = Source("train.py", DATASET.format(parameters=parameters, program=textwrap.dedent(program)))
    project = Project({"train.py": collect(source)}, Targets(), lambda path: source)
    return [found.certainty for found in rule().check(project)]


@pytest.mark.parametrize(
    ("parameters", "arguments", "certainty"),
    [
        ("size=8", "size=4", Certainty.CERTAIN),
        ("size=8", "4", Certainty.CERTAIN),
        ("*, size=8", "size=4", Certainty.CERTAIN),
        ("*sizes", "4, 8", Certainty.CERTAIN),
        ("**options", "masks=True", Certainty.CERTAIN),
        ("size=8", "masks=True", Certainty.LIKELY),
        ("size=8", "4, True", Certainty.LIKELY),
        ("*, size=8", "4", Certainty.LIKELY),
    ],
)
def test_what_a_class_does_not_take_is_never_sent(parameters: str, arguments: str, certainty: Certainty) -> None:
    program = f'list(DataLoader(Pages("pages", {arguments}), num_workers=2))'
    assert certainties(parameters, program) == [certainty]


@pytest.mark.parametrize(
    ("number", "certainty"),
    [
        ("4", Certainty.CERTAIN),
        ("4 if options.fast else 2", Certainty.CERTAIN),
        ("0 if options.debug else 4", Certainty.LIKELY),
        ('0 if sys.platform == "win32" else 4', Certainty.CERTAIN),
    ],
)
def test_a_number_that_may_be_0_makes_workers_likely(number: str, certainty: Certainty) -> None:
    program = f"""
        import sys
        import options
        list(DataLoader(Pages("pages"), num_workers={number}))
        """
    assert certainties("size=8", program) == [certainty]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("loader.dataset.crop = len", [Certainty.LIKELY]),
        ("loader.dataset.root = None", [Certainty.CERTAIN]),
        ("loader.dataset.crop = lambda page: page", [Certainty.CERTAIN, Certainty.LIKELY]),
    ],
)
def test_what_is_given_another_value_later_is_likely_sent(line: str, expected: list[Certainty]) -> None:
    program = f"""
        loader = DataLoader(Pages("pages"), num_workers=4)
        {line}
        list(loader)
        """
    assert certainties("size=8", program) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("pass", "pass", []),
        ("kept = pages", "pass", [Certainty.LIKELY]),
        ("list(DataLoader(pages, num_workers=4))", "pass", [Certainty.LIKELY]),
        ("list(send())", "pass", [Certainty.LIKELY]),
        ("pass", "pages.reset()", [Certainty.LIKELY]),
    ],
)
@pytest.mark.parametrize("around", ["if True:", "def program():"])
def test_what_a_program_replaces_at_once_is_not_sent(
    before: str, after: str, expected: list[Certainty], around: str
) -> None:
    program = f"""
        class Reset(Pages):
            def reset(self):
                self.crop = lambda page: page

        {around}
            def send():
                return DataLoader(pages, num_workers=4)

            pages = {"Reset" if "reset" in after else "Pages"}("pages")
            {before}
            pages.crop = len
            {after}
            list(send())
        """
    assert certainties("size=8", program) == expected


@pytest.mark.parametrize(("test", "certainty"), [("True", Certainty.CERTAIN), ("sys.argv[1:]", Certainty.LIKELY)])
def test_what_loops_over_a_loader_is_no_surer_than_that_it_is_made(test: str, certainty: Certainty) -> None:
    program = f"""
        import itertools
        import sys
        if {test}:
            for batch in itertools.cycle(DataLoader(Pages("pages"))):
                print(batch)
        """
    assert certainties("size=8", program, LoaderCachedByCycle) == [certainty]


@pytest.mark.parametrize(
    ("kind", "certainty"), [("Pool", Certainty.CERTAIN), ("Pool if sys.argv[1:] else ThreadPool", Certainty.LIKELY)]
)
def test_what_a_pool_of_threads_may_get_is_likely_sent(kind: str, certainty: Certainty) -> None:
    program = f"""
        import sys
        from multiprocessing import Pool
        from multiprocessing.pool import ThreadPool
        kind = {kind}
        with kind(4) as pool:
            pool.map(lambda page: 2 * page, [1])
        """
    assert certainties("size=8", program, LocalTarget) == [certainty]


@pytest.mark.parametrize(("number", "certainty"), [("2", Certainty.CERTAIN), ("0 if DEBUG else 2", Certainty.LIKELY)])
def test_what_workers_do_not_see_is_no_surer_than_that_they_start(number: str, certainty: Certainty) -> None:
    program = f"""
        from options import DEBUG
        LIMIT = 8

        class Short(Pages):
            def __getitem__(self, index):
                return super().__getitem__(index)[:LIMIT]

        def main():
            global LIMIT
            LIMIT = 4
            list(DataLoader(Short("pages"), num_workers={number}))

        if __name__ == "__main__":
            main()
        """
    assert certainties("size=8", program, StateOnlyInMain) == [certainty]


@pytest.mark.parametrize(
    ("loop", "certainty"),
    [
        ("for names in loader: print(names)", Certainty.CERTAIN),
        ("for names in loader: print(names); break", Certainty.LIKELY),
        ("for names in loader: print(names); exit()", Certainty.LIKELY),
        ("print(next(iter(loader)))", Certainty.LIKELY),
        ("for names in loader:\n    if not names: break", Certainty.CERTAIN),
        ("for names in loader:\n    if not names: continue\n    break", Certainty.CERTAIN),
        ("for names in loader: break\nfor names in loader: print(names)", Certainty.CERTAIN),
        ("for names in loader: break\ntrain(loader)", Certainty.CERTAIN),
    ],
)
def test_a_loop_that_leaves_with_the_first_batch_likely_copies_little(loop: str, certainty: Certainty) -> None:
    program = """
        import glob
        from training import train

        class ImageNet(Dataset):
            def __init__(self):
                self.files = glob.glob("**/*.png")

            def __len__(self):
                return len(self.files)

            def __getitem__(self, index):
                return self.files[index]

        loader = DataLoader(ImageNet(), num_workers=2)
        """
    assert certainties("size=8", textwrap.dedent(program) + loop, PathListOnDataset) == [certainty]


@pytest.mark.parametrize(("mode", "certainty"), [("test", Certainty.CERTAIN), ("train", Certainty.LIKELY)])
def test_a_list_that_only_workers_of_another_loader_read_is_likely_copied(mode: str, certainty: Certainty) -> None:
    program = f"""
        import glob
        import sys

        class ImageNet(Dataset):
            def __init__(self, mode):
                self.mode = mode
                self.files = glob.glob("**/*.png")

            def __getitem__(self, index):
                if self.mode == "train":
                    return index
                return self.files[index]

        loader = DataLoader(ImageNet("{mode}"), num_workers=2)
        if sys.argv[1:]:
            loader = DataLoader(ImageNet("test"), num_workers=2)
        for names in loader:
            print(names)
        """
    assert certainties("size=8", program, PathListOnDataset) == [certainty]


@pytest.mark.parametrize(
    ("name", "files", "certainty"),
    [
        ("Files", "glob.glob('**/*.png')", Certainty.LIKELY),
        ("ImageNet", "glob.glob('**/*.png')", Certainty.CERTAIN),
        ("ImageNet", "glob.glob('*.png')", Certainty.CERTAIN),
        ("Cityscapes", "glob.glob('**/*.png')", Certainty.LIKELY),
        ("Files", "[f'{name}-{part}' for name in glob.glob('*') for part in range(200_000)]", Certainty.CERTAIN),
        ("Files", "[f'{name}-{part}' for name in glob.glob('*') for part in range(200)]", Certainty.LIKELY),
    ],
)
def test_a_list_that_is_not_known_to_be_long_is_likely_large(name: str, files: str, certainty: Certainty) -> None:
    program = f"""
        import glob

        class {name}(Dataset):
            def __init__(self):
                self.files = {files}

            def __getitem__(self, index):
                return self.files[index]

        for names in DataLoader({name}(), num_workers=2):
            print(names)
        """
    assert certainties("size=8", program, PathListOnDataset) == [certainty]


@pytest.mark.parametrize(
    ("program", "certainty"),
    [
        ("collate = lambda batch: batch", Certainty.CERTAIN),
        ("collate = (lambda batch: batch) if True else None", Certainty.CERTAIN),
        ("collate = (lambda batch: batch) if sys.argv[1:] else None", Certainty.LIKELY),
        ("collate = sys.argv[1:] and (lambda batch: batch)", Certainty.LIKELY),
        ("collate = None\nif sys.argv[1:]: collate = lambda batch: batch", Certainty.LIKELY),
        ("try: from fast import collate\nexcept ImportError: collate = lambda batch: batch", Certainty.LIKELY),
        ("if sys.argv[1:]: sys.exit()\ncollate = lambda batch: batch", Certainty.LIKELY),
        ("collate = lambda batch: batch\nmatch sys.argv[1]:\n    case str(name): collate = None", Certainty.LIKELY),
    ],
)
def test_one_of_two_is_likely_passed(program: str, certainty: Certainty) -> None:
    whole = f"import sys\n{program}\nlist(DataLoader(range(4), num_workers=2, collate_fn=collate))"
    assert certainties("size=8", whole, LambdaToLoader) == [certainty]


@pytest.mark.parametrize(
    ("line", "certainty"),
    [
        ("list(make())", Certainty.CERTAIN),
        ("list(make()) if sys.argv[1:] else None", Certainty.LIKELY),
        ("sys.argv[1:] and list(make())", Certainty.LIKELY),
        ("match sys.argv[1]:\n    case 'a': list(make())", Certainty.LIKELY),
        ("match sys.argv[1]:\n    case [*more]: list(make())", Certainty.LIKELY),
    ],
)
def test_a_loader_of_one_of_two_ways_is_likely_made(line: str, certainty: Certainty) -> None:
    program = (
        "import sys\ndef make():\n    return DataLoader(range(4), num_workers=2, collate_fn=lambda batch: batch)\n"
    )
    assert certainties("size=8", program + line, LambdaToLoader) == [certainty]


@pytest.mark.parametrize(("trainer", "certainty"), [("Own()", Certainty.CERTAIN), ("kind()", Certainty.LIKELY)])
def test_what_one_of_two_objects_makes_is_likely_made(trainer: str, certainty: Certainty) -> None:
    program = f"""
        import sys

        class Own:
            def collate(self):
                return lambda batch: batch

            def fit(self):
                list(DataLoader(range(4), num_workers=2, collate_fn=self.collate()))

        class Plain(Own):
            def collate(self):
                return None

        kind = Own if sys.argv[1:] else Plain
        {trainer}.fit()
        """
    assert certainties("size=8", program, LambdaToLoader) == [certainty]


@pytest.mark.parametrize(
    ("steps", "certainty"),
    [
        ("[lambda page: page]", Certainty.CERTAIN),
        ("[(lambda page: page) if sys.argv[1:] else len]", Certainty.LIKELY),
        ("[len]\nif sys.argv[1:]: steps.append(lambda page: page)", Certainty.LIKELY),
    ],
)
def test_one_of_two_elements_is_likely_kept(steps: str, certainty: Certainty) -> None:
    program = """
        class Kept(Dataset):
            def __init__(self, steps):
                self.steps = steps

            def __getitem__(self, index):
                return self.steps[0](index)

        """
    whole = f"import sys\n{textwrap.dedent(program)}steps = {steps}\nlist(DataLoader(Kept(steps), num_workers=2))"
    assert certainties("size=8", whole) == [certainty]


@pytest.mark.parametrize(
    ("test", "certainty"),
    [("True", Certainty.CERTAIN), ("self.root == 'noise'", Certainty.CERTAIN), ("index", Certainty.LIKELY)],
)
def test_what_is_drawn_in_some_cases_likely_repeats(test: str, certainty: Certainty) -> None:
    program = f"""
        import random

        class Noise(Dataset):
            def __init__(self, root):
                self.root = root
                self.random = random.Random(0)

            def __getitem__(self, index):
                return self.random.random() if {test} else 0

        list(DataLoader(Noise("noise"), num_workers=2))
        """
    assert certainties("size=8", program, RngOnDataset) == [certainty]


@pytest.mark.parametrize(("test", "certainty"), [("True", Certainty.CERTAIN), ("index", Certainty.LIKELY)])
def test_a_name_that_is_read_in_some_cases_is_likely_missed(test: str, certainty: Certainty) -> None:
    program = f"""
        class Scaled(Dataset):
            def __getitem__(self, index):
                if {test}:
                    return SCALE * index
                return index

        if __name__ == "__main__":
            SCALE = 2
            list(DataLoader(Scaled(), num_workers=2))
        """
    assert certainties("size=8", program, GuardedNameInWorker) == [certainty]


def test_a_default_that_no_call_is_seen_to_leave_alone_makes_nothing_certain() -> None:
    program = """
        def load(num_workers=4):
            return DataLoader(Pages("pages"), num_workers=num_workers)
        """
    assert certainties("size=8", program) == [Certainty.LIKELY]
    assert certainties("size=8", f"{textwrap.dedent(program)}\nlist(load())") == [Certainty.CERTAIN]


@pytest.mark.parametrize(
    ("loop", "certainty"),
    [
        ("range(10)", Certainty.CERTAIN),
        ('["a", "b"]', Certainty.CERTAIN),
        ('os.listdir("pages")', Certainty.LIKELY),
        ('sorted(glob.glob("pages/*"))', Certainty.LIKELY),
        ("sys.argv[1:]", Certainty.LIKELY),
        ('json.load(open("pages.json"))', Certainty.LIKELY),
        ("range(epochs)", Certainty.CERTAIN),
        ("names", Certainty.CERTAIN),
        ("[]", Certainty.LIKELY),
        ("{}.items()", Certainty.LIKELY),
        ("list()", Certainty.LIKELY),
        ('["a", *sys.argv[1:]]', Certainty.CERTAIN),
        ("[*sys.argv[1:]]", Certainty.LIKELY),
        ("[name.lower() for name in names]", Certainty.CERTAIN),
        ("[name for name in names if name]", Certainty.LIKELY),
        ("[name for name in sys.argv[1:]]", Certainty.LIKELY),
        ("appended(True)", Certainty.CERTAIN),
        ("appended(sys.argv[1:])", Certainty.LIKELY),
    ],
)
def test_a_loop_over_what_may_be_nothing_is_no_certain_way(loop: str, certainty: Certainty) -> None:
    program = f"""
        import glob, json, os, sys
        from options import epochs, names

        def appended(wanted):
            found = []
            if wanted:
                found.append("a")
            return found

        for name in {loop}:
            list(DataLoader(Pages(name), num_workers=2))
        """
    assert certainties("size=8", program) == [certainty]
    before = program.partition("for name in")[0]
    inside = f"[list(DataLoader(Pages(name), num_workers=2)) for name in {loop}]"
    assert certainties("size=8", textwrap.dedent(before) + inside) == [certainty]


def test_what_is_below_the_call_of_a_function_that_never_returns_is_not_certain() -> None:
    program = """
        def stop(message):
            print(message)
            raise SystemExit(message)

        def main():
            stop("no")
            list(DataLoader(Pages("pages"), num_workers=2))

        main()
        """
    assert certainties("size=8", program) == [Certainty.LIKELY]


@pytest.mark.parametrize(
    "filled",
    [
        "for name, value in given.items(): setattr(options, name, value)",
        "options.__dict__.update(given)",
        "vars(options).update(given)",
    ],
)
def test_attributes_that_computed_names_set_make_nothing_certain(filled: str) -> None:
    program = f"""
        import json

        class Options:
            def __init__(self):
                self.workers = 4

        given = json.load(open("options.json"))
        options = Options()
        {filled}
        list(DataLoader(Pages("pages"), num_workers=options.workers))
        """
    assert certainties("size=8", program) == [Certainty.LIKELY]
    assert certainties("size=8", program.replace(filled, "")) == [Certainty.CERTAIN]


CERTAIN, LIKELY = Certainty.CERTAIN, Certainty.LIKELY
MADE = """
from torch.utils.data import DataLoader
import options, sys

def made():
    list(DataLoader(range(4), num_workers=2, collate_fn=lambda batch: batch))

"""


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("while True:\n    made()", [CERTAIN]),
        ("epoch = 0\nwhile epoch < 4:\n    made()\n    epoch += 1", [CERTAIN]),
        ("while options.epochs:\n    made()", [LIKELY]),
        ("while False:\n    made()", []),
        ("epochs = 0\nwhile epochs:\n    made()", []),
        ("while True:\n    made()\n    if options.once: break", [CERTAIN]),
        ("while True:\n    if options.once: break\n    made()", [LIKELY]),
        ("while True:\n    if options.once: break\nmade()", [CERTAIN]),
        ("for epoch in range(4):\n    if epoch: continue\n    made()", [LIKELY]),
        ("for epoch in range(4):\n    if False: continue\n    made()", [CERTAIN]),
        ("for epoch in range(4):\n    for batch in range(4):\n        if batch: break\n    made()", [CERTAIN]),
        ("for epoch in range(4):\n    with options.lock:\n        if epoch: break\n    made()", [LIKELY]),
        ("for epoch in range(4):\n    if epoch: break\nelse:\n    made()", [LIKELY]),
        ("for epoch in range(4):\n    print(epoch)\nelse:\n    made()", [CERTAIN]),
        ("try:\n    made()\nexcept OSError:\n    pass", [CERTAIN]),
        ("try:\n    options.load()\nexcept OSError:\n    pass\nelse:\n    made()", [LIKELY]),
        ("try:\n    options.load()\nexcept OSError:\n    sys.exit()\nmade()", [CERTAIN]),
        ("try:\n    options.load()\nfinally:\n    made()", [CERTAIN]),
        ("with options.lock:\n    made()", [CERTAIN]),
        ("assert options.epochs\nmade()", [LIKELY]),
        ("assert made\nmade()", [CERTAIN]),
        ("assert 2 > 1\nmade()", [CERTAIN]),
        ("if options.a:\n    if options.b:\n        raise ValueError\nmade()", [LIKELY]),
        ("if False:\n    if options.b:\n        raise ValueError\nmade()", [CERTAIN]),
        ("for name in options.names:\n    if not name: raise ValueError\nmade()", [LIKELY]),
        ("def stop():\n    sys.exit(1)\n\nif options.a:\n    stop()\nmade()", [LIKELY]),
        ("[made() for epoch in range(4)]", [CERTAIN]),
        ("[made() for epoch in range(4) if epoch]", [LIKELY]),
        ("[made() for epoch in range(4) if True]", [CERTAIN]),
        ("[made() for epoch in range(4) if False]", []),
        ("[page for page in range(4) if made() if page]", [CERTAIN]),
        ("[page for page in range(4) if page if made()]", [LIKELY]),
    ],
)
def test_one_condition_on_the_way_makes_likely(program: str, expected: list[Certainty]) -> None:
    assert certainties("size=8", MADE + program, LambdaToLoader) == expected
    indented = textwrap.indent(program, "    ")
    within = f"{MADE}def main():\n{indented}\n\nif __name__ == '__main__':\n    main()"
    assert certainties("size=8", within, LambdaToLoader) == expected


@pytest.mark.parametrize(
    ("body", "program", "certainty"),
    [
        ("self.fill()", "", CERTAIN),
        ("if options.a: self.fill()", "", LIKELY),
        ("self.more()", "", LIKELY),
        ("self.more()\nself.fill()", "", CERTAIN),
        ("if options.a: self.fill()\nif options.b: self.fill()", "", LIKELY),
        ("pass", "data.fill()", CERTAIN),
        ("pass", "if options.a: data.fill()", LIKELY),
        ("pass", "filled(data)", CERTAIN),
        ("pass", "if options.a: filled(data)", LIKELY),
        ("pass", "if options.a: filled(data)\nfilled(data)", CERTAIN),
        ("pass", "", LIKELY),
    ],
)
@pytest.mark.parametrize("fills", ["self.step = lambda page: page", "self.steps.append(lambda page: page)"])
def test_what_a_helper_stores_is_no_surer_than_its_calls(
    fills: str, body: str, program: str, certainty: Certainty
) -> None:
    whole = f"""
        import options

        class Base(Dataset):
            def __init__(self):
                self.steps = []
{textwrap.indent(body, " " * 16)}

            def more(self):
                if options.a:
                    self.again()

            def again(self):
                self.again()
                self.fill()

            def __getitem__(self, index):
                return index

        class Kept(Base):
            def fill(self):
                {fills}

        def filled(data):
            data.fill()

        def main():
            data = Kept()
{textwrap.indent(program, " " * 12)}
            list(DataLoader(data, num_workers=2))

        main()
        """
    assert certainties("size=8", whole) == [certainty]


@pytest.mark.parametrize(
    ("number", "certainty"),
    [
        ("4 if torch.cuda.is_available() else 0", LIKELY),
        ("4 if cuda else 0", LIKELY),
        ('4 if cuda and sys.platform == "linux" else 0', LIKELY),
        ('4 if sys.platform == "linux" else 0', CERTAIN),
        ("4 if cuda else 2", CERTAIN),
    ],
)
def test_no_platform_surely_has_cuda(number: str, certainty: Certainty) -> None:
    program = f"""
        import sys, torch
        cuda = torch.cuda.is_available()
        list(DataLoader(Pages("pages"), num_workers={number}))
        """
    assert certainties("size=8", program) == [certainty]


def test_of_several_ways_to_a_value_a_sure_one_counts() -> None:
    program = """
        import options
        step = lambda page: page

        class Kept(Dataset):
            def __init__(self):
                {0}
                {1}

            def __getitem__(self, index):
                return index

        list(DataLoader(Kept(), num_workers=2))
        """
    ways = ["if options.a: self.first = step", "self.second = step"]
    assert certainties("size=8", program.format(*ways)) == [CERTAIN]
    assert certainties("size=8", program.format(*ways[::-1])) == [CERTAIN]
    longer = ["if options.a: self.first = step", "self.second = [[step]]"]
    assert certainties("size=8", program.format(*longer)) == [CERTAIN]


def test_of_several_ways_to_code_a_sure_one_counts() -> None:
    program = """
        import torch

        class Moved(Dataset):
            def __getitem__(self, index):
                {0}
                {1}

            def load(self, index):
                return self.moved()

            def moved(self):
                return torch.zeros(3).cuda()

        list(DataLoader(Moved(), num_workers=2))
        """
    ways = ["if index: self.moved()", "return self.load(index)"]
    assert certainties("size=8", program.format(*ways), CudaInWorker) == [CERTAIN]
    assert certainties("size=8", program.format("if index: self.moved()", ""), CudaInWorker) == [LIKELY]


@pytest.mark.parametrize(("before", "certainty"), [("", CERTAIN), ("if root: ", LIKELY)])
def test_what_a_base_keeps_is_no_surer_than_that_it_is_made(before: str, certainty: Certainty) -> None:
    program = f"""
        import sys
        from torchvision.datasets import ImageFolder

        class Photos(ImageFolder):
            def __init__(self, root):
                {before}super().__init__(root, transform=lambda page: page)

        list(DataLoader(Photos(sys.argv[1]), num_workers=2))
        """
    assert certainties("size=8", program) == [certainty]


@pytest.mark.parametrize(
    ("made", "certainty"),
    [
        ("torch.zeros(3)", CERTAIN),
        ("torch.nn.Linear(3, 3)", CERTAIN),
        ("torch.nn.CrossEntropyLoss(weight=read())", LIKELY),
        ("Kept(torch.nn.Linear(3, 3))", CERTAIN),
        ("Kept(read())", LIKELY),
        ("Noted()", LIKELY),
        ("read()", LIKELY),
    ],
)
def test_what_is_moved_to_cuda_is_known_to_have_tensors(made: str, certainty: Certainty) -> None:
    program = f"""
        import torch
        from models import read

        class Kept(torch.nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

        class Noted(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", read())

        {made}.cuda()

        if __name__ == "__main__":
            list(DataLoader(Pages("pages", size=4), num_workers=2))
        """
    assert certainties("size=8", program, ImportSideEffectInWorker) == [certainty]


@pytest.mark.parametrize(
    ("made", "certainty"),
    [
        ("self.step = lambda page: page", CERTAIN),
        ("self.step = None; self.step = lambda page: page", CERTAIN),
        ("self.step = lambda page: page; self.size = 3", CERTAIN),
        ("self.step = lambda page: page\n    if root: self.step = len", LIKELY),
        ("if size: self.step = lambda page: page\n    else: self.step = len", CERTAIN),
        ("self.step = lambda page: page\n    if not size: self.step = len", CERTAIN),
        ("self.step = lambda page: page; self.choose()", LIKELY),
        ("self.choose(); self.step = lambda page: page", CERTAIN),
        ("self.first(); self.choose()", LIKELY),
        ("self.choose(); self.first()", CERTAIN),
        ("super().__init__(root); self.step = lambda page: page", CERTAIN),
        ("self.first(); super().__init__(root)", LIKELY),
    ],
)
def test_what_may_be_replaced_while_an_object_is_made_is_not_surely_sent(made: str, certainty: Certainty) -> None:
    first = "def first(self): self.step = lambda page: page"
    program = f"""
import sys

class Base(Dataset):
    def __init__(self, root):
        if root: self.step = len

class Chosen(Base):
    def __init__(self, root, size):
        self.root = root
        {made.replace("    ", "        ")}

    {first if "first" in made else ""}

    def choose(self):
        if self.root: self.step = len

    def reset(self):
        self.step = len

    def __getitem__(self, index):
        return self.step([index])

list(DataLoader(Chosen(sys.argv[1], 3), num_workers=2))
"""
    assert certainties("size=8", program) == [certainty]


CACHING = """
import torch
from torch.utils.data import DataLoader, Dataset

made = {{}}
rows = []


class Cached(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, index):
        path = self.paths[index]
        page = torch.load(path)
        {keep}
        return page


loader = DataLoader(Cached(["a", "b"]), num_workers=2)
"""


@pytest.mark.parametrize(
    ("keep", "certainty"),
    [
        ("made[index] = page", Certainty.CERTAIN),
        ("made[path, 8] = page", Certainty.CERTAIN),
        ("made[f'{path}-8'] = page", Certainty.CERTAIN),
        ("made.setdefault(int(index), page)", Certainty.CERTAIN),
        ("rows.append(page)", Certainty.CERTAIN),
        ("made[page.crs] = page", Certainty.LIKELY),
        ("made[page['crs']] = page", Certainty.LIKELY),
        ("made['%s-%s' % (page.crs, 8)] = page", Certainty.LIKELY),
        ("made[page.get_units()] = page", Certainty.LIKELY),
    ],
)
def test_what_many_items_have_in_common_is_no_certain_key(keep: str, certainty: Certainty) -> None:
    source = Source("train.py", CACHING.format(keep=keep))
    project = Project({"train.py": collect(source)}, Targets(), lambda path: source)
    assert [found.certainty for found in GrowingCache().check(project)] == [certainty]
