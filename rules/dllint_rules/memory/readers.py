"""Functions that are handed a list and only read it, so that what is read in the same way can take its place."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Event, Expr, Ext, Func, Method, Module, Place, Project, Use, changed_entry, chosen_part, name_uses

_OF_NUMPY = frozenset({f"numpy.{name}" for name in ("array", "unique", "isin", "sort", "argsort", "mean")})
_COPYING = _OF_NUMPY | {
    *("json.dump", "json.dumps", "pickle.dump", "pickle.dumps", "yaml.dump", "copy.copy", "copy.deepcopy"),
    *("collections.Counter", "pandas.DataFrame", "pandas.Series", "pandas.unique", "torch.tensor"),
}
"""Functions of libraries that neither change nor keep a list that they are given."""


class Readers:
    """Answers whether a list that is handed to a function is only read there: its length, an item, a loop."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def only_read(self, place: Place, whole: bool = False) -> bool:
        """Whether every function that a use may give the list to only reads it, and changes no entry.

        `whole`: and takes no part out of an entry by an index that may vary.
        """
        call = self.call(place)
        if call is None:
            return False
        env = self.project.evaluator.generic(place.module, place.function)
        called = self.project.values(call.args[0], env)
        return bool(called) and all(
            isinstance(value, Func | Method) and self._reads(value, call, place.use, whole) for value in called
        )

    def copied(self, place: Place, by_numpy: bool = False) -> bool:
        """Whether a use gives the list to a function of a library that copies it, or reads all of it."""
        call, known = self.call(place), _OF_NUMPY if by_numpy else _COPYING
        env = self.project.evaluator.generic(place.module, place.function)
        called = self.project.values(call.args[0], env) if call is not None else ()
        return bool(called) and all(isinstance(value, Ext) and value.name in known for value in called)

    def call(self, place: Place) -> Expr | None:
        """The call that gets the list as one of its arguments, as it is."""
        for function, _, events in place.module.scopes:
            calls = (part for event in events for part in event.walk() if part.kind == "call")
            for call in calls if function == place.function else ():
                if any(one.span == place.use.span for one in arguments(call)):
                    return call
        return None

    def _reads(self, value: Func | Method, call: Expr, use: Use, whole: bool) -> bool:
        func = value.func if isinstance(value, Method) else value
        position = next((index for index, one in enumerate(call.args[1:]) if one.span == use.span), None)
        named = next((name for name, one in call.keywords if one.span == use.span), "")
        parameters = func.facts.parameters
        if position is not None:
            position += isinstance(value, Method)
            named = parameters[position].name if position < len(parameters) else ""
        found = next((one for one in parameters if one.name == named), None)
        if found is None or found.kind in ("args", "kwargs"):
            return False
        uses = name_uses(self.project.source(func.module.path), named, func.facts.body)
        return self._are_reads(func.module, uses, whole)

    def only_read_by_name(self, place: Place, whole: bool = False) -> bool:
        """Whether a use gives the list to a variable of its function, which is set once and only read."""
        events = place.module.events(place.function) if place.function >= 0 else ()
        found = [target for event in events if event.kind == "assign" for target in _named(event, place.use)]
        target = found[0] if len(found) == 1 else None
        if target is None or target.kind != "name":
            return False
        facts = place.module.model.functions[place.function]
        uses = name_uses(self.project.source(place.module.path), target.name, facts.span) or []
        outer = any(target.name in event.names for event in events if event.kind in ("global", "nonlocal"))
        return not outer and self._are_reads(place.module, [one for one in uses if one.span != target.span], whole)

    def _are_reads(self, module: Module, uses: list[Use] | None, whole: bool) -> bool:
        source = self.project.source(module.path)
        return uses is not None and all(
            one.kind == "read"
            and changed_entry(source, one.span) is None
            and not (whole and chosen_part(source, one.span))
            for one in uses
        )


def _named(event: Event, use: Use) -> Iterator[Expr]:
    """What an assignment gives a list to: its target, or the one of several for which there is the list."""
    target, value = event.target, event.value
    if target is None or value is None:
        return
    pairs = [(target, value)]
    if value.kind == target.kind == "tuple":
        pairs += zip(target.args, value.args, strict=False)
    yield from (one for one, given in pairs if given.span == use.span)


def arguments(call: Expr) -> tuple[Expr, ...]:
    """What a call passes, by position and by name."""
    return (*call.args[1:], *(value for _, value in call.keywords))
