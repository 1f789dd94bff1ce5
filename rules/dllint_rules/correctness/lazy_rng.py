"""The fix of DLL602: a generator that each process makes for itself, from the seed that torch gives it."""

from __future__ import annotations

from dllint import (
    Applicability,
    ExtInst,
    Fix,
    Held,
    Lazy,
    OwnAttribute,
    Project,
    lazy_attribute,
    lazy_members,
    module_alias,
    own_attribute,
    reference,
)

_SEEDS = {
    "numpy.random.default_rng": "{torch}.initial_seed()",
    "numpy.random.RandomState": "{torch}.initial_seed() % 2**32",
    "random.Random": "{torch}.initial_seed()",
}


def fix_rng(project: Project, held: Held) -> Fix | None:
    """A property that makes the generator on first use; what to paste, where the seed or something else matters."""
    made = held.value
    title = "Make it in the process that uses it, from torch's seed"
    if not isinstance(made, ExtInst) or made.name not in _SEEDS or made.call.kind != "call":
        return Fix.manual(f"{title}; how such a generator is seeded is not known here")
    attribute = own_attribute(project, held.holder.name, made)
    if attribute is None:
        return Fix.manual(f"{title}; `{held.holder.name}` is not set to just what a call makes")
    title = f"Make `{attribute.name}` in the process that uses it, from torch's seed"
    setter = attribute.module.function_at(attribute.write.function)
    if setter is not None and setter.name != "__init__":
        return Fix.manual(f"{title}; `{setter.name}` sets it, which a property without a setter does not allow")
    if attribute.attribute.places is not None and attribute.set_again():
        return Fix.manual(f"{title}; other code sets it, too, which a property without a setter does not allow")
    why_not = _why_not(attribute, made)
    if not why_not:
        source, model, start = (
            project.source(attribute.module.path),
            attribute.module.model,
            attribute.write.event.start,
        )
        _, getpid = reference(model, "os", "getpid", start)
        _, torch = module_alias(model, "torch", "torch", start)
        edits = lazy_attribute(source, start, _lazy(attribute, made))
        if edits:
            return Fix(title, edits, Applicability.UNSAFE, (*getpid, *torch))
        why_not = "its line has a comment or another statement"
    return Fix(f"{title}; {why_not}", (), Applicability.MANUAL, snippet=lazy_members(_lazy(attribute, made)))


def _why_not(attribute: OwnAttribute, made: ExtInst) -> str:
    """The obstacle, in words; "" if there is none."""
    if len(made.call.args) > 1 or made.call.keywords:
        return "the seed that it is given now would count no more"
    if attribute.used_in_set_up():
        return "it is drawn from before the workers start"
    return attribute.why_no_property(pickled=True)


def _lazy(attribute: OwnAttribute, made: ExtInst) -> Lazy:
    model, start = attribute.module.model, attribute.write.event.start
    getpid, _ = reference(model, "os", "getpid", start)
    torch, _ = module_alias(model, "torch", "torch", start)
    callee = attribute.project.text(attribute.module.path, made.call.args[0].span)
    value = f"{callee}({_SEEDS[made.name].format(torch=torch)})"
    store = attribute.free_name()
    return Lazy(attribute.name, value, store, f"{store}_pid", getpid, dropped=False)
