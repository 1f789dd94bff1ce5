"""Remedies to paste: with the program's own names, and right once a person has pasted them."""

from __future__ import annotations

import importlib.util
import os

import pytest

from dllint import Applicability, Project, registry
from dllint.collect import collect
from dllint.project import Targets
from dllint.source import Source
from dllint.testing.expectations import METHODS
from tests import claims


def shown(code: str, text: str) -> str:
    """The snippet of the only finding, or what its fix inserts; "" where there is none."""
    source = Source("a.py", text)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = next(rule() for rule in registry.rules() if rule.code == code)
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    if fix is None:
        return ""
    if code == "DLL109" and fix.edits:
        assert fix.applicability is Applicability.UNSAFE
        return max((edit.text for edit in fix.edits), key=len).strip()
    assert (fix.applicability, fix.edits) == (Applicability.MANUAL, ())
    compile(fix.snippet, "a.py", "exec")
    return fix.snippet


def below(header: str, body: str) -> str:
    """Code in a block."""
    return header + "".join(f"\n    {line}" if line else "\n" for line in body.splitlines()) + "\n"


HEAD = "import torch\nfrom torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info\n\n"
PLAIN = """\
class Rows(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        {item}

"""


def rows(item: str, rest: str) -> str:
    return HEAD + PLAIN.format(item=item) + rest


MOVED = """\
# in `Rows.__getitem__`, for `{made}`:
{plain}

# in the loop over the loader, with `pin_memory=True` for that:
for {target} in {batches}:
    {name} = {name}.to({device}, non_blocking=True)"""


@pytest.mark.parametrize(
    ("item", "loop", "words"),
    [
        (
            "return torch.zeros(2).cuda()",
            "for image in loader:",
            {"made": "torch.zeros(2).cuda()", "name": "image", "target": "image"},
        ),
        (
            "return index, torch.zeros(2).to(device='cuda:1')",
            "for index, image in loader:",
            {"made": "torch.zeros(2).to(device='cuda:1')", "target": "index, image", "device": "'cuda:1'"},
        ),
        (
            "image = torch.zeros(2, device='cuda')\n        return image",
            "for step, image in enumerate(loader):",
            {
                "made": "torch.zeros(2, device='cuda')",
                "plain": 'torch.zeros(2, device="cpu")',
                "target": "step, image",
                "batches": "enumerate(loader)",
                "device": "'cuda'",
            },
        ),
    ],
)
def test_batches_are_moved_in_the_loop(item: str, loop: str, words: dict[str, str]) -> None:
    text = rows(item, f"loader = DataLoader(Rows(), num_workers=2)\n{loop}\n    print(image)\nfit(loader)\n")
    known = {"plain": "torch.zeros(2)", "name": "image", "batches": "loader", "device": '"cuda"'}
    assert shown("DLL302", text) == MOVED.format(**known | words)


@pytest.mark.parametrize(
    ("item", "loop"),
    [
        ("return {'image': torch.zeros(2).cuda()}", "for batch in loader:"),
        ("return torch.zeros(2).cuda(), index", "for batch in loader:"),
        ("return torch.zeros(2).cuda()", "for image, label in loader:"),
        ("return torch.zeros(2).cuda()", "while loader:"),
        ("return torch.zeros(2).to('cuda', torch.half)", "for image in loader:"),
        ("return torch.cuda.FloatTensor(2) + torch.zeros(2).cuda()", "for image in loader:"),
        ("device = 'cuda'\n        return torch.zeros(2).to(device)", "for image in loader:"),
    ],
)
def test_nothing_is_shown_where_it_is_not_seen_what_becomes_of_it(item: str, loop: str) -> None:
    text = rows(item, f"loader = DataLoader(Rows(), num_workers=2)\n{loop}\n    print(loader)\n")
    source = Source("a.py", text)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = next(rule() for rule in registry.rules() if rule.code == "DLL302")
    fixes = {rule.fix(finding, project) for finding in rule.check(project)}
    assert fixes and all(fix and not fix.snippet and "; " in fix.title for fix in fixes)


KEPT = """\
class Table(Dataset):
    def __init__(self, values):
        self.values = values.cuda()
    def __len__(self):
        return 4
    def __getitem__(self, index):
        {item}

def main(values):
    for {target} in DataLoader(Table(values), num_workers=2):
        print(row)
"""


def test_what_a_dataset_keeps_stays_on_the_cpu() -> None:
    snippet = shown("DLL303", HEAD + KEPT.format(item="return index, self.values[index]", target="number, row"))
    assert snippet.startswith("# in `Table.__init__`, for `values.cuda()`:\nvalues\n")
    assert snippet.endswith('    row = row.to("cuda", non_blocking=True)')
    assert shown("DLL303", HEAD + KEPT.format(item="return self.values[index] + 1", target="row")) == ""


