"""The pictures of the site in the gallery: the built site in Chromium, on a desk and on a phone in dark mode."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal, NamedTuple


class View(NamedTuple):
    """A page in a window."""

    page: str
    width: int
    height: int
    scheme: Literal["light", "dark"]


FIRST_PAGE = View("", 1280, 900, "light")
RULES_ON_A_PHONE = View("rules/", 390, 844, "dark")


def picture(root: Path, view: View) -> bytes:
    """The picture of a page, as PNG. The site must be built."""
    from playwright.sync_api import sync_playwright

    with _served(root / "build" / "site") as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": view.width, "height": view.height}, color_scheme=view.scheme)
        tab.goto(address + view.page, wait_until="networkidle")
        return fewer_colors(tab.screenshot())


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The address of a folder's files: without a server, the theme has no search."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def fewer_colors(png: bytes) -> bytes:
    """The same picture in a third of the bytes, if pngquant is there."""
    if not shutil.which("pngquant"):
        return png
    return subprocess.run(["pngquant", "--strip", "-"], input=png, capture_output=True, check=True).stdout
