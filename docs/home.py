"""The first page of the site: what dllint is, what it finds and what was measured, then the rest of README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

BEGIN, END = "<!-- begin rules -->", "<!-- end rules -->"
TEMPLATE = Path(__file__).with_name("home.txt")
CARDS = {
    "pickling": "Lambdas, local functions and classes, open files and locks that can't be sent to a worker.",
    "memory": "Lists of millions of names that every worker copies, and caches that only grow.",
    "start": "Scripts without a main guard, and CUDA before or after a fork.",
    "lifetime": "Loaders that restart for each batch, joins that wait forever, and workers that exit.",
    "shared_memory": "Containers with 64 MB for all batches, and files that outlive their processes.",
    "correctness": "The same random numbers in every worker, the same data from every worker.",
}
"""What each family of rules finds, by folder."""


class Figure(NamedTuple):
    """A measurement: its page, the pattern that finds it there, and its wording here."""

    page: str
    pattern: str
    number: str
    words: str


FIGURES = (
    Figure(
        "bench/FRESH.md",
        r"findings that are true \| (\d+) of (\d+)",
        "{0} of {1}",
        "findings are true in repositories that dllint was never tuned on; each was checked against the source",
    ),
    Figure(
        "bench/SPEED.md",
        r"one folder: ([\d,]+) lines\n"
        r"[^#]*?\| dllint, no cache \| ([\d.]+) [^#]*?\| dllint, nothing changed \| ([\d.]+) ",
        "{1} s",
        "for {0} lines on two cores; {2} s if nothing changed",
    ),
    Figure(
        "bench/MEMORY.md",
        r"a list, as written \| \*\*(\d+)\*\*[^#]*?--unsafe-fixes` made of it \| \*\*(\d+)\*\*",
        "{0} to {1} MB",
        "for two million file names and four forked workers, after one fix",
    ),
    Figure(
        "docs/python314.md",
        r"\*\*(\d+) of (\d+) repositories",
        "{0} of {1}",
        "public repositories break on Python 3.14 only",
    ),
)


def page(readme: str, root: Path) -> str:
    """Turn README into the site's first page."""
    _, *sections = re.split(r"^(?=## )", readme, flags=re.MULTILINE)
    finds = next(section for section in sections if BEGIN in section)
    rest = "".join(section for section in sections if section is not finds)
    return TEMPLATE.read_text(encoding="utf-8").format(
        finds=_with_cards(finds), figures=_figures(root), rest=rest.strip()
    )


def _with_cards(section: str) -> str:
    """Replace the table of families in the section with cards."""
    before, _, rest = section.partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = re.findall(r"^\| (DLL\d+) to (DLL\d+) \| \[(.*?)\]\((.*?)\) \| (\d+) \|$", table, re.MULTILINE)
    cards = [
        f"-   **[{title.partition(':')[0]}]({link})**\n\n    {CARDS[Path(link).parent.name]}\n\n"
        f"    {number} rules, {first} to {last}\n"
        for first, last, title, link, number in rows
    ]
    return f'{before}<div class="grid cards" markdown>\n\n' + "\n".join(cards) + f"\n</div>{after}".rstrip()


def _figures(root: Path) -> str:
    """The measured figures, read from the pages in `bench/`."""
    return "\n".join(f"-   **{number}**\n\n    {words} ([how]({page}))\n" for number, words, page in figures(root))


def figures(root: Path) -> list[tuple[str, str, str]]:
    """Number, wording and page of each figure. Raises ValueError if a page no longer matches the pattern."""
    found = []
    for figure in FIGURES:
        match = re.search(figure.pattern, (root / figure.page).read_text(encoding="utf-8"))
        if match is None:
            raise ValueError(f"{figure.page} does not match what docs/home.py looks for: {figure.pattern}")
        found.append((figure.number.format(*match.groups()), figure.words.format(*match.groups()), figure.page))
    return found
