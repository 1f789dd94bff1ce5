"""The fix of DLL606: torch's own seed for the worker, plus what else the seed is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint import Applicability, Edit, Env, Event, Expr, Fix, Import, Loader, Project, Span, reference
from dllint_rules.correctness.analysis.reseeding import RANK, Reseed, Reseeding, Seeding

_PROSE = re.compile(r"(?m:^[ \t]*#.*$)|(?<=:\n)\s*[rR]?(?P<mark>\"\"\"|''')[\s\S]*?(?P=mark)")
"""Comments that have a line each, and docstrings."""
_MARGIN = re.compile(r"[ \t]*(?:#[ \t]*)?")
_CUTS = {"%", "&"}
_TIGHT = {"*", "/", "//", "%", "**", "@"}
"""Operators that bind closer than an addition."""


def fix_seed(project: Project, loader: Loader, reseed: Reseed) -> Fix | None:
    """A seed that differs between epochs, or one that NumPy takes; not in a helper, which may seed elsewhere too."""
    if reseed.running.route:
        where = reseed.running.env.facts.name
        title = f"Pass another seed; `{where}` uses the seed that it gets, and other code may call it"
        return Fix(title, (), Applicability.MANUAL)
    path = reseed.running.path
    if reseed.what is Seeding.TOO_LARGE:
        text = project.text(path, reseed.seed.span)
        text = f"({text})" if reseed.seed.kind in ("binop", "ifexp") else text
        edit = Edit(path, reseed.seed.span, f"{text} % 2**32")
        return Fix("Take the seed modulo 2**32", (edit,), Applicability.SAFE)
    every = project.analysis(Reseeding).reseeds(loader)
    own = [other for other in every if not other.running.route and other.what is not Seeding.TOO_LARGE]
    elsewhere = _called_elsewhere(project, reseed.running.env)
    if elsewhere:
        title = f"Pass `worker_init_fn` a function of its own; `{reseed.running.env.facts.name}` also {elsewhere}"
        return Fix.manual(title, _of_its_own(project, own))
    edits: dict[Edit, None] = {}
    wanted: dict[Import, None] = {}
    for other in own:
        changed, imports = _seeded(project, other)
        edits |= dict.fromkeys(changed)
        wanted |= dict.fromkeys(imports)
    return Fix("Seed with what torch gives the worker", tuple(edits), Applicability.UNSAFE, tuple(wanted))


def _called_elsewhere(project: Project, env: Env) -> str:
    """Where code that no worker runs calls a function, in words: there, a program's own seed makes runs repeatable."""
    in_workers = {running.function for running in project.running}
    for site, _ in project.evaluator.call_sites.callers(env.module, env.function):
        path = site.module.path
        if (path, site.function) not in in_workers:
            return f"seeds where {path}:{project.source(path).place(site.expr.start)} calls it"
    return ""


def _of_its_own(project: Project, reseeds: list[Reseed]) -> str:
    """A function for the workers alone; torch has seeded its own generator there."""
    called = [
        project.text(item.running.path, item.call.args[0].span) for item in reseeds if "torch" not in item.libraries
    ]
    lines = [f"    {name}(torch.initial_seed() % 2**32)" for name in dict.fromkeys(called)]
    return "\n".join(["def seed_worker(worker_id):", *lines]) if lines else ""


def _seeded(project: Project, reseed: Reseed) -> tuple[tuple[Edit, ...], tuple[Import, ...]]:
    """The seed of one call, or the value of the local variable that it is.

    torch's seed goes to the place of the worker's number, which it has in it, in comments too.
    """
    env = reseed.running.env
    path = env.module.path
    seed = _assigned(env, reseed.seed) or reseed.seed
    written, imports = reference(env.module.model, "torch", "initial_seed", seed.start, later=env.function >= 0)
    beside = _import_beside_others(project, env, seed) if imports else ()
    if beside:
        written, imports = "torch.initial_seed", ()
    several = seed.kind in ("list", "tuple")
    terms = list(seed.args if several else _terms(seed))
    silent = [term for term in terms if _says_nothing(project, env, term)]
    kept = [term for term in terms if term not in silent]
    at = sum(term.start < silent[0].start for term in kept) if silent else len(kept)
    own = f"{written}()"
    new = {_worker(env): own}
    if several and kept:
        texts = [project.text(path, term.span) for term in kept]
        total = f"[{', '.join([*texts[:at], f'{own} % 2**32', *texts[at:]])}]"
    else:
        ranks = [term for term in kept if _is_rank(project, env, term)]
        many, more = _workers(env, seed, written) if ranks else ("", ())
        imports = (*imports, *more)
        texts = [f"{many} * " * (term in ranks) + _as_term(project, env, term) for term in kept]
        total = " + ".join([*texts[:at], own, *texts[at:]])
        total = f"({total}) % 2**32" if kept else f"{total} % 2**32"
        new |= {term.name: f"num_workers * {term.name}" for term in ranks if term.kind == "name"}
    said = _said_of_seed(project, env, seed.start, new) if kept else ()
    return (*beside, Edit(path, seed.span, total), *said), imports


def _workers(env: Env, seed: Expr, seeded: str) -> tuple[str, tuple[Import, ...]]:
    """The number of workers, by which ranks must differ: torch's seeds of a process differ by the worker's number.

    `seeded`: how the file calls `torch.initial_seed`.
    """
    name = "get_worker_info"
    written, imports = reference(env.module.model, "torch.utils.data", name, seed.start, later=env.function >= 0)
    torch = seeded.rpartition(".")[0]
    if imports and torch:
        written, imports = f"{torch}.utils.data.{name}", ()
    return f"{written}().num_workers", imports


