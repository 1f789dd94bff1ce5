"""Fixes: text edits with an applicability, applied whole or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum

import msgspec

from dllint.source import Part, Source, Span


class Applicability(IntEnum):
    """How far a fix may be trusted: shown only, applied when unsafe fixes are asked for, applied always."""

    MANUAL = 0
    UNSAFE = 1
    SAFE = 2

    @property
    def label(self) -> str:
        """The word that reports use."""
        return ("display-only", "unsafe", "safe")[self]


class Edit(msgspec.Struct, frozen=True, order=True):
    """`text` in place of a span; an empty span inserts."""

    path: str
    span: Span
    text: str


class Import(msgspec.Struct, frozen=True):
    """An import that a fix needs: `import module as alias`, or `from module import attribute as alias`.

    `own`: the module is one of the project. `starred`: `from module import *` brings the name, too.
    """

    path: str
    module: str
    attribute: str = ""
    alias: str = ""
    own: bool = False
    starred: bool = False

    @property
    def bound(self) -> str:
        """The name that it binds."""
        return self.alias or self.attribute or self.module.partition(".")[0]

    @property
    def statement(self) -> str:
        """The import as a line of Python, without its newline."""
        name = self.attribute or self.module
        named = f"{name} as {self.alias}" if self.alias and self.alias != name else name
        return f"from {self.module} import {named}" if self.attribute else f"import {named}"


class Fix(msgspec.Struct, frozen=True):
    """A remedy. `snippet` is what a person may paste, for one that is not applied.

    `defines` are the names that it adds to its module: two fixes that add the same name do not go together, but where
    they add the same; then one of them only `uses` it, in the file that is named with it. `alone` is what does without
    the edits of other files; a fix of several files that has none is for a person.
    """

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability
    imports: tuple[Import, ...] = ()
    snippet: str = ""
    defines: tuple[str, ...] = ()
    uses: tuple[tuple[str, str], ...] = ()
    alone: Fix | None = None

    @property
    def paths(self) -> set[str]:
        """The files that its edits change."""
        return {edit.path for edit in self.edits}

    @property
    def defined(self) -> set[tuple[str, str]]:
        """The names that it defines in whole lines, each with its file."""
        return {(edit.path, name) for edit in self.edits if _defines(self, edit) for name in self.defines}

    @classmethod
    def manual(cls, title: str, snippet: str = "") -> Fix:
        """What a person has to do; why no edit does it follows a semicolon."""
        return cls(title, (), Applicability.MANUAL, snippet=snippet)


def choose(fixes: Iterable[Fix]) -> list[Fix]:
    """The fixes that go together; the others are left for the next pass."""
    return [fix for _, fix in compatible(fixes)]


def compatible(fixes: Iterable[Fix]) -> list[tuple[Fix, Fix]]:
    """Those that go together, each with what is left to do of it.

    They come in the order of their last edits: what is defined for a fix comes before the place where it is used, and
    the first place gets the plainest name. A later fix that would define just the same uses what the first defines.
    """
    applicable = [fix for fix in fixes if fix.edits and fix.applicability is not Applicability.MANUAL]
    chosen: list[tuple[Fix, Fix]] = []
    taken: dict[str, list[Edit]] = {}
    names: dict[tuple[str, str], Fix] = {}
    for fix in sorted(applicable, key=lambda fix: (max(fix.edits), sorted(fix.edits), fix.title)):
        defined = {(edit.path, name) for edit in fix.edits for name in fix.defines}
        earlier = [names[key] for key in defined if key in names and names[key].edits != fix.edits]
        if any(_definitions(other) != _definitions(fix) or not _definitions(fix) for other in earlier):
            continue
        left = _using(fix) if earlier else fix
        edits = sorted(set(left.edits))
        others = [other for path in {edit.path for edit in edits} for other in taken.get(path, ())]
        if not edits or any(_clash(edit, other) for edit in edits for other in others) or not _disjoint(edits):
            continue
        chosen.append((fix, left))
        names.update((key, fix) for key in defined if not earlier)
        for edit in edits:
            taken.setdefault(edit.path, []).append(edit)
    return chosen


def _definitions(fix: Fix) -> list[str]:
    """What a fix inserts in whole lines: the function or the class that it defines."""
    return [edit.text.strip() for edit in fix.edits if _defines(fix, edit)]


def _defines(fix: Fix, edit: Edit) -> bool:
    name = "".join(fix.defines)
    return _inserts(edit) and any(head in edit.text for head in (f"def {name}(", f"class {name}:"))


def _using(fix: Fix) -> Fix:
    """A fix without what it defines."""
    edits = tuple(edit for edit in fix.edits if not _defines(fix, edit) and (edit.text.strip() or not _inserts(edit)))
    return msgspec.structs.replace(fix, edits=edits, defines=(), uses=tuple(sorted(fix.defined)))


def _inserts(edit: Edit) -> bool:
    return edit.span.start == edit.span.end


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after the edits, all of one file; equal ones count once. Raises ValueError where they overlap."""
    ordered = sorted(set(edits), key=_order)
    if not _disjoint(ordered):
        raise ValueError("edits overlap")
    for edit in reversed(ordered):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """The edits, with what they insert at one place as one edit: imports, then the rest in the order of the edits."""
    places: dict[tuple[str, Span], list[Edit]] = defaultdict(list)
    for edit in dict.fromkeys(edits):
        places[edit.path, edit.span].append(edit)
    found: list[Edit] = []
    for (path, span), own in places.items():
        together = span.start == span.end and _disjoint(own)
        text = "".join(edit.text for edit in sorted(own, key=_rank))
        found += [Edit(path, span, text)] if together else own
    return found


