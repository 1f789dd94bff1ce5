"""Projects made of real files by mutation: what no author meant, and dllint must bear all the same.

A project is two to five files of installed packages, mutated at statements and tokens and joined by imports, bases and
calls that go in circles, with programs that start workers, new syntax and deep nesting among them. It is known by its
seed: `python -m tests.mutations SEED FOLDER` writes it down.
"""

from __future__ import annotations

import ast
import io
import random
import sys
import sysconfig
import tokenize
import warnings
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

SMALLEST, LARGEST = 400, 14_000
"""Bytes of a file that is taken."""
STANDARD = ("asyncio", "collections", "concurrent", "ctypes", "dbm", "email", "http", "importlib", "json", "logging")
STANDARD += ("multiprocessing", "unittest", "urllib", "wsgiref", "xml", "zoneinfo", ".")
PACKAGES = ("torch/utils/data", "torch/multiprocessing", "torch/distributed", "numpy/random", "numpy/lib", "networkx")
PACKAGES += ("click", "rich", "pygments", "jinja2", "fsspec", "packaging", "hypothesis")


@cache
def corpus() -> tuple[str, ...]:
    """The texts that projects are made of, in an order that hangs on nothing but what is installed."""
    standard = Path(sysconfig.get_paths()["stdlib"])
    folders = [standard / name for name in STANDARD]
    for name in PACKAGES:
        spec = find_spec(name.partition("/")[0])
        root = Path(spec.origin).parent if spec and spec.origin else None
        folders += [root.joinpath(*name.split("/")[1:])] if root else []
    files = (place for folder in folders for place in sorted(folder.glob("*.py")))
    return tuple(filter(_usable, map(_text, files)))


def _text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8") if SMALLEST < place.stat().st_size < LARGEST else ""
    except ValueError:
        return ""


def _usable(text: str) -> bool:
    return bool(text) and _parsed(text) is not None


def _parsed(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


# Mutations of a text. Each may fail by giving back what is no Python; `mutated` tries again.


@lru_cache(maxsize=1024)  # what is borrowed comes from few texts
def _statements(text: str) -> list[tuple[int, int, int]]:
    """First row, last row (from 0, exclusive) and column of each statement that has its rows for itself."""
    tree = _parsed(text)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)] if tree else []
    return [(_first(node) - 1, node.end_lineno or node.lineno, node.col_offset) for node in found]


def _first(node: ast.stmt) -> int:
    return min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])


def _indented(lines: list[str], by: int) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [" " * by + line[margin:] if line.strip() else line for line in lines]


def _at_statement(rng: random.Random, text: str) -> str:
    """Delete, repeat, exchange or wrap a statement, or put one from elsewhere there."""
    places = _statements(text)
    if not places:
        return text
    lines = text.splitlines(keepends=True)
    first, last, column = rng.choice(places)
    own = lines[first:last]
    match rng.choice(["delete", "repeat", "exchange", "foreign", "wrap", "program"]):
        case "delete":
            new = []
        case "repeat":
            new = own * rng.choice([2, 2, 3])
        case "exchange":
            other = rng.choice(places)
            new = _indented(lines[other[0] : other[1]], column)
        case "foreign":
            borrowed = rng.choice(corpus())
            there = borrowed.splitlines(keepends=True)
            other = rng.choice(_statements(borrowed))
            new = _indented(there[other[0] : other[1]], column)
        case "wrap":
            new = [" " * column + rng.choice(WRAPPERS) + "\n", *_indented(own, column + 4)]
        case _:
            new = [*_indented(rng.choice(PROGRAMS).splitlines(keepends=True), column), *own]
    return "".join([*lines[:first], *new, *lines[last:]])


