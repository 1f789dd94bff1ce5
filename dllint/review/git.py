"""What git says of a change. Nothing here writes, and nothing is run that a configuration names.

No watcher of files, filter, hook, pager, diff program or converter is, and nothing is fetched.
"""

from __future__ import annotations

import os
import subprocess

from dllint import sealed

PREFIX = "b://"
"""Before the new paths of a diff. With git's own prefixes, paths with blanks cannot be told apart in its headers."""


EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree without files, which git knows everywhere."""


class GitError(Exception):
    """Git is missing, or cannot answer; the message says what to do."""


def repository(folder: str) -> str:
    """The top folder of the repository that a folder is in."""
    return _text(_git(folder, "rev-parse", "--show-toplevel"))


def head(top: str) -> str:
    """The commit that is checked out."""
    return _text(_git(top, "rev-parse", "--verify", "HEAD^{commit}"))


def merge_base(top: str, ref: str) -> str:
    """The commit at which the work since a ref began."""
    try:
        commit = _text(_git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"))
    except GitError:
        raise GitError(f"git has no commit {ref!r}{_fetch_more(top)}") from None
    try:
        return _text(_git(top, "merge-base", commit, "HEAD"))
    except GitError:
        raise GitError(f"{ref!r} and HEAD have no commit in common{_fetch_more(top)}") from None


def _fetch_more(top: str) -> str:
    if _text(_git(top, "rev-parse", "--is-shallow-repository")) != "true":
        return ""
    return "; this clone is shallow: fetch more history (`git fetch --unshallow`, `fetch-depth: 0` in a workflow)"


def diff(top: str, base: str, until: str = "", context: int = 0) -> str:
    """The diff from a commit to another, or to the files as they are."""
    form = (f"-U{context}", "--inter-hunk-context=0", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative")
    names = ("--find-renames", "--ignore-submodules", "--src-prefix=a://", f"--dst-prefix={PREFIX}")
    commits = (base, until) if until else (base,)
    try:
        told = _git(top, "diff", *form, *names, *commits, "--")
    except GitError as error:
        raise GitError(f"{error}{_partial(top)}") from None
    return told.decode("utf-8", "surrogateescape")


def submodules(top: str, commit: str) -> dict[str, str]:
    """The submodules of a commit by their paths, each with its own commit."""
    entries = (entry.partition("\t") for entry in _names(_git(top, "ls-tree", "-r", "-z", "--full-tree", commit)))
    return {name: kind.split()[2] for kind, _, name in entries if kind.startswith("160000 ")}


def knows(top: str, commit: str) -> bool:
    """Whether a clone has a commit."""
    try:
        _git(top, "cat-file", "-e", f"{commit}^{{commit}}")
    except GitError:
        return False
    return True


def _partial(top: str) -> str:
    try:
        _git(top, "config", "--get-regexp", r"^remote\..*\.promisor$")
    except GitError:
        return ""
    return "; this clone is partial and nothing is fetched here: clone without `--filter` (`filter` in a workflow)"


def untracked(top: str) -> list[str]:
    """Files that were not added yet."""
    return _names(_git(top, "ls-files", "--others", "--exclude-standard", "-z"))


def uncommitted(top: str) -> list[str]:
    """Files that are not what they are in HEAD."""
    changed = _git(top, "diff", "--name-only", "--no-relative", "--ignore-submodules", "-z", "HEAD", "--")
    return [*_names(changed), *untracked(top)]


def _git(folder: str, *args: str) -> bytes:
    options: tuple[str, ...] = ("-c", "core.quotePath=false")
    if args[0] in ("diff", "ls-files"):  # these look at files, which may have filters
        known = _run(folder, options, *sealed.LIST_FILTERS).stdout.decode("utf-8", "surrogateescape")
        try:
            options += tuple(sealed.without_filters(known.split("\0")))
        except sealed.Unsafe as error:
            raise GitError(str(error)) from None
    done = _run(folder, options, *args)
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise GitError(f"git {args[0]}: {told.splitlines()[0] if told else f'exit status {done.returncode}'}")
    return done.stdout


def _run(folder: str, options: tuple[str, ...], *args: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", *sealed.OPTIONS, *options, *args]
    environment = {**os.environ, **sealed.ENVIRONMENT, "LC_ALL": "C"}
    try:
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    except FileNotFoundError:
        raise GitError("git is not installed, or not on the PATH") from None


def _text(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _names(output: bytes) -> list[str]:
    return [name for name in output.decode("utf-8", "surrogateescape").split("\0") if name]
