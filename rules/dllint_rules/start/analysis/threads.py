"""Threads when processes are forked: a forked child has the locks of its parent's threads, and none of the threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.knowledge import OPENCV_PARALLEL
from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, ExtMethod, Inst
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Site
from dllint.start_methods import FORK

if TYPE_CHECKING:
    from dllint.project import Project


class OwnThread(NamedTuple):
    """A thread that is started before the workers of a loader, in the same code."""

    site: Site
    loader: Loader


class Threads:
    """Answers which threads there are when workers are forked, and which work in workers wants some."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries
        self.starts = project.loader_starts

    def own(self) -> Iterator[OwnThread]:
        """Threads that are started, and not joined, before workers may be forked."""
        for site in self.evaluator.index.calls_named(("start",)):
            if site.module.is_test or not self._is_thread(site):
                continue
            loader = self.starts.after(site)
            if loader is not None and FORK in loader.methods and not _is_joined(site):
                yield OwnThread(site, loader)

    def _is_thread(self, site: Site) -> bool:
        env = self.evaluator.generic(site.module, site.function)
        for value in self.evaluator.values(site.expr.args[0], env):
            if isinstance(value, ExtMethod):
                base = value.base
                if isinstance(base, ExtInst) and base.name in ("threading.Thread", "threading.Timer"):
                    return True
                if (
                    isinstance(base, Inst)
                    and self.evaluator.classes.is_a(base.klass, {"threading.Thread"}) is Answer.YES
                ):
                    return True
        return False

    def limits_opencv(self) -> bool:
        """Whether some code of the project says how many threads OpenCV may use."""
        return any(True for _ in self.evaluator.index.calls_named(("setNumThreads",)))

    def opencv(self, call: Expr, env: Env) -> str:
        """The function of OpenCV that a call calls, if it works with threads."""
        if call.args[0].name not in OPENCV_PARALLEL:
            return ""
        names = (value.name for value in self.evaluator.values(call.args[0], env) if isinstance(value, Ext))
        return next((name for name in names if name.startswith("cv2.")), "")

    def raises_number(self, call: Expr, env: Env) -> bool:
        """Whether a call gives torch more than one thread for its operations."""
        if call.args[0].name != "set_num_threads" or len(call.args) < 2:
            return False
        if Ext("torch.set_num_threads") not in self.evaluator.values(call.args[0], env):
            return False
        values = self.evaluator.values(call.args[1], env)
        return any(isinstance(value, Const) and isinstance(value.value, int) and value.value > 1 for value in values)


def _is_joined(site: Site) -> bool:
    """Whether the thread is waited for before anything else is started."""
    thread = site.expr.args[0].args[0].dotted

    def joins(event: Event) -> bool:
        calls = (part for part in event.walk() if part.kind == "call" and part.args[0].name == "join")
        return any(part.args[0].args and part.args[0].args[0].dotted == thread for part in calls)

    return bool(thread) and any(joins(event) for event in site.module.events(site.function))
