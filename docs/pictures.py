"""The pictures of the gallery, made of what the commands really print: `python -m docs.pictures [NAME]...`.

Needs git; tmux and Neovim for `editor`; playwright and a Chromium for `pull-request` and the built site, `site`.
The pictures of VS Code are from `npm run browser` in `editors/vscode`.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from docs import pull_request, site_pictures

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "rules")))}
COMMAND = "dllint check examples/training/vocab.py"
EDITOR_SIZE = (110, 32)
SETUP = r"""
set number noswapfile signcolumn=yes laststatus=0 noruler noshowcmd shortmess=aoOtTWIcF background=dark
highlight SignColumn ctermbg=NONE
highlight NormalFloat ctermbg=NONE
highlight FloatBorder ctermbg=NONE
lua << END
vim.diagnostic.config({ virtual_text = false, float = { border = "rounded" } })
vim.api.nvim_create_autocmd("DiagnosticChanged", { callback = function() vim.diagnostic.open_float() end })
local server = { cmd = { [[PYTHON]], "-m", "dllint", "server" }, root_dir = vim.fn.getcwd() }
vim.lsp.buf_attach_client(0, vim.lsp.start_client(server))
END
"""
SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
font: {char_height}px/{line_height}px "Fira Code", Menlo, Consolas, "DejaVu Sans Mono", monospace }}
.{unique_id}-title {{ font: bold 18px sans-serif }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def frame(output: str, title: str, width: int) -> str:
    """A terminal's window with this output, as SVG without anything from elsewhere."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in output.splitlines():
        console.print(Text.from_ansi(line), soft_wrap=False)
    console.print()  # or the last line loses what is below its base
    svg = console.export_svg(title=title, theme=SVG_EXPORT_THEME, code_format=SVG, unique_id="frame")
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def terminal() -> str:
    """The command that README begins with, on a terminal; here in a copy of the examples, without the rest to read."""
    arguments = [*shlex.split(COMMAND)[1:], "--color", "always", "--output-format", "full"]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        done = subprocess.run(
            [sys.executable, "-m", "dllint", *arguments],
            cwd=folder,
            env=ENV,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    assert done.returncode == 1, done.stdout
    return frame(f"$ {COMMAND}\n{done.stdout}", COMMAND, width=118)


def editor() -> str:
    """Neovim with the language server, the file of the command above open."""
    width, height = EDITOR_SIZE
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "training")
        shutil.copytree(ROOT / "examples" / "training", project)
        Path(folder, "setup.vim").write_text(SETUP.replace("PYTHON", sys.executable), encoding="utf-8")
        tmux = ["tmux", "-S", str(Path(folder, "socket")), "-f", "/dev/null"]
        vim = ["nvim", "--clean", "-S", "../setup.vim", "+23", "vocab.py"]
        subprocess.run(
            [*tmux, "new-session", "-d", "-x", str(width), "-y", str(height), *vim], cwd=project, env=ENV, check=True
        )
        try:
            shown = _settled([*tmux, "capture-pane", "-e", "-p"])
        finally:
            subprocess.run([*tmux, "kill-server"], check=False)
    return frame(shown, "vocab.py - Neovim", width)


def _settled(capture: list[str]) -> str:
    """What a terminal shows once a finding is there."""
    shown = ""
    for _ in range(60):
        time.sleep(0.5)
        shown = subprocess.run(capture, capture_output=True, text=True, check=True).stdout
        if "cannot be pickled" in shown:
            return shown
    sys.exit(f"no finding within 30 seconds:\n{shown}")


PICTURES = {
    "terminal.svg": lambda: terminal().encode(),
    "editor.svg": lambda: editor().encode(),
    "pull-request.png": lambda: site_pictures.fewer_colors(pull_request.picture(ROOT, ENV)),
    "site.png": lambda: site_pictures.picture(ROOT, site_pictures.FIRST_PAGE),
    "site-phone.png": lambda: site_pictures.picture(ROOT, site_pictures.RULES_ON_A_PHONE),
}


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        (IMAGES / name).write_bytes(PICTURES[name]())
