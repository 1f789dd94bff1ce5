"""The fix that moves a function defined in a function to module level."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Collection, Iterator, Sequence

from dllint.fix import Applicability, Edit, Fix, Import, apply
from dllint.model.facts import Function, ModuleModel
from dllint.source import Source, Span
from dllint.syntax.captures import Captures, captures
from dllint.syntax.definition import insertion, with_captured
from dllint.syntax.fitted import fitted
from dllint.syntax.hoist import filled_in
from dllint.syntax.layout import indent_at
from dllint.syntax.module_names import ModuleNames
from dllint.syntax.names import free_name, reference
from dllint.syntax.nested import (
    annotations_wait,
    dedented,
    end_of,
    has_attributes,
    known_above,
    name_is_free,
    rows,
)
from dllint.syntax.outline import Offsets, Outline, outline
from dllint.syntax.own_text import Kept, calling_itself, hold_still, without_kept
from dllint.syntax.owner import is_owner, without_owner
from dllint.syntax.parse import Tree
from dllint.syntax.partials import Callee, Filled, parameters_for, passed_along, reads_parts
from dllint.syntax.refused import Refused, unfaithful
from dllint.syntax.removal import imports_left_behind, rows_of
from dllint.syntax.scoping import binder, bindings
from dllint.syntax.suggest import function_name, told_apart
from dllint.syntax.width import folded
from dllint.syntax.write import insertion_point

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES_AND_LOOPS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.comprehension, ast.JoinedStr),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.For, ast.AsyncFor, ast.While),
)

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.GeneratorExp, ast.comprehension)


def hoist_function(
    source: Source,
    tree: Tree,
    model: ModuleModel,
    function: Function,
    callee: Callee | None = None,
    own: Collection[str] = (),
    moved: Collection[str] = (),
    settled: Collection[str] = (),
) -> Fix:
    """Move a nested function to module level. Raises Refused where that would not mean the same.

    Without captures it keeps its name if that is free there. Else its only use is replaced by its new name, or by a
    `functools.partial` that fills in the captured variables; with more uses, the old name becomes a variable for that.
    `callee` is what it calls, where a `functools.partial` of that will do; what is in `own` moves along under its name,
    what is in `moved` stays a variable; what is in `settled` are attributes of the object around that stay what they
    are.
    """
    seen = outline(source.text)
    node = seen.function_at(function.span.start) if seen else None
    if seen is None or not isinstance(node, Definition):
        raise Refused("this file is written for another Python")
    if not tree.faithful:
        raise Refused(unfaithful(source))
    if node.decorator_list:
        raise Refused("what its decorator makes of it must be found by its name, too")
    parent = next(
        (above for above, _ in seen.path(node) if isinstance(above, (*Definition.__args__, ast.Lambda))), None
    )
    lines = rows(source, seen, node)
    code = dedented(source, lines, indent_at(source, function.span.start))
    if parent is None or not code:
        raise Refused("its lines cannot be moved")
    taken = captures(seen, ModuleNames(seen, model), node, code, {node.name, *own}, moved, settled)
    kept = without_kept(seen, node, code)
    if not parts_known(source, tree, seen, node):
        raise Refused("its annotations use names that only the function around it has")
    if has_attributes(parent, node.name):
        raise Refused("attributes are set on it, and every call creates it again")
    code, filled = _without_owners(seen, node, kept.code, taken.variables)
    parameters = [item.parameter for item in filled]
    given = [*(item.value for item in filled), *kept.given]
    keeps_name = not given and name_is_free(model, parent, node, node.name, function.parent)
    start, end = source.line_starts[lines[0] - 1], end_of(source, lines[1])
    opens = getattr(*seen.parents[node])[0] is node
    typed: tuple[Import, ...] = ()
    along = _passed_along(seen, node, callee, code, taken)
    sent = None if along or not given or kept.given else _sent(seen, parent, node, kept, given)
    use = None if keeps_name else sent or only_use(seen, parent, node, kept)
    if along and callee is not None:
        name, text = "", ""
        call, imports = filled_in(model, callee.dotted, along, function.span.start)
        use = use or only_use(seen, parent, node, kept)
    else:
        name = node.name if keeps_name else _new_name(model, parent, node, function, use is not None)
        called, needed = _callable(model, function.span.start)
        captured = annotated(source, tree, seen, node, parameters, called)
        code = calling_itself(seen, node, kept._replace(code=code), name, parameters) if name != node.name else code
        text = with_imports(source, node, code, name, taken, captured, lines[0]) or ""
        call, imports = filled_in(model, name, given, function.span.start)
        if not text:
            raise Refused("it has type parameters, or is on one line")
        typed = needed if any(item.endswith(": Callable") for item in captured) else ()
    display = _arguments_of_process(seen, sent)
    if sent is not None:
        call, imports = name if display is not None else f"{name}, args={_tuple(given)}", ()
    keeps_name = keeps_name and bool(text)
    at = seen.offsets.span(use) if use else None
    gone = keeps_name or use is not None
    indent = indent_at(source, function.span.start)
    left = "" if gone else f"{indent}{folded(source, f'{node.name} = {call}', indent, len(indent))}{source.newline}"
    edits = (
        *(insertion(source, tree, function.span.start, text, bool(imports)) if text else ()),
        Edit(source.path, rows_of(source, lines, opens) if gone else Span(start, end), left),
        *(_sending(source, seen, use, call, display, given) if sent and use else ()),
        *(fitted(source, Span(*at), call) if at and not sent else ()),
        *(imports_left_behind(source, seen, node) if taken.imports else ()),
    )
    title = f"Move `{node.name}` to module level" + ("" if name == node.name else f" as `{name}`")
    title = title if text else f"Use `{call}` instead of `{node.name}`"
    return Fix(title, edits, Applicability.UNSAFE, (*imports, *typed), defines=(name,) if name else ())


def _sent(seen: Outline, parent: ast.AST, node: Definition, kept: Kept, given: Sequence[str]) -> ast.Name | None:
    """The only use of a function, as the target of a process that may be given more arguments in front of its own."""
    use = only_use(seen, parent, node, kept, _LOOPS)
    call = [step for step, _ in seen.path(use)][1] if use is not None else None
    if use is None or not isinstance(call, ast.Call) or call.args or not _is_process(call):
        return None
    names = {item.arg: item.value for item in call.keywords}
    targets = (step.generators for step, _ in seen.path(use) if isinstance(step, (ast.ListComp, ast.GeneratorExp)))
    own = {part.id for item in targets for one in item for part in ast.walk(one.target) if isinstance(part, ast.Name)}
    known = "args" not in names or _arguments_of_process(seen, use) is not None
    plain = names.get("target") is use and None not in names and known
    return use if plain and own.isdisjoint(value.partition(".")[0] for value in given) else None


def _is_process(call: ast.Call) -> bool:
    return (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")) == "Process"


def _arguments_of_process(seen: Outline, use: ast.Name | None) -> ast.Tuple | ast.List | None:
    """The display that begins what a process gives the function that is its target; None if there is none."""
    call = [step for step, _ in seen.path(use)][1] if use is not None else None
    keywords = call.keywords if isinstance(call, ast.Call) else ()
    given = next((item.value for item in keywords if item.arg == "args"), None)
    while isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
        given = given.left
    return given if isinstance(given, ast.Tuple | ast.List) else None


def _tuple(values: Sequence[str]) -> str:
    return f"({', '.join(values)}{',' * (len(values) == 1)})"


def _sending(
    source: Source,
    seen: Outline,
    use: ast.Name,
    call: str,
    display: ast.Tuple | ast.List | None,
    given: Sequence[str],
) -> Iterator[Edit]:
    """The edits that have a process call a function with some values in front of those that it gives it already."""
    keyword, whole = [step for step, _ in seen.path(use)][:2]
    start, end = seen.offsets.span(whole)  # type: ignore[arg-type]
    margin = source.line(use.lineno)[: keyword.col_offset]  # type: ignore[attr-defined]
    on_one_line = source.newline not in source.text[start:end]
    if display is None and not on_one_line and not margin.strip():
        call = call.replace(", ", f",{source.newline}{margin}", 1)
    edits = [Edit(source.path, Span(*seen.offsets.span(use)), call)]
    edits += _with_first(source, seen, display, given) if display is not None else ()
    if on_one_line:
        yield from fitted(source, Span(start, end), apply(source.text[:end], edits)[start:])
    else:
        yield from edits


def _with_first(source: Source, seen: Outline, display: ast.Tuple | ast.List, values: Sequence[str]) -> Iterator[Edit]:
    """The edits that put some values in front of those of a display; a tuple of one has a comma that goes."""
    start, end = seen.offsets.span(display)
    is_tuple = isinstance(display, ast.Tuple)
    comma = ", " if display.elts else "," * (is_tuple and len(values) == 1)
    yield Edit(source.path, Span(start + 1, start + 1), ", ".join(values) + comma)
    if is_tuple and len(display.elts) == 1 and source.text[end - 2 : end] == ",)":
        yield Edit(source.path, Span(end - 2, end - 1), "")


def _without_owners(
    seen: Outline, node: Definition, code: str, variables: Sequence[str]
) -> tuple[str, tuple[Filled, ...]]:
    """The text of a function with parameters in place of what it reads of an object, and what is filled in for all."""
    filled: list[Filled] = []
    for name in variables:
        if is_owner(seen, binder(seen, node, name), name):
            named = parameters_for(seen, node, name, variables)
            filled += [Filled(parameter, f"{name}.{attribute}") for attribute, parameter in named.items()]
            code = without_owner(seen, node, name, code, named)
        else:
            filled.append(Filled(name, name))
    return code, tuple(filled)


def _passed_along(
    seen: Outline, node: Definition, callee: Callee | None, code: str, taken: Captures
) -> list[str] | None:
    """The arguments of a `functools.partial` of what a function only calls."""
    if callee is None or not isinstance(node, ast.FunctionDef) or "#" in code or taken.imports:
        return None
    return None if reads_parts(seen, node, taken.variables) else passed_along(seen, node, callee)


def _new_name(model: ModuleModel, parent: ast.AST, node: Definition, function: Function, gone: bool) -> str:
    """A name at module level: its own where that says something, is private, and is used by nothing else."""
    wanted = named_for(node, parent)
    own = wanted == node.name and gone and name_is_free(model, parent, node, wanted, function.parent)
    return wanted if own else free_name(model, wanted, *told_apart(wanted, _name_of(parent)))


def named_for(node: Definition, parent: ast.AST) -> str:
    """A name for a nested function outside of the function around it."""
    return function_name(node.name, _name_of(parent))


def _name_of(parent: ast.AST) -> str:
    """The name of the function around, if that says what it is for: `__init__` does not."""
    name = getattr(parent, "name", "")
    return "" if name.startswith("__") else name


def only_use(
    seen: Outline, parent: ast.AST, node: Definition, kept: Kept, through: tuple[type, ...] = ()
) -> ast.Name | None:
    """The one place where a function is used, if what stands in for it can be written there instead of its name.

    `through`: what it may be in, though that evaluates it more than once.
    """
    own = set(ast.walk(node))
    found = [part for part in ast.walk(parent) if isinstance(part, ast.Name) and part.id == node.name]
    found = [part for part in found if part not in own]
    if len(found) != 1 or bindings(parent).get(node.name) != [node] or not isinstance(found[0].ctx, ast.Load):
        return None
    above, field = seen.parents[node]
    before = {step for step, _ in seen.path(node)}
    between = [step for step, _ in seen.path(found[0]) if step not in before]
    plain = not any(isinstance(step, _SCOPES_AND_LOOPS) and not isinstance(step, through) for step in between)
    later = seen.offsets.span(found[0])[0] > seen.offsets.span(node)[1]
    still = hold_still(seen, parent, node, found[0], kept.values)
    return found[0] if plain and later and still and len(getattr(above, field)) > 1 else None


def parts_known(source: Source, tree: Tree, seen: Outline, node: Definition) -> bool:
    """Whether its annotations can be evaluated at module level, where the function goes."""
    if annotations_wait(seen):
        return True
    known = known_above(seen, insertion_point(source, tree, seen.offsets.span(node)[0]))
    given = [part.annotation for part in ast.walk(node.args) if isinstance(part, ast.arg) and part.annotation]
    parts = [part for root in [*given, *([node.returns] if node.returns else [])] for part in ast.walk(root)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names <= known and all(binder(seen, node, name) is None for name in names)


def annotated(
    source: Source, tree: Tree, seen: Outline, node: Definition, variables: Sequence[str], called: str = ""
) -> list[str]:
    """Captured variables as parameters, with the annotations that they have in the function around.

    They go where the function's own parameters have some, and where they mean the same. `called` is that of a variable
    without one that is only called.
    """
    own = [part for part in ast.walk(node.args) if isinstance(part, ast.arg)]
    if not all(part.annotation for part in own) or not (own or node.returns):
        return list(variables)
    known = known_above(seen, insertion_point(source, tree, seen.offsets.span(node)[0]))
    return [_with_annotation(seen, node, name, known, called) for name in variables]


def _with_annotation(seen: Outline, node: Definition, name: str, known: set[str], called: str) -> str:
    scope = binder(seen, node, name)
    arguments = getattr(scope, "args", None)
    found = ast.walk(arguments) if isinstance(arguments, ast.arguments) else ()
    statements = [seen.statement(part) for part in bindings(scope).get(name, ())] if scope is not None else []
    written = [part.annotation for part in found if isinstance(part, ast.arg) and part.arg == name]
    written += [item.annotation for item in statements if isinstance(item, ast.AnnAssign)]
    given = next((item for item in written if item is not None), None)
    if given is None:
        uses = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == name]
        only_called = bool(uses) and all(seen.parents[part][1] == "func" for part in uses)
        return f"{name}: {called}" if called and only_called else name
    if not {part.id for part in ast.walk(given) if isinstance(part, ast.Name)} <= known:
        return name
    start, end = seen.offsets.span(given)
    return f"{name}: {' '.join(seen.offsets.text[start:end].split())}"


def _callable(model: ModuleModel, use: int) -> tuple[str, tuple[Import, ...]]:
    """`Callable`, with the import that it needs, where the module imports such names; "" where it does not."""
    found = [item for item in model.imports if item.attribute and item.module in ("collections.abc", "typing")]
    for _, module in sorted((item.attribute != "Callable", item.module) for item in found):
        written, imports = reference(model, module, "Callable", use)
        if written == "Callable":
            return written, imports
    return "", ()


def with_imports(
    source: Source, node: Definition, code: str, name: str, taken: Captures, captured: Sequence[str], first: int
) -> str | None:
    """The function's text under its new name, with the captured variables and imports."""
    if not taken.imports:
        return renamed_with(source, code, name, node, captured)
    docstring = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    at = node.body[1] if docstring and len(node.body) > 1 else node.body[0]
    if at.lineno == node.lineno:
        return None
    row = min([at.lineno, *(item.lineno for item in getattr(at, "decorator_list", ()))]) - first
    start = Offsets(code).starts[row]
    margin = re.match(r"[ \t]*", code[start:])[0]  # type: ignore[index]
    lines = "".join(f"{margin}{statement}{source.newline}" for statement in taken.imports)
    lines += "" if isinstance(at, (ast.Import, ast.ImportFrom)) else source.newline
    return renamed_with(source, code[:start] + lines + code[start:], name, node, captured)


def renamed_with(source: Source, code: str, name: str, node: Definition, captured: Sequence[str]) -> str | None:
    """A function's text, which begins a line, under another name and with more parameters in front; None if odd."""
    starts = Offsets(code).starts
    tokens = list(tokenize.generate_tokens(io.StringIO(code, newline="").readline))
    index = next(index for index, token in enumerate(tokens) if token.string == "def") + 1
    old, bracket = tokens[index], tokens[index + 1]
    if bracket.string != "(":  # type parameters
        return None
    begin, end = (starts[row - 1] + column for row, column in (old.start, old.end))
    inside = starts[bracket.end[0] - 1] + bracket.end[1]
    has_own = any(isinstance(part, ast.arg) for part in ast.walk(node.args))
    front = with_captured(node.args, captured, "§" if has_own else "").removesuffix("§")
    broken = re.match(r"[ \t]*(?:\r\n|\n|\r)[ \t]*", code[inside:])
    front = f"{broken[0]}{front.rstrip()}" if broken else front
    line = starts[old.start[0] - 1]
    text = name + code[end:inside] + (front if captured else "") + code[inside:]
    return code[:line] + folded(source, code[line:begin] + text)
