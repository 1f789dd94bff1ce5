"""What a function saves in the file that it loads where there is one: a cache has what was put into it."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Env, Expr, Ext, ExtInst, Project

_PICKLERS = ("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib")
SAVERS = {**{f"{library}.load": f"{library}.dump" for library in _PICKLERS}, "torch.load": "torch.save"}
"""What loads a Python object, with what has saved it: an object, then the file."""
_OPEN = {"builtins.open", "io.open", "gzip.open", "bz2.open", "lzma.open"}


def saved(project: Project, loaded: ExtInst) -> list[Expr]:
    """What the function that loads something saves in the same file, in the same activation."""
    saver, call, env = SAVERS.get(loaded.name), loaded.call, loaded.env
    if saver is None or len(call.args) < 2 or env.function < 0:
        return []
    file = _file(project, call.args[1], env)
    if not file:
        return []
    return [
        other.args[1]
        for event in env.module.events(env.function)
        for other in event.walk()
        if other.kind == "call" and len(other.args) > 2 and project.values(other.args[0], env) == (Ext(saver),)
        if _file(project, other.args[2], env) == file
    ]


def _file(project: Project, file: Expr, env: Env) -> str:
    """The text of the path of what is surely one file, be it opened or named; "" of anything else."""
    values = project.values(file, env)
    opened = [value for value in values if isinstance(value, ExtInst) and value.name in _OPEN]
    paths = [value.call.args[1] for value in opened if len(value.call.args) > 1 and value.env == env] or [file]
    texts = {project.text(env.module.path, path.span) for path in paths}
    sure = len(texts) == 1 and (not opened or len(paths) == len(values))
    return texts.pop() if sure and not any(_varies(name, env) for path in paths for name in _names(path, env)) else ""


def _names(path: Expr, env: Env) -> Iterator[str]:
    """The names that a path depends on: of the method's object only the attributes that it reads."""
    parts, module = [*path.walk()], env.module
    own = module.self_writes.get(module.method_owner(env.function), {})
    called = {part.args[0].span for part in parts if part.kind == "call"}
    reads = [part for part in parts if part.kind == "attribute" and part.name in own and part.span not in called]
    objects = {part.args[0].span for part in reads if part.args[0].name == module.receiver_name(env.function)}
    return (part.dotted for part in parts if part.dotted and part.span not in objects)


def _varies(name: str, env: Env) -> bool:
    """Whether a function sets a name more than once, or what it is called with, which may stand for two files then."""
    targets = [event.target for event in env.module.events(env.function) if event.target is not None]
    given = any(parameter.name == name for parameter in env.facts.parameters)
    return given + sum(part.dotted == name for target in targets for part in target.walk()) > 1
