"""What the pages and the tables say about CUDA, as programs: skipped where there is no GPU.

The programs need torch, not dllint. They were run with torch 2.11 (CUDA 13) and Python 3.12 on an NVIDIA H200.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.on_gpu import needs_gpu, run

pytestmark = needs_gpu

FORKED = "Cannot re-initialize CUDA in forked subprocess"
INHERITED = "CUDA error: initialization error"
GENERATOR = "Expected a 'cuda' device type for generator but found 'cpu'"
PINNED = "cannot pin 'torch.cuda.LongTensor' only dense CPU tensors can be pinned"
HANDED_ON = "Attempted to send CUDA tensor received from another process"
ENDED = "CUDA error: invalid resource handle"
NOT_RELEASED = "Producer process has been terminated before all shared CUDA tensors released"

ALL = ("fork", "spawn", "forkserver")
OTHERS = ("spawn", "forkserver")

START = """
import os, subprocess, sys, time
import torch
import torch.multiprocessing as mp
from torch.utils.data import *

def cuda(x=1.0):
    return torch.tensor([x]).cuda()

class Items(Dataset):
    def __len__(self):
        return 4
"""


class Claim(NamedTuple):
    """A program: it fails and `says` something on standard error; with "" it succeeds. It may hang, or only warn."""

    name: str
    code: str
    says: str = ""
    methods: tuple[str, ...] = ("fork",)
    environment: tuple[tuple[str, str], ...] = ()
    hangs: bool = False
    warns: bool = False


def forked(parent: str, child: str = "torch.zeros(1, device='cuda')") -> str:
    """A program that does something, and then something in a forked child."""
    return f"""
if __name__ == "__main__":
{textwrap.indent(parent, "    ")}
    child = os.fork()
    if child == 0:
{textwrap.indent(child, "        ")}
        os._exit(0)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def loop(dataset: str, before: str = "", options: str = "num_workers=1", epochs: int = 1) -> str:
    """A program that loops over a loader."""
    return f"""
if __name__ == "__main__":
    {before or "pass"}
    data = {dataset}
    for _ in range({epochs}):
        for batch in DataLoader(data, {options}):
            print(batch)
"""


ASKS = (
    "torch.cuda.is_available()",
    "torch.accelerator.is_available()",
    "torch.accelerator.current_accelerator(check_available=True)",
    "torch.cuda.get_arch_list()",
    "torch.cuda.get_gencode_flags()",
    "torch.cuda.is_bf16_supported()",
    "torch.cuda.amp.GradScaler()",
    "torch.autocast('cuda')",
    "torch.backends.cudnn.version()",
    "torch.cuda.init()",
    "torch.cuda.set_device(0)",
    "torch.cuda.get_device_properties(0)",
    "torch.cuda.synchronize()",
    "with torch.cuda.device(0): pass",
    "torch.zeros(1).cuda()",
    "torch.nn.Linear(1, 1).to('cuda')",
    "torch.compile(torch.nn.Linear(1, 1))",
    "torch.nn.DataParallel(torch.nn.ReLU())",
    "list(DataLoader(range(4), pin_memory=True))",
)
"""After any of these in the parent, a forked child that uses CUDA raises."""

ASKS_NOTHING = (
    "torch.cuda.device_count()",
    "torch.cuda.is_initialized()",
    "torch.accelerator.current_accelerator()",
    "torch.manual_seed(0); torch.cuda.manual_seed_all(0)",
    "torch.device('cuda'), torch.cuda.device(0)",
    "torch.cuda.empty_cache()",
    "torch.cuda.memory_allocated(), torch.cuda.max_memory_reserved(), torch.cuda.memory_stats()",
    "torch.cuda.Event()",
    "torch.cuda.nccl.version(), torch.cuda.get_allocator_backend()",
    "torch.backends.cudnn.benchmark = True",
    "torch.backends.cudnn.is_available()",
    "torch.nn.ReLU().cuda()",
    "DataLoader(range(4), num_workers=2, pin_memory=True)",
    "list(DataLoader(range(4), num_workers=2))",
    "torch.set_default_device('cuda')",
)
"""After all of these, it does not."""

