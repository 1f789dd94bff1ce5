"""A stand-in for GitHub's endpoint "Create a review for a pull request": it takes and refuses what GitHub does.

What it knows of the pull request it reads from a repository with git, by its own reading of the diff. The refusals are
those of GitHub's documentation and of what its users report: status 422 with the reasons in `errors`.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

SCHEMA = Path(__file__).resolve().parent / "schemas" / "github-review.json"
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def git(folder: Path, *args: str) -> str:
    """Run git for a test, whatever the machine's configuration says."""
    fixed = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    command = ["git", *fixed, "-c", "core.autocrlf=false", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


class PullRequest:
    """Base and head of a pull request, and the reviews that were made."""

    def __init__(self, folder: Path, base: str) -> None:
        self.head = git(folder, "rev-parse", "HEAD").strip()
        self.commits = git(folder, "rev-list", f"{base}..HEAD").split()
        self._folder = folder
        self._hunks = self._read(
            git(folder, "-c", "core.quotePath=false", "diff", "-U3", "--no-color", f"{base}...HEAD")
        )
        self.reviews: list[dict[str, Any]] = []

    def _read(self, diff: str) -> dict[str, list[range]]:
        hunks: dict[str, list[range]] = {}
        path = ""
        for line in diff.split("\n"):
            if line.startswith("+++ b/"):
                path = line.removeprefix("+++ b/").rstrip("\t")
            elif match := _HUNK.match(line):
                first, count = int(match[1]), int(match[2] or 1)
                hunks.setdefault(path, []).append(range(first, first + count))
        return hunks

    def errors(self, review: dict[str, Any]) -> list[str]:
        """Why GitHub would not take a review."""
        import jsonschema

        validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
        found = [error.message for error in validator.iter_errors(review)]
        if found:
            return found
        if review.get("commit_id", self.head) not in self.commits:
            found.append("commit_id is not part of the pull request")
        if review.get("event") in ("COMMENT", "REQUEST_CHANGES") and not review.get("body"):
            found.append("body can't be blank")
        return found + [error for comment in review.get("comments", ()) for error in self._wrong(comment)]

    def _wrong(self, comment: dict[str, Any]) -> Iterator[str]:
        if comment["path"] not in self._hunks:
            yield "pull_request_review_thread.path is not part of the diff"
            return
        if "line" not in comment:
            yield "pull_request_review_thread.line is missing"
            return
        line, first = comment["line"], comment.get("start_line", comment["line"])
        if comment.get("side", "RIGHT") != "RIGHT" or comment.get("start_side", "RIGHT") != "RIGHT":
            yield "this stand-in knows the new side of the diff only"
        if "start_line" in comment and first >= line:
            yield "pull_request_review_thread.start_line must precede the end line"
        hunks = [hunk for hunk in self._hunks[comment["path"]] if line in hunk]
        if not hunks:
            yield "pull_request_review_thread.line must be part of the diff"
        elif first not in hunks[0]:
            yield "pull_request_review_thread.start_line must be part of the same hunk as the line"

    def accept(self, number: int) -> None:
        """Apply the suggestion of the last review's comment, as the button under it does."""
        comment = self.reviews[-1]["comments"][number]
        lines = suggested(comment["body"])
        assert lines is not None, "there is no suggestion"
        file = self._folder / comment["path"]
        before = file.read_text(encoding="utf-8").split("\n")
        first = comment.get("start_line", comment["line"]) - 1
        file.write_text("\n".join([*before[:first], *lines, *before[comment["line"] :]]), encoding="utf-8")


def suggested(body: str) -> list[str] | None:
    """The lines of a comment's suggestion block."""
    match = re.search(r"^(`{3,})suggestion\n((?:.*\n)*?)\1$", body, re.MULTILINE)
    return match[2].split("\n")[:-1] if match else None


@contextmanager
def serving(pull: PullRequest) -> Iterator[str]:
    """The address of the pull request's reviews, while the server runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            errors = pull.errors(review) if self.path == "/repos/some/project/pulls/7/reviews" else ["no such path"]
            if not errors:
                pull.reviews.append(review)
            answer = {"message": "Unprocessable Entity", "errors": errors} if errors else {"id": len(pull.reviews)}
            self.send_response(422 if errors else 200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/repos/some/project/pulls/7/reviews"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def post(address: str, body: str) -> tuple[int, dict[str, Any]]:
    """Status and answer."""
    request = urllib.request.Request(address, body.encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.fixture
def repository(folder: Path) -> Path:
    """The working directory as a repository with one commit on `main`, and `work` checked out."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "begin")
    git(folder, "checkout", "-q", "-b", "work")
    return folder


def commit(folder: Path, **files: str) -> None:
    """Write files and commit everything; a keyword `a` is the file `a.py`."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "change")
