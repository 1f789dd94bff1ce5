"""A picture of a pull request with the comments of `dllint review`: a rendering of the payload, not of GitHub."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHANGES = {
    "vocab.py": (
        "        return self\n",
        "        self.seen = defaultdict(lambda: 0, counts)\n        return self\n",
    ),
    "loaders.py": (
        "        worker_init_fn=seed_worker,\n",
        "        worker_init_fn=lambda worker_id: random.seed(torch.initial_seed() % 2**32),\n",
    ),
}
"""What the pull request changes in the example project, which has no findings before."""
STYLE = """
body { font: 14px/1.5 sans-serif; color: #1f2328; background: #fff; width: 920px; padding: 16px; margin: 0 }
pre, code { font: 12px/20px "DejaVu Sans Mono", Menlo, Consolas, monospace }
p code, li code { background: #eff1f3; border-radius: 6px; padding: 2px 5px }
.file { border: 1px solid #d1d9e0; border-radius: 6px; margin-bottom: 16px; overflow: hidden }
.file > header { background: #f6f8fa; border-bottom: 1px solid #d1d9e0; padding: 8px 12px; font-weight: bold }
pre { margin: 0; overflow: hidden }
pre span { display: block; padding: 0 12px; white-space: pre-wrap }
.add { background: #dafbe1 } .del { background: #ffebe9 } .hunk { background: #ddf4ff; color: #59636e }
.comment { font: 14px/1.5 sans-serif; white-space: normal }
.comment { border: 1px solid #d1d9e0; border-radius: 6px; margin: 12px; padding: 4px 16px 12px }
.box { border: 1px solid #d1d9e0; border-radius: 6px; overflow: hidden }
.box > header { background: #f6f8fa; padding: 4px 12px; border-bottom: 1px solid #d1d9e0; color: #59636e }
"""


def picture(root: Path, env: Mapping[str, str]) -> bytes:
    """The picture, as PNG."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        page = _page(Path(folder, "training"), root, env)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(device_scale_factor=1.25)
        tab.set_content(page)
        return tab.locator("body").screenshot()


def _page(project: Path, root: Path, env: Mapping[str, str]) -> str:
    """The change and its comments as HTML."""

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=project, env=env, stdout=subprocess.PIPE, text=True, check=False)
        assert done.returncode in (0, 1), command
        return done.stdout

    def commit() -> None:
        run("git", "add", "-A")
        run("git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "A change")

    shutil.copytree(root / "examples" / "training", project)
    run(sys.executable, "-m", "dllint", "check", "--fix", "--unsafe-fixes", ".")
    run("git", "init", "-q")
    commit()
    for name, (old, new) in CHANGES.items():
        text = (project / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (project / name).write_text(text.replace(old, new), encoding="utf-8")
    commit()
    payload = json.loads(run(sys.executable, "-m", "dllint", "review", "--base", "HEAD~1"))
    diffs = {name: run("git", "diff", "--no-color", "HEAD~1", "--", name) for name in CHANGES}
    parts = [_file(name, diff, [c for c in payload["comments"] if c["path"] == name]) for name, diff in diffs.items()]
    return f"<style>{STYLE}</style><body><p>{html.escape(payload['body'])}</p>{''.join(parts)}</body>"


def _file(name: str, diff: str, comments: list[dict[str, Any]]) -> str:
    """A file's diff with the comments below their lines."""
    rows, number, texts = [], 0, {}
    for line in diff.split("\n@@", 1)[1].splitlines():
        if match := re.match(r" -\d+(?:,\d+)? \+(\d+)", line):
            number = int(match[1]) - 1
            rows.append(_row("hunk", f"@@{line}"))
            continue
        number += not line.startswith("-")
        texts[number] = line[1:]
        rows.append(_row({"+": "add", "-": "del"}.get(line[:1], ""), line))
        here = [comment for comment in comments if comment["line"] == number and not line.startswith("-")]
        rows += [f"<div class=comment>{_markdown(comment, texts)}</div>" for comment in here]
    return f"<div class=file><header>{name}</header><pre>{''.join(rows)}</pre></div>"


def _row(kind: str, text: str) -> str:
    return f'<span class="{kind}">{html.escape(text) or " "}</span>'


def _markdown(comment: dict[str, Any], texts: Mapping[int, str]) -> str:
    """A comment's text as HTML; a suggestion with the lines that it replaces."""
    from markdown import markdown

    before = [texts[number] for number in range(comment.get("start_line", comment["line"]), comment["line"] + 1)]
    pieces = re.split(r"```(suggestion|diff)\n(.*?)```", comment["body"], flags=re.DOTALL)
    shown = [markdown(pieces[0])]
    for kind, code, prose in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        lines = code.splitlines()
        if kind == "suggestion":
            lines = [*(f"-{line}" for line in before), *(f"+{line}" for line in lines)]
        rows = "".join(_row({"+": "add", "-": "del", "@": "hunk"}.get(line[:1], ""), line) for line in lines)
        header = "<header>Suggested change</header>" if kind == "suggestion" else ""
        shown += [f"<div class=box>{header}<pre>{rows}</pre></div>", markdown(prose)]
    return "".join(shown)
