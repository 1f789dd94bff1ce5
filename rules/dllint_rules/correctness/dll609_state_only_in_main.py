"""DLL609: module state that only the main process changes, and workers read."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import PICKLING, Certainty, Finding, Note, Project, Rule, Severity, Unseen, Workers


class StateOnlyInMain(Rule):
    """A worker that is not forked imports the modules afresh: what `main` put into them is not there."""

    code = "DLL609"
    name = "state-only-in-main"
    summary = "module state that only the main process changes: spawned workers read what the import left"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for unseen in project.module_state.unseen(project.running):
            key = (unseen.change.place.root, unseen.read.running.function)
            if key not in seen:
                seen.add(key)
                yield self._finding(project, unseen)

    def _finding(self, project: Project, unseen: Unseen) -> Finding:
        change, read, loader = unseen.change, unseen.read, unseen.loader
        failing = loader.methods & PICKLING
        path, state = change.place.module.path, change.place.module
        seen = project.text(read.running.path, read.at.span)
        if read.at.dotted.partition(".")[0] == read.running.env.module.receiver_name(read.running.env.function) != "":
            seen = ".".join((read.place.name, *map(str, read.place.path)))
        value = f" ({unseen.initial.value!r})" if unseen.initial is not None else ""
        owner = "the script" if state is unseen.script else path.rpartition("/")[2]
        reader = read.running.env.facts.qualname
        changed = project.text(change.running.path, change.at.span)
        how = f" by `{changed.partition('(')[0]}(...)`" if change.at.kind == "call" else ""
        plain = change.value is not None and loader.workers is Workers.SOME
        written = Note(change.running.path, change.at.span, "the main process changes it here")
        return Finding(
            code=self.code,
            path=change.running.path,
            span=change.at.span,
            message=f"`{seen}` is changed in the main process only{how}, and `{reader}` reads it: spawned workers see "
            f"what importing {owner} leaves{value}, silently different {project.where(loader, failing)}; "
            "pass it to what the loader ships, or set it in `worker_init_fn`",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN if plain and change.event.block < 0 else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(failing), "corrupt") | {"fork": "ok"},
            notes=(read.running.note(read.at, f"reads `{seen}`"), *read.running.route, written, *change.running.route),
            anchors=((loader.path, loader.span), (read.running.path, read.at.span)),
            key=f"{self.code}:{path}:{change.place.name}:{change.running.path}",
            data=unseen,
        )
