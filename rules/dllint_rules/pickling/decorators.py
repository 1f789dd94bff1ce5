"""Functions that decorate: what they leave behind is found under the name of what they decorated, if they say so."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Edit, Expr, Fix, Func, Module, Project, Span


def decorates(project: Project, module: Module, function: int) -> bool:
    """Whether a function is used as a decorator anywhere in the project."""
    return any(
        isinstance(value, Func) and value.module is module and value.index == function
        for decorator, scope, place in _decorators(project, _names_around(module, function))
        for value in project.values(decorator, project.evaluator.generic(place, scope))
    )


def is_called(project: Project, module: Module, function: int) -> bool:
    """Whether a function is called by its name, too."""
    name = module.model.functions[function].name
    return any(
        isinstance(value, Func) and value.module is module and value.index == function
        for site in project.index.calls_named((name,))
        for value in project.values(site.expr.args[0], project.evaluator.generic(site.module, site.function))
    )


def _names_around(module: Module, function: int) -> set[str]:
    """The names of a function and of those around it: a decorator may be what a function returns."""
    names = set()
    while function >= 0:
        facts = module.model.functions[function]
        names.add(facts.name)
        function = facts.parent
    return names


def _decorators(project: Project, names: set[str]) -> Iterator[tuple[Expr, int, Module]]:
    """The decorators that mention one of the names, with their scope."""
    for module in project.index:
        scopes = [(item.decorators, item.parent) for item in module.model.functions]
        scopes += [(item.decorators, item.parent) for item in module.model.classes]
        for decorators, parent in scopes:
            for decorator in decorators:
                if any(part.name in names for part in decorator.walk()):
                    yield decorator, parent, module


def wrap(project: Project, func: Func) -> Fix | None:
    """`functools.wraps` on what a decorator leaves behind: it then goes by the name of what was decorated."""
    from dllint import reference

    model, facts = func.module.model, func.facts
    around = model.functions[facts.parent]
    first = around.parameters[0] if around.parameters else None
    if first is None or first.kind not in ("positional", "posonly") or around.owner >= 0 or facts.decorators:
        return None
    if first.name not in facts.loads or facts.kind != "def":
        return None
    start, source = facts.span.start, project.source(func.module.path)
    row, column = source.location(start)
    wraps, imports = reference(model, "functools", "wraps", start)
    text = f"@{wraps}({first.name}){source.newline}{source.line(row)[: column - 1]}"
    return Fix(
        f"Keep the name of what `{around.name}` decorates with `functools.wraps`",
        (Edit(source.path, Span(start, start), text),),
        Applicability.UNSAFE,
        imports,
    )
