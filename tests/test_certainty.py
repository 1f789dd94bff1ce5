"""A finding is certain only if every test on the way is decided, and the calls on the way take what they are given."""

from __future__ import annotations

import textwrap

import pytest
from dllint_rules.correctness.dll609_state_only_in_main import StateOnlyInMain
from dllint_rules.memory.dll201_path_list_on_dataset import PathListOnDataset
from dllint_rules.memory.dll208_loader_cached_by_cycle import LoaderCachedByCycle
from dllint_rules.pickling.dll102_lambda_on_dataset import LambdaOnDataset
from dllint_rules.pickling.dll107_local_target import LocalTarget

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
        ("loader.dataset.crop = lambda page: page", [Certainty.LIKELY, Certainty.CERTAIN]),
    ],
)
def test_what_is_given_another_value_later_is_likely_sent(line: str, expected: list[Certainty]) -> None:
    program = f"""
        loader = DataLoader(Pages("pages"), num_workers=4)
        {line}
        list(loader)
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

        class Files(Dataset):
            def __init__(self):
                self.files = glob.glob("**/*.png")

            def __len__(self):
                return len(self.files)

            def __getitem__(self, index):
                return self.files[index]

        loader = DataLoader(Files(), num_workers=2)
        """
    assert certainties("size=8", textwrap.dedent(program) + loop, PathListOnDataset) == [certainty]


@pytest.mark.parametrize(("mode", "certainty"), [("test", Certainty.CERTAIN), ("train", Certainty.LIKELY)])
def test_a_list_that_only_workers_of_another_loader_read_is_likely_copied(mode: str, certainty: Certainty) -> None:
    program = f"""
        import glob
        import sys

        class Files(Dataset):
            def __init__(self, mode):
                self.mode = mode
                self.files = glob.glob("**/*.png")

            def __getitem__(self, index):
                if self.mode == "train":
                    return index
                return self.files[index]

        loader = DataLoader(Files("{mode}"), num_workers=2)
        if sys.argv[1:]:
            loader = DataLoader(Files("test"), num_workers=2)
        for names in loader:
            print(names)
        """
    assert certainties("size=8", program, PathListOnDataset) == [certainty]