def _at_token(rng: random.Random, text: str) -> str:
    """Replace, delete or repeat a token."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    usable = [token for token in tokens if token.string.strip() and token.type != tokenize.COMMENT]
    if not usable:
        return text
    token = rng.choice(usable)
    like = [other.string for other in usable if other.type == token.type]
    match rng.choice(["like", "like", "like", "other", "delete", "repeat"]):
        case "like":
            new = rng.choice(like)
        case "other":
            new = rng.choice(EXPRESSIONS)
        case "delete":
            new = ""
        case _:
            new = f"{token.string} {token.string}"
    lines = text.splitlines(keepends=True)
    (row, start), (end_row, end) = token.start, token.end
    if row != end_row or row > len(lines):
        return text
    line = lines[row - 1]
    lines[row - 1] = f"{line[:start]}{new}{line[end:]}"
    return "".join(lines)


def mutated(rng: random.Random, text: str) -> str:
    """A text after some mutations; nearly always it can be parsed."""
    for _ in range(rng.randint(1, 12)):
        change: Callable[[random.Random, str], str] = rng.choice([_at_statement, _at_statement, _at_token])
        for _ in range(4):
            new = change(rng, text)
            if len(new) < 2 * LARGEST and (_parsed(new) is not None or rng.random() < 0.01):
                text = new
                break
    return text


WRAPPERS = ("if a:", "while x:", "try:", "with open(p) as h:", "for i in x:", "def f(self, *a, x=1, **k):", "class C:")
WRAPPERS += ("async def g(x, /):", "if __name__ == '__main__':", "def h():", "with torch.no_grad(), x as y:", "else:")
EXPRESSIONS = (
    *("lambda x, *y, k=1, **z: (x, y)", "(x := 1)", "[*a, *b]", "{**a, 'b': c}", "f'{x!r:>{w}}'", "a if b else c"),
    *("self", "super()", "__class__", "torch", "namedtuple('S', p)(*p)", "open(p)", "(yield)", "partial(f, 1)", "..."),
    *("[lambda: i for i in x]", "DataLoader(self, num_workers=2, collate_fn=lambda b: b)", "type('T', (), {})", "0x_1"),
    *("not x", "x[::2, ...]", "a @ b", "-x ** -y", "print", "Process(target=f)", "getattr(self, n)(*a)", "'\\N{DASH}'"),
)


def _pieces(text: str) -> list[str]:
    """The programs of a text, between which stands a lone `#`."""
    return text.split("#\n")


IMPORTS = """\
import gc, os, random
import h5py
import numpy as np
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset, IterableDataset
"""
PROGRAMS = _pieces("""\
class D(Dataset):
    def __init__(self, x, /, *y):
        self.f = lambda v: (v, x)
        self.h = h5py.File(x, "r", **dict(y))
    def __getitem__(self, i):
        gc.collect()
        gc.collect()
        return self.f(self.h)
#
def seed(worker):
    s = 1 + worker
    s = (s ^ (s >> 1)) + (s << 1) * s
    s = s * s + s
    random.seed(s)
    np.random.seed(s)
#
loader = DataLoader(D(x), num_workers=n, collate_fn=lambda b: [f(c) for c in b], worker_init_fn=seed)
for batch in loader:
    for again in DataLoader(loader.dataset, num_workers=2):
        kept.append(batch)
#
n = n if n else 2
n = n or n
n = max(n, n)
#
mp.set_start_method("fork")
p = mp.Process(target=lambda: q.put(1), args=(lock, h))
p.start()
p.join()
#
class H(Base, metaclass=M):
    def __getattr__(self, n):
        return getattr(self.inner, n)
    def __reduce__(self):
        return (H, (self,))
    def __iter__(self):
        yield from self
#
class T(NamedTuple("T", [("a", int)])):
    x: "T" = lambda self: T(self)
#
match x:
    case {"a": [1, *rest], **more} if more:
        y = lambda: rest
    case C(a=b) | [b]:
        y = b
#
self.pool = ThreadPoolExecutor()
self.s = namedtuple("S", p.keys())(*p.values())
self.s = self.s._replace(a=lambda: 1)
#
def new[T: (int, str), *Ts, **P](x: T, *a: *Ts) -> T:
    type A[K] = dict[K, T]
    return DataLoader(A, num_workers=1)
#
try:
    pass
except* ValueError as e:
    raise e.split(lambda x: x)[0] from None
#
global x
x = [y for x in x for y in x if (x := y)]
del x
#
async def co(x):
    async with x as y, z:
        return [await a async for a in y]
#
os.fork()
os.environ["A"] = "b"
signal.signal(signal.SIGCHLD, lambda *a: None)
sys.exit(lambda: 0)
""")
WHOLE = _pieces("""\
class Data(Dataset):
    def __init__(self, root, transform=None, *more):
        self.root, self.cache = root, {}
        self.paths = [os.path.join(root, name) for name in os.listdir(root)]
        self.transform = transform or (lambda x: x * len(more))
        self.file = h5py.File(root, "r")
    def __len__(self):
        return len(self.paths)
    def __getitem__(self, i):
        gc.collect()
        if i not in self.cache:
            self.cache[i] = self.transform(self.file[self.paths[i]])
        return self.cache[i], np.random.rand()
def main(workers=2, c=None):
    workers = workers if c else workers
    def collate(batch):
        return batch, c
    train = DataLoader(Data("x", lambda v: call(v)), num_workers=workers, collate_fn=collate, worker_init_fn=seed)
    kept = []
    for epoch in range(3):
        for batch in train:
            kept.append(batch)
if __name__ == "__main__":
    main()