FORKED = """\
import torch
{imported}

def evaluate(values):
    print(torch.tensor(values).cuda())

def main():
    model = torch.nn.Linear(2, 2).cuda()
    {made}.start()
"""


@pytest.mark.parametrize(
    ("imported", "made", "expected"),
    [
        (
            "from torch.multiprocessing import Process",
            "Process(target=evaluate, args=([1.0],))",
            'multiprocessing.get_context("spawn").Process(target=evaluate, args=([1.0],))',
        ),
        (
            "import torch.multiprocessing as mp",
            "mp.Process(target=evaluate, args=([1.0],))",
            'mp.get_context("spawn").Process(target=evaluate, args=([1.0],))',
        ),
        ("from multiprocessing import Process", "Process(target=lambda: evaluate([1.0]))", ""),
    ],
)
def test_a_process_is_spawned(imported: str, made: str, expected: str) -> None:
    assert shown("DLL304", FORKED.format(imported=imported, made=made)) == expected


DEFAULTS = """\
torch.set_default_device("cuda")

def main(dataset, **options):
    return {made}
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            "DataLoader(dataset, shuffle=True)",
            "DataLoader(dataset, shuffle=True, generator=torch.Generator(device=torch.empty(0).device))",
        ),
        (
            "DataLoader(\n        dataset,\n        shuffle=True  # always\n    )",
            "DataLoader(\n    dataset,\n    shuffle=True,  # always\n"
            "    generator=torch.Generator(device=torch.empty(0).device),\n)",
        ),
        ("DataLoader(dataset, shuffle=(True))", ""),
        (
            "DataLoader(\n        dataset,  # all of it\n        shuffle=True,\n    )",
            "DataLoader(\n    dataset,  # all of it\n    shuffle=True,\n"
            "    generator=torch.Generator(device=torch.empty(0).device),\n)",
        ),
    ],
)
def test_a_loader_gets_a_generator(made: str, expected: str) -> None:
    assert shown("DLL307", HEAD + DEFAULTS.format(made=made)) == expected


GUARDED = "import torch\nfrom torch.utils.data import DataLoader, Dataset\n\n{above}if __name__ == '__main__':"


@pytest.mark.parametrize(
    ("reads", "guarded", "expected"),
    [
        ("SCALE", "SCALE = 3", "SCALE = 3"),
        ("SCALE", "SCALE = [1, -2]  # more", "SCALE = [1, -2]  # more"),
        ("SCALE", "SCALE = torch.ones(3)", ""),
        (
            "scale(1)",
            "def scale(x):\n    'Doubles.'\n    return x * 2",
            "def scale(x):\n    'Doubles.'\n    return x * 2",
        ),
        ("scale(1)", "by = 2\ndef scale(x, y=by):\n    return x * y", ""),
        ("scale(1)", "if torch:\n    def scale(x):\n        return x", ""),
        ("torch.zeros(1)", "torch.set_default_dtype(torch.float64)", "torch.set_default_dtype(torch.float64)"),
        ("torch.zeros(1)", "kind = input()\ntorch.set_default_dtype(kind)", ""),
    ],
)
def test_what_goes_above_the_guard(reads: str, guarded: str, expected: str) -> None:
    above = PLAIN.format(item=f"return {reads}")
    text = GUARDED.format(above=above) + below("", f"{guarded}\nfor row in DataLoader(Rows(), num_workers=2):\n    row")
    code = "DLL610" if "set_default" in guarded else "DLL109"
    assert shown(code, text) == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("sys.exit('no data')", "raise RuntimeError('no data')"),
        ("sys.exit(f'no item {index}')", "raise RuntimeError(f'no item {index}')"),
        ("sys.exit(1)", ""),
    ],
)
def test_an_exit_says_it_with_an_exception(item: str, expected: str) -> None:
    assert shown("DLL406", "import sys\n" + rows(item, "DataLoader(Rows(), num_workers=2)\n")) == expected


def test_a_generator_is_sent_as_a_list() -> None:
    text = rows("return index", "def collate(items):\n    return (item + 1\n            for item in items)\n\n")
    assert shown("DLL111", f"{text}DataLoader(Rows(), num_workers=2, collate_fn=collate)\n") == (
        "[item + 1\n        for item in items]"
    )


CHUNKS = """\
class Chunks(IterableDataset):
    def __init__(self, chunks):
        self.chunks = chunks
        {init}
    def __iter__(self):
        info = self.worker
        return iter(self.chunks if info is None else self.chunks[info.id :: info.num_workers])

