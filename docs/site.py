"""The pages of the site: the Markdown of this repository, in its own folders, so that links work in both views.

`python -m docs.site` copies them to `build/pages`, from where `mkdocs build` takes them. README becomes the first page
(`docs/home.py`), and what `dllint rule` knows of the rules is written into their pages (`docs/rule_index.py`).
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from docs import home, rule_index
from docs.links import links

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/*.md",
    "rules/**/*.md",
    "dllint/diagnostics/*.md",
    "dllint/project/evaluate/*.md",
    "bench/*.md",
    "examples/**/*.md",
    "editors/*/*.md",
)
ASSETS = ("docs/site.css", "docs/site.js", "docs/images/logo.svg")
FIRST, RULES = "README.md", "rules/README.md"
_FENCE = re.compile(rb"^( *`{3,}\w+) .*$", re.MULTILINE)


def pages(root: Path = ROOT) -> list[Path]:
    """The pages of the documentation."""
    found = {page for pattern in PAGES for page in root.glob(pattern)}
    return sorted(page for page in found if not any(part.startswith(".") for part in page.relative_to(root).parts))


def files(root: Path = ROOT) -> dict[str, bytes]:
    """What the site is made of: the pages, and the files that they link to."""
    texts = {page.relative_to(root).as_posix(): page.read_bytes() for page in pages(root)}
    texts |= rule_index.statuses(root)
    texts[FIRST] = home.page(texts[FIRST].decode(), root).encode()
    texts[RULES] = rule_index.index(texts[RULES].decode()).encode()
    found = {name: _page(text) for name, text in texts.items()}
    for page in pages(root):
        for link in links(page.read_text(encoding="utf-8")):
            target = (page.parent / link.path).resolve()
            if link.path and target.is_file() and target.suffix != ".md":
                found[target.relative_to(root).as_posix()] = target.read_bytes()
    return found | {name: (root / name).read_bytes() for name in ASSETS}


def _page(content: bytes) -> bytes:
    """A page as MkDocs reads it: a fence says its language and nothing else. The rest is for the tests."""
    return _FENCE.sub(rb"\1", content)


def build(folder: Path, root: Path = ROOT) -> None:
    """Write the site's files into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files(root).items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "pages")