#
class Stream(IterableDataset, Base):
    def __init__(self, *args, path, **options):
        super().__init__(*args, **options)
        self.handle = open(path)
        self.rng = np.random.default_rng(0)
    def __iter__(self):
        for line in self.handle:
            yield from map(lambda word: (word, self.rng.random()), line.split())
loader = DataLoader(Stream(path="x"), batch_size=None, num_workers=os.cpu_count(), multiprocessing_context="spawn")
for epoch in range(2):
    print(next(iter(loader)))
#
def build(cls, *args, **kwargs):
    class Local(cls):
        def __call__(self, item):
            return [hook(item) for hook in self.hooks]
    made = Local(*args, **kwargs)
    made.hooks = [lambda item: item, functools.partial(build, cls)]
    return made
class Wrapped(Dataset):
    def __init__(self, inner):
        self.inner, self.lock = inner, mp.Lock()
        self.model = torch.nn.Linear(1, 1).cuda()
    def __getitem__(self, i):
        return build(type(self.inner))(self.inner[i].to("cuda"))
    def __len__(self):
        return len(self.inner)
def worker(queue, f=lambda: None):
    for item in DataLoader(build(Wrapped, queue), num_workers=4, pin_memory=True):
        queue.put(item)
processes = [mp.Process(target=worker, args=(mp.Queue(), lambda: i)) for i in range(2)]
for process in processes:
    process.start()
""")


def _deep(rng: random.Random) -> str:
    """Something that nests deeply, or goes on for long."""
    depth = rng.choice([10, 40, 90, 400])
    match rng.randrange(7):
        case 0:
            return f"deep = {'[' * min(depth, 90)}f{']' * min(depth, 90)}\n"
        case 1:
            return f"deep = {'lambda x: ' * depth}x\n"
        case 2:
            return f"deep = x{'.a(1)[0]' * depth}\n"
        case 3:
            return "".join(f"{' ' * row}def d{row}(x):\n" for row in range(min(depth, 90))) + " " * 91 + "return x\n"
        case 4:
            return "if a: pass\n" + "elif b: x = DataLoader(x)\n" * min(depth, 150)
        case 5:
            return f"deep = {'x if x else ' * depth}DataLoader(x, num_workers=x)\n"
        case _:
            return "".join(f"x = x + (lambda: x)() if x else f(x, *x)  # {row}\n" for row in range(min(depth, 40)))


def _joined(rng: random.Random, names: list[str]) -> Iterator[str]:
    """Statements that tie a file to others: imports, bases and calls, some of them in circles."""
    for other in rng.sample(names, rng.randint(1, len(names))):
        yield rng.choice(
            [
                f"from {other} import *\n",
                f"import {other}\n",
                f"from {other} import D, seed as seed_{other}, Base\n",
                f"from . import {other}\n",
                f"try:\n    from .{other} import D\nexcept ImportError:\n    D = None\n",
            ]
        )
        yield rng.choice(
            [
                f"class Base({other}.Base):\n    def __init__(self, *a):\n        super().__init__(self, *a)\n",
                f"def call(f=None, *a):\n    return {other}.call(f or call, call, *a)\n",
                f"D = {other}.D\nclass D(D):\n    x = {other}.D\n",
                f"x = {other}.x\nf = {other}.f\nloader = {other}.call({other}.D(x), num_workers={other}.n)\n",
                f"DataLoader({other}.D({other}.call(lambda: {other})), num_workers=2, collate_fn={other}.call)\n",
                f"def __getattr__(name):\n    return getattr({other}, name)\n",
            ]
        )


def project(seed: int) -> dict[str, str]:
    """The files of a project, by their paths."""
    rng = random.Random(seed)
    names = [f"m{number}" for number in range(rng.randint(2, 5))]
    files = {}
    for name in names:
        text = mutated(rng, rng.choice(corpus()))
        before = [IMPORTS, *_joined(rng, names)]
        after = [*rng.sample(PROGRAMS, rng.randint(1, 4)), *([_deep(rng)] if rng.random() < 0.4 else [])]
        after += [rng.choice(WHOLE)] if rng.random() < 0.7 else []
        whole = _head(text) + "".join([*before, text if text.endswith("\n") else f"{text}\n", *after])
        files[f"{name}.py"] = mutated(rng, whole) if rng.random() < 0.5 else whole
    if rng.random() < 0.3:
        files = {f"package/{path}": text for path, text in files.items()} | {
            "package/__init__.py": "from .m0 import *\n"
        }
    return files


def _head(text: str) -> str:
    """Imports from the future must stay first."""
    return "".join(line for line in text.splitlines(keepends=True) if line.startswith("from __future__ import"))[:200]


def write(seed: int, folder: Path) -> dict[str, str]:
    """Write a project down."""
    files = project(seed)
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
    (folder / "dllint.toml").touch()
    return files


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]))
