"""Handles, which belong to one process: files, locks, threads, connections. By the callable that creates them.

Measured on Python 3.11 (pickling) and with four forked workers reading at random from one handle (fork), but for those
that were only read about, in the package's source or its users' reports: LSUN, OpenSlide, PyTables, pyfaidx, psycopg2,
pymongo, AnnData, `torch.utils.tensorboard` (its event writer was run).
"""

from __future__ import annotations

from typing import NamedTuple


class Handle(NamedTuple):
    """A kind of thing that cannot be pickled."""

    what: str
    """Its description, in words."""
    fork: str = ""
    """The outcome if forked workers read through one: `corrupt`, `exception`, `hang`, or "" if none was observed."""

    sure: bool = True
    """Whether it surely is one."""

    instead: str = ""
    """The remedy where making another one in the worker is none."""

    @property
    def remedy(self) -> str:
        """The remedy: an alternative to sending it."""
        if self.instead:
            return self.instead
        verb = "open" if self.what.startswith(_OPENED) else "import" if self is MODULE else "make"
        return f"{verb} it in the worker, on first use"


_OPENED = ("open ", "database connection", "LMDB environment", "HDF5-backed data")
_FILE = Handle("open file", "corrupt")
_HDF5 = Handle("open HDF5 file")
_LOCK = Handle("lock")
GENERATOR = Handle("generator")
_DATABASE = Handle("database connection")
_LMDB = Handle("LMDB environment", "exception")
_LSUN = Handle(
    "LSUN dataset, which keeps LMDB environments open,", instead="wrap it in a dataset that makes it in the worker"
)
"""It opens them without locks, so forked workers read side by side."""
_TRANSACTION = Handle("LMDB transaction")
ZIP = Handle("open zip file", "exception")
_TAR = Handle("open tar file", "corrupt")
_CSV = Handle("CSV reader", "corrupt")
_VIDEO = Handle("OpenCV object")
_EXECUTOR = Handle("executor")
_POOL, _THREADS = Handle("pool of processes"), Handle("pool of threads")
_RESULT = Handle("pending result of a pool", instead="keep what its `get` returns")
_FUTURE = Handle("future", instead="keep what its `result` returns")
_POOLS = ("multiprocessing.Pool", "multiprocessing.pool.ThreadPool", "multiprocessing.dummy.Pool")
_WITHOUT_WAITING = ("apply_async", "map_async", "starmap_async", "imap", "imap_unordered")
_MANAGER = Handle(
    "manager of shared objects", instead="keep only the lists and dictionaries that it makes, which can be pickled"
)
"""A worker is a daemon and can't start one; what a manager made keeps it alive in the process that has it."""
_MATCH = Handle("regular expression match")
_STATE = Handle("compression or hash object")
_WEAK = Handle("weak reference")
_SCRIPT = Handle("TorchScript object")
VIEW = Handle("view of a dictionary", instead="keep a list of what it shows")
_PROXY = Handle("read-only view of a dictionary", instead="keep the dictionary, or a copy of it")
MODULE = Handle("module")
SUBMODULES = frozenset({
    "numpy.random", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.testing", "os.path", "concurrent.futures",
    "importlib.util", "logging.handlers", "matplotlib.pyplot", "multiprocessing.pool", "pycocotools.mask", "scipy.io",
    "scipy.linalg", "scipy.ndimage", "scipy.signal", "scipy.sparse", "scipy.spatial", "scipy.stats", "sklearn.metrics",
    "torch.backends", "torch.cuda", "torch.distributed", "torch.fft", "torch.linalg", "torch.nn", "torch.nn.functional",
    "torch.nn.init", "torch.optim", "torch.random", "torch.utils", "torch.utils.data", "torchaudio.functional",
    "torchaudio.transforms", "torchvision.datasets", "torchvision.io", "torchvision.models", "torchvision.transforms",
    "torchvision.transforms.functional", "torchvision.transforms.v2",
})  # fmt: skip
"""Modules in packages. Another dotted name may be of something else."""

