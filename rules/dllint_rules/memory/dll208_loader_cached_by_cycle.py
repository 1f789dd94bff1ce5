"""DLL208: `itertools.cycle` or `tee` over a loader keeps every batch."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Certainty, Edit, Finding, Fix, Loader, Project, Rule, Severity, Site

_ENDLESS = (
    "more = True",
    "while more:",
    "\tmore = False",
    "\tfor batch in loader:",
    "\t\tmore = True",
    "\t\tyield batch",
)
"""`cycle` ends where there is nothing to repeat, and so does this."""


class LoaderCachedByCycle(Rule):
    """To repeat what it was given, `cycle` keeps all of it: the whole data set, as batches, in the main process."""

    code = "DLL208"
    name = "loader-cached-by-cycle"
    summary = "`itertools.cycle` over a loader keeps every batch in memory, to repeat it after the last one"
    triggers = (b"cycle(", b"tee(")
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        for site, name, loader in project.passes.replayed():
            if loader is not None and loader.in_tests:
                continue
            given = project.text(site.module.path, site.expr.args[1].span)
            until = "that it has read, and repeats them after the last one"
            if name == "itertools.tee":
                until = "until each of its iterators has had it"
            yield Finding(
                code=self.code,
                path=site.module.path,
                span=site.expr.span,
                message=f"`{name}` keeps every batch of `{given}` in memory {until}; "
                "use a generator that loops over the loader again",
                severity=self.severity,
                certainty=Certainty.CERTAIN if _surely_runs(project, site, loader) else Certainty.LIKELY,
                outcomes=dict.fromkeys(
                    sorted(project.targets.methods() if loader is None else loader.methods), "bloat"
                ),
                anchors=((loader.path, loader.span),) if loader is not None else (),
                key=f"{self.code}:{site.module.path}:{given}",
                data=(site, name),
            )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import helper, without_import

        site, name = finding.data
        call, path = site.expr, site.module.path
        given = project.text(path, call.args[1].span)
        if name != "itertools.cycle":
            return Fix.manual(f"Iterate over `{given}` once for each iterator, so that none has to wait for the others")
        if not _is_surely_loader(project, site):
            why_not = f"whether `{given}` can be iterated again is not seen"
            return Fix.manual(f"Loop over the loader again and again in a generator; {why_not}")
        model = project.models[path]
        made = helper(project.source(path), project.tree(path), model, call.start, "endless", "loader", _ENDLESS)
        if made is None:
            return Fix.manual(
                "Loop over the loader again and again in a generator; dllint can't add a function to this file"
            )
        unneeded = without_import(project.source(path), call.args[0].dotted.partition(".")[0])
        edits = (*made.edits, *unneeded, Edit(path, call.args[0].span, made.name))
        title = f"Loop over the loader again and again with `{made.name}`"
        return Fix(title, edits, Applicability.UNSAFE, defines=made.defines)


def _surely_runs(project: Project, site: Site, loader: Loader | None) -> bool:
    """Whether the loader is known to be made, and the call to run; batches are kept with workers and without."""
    return loader is not None and loader.decided and project.surely_runs(site)


def _is_surely_loader(project: Project, site: Site) -> bool:
    """Whether the only argument is a loader itself, which can be iterated again; `enumerate(loader)` cannot."""
    given = site.expr.args[1:]
    values = project.values(given[0], project.evaluator.generic(site.module, site.function))
    return len(given) == 1 and bool(values) and all(map(project.boundaries.is_made_loader, values))
