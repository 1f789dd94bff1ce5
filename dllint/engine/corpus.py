"""The files of a run: read, filtered, and those that matter reduced to their models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dllint import documents
from dllint.finding import Finding
from dllint.reduce import Collected, collect_source
from dllint.reduce.disk import read
from dllint.source import Source, Unreadable, digest

if TYPE_CHECKING:
    from dllint.documents.containers.container import Container, Containers
    from dllint.files import Lists
    from dllint.model.facts import Suppression


class Changed(BaseException):
    """A file changed during the run, so the result is invalid. This isn't the caller's error."""


class Corpus:
    """Everything known of the files. A changed file makes a new corpus that shares the rest."""

    def __init__(
        self,
        root: str,
        collected: Mapping[str, Collected],
        problems: Iterable[Finding] = (),
        digests: Mapping[str, bytes] | None = None,
        sources: Mapping[str, Source] | None = None,
        containers: Mapping[str, Containers] | None = None,
        lists: Lists | None = None,
    ) -> None:
        self.root = root
        self._collected = dict(collected)
        self.digests = dict(digests or {})
        """Of the contents that the facts are of."""
        self._sources = dict(sources or {})
        self._containers = dict(containers or {})
        self.edited: frozenset[str] = frozenset()
        """Files whose texts are not those on disk any more."""
        self.remembered = False
        """Some of the facts are an earlier run's."""
        self.lists = lists
        self.models = {path: item.model for path, item in collected.items() if item.model}
        self._problems = tuple(problems)

    @property
    def containers(self) -> list[Container]:
        """What container files start, as far as they are read."""
        return [container for read in self._containers.values() for container in read.containers]

    @property
    def suppressions(self) -> dict[str, tuple[Suppression, ...]]:
        """The ignore comments of every file."""
        own = {path: model.suppressions for path, model in self.models.items()}
        return own | {path: read.suppressions for path, read in self._containers.items()}

    def has(self, path: str) -> bool:
        """Whether there are facts of a file."""
        return path in self.models or path in self._containers

    @property
    def problems(self) -> list[Finding]:
        """DLL900 and DLL903: files that could not be read or analyzed."""
        return [*self._problems, *(item.problem for item in self._collected.values() if item.problem)]

    @property
    def crashes(self) -> list[str]:
        """Internal errors, one line each."""
        return [item.crash for item in self._collected.values() if item.crash]

    def source(self, path: str) -> Source:
        """A parsed file's text, read when it is asked for; an empty one for a file without facts. Raises Changed."""
        if path not in self._sources:
            self._sources[path] = self._read(path) if path in self.digests else Source(path, "")
        return self._sources[path]

    def _read(self, path: str) -> Source:
        try:
            data = read(self.root, path)
        except OSError:
            raise Changed(path) from None
        if digest(path, data) != self.digests[path]:
            raise Changed(path)
        return decoded(path, data)

    def changed(self, sources: Mapping[str, Source]) -> Corpus:
        """The corpus with other contents of these files."""
        again = {path: collect_source(source) for path, source in sources.items() if path not in self._containers}
        reread = {path: containers_of(source) for path, source in sources.items() if path in self._containers}
        corpus = Corpus(
            self.root,
            {**self._collected, **again},
            self._problems,
            self.digests,
            {**self._sources, **sources},
            {**self._containers, **reread},
            self.lists,
        )
        corpus.edited = self.edited | sources.keys()
        return corpus

    def with_former(self, former: Mapping[str, tuple[Source, Collected]]) -> Corpus:
        """This corpus with the facts that some files had before, and the contents that these are about."""
        return Corpus(
            self.root,
            {**self._collected, **{path: item for path, (_, item) in former.items()}},
            self._problems,
            self.digests,
            {**self._sources, **{path: source for path, (source, _) in former.items()}},
            self._containers,
            self.lists,
        )

    def collected(self, path: str) -> Collected | None:
        """What became of a file, if it was worth parsing."""
        return self._collected.get(path)

    def problem(self, path: str) -> str:
        """Why a file has no model, or ""."""
        told = [finding.message for finding in self.problems if finding.path == path]
        item = self._collected.get(path)
        return "; ".join((*told, item.crash) if item and item.crash else told)


def containers_of(source: Source) -> Containers:
    """What a container file starts."""
    from dllint.documents import containers

    return containers.read(source)


def decoded(path: str, data: bytes) -> Source:
    """A file's content as a source, an empty one where it is none."""
    try:
        return documents.read(path, data)
    except Unreadable:
        return Source(path, "")
