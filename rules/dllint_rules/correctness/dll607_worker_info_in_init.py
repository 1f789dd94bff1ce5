"""DLL607: `get_worker_info()` is asked for while a dataset or a part of it is made, in the main process: it is None."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    ALL_METHODS,
    Applicability,
    Certainty,
    Env,
    Expr,
    Ext,
    Finding,
    Fix,
    Held,
    Inst,
    Project,
    Rule,
    Workers,
)

_NAMES = frozenset({
    "torch.utils.data.get_worker_info", "torch.utils.data._utils.worker.get_worker_info",
})  # fmt: skip


class WorkerInfoInInit(Rule):
    """What `__init__` remembers of it says that there are no workers, and so every worker does the work of all."""

    code = "DLL607"
    name = "worker-info-in-init"
    summary = "`get_worker_info()` is called in `__init__` of a dataset, where it is always None"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for held in project.shipped:
            sent = held.holder.name == "dataset" or (held.loader is not None and not held.assumed)
            if not isinstance(held.value, Inst) or not sent:
                continue
            # Whoever asks for the worker means to have some.
            if held.loader is not None and held.loader.workers is Workers.NONE:
                continue
            for call, env in _asked_in_init(project, held.value):
                if (env.module.path, call.span) not in seen:
                    seen.add((env.module.path, call.span))
                    yield self._finding(project, held, call, env)

    def _finding(self, project: Project, held: Held, call: Expr, env: Env) -> Finding:
        loader = held.loader
        return Finding(
            code=self.code,
            path=env.module.path,
            span=call.span,
            message="`get_worker_info()` is None in `__init__`, which runs in the main process, so every worker "
            "assumes that it is the only one; call it in `__iter__` or `__getitem__`",
            certainty=held.surely if loader is not None else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(project.failing(held, ALL_METHODS)), "corrupt"),
            notes=held.route,
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{env.module.path}:{env.facts.qualname}",
            data=(call, env),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        call, env = finding.data
        name = _kept_as(call, env)
        if not name:
            why_not = f"`{env.facts.qualname}` already uses the result, or other code sets it"
            return Fix.manual(f"Ask in `__iter__` or `__getitem__`; {why_not}")
        asked = project.text(finding.path, call.span)
        snippet = f"@property\ndef {name}(self):\n    return {asked}"
        title = f"Call it where it is used: `{name}` as a property, and no assignment in `__init__`"
        return Fix(title, (), Applicability.MANUAL, snippet=snippet)


def _kept_as(call: Expr, env: Env) -> str:
    """The attribute that keeps the answer as it is; "" where `__init__` already works with it, or others write it."""
    receiver = env.module.receiver_name(env.function)
    written = next((event for event in env.facts.events if event.kind == "assign" and event.value is call), None)
    target = written.target if written is not None else None
    if target is None or target.kind != "attribute" or target.args[0].name != receiver or env.facts.name != "__init__":
        return ""
    reads = [part for event in env.facts.events for part in event.walk() if part.dotted == target.dotted]
    writes = env.module.attribute_writes.get(target.name, ())
    return target.name if len(reads) == 1 and len(writes) == 1 else ""


def _asked_in_init(project: Project, inst: Inst) -> Iterator[tuple[Expr, Env]]:
    """The calls in an instance's `__init__`s and in the methods that only these use."""
    activations = project.evaluator.activations
    envs = list(activations.init_envs(inst).values())
    inside = {name for env in envs for name in _uses(env)}
    called = {name for env in envs for name in _calls(env)}
    methods = [
        activations.method_env(inst, klass.module, function)
        for klass in project.evaluator.classes.mro(inst.klass)
        for name, function in klass.facts.methods.items()
        if name != "__init__"
    ]
    outside = {name for env in methods for name in _uses(env)}
    once = [env for env in methods if env.facts.name in inside - outside and not _called_later(project, env)]
    # A method that `__init__` only hands on runs elsewhere.
    envs += [env for env in once if env.facts.name in called or env.facts.decorators]
    for env in envs:
        for event in env.module.events(env.function):
            for part in event.walk():
                if part.kind == "call" and any(
                    isinstance(value, Ext) and value.name in _NAMES for value in project.values(part.args[0], env)
                ):
                    yield part, env


def _called_later(project: Project, env: Env) -> bool:
    """Whether another object calls a method, too: what was asked for at first is asked for again in the worker."""
    sites = (site for site, _ in project.evaluator.call_sites.callers(env.module, env.function) if site.function >= 0)
    return any(
        site.module.model.functions[site.function].name != "__init__"
        and site.module.method_owner(site.function) != env.facts.owner
        for site in sites
    )


def _uses(env: Env) -> set[str]:
    """The names of all attributes that a function reads."""
    return {part.name for event in env.module.events(env.function) for part in event.walk() if part.kind == "attribute"}


def _calls(env: Env) -> set[str]:
    """The names of what a function calls."""
    parts = (part for event in env.module.events(env.function) for part in event.walk())
    return {part.args[0].name for part in parts if part.kind == "call"}