STEP = "w = torch.nn.Linear(1, 1); w(torch.ones(1)).sum().backward(); torch.optim.{}(w.parameters(), lr=0.1).step()"
"""On the CPU; some optimizers ask whether a CUDA graph is being captured."""

FINE_IN_CHILDREN = (
    "torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.is_initialized(), torch.cuda.get_arch_list()",
    "torch.manual_seed(0); torch.cuda.manual_seed_all(0); torch.cuda.seed()",
    "torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.memory_stats()",
    "torch.cuda.memory.memory_reserved(), torch.cuda.random.manual_seed(0), torch.cuda.empty_cache()",
    "torch.device('cuda'), torch.cuda.device(0), torch.cuda.Event(), torch.cuda.amp.GradScaler()",
    STEP.format("SGD"),
    STEP.format("Adagrad"),
    "KEPT.shape, len(KEPT), KEPT.dtype, KEPT.device",
)
"""Nothing of this raises in a forked child of a parent that has used CUDA."""

RAISES_IN_CHILDREN = {
    "torch.zeros(1).cuda()": FORKED,
    "torch.as_tensor([1.0], device='cuda')": FORKED,
    "torch.nn.Linear(1, 1).to('cuda')": FORKED,
    "torch.cuda.mem_get_info()": FORKED,
    "torch.cuda.memory.mem_get_info()": FORKED,
    "torch.cuda.is_bf16_supported()": FORKED,
    "torch.cuda.get_device_name()": FORKED,
    "torch.cuda.set_device(0)": FORKED,
    "torch.cuda.synchronize()": FORKED,
    "with torch.cuda.device(0): pass": FORKED,
    "torch.cuda.Stream()": INHERITED,
    "torch.cuda.is_current_stream_capturing()": INHERITED,
    "torch.Generator(device='cuda')": INHERITED,
    "torch.zeros(1).pin_memory()": INHERITED,
    "KEPT[0]": INHERITED,
    "KEPT * 2": INHERITED,
    "KEPT.cpu()": INHERITED,
    **{
        STEP.format(name): INHERITED
        for name in ("Adadelta", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop")
    },
}

ITEM = """
class Uses(Items):
    def __getitem__(self, index):
        return {}
"""
WORKER_USES = ITEM.format("cuda(index)")
WORKER_COPIES = ITEM.format("cuda(index).cpu()")
KEPT = """
class Keeps(Items):
    def __init__(self):
        self.kept = torch.arange(8.0).reshape(4, 2).cuda()

    def __getitem__(self, index):
        return {}
"""
SERVER_IMPORTS_MAIN = """
import multiprocessing.spawn as spawn
if __name__ == "__main__":  # the fork server imports the main script, as that of Python 3.14.1 does
    prepared = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: prepared(name) | {"main_path": os.path.abspath(__file__)}
LINE
"""
MEMORY = """
    workers = iter(DataLoader(data, num_workers=2, persistent_workers=True))
    next(workers)
    time.sleep(3)
    query = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    shown = subprocess.check_output(query, text=True)
    taken = dict(map(int, line.split(",")) for line in shown.splitlines())
    assert all(taken.get(worker.pid, 0) LIMIT for worker in workers._workers), taken
"""

CLAIMS = (
    *(Claim(f"parent asks: {ask}", forked(ask), FORKED) for ask in ASKS),
    Claim("parent does not ask", forked("\n".join(ASKS_NOTHING))),
    *(Claim(f"child: {use}", forked("KEPT = torch.arange(4.0).cuda()", use), says)
      for use, says in RAISES_IN_CHILDREN.items()),
    Claim("child that does not use CUDA", forked("KEPT = torch.arange(4.0).cuda()", "\n".join(FINE_IN_CHILDREN))),
    Claim("NVML answers", forked("torch.cuda.is_available(), torch.accelerator.is_available()"),
          environment=(("PYTORCH_NVML_BASED_CUDA_CHECK", "1"),)),
    # DLL302: CUDA in workers.
    Claim("main used CUDA, worker uses it", WORKER_COPIES + loop("Uses()", "cuda()"), FORKED),
    Claim("main used CUDA, spawned worker uses it", WORKER_COPIES + loop("Uses()", "cuda()"), "", OTHERS),
    Claim("main never uses CUDA, worker does", WORKER_COPIES + loop("Uses()", epochs=2)),
    Claim("main gets CUDA tensors, second epoch", WORKER_USES + loop("Uses()", epochs=2), FORKED),
    Claim("main pins", WORKER_COPIES + loop("Uses()", options="num_workers=1, pin_memory=True"), FORKED),
    Claim("main pins what is on the device", WORKER_USES + loop("Uses()", options="num_workers=1, pin_memory=True"),
          PINNED, OTHERS),
    Claim("main pins, no workers", WORKER_USES + loop("Uses()", options="pin_memory=True"), PINNED),
    Claim("CUDA tensors outlive their worker", WORKER_USES + """
if __name__ == "__main__":
    kept = list(DataLoader(Uses(), num_workers=2))
    time.sleep(1)
    assert [batch.item() for batch in kept] == [0, 1, 2, 3]
""", "", OTHERS),
    Claim("CUDA tensors outlive their worker, a warning", WORKER_USES + """
if __name__ == "__main__":
    kept = list(DataLoader(Uses(), num_workers=2))
    time.sleep(1)
""", NOT_RELEASED, ("spawn",), warns=True),
    Claim("CUDA tensor received after its process ended", """
def put(queue):
    queue.put(cuda())

if __name__ == "__main__":
    queue = mp.Queue()
    process = mp.Process(target=put, args=(queue,))
    process.start()
    process.join()
    time.sleep(1)
    print(queue.get())
""", ENDED, OTHERS),
    Claim("memory of two workers that use CUDA", WORKER_COPIES + """
if __name__ == "__main__":
    cuda()
    data = Uses()
""" + MEMORY.replace("LIMIT", "> 300"), "", ("spawn",)),
    # DLL303: CUDA kept by the dataset.
    *(Claim(f"kept: {read}", KEPT.format(read) + loop("Keeps()"), says) for read, says in {
        "self.kept[index]": INHERITED, "self.kept[index].cpu()": INHERITED, "self.kept[index, 0].item()": INHERITED,
        "torch.zeros(self.kept.shape[1]) + len(self.kept)": "", "index": "",
    }.items()),
    Claim("kept in a list", loop("[cuda(), cuda()]"), FORKED),
    Claim("kept by TensorDataset", loop("TensorDataset(cuda())"), INHERITED),
    Claim("kept, collated in spawned workers", KEPT.format("self.kept[index]") + loop("Keeps()"), "", OTHERS),
    Claim("kept module", """
class Applies(Items):
    def __init__(self):
        self.model = torch.nn.Linear(1, 1).cuda()

    def __getitem__(self, index):
        return self.model.weight.detach().cpu()
""" + loop("Applies()"), INHERITED),
    Claim("kept, handed on", KEPT.format("self.kept[index]") + loop("Keeps()", "", "num_workers=1, batch_size=None"),
          HANDED_ON, ("spawn",), hangs=True),
    Claim("kept, handed on in a list", KEPT.format("self.kept[index]") + "\ndef together(items):\n    return items\n"
          + loop("Keeps()", "", "num_workers=1, collate_fn=together"), HANDED_ON, ("spawn",), hangs=True),
    Claim("kept, cloned", KEPT.format("self.kept[index].clone()")
          + loop("Keeps()", "", "num_workers=1, batch_size=None", 2), "", OTHERS),
    Claim("kept, never read", KEPT.format("index") + """
if __name__ == "__main__":
    data = Keeps()
""" + MEMORY.replace("LIMIT", "> 300"), "", ("spawn",)),
    # DLL110: a generator of the device, sent to a worker.
    Claim("generator of the device", """
class Noise(Items):
    def __init__(self):
        self.noise = torch.Generator(device="cuda")

    def __getitem__(self, index):
        return index
""" + loop("Noise()"), "exited unexpectedly", OTHERS),
    # DLL307: CUDA as the default.
    *(Claim(f"{setter}: {draw}", f"\ntorch.{setter}\n{draw}\n", says) for setter in (
        "set_default_device('cuda')", "set_default_tensor_type(torch.cuda.FloatTensor)",
    ) for draw, says in {
        "list(DataLoader(range(4), shuffle=True))": GENERATOR,
        "list(RandomSampler(range(4)))": GENERATOR,
        "random_split(range(4), [2, 2])": GENERATOR,
        "list(DistributedSampler(range(4), 2, 0))": GENERATOR,
        "list(DataLoader(range(4), shuffle=True, generator=torch.Generator(device=torch.empty(0).device)))": "",
        "list(DataLoader(range(4), sampler=SubsetRandomSampler([0, 1])))": "",
        "list(DataLoader(range(4), sampler=WeightedRandomSampler([1.0, 2.0], 2)))": "",
        "list(DataLoader(range(4)))": "",
        "list(DataLoader(range(4), num_workers=1))": FORKED,
        "list(DataLoader(range(4), shuffle=True, generator=torch.Generator('cuda'), num_workers=1))": FORKED,
    }.items()),
    *(Claim(f"under a device: {draw}", f"\nwith torch.device('cuda'):\n    {draw}\n", says) for draw, says in {
        "list(DataLoader(range(4), shuffle=True))": GENERATOR,
        "random_split(range(4), [2, 2])": GENERATOR,
        "list(DataLoader(range(4), sampler=SubsetRandomSampler([0, 1])))": "",
        "list(DataLoader(range(4)))": "",
    }.items()),
    *(Claim(f"{setter}: a new tensor in a worker", ITEM.format("torch.zeros(3)")
            + loop("Uses()", f"torch.{setter}"), says, methods) for setter in (
        "set_default_device('cuda')", "set_default_tensor_type(torch.cuda.FloatTensor)",
    ) for says, methods in ((FORKED, ("fork",)), ("", OTHERS))),
    Claim("generator on the default device, spawned workers", loop("range(4)", "torch.set_default_device('cuda')",
          "shuffle=True, generator=torch.Generator(device=torch.empty(0).device), num_workers=1"), "", OTHERS),
    # DLL308: CUDA on import.
    Claim("no CUDA on import", "\n" + ITEM.format("index") + """
if __name__ == "__main__":
    cuda()
    data = Uses()
""" + MEMORY.replace("LIMIT", "== 0"), "", ("spawn",)),
    Claim("import opens the device in each spawned worker", "\ncuda()\n" + ITEM.format("index") + """
if __name__ == "__main__":
    data = Uses()
""" + MEMORY.replace("LIMIT", "> 300"), "", ("spawn",)),
    Claim("fork server has imported CUDA, worker does not use it",
          SERVER_IMPORTS_MAIN.replace("LINE", "cuda()") + loop("range(4)"), "", ("forkserver",)),
    *(Claim(f"fork server has imported {line}, worker uses CUDA",
            SERVER_IMPORTS_MAIN.replace("LINE", line) + WORKER_COPIES + loop("Uses()"), FORKED, ("forkserver",))
      for line in ("cuda()", "torch.cuda.is_available()")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "method"),
    [pytest.param(claim, method, id=f"{claim.name} ({method})") for claim in CLAIMS for method in claim.methods],
)
def test_claim(claim: Claim, method: str, tmp_path: Path) -> None:
    program = run(tmp_path, START + claim.code, method, 40 if claim.hangs else 90, dict(claim.environment))
    said = program.errors
    assert claim.says in said, said
    assert (program.status is None) == claim.hangs, said
    assert claim.hangs or claim.warns or bool(program.status) == bool(claim.says), said
    assert not (claim.warns and program.status), said
