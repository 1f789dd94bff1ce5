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
    ("compose", r"(?:^|/)[^/]*compose[^/]*\.ya?ml$", r"(?m)^services\s*:"),
    ("gitlab", r"(?:^|/)(?:\.gitlab-ci[^/]*|\.gitlab/.*)\.ya?ml$", r"docker|podman"),
    ("kubernetes", r"\.ya?ml$", r"(?ms)^apiVersion\s*:(?=.*\bcontainers\s*:)"),
    ("devcontainer", r"(?:^|/)\.?devcontainer\.json$", r""),
    ("markdown", r"(?i)\.(?:md|markdown)$", r"docker|podman"),
    ("commands", r"\.(?:sh|bash|zsh|mk)$|(?:^|/)[Mm]akefile$", r"docker|podman"),
)
"""Modules of this package with `containers(source)`: by the file's path, and by what a file must hold to be parsed.

Patterns are compiled when they are asked for: of most projects they never are.
"""
_ENDS = (".yml", ".yaml", ".json", ".md", ".markdown", ".sh", ".bash", ".zsh", ".mk", "makefile")
_LARGEST = 1 << 20

__all__ = ["is_container_file", "read"]


def is_container_file(path: str) -> bool:
    """Whether a file may be about containers, by its name. Paths have forward slashes."""
    return path.lower().endswith(_ENDS) and any(re.search(name, path) for _, name, _ in _FORMATS)


def read(source: Source) -> Containers:
    """The containers that a file starts, and its ignore comments."""
    from dllint.documents.containers.comments import scan  # a walk asks for names only
    from dllint.documents.containers.container import Containers

    for module, name, content in _FORMATS:
        if re.search(name, source.path):
            if len(source.text) > _LARGEST or not re.search(content, source.text):
                return Containers()
            found = importlib.import_module(f"{__name__}.{module}").containers(source)
            return Containers(tuple(found), scan(source))
    return Containers()
