"""DLL108: a bound method goes to workers, and its whole owner with it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dllint import Finding, Fix, Held, Project, Rule, Severity
from dllint_rules.pickling.analysis.escaping_handles import worker_functions
from dllint_rules.pickling.analysis.owners import TRAINER, Owner, owners
from dllint_rules.pickling.unpicklable import finding

MODEL = "model"
REMEDY = "use a module-level function, or an object that holds only what the method needs"


class OwnerShippedWithMethod(Rule):
    """Pickle stores a bound method as its object and a name: the trainer, the model and the open log go along."""

    code = "DLL108"
    name = "owner-shipped-with-method"
    summary = "bound method is shipped to workers together with an owner that is heavy or cannot be pickled"

    def check(self, project: Project) -> Iterator[Finding]:
        for owner in owners(project, worker_functions(project)):
            found = self._broken(project, owner) or self._heavy(project, owner)
            if found is not None:
                yield found

    def _broken(self, project: Project, owner: Owner) -> Finding | None:
        if not owner.broken:
            return None
        held, what = owner.broken[0]
        how = f"which has {article(what)} that cannot be pickled{kept_as(held)}: fails"
        found = finding(self, project, passed(owner.held), taken(owner), REMEDY, how)
        if found is None:
            return None
        return msgspec.structs.replace(found, anchors=(*found.anchors, (held.path, held.span)))

    def _heavy(self, project: Project, owner: Owner) -> Finding | None:
        if owner.held.loader is None:
            return None
        held, what = owner.heavy[0]
        whole = f"{article(what)}{kept_as(held)}" if held is not owner.held else f"itself {article(what)}"
        how = f"which is {whole}" if held is owner.held else f"which has {whole}"
        how = "on which Lightning sets the trainer, with the model" if what == TRAINER else how
        sent = "sent to" if what in (MODEL, TRAINER) else "copied into"
        how = f"{how}: {sent} every worker"
        found = finding(self, project, passed(owner.held), taken(owner), REMEDY, how, Severity.WARNING)
        if found is None:
            return None
        outcomes = {method: "bloat" if outcome != "ok" else "ok" for method, outcome in found.outcomes.items()}
        return msgspec.structs.replace(found, outcomes=outcomes)

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        return without_owner(project, finding.data)


def without_owner(project: Project, held: Held) -> Fix:
    """The method as a function of what it reads of its object."""
    from dllint import unbound

    assert held.method is not None
    title, func = "Send a function with what it needs, not the whole owner", held.method.func
    path = func.module.path
    made = unbound(project.source(path), func.facts.span.start)
    if made is None:
        return Fix.manual(f"{title}; `{func.facts.name}` does more with its object than read attributes")
    owner = project.text(held.path, held.span).rpartition(".")[0] or "self"
    given = ", ".join([made.name, *(f"{owner}.{name}" for name in made.attributes)])
    call = f"functools.partial({given})" if made.attributes else made.name
    return Fix.manual(title, f"{made.text.rstrip()}\n\n\n# and instead of the method:\n{call}")


def passed(held: Held) -> Held:
    """The owner, reported where its method is handed over."""
    at = held.route[1] if len(held.route) > 1 else held.route[0]
    return held.at(at.path, at.span)


def taken(owner: Owner) -> str:
    """What happens, in words."""
    return f"bound method `{owner.method.func.facts.name}` takes its whole owner along,"


def kept_as(held: Held) -> str:
    """Under which name the owner, or what it holds, keeps something."""
    return f" (`{held.holder.name}` of `{held.holder.owner}`)" if held.holder.kind == "attribute" else ""


def article(noun: str) -> str:
    """A noun with its article."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
