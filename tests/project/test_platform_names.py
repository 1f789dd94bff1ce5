"""Which names the platform decides, as far as the text tells."""

from __future__ import annotations

import pytest

from dllint.collect import collect
from dllint.project import Project, Targets
from dllint.project.loaders.platform_names import PlatformNames
from dllint.source import Source

MACOS = frozenset({"macos"})
NOWHERE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import torch\nready = torch.cuda.is_available()", MACOS),
        ("from torch import cuda\nready = cuda.is_available()", MACOS),
        ("from torch.cuda import is_available\nready = is_available()", MACOS),
        ("from torch.cuda import is_available as has_gpu\nready = has_gpu()", MACOS),
        ("import torch\nis_available = torch.cuda.is_available()\nready = is_available", MACOS),
        ("from sys import platform\nready = platform == 'linux'", {"linux", "macos", "windows"}),
        ("import torch\nready = torch.xpu.is_available()", NOWHERE),
        ("from importlib.util import find_spec\nis_available = find_spec('peft')\nready = is_available", NOWHERE),
    ],
)
def test_only_what_asks_for_the_platform_tells_it(text: str, told: frozenset[str]) -> None:
    """A variable that is called like torch's function is not that."""
    source = Source("a.py", text)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    assert PlatformNames(project.index).of(["ready"]) == told
