"""The pages of this repository."""

from __future__ import annotations

import re
from pathlib import Path

from dllint.testing import pages
from dllint.testing.cases import page_code

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "rules", ROOT / "dllint" / "diagnostics", ROOT / "tests" / "cases")


def all_pages() -> list[pages.Page]:
    """Every rule's page and every page of cases."""
    return [pages.read(path) for folder in FOLDERS for path in pages.below(folder)]


def name(case: pages.Case) -> str:
    """A test's name for a case."""
    return f"{page_code(case.page) or case.page.stem}-{re.sub(r'[^a-z0-9]+', '-', case.name.lower()).strip('-')}"
