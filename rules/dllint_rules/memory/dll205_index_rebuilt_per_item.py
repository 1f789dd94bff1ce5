"""DLL205: worker code lists a folder or parses a file for each item, and it is always the same one."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    Answer,
    Certainty,
    Const,
    Event,
    Expr,
    Ext,
    ExtInst,
    ExtMethod,
    Finding,
    Fix,
    Inst,
    PerItem,
    Project,
    Rule,
    Running,
    Severity,
    Workers,
    runs_per_item,
)
from dllint_rules.memory.has_workers import gets_workers

_LISTS = frozenset({"glob.glob", "glob.iglob", "os.listdir", "os.walk", "os.scandir"})
_PARSES = frozenset({
    "json.load", "yaml.load", "yaml.safe_load", "pickle.load", "numpy.loadtxt", "numpy.genfromtxt", "torch.load",
    "pandas.read_csv", "pandas.read_excel", "pandas.read_json", "pandas.read_parquet", "pandas.read_pickle",
    "pandas.read_table", "pycocotools.coco.COCO", "xtcocotools.coco.COCO",
    "xml.etree.ElementTree.parse",
})  # fmt: skip
_PATH_METHODS = frozenset({"glob", "rglob", "iterdir"})


class IndexRebuiltPerItem(Rule):
    """What does not depend on the item can be read once, before the workers start or when a worker first needs it."""

    code = "DLL205"
    name = "index-rebuilt-per-item"
    summary = "worker code lists the same folder or parses the same file again for each item"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for running in (*project.running, *project.users_running):
            loader = running.loader
            if loader is not None and (loader.in_tests or not gets_workers(loader)):
                continue
            for event in running.events:
                for call in event.walk():
                    what = _reads(project, running, call) if call.kind == "call" else ""
                    if what and (running.path, call.span) not in seen and _repeats(project, running, event, call):
                        seen.add((running.path, call.span))
                        yield self._finding(project, running, call, what)

    def _finding(self, project: Project, running: Running, call: Expr, what: str) -> Finding:
        loader = running.loader
        known = loader is not None and loader.workers is Workers.SOME
        picks = _picks_for_item(project, running, call)
        same, remedy = ("no folder", "look names up") if picks else ("nothing", "keep the result")
        return Finding(
            code=self.code,
            path=running.path,
            span=call.span,
            message=f"this {what} for each item, and {same} in `{project.text(running.path, call.args[0].span)}(...)` "
            f"depends on the item; do it once, in `__init__`, and {remedy}",
            severity=self.severity,
            certainty=project.certainty(running, call) if known else Certainty.LIKELY,
            notes=running.route,
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{running.path}:{running.env.facts.qualname}:{what}",
            data=(running, picks),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        running, picks = finding.data
        where = running.env.facts.qualname
        call = " ".join(project.text(finding.path, finding.span).split())
        if picks:
            return Fix.manual(f"List the folder once, and look up there what `{call}` finds for an item")
        return Fix.manual(f"Keep what `{call}` returns; all items then share it, so `{where}` must not change it")


def _reads(project: Project, running: Running, call: Expr) -> str:
    """What a call does that takes long with many files or a large one, in words."""
    for value in project.values(call.args[0], running.env):
        match value:
            case Ext(name=name) if name in _LISTS:
                return "lists a folder"
            case Ext(name=name) if name in _PARSES and len(call.args) > 1:
                return "parses a file"
            case ExtMethod(base=ExtInst(name="pathlib.Path"), attribute=attribute) if attribute in _PATH_METHODS:
                return "lists a folder"
            case ExtMethod(base=ExtInst(name="builtins.open"), attribute="readlines"):
                return "reads a file"
    return ""


def _repeats(project: Project, running: Running, event: Event, call: Expr) -> bool:
    """Whether the call runs for each item, unconditionally, and with the same arguments."""
    per_item = project.analysis(PerItem)
    if not runs_per_item(running, event) or per_item.remembers(running, event) or _has_one_item(project, running):
        return False
    base = call.args[0].args[:1] if call.args[0].kind == "attribute" else ()
    parts = (*base, *_without_names(project, running, call), *(value for _, value in call.keywords))
    named = [part for part in parts if not _is_module(project, part, running)]
    return bool(named) and all(per_item.varies(part, running.env) is Answer.NO for part in named)


def _picks_for_item(project: Project, running: Running, call: Expr) -> bool:
    """Whether the same folder is listed for other names each time, so that no item may have another one's result."""
    per_item = project.analysis(PerItem)
    left_out = (part for part in call.args[1:] if part not in _without_names(project, running, call))
    return any(per_item.varies(part, running.env) is not Answer.NO for part in left_out)


def _without_names(project: Project, running: Running, call: Expr) -> tuple[Expr, ...]:
    """The arguments that say what is read: of `glob(join(root, name + "*.png"))`, which reads all names, the folder."""
    pattern = call.args[1] if len(call.args) > 1 and call.args[0].name in ("glob", "iglob", "rglob") else None
    if pattern is None:
        return call.args[1:]
    if pattern.kind != "call":
        of_path = any(isinstance(value, ExtMethod) for value in project.values(call.args[0], running.env))
        return () if of_path and _picks_names(pattern) else call.args[1:]
    callees = project.values(pattern.args[0], running.env)
    joins = any(isinstance(value, Ext) and value.name == "os.path.join" for value in callees)
    picks = joins and len(pattern.args) > 2 and _picks_names(pattern.args[-1])
    return pattern.args[1:-1] if picks else call.args[1:]


def _picks_names(part: Expr) -> bool:
    """Whether the last part of a pattern is one with a `*` in it: `name + "*.png"`, `f"{name}_*.png"`."""
    texts = [str(item.value) for item in part.walk() if isinstance(item.value, str)]
    return (
        part.kind in ("binop", "fstring")
        and any("*" in text for text in texts)
        and not any("/" in text for text in texts)
    )


def _has_one_item(project: Project, running: Running) -> bool:
    """Whether the dataset whose code this is has one item at most: its `__len__` is written so."""
    receiver = running.env.receiver
    method = project.evaluator.classes.method(receiver, "__len__") if isinstance(receiver, Inst) else None
    if method is None:
        return False
    returned = project.evaluator.calls.returned(method.func, None, None, receiver)
    return bool(returned) and all(isinstance(value, Const) and value.value in (0, 1) for value in returned)


def _is_module(project: Project, part: Expr, running: Running) -> bool:
    return any(isinstance(value, Ext) for value in project.values(part, running.env))
