"""DLL609's fix: a `worker_init_fn` that sets in each worker what the main process set before it made the loader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from dllint import (
    Applicability,
    Const,
    Env,
    Expr,
    Ext,
    Fix,
    Func,
    Import,
    Klass,
    Loader,
    Mod,
    Project,
    Refused,
    add_argument,
    helper,
    known_in_module,
    reference,
)
from dllint_rules.correctness.analysis.module_state import Change, Unseen

_LOADER = Ext("torch.utils.data.DataLoader")


class _Setting(NamedTuple):
    """An assignment as a worker makes it, and the expression whose value it is given, if any."""

    name: str
    lines: tuple[str, ...]
    given: str = ""


def set_again(project: Project, unseen: Unseen) -> Fix:
    """The edits. Raises Refused where workers might get anything but what the main process has then.

    One function sets all that these workers do not see and that can be set there.
    """
    path = unseen.change.running.path
    loaders = _loaders(project, unseen, path)
    found = _settings(project, unseen, loaders)
    for other in unseen.beside:
        with suppress(Refused):
            found |= _settings(project, other, loaders)
    settings = [found[at] for at in sorted(found)]
    return _fix(project, path, settings, list({loader.span: loader for loader in loaders}.values()))


def _settings(project: Project, unseen: Unseen, loaders: list[Loader]) -> dict[int, _Setting]:
    """What sets all that one reader depends on, by where it is changed."""
    found = {}
    for change in unseen.together:
        if change.running.path != loaders[0].path:
            raise Refused("it is changed in another file than that of the loader")
        _check(project, change, unseen.written, loaders)
        found[change.event.start] = _setting(project, change)
    return found


def _loaders(project: Project, unseen: Unseen, path: str) -> list[Loader]:
    """The loaders whose workers depend on it, in all activations of their calls."""
    if project.index.modules[path].notebook:
        raise Refused("workers have nothing of a notebook")
    if any(not isinstance(starter, Loader) or starter.path != path for starter in unseen.starters):
        raise Refused("what starts the workers is in another file")
    places = {starter.span for starter in unseen.starters if isinstance(starter, Loader)}
    found = [loader for loader in project.loaders if loader.path == path and loader.span in places]
    if any(loader.instance or set(project.values(loader.call.args[0], loader.env)) != {_LOADER} for loader in found):
        raise Refused("the loader is not torch's own")
    if any(project.boundaries.argument(loader, "worker_init_fn")[0] for loader in found):
        raise Refused("the loader has a `worker_init_fn`")
    return found


def _check(project: Project, change: Change, written: Iterable[Change], loaders: Iterable[Loader]) -> None:
    """Whether a change is the only one of its place, and certainly made before any of the loaders."""
    running = change.running
    if any(other.event is not change.event and _meet(other, change) for other in written):
        raise Refused("it is changed in several places")
    surely = running.decided and not running.truncated
    if not surely or not project.evaluator.conditions.decided(running.env, change.event.start):
        raise Refused("it is changed in some cases only")
    if not all(_is_before(change, loader) for loader in loaders):
        raise Refused("it is not certain that it is changed before the loader is made")


def _meet(one: Change, other: Change) -> bool:
    """Whether two changes may be of one thing, or one of a part of the other."""
    return one.place.shows(other.place) or other.place.shows(one.place)


def _is_before(change: Change, loader: Loader) -> bool:
    """Whether a change comes before the call that makes a loader, in the function that leads to both."""
    places = dict(_way(change.running.env, change.event.start))
    common = next(((scope, at) for scope, at in _way(loader.env, loader.call.start) if scope in places), None)
    return common is not None and places[common[0]] < common[1]


def _way(env: Env | None, at: int) -> Iterator[tuple[tuple[str, int], int]]:
    """The functions that lead to a place, with where they go on to it, innermost first."""
    while env is not None:
        yield (env.module.path, env.function), at
        at = env.call.start if env.call is not None else -1
        env = env.caller


def _setting(project: Project, change: Change) -> _Setting:
    """The statement for a worker: the same where its value is the same there, else with a parameter."""
    at, value, module = change.at, change.value, change.running.env.module
    if change.event.kind != "assign" or at is not change.event.target or value is None:
        raise Refused("it takes more than an assignment")
    target, text = (project.text(module.path, part.span) for part in (at, value))
    text = f"({text})" if value.kind == "tuple" and text[:1] != "(" else text
    facts = module.function_at(change.running.env.function)
    own = facts.bound - facts.globals if facts is not None else frozenset()
    if "\n" in target + text or own & _names(at):
        raise Refused("the assignment means something else outside its function")
    name = (at.args[0] if at.kind == "subscript" else at).name.lower()
    first = (f"global {at.name}",) if at.kind == "name" else ()
    if not own & _names(value) and _is_same_anywhere(project, value, change.running.env):
        return _Setting(name, (*first, f"{target} = {text}"))
    values = project.values(value, change.running.env)
    if not values or not all(isinstance(item, Const) for item in values) or name in _names(at):
        raise Refused("its value is not known to reach workers")
    return _Setting(name, (*first, f"{target} = {name}"), target)


def _is_same_anywhere(project: Project, value: Expr, env: Env) -> bool:
    """Whether an expression is written out, or the name of something that workers import."""
    if value.kind in ("constant", "list", "tuple", "set", "dict", "unary"):
        return all(_is_same_anywhere(project, part, env) for part in value.args)
    values = project.values(value, env) if value.dotted else ()
    return bool(values) and all(
        isinstance(item, (Ext, Mod)) or (isinstance(item, (Func, Klass)) and "<" not in item.facts.qualname)
        for item in values
    )


def _names(expr: Expr) -> frozenset[str]:
    return frozenset(part.name for part in expr.walk() if part.kind == "name")


def _fix(project: Project, path: str, settings: list[_Setting], loaders: list[Loader]) -> Fix:
    source, model = project.source(path), project.index.modules[path].model
    use = min(loader.call.start for loader in loaders)
    given = [(item.name, item.given) for item in settings if item.given]
    parameters = ", ".join([*(name for name, _ in given), "worker"])
    body = tuple(dict.fromkeys(sorted((line for item in settings for line in item.lines), key=_is_statement)))
    text = "\n".join([f"def set_up({parameters}):", *(f"    {line}" for line in body), *(item for _, item in given)])
    if len(dict(given)) < len(given) or not known_in_module(source, use, text):
        raise Refused("its names are not those of the module")
    wanted = f"set_{settings[0].name}" if len(settings) == 1 else "set_up_worker"
    made = helper(source, project.tree(path), model, use, wanted, parameters, body)
    if made is None:
        raise Refused("this file is written for another Python")
    called, imports = made.name, tuple[Import, ...]()
    if given:
        partial, imports = reference(model, "functools", "partial", use)
        called = f"{partial}({', '.join([made.name, *(item for _, item in given)])})"
    edits = [add_argument(source, loader.call.span, f"worker_init_fn={called}") for loader in loaders]
    added = tuple(edit for edit in edits if edit is not None)
    if len(added) < len(edits):
        raise Refused("what the loader is given is not seen")
    title = f"Set it in each worker as well, by `{made.name}`"
    return Fix(title, (*made.edits, *added), Applicability.UNSAFE, imports, defines=made.defines)


def _is_statement(line: str) -> bool:
    return not line.startswith("global ")
