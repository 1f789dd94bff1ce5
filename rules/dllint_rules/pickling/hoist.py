"""The fixes of the pickling rules: they give a function a name that pickle can find."""

from __future__ import annotations

import msgspec

from dllint import (
    Applicability,
    Callee,
    Const,
    Expr,
    Fix,
    Func,
    Held,
    Inst,
    Klass,
    Loader,
    Mod,
    Module,
    Project,
    Refused,
    Value,
)
from dllint_rules.pickling.analysis.owners import may_be_model
from dllint_rules.pickling.as_method import as_method
from dllint_rules.pickling.decorators import decorates, is_called, wrap
from dllint_rules.pickling.move_class import by_hand, fix_class
from dllint_rules.pickling.ready_made import (
    ReadyMade,
    body_of,
    existing_callable,
    is_builtin,
    is_identity,
    passed_on,
    pickles_by_name,
    ready_made_factory,
    taken_by,
    times_bound,
)
from dllint_rules.pickling.settled import settled_attributes
from dllint_rules.pickling.taken_along import local_capture
from dllint_rules.pickling.unpicklable import captured


def fix_factory(project: Project, func: Func) -> Fix | None:
    """A type in place of a shipped lambda that makes default values, else a function at module level."""
    ready = ready_made_factory(func.module.model, func.facts)
    if _makes_functions(func):
        why = "the values that it creates hold functions that pickle must also find"
        return replace(project, func, ready) if ready else by_hand("the lambda", why)
    return (replace(project, func, ready) if ready else None) or hoist_lambda(project, func)


def fix_argument(project: Project, func: Func) -> Fix | None:
    """What a lambda given to the loader only passes its argument to, else a function at module level."""
    model = func.module.model
    ready = existing_callable(model, func.facts) or _own_function(project, func) or taken_by(model, func.facts)
    if (
        ready is None
        and is_identity(func.facts)
        and is_builtin(model, "list", func.facts)
        and collates_lists(project, func)
    ):
        ready = ReadyMade("list")
    return (replace(project, func, ready) if ready else None) or hoist_lambda(project, func)


def fix_lambda(project: Project, func: Func) -> Fix | None:
    """What a shipped lambda only calls or takes out of its argument, else a function at module level."""
    model = func.module.model
    ready = existing_callable(model, func.facts) or _own_function(project, func) or taken_by(model, func.facts)
    fix = (replace(project, func, ready) if ready else None) or _own_method(project, func)
    return fix or hoist_lambda(project, func)


def fix_function(project: Project, func: Func, makes_defaults: bool = False) -> Fix | None:
    """A shipped local function moved to module level; what a decorator leaves behind gets the name it stands for."""
    name = f"`{func.facts.name}`"
    if makes_defaults and _makes_functions(func):
        return by_hand(name, "the values that it creates hold functions that pickle must also find")
    if not decorates(project, func.module, func.facts.parent):
        return hoist_function(project, func)
    if is_called(project, func.module, func.facts.parent):
        return by_hand(name, "the function around it is a decorator, and is also called")
    return wrap(project, func) or by_hand(name, "pickle cannot find what the decorator returns by name")


def fix_held(project: Project, held: Held) -> Fix | None:
    """A function that pickle finds by its name in place of a shipped one, or a class at module level.

    The fix is for a script: of a notebook, workers find nothing, at whatever level it is.
    """
    func, holder = held.value, held.holder
    if not isinstance(func, Func):
        return fix_class(project, held)
    if func.facts.kind != "lambda":
        return fix_function(project, func, holder.kind == "default_factory")
    if holder.kind == "default_factory":
        return fix_factory(project, func)
    to_loader = holder.kind == "argument" and holder.name not in ("dataset", "process")
    return fix_argument(project, func) if to_loader else fix_lambda(project, func)


def _makes_functions(func: Func) -> bool:
    """Whether there are functions inside a factory: the values that it makes are pickled, too, and may hold them."""
    return any(other.parent == func.index for other in func.module.model.functions)


