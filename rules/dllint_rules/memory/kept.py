"""What memory rules say of something that a dataset keeps: whether workers read it, and what that costs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from dllint import (
    ALL_METHODS,
    FORK,
    Certainty,
    Counted,
    Expr,
    Finding,
    Held,
    ItemReads,
    Klass,
    Module,
    Note,
    Project,
    References,
    Running,
    Severity,
    Sizes,
    Span,
    SwitchedOff,
    Unselected,
    Write,
    only_first_batch,
)


class Reading(Protocol):
    """A question of `ItemReads`: whether, or where, code reads an attribute of a class's instances."""

    __name__: str

    def __call__(self, running: Running, klass: Klass, attribute: str, /) -> object: ...


NAMES, ROWS, NUMBERS = "about 120 bytes", "200 bytes or more", "30 bytes or more"
"""What a worker copies for each element that it reads: of names, of rows, of identifiers (measured: README.md)."""
_FEW = re.compile(
    r"(?:^|_)(?:(?:class|cat|label|category)(?:es|s)?(?:_?(?:names?|ids?|labels?|map|list))|class(?:es)?|categor(?:y|ies)"
    r"|cats|speakers|domains|splits|tasks|templates|vocab|vocabulary|tokenizer|palette|languages|alphabet|charset|characters"
    r"|(?:word|token|char|label|class|cat|phone|speaker|spk|answer|ans|rel|relation)s?(?:2|_to_)\w+"
    r"|\w+(?:2|_to_)(?:word|token|char|label|class|cat|phone|speaker|spk|answer|ans|rel|relation))$",
    re.IGNORECASE,
)


_OF_WORDS = re.compile(r"(?:Vocab(?:ulary)?|Tokenizer|Dictionary|Alphabet|Charset)$", re.IGNORECASE)
"""The ends of the names of classes that keep the words, characters or symbols of a language."""


class _Asked:
    """What was asked already: whether workers read an attribute of the classes of a name that a file has."""

    def __init__(self, project: Project) -> None:
        self.known: dict[object, bool] = {}


def is_few(project: Project, held: Held) -> bool:
    """Whether there are few elements, however many items: classes, words or the like, or as many as code checks."""
    named = _FEW.search(held.holder.name) or _OF_WORDS.search(held.holder.owner)
    return bool(named) or project.analysis(Sizes).is_few(held)


def read_in_workers(project: Project, held: Held, reads: Reading) -> bool:
    """Whether worker code of the class that keeps something reads it, in the way that `reads` knows."""
    known = project.analysis(_Asked).known
    key = held.holder, held.route[0].path, held.loader is None, reads.__name__
    if key not in known:
        known[key] = _reads(project, held, reads)
    return known[key]


def _reads(project: Project, held: Held, reads: Reading) -> bool:
    return any(read for _, read in _where_read(project, held, reads))


def is_always_read(project: Project, held: Held, reads: Reading) -> bool:
    """Whether no test decides whether workers read something."""
    return any(
        isinstance(read, Expr) and running.is_sure and project.certainty(running, read) is running.certainty
        for running, read in _where_read(project, held, reads)
    )


def _where_read(project: Project, held: Held, reads: Reading) -> Iterator[tuple[Running, object]]:
    owners = project.evaluator.classes.keepers(held.holder.owner, held.route[0].path)
    code = project.running if held.loader is not None else project.users_running
    return ((running, reads(running, klass, held.holder.name)) for klass in owners for running in code)


def is_kept_already(project: Project, held: Held, reads: Reading) -> bool:
    """Whether all elements are objects of other lists of the same class, which workers read, too: these are copied."""
    named = project.analysis(References).of(held.value)
    place = held.holder.owner, held.route[0].path
    counted = project.analysis(Counted)
    found = {
        other.holder.name
        for other in (project.in_memory if named else ())
        if other.holder.name in named and (other.holder.owner, other.route[0].path) == place
        if counted.of(other) is not None and read_in_workers(project, other, reads)
    }
    return bool(named) and found == named


def _copied_by_its_loader(project: Project, held: Held) -> bool:
    """Whether the workers of the loader on the route read more than a batch of something, not those of another one."""
    if held.loader is None or only_first_batch(held.loader):
        return False
    owners = project.evaluator.classes.keepers(held.holder.owner, held.route[0].path)
    code = [running for running in project.running if running.loader is held.loader]
    reads = project.analysis(ItemReads)
    return any(reads.mentioned(running, klass, held.holder.name) for klass in owners for running in code)


