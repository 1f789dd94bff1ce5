"""What is known of code outside the project: who starts workers and ships what, who keeps its arguments, and names.

Every table says where its facts come from; "measured" means run on torch 2.13, see the families' README pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

CANONICAL = {
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.utils.data.dataset.IterableDataset": "torch.utils.data.IterableDataset",
    "torch.utils.data.dataset.Subset": "torch.utils.data.Subset",
    "torch.utils.data.dataset.ConcatDataset": "torch.utils.data.ConcatDataset",
    "torch.utils.data.dataset.TensorDataset": "torch.utils.data.TensorDataset",
    "torch.utils.data.dataset.random_split": "torch.utils.data.random_split",
    "torch_geometric.loader.dataloader.DataLoader": "torch_geometric.loader.DataLoader",
    "torch_geometric.data.DataLoader": "torch_geometric.loader.DataLoader",
    "torchtext.legacy.data.Dataset": "torchtext.data.Dataset",
    "transformers.trainer.Trainer": "transformers.Trainer",
    "transformers.trainer_seq2seq.Seq2SeqTrainer": "transformers.Seq2SeqTrainer",
    "typing.Dict": "builtins.dict",
    "functools.cache": "functools.lru_cache",
    "torch.utils.data.datapipes.iter.IterDataPipe": "torch.utils.data.IterDataPipe",
    "multiprocessing.context.Process": "multiprocessing.Process",
    "multiprocessing.pool.Pool": "multiprocessing.Pool",
    "concurrent.futures.process.ProcessPoolExecutor": "concurrent.futures.ProcessPoolExecutor",
    "pebble.pool.ProcessPool": "pebble.ProcessPool",
    "pebble.pool.process.ProcessPool": "pebble.ProcessPool",
    "torch.multiprocessing.spawn.spawn": "torch.multiprocessing.spawn",
    "accelerate.accelerator.Accelerator": "accelerate.Accelerator",
    "lightning.fabric.Fabric": "lightning.Fabric",
    "lightning.fabric.fabric.Fabric": "lightning.Fabric",
    "litdata.processing.functions.map": "litdata.map",
    "litdata.processing.functions.optimize": "litdata.optimize",
    "io.open": "builtins.open",
    "itertools.imap": "builtins.map",
    "itertools.izip": "builtins.zip",
    "codecs.open": "builtins.open",
    "monai.data.dataloader.DataLoader": "monai.data.DataLoader",
    "mmcls.datasets.base_dataset.BaseDataset": "mmcls.datasets.BaseDataset",
    "mmdet.datasets.api_wrappers.coco_api.COCO": "mmdet.datasets.api_wrappers.COCO",
    "mmdet.datasets.coco.CocoDataset": "mmdet.datasets.CocoDataset",
    "mmdet.datasets.custom.CustomDataset": "mmdet.datasets.CustomDataset",
    "mmdet3d.datasets.custom_3d.Custom3DDataset": "mmdet3d.datasets.Custom3DDataset",
    "mmengine.dataset.base_dataset.BaseDataset": "mmengine.dataset.BaseDataset",
    "mmseg.datasets.custom.CustomDataset": "mmseg.datasets.CustomDataset",
    "pathlib.PosixPath": "pathlib.Path",
    "pathlib.WindowsPath": "pathlib.Path",
}
"""Deep import paths of names that have a public home (read in the packages' own `__init__` files), and Python 2's."""

TORCH_ONLY = frozenset({
    "torch.multiprocessing.spawn", "torch.multiprocessing.start_processes", "torch.multiprocessing.spawn.spawn",
    "torch.multiprocessing.set_sharing_strategy", "torch.multiprocessing.get_sharing_strategy",
    "torch.multiprocessing.reductions",
})  # fmt: skip
"""What torch.multiprocessing adds; everything else in it is multiprocessing's own."""

PYTHON_2_MODULES = frozenset({
    "ConfigParser", "Cookie", "HTMLParser", "Queue", "SocketServer", "StringIO", "Tkinter", "__builtin__", "cPickle",
    "cStringIO", "cookielib", "copy_reg", "httplib", "urllib2", "urlparse", "xmlrpclib",
})  # fmt: skip
"""Modules that Python 3 lacks, and no package brings back ("What's New In Python 3.0", PEP 3108)."""
PYTHON_2_NAMES = {
    "itertools": frozenset({"ifilter", "ifilterfalse", "imap", "izip", "izip_longest"}),
    "string": frozenset({"join", "letters", "lowercase", "maketrans", "uppercase"}),
    "urllib": frozenset({"FancyURLopener", "quote", "unquote", "urlencode", "urlopen", "urlretrieve"}),
}
"""Names that Python 3 has no longer in these modules."""
PYTHON_2_FUNCTIONS = frozenset({
    "apply", "basestring", "cmp", "execfile", "long", "raw_input", "reduce", "reload", "unichr", "unicode", "xrange",
})  # fmt: skip
"""Builtin functions that Python 3 lacks."""

PREFIXES = {
    "pytorch_lightning.": "lightning.",
    "lightning.pytorch.": "lightning.",
    "jittor.dataset.": "torch.utils.data.",
}


Constant = bool | int | str | None
"""What a table can say that an argument is."""


class Boundary(NamedTuple):
    """Something that starts workers: the parameters it ships to them, in the order of its positional arguments."""

    parameters: tuple[str, ...]
    ships: tuple[str, ...]
    workers: str = "num_workers"
    """The parameter that says how many workers; "" where they always start."""
    base: str = "torch.utils.data.DataLoader"
    """What it is for messages and start methods."""
    processes_when: Mapping[str, tuple[Constant, ...]] = {}
    """Parameters with the values, one of which each must have for workers to be processes: `{"backend": ("process",)}`.
    """
    defaults: Mapping[str, Constant] = {}
    """What parameters are where a call does not say: of the number of workers and of `processes_when`. Else None."""
    attributes: Mapping[str, str] = {}
    """Attributes of the loader that are what it was given, with the parameter; each parameter is one of its own name.
    """

    def shown_as(self, attribute: str) -> str:
        """The parameter whose argument an attribute of the loader is; "" for an attribute that is none."""
        own = attribute if attribute in (*self.parameters, *self.ships) else ""
        return self.attributes.get(attribute, own)


class Knowledge(NamedTuple):
    """What a package knows of the classes of libraries, by their dotted names: the entry points `dllint.knowledge`."""

    loaders: Mapping[str, Boundary] = {}
    """Classes and functions that start workers, with what they ship."""
    dataset_bases: tuple[str, ...] = ()
    """Classes whose subclasses are datasets."""
    unpicklable_types: tuple[str, ...] = ()
    """Classes whose objects cannot be pickled, or must not be."""


_LOADER = (
    "dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory",
    "drop_last", "timeout", "worker_init_fn", "multiprocessing_context",
)  # fmt: skip
_SHIPPED = ("dataset", "collate_fn", "worker_init_fn")
_FALSE = (False, None, 0)

LOADERS = {
    "torch.utils.data.DataLoader": Boundary(_LOADER, _SHIPPED),
    "torch_geometric.loader.DataLoader": Boundary(("dataset", "batch_size", "shuffle", "follow_batch"), _SHIPPED),
    "torch_geometric.loader.DataListLoader": Boundary(("dataset", "batch_size", "shuffle"), _SHIPPED),
    "torch_geometric.loader.DenseDataLoader": Boundary(("dataset", "batch_size", "shuffle"), _SHIPPED),
    "torch_geometric.loader.NeighborLoader": Boundary(("data", "num_neighbors"), ("transform", "worker_init_fn")),
    "monai.data.DataLoader": Boundary(("dataset", "num_workers"), _SHIPPED),
    "monai.data.ThreadDataLoader": Boundary(
        ("dataset",), _SHIPPED, processes_when={"use_thread_workers": _FALSE}, defaults={"use_thread_workers": False}
    ),
    "mxnet.gluon.data.DataLoader": Boundary(
        ("dataset", "batch_size", "shuffle", "sampler", "last_batch", "batch_sampler", "batchify_fn", "num_workers"),
        ("dataset", "batchify_fn"),
        processes_when={"thread_pool": _FALSE},
        defaults={"thread_pool": False},
    ),
    "webdataset.WebLoader": Boundary(_LOADER, _SHIPPED),
    "dgl.dataloading.GraphDataLoader": Boundary(("dataset", "collate_fn"), _SHIPPED),
    "accelerate.data_loader.DataLoaderShard": Boundary(("dataset",), _SHIPPED),
    "torchdata.stateful_dataloader.StatefulDataLoader": Boundary(_LOADER, _SHIPPED),
    "timm.data.loader.MultiEpochsDataLoader": Boundary(_LOADER, _SHIPPED),
    "fastai.data.load.DataLoader": Boundary(("dataset", "bs", "num_workers"), ("dataset",)),
    "fastai.data.core.DataLoader": Boundary(("dataset",), _SHIPPED),
    "espnet2.iterators.sequence_iter_factory.SequenceIterFactory": Boundary(("dataset",), ("dataset", "collate_fn")),
    "transformers.Trainer": Boundary(
        ("model", "args", "data_collator", "train_dataset", "eval_dataset"),
        ("train_dataset", "eval_dataset", "data_collator"),
        workers="args.dataloader_num_workers",
        base="transformers.Trainer",
    ),
}
"""Loaders: what they hand to workers. torch 2.13 ships the dataset, `collate_fn` and `worker_init_fn`, no samplers
(read in its worker start; the others from their signatures)."""
LOADERS["transformers.Seq2SeqTrainer"] = LOADERS["transformers.Trainer"]
_CATALYST = Boundary(
    ("data_source", "open_fn", "dict_transform", "sampler", "collate_fn", "batch_size", "num_workers"),
    ("data_source", "open_fn", "dict_transform", "collate_fn"),
    defaults={"num_workers": 4},
)
LOADERS["catalyst.utils.get_loader"] = LOADERS["catalyst.dl.utils.get_loader"] = _CATALYST
"""Of versions 19.10 to 21.4, which have it in either package: read in their sources."""

PROCESSES = {
    "multiprocessing.Process": Boundary(
        ("group", "target", "name", "args", "kwargs"), ("target", "args", "kwargs"), "", "multiprocessing.Process"
    ),
    "torch.multiprocessing.spawn": Boundary(("fn", "args"), ("fn", "args"), "", "torch.multiprocessing.spawn"),
    "torch.multiprocessing.start_processes": Boundary(
        ("fn", "args"), ("fn", "args"), "", "torch.multiprocessing.start_processes"
    ),
    "multiprocessing.Pool": Boundary(
        ("processes", "initializer", "initargs"), ("initializer", "initargs"), "", "multiprocessing.Pool"
    ),
    "concurrent.futures.ProcessPoolExecutor": Boundary(
        ("max_workers", "mp_context", "initializer", "initargs"),
        ("initializer", "initargs"),
        "",
        "concurrent.futures.ProcessPoolExecutor",
    ),
    "pebble.ProcessPool": Boundary(
        ("max_workers", "max_tasks", "initializer", "initargs", "context"),
        ("initializer", "initargs"),
        "",
        "pebble.ProcessPool",
    ),
}
OF_ONE_METHOD = {
    "multiprocessing.context.ForkProcess": "fork",
    "multiprocessing.context.ForkServerProcess": "forkserver",
    "multiprocessing.context.SpawnProcess": "spawn",
}
"""The classes of processes that `get_context(method).Process` is: each starts in one way on every platform."""
PROCESS_CLASSES = frozenset({"multiprocessing.Process", *OF_ONE_METHOD})
SPAWN_UNLESS_TOLD = frozenset({"litdata.map", "litdata.optimize"})
"""Functions that spawn the processes in which they call `fn`, unless `start_method` says otherwise; in a notebook they
fork. `fn` is in the recipe that each of these gets (read in the sources of litdata 0.2.45, and of 0.2.22, the first).
"""
PROCESSES |= {name: Boundary(("fn",), ("fn",), "", name) for name in sorted(SPAWN_UNLESS_TOLD)}
POOL_METHODS = {
    "multiprocessing.Pool": dict.fromkeys(
        ("map", "imap", "imap_unordered", "apply", "apply_async", "map_async", "starmap", "starmap_async"), "func"
    ),
    "concurrent.futures.ProcessPoolExecutor": dict.fromkeys(("submit", "map"), "fn"),
    "pebble.ProcessPool": dict.fromkeys(("submit", "map", "schedule"), "function"),
}
"""Methods of pools, with the name of their first parameter, whose argument is pickled under every start method
(measured, pebble 5.2.3 among them)."""
CONTEXTS = {"concurrent.futures.ProcessPoolExecutor": "mp_context", "pebble.ProcessPool": "context"}
"""The parameters by which pools get a context of multiprocessing, or the module itself."""
AT_ONCE = {
    "multiprocessing.Pool": "a pool",
    "multiprocessing.Manager": "a manager process",
    "torch.multiprocessing.spawn": "processes",
    "torch.multiprocessing.start_processes": "processes",
    **dict.fromkeys(sorted(SPAWN_UNLESS_TOLD), "processes"),
}
"""What starts processes as it is called, in words."""
OPENCV_PARALLEL = frozenset({
    "resize", "warpAffine", "warpPerspective", "remap", "cvtColor", "GaussianBlur", "medianBlur", "bilateralFilter",
    "filter2D", "blur", "boxFilter", "Sobel", "Laplacian", "Canny", "erode", "dilate", "morphologyEx", "equalizeHist",
    "fastNlMeansDenoisingColored", "undistort", "pyrDown", "pyrUp",
})  # fmt: skip
"""Functions of OpenCV that share their work among threads."""


class Starter(NamedTuple):
    """Methods of what a package makes that start processes, let them call a function, and wait for them."""

    methods: tuple[str, ...]
    function: str
    """The first parameter of each: what the processes call."""
    workers: str
    """The parameter that says how many. Without it the main process calls the function itself; 1 isn't reported."""
    by_value: bool = False
    """The code of functions is pickled, not their names: lambdas and local functions go through."""
    module: str = "multiprocessing"
    """What starts the processes: its `set_start_method` counts."""


STARTERS = {"datasets": Starter(("map", "filter"), "function", "num_proc", by_value=True, module="multiprocess")}
"""What starts processes itself, by its package (run with datasets 5.2, which starts one for `num_proc=1`, too)."""
FORKING = {"multiprocess": ("linux", "macos")}
"""Copies of multiprocessing, and where they fork by default under every Python (read in multiprocess 0.70.19: its
defaults of Python 3.14 and of macOS are commented out). Their start method is their own."""


class DatasetBase(NamedTuple):
    """What a library's dataset class does with those of its own methods that derived classes replace."""

    calls: Mapping[str, tuple[str, ...]]
    """Its methods that run for an item, from `__getitem__` on, with those that each of them calls."""
    keeps: Mapping[str, str] = {}
    """The attributes in which its constructor keeps what a method returns."""
    reads: tuple[str, ...] = ()
    """Its methods that take an element of these for an item."""
    sets_up: tuple[str, ...] = ()
    """Its methods that its constructor calls besides those whose results it keeps."""


_PREPARED = {
    "__getitem__": ("prepare_train_img", "prepare_test_img", "_rand_another"),
    "prepare_train_img": ("get_ann_info", "pre_pipeline"),
    "prepare_test_img": ("pre_pipeline",),
}
_LOOKED_UP = {"__getitem__": ("prepare_data", "_rand_another"), "prepare_data": ("get_data_info",)}
_MMDET = DatasetBase(
    {**_LOOKED_UP, **_PREPARED, "__getitem__": (*_PREPARED["__getitem__"], "prepare_data")},
    {"data_infos": "load_annotations", "proposals": "load_proposals"},
    ("prepare_train_img", "prepare_test_img", "get_ann_info"),
)
DATASET_BASES = {
    **dict.fromkeys(
        (
            f"mmdet.datasets.{name}Dataset"
            for name in ("Custom", "Coco", "XML", "VOC", "LVIS", "LVISV05", "LVISV1", "Cityscapes")
        ),
        _MMDET,
    ),
    "mmdet3d.datasets.Custom3DDataset": DatasetBase(
        {
            "__getitem__": ("prepare_train_data", "prepare_test_data", "_rand_another"),
            "prepare_train_data": ("get_data_info", "pre_pipeline"),
            "prepare_test_data": ("get_data_info", "pre_pipeline"),
            "get_data_info": ("get_ann_info",),
        },
        {"data_infos": "load_annotations"},
        ("get_data_info",),
    ),
    "mmseg.datasets.CustomDataset": DatasetBase(
        _PREPARED, {"img_infos": "load_annotations"}, ("prepare_train_img", "prepare_test_img", "get_ann_info")
    ),
    "mmcls.datasets.BaseDataset": DatasetBase(
        {"__getitem__": ("prepare_data",)}, {"data_infos": "load_annotations"}, ("prepare_data",)
    ),
    **dict.fromkeys(
        ("mmengine.dataset.BaseDataset", "mmdet.datasets.BaseDetDataset", "mmseg.datasets.BaseSegDataset"),
        DatasetBase(_LOOKED_UP, sets_up=("full_init", "load_data_list", "parse_data_info", "filter_data")),
    ),
}
"""Read in the sources of mmdet 2 (mmdet 3 derives these classes from mmengine's, too), mmdet3d 1.0, mmseg 0.x, mmcls
0.x, and mmengine, which packs its `data_list` itself by default."""

TRAINER_HOOKS = ("prepare_data", "setup", "train_dataloader", "val_dataloader", "test_dataloader", "predict_dataloader")
"""What Lightning's trainer calls, in its own process, before workers start."""
TRAINED_CLASSES = frozenset({
    "lightning.LightningDataModule", "lightning.LightningModule", "torchgeo.datamodules.GeoDataModule",
    "torchgeo.datamodules.NonGeoDataModule",
})  # fmt: skip
"""The classes whose hooks these are, and bases of other packages that derive from them."""

ANNOTATION_INDEXES = {
    **dict.fromkeys(
        ("pycocotools.coco.COCO", "pycocotools.COCO", "xtcocotools.coco.COCO", "mmdet.datasets.api_wrappers.COCO"),
        "COCO annotations",
    ),
    **dict.fromkeys(("lvis.LVIS", "lvis.lvis.LVIS"), "LVIS annotations"),
}
"""Classes that read a file of annotations and keep dictionaries of all that is in it (mmdet's adds other names)."""

DATASETS = frozenset({
    *DATASET_BASES, "torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.utils.data.TensorDataset",
    "torch.utils.data.Subset", "torch.utils.data.ConcatDataset", "torch.utils.data.ChainDataset",
    "torch.utils.data.IterDataPipe", "torch.utils.data.MapDataPipe", "torch_geometric.data.Dataset",
    "torch_geometric.data.InMemoryDataset", "monai.data.Dataset", "monai.data.CacheDataset",
    "monai.data.PersistentDataset", "torchvision.datasets.VisionDataset", "torchvision.datasets.ImageFolder",
    "torchvision.datasets.DatasetFolder", "torchvision.datasets.folder.ImageFolder",
    "torchvision.datasets.CocoDetection", "faster_coco_eval.utils.pytorch.FasterCocoDetection",
    "torchvision.datasets.vision.VisionDataset", "torchvision.datasets.folder.DatasetFolder",
    "fairseq.data.FairseqDataset", "webdataset.WebDataset", "litdata.StreamingDataset", "streaming.StreamingDataset",
    "torchaudio.datasets.LIBRISPEECH",
    "torchtext.data.Dataset", "dgl.data.DGLDataset", "lightning.LightningDataset", "pyg.data.Dataset",
})  # fmt: skip
LOADED_BY_THEIR_PACKAGE = ("fairseq.", "unicore.")
"""Packages that make the loaders of such datasets themselves, with a worker by default, from what a task keeps: read in
`fairseq.data.iterators` and in its fork, `unicore.data.iterators`. All their classes whose names say so are datasets.
"""
ITERABLE_DATASETS = frozenset({"torch.utils.data.IterableDataset", "torch.utils.data.IterDataPipe"})
DATA_ROOTS = frozenset({
    "torch", "torchvision", "torchaudio", "torchtext", "datasets", "builtins", "numpy", "pandas", "sklearn", "json",
    "pickle", "joblib", "itertools", "functools", "webdataset", "torch_geometric", "dgl", "ogb", "os", "glob", "monai",
    "medmnist", "tensorflow_datasets",
})  # fmt: skip
"""Packages whose functions give data or datasets of their own, none that the project defines."""
DATASET_MODULES = (
    "torchvision.datasets.", "torchaudio.datasets.", "torchtext.datasets.", "torch_geometric.datasets.",
    "torchgeo.datasets.",
)  # fmt: skip

DEFAULT_DEVICES = {"torch.set_default_tensor_type": "t", "torch.set_default_device": "device"}
"""What says where new tensors are, with the parameter that does (torch 2.13; the first one, of old, with the type)."""

FOLDER_DATASETS = frozenset(
    f"torchvision.datasets.{place}{name}" for place in ("", "folder.") for name in ("ImageFolder", "DatasetFolder")
)
"""Of `samples` their code takes one for an item, and asks for the length (from torchvision's source)."""
FOLDER_LISTS = frozenset({"samples", "imgs"})
"""The names of the list of files, a tuple with the number of its class for each, that they keep (in the same)."""

PATH_JOINS = frozenset({"os.path.join", "pathlib.Path", "pathlib.Path().joinpath"})
"""What joins the parts of a path."""

MAP_METHODS = ("__getitem__", "__getitems__")
WORKER_METHODS = (*MAP_METHODS, "__iter__", "__next__")

KEEPERS = frozenset({
    "functools.partial", "collections.defaultdict", "builtins.map", "builtins.filter", "builtins.zip",
    "builtins.enumerate", "builtins.reversed", "itertools.chain", "itertools.cycle", "itertools.starmap",
    "torch.utils.data.random_split", "builtins.iter", "collections.OrderedDict", "collections.deque",
    "types.SimpleNamespace", "argparse.Namespace", "numpy.vectorize", "functools.lru_cache", "torch.jit.script",
    "collections.namedtuple()",
})  # fmt: skip
"""Callables whose result keeps what it is given, as it is; the last one is what `namedtuple` returns."""

STAGES = frozenset(
    f"webdataset.{place}{name}"
    for place in ("", "filters.", "tariterators.")
    for name in (
        "associate", "batched", "decode", "map", "map_dict", "map_tuple", "rename", "select", "shuffle",
        "tarfile_to_samples", "xdecode",
    )
)  # fmt: skip
"""Functions that return a stage of a pipeline: an object with the arguments (read in webdataset 1.0: its
`pipelinefilter`)."""

COPIERS = frozenset({
    "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.sorted", "builtins.dict",
})  # fmt: skip
"""Callables that keep the elements of what they are given, not the thing itself."""

ITERATORS = frozenset({"builtins.iter", "itertools.cycle", "itertools.chain"})
"""Of a loader, they keep its iterator: that cannot be pickled at all, so nothing behind it is reached."""

FRAMES = ("pandas.read_", "geopandas.read_", "modin.pandas.read_")
"""What the names of the functions that read a table begin with."""

GIVES_ITEMS = frozenset({"builtins.enumerate", "builtins.zip", "itertools.chain", "itertools.cycle"})
"""Iterators of items of what they are given: none of these has the iterator, or what that goes over."""
GIVES_RESULTS = frozenset({
    "builtins.filter", "builtins.iter", "builtins.map", "builtins.reversed", "itertools.starmap",
})  # fmt: skip
"""Iterators whose items have none of it either: results of the function, or items that the evaluator knows."""

CALLERS: dict[str, int | str] = {
    "builtins.map": 0, "builtins.filter": 0, "itertools.starmap": 0, "functools.reduce": 0,
    "builtins.sorted": "key", "builtins.min": "key", "builtins.max": "key",
}  # fmt: skip
"""Callables that call what they are given for each item, and where it stands among their arguments."""

PROGRAM_STARTERS = ("subprocess", "os.system", "os.popen")
"""What starts other programs by their command lines: a module, and functions."""

COMMAND_LINES = frozenset({
    "absl.app.run", "argh.dispatch_command", "clize.run", "cyclopts.run", "defopt.run", "fire.Fire",
    "jsonargparse.CLI", "jsonargparse.auto_cli", "plac.call", "typer.run", "tyro.cli",
})  # fmt: skip
"""What calls the function that it is given first, with arguments of the command line (each library's documentation)."""

GIVES_NAMES = ("h5py.File()[",)
"""What a loop goes over without keeping it open: it gets the names in a group, or the rows of a dataset."""

PASS_THROUGH = frozenset({"copy.copy", "copy.deepcopy", "typing.cast", "torch.utils.data.dataset.T_co"})
"""Callables whose result is, for our questions, one of their arguments."""

GIVES_BACK = frozenset({"accelerate.Accelerator().prepare", "lightning.Fabric().setup_dataloaders"})
"""Methods that give back what they are given, wrapped: one object alone, several in their order.

Read in accelerate 1.15 and lightning 2.6.
"""

NEW_TEXTS = frozenset({"torch.device().type"})
"""Attributes that are a new string each time they are read, so none is a literal (run with torch 2.13)."""

HOLDING_ROOTS = (
    "torch.", "torchvision.", "torchaudio.", "torchtext.", "torch_geometric.", "lightning.", "monai.",
    "albumentations.",
    "kornia.", "timm.", "webdataset.", "imgaug.", "torchio.", "detectron2.", "mmcv.", "mmdet.", "transformers.",
    "fairseq.", "torchdata.", "pytorchvideo.", "cvtransforms.", "torch_audiomentations.", "audiomentations.", "imgaug.",
    "fastai.", "ffcv.", "volumentations.", "batchgenerators.", "nlpaug.", "speechbrain.", "torchmeta.", "learn2learn.",
    "torch_scatter.", "gym.", "gymnasium.",
    "torchsample.", "video_transforms.", "ignite.", "catalyst.", "poutyne.", "torchnet.", "litdata.",
)  # fmt: skip
"""Packages whose classes keep the callables that their constructors are given."""

BY_VALUE = (".CloudpickleWrapper", "cloudpickle.dumps", "dill.dumps")
"""What pickles the code of functions along, not their names: lambdas and local functions go through (read in gym's
`vector/utils/misc.py` and in stable-baselines3)."""

CHAINED = ("webdataset.", "torchdata.", "torch.utils.data.datapipes.")
"""Packages whose objects are built by chained calls that keep their arguments (`.map(fn)`)."""
TRANSFORMED = {"datasets.": ("with_transform", "set_transform")}
"""Packages whose datasets keep their base, with the methods that keep their arguments: in a copy, and in the dataset
itself. Run with datasets 5.2: lambdas given to these two fail under spawn, those given to `map` and `filter` do not."""

READ_AT_ONCE = frozenset({"is_valid_file"})
"""Parameters that classes of `HOLDING_ROOTS` only call while they are made (read in torchvision's DatasetFolder)."""
KEEP_THE_FIRST = frozenset({"random_split"})
"""Functions that keep their first argument alone: the parts have no generator (read in torch's source)."""

USUALLY_KEPT = frozenset({
    "transform", "transforms", "target_transform", "train_transform", "val_transform", "test_transform",
    "img_transform", "image_transform", "input_transform", "co_transform", "pre_transform", "collate_fn", "loader",
    "preprocess", "preprocess_fn", "preprocessing", "augment", "augmentation", "augmentations", "tokenizer",
    "tokenize", "process_fn", "map_fn",
})  # fmt: skip
"""Parameters under which datasets take callables that they call for each item, or hand on."""

MODULES = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module"})
EMPTY_LAYERS = re.compile(
    r"(Adaptive|Fractional)?(Avg|Max|LP)(Unp|P)ool[123]d|(Circular|Constant|Reflection|Replication|Zero)Pad[123]d"
    r"|(Feature)?(Alpha)?Dropout([123]d)?|InstanceNorm[123]d|CrossMapLRN2d|LocalResponseNorm"
    r"|(Log)?Softmax|Softmax2d|Softmin|(Log)?Sigmoid|Hard(shrink|sigmoid|swish|tanh)|Soft(plus|shrink|sign)"
    r"|[CGS]?ELU|GLU|SiLU|(Leaky|R)?ReLU6?|Mish|Tanh(shrink)?|Threshold"
    r"|ChannelShuffle|Pixel(Uns|S)huffle|(Unf|F)old|(Unf|F)latten|Identity|Upsample|Upsampling(Bilinear|Nearest)2d"
    r"|CosineSimilarity|PairwiseDistance|(?!LinearCrossEntropy)\w+Loss(2d)?"
)
"""Layers of torch that have neither parameters nor buffers unless they are given some (each was made and asked)."""
LAYER_CONTAINERS = frozenset({"DataParallel", "DistributedDataParallel", "ModuleDict", "ModuleList", "Sequential"})
"""Layers of torch that have what the layers have that they are given."""
MAKES_ANYTHING = (
    "torch.ao.", "torch.compile", "torch.export.", "torch.fx.", "torch.hub.", "torch.jit.", "torch.load",
    "torch.package.", "torch.quantization.", "torch.utils.",
)  # fmt: skip
"""Of torch, what makes more than tensors and layers, or gives back what it is given."""

INSTANTIATORS = frozenset({"hydra.utils.instantiate", "hydra.utils.call"})
"""Functions that make what settings name (hydra's documentation: "Instantiating objects with Hydra")."""

CONFIGURABLE = frozenset({"gin.configurable", "gin.register"})
"""Decorators with which settings replace the defaults of parameters that a call leaves out (gin's documentation)."""

SET_BY_LAUNCHERS = frozenset({"local_rank"})
"""Options that a launcher gives to each process that it starts (torch.distributed.launch, DeepSpeed)."""
SETTINGS_READERS = frozenset({
    "anyconfig", "box", "configargparse", "confuse", "detectron2", "draccus", "dynaconf", "fvcore", "hydra",
    "hyperpyyaml", "jsonargparse", "mmcv", "mmengine", "omegaconf", "oyaml", "pyrallis", "ruamel", "sacred",
    "simple_parsing", "yacs", "yaml", "lightning.pytorch.cli.LightningCLI", "pytorch_lightning.cli.LightningCLI",
    "pytorch_lightning.utilities.cli.LightningCLI", "transformers.HfArgumentParser",
})  # fmt: skip
"""Packages and classes that read settings from YAML files, by their own documentation."""
TOML_READERS = frozenset({"anyconfig", "box", "dynaconf", "pytoml", "rtoml", "toml", "tomli", "tomlkit", "tomllib"})
"""Packages that read settings from TOML files."""
JSON_READERS = frozenset({
    "commentjson", "configargparse", "hjson", "json", "json5", "jsonargparse", "jstyleson", "simplejson", "ujson",
    "orjson", "omegaconf", "pyjson5", "rapidjson", "transformers.HfArgumentParser",
})  # fmt: skip
"""Packages and classes that read settings from JSON files."""
MAPPINGS = frozenset({"builtins.dict", "collections.OrderedDict"})
"""What makes a dictionary of what it is given."""
DROP_STATE = ("__getstate__", "__reduce__", "__reduce_ex__", "__getnewargs_ex__")
"""Methods that replace pickle's default of copying every attribute (`__deepcopy__` does not)."""


def canonical(name: str) -> str:
    """The public dotted name of an external symbol."""
    found = CANONICAL.get(name)
    if found is not None:
        return found
    if name.startswith("torch.multiprocessing.") and name not in TORCH_ONLY:
        return canonical(name.removeprefix("torch."))
    for prefix, home in PREFIXES.items():
        if name.startswith(prefix):
            return CANONICAL.get(home + name[len(prefix) :], home + name[len(prefix) :])
    return name


def is_of_datasets(name: str) -> bool:
    """Whether an external class is a dataset by its module, or by its name in a package that loads datasets itself."""
    named = name.startswith(LOADED_BY_THEIR_PACKAGE) and name.endswith("Dataset")
    return named or (name.startswith(DATASET_MODULES) and not name.endswith("."))


def keeps_as_it_is(name: str) -> bool:
    """Whether an external callable is known to keep what it is given: any library's `random_split` splits a dataset."""
    return name in KEEPERS or name in STAGES or name.rpartition(".")[2] == "random_split"


def holds_arguments(name: str) -> bool:
    """Whether an external callable's result keeps the arguments it is called with."""
    last = name.rpartition(".")[2]
    if keeps_as_it_is(name):
        return True
    return last[:1].isupper() and name.startswith(HOLDING_ROOTS)
