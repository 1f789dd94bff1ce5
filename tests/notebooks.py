"""Notebooks for tests."""

from __future__ import annotations

import json
from typing import Any


def notebook(*codes: str, language: str = "python", **layout: Any) -> str:
    """A notebook's JSON as Jupyter writes it, with these cells of code; `# text` begins one of Markdown."""
    cells: list[dict[str, Any]] = []
    for code in codes:
        lines = code.splitlines(keepends=True)
        if code.startswith("# text"):
            cells.append({"cell_type": "markdown", "metadata": {}, "source": lines})
        else:
            cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": lines}
            cells.append(cell)
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python"}, "language_info": {"name": language}}
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole, **{"indent": 1, "ensure_ascii": False, **layout}) + "\n"