def replace(project: Project, func: Func, ready: ReadyMade) -> Fix | None:
    """Something that exists in place of a lambda; None where a comment would be lost."""
    from dllint import fitted, in_quotes

    path, span = func.module.path, func.facts.span
    if "#" in project.text(path, span):
        return None
    text = in_quotes(project.source(path), ready.text)
    edits = fitted(project.source(path), span, text)
    return Fix(f"Use `{text}` instead of the lambda", edits, Applicability.SAFE, ready.imports)


def _own_function(project: Project, func: Func) -> ReadyMade | None:
    """The project's function that a lambda passes its arguments to, where it surely is one and the same."""
    called = passed_on(func.facts)
    known = called is not None and (_function_meant(project, func, called) or _is_of_class(project, func, called))
    return ReadyMade(called.dotted) if called is not None and known else None


def _is_of_class(project: Project, func: Func, called: Expr) -> bool:
    """Whether a lambda calls a static method or a class method of the project, which pickle finds by its class."""
    model = func.module.model
    if called.kind != "attribute" or called.args[0].kind != "name" or times_bound(model, called.args[0].name) != 1:
        return False
    values = project.values(called.args[0], project.evaluator.generic(func.module, func.index))
    if len(values) != 1 or not isinstance(values[0], Klass) or values[0].facts.parent >= 0:
        return False
    facts, module = values[0].facts, values[0].module
    known = module is not func.module or facts.span.end <= func.facts.span.start
    index = facts.methods.get(called.name, -1)
    how = [item.name for item in module.model.functions[index].decorators] if index >= 0 else []
    return known and how in (["staticmethod"], ["classmethod"]) and "." not in facts.qualname


def _function_meant(project: Project, func: Func, called: Expr) -> Func | None:
    """The module-level function that a lambda calls by its name, or by that of a module."""
    model = func.module.model
    root = called.dotted.partition(".")[0]
    if not root or times_bound(model, root) != 1:
        return None
    if called.kind == "attribute" and not all(isinstance(item, Mod) for item in _base_values(project, func, called)):
        return None
    values = project.values(called, project.evaluator.generic(func.module, func.index))
    if len(values) != 1 or not isinstance(values[0], Func):
        return None
    facts = values[0].facts
    if facts.kind != "def" or facts.parent >= 0 or facts.owner >= 0 or facts.block >= 0 or facts.decorators:
        return None
    known = values[0].module is not func.module or _is_defined(func, facts.span.end)
    return values[0] if known else None


def _is_defined(func: Func, end: int) -> bool:
    """Whether what a module defines down to an offset is there once the function around a lambda runs."""
    values = (event.value for event in func.module.events(-1) if func.facts.span.end <= event.start < end)
    calls = any(part.kind == "call" for value in values if value is not None for part in value.walk())
    return end <= func.facts.span.start or (func.facts.parent >= 0 and not calls)


def _base_values(project: Project, func: Func, called: Expr) -> tuple[Value, ...]:
    """What an attribute is taken from."""
    found = project.values(called.args[0], project.evaluator.generic(func.module, func.index))
    return tuple(found) or (Const(None),)


def _callee(project: Project, func: Func) -> Callee | None:
    """What a lambda calls, where pickle finds that by its name."""
    body = body_of(func.facts)
    if body is None or body.kind != "call" or not body.args[0].dotted:
        return None
    meant = _function_meant(project, func, body.args[0])
    if meant is not None:
        plain = (item.name for item in meant.facts.parameters if item.kind == "positional")
        return Callee(body.args[0].dotted, tuple(plain))
    known = pickles_by_name(func.module.model, body.args[0].dotted, func.facts.span.start)
    return Callee(body.args[0].dotted) if known else None


def _own_method(project: Project, func: Func) -> Fix | None:
    """`self.method` for `lambda x: self.method(x)`: the object goes along, as it did with the lambda."""
    called, module = passed_on(func.facts), func.module
    if called is None or called.kind != "attribute" or called.args[0].kind != "name":
        return None
    around = func.facts.parent
    owner = module.method_owner(around) if around >= 0 else -1
    own = owner >= 0 and called.args[0].name == module.receiver_name(around)
    if not own or called.name not in _methods(project, module, owner):
        return None
    fix = replace(project, func, ReadyMade(called.dotted))
    return fix and msgspec.structs.replace(fix, applicability=Applicability.UNSAFE)


