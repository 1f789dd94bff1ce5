"""What to paste where workers make CUDA tensors: theirs on the CPU, and batches moved in the loop over the loader."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Edit, Env, Event, Expr, Fix, Func, Loader, Module, Project, Refused, Running

_MOVED = """\
# in `{where}`, for `{what}`:
{plain}

# in the loop over the loader, with `pin_memory=True` for that:
for {target} in {batches}:
    {name} = {name}.to({device}, non_blocking=True)"""


def moved_in_loop(project: Project, code: Running, loader: Loader, made: Expr, env: Env, part: Expr) -> Fix:
    """`made`, in `env`, is put on a device; `part` is what `code`, which makes items or batches, gives of it.

    Without a snippet where it is not seen which of a batch's names it becomes, or which device is meant.
    """
    plain, device = on_cpu(project, made, env), named_device(project, made, env)
    loops = list(_loops(project, loader))
    place = _place(code, part)
    if not plain or not device:
        why_not = (
            "which device is meant cannot be said elsewhere" if plain else "it is not a tensor that could stay there"
        )
        return moved_by_hand(why_not)
    if not loops or place is None:
        why_not = "no loop over this loader is seen" if not loops else "where in a batch it ends up is not seen"
        return moved_by_hand(why_not)
    module, loop, _ = loops[0]
    name = _name(loop, place)
    if not name or loop.target is None or loop.value is None or not _means_the_same(device, env.module, module):
        row = project.source(module.path).location(loop.start)[0]
        return moved_by_hand(f"the loop in {module.path}:{row} has no name for it, or none for the device")
    snippet = _MOVED.format(
        where=env.facts.qualname,
        what=" ".join(project.text(env.module.path, made.span).split()),
        plain=plain,
        target=project.text(module.path, loop.target.span),
        batches=project.text(module.path, loop.value.span),
        name=name,
        device=device,
    )
    return Fix.manual("Leave it on the CPU, and move the batches", snippet)


def moved_by_fix(project: Project, code: Running, call: Expr) -> Fix:
    """The call in every loop over every loader that runs the code; raises Refused where something speaks against it."""
    from dllint import moved_to_loops

    path, edits = code.path, dict[Edit, None]()
    for loader in {running.loader: None for running in project.running if running.function == code.function}:
        loops = list(_loops(project, loader)) if loader is not None else []
        place = _place(code, call)
        if loader is None or not loops or place is None or not _gives_batches(project, loader, code):
            raise Refused("where in a batch it ends up is not seen")
        device, source = named_device(project, call, code.env), project.source(path)
        bound = [module.model.functions[index].bound for module, _, index in loops if index >= 0]
        elsewhere = any(module.path != path or _joins(event) for module, event, _ in loops)
        if elsewhere or not device or not on_cpu(project, call, code.env) or any(device in names for names in bound):
            raise Refused("the loop is in another file, or has no name for the device")
        names = [(event.start, _name(event, place)) for _, event, _ in loops]
        if not all(name for _, name in names):
            raise Refused("the loop has no name for it")
        edits |= dict.fromkeys(moved_to_loops(source, call.start, loader.call.start, names))
    return Fix("Move the batches in the loop over the loader", tuple(edits), Applicability.UNSAFE)


def _gives_batches(project: Project, loader: Loader, code: Running) -> bool:
    """Whether what the code returns is what the loop gets: of a batch, or of an item that torch makes batches of."""
    given = project.boundaries.argument(loader, "collate_fn")[0]
    if code.env.facts.name == "__getitem__" == code.entry:
        return loader.name == "DataLoader" and not given and loader.call.keyword("**") is None
    values = [value for pair in given for value in project.values(*pair)]
    own = (isinstance(value, Func) and (value.module.path, value.index) == code.function for value in values)
    return bool(values) and all(own)


def moved_by_hand(why_not: str) -> Fix:
    """What to do, and why nothing is shown to paste."""
    return Fix.manual(f"Leave it on the CPU, and move the batches; {why_not}")


def on_cpu(project: Project, call: Expr, env: Env) -> str:
    """A call that makes something on a device, without that; "" where it is not one of the usual ones."""
    from dllint import call_with, piece

    source, callee = project.source(env.module.path), call.args[0]
    if call.keyword("device") is not None and callee.name != "to":
        return call_with(source, call.span, "device", '"cpu"')
    only_device = len(call.args) <= 2 and {key for key, _ in call.keywords} <= {"device", "non_blocking"}
    if callee.kind != "attribute" or callee.name not in ("cuda", "to") or not only_device:
        return ""
    return piece(source, callee.args[0].span)


def named_device(project: Project, call: Expr, env: Env) -> str:
    """The device as the call names it, where that can be said elsewhere: a literal, or a name of the module."""
    given = call.keyword("device") or next(iter(call.args[1:2]), None)
    if given is None:
        return '"cuda"' if call.args[0].name == "cuda" else ""
    if given.kind == "constant":
        return project.text(env.module.path, given.span) if isinstance(given.value, str) else ""
    local = given.kind == "name" and given.name in env.facts.bound
    return given.name if given.kind == "name" and not local and given.name in env.module.model.bound else ""


def _means_the_same(device: str, here: Module, there: Module) -> bool:
    return not device.isidentifier() or here is there


def _loops(project: Project, loader: Loader) -> Iterator[tuple[Module, Event, int]]:
    """The loops over a loader, each with the function that it is in."""
    for module in project.index:
        for function, _, events in module.scopes:
            for event in events:
                if event.kind == "for" and event.value is not None:
                    found = project.passes.loader(event.value, project.evaluator.generic(module, function))
                    if found is not None and found.call is loader.call:
                        yield module, event, function


def _joins(loop: Event) -> bool:
    """Whether a loop goes through several things at once."""
    return loop.value is not None and any(part.name == "zip" for part in loop.value.walk())


def _place(code: Running, part: Expr) -> int | None:
    """Where in an item something stands: its position in the tuple that is returned, -1 for the whole; else None."""
    if code.env.facts.name != code.entry and code.entry != "collate_fn":
        return None
    returned = [event.value for event in code.events if event.kind == "return" and event.value is not None]
    if len(returned) != 1 or code.env.facts.is_generator:
        return None
    names = {
        event.target.name
        for event in code.events
        if event.kind == "assign" and event.target is not None and event.value is part and event.target.kind == "name"
    }
    parts = returned[0].args if returned[0].kind == "tuple" else (returned[0],)
    meant = [index for index, item in enumerate(parts) if item is part or (item.kind == "name" and item.name in names)]
    if len(meant) != 1:
        return None
    return meant[0] if returned[0].kind == "tuple" else -1


def _name(loop: Event, place: int) -> str:
    """The loop's name for that part of the batch."""
    target = loop.target
    counted = loop.value is not None and any(part.name == "enumerate" for part in loop.value.walk())
    if counted and target is not None and target.kind == "tuple" and len(target.args) == 2:
        target = target.args[1]
    if target is None or target.kind not in ("name", "tuple") or (target.kind == "tuple") != (place >= 0):
        return ""
    if target.kind == "name":
        return target.name
    return target.args[place].name if place < len(target.args) and target.args[place].kind == "name" else ""