def _import_beside_others(project: Project, env: Env, seed: Expr) -> tuple[Edit, ...]:
    """torch, imported in a function that has imports of its own, of a file that imports it in functions alone.

    Such files import it late on purpose: CUDA_VISIBLE_DEVICES is set before.
    """
    late = {item.function for item in env.module.model.imports if item.module.partition(".")[0] == "torch"}
    events = env.facts.events if env.function >= 0 and late and -1 not in late else ()
    own = [event for event in events if event.kind == "import" and event.block < 0 and event.end < seed.start]
    if not own or "torch" in env.facts.bound:
        return ()
    source, end = project.source(env.module.path), own[-1].end
    row = source.row_span(source.location(own[-1].start)[0])
    margin = source.text[row.start : own[-1].start]
    if margin.strip():
        return ()  # more statements in its line
    return (Edit(env.module.path, Span(end, end), f"{source.newline}{margin}import torch"),)


def _said_of_seed(project: Project, env: Env, end: int, new: dict[str, str]) -> Iterator[Edit]:
    """The worker's number as a term of a sum, in the comments and the docstring of a function above its seed.

    `new`: what takes the place of it, and of the other terms of the sum that change.
    """
    path, worker = env.module.path, _worker(env)
    start = env.facts.span.start if env.function >= 0 else end
    source = project.source(path)
    for prose in _PROSE.finditer(source.text, start, end) if worker else ():
        for row in range(source.location(prose.start())[0], source.location(prose.end())[0] + 1):
            span = source.row_span(row)
            line = source.text[span.start : span.end]
            if _in_sum(worker).search(line):
                for name, text in new.items():
                    line = _in_sum(name).sub(text, line)
                yield Edit(path, span, _wrapped(line, source.width, source.newline))


def _in_sum(name: str) -> re.Pattern[str]:
    """A name as a term of a sum, not as the last factor of one."""
    return re.compile(rf"(?<=\+ )\b{name}\b|(?<!\* )\b{name}\b(?= \+)")


def _wrapped(line: str, width: int, newline: str) -> str:
    """A line of prose, in two where it is longer than the project wants it."""
    at = line.rfind(" ", 0, width + 1) if 0 < width < len(line) else -1
    margin = _MARGIN.match(line)
    if margin is None or at <= margin.end():
        return line
    return f"{line[:at]}{newline}{margin[0]}{line[at + 1 :]}"


def _assigned(env: Env, seed: Expr) -> Expr | None:
    """What the only assignment of a local variable gives it."""
    if seed.kind != "name" or env.function < 0 or any(item.name == seed.name for item in env.facts.parameters):
        return None
    bound = [event for event in env.facts.events if _binds(event, seed.name)]
    only = bound[0] if len(bound) == 1 and bound[0].kind == "assign" and bound[0].block < 0 else None
    plain = only is not None and only.target is not None and only.target.kind == "name"
    return only.value if only is not None and plain and only.start < seed.start else None


def _binds(event: Event, name: str) -> bool:
    return name in event.names or (event.target is not None and any(part.name == name for part in event.target.walk()))


def _terms(seed: Expr) -> list[Expr]:
    """What a sum adds up, without a modulo around it."""
    if seed.kind == "binop" and seed.name in _CUTS and seed.args[1].kind in ("constant", "binop"):
        return _terms(seed.args[0])
    if seed.kind == "binop" and seed.name == "+":
        return [*_terms(seed.args[0]), *_terms(seed.args[1])]
    return [seed]


def _says_nothing(project: Project, env: Env, term: Expr) -> bool:
    """Whether torch's seed has a term already: the number of the worker; or it is the same wherever it runs.

    After torch has seeded NumPy in a worker, the first word of its state is one and the same number.
    """
    if term.kind == "constant" or (term.kind == "name" and term.name == _worker(env)):
        return True
    if term.kind == "attribute":
        return term.name == "id" and _calls(project, env, term.args[0], "get_worker_info")
    if term.kind == "binop" and term.name in ("*", "<<"):
        return all(_says_nothing(project, env, factor) for factor in term.args)
    return term.kind == "subscript" and any(_calls(project, env, part, "get_state") for part in term.walk())


def _is_rank(project: Project, env: Env, term: Expr) -> bool:
    """Whether a term counts processes one by one: `rank`, `int(os.environ["RANK"])`, or what `get_rank()` gave.

    One that is multiplied leaves room for the workers already.
    """
    if term.kind == "call":
        return any(_is_rank(project, env, part) for part in term.args)
    said = term.args[1].value if term.kind == "subscript" else term.name or term.value
    named = isinstance(said, str) and term.kind != "binop" and RANK.search(said)
    return bool(named) or _calls(project, env, term, "get_rank")


def _calls(project: Project, env: Env, expr: Expr, name: str) -> bool:
    values = project.values(expr, env)
    return bool(values) and all(getattr(value, "name", "").rpartition(".")[2] == name for value in values)


def _worker(env: Env) -> str:
    """The parameter that the loader fills with the number of the worker."""
    parameters = env.facts.parameters[env.receiver is not None :]
    if env.call is None:
        return next((item.name for item in parameters), "")
    given = len(env.call.args) - 2
    named = {key for key, _ in env.call.keywords}
    return next((item.name for item in parameters[max(given, 0) :] if item.name not in named), "")


def _as_term(project: Project, env: Env, term: Expr) -> str:
    text = project.text(env.module.path, term.span)
    loose = term.kind in ("ifexp", "compare", "boolop", "lambda") or (term.kind == "binop" and term.name not in _TIGHT)
    return f"({text})" if loose else text
