"""DLL105: an object whose class pickle cannot find by name goes to workers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Held, Inst, Klass, Project, Rule, namedtuple_of, unpicklable_class
from dllint_rules.pickling.move_class import passed_base
from dllint_rules.pickling.unpicklable import finding, to_module_level


class LocalClassShipped(Rule):
    """An instance is pickled as a reference to its class; a class made inside a function cannot be imported."""

    code = "DLL105"
    name = "local-class-shipped"
    summary = "instance of a class defined inside a function is shipped to workers"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for held in project.shipped:
            found = self._local_class(project, held) or self._misnamed_tuple(project, held)
            if found is not None and (found.path, found.span) not in seen:
                seen.add((found.path, found.span))
                yield found

    def _local_class(self, project: Project, held: Held) -> Finding | None:
        rebuilt = isinstance(held.value, Inst) and project.evaluator.classes.is_rebuilt(held.value.klass)
        if rebuilt or not unpicklable_class(held.value):
            return None
        klass = held.value.klass if isinstance(held.value, Inst) else held.value
        assert isinstance(klass, Klass)
        what, at, base = f"instance of the local class `{klass.facts.name}`", at_class(held, klass), passed_base(klass)
        remedy = f"move the class {to_module_level(project, at)}"
        if base is not None:
            whole = project.text(klass.module.path, base.span)
            remedy = (
                f"its base class `{whole}` comes from the caller, so use a module-level class that holds an object "
                "of it, or a subclass there for each base"
            )
        return finding(self, project, at, what, remedy)

    def _misnamed_tuple(self, project: Project, held: Held) -> Finding | None:
        """A namedtuple whose typename is not the name it is found under."""
        maker = namedtuple_of(held.value)
        if maker is None or (not maker.local and maker.typename == maker.bound):
            return None
        what = f"instance of the namedtuple `{maker.typename}`"
        remedy = "make it at module level" if maker.local else f"name it `{maker.bound}`, as the variable is"
        return finding(self, project, held.at(maker.path, maker.span), what, remedy)

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.in_place import fix_shipped

        return fix_shipped(project, finding.data)


def at_class(held: Held, klass: Klass) -> Held:
    """The same route, reported at the class statement."""
    return held.at(klass.module.path, klass.facts.header)
