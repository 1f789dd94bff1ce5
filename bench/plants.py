"""The hazards that `bench.planted` writes into real code, each with a harmless twin.

`top` stands before the class, `init` at the end of its `__init__`, `item` at the start of its `__getitem__`, `method`
before that; `script` is the program, `compose` what starts it. STEM is what both are called, HOST the class, MODULE its
module, INDEX the parameter of `__getitem__`.
"""

from __future__ import annotations

from typing import NamedTuple

LOOP = """\
from torch.utils.data import DataLoader

from MODULE import HOST


def main(*options):
    dataset = HOST(*options)
    for batch in DataLoader(dataset, num_workers=2):
        print(batch)


if __name__ == "__main__":
    main()
"""

UNBATCHED = LOOP.replace("num_workers=2", "num_workers=2, batch_size=None")


class Side(NamedTuple):
    """What is written where."""

    top: str = ""
    init: str = ""
    item: str = ""
    method: str = ""
    script: str = LOOP
    compose: str = ""
    """A compose file beside the script."""


class Plant(NamedTuple):
    """A rule's hazard and its twin."""

    code: str
    hazard: Side
    twin: Side


def _main(
    body: str, top: str = "", loader: str = "DataLoader(HOST(*options), num_workers=2)", guarded: str = ""
) -> str:
    """A script whose `main` runs a body with `loader`."""
    lines = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
    return (
        f"from torch.utils.data import DataLoader\n\nfrom MODULE import HOST\n\n{top}\n\n"
        f"def main(*options):\n    loader = {loader}\n{lines}\n\n\n"
        f'if __name__ == "__main__":\n    {guarded or "pass"}\n    main()\n'
    )


EACH = "for batch in loader:\n    print(batch)"
EPOCHS = "for epoch in range(3):\n    for batch in loader:\n        print(epoch, batch)"


def _init(code: str, hazard: str, twin: str, top: str = "", item: str = "", twin_item: str | None = None) -> Plant:
    other = item if twin_item is None else twin_item
    return Plant(code, Side(top=top, init=hazard, item=item), Side(top=top, init=twin, item=other))


def _item(code: str, hazard: str, twin: str, top: str = "") -> Plant:
    return Plant(code, Side(top=top, item=hazard), Side(top=top, item=twin))


def _script(code: str, hazard: str, twin: str) -> Plant:
    return Plant(code, Side(script=hazard), Side(script=twin))


_KEEPER = "class Keeper:\n    def __init__(self, loader):\n        self.batches = iter(loader)"
_BATCHES = "batches = iter(loader)\nprint(next(batches))\n{}\nprint(next(batches))"
_SERVICE = "services:\n  STEM:\n    build: .\n    command: python STEM_train.py\n"
_GETATTR = "def __getattr__(self, name):\n"
_STREAM = """\
from torch.utils.data import IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        {}
"""
_OWNER = """\
class Trainer:
    def __init__(self):
        self.log = open("log.txt", "w")

    def loader(self, dataset):
        return DataLoader(dataset, num_workers=2, collate_fn=self.collate)

{}        return batch

"""

_SEED = "import numpy as np\nimport torch\n\n\ndef seed(worker):\n    np.random.seed({})"
_SEEDED = "DataLoader(HOST(*options), num_workers=2, shuffle=True, worker_init_fn=seed)"

_WORK = "from multiprocessing import Process, Queue\n\n\ndef work(queue):\n    queue.put(bytes(8_000_000))"
_WORKED = "queue = Queue()\nprocess = Process(target=work, args=(queue,))\nprocess.start()\n{}\nprint(loader)"
_SET = "planted = 0\n\ndef set_epoch(self, epoch):\n    self.planted = epoch\n"
_EPOCHS_SET = EPOCHS.replace("    for", "    loader.dataset.set_epoch(epoch)\n    for")
_PERSISTENT = "DataLoader(HOST(*options), num_workers=2, persistent_workers=True)"

