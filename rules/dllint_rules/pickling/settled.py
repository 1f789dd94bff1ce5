"""Attributes of an object that stay what they are once one of its methods has made a function that reads them."""

from __future__ import annotations

import re

from dllint import Attribute, Func, Klass, Place, Project, own_attributes

_SET = ("write", "set", "filled", "named")
"""Kinds of uses that may give the attribute another value."""
_NONE = re.compile(r"\s*(:[^=\n]*)?=\s*None\s*?(?=[#;\r\n]|\Z)")


def settled_attributes(project: Project, func: Func) -> frozenset[str]:
    """The attributes of the object around a function that the function may as well take now as when it is called."""
    module = func.module
    owner = module.method_owner(func.index)
    if owner < 0:
        return frozenset()
    klass = project.evaluator.klass(module, owner)
    names = own_attributes(project.source(module.path), func.facts.span.start)
    return frozenset(name for name in names if _is_settled(project, func, klass, name))


def _is_settled(project: Project, func: Func, klass: Klass, name: str) -> bool:
    attribute = Attribute(project, klass, name)
    if any(name in item.facts.methods for item in attribute.family.values()) or attribute.places is None:
        return False
    setting = [place for place in attribute.places if place.use.kind in _SET and _replaces(project, place)]
    if not all(_is_own(project, attribute, place) for place in setting):
        return False
    where = (func.module.path, func.module.method_of(func.index))
    here = any(_method(place) == where for place in setting)
    others = [place for place in setting if _method(place) != where]
    first = [place for place in others if _is_init(place)]
    later = {_method(place) for place in others if not _is_init(place)}
    known = bool(setting) or _in_body(project, attribute, name)
    if func.module.model.functions[where[1]].name == "__init__":
        above = {(item.module.path, item.index) for item in project.evaluator.classes.mro(klass)}
        return known and not later and all(_owner(place) in above for place in first)
    waits = not here and len(later) == 1 and all(_is_none(project, place) for place in first)
    return known and (not later or waits)


def _replaces(project: Project, place: Place) -> bool:
    """Whether a use binds the attribute, and does not only change what it is: `self.x[0] = 1`, `self.x.append(1)`."""
    text, end = project.source(place.module.path).text, place.use.span.end
    if place.use.kind == "named":
        return text.startswith(("setattr", "delattr"), place.use.span.start)
    return not text[end:].lstrip().startswith(("[", "."))


def _is_own(project: Project, attribute: Attribute, place: Place) -> bool:
    """Whether a method sets the attribute of its own object."""
    base = project.text(place.module.path, place.use.base)
    return base == place.module.receiver_name(place.function) and _owner(place) in attribute.family


def _is_init(place: Place) -> bool:
    method = _method(place)[1]
    return method >= 0 and place.module.model.functions[method].name == "__init__"


def _is_none(project: Project, place: Place) -> bool:
    """Whether a use is `self.x = None`, which stands for a value to come."""
    return _NONE.match(project.source(place.module.path).text, place.use.span.end) is not None


def _method(place: Place) -> tuple[str, int]:
    return place.module.path, place.module.method_of(place.function)


def _owner(place: Place) -> tuple[str, int]:
    return place.module.path, place.module.method_owner(place.function)


def _in_body(project: Project, attribute: Attribute, name: str) -> bool:
    """Whether the body of a class sets the attribute, or names it as the field of a dataclass."""
    for item in attribute.family.values():
        targets = (part.name for event in item.facts.events if event.target for part in event.target.walk())
        if name in (*targets, *project.evaluator.classes.dataclass_fields(item)):
            return True
    return False