if __name__ == "__main__":
    print(sorted(map(int, DataLoader(Chunks(list(range(4))), num_workers=2, batch_size=None))))
"""
ASKED = "self.worker = get_worker_info()"


def test_no_property_where_init_works_with_the_answer() -> None:
    assert (
        shown("DLL607", HEAD + CHUNKS.format(init=f"{ASKED}; self.first = self.worker.id if self.worker else 0")) == ""
    )


STREAM = """\
class Numbers(IterableDataset):
    def __init__(self, count):
        self.count = count

    # All of them.
    def __iter__(self):
        for number in range(self.count):
            yield number

if __name__ == "__main__":
    print(sorted(map(int, DataLoader(Numbers(4), num_workers=2, batch_size=None))))
"""
STEPS = """\
if __name__ == "__main__":
    loader = DataLoader(range(3), num_workers=1)
    print([int({batch}) for _ in range(4)])
"""
EPOCHS = """\
class Numbers(Dataset):
    epoch = 0
    def set_epoch(self, epoch):
        self.epoch = epoch
    def __len__(self):
        return 1
    def __getitem__(self, index):
        return self.epoch

if __name__ == "__main__":
    dataset = Numbers()
    keep = True
    loader = DataLoader(dataset, num_workers=1, persistent_workers=keep)
    seen = []
    for epoch in range(3):
        dataset.set_epoch(epoch)
        seen += [int(item) for item in loader]
    print(seen)
"""


def with_property() -> tuple[str, str]:
    snippet = shown("DLL607", HEAD + CHUNKS.format(init=ASKED))
    made, before = CHUNKS.format(init="pass"), "    def __iter__"
    return HEAD + made.replace(before, below("", snippet)[1:] + before), "[0, 1, 2, 3]"


def with_shares() -> tuple[str, str]:
    snippet = shown("DLL601", HEAD + STREAM)
    imports, found, methods = snippet.partition("def __iter__")
    start, end = STREAM.index("    # All"), STREAM.index("\nif __name__")
    return imports + HEAD + STREAM[:start] + below("", found + methods)[1:] + STREAM[end:], "[0, 1, 2, 3]"


def with_one_iterator() -> tuple[str, str]:
    text = HEAD + STEPS.format(batch="next(iter(loader))")
    before, _, after = shown("DLL401", text).partition("# in the loop, for a batch:\n")
    function, _, setting = before.partition("# before the loop:\n")
    pasted = STEPS.format(batch=after).replace("    print", f"    {setting}    print")
    return HEAD + function + pasted, "[0, 1, 2, 0]"


def with_new_workers() -> tuple[str, str]:
    made = "DataLoader(dataset, num_workers=1, persistent_workers=keep)"
    return (HEAD + EPOCHS).replace(made, shown("DLL603", HEAD + EPOCHS)), "[0, 1, 2]"


PASTED = {"DLL401": with_one_iterator, "DLL601": with_shares, "DLL603": with_new_workers, "DLL607": with_property}


@pytest.mark.torch
@pytest.mark.skipif(os.name != "posix", reason="fork and forkserver exist on Linux and macOS only")
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed: pip install torch")
@pytest.mark.parametrize(
    ("code", "method"),
    [
        pytest.param(code, method, marks=[pytest.mark.slow] if method != "fork" else [])
        for code in PASTED
        for method in METHODS
    ],
)
def test_a_program_with_the_remedy_in_it_works(code: str, method: str) -> None:
    text, printed = PASTED[code]()
    outcome = claims.run({"main.py": text}, "main.py", method)
    assert (outcome.kind, outcome.stdout.strip()) == ("ok", printed), f"{text}\n{outcome.stderr}"


def test_state_of_another_module_is_set_in_each_worker() -> None:
    main = below(
        "if __name__ == '__main__':",
        "if sys.argv[1:]:\n    config.SCALE = 3\nfor _ in DataLoader(Rows(), num_workers=1):\n    pass",
    )
    train = f"import sys\nimport config\n{rows('return config.SCALE', main)}"
    sources = {"config.py": Source("config.py", "SCALE = 1\n"), "train.py": Source("train.py", train)}
    project = Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)
    rule = next(rule() for rule in registry.rules() if rule.code == "DLL609")
    (finding,) = rule.check(project)
    fix = rule.fix(finding, project)
    assert fix is not None and (fix.applicability, fix.edits) == (Applicability.MANUAL, ())
    compile(fix.snippet, "train.py", "exec")
    assert "def set_scale(scale, worker):\n    config.SCALE = scale\n" in fix.snippet
    assert "worker_init_fn = functools.partial(set_scale, config.SCALE)" in fix.snippet