PLANTS = (
    _init(
        "DLL101",
        "self.planted = collections.defaultdict(lambda: 0)",
        "self.planted = collections.defaultdict(int)",
        "import collections",
    ),
    _init("DLL102", "self.planted = lambda item: item", "self.planted = sorted([2, 1], key=lambda item: -item)"),
    _script(
        "DLL103",
        _main(EACH, loader="DataLoader(HOST(*options), num_workers=2, collate_fn=lambda batch: batch)"),
        _main(EACH, loader="DataLoader(HOST(*options), num_workers=0, collate_fn=lambda batch: batch)"),
    ),
    _init(
        "DLL104",
        "def planted(item):\n    return item\nself.planted = planted",
        "def planted(item):\n    return item\nself.planted = planted(1)",
    ),
    _init(
        "DLL105",
        "class Planted:\n    size = 1\nself.planted = Planted()",
        "class Planted:\n    size = 1\nself.planted = Planted().size",
    ),
    _init(
        "DLL106",
        'self.planted = open("names.txt")',
        'with open("names.txt") as planted:\n    self.planted = planted.read()',
    ),
    _script(
        "DLL107",
        _main(
            "with Pool(2) as pool:\n    print(pool.map(lambda item: item, loader))", "from multiprocessing import Pool"
        ),
        _main("with Pool(2) as pool:\n    print(pool.map(len, loader))", "from multiprocessing import Pool"),
    ),
    _script(
        "DLL108",
        _main("print(list(Trainer().loader(loader.dataset)))", _OWNER.format("    def collate(self, batch):\n")),
        _main(
            "print(list(Trainer().loader(loader.dataset)))",
            _OWNER.format("    @staticmethod\n    def collate(batch):\n"),
        ),
    ),
    _script(
        "DLL109",
        _main(
            EACH,
            "def collate(batch):\n    return [item * SCALE for item in batch]",
            "DataLoader(HOST(*options), num_workers=2, collate_fn=collate)",
            "SCALE = 2",
        ),
        _main(
            EACH,
            "SCALE = 2\n\n\ndef collate(batch):\n    return [item * SCALE for item in batch]",
            "DataLoader(HOST(*options), num_workers=2, collate_fn=collate)",
        ),
    ),
    _init(
        "DLL110", "self.planted = torch.Generator()", "self.planted = torch.Generator().initial_seed()", "import torch"
    ),
    Plant(
        "DLL111",
        Side(item="if INDEX == 0:\n    return (lambda: INDEX)", script=UNBATCHED),
        Side(item="if INDEX == 0:\n    return (lambda: INDEX)()", script=UNBATCHED),
    ),
    _init(
        "DLL112",
        'self.planted = np.memmap("pixels.bin", dtype="uint8", mode="r")',
        'self.planted = np.memmap("pixels.bin", dtype="uint8", mode="r").shape',
        "import numpy as np",
    ),
    Plant(
        "DLL113",
        Side(init="self.planted = {}", method=_GETATTR + "    return getattr(self.planted, name)\n"),
        Side(
            init="self.planted = {}",
            method=_GETATTR
            + '    if name.startswith("__") or name == "planted":\n        raise AttributeError(name)\n'
            + "    return getattr(self.planted, name)\n",
        ),
    ),
    _init(
        "DLL201",
        'self.planted = sorted(glob.glob("*.jpg"))',
        'self.planted = np.array(sorted(glob.glob("*.jpg")))',
        "import glob\n\nimport numpy as np",
        "print(self.planted[INDEX])",
    ),
    _init(
        "DLL202",
        'self.planted = [{"name": line.strip()} for line in open("names.txt")]',
        'self.planted = {"name": open("names.txt").read()}',
        item="print(self.planted[INDEX])",
        twin_item='print(self.planted["name"])',
    ),
    _init(
        "DLL203",
        'self.planted = np.array(open("names.txt").read().split(), dtype=object)',
        'self.planted = np.array(open("names.txt").read().split(), dtype=str)',
        "import numpy as np",
        "print(self.planted[INDEX])",
    ),
    _init(
        "DLL204",
        "self.stored = {}",
        "self.bounded = {}",
        "import numpy as np",
        "if INDEX not in self.stored:\n    self.stored[INDEX] = np.zeros((512, 512))",
        "if INDEX not in self.bounded and len(self.bounded) < 10:\n    self.bounded[INDEX] = np.zeros((512, 512))",
    ),
    _item("DLL205", 'print(glob.glob("labels/*.txt"))', 'print(glob.glob(f"labels/{INDEX}/*.txt"))', "import glob"),
    _item("DLL206", "gc.collect()", "if INDEX % 1000 == 0:\n    gc.collect()", "import gc"),
    _script(
        "DLL207",
        _main("kept = []\nfor image, label in loader:\n    kept.append(label.cpu())\nprint(kept)"),
        _main("kept = []\nfor image, label in loader:\n    kept.append(label.clone())\nprint(kept)"),
    ),
    _script(
        "DLL208",
        _main("for batch in itertools.cycle(loader):\n    print(batch)", "import itertools"),
        _main(
            "for epoch in itertools.cycle([0, 1]):\n    for batch in loader:\n        print(batch)", "import itertools"
        ),
    ),
    _script(
        "DLL301",
        "from torch.utils.data import DataLoader\n\nfrom MODULE import HOST\n\n"
        "for batch in DataLoader(HOST(), num_workers=2):\n    print(batch)\n",
        "from torch.utils.data import DataLoader\n\nfrom MODULE import HOST\n\n"
        "for batch in DataLoader(HOST()):\n    print(batch)\n",
    ),
    _item("DLL302", "print(torch.zeros(1).cuda())", "print(torch.zeros(1).cpu())", "import torch"),
    _script(
        "DLL304",
        _main(
            "print(torch.zeros(1).cuda())\nprocess = Process(target=work)\nprocess.start()",
            "import torch\nfrom torch.multiprocessing import Process\n\n\n"
            "def work():\n    print(torch.zeros(1).cuda())",
        ),
        _main(
            "print(torch.zeros(1).cuda())\nprocess = Process(target=work)\nprocess.start()",
            "import torch\nfrom torch.multiprocessing import Process\n\n\ndef work():\n    print(torch.zeros(1))",
        ),
    ),
    _script(
        "DLL305",
        _main(EACH, "import multiprocessing", guarded='multiprocessing.set_start_method("spwan")'),
        _main(EACH, "import multiprocessing", guarded='multiprocessing.set_start_method("spawn")'),
    ),
    _script(
        "DLL306",
        _main("threading.Thread(target=print).start()\n" + EACH, "import threading"),
        _main(EACH + "\nthreading.Thread(target=print).start()", "import threading"),
    ),
    _script(
        "DLL307",
        _main(
            EACH,
            "import torch",
            "DataLoader(HOST(*options), num_workers=2, shuffle=True)",
            'torch.set_default_device("cuda")',
        ),
        _main(EACH, "import torch", "DataLoader(HOST(*options), num_workers=2)", 'torch.set_default_device("cuda")'),
    ),
    _script(
        "DLL308",
        _main(EACH, 'log = open("train.log", "w")'),
        _main(EACH, guarded='log = open("train.log", "w")'),
    ),
    _script(
        "DLL401",
        _main("for step in range(10):\n    print(next(iter(loader)))"),
        _main("batches = iter(loader)\nfor step in range(10):\n    print(next(batches))"),
    ),
    _script("DLL402", _main("print(next(Keeper(loader).batches))", _KEEPER), _main(EACH, _KEEPER)),
    _item(
        "DLL403",
        "with Pool(2) as planted:\n    print(planted.map(abs, [INDEX]))",
        "with ThreadPool(2) as planted:\n    print(planted.map(abs, [INDEX]))",
        "from multiprocessing import Pool\nfrom multiprocessing.pool import ThreadPool",
    ),
    _script(
        "DLL404",
        _main(_BATCHES.format("signal.signal(signal.SIGCHLD, signal.SIG_IGN)"), "import signal"),
        _main("signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n" + EACH, "import signal"),
    ),
    _script(
        "DLL405",
        _main(_WORKED.format("process.join()\nprint(queue.get())"), _WORK),
        _main(_WORKED.format("print(queue.get())\nprocess.join()"), _WORK),
    ),
    _item("DLL406", "if INDEX < 0:\n    sys.exit(1)", "if INDEX < 0:\n    raise IndexError(INDEX)", "import sys"),
    _init(
        "DLL407",
        'self.planted = iter(["a", "b"])',
        'self.planted = iter(["a", "b"])',
        item="print(next(self.planted))",
        twin_item="print(next(self.planted, None))",
    ),
    Plant(
        "DLL502",
        Side(compose=_SERVICE),
        Side(compose=_SERVICE + "    shm_size: 8gb\n"),
    ),
    _script(
        "DLL501",
        _main(EACH, "import torch", guarded='torch.multiprocessing.set_sharing_strategy("file_system")'),
        _main(EACH, "import torch", guarded='torch.multiprocessing.set_sharing_strategy("file_descriptor")'),
    ),
    _script(
        "DLL601",
        _main(
            EACH,
            _STREAM.format("yield from self.items"),
            "DataLoader(Stream([name for name in dir(HOST)]), num_workers=2)",
        ),
        _main(
            EACH,
            _STREAM.format("info = get_worker_info()\n        yield from self.items[info.id :: info.num_workers]"),
            "DataLoader(Stream([name for name in dir(HOST)]), num_workers=2)",
        ),
    ),
    _init(
        "DLL602",
        "self.planted = np.random.RandomState(0)",
        "self.planted = 0",
        "import numpy as np",
        "print(self.planted.rand())",
        "print(np.random.RandomState(INDEX).rand())",
    ),
    Plant(
        "DLL603",
        Side(item="print(self.planted)", method=_SET, script=_main(_EPOCHS_SET, loader=_PERSISTENT)),
        Side(item="print(self.planted)", method=_SET, script=_main(_EPOCHS_SET)),
    ),
    _script(
        "DLL604",
        _main(EACH, loader="DataLoader(HOST(*options), prefetch_factor=4)"),
        _main(EACH, loader="DataLoader(HOST(*options), num_workers=2, prefetch_factor=4)"),
    ),
    Plant(
        "DLL606",
        Side(
            top="import numpy as np",
            item="print(np.random.rand())",
            script=_main(EPOCHS, _SEED.format("worker"), _SEEDED),
        ),
        Side(
            top="import numpy as np",
            item="print(np.random.rand())",
            script=_main(EPOCHS, _SEED.format("torch.initial_seed() % 2**32"), _SEEDED),
        ),
    ),
    Plant(
        "DLL607",
        Side(top="from torch.utils.data import get_worker_info", init="self.planted = get_worker_info().id"),
        Side(top="from torch.utils.data import get_worker_info", item="print(get_worker_info())"),
    ),
    _item(
        "DLL608",
        "planted = np.array([[INDEX, 0], [INDEX, 1]])\nrandom.shuffle(planted)",
        "planted = [[INDEX, 0], [INDEX, 1]]\nrandom.shuffle(planted)",
        "import random\n\nimport numpy as np",
    ),
)
