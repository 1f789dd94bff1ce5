"""A function that a method makes, and that needs the whole object, as a method: `self.name` takes the object along."""

from __future__ import annotations

from dllint import Fix, Func, Klass, Project, Refused
from dllint_rules.pickling.analysis.owners import holds_model

_BASES = ("builtins.object", "abc.", "typing.", "torch.utils.data.")
"""What objects may derive from whose attributes are those that the project gives them."""


def as_method(project: Project, func: Func) -> Fix | None:
    """The function as a method of the object around it, where that is one that goes to workers as it is."""
    from dllint import to_method

    module = func.module
    owner = module.method_owner(func.facts.parent) if func.facts.parent >= 0 else -1
    if owner < 0 or module.notebook:
        return None
    klass = project.evaluator.klass(module, owner)
    taken = _taken(project, klass, func) if _may_go_along(project, klass) else None
    if taken is None:
        return None
    try:
        return to_method(project.source(module.path), project.tree(module.path), module.model, func.facts, taken)
    except Refused:
        return None


def _may_go_along(project: Project, klass: Klass) -> bool:
    """Whether pickle finds the class by its name, and its objects are no models, and have none."""
    classes = project.evaluator.classes
    known = classes.plain(klass) and all(base.startswith(_BASES) for base in classes.external_bases(klass))
    return known and klass.facts.parent < 0 and not holds_model(project, klass)


def _taken(project: Project, klass: Klass, func: Func) -> set[str] | None:
    """The names that the class, what derives from it, and all their bases use; None where one cannot be read."""
    from dllint import names_in_class

    classes = project.evaluator.classes
    derived = (klass, *classes.subclasses(klass))
    family = {(item.module.path, item.index): item for one in derived for item in classes.mro(one)}
    found: set[str] = set()
    for item in family.values():
        own = item.module is func.module
        source = project.source(item.module.path)
        names = names_in_class(source, item.facts.span.start, func.facts.span.start if own else -1)
        if names is None:
            return None
        found |= names
    return found
