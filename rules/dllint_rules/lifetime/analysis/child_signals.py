"""What hides ended children from a loader: SIGCHLD handlers, and code that waits for any child."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Const, Env, Ext, Func, Method
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Site
from dllint.start_methods import FORKSERVER

if TYPE_CHECKING:
    from dllint.project import Project

_SIGNALS = frozenset({"signal.SIGCHLD", "signal.SIGCLD", "signal.Signals.SIGCHLD", "signal.Signals.SIGCLD"})
_ANY_CHILD = frozenset({"os.wait", "os.wait3"})
_WAITS = frozenset({"os.waitpid", "os.wait4"})


class Taken(NamedTuple):
    """A call after which a loader does not hear of its workers' ends; `how` is one of ignored, reaped and late."""

    site: Site
    loader: Loader
    how: str

    @property
    def methods(self) -> frozenset[str]:
        """The start methods under which there was something to hear: a fork server's workers are its children."""
        return self.loader.methods - {FORKSERVER}


class ChildSignals:
    """Answers where the ends of workers are kept from their loader."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.starts = project.loader_starts

    def taken(self) -> Iterator[Taken]:
        """Handlers that are installed when a loader has installed its own, and waits while workers live."""
        return (taken for taken in self._taken() if taken.methods)

    def _taken(self) -> Iterator[Taken]:
        for site in self.evaluator.index.calls_named(("signal",)):
            how = self._handler(site)
            loader = self.starts.before_and_after(site) if how else None
            if loader is not None:
                yield Taken(site, loader, how)
        for site in self.evaluator.index.calls_named(("wait", "wait3", "wait4", "waitpid")):
            env = self.evaluator.generic(site.module, site.function)
            loader = self.starts.around(site) if self._reaps(site.expr, env) else None
            if loader is not None:
                yield Taken(site, loader, "reaped")

    def _handler(self, site: Site) -> str:
        """What a call of `signal.signal` does with SIGCHLD; "" for other calls."""
        env = self.evaluator.generic(site.module, site.function)
        args = site.expr.args
        if len(args) < 3 or Ext("signal.signal") not in self.evaluator.values(args[0], env):
            return ""
        if not self._names_children(args[1], env):
            return ""
        handlers = self.evaluator.values(args[2], env)
        if Ext("signal.SIG_IGN") in handlers:
            return "ignored"
        functions = [value.func if isinstance(value, Method) else value for value in handlers]
        known = [value for value in functions if isinstance(value, Func)]
        if any(
            self._reaps(part, self.evaluator.generic(func.module, func.index))
            for func in known
            for part in _calls(func)
        ):
            return "reaped"
        return "late" if known or Ext("signal.SIG_DFL") in handlers else ""

    def _names_children(self, signal: Expr, env: Env) -> bool:
        """Whether a signal is SIGCHLD: always, or in one turn of a loop."""
        values = self.evaluator.values(signal, env)
        found = [isinstance(value, Ext) and value.name in _SIGNALS for value in values]
        return any(found) if self._loops_over(signal, env) else bool(found) and all(found)

    def _loops_over(self, name: Expr, env: Env) -> bool:
        """Whether a name is the target of a loop around it."""
        blocks = env.module.enclosing(env.module.block_at(env.function, name.start))
        around = [env.module.block(index).test for index in blocks]
        return any(
            event.kind == "for" and event.target is not None and event.target.dotted == name.dotted != ""
            for event in env.module.events(env.function)
            if event.value is not None and event.value in around
        )

    def _reaps(self, call: Expr, env: Env) -> bool:
        """Whether a call waits for any child."""
        callees = self.evaluator.names.of_module(call.args[0], env) or ()  # `process.wait()` waits for that one
        names = {value.name for value in callees if isinstance(value, Ext)}
        if names & _ANY_CHILD:
            return True
        if not names & _WAITS or len(call.args) < 2:
            return False
        return any(isinstance(value, Const) and value.value == -1 for value in self.evaluator.values(call.args[1], env))


def _calls(func: Func) -> Iterator[Expr]:
    for event in func.module.events(func.index):
        yield from (part for part in event.walk() if part.kind == "call")
