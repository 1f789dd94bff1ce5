"""The lists of all rules: `rules/README.md` as a whole, and parts of `README.md` and `mkdocs.yml` between markers."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

from dllint import registry
from dllint.rule import RuleInfo

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rules" / "dllint_rules"
INDEX = ROOT / "rules" / "README.md"
README = ROOT / "README.md"
SITE = ROOT / "mkdocs.yml"
FIX = {"always": "yes", "sometimes": "sometimes", "never": ""}

_INTRODUCTION = """# The rules

Every rule has a page: what goes wrong and under which start methods, programs that show it (the tests run them on real
torch), what the fix changes, and what is not reported. `dllint rule CODE` prints it. A rule that is opt-in is selected
with `--extend-select CODE`.
"""


def family(info: RuleInfo) -> Path:
    """The folder a rule lives in."""
    return Path(info.page).resolve().parent


def title(page: Path) -> str:
    """The first heading of a Markdown file."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return next(line[2:] for line in lines if line.startswith("# "))


def table(infos: list[RuleInfo], folder: Path) -> str:
    """A Markdown table whose links are relative to `folder`."""
    rows = ["| code | name | what | severity | fix | default | status | since |", f"|{'---|' * 8}"]
    for info in infos:
        link = Path(os.path.relpath(Path(info.page).resolve(), folder)).as_posix()
        default = "on" if info.default else "opt-in"
        cells = (
            f"[{info.code}]({link})",
            f"`{info.name}`",
            info.summary,
            info.severity.value,
            FIX[info.fixable],
            default,
            info.status,
            info.since,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def rules() -> list[RuleInfo]:
    """The metadata of every rule of the rulebook, without the tool's own diagnostics."""
    return [registry.info(rule) for rule in registry.rules() if rule.__module__.startswith("dllint_rules.")]


def index() -> str:
    """The text of `rules/README.md`."""
    parts = [_INTRODUCTION]
    for folder, members in groupby(rules(), key=family):
        theory = folder / "README.md"
        link = theory.relative_to(INDEX.parent).as_posix()
        parts.append(f"## [{title(theory)}]({link})\n\n{table(list(members), INDEX.parent)}")
    parts.append(f"## Messages about dllint's own work\n\n{table(list(registry.DIAGNOSTICS), INDEX.parent)}")
    return "\n".join(parts)


def readme() -> str:
    """The text of `README.md` with its table of families renewed."""
    rows = ["| rules | about | number |", "|---|---|---|"]
    for folder, members in groupby(rules(), key=family):
        infos = list(members)
        link = (folder / "README.md").relative_to(ROOT).as_posix()
        rows.append(f"| {infos[0].code} to {infos[-1].code} | [{title(folder / 'README.md')}]({link}) | {len(infos)} |")
    return _between(README, "<!-- begin rules -->\n", "<!-- end rules -->", "\n" + "\n".join(rows) + "\n\n")


def site() -> str:
    """The text of `mkdocs.yml` with its pages of rules renewed."""
    lines = []
    for folder, members in groupby(rules(), key=family):
        lines.append(f'      - "{title(folder / "README.md")}":\n')
        pages = (folder / "README.md", *(Path(info.page).resolve() for info in members))
        lines += [f"          - {page.relative_to(ROOT).as_posix()}\n" for page in pages]
    return _between(SITE, "      # begin rules\n", "      # end rules", "".join(lines))


def _between(file: Path, begin: str, end: str, new: str) -> str:
    """A file's text with what stands between two markers replaced."""
    before, _, rest = file.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{new}{end}{after}"