def _methods(project: Project, module: Module, owner: int) -> set[str]:
    """The methods of a class that aren't properties."""
    mro = project.evaluator.classes.mro(project.evaluator.klass(module, owner))
    found = ((item.module.model.functions[index], name) for item in mro for name, index in item.facts.methods.items())
    return {name for facts, name in found if not facts.decorators}


def collates_lists(project: Project, func: Func) -> bool:
    """Whether every loader that is given this lambda calls it with lists: those that make batches of single items."""
    loaders = [loader for loader in project.loaders if _is_given(project, loader, func)]
    return bool(loaders) and all(_makes_batches(project, loader) for loader in loaders)


def _is_given(project: Project, loader: Loader, func: Func) -> bool:
    found = project.boundaries.argument(loader, "collate_fn")[0]
    return any(expr.kind == "lambda" and expr.ref == func.index and env.module is func.module for expr, env in found)


def _makes_batches(project: Project, loader: Loader) -> bool:
    sizes, _ = project.boundaries.argument(loader, "batch_size")
    values = [value for pair in sizes for value in project.values(*pair)]
    counted = all(isinstance(getattr(value, "value", None), int) for value in values)
    given = [value for pair in project.boundaries.argument(loader, "dataset")[0] for value in project.values(*pair)]
    own = any(isinstance(value, Inst) and "__getitems__" in value.klass.facts.methods for value in given)
    open_ended = any(key == "**" for key, _ in loader.call.keywords) or any(
        arg.kind == "star" for arg in loader.call.args
    )
    known = bool(values) and counted if sizes else not open_ended
    return loader.name == "DataLoader" and known and not own


def hoist_lambda(project: Project, func: Func, name: str = "") -> Fix:
    """A lambda moved to module level: unsafe, for from then on the module decides what its name means."""
    from dllint import hoist_with_helpers as hoist

    path, model = func.module.path, func.module.model
    callee = None if name else _callee(project, func)
    try:
        source, settled = project.source(path), settled_attributes(project, func)
        fix = hoist(source, project.tree(path), model, func.facts, name, callee, settled=settled)
    except Refused as refused:
        return by_hand("the lambda", refused)
    why = local_capture(project, func, fix)
    if why:
        return by_hand("the lambda", why)
    if any("partial(" in edit.text for edit in fix.edits) and _is_in_old_lambda(project, func):
        return by_hand("the lambda", "`Lambda` of this torchvision refuses partials: give `Compose` the partial itself")
    return msgspec.structs.replace(fix, applicability=Applicability.UNSAFE)


def _is_in_old_lambda(project: Project, func: Func) -> bool:
    """Whether `torchvision.transforms.Lambda` of an old release is given a lambda."""
    parts = (part for event in func.module.events(func.facts.parent) for part in event.walk() if part.kind == "call")
    given = any(
        part.args[0].name == "Lambda" and any(item.kind == "lambda" and item.ref == func.index for item in part.args)
        for part in parts
    )
    return given and project.targets.has_old_lambda(func.module.path)


def hoist_function(project: Project, func: Func) -> Fix:
    """A nested function moved to module level, with `functools.partial` for what it captures."""
    from dllint import hoist_with_helpers as hoist

    path, model = func.module.path, func.module.model
    taken = next((name for name in captured(func) if may_be_model(project, func, name)), "")
    if taken:
        why = f"with `functools.partial`, every worker would get the model `{taken}`: give it only what it uses of that"
        return by_hand(f"`{func.facts.name}`", why)
    try:
        source, settled = project.source(path), settled_attributes(project, func)
        fix = hoist(source, project.tree(path), model, func.facts, callee=_callee(project, func), settled=settled)
    except Refused as refused:
        return as_method(project, func) or by_hand(f"`{func.facts.name}`", refused)
    why = local_capture(project, func, fix)
    return by_hand(f"`{func.facts.name}`", why) if why else fix