def merged(text: str, edits: Iterable[Edit]) -> Edit:
    """One edit that does what all of these do, all of one file: a suggestion has one range."""
    own = sorted(set(edits))
    start, end = min(edit.span.start for edit in own), max(edit.span.end for edit in own)
    return Edit(own[0].path, Span(start, end), apply(text[:end], own)[start:])


def edited(source: Source, edits: Iterable[Edit]) -> Source:
    """The source after the edits, all of its file. Raises ValueError where they overlap or what they change must stay.

    An edit belongs to one part of the file; one that deletes may take the empty lines that follow the part.
    """
    own: dict[int, list[Edit]] = defaultdict(list)
    for edit in edits:
        part = source.part(edit.span.start)
        own[part.start].append(_inside(source, part, edit))
    return source.rewritten([apply(part.source.text, own.get(part.start, ())) for part in source.parts])


def fits(source: Source, edit: Edit) -> bool:
    """Whether an edit changes one part of its file, and nothing that must stay."""
    try:
        return bool(_inside(source, source.part(edit.span.start), edit))
    except ValueError:
        return False


def _inside(source: Source, part: Part, edit: Edit) -> Edit:
    """The edit in offsets of its part."""
    span, last = edit.span, part.start + len(part.source.text)
    if span.end > last and (edit.text or source.text[last : span.end].strip()):
        raise ValueError("it reaches into the next cell")
    if any(span.start < mask.end and mask.start < span.end for mask in source.masked):
        raise ValueError("it would change what is for IPython")
    return msgspec.structs.replace(edit, span=Span(span.start - part.start, min(span.end, last) - part.start))


def _order(edit: Edit) -> tuple[Span, tuple[bool, bool], str]:
    """From the beginning; of what is inserted at one place, imports come first."""
    return edit.span, _rank(edit), edit.text


def _rank(edit: Edit) -> tuple[bool, bool]:
    """Imports come first, then empty lines."""
    return not edit.text.lstrip().startswith(("import ", "from ")), bool(edit.text.strip())


def _disjoint(edits: list[Edit]) -> bool:
    return not any(_clash(edit, other) for index, edit in enumerate(edits) for other in edits[:index])


def _clash(one: Edit, other: Edit) -> bool:
    """Whether two edits cannot both be made. Whole lines inserted at one place can, one after the other."""
    if one == other or one.path != other.path:
        return False
    if one.span == other.span and one.span.start == one.span.end:
        return not (one.text.endswith(("\n", "\r")) and other.text.endswith(("\n", "\r")))
    if one.span.start == one.span.end or other.span.start == other.span.end:
        point, span = (one.span.start, other.span) if one.span.start == one.span.end else (other.span.start, one.span)
        return span.start < point < span.end
    return one.span.start < other.span.end and other.span.start < one.span.end
