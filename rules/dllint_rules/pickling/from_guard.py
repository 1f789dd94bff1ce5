"""The fix of DLL107 for a function under the main guard: above it, with what it reads of the guard's block."""

from __future__ import annotations

from dllint import Applicability, Const, ExtInst, Fix, Func, Project, Refused, Seq, Value
from dllint_rules.pickling.move_class import by_hand

_SMALL = (
    *("builtins.int", "builtins.float", "builtins.str", "builtins.bool", "builtins.len", "builtins.max"),
    *("builtins.min", "builtins.round", "os.path.", "os.cpu_count", "os.getcwd", "pathlib.Path", "re.match()"),
    *("torch.device", "datetime."),
)
"""What makes values that pickle takes, and that cost nothing to send with each task."""
_OPTIONS = "argparse.ArgumentParser().parse_"


def above_guard(project: Project, func: Func) -> Fix:
    """The function above the guard; what to do, and the obstacle, if that is not certain to be right."""
    from dllint import guarded_function, hoist_guarded, lifted

    path, facts = func.module.path, func.facts
    source, tree, model = project.source(path), project.tree(path), func.module.model
    what, where = f"`{facts.name}`", "above the guard"
    edits = lifted(source, facts.span.start)
    if edits:
        return Fix(f"Move {what} above the main guard", edits, Applicability.UNSAFE)
    try:
        for name in guarded_function(source, tree, model, facts).variables:
            values = project.evaluator.names.global_name(func.module, name) or ()
            if not values or not all(_is_small(project, path, value) for value in values):
                return by_hand(what, f"`{name}`, which it reads, would be pickled with every task", where)
        return hoist_guarded(source, tree, model, facts)
    except Refused as refused:
        return by_hand(what, refused, where)


def _is_small(project: Project, path: str, value: Value) -> bool:
    """Whether a value is pickled, and costs nothing to send along."""
    match value:
        case Const():
            return True
        case ExtInst(name=name):
            options = name.startswith(_OPTIONS) and "FileType" not in project.source(path).text
            return options or name.startswith(_SMALL)
        case Seq(expr=expr) if expr.kind in ("list", "tuple"):
            return all(item.kind == "constant" for item in expr.args)
    return False
