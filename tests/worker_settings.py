"""What a main process may set, how that is asked, and what a worker has of it: a table, and the program that asks.

As a program, it sets everything under the main guard and prints what the main process had before, what it has then, and
what a worker has: `python worker_settings.py NAME...`. What cannot be imported here is left out.
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

DEFAULT, INHERITED, FAILS, RESET, WORKS = "default", "inherited", "fails", "reset", "works"
"""What a worker that is not forked has: the value at import, what was set, an exception, a value that torch sets."""


class Setting(NamedTuple):
    """Code that runs on import, code that sets it, and an expression for its value."""

    kind: str
    setup: str
    change: str
    value: str
    error: str = ""


GIN = "import gin\n@gin.configurable\ndef noise(level=0.0): return level"
ABSL = "from absl import flags\nflags.DEFINE_integer('dllint_size', 224, 'the size')"
TOKENIZER = (
    "from tokenizers import Tokenizer, models, pre_tokenizers\n"
    "split = Tokenizer(models.WordLevel({'a': 1, 'b': 2}, unk_token='a'))\n"
    "split.pre_tokenizer = pre_tokenizers.Whitespace()"
)
HYDRA = "from hydra import initialize\nfrom hydra.core.global_hydra import GlobalHydra"
CFG = "config = CfgNode({'size': 1})"
MERGE, SIZE = "config.merge_from_list(['size', 5])", "config.size"
OMEGA = "from omegaconf import OmegaConf\nconfig = OmegaConf.create({'size': '${dllint:3}'})"
RESOLVER = "OmegaConf.register_new_resolver('dllint', lambda size: int(size))"
HOOK = "import sys\nclass Hook: find_spec = staticmethod(lambda *given: None)"
CV2 = """
import cv2, numpy as np
def draw(): return cv2.randu(np.zeros((4, 1), np.uint8), 0, 255).tolist()
cv2.setRNGSeed(5)
stream = [draw() for _ in range(9)]
cv2.setRNGSeed(1)
"""
TF = "import tensorflow as tf"
SETTINGS = {
    "variables": Setting(DEFAULT, "here = {'size': 1}", "here['size'] = 2", "here['size']"),
    "classes": Setting(DEFAULT, "class Sizes: size = 1", "Sizes.size = 2", "Sizes.size"),
    "np.load": Setting(DEFAULT, "import numpy as np", "np.load = len", "np.load.__name__"),
    "absl's FLAGS": Setting(
        FAILS, ABSL, "flags.FLAGS(['program', '--dllint_size=5'])", "flags.FLAGS.dllint_size", "UnparsedFlagAccessError"
    ),
    "gin.parse_config": Setting(DEFAULT, GIN, "gin.parse_config('noise.level = 0.5')", "noise()"),
    "yacs": Setting(DEFAULT, f"from yacs.config import CfgNode\n{CFG}", MERGE, SIZE),
    "fvcore": Setting(DEFAULT, f"from fvcore.common.config import CfgNode\n{CFG}", MERGE, SIZE),
    "register_new_resolver": Setting(FAILS, OMEGA, RESOLVER, "config.size", "UnsupportedInterpolationType"),
    "GlobalHydra": Setting(DEFAULT, HYDRA, "initialize(version_base=None)", "GlobalHydra.instance().is_initialized()"),
    "torch.set_default_dtype": Setting(
        DEFAULT, "import torch", "torch.set_default_dtype(torch.float64)", "torch.zeros(1).dtype"
    ),
    "torch.set_default_device": Setting(
        DEFAULT, "import torch", "torch.set_default_device('cpu:0')", "str(torch.get_default_device())"
    ),
    "torch.set_float32_matmul_precision": Setting(
        DEFAULT, "import torch", "torch.set_float32_matmul_precision('high')", "torch.get_float32_matmul_precision()"
    ),
    "torch.use_deterministic_algorithms": Setting(
        DEFAULT,
        "import torch",
        "torch.use_deterministic_algorithms(True)",
        "torch.are_deterministic_algorithms_enabled()",
    ),
    "torch.backends.cudnn.benchmark": Setting(
        DEFAULT, "import torch", "torch.backends.cudnn.benchmark = True", "torch.backends.cudnn.benchmark"
    ),
    "torch.set_grad_enabled": Setting(
        DEFAULT, "import torch", "torch.set_grad_enabled(False)", "torch.is_grad_enabled()"
    ),
    "torch.set_printoptions": Setting(
        DEFAULT, "import torch", "torch.set_printoptions(precision=2)", "str(torch.tensor(1 / 3, dtype=torch.float32))"
    ),
    "torch.set_num_threads": Setting(RESET, "import torch", "torch.set_num_threads(3)", "torch.get_num_threads()"),
    "datasets.config": Setting(
        DEFAULT, "import datasets", "datasets.config.IN_MEMORY_MAX_SIZE = 7", "datasets.config.IN_MEMORY_MAX_SIZE"
    ),
    "datasets.disable_caching": Setting(
        DEFAULT, "import datasets", "datasets.disable_caching()", "datasets.is_caching_enabled()"
    ),
    "datasets.disable_progress_bars": Setting(
        DEFAULT, "import datasets", "datasets.disable_progress_bars()", "datasets.are_progress_bars_disabled()"
    ),
    "tf.config.threading": Setting(
        DEFAULT,
        TF,
        "tf.config.threading.set_inter_op_parallelism_threads(3)",
        "tf.config.threading.get_inter_op_parallelism_threads()",
    ),
    "tf.config.run_functions_eagerly": Setting(
        DEFAULT, TF, "tf.config.run_functions_eagerly(True)", "tf.config.functions_run_eagerly()"
    ),
    "tf.config.set_soft_device_placement": Setting(
        DEFAULT,
        TF,
        "tf.config.set_soft_device_placement(not tf.config.get_soft_device_placement())",
        "tf.config.get_soft_device_placement()",
    ),
    "tf.keras.backend.set_floatx": Setting(
        DEFAULT, TF, "tf.keras.backend.set_floatx('float64')", "tf.keras.backend.floatx()"
    ),
    "tokenizers": Setting(WORKS, TOKENIZER, "split.encode_batch(['a b'] * 99)", "split.encode('a b').ids"),
    "np.seterr": Setting(DEFAULT, "import numpy as np", "np.seterr(all='raise')", "np.geterr()['over']"),
    "np.set_printoptions": Setting(
        DEFAULT, "import numpy as np", "np.set_printoptions(precision=3)", "np.get_printoptions()['precision']"
    ),
    "cv2.setNumThreads": Setting(DEFAULT, "import cv2", "cv2.setNumThreads(1)", "cv2.getNumThreads()"),
    "cv2.setUseOptimized": Setting(DEFAULT, "import cv2", "cv2.setUseOptimized(False)", "cv2.useOptimized()"),
    "cv2.setRNGSeed": Setting(DEFAULT, CV2, "cv2.setRNGSeed(5)", "draw() in stream"),
    "ImageFile.LOAD_TRUNCATED_IMAGES": Setting(
        DEFAULT,
        "from PIL import ImageFile",
        "ImageFile.LOAD_TRUNCATED_IMAGES = True",
        "ImageFile.LOAD_TRUNCATED_IMAGES",
    ),
    "Image.MAX_IMAGE_PIXELS": Setting(
        DEFAULT, "from PIL import Image", "Image.MAX_IMAGE_PIXELS = None", "Image.MAX_IMAGE_PIXELS"
    ),
    "Image.register_open": Setting(
        DEFAULT, "from PIL import Image", "Image.register_open('DLLINT', open)", "'DLLINT' in Image.OPEN"
    ),
    "imageio.config.known_plugins": Setting(
        DEFAULT,
        "import imageio.config",
        "imageio.config.known_plugins['dllint'] = None",
        "'dllint' in imageio.config.known_plugins",
    ),
    "matplotlib.use": Setting(DEFAULT, "import matplotlib", "matplotlib.use('svg')", "matplotlib.get_backend()"),
    "matplotlib.rcParams": Setting(
        DEFAULT, "import matplotlib", "matplotlib.rcParams['font.size'] = 3", "matplotlib.rcParams['font.size']"
    ),
    "logging.basicConfig": Setting(
        DEFAULT, "import logging", "logging.basicConfig(level=5, force=True)", "logging.getLogger().level"
    ),
    "warnings.simplefilter": Setting(
        DEFAULT,
        "import warnings",
        "warnings.simplefilter('error', ResourceWarning)",
        "('error', None, ResourceWarning, None, 0) in warnings.filters",
    ),
    "locale.setlocale": Setting(
        DEFAULT,
        "import locale",
        "locale.setlocale(locale.LC_NUMERIC, 'C.UTF-8')",
        "locale.setlocale(locale.LC_NUMERIC)",
    ),
    "sys.setrecursionlimit": Setting(DEFAULT, "import sys", "sys.setrecursionlimit(5000)", "sys.getrecursionlimit()"),
    "csv.field_size_limit": Setting(DEFAULT, "import csv", "csv.field_size_limit(9)", "csv.field_size_limit()"),
    "copyreg.pickle": Setting(
        DEFAULT, "import copyreg", "copyreg.pickle(slice, str)", "slice in copyreg.dispatch_table"
    ),
    "codecs.register": Setting(
        FAILS,
        "import codecs",
        "codecs.register(lambda name: codecs.lookup('utf-8') if name == 'dllint' else None)",
        "codecs.lookup('dllint').name",
        "LookupError",
    ),
    "sys.meta_path": Setting(DEFAULT, HOOK, "sys.meta_path.append(Hook)", "Hook in sys.meta_path"),
    "seeds": Setting(RESET, "import random", "random.seed(5)", "random.Random(5).getstate() == random.getstate()"),
    "os.environ": Setting(INHERITED, "import os", "os.environ['DLLINT_SET'] = '1'", "os.environ.get('DLLINT_SET')"),
    "sys.path": Setting(INHERITED, "import sys", "sys.path.append('/dllint')", "'/dllint' in sys.path"),
    "sys.argv": Setting(INHERITED, "import sys", "sys.argv.append('--dllint')", "'--dllint' in sys.argv"),
    "the current folder": Setting(INHERITED, "import os", "os.chdir('/')", "os.getcwd()"),
    "resource.setrlimit": Setting(
        INHERITED,
        "import resource",
        "resource.setrlimit(resource.RLIMIT_CPU, (99999, resource.RLIM_INFINITY))",
        "resource.getrlimit(resource.RLIMIT_CPU)[0]",
    ),
    "os.umask": Setting(INHERITED, "import os", "os.umask(0o77)", "[now := os.umask(0o77), os.umask(now)][0]"),
}


def ready(names: list[str]) -> dict[str, dict[str, object]]:
    """The scopes of the settings whose libraries are here."""
    scopes: dict[str, dict[str, object]] = {}
    for name in names:
        scope: dict[str, object] = {"__name__": __name__}
        try:
            exec(SETTINGS[name].setup, scope)
        except ImportError:
            continue
        scopes[name] = scope
    return scopes


def value(name: str) -> str:
    """What this process has."""
    try:
        return str(eval(SETTINGS[name].value, SCOPES[name]))
    except Exception as error:
        return type(error).__name__


if __name__ in ("__main__", "__mp_main__"):
    from torch.utils.data import DataLoader, Dataset

    SCOPES = ready(list(SETTINGS))

    class Values(Dataset):  # type: ignore[type-arg]
        """What a worker has."""

        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: int) -> dict[str, str]:
            return {name: value(name) for name in SCOPES}


if __name__ == "__main__":
    before = {name: value(name) for name in SCOPES}
    for name, scope in SCOPES.items():
        exec(SETTINGS[name].change, scope)
    after = {name: value(name) for name in SCOPES}
    (worker,) = DataLoader(Values(), batch_size=None, num_workers=1)
    print(json.dumps([before, after, worker]), file=sys.__stdout__)
