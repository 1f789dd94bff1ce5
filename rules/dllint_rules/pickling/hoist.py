"""The fixes of the pickling rules: a name that pickle can find, for a function that had none."""

from __future__ import annotations

import msgspec

from dllint import Applicability, Callee, Edit, Expr, Finding, Fix, Func, Held, Inst, Loader, Module, Project, Refused
from dllint_rules.pickling.decorators import decorates, is_called, wrap
from dllint_rules.pickling.move_class import OUT_OF_NOTEBOOK, by_hand
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


def fix_factory(finding: Finding, project: Project) -> Fix | None:
    """A type in place of a shipped lambda that makes default values, else a function at module level."""
    func = shipped(finding)
    ready = ready_made_factory(func.module.model, func.facts)
    if _makes_functions(func):
        why = "the values that it makes hold functions, which pickle must find, too"
        return replace(project, func, ready) if ready else by_hand("the lambda", why)
    return (replace(project, func, ready) if ready else None) or hoist_lambda(project, func)


def fix_argument(finding: Finding, project: Project) -> Fix | None:
    """What a lambda given to the loader only passes its argument to, else a function at module level."""
    func = shipped(finding)
    model = func.module.model
    ready = existing_callable(model, func.facts) or _own_function(project, func) or taken_by(model, func.facts)
    if ready is None and is_identity(func.facts) and is_builtin(model, "list") and collates_lists(project, func):
        ready = ReadyMade("list")
    return (replace(project, func, ready) if ready else None) or hoist_lambda(project, func)


def fix_lambda(finding: Finding, project: Project) -> Fix | None:
    """What a shipped lambda only calls or takes out of its argument, else a function at module level."""
    func = shipped(finding)
    model = func.module.model
    ready = existing_callable(model, func.facts) or _own_function(project, func) or taken_by(model, func.facts)
    fix = (replace(project, func, ready) if ready else None) or _own_method(project, func)
    return fix or hoist_lambda(project, func)


def fix_function(finding: Finding, project: Project) -> Fix | None:
    """A shipped local function moved to module level; what a decorator leaves behind gets the name it stands for."""
    func = shipped(finding)
    name = f"`{func.facts.name}`"
    if finding.data.holder.kind == "default_factory" and _makes_functions(func):
        return by_hand(name, "the values that it makes hold functions, which pickle must find, too")
    if not decorates(project, func.module, func.facts.parent):
        return hoist_function(project, func)
    if is_called(project, func.module, func.facts.parent):
        return by_hand(name, "the function around it decorates, and is called as well")
    return wrap(project, func) or by_hand(name, "what the decorator leaves behind has no name that pickle finds")


def fix_target(finding: Finding, project: Project) -> Fix | None:
    """A function at module level in place of the one that a process or a pool is sent; none for one under the guard."""
    func = shipped(finding)
    if func.facts.kind == "lambda":
        return fix_lambda(finding, project)
    if func.facts.parent >= 0:
        return fix_function(finding, project)
    return by_hand(f"`{func.facts.name}`", "what it needs of the guard must come along", "above the guard")


def _makes_functions(func: Func) -> bool:
    """Whether there are functions inside a factory: the values that it makes are pickled, too, and may hold them."""
    return any(other.parent == func.index for other in func.module.model.functions)


def shipped(finding: Finding) -> Func:
    """The function that a finding is about."""
    held = finding.data
    assert isinstance(held, Held)
    assert isinstance(held.value, Func)
    return held.value


def replace(project: Project, func: Func, ready: ReadyMade) -> Fix | None:
    """Something that exists in place of a lambda; None where a comment would be lost."""
    path, span = func.module.path, func.facts.span
    if "#" in project.text(path, span):
        return None
    edit = Edit(path, span, ready.text)
    return Fix(f"Use `{ready.text}` instead of the lambda", (edit,), Applicability.SAFE, ready.imports)


def _own_function(project: Project, func: Func) -> ReadyMade | None:
    """The project's function that a lambda passes its arguments to, where it surely is one and the same."""
    called = passed_on(func.facts)
    return ReadyMade(called.name) if called is not None and _function_meant(project, func, called) else None


def _function_meant(project: Project, func: Func, called: Expr) -> Func | None:
    """The module-level function that a lambda calls by its name."""
    model = func.module.model
    if called.kind != "name" or times_bound(model, called.name) != 1:
        return None
    values = project.values(called, project.evaluator.generic(func.module, func.index))
    if len(values) != 1 or not isinstance(values[0], Func):
        return None
    facts = values[0].facts
    if facts.kind != "def" or facts.parent >= 0 or facts.owner >= 0 or facts.block >= 0 or facts.decorators:
        return None
    known = values[0].module is not func.module or facts.span.end <= func.facts.span.start
    return values[0] if known else None


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
    """The methods of a class that are no properties."""
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

    if func.module.notebook:
        return OUT_OF_NOTEBOOK
    path, model = func.module.path, func.module.model
    callee = None if name else _callee(project, func)
    try:
        fix = hoist(project.source(path), project.tree(path), model, func.facts, name, callee)
    except Refused as refused:
        return by_hand("the lambda", refused)
    return msgspec.structs.replace(fix, applicability=Applicability.UNSAFE)


def hoist_function(project: Project, func: Func) -> Fix:
    """A nested function moved to module level, with `functools.partial` for what it captures."""
    from dllint import hoist_function as hoist

    if func.module.notebook:
        return OUT_OF_NOTEBOOK
    path = func.module.path
    try:
        return hoist(project.source(path), project.tree(path), func.module.model, func.facts)
    except Refused as refused:
        return by_hand(f"`{func.facts.name}`", refused)
