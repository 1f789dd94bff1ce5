"""Where readers get dllint: the addresses in commands and settings on every page, set here and nowhere else.

The address of the site is `SITE` in `dllint/keys.py`, because findings link to it. After a change,
`python -m docs.addresses` writes all of them into the pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from dllint.keys import SITE
from docs import site

PACKAGE = "../dllint"
"""What pip installs: a clone beside the project, or `dllint` as soon as a package index has it."""
REPOSITORY = "../dllint"
"""Where pre-commit and pip's `git+` get dllint: a clone beside the project, or a public address."""
REVISION = "HEAD"
"""What pre-commit checks out: a tag as soon as there is one."""
ACTION = "OWNER/dllint@main"
"""What a workflow on GitHub uses: a clone that OWNER pushed there."""
PUBLIC = ""
"""The public address of the repository, which the site's links to edit lead to; without one, there are none."""

_SOURCE = r"\.\./dllint|dllint|https?://\S+?"


class Place(NamedTuple):
    """What stands before and after an address, and what it has to be."""

    before: str
    address: str
    after: str
    value: str


PLACES = (
    Place(r'(?:pip|pipx|tool) install (?:-\S+ )*"?', _SOURCE, r"(?=[\[\s\"])", PACKAGE),
    Place(r"(?:--from|--spec) ", _SOURCE, r"(?= dllint )", PACKAGE),
    Place(r"(?:repo:|try-repo) ", _SOURCE, r"(?=\s)", REPOSITORY),
    Place(r"rev: ", r"\S+", r"(?=\s)", REVISION),
    Place(r"uses: ", r"\S+/dllint@\S+", r"(?=\s)", ACTION),
    Place(r"^repo_url: ", r"\S+", r"$", f'"{PUBLIC}"'),
    Place(r"^edit_uri: ", r"\S+", r"$", "edit/main/" if PUBLIC else '""'),
    Place(r'"type": "git",\s+"url": ', r'".*"', r"(?=,)", f'"{PUBLIC}"'),
    Place(r"^site_url: ", r"\S+", r"$", f'"{SITE}"'),
)
OTHERS = ("mkdocs.yml", "docs/home.txt", "editors/vscode/package.json", "editors/vscode/src/server.ts")
"""Files with addresses that are no pages."""


def written(text: str) -> str:
    """The text with the addresses of today."""
    for place in PLACES:
        pattern = re.compile(f"({place.before})(?:{place.address}){place.after}", re.MULTILINE)
        text = pattern.sub(lambda match, value=place.value: match[1] + value, text)
    return text


def files(root: Path = site.ROOT) -> list[Path]:
    """The files that have addresses."""
    return [*site.pages(root), *(root / name for name in OTHERS)]


if __name__ == "__main__":
    for file in files():
        file.write_text(written(file.read_text(encoding="utf-8")), encoding="utf-8")