def kept_by(project: Project, held: Held) -> object:
    """What says that two are one attribute: the class that assigns it, the nearest one where it is only changed.

    Subclasses that fill, sort or cut a list of their base have one list, those that inherit a method that assigns one
    too.
    """
    step, name = held.route[0], held.holder.name
    module = project.index.modules[step.path]
    write = module.write_at(name, step.span)
    if write is not None and not _changes(module, write):
        return step.path, module.method_owner(write.function)
    classes = project.evaluator.classes
    setters = (
        (klass.module.path, klass.index)
        for owner in classes.keepers(held.holder.owner, step.path)
        for klass in classes.mro(owner)
        if any(
            not _changes(klass.module, write) for write in klass.module.self_writes.get(klass.index, {}).get(name, ())
        )
    )
    return next(setters, (step.path, held.holder.owner))


def with_others(finding: Finding, held: Held, places: Iterable[tuple[str, Span]]) -> Finding:
    """A finding that names the other places that set the attribute, as the arms of an `if` do for other data."""
    own = {(finding.path, finding.span), *((step.path, step.span) for step in held.route[:1])}
    others = sorted({*places} - own)
    too = (Note(path, span, f"`{held.holder.name}` gets its content here, too") for path, span in others)
    return msgspec.structs.replace(finding, notes=(*finding.notes, *too))


def only_changes(project: Project, held: Held) -> bool:
    """Whether what is kept is what the attribute had before, with a change."""
    module = project.index.modules[held.route[0].path]
    write = module.write_at(held.holder.name, held.route[0].span)
    return write is not None and _changes(module, write)


def is_inherited(project: Project, held: Held) -> bool:
    """Whether the class that keeps something isn't the one whose code sets it, but derives from it."""
    step = held.route[0]
    module = project.index.modules[step.path]
    writes = module.attribute_writes.get(held.holder.name, ())
    owners = {module.method_owner(write.function) for write in writes if write.target.span == step.span}
    return not any(owner < 0 or module.model.classes[owner].name == held.holder.owner for owner in owners)


def _changes(module: Module, write: Write) -> bool:
    """Whether an attribute gets what it has with a change: `self.rows = self.rows[::8]`, `self.rows += more`."""
    own, value = module.receiver_name(write.function), write.event.value
    parts = value.walk() if value is not None else ()
    again = any(part.dotted == f"{own}.{write.target.name}" for part in parts if part.kind == "attribute")
    return again or write.event.kind == "augment"


def why_small(project: Project, held: Held) -> str:
    """Why something that is kept is likely small, in words, or ""."""
    return project.analysis(Sizes).why_small(held)


def is_surely_large(project: Project, held: Held) -> bool:
    """Whether it is known that what is kept has many elements, and seen that it grows with data."""
    large = project.analysis(Sizes).is_large(held)
    return large and not project.analysis(Counted).only_by_length(held)


def certainty(project: Project, held: Held) -> Certainty:
    """How sure it is that workers copy much of what is kept."""
    large = is_surely_large(project, held) and not why_small(project, held)
    return held.surely if large and _copied_by_its_loader(project, held) else Certainty.LIKELY


def is_held_out(held: Held) -> bool:
    """Whether a loader takes it that is for validation or tests, which have less data than training."""
    return held.loader is not None and held.loader.held_out


def bloat(
    project: Project, held: Held, code: str, what: str, remedy: str, key: str, many: str = "it", each: str = NAMES
) -> Finding:
    """A finding at the place where it is kept, a warning unless it is likely small.

    `many`: what workers copy; `each`: how much that is for each element.
    """
    failing = project.failing(held, ALL_METHODS)
    copied = f"every worker copies {many} page by page as it reads"
    how = copied if FORK in failing else "every worker gets a copy of its own"
    write, loader = held.route[0], held.loader
    small = why_small(project, held)
    if small:
        what = f"{what}, likely small ({small})"
        least = project.analysis(Sizes).least(held.value)
        how = f"from some {least:,} entries on it matters that {how}, {each} for each"
    selected_by = SwitchedOff if is_surely_large(project, held) else Unselected
    unselected = "" if small else project.analysis(selected_by).clause(held)
    return Finding(
        code=code,
        path=write.path,
        span=write.span,
        message=f"{what}{unselected}: {how}, {remedy}",
        severity=Severity.INFO if small or unselected else Severity.WARNING,
        certainty=certainty(project, held),
        outcomes=dict.fromkeys(sorted(failing), "bloat"),
        notes=held.route[1:],
        anchors=((loader.path, loader.span),) if loader is not None else (),
        key=f"{code}:{write.path}:{key}",
        data=held,
        group=f"{write.path}:{held.holder.owner}",
    )