_DICTIONARIES = (
    "dict", "builtins.dict()", "collections.defaultdict()", "collections.OrderedDict()", "collections.Counter()",
    "json.load()", "json.loads()", "yaml.safe_load()", "torch.load()",
)  # fmt: skip
"""Dictionaries, and what reads a file: of its results only a dictionary has keys."""

HANDLES: dict[str, Handle] = {
    **{f"{made}.{view}": VIEW for made in _DICTIONARIES for view in ("keys", "values", "items")},
    "types.MappingProxyType": _PROXY,
    **dict.fromkeys(
        (
            "builtins.open", "gzip.open", "gzip.GzipFile", "bz2.open", "bz2.BZ2File", "lzma.open", "lzma.LZMAFile",
            "io.FileIO", "io.BufferedReader", "io.BufferedRandom", "io.TextIOWrapper", "os.fdopen",
            "pathlib.Path().open", "tempfile.NamedTemporaryFile", "tempfile.TemporaryFile",
            "zipfile.ZipFile().open", "tarfile.open().extractfile",
        ),
        _FILE,
    ),
    **dict.fromkeys(("h5py.File", "h5py.File().get", "h5py.File().create_group", "h5py.File().require_group"), _HDF5),
    **dict.fromkeys(("threading.Lock", "threading.RLock", "threading.Condition", "threading.Event"), _LOCK),
    **dict.fromkeys(("threading.Semaphore", "threading.BoundedSemaphore", "threading.Barrier"), _LOCK),
    **dict.fromkeys(("threading.Thread", "threading.Timer"), Handle("thread")),
    "threading.local": Handle("thread-local object"),
    **dict.fromkeys(("queue.Queue", "queue.LifoQueue", "queue.PriorityQueue", "queue.SimpleQueue"), Handle("queue")),
    **dict.fromkeys(
        ("concurrent.futures.ThreadPoolExecutor", "concurrent.futures.ProcessPoolExecutor",
         "concurrent.futures.thread.ThreadPoolExecutor"), _EXECUTOR,
    ),
    "multiprocessing.Pool": _POOL,
    **dict.fromkeys(("multiprocessing.pool.ThreadPool", "multiprocessing.dummy.Pool"), _THREADS),
    **{f"{pool}().{method}": _RESULT for pool in _POOLS for method in _WITHOUT_WAITING},
    **dict.fromkeys(
        ("concurrent.futures.ThreadPoolExecutor().submit", "concurrent.futures.ProcessPoolExecutor().submit"), _FUTURE
    ),
    "multiprocessing.Manager": _MANAGER,
    "subprocess.Popen": Handle("child process", "hang"),
    **dict.fromkeys(("lmdb.open", "lmdb.Environment"), _LMDB),
    **dict.fromkeys(("lmdb.open().begin", "lmdb.open().begin().cursor", "lmdb.Environment().begin"), _TRANSACTION),
    **dict.fromkeys(("sqlite3.connect", "sqlite3.connect().cursor", "sqlite3.connect().execute"), _DATABASE),
    "zipfile.ZipFile": ZIP,
    **dict.fromkeys(("tarfile.open", "tarfile.TarFile", "tarfile.TarFile.open"), _TAR),
    **dict.fromkeys(("csv.reader", "csv.DictReader"), _CSV),
    **dict.fromkeys(("csv.writer", "csv.DictWriter"), Handle("CSV writer")),
    "mmap.mmap": Handle("memory map"),
    "builtins.memoryview": Handle("memory view"),
    **dict.fromkeys(("re.match", "re.search", "re.fullmatch"), _MATCH),
    **dict.fromkeys(("os.walk", "os.scandir", "glob.iglob", "re.finditer"), GENERATOR),
    "types.generator": GENERATOR,
    "importlib.import_module": MODULE,
    **dict.fromkeys(
        ("hashlib.md5", "hashlib.sha1", "hashlib.sha256", "hashlib.new", "zlib.compressobj", "zlib.decompressobj"),
        _STATE,
    ),
    "struct.Struct": Handle("compiled `struct.Struct`"),
    **dict.fromkeys(("ssl.SSLContext", "ssl.create_default_context"), Handle("SSL context")),
    **dict.fromkeys(("selectors.DefaultSelector", "select.epoll", "select.poll"), Handle("selector")),
    **dict.fromkeys(("weakref.ref", "weakref.proxy", "weakref.WeakSet", "weakref.WeakValueDictionary"), _WEAK),
    **dict.fromkeys(("weakref.WeakKeyDictionary", "weakref.WeakMethod"), _WEAK),
    "contextvars.ContextVar": Handle("context variable"),
    "argparse.ArgumentParser": Handle("argument parser"),
    "random.SystemRandom": Handle("system random generator"),
    **dict.fromkeys(
        ("logging.StreamHandler", "logging.FileHandler", "logging.handlers.RotatingFileHandler",
         "logging.handlers.QueueListener", "logging.handlers.QueueHandler"), Handle("logging handler"),
    ),
    **dict.fromkeys(
        ("cv2.VideoCapture", "cv2.VideoWriter", "cv2.ORB_create", "cv2.createCLAHE", "cv2.KeyPoint", "cv2.UMat",
         "cv2.createBackgroundSubtractorMOG2"), _VIDEO,
    ),
    **dict.fromkeys(
        ("pyarrow.parquet.ParquetFile", "pyarrow.memory_map", "pyarrow.OSFile"), Handle("open Arrow file"),
    ),
    **dict.fromkeys(("wave.open", "urllib.request.urlopen", "soundfile.SoundFile", "tables.open_file"), _FILE),
    **dict.fromkeys(("av.open", "decord.VideoReader", "decord.AudioReader"), Handle("open video")),
    **dict.fromkeys(("rasterio.open", "netCDF4.Dataset"), Handle("open data file")),
    **dict.fromkeys(
        ("pysam.FastaFile", "pysam.AlignmentFile", "pysam.VariantFile", "pyfaidx.Fasta"), Handle("open genome file")
    ),
    **dict.fromkeys(("openslide.OpenSlide", "openslide.open_slide"), Handle("open slide")),
    "SimpleITK.ImageFileReader": Handle("SimpleITK reader"),
    **dict.fromkeys(
        ("redis.Redis", "redis.StrictRedis", "sqlalchemy.create_engine", "psycopg2.connect", "pymongo.MongoClient"),
        _DATABASE,
    ),
    **dict.fromkeys(
        ("boto3.client", "boto3.resource", "boto3.Session", "boto3.session.Session", "boto3.Session().client",
         "boto3.Session().resource", "google.cloud.storage.Client"), Handle("storage client"),
    ),
    **dict.fromkeys(("torchvision.datasets.LSUN", "torchvision.datasets.LSUNClass"), _LSUN),
    "xml.etree.ElementTree.iterparse": GENERATOR,
    "asyncio.new_event_loop": Handle("event loop"),
    "torch.utils.tensorboard.SummaryWriter": Handle("event writer"),
    **dict.fromkeys(("torch.jit.script", "torch.jit.load", "torch.jit.trace"), _SCRIPT),
}  # fmt: skip

_STREAM = Handle("stream of this process", instead="use `print`, or `sys.stdout` where it is written to")
STREAMS = dict.fromkeys(("sys.stdout", "sys.stderr", "sys.stdin"), _STREAM)
"""Handles that nothing makes: each process has its own."""

ITERDIR = (".iterdir", ".rglob")
"""Methods of paths, whatever their receiver, that give generators; `.glob` does so on a `pathlib.Path` only."""
