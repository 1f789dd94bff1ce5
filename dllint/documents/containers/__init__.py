"""Container files: what starts containers, and how much shared memory it gives them.

Compose files, Kubernetes manifests, devcontainer.json, GitLab CI, and `docker run` in shell scripts, Makefiles and
Markdown. A file that is none of these, or that cannot be parsed (a template), holds no container.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING

from dllint.source import Source

if TYPE_CHECKING:
    from dllint.documents.containers.container import Containers

_FORMATS = (
    ("compose", re.compile(r"(?:^|/)[^/]*compose[^/]*\.ya?ml$"), re.compile(r"^services\s*:", re.MULTILINE)),
    ("gitlab", re.compile(r"(?:^|/)(?:\.gitlab-ci[^/]*|\.gitlab/.*)\.ya?ml$"), re.compile(r"docker|podman")),
    ("kubernetes", re.compile(r"\.ya?ml$"), re.compile(r"^apiVersion\s*:(?=.*\bcontainers\s*:)", re.M | re.S)),
    ("devcontainer", re.compile(r"(?:^|/)\.?devcontainer\.json$"), re.compile(r"")),
    ("markdown", re.compile(r"\.(?:md|markdown)$", re.IGNORECASE), re.compile(r"docker|podman")),
    ("commands", re.compile(r"\.(?:sh|bash|zsh|mk)$|(?:^|/)[Mm]akefile$"), re.compile(r"docker|podman")),
)
"""Modules of this package with `containers(source)`: by the file's path, and by what a file must hold to be parsed."""
_ENDS = (".yml", ".yaml", ".json", ".md", ".markdown", ".sh", ".bash", ".zsh", ".mk", "makefile")
_LARGEST = 1 << 20

__all__ = ["is_container_file", "read"]


def is_container_file(path: str) -> bool:
    """Whether a file may be about containers, by its name. Paths have forward slashes."""
    return path.lower().endswith(_ENDS) and any(name.search(path) for _, name, _ in _FORMATS)


def read(source: Source) -> Containers:
    """The containers that a file starts, and its ignore comments."""
    from dllint.documents.containers.comments import scan  # a walk asks for names only
    from dllint.documents.containers.container import Containers

    for module, name, content in _FORMATS:
        if name.search(source.path):
            if len(source.text) > _LARGEST or not content.search(source.text):
                return Containers()
            found = importlib.import_module(f"{__name__}.{module}").containers(source)
            return Containers(tuple(found), scan(source))
    return Containers()
