"""How many workers a loader gets, three-valued: none, some, or not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from dllint.model.facts import Expr, Parameter
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, ExtMethod, Free, Inst, Klass, Opaque, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.evaluate.computed_attributes import SETTERS, filled_by
from dllint.project.evaluate.open_mappings import is_of_mapping
from dllint.project.evaluate.settings import name_read, read_from
from dllint.project.loaders.option_defaults import Declared
from dllint.project.program.flow import reaching

if TYPE_CHECKING:
    from dllint.documents.demands import Demand

_CPU_COUNTS = frozenset({
    "os.cpu_count", "multiprocessing.cpu_count", "os.process_cpu_count", "os.sched_getaffinity", "psutil.cpu_count",
    "builtins.len", "torch.cuda.device_count",
})  # fmt: skip
_GETTERS = frozenset({"get", "pop", "getenv", "getint"})


class Workers(Enum):
    NONE = "none"
    SOME = "some"
    UNKNOWN = "unknown"


def join(answers: Iterable[Workers]) -> Workers:
    """Several possibilities: one that starts workers is enough; none only when every one says so."""
    found = set(answers)
    if Workers.SOME in found:
        return Workers.SOME
    return Workers.NONE if found == {Workers.NONE} else Workers.UNKNOWN


class WorkerCounts:
    """Answers for the values of `num_workers`."""

    def __init__(self, evaluator: Evaluator, declared: Declared) -> None:
        self.evaluator = evaluator
        self.declared = declared
        self._known: dict[tuple[Expr, Env], frozenset[Workers]] = {}
        self._rests: dict[tuple[Expr, Env], bool] = {}
        self._optional: dict[tuple[Expr, Env], bool] = {}
        self._demands: dict[tuple[Expr, Env], Demand | None] = {}
        self._hubs: dict[Value, frozenset[Workers]] = {}
        self._options: dict[tuple[str, Value, Env], frozenset[Workers]] = {}
        """What was declared for what is read: an option's default may be read from an option of the same name."""

    def of_arguments(
        self, found: list[Argument], surely: bool, open_ended: bool, default: Workers = Workers.NONE
    ) -> Workers:
        """The answer for what a call passes; nothing passed means the default, unless a `**mapping` hides it."""
        answers = [self.of_expression(expr, env) for expr, env in found]
        if not surely and not (open_ended and answers):
            answers.append(Workers.UNKNOWN if open_ended else default)
        return join(answers)

    def may_be_none(self, found: list[Argument]) -> bool:
        """Whether one of the numbers that a call may pass is 0."""
        given = [pair for pair in found if not self._by_settings(*pair)]
        numbers = (self.of_value(value, env) for expr, env in given for value in self.evaluator.values(expr, env))
        return Workers.NONE in numbers

    def rests_on_settings(self, found: list[Argument]) -> bool:
        """Whether only settings that are read have one of the numbers that a call may pass, or may replace it."""
        return any(self.evaluator.ask(self._rests, (expr, env), False, self._rest, expr, env) for expr, env in found)

    def rests_on_options(self, found: list[Argument]) -> bool:
        """Whether a program of the project passes the number, from an option that its user may set."""
        return any(
            self.evaluator.ask(self._optional, (expr, env), False, self._rest_on_option, expr, env)
            for expr, env in found
        )

    def _rest_on_option(self, expr: Expr, env: Env) -> bool:
        for value in self.evaluator.values(expr, env):
            name = _read_name(value)
            if name and self.declared.option(name, value):
                return True
            if self.declared.parameter(value):
                return True
            if isinstance(value, Free):
                given = self.evaluator.arguments.passed_by_all(value.module, value.function, value.name)
                calls = [passed for _, _, passed in given]
                if any(map(self.rests_on_options, calls)):
                    return True
        return False

    def _rest(self, expr: Expr, env: Env) -> bool:
        if self._is_of_filled(expr, env) or env.module.settings or self._by_settings(expr, env):
            return True
        return self._demand(expr, env) is not None or any(map(self._in_settings, self.evaluator.values(expr, env)))

    def _is_of_filled(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is an attribute of an object whose attributes computed names set: users' options."""
        return expr.kind == "attribute" and any(map(self._is_filled, self.evaluator.values(expr.args[0], env)))

    def _is_of_unpacked(self, expr: Expr, env: Env) -> bool:
        """Whether the owner of an attribute is made of options that the program has in a mapping: `Config(**rest)`."""
        owners = self.evaluator.values(expr.args[0], env)
        made = (value.call for value in owners if isinstance(value, Inst) and value.call is not None)
        return any(call.keyword("**") is not None for call in made)

    def _is_filled(self, value: Value) -> bool:
        """Whether attributes of an object are set by names that are computed: `setattr(self, name, value)`."""
        return isinstance(value, Inst) and not self._filled.isdisjoint(self.evaluator.classes.mro(value.klass))

    @at_rest
    def _filled(self) -> frozenset[Klass]:
        """The classes of such objects."""
        found: set[Klass] = set()
        for site in self.evaluator.index.calls_named(SETTERS):
            target = filled_by(site.expr)
            if target is not None:
                env = self.evaluator.generic(site.module, site.function)
                found |= {value.klass for value in self.evaluator.values(target, env) if isinstance(value, Inst)}
        return frozenset(found)

    def _in_settings(self, value: Value) -> bool:
        match value:
            case ExtInst(name="builtins.int" | "builtins.round", call=call, env=env):
                return self.rests_on_settings([(arg, env) for arg in call.args[1:2]])
            case Opaque(expr=expr, env=env) if expr.kind == "binop":
                return self.rests_on_settings([(arg, env) for arg in expr.args])
        name = _read_name(value)
        return bool(name and not self._declared(name, value) and self.declared.setting(name, value))

    def demand(self, found: list[Argument]) -> Demand | None:
        """What a file gives to an option of which one of the numbers that a call may pass is the default, 0."""
        asked = (self._demand(expr, env) for expr, env in found)
        return next((demand for demand in asked if demand is not None), None)

    def is_given(self, found: list[Argument]) -> bool:
        """Whether one of the numbers that a call may pass is above 0 by the program itself."""
        values = ((value, env) for expr, env in found for value in self.evaluator.values(expr, env))
        return any(self._demand_of(*read) is None and self.of_value(*read) is Workers.SOME for read in values)

    def _demand(self, expr: Expr, env: Env) -> Demand | None:
        return self.evaluator.ask(self._demands, (expr, env), None, self._find_demand, expr, env)

    def _find_demand(self, expr: Expr, env: Env) -> Demand | None:
        asked = (self._demand_of(value, env) for value in self.evaluator.values(expr, env))
        return next((demand for demand in asked if demand is not None), None)

    def _demand_of(self, value: Value, reader: Env) -> Demand | None:
        match value:
            case ExtInst(name="builtins.int" | "builtins.round", call=call, env=env):
                return self.demand([(arg, env) for arg in call.args[1:2]])
            case Opaque(expr=expr, env=env) if expr.kind == "binop":
                return self.demand([(arg, env) for arg in expr.args])
            case Free() | ExtInst() if options := self.declared.parameter(value):
                return self._in_place_of(self._of_all(options), value, reader)
            case ExtInst(call=call, env=env) if _is_looked_up(value) and len(call.args) > 2:
                if self.of_expression(call.args[2], env) is Workers.SOME:
                    return None
        name = _read_name(value)
        declared = self._declared(name, value) or self.declared.fields(name, value) if name else ()
        return self._in_place_of(self._of_all(declared), value, reader)

    def _in_place_of(self, found: frozenset[Workers], value: Value, reader: Env) -> Demand | None:
        """What a file gives to an option that is 0 by default, and by nothing else more than that, where it is read."""
        if Workers.NONE not in found or Workers.SOME in found:
            return None
        asked = self.declared.demand_of_parameter(value, reader)
        return asked or self.declared.demand(_read_name(value), value, reader)

    def _with_demand(self, found: frozenset[Workers], value: Value, reader: Env) -> frozenset[Workers]:
        """The answers for the default of an option, and for what a file gives to it."""
        return found if self._in_place_of(found, value, reader) is None else found | {Workers.SOME}

    def of_expression(self, expr: Expr, env: Env) -> Workers:
        """The answer for one expression."""
        none = frozenset[Workers]()
        found = self.evaluator.ask(self._known, (expr, env), none, self._alternatives, expr, env)
        return join(found)

    def _alternatives(self, expr: Expr, env: Env) -> frozenset[Workers]:
        if expr.kind == "binop":
            return frozenset({self._arithmetic(expr, env)})
        found: set[Workers] = set()
        filled = self._is_of_filled(expr, env) and not self._is_of_unpacked(expr, env)
        for value in self.evaluator.values(expr, env):
            if is_of_mapping(value):
                continue  # what it holds is asked of the settings
            if filled and isinstance(value, Opaque):
                found.add(self._named(expr.name, value, env))
                continue
            found |= self._of_hub(value) if isinstance(value, Free) else {self.of_value(value, env)}
        return frozenset(found) | self._by_settings(expr, env)

    def _by_settings(self, expr: Expr, env: Env) -> frozenset[Workers]:
        """What files of settings say of a parameter that a mapping read from them fills: `Data(**settings["data"])`.

        Its default says nothing then. Of several files one is read: they must agree. Where no file of the project has
        such a section, another one does.
        """
        found: set[Workers] = set()
        unseen = False
        for name, where in self._parameters(expr, env):
            for mapping in self._mappings(name, where):
                section = _read_name(mapping)
                unseen = unseen or not self.declared.has_section(section)
                given = self.declared.in_section(section, name, mapping) if section else ()
                found |= {self.of_expression(*pair) for pair in given}
        if found == {Workers.SOME}:
            return frozenset(found)
        return frozenset({Workers.UNKNOWN}) if unseen else frozenset()

    def in_unpacked(self, mapping: Expr, env: Env, name: str) -> list[Argument]:
        """What settings hold under a name in a mapping that a call unpacks: they must agree.

        `DataLoader(data, **config["train"]["loader"])`, or `make(**config["train"])` for
        `def make(loader=None): return DataLoader(data, **loader)`.
        """
        found = [
            pair
            for section, around, value in self._sections(mapping, env)
            for pair in self.declared.in_section(section, name, value, around)
        ]
        return found if {self.of_expression(*pair) for pair in found} == {Workers.SOME} else []

    def demand_unpacked(self, mapping: Expr, env: Env, name: str) -> Demand | None:
        """What JSON has under a name in such a mapping."""
        asked = (
            self.declared.demand_in_section(section, name, value, around)
            for section, around, value in self._sections(mapping, env)
        )
        return next((demand for demand in asked if demand is not None), None)

    def _sections(self, mapping: Expr, env: Env) -> Iterator[tuple[str, str, Value]]:
        """The keys under which a mapping may stand in settings, those of the mappings around it, and what is read."""
        for value in self.filling(mapping, env):
            yield mapping.name, _read_name(value), value
        for value in self.evaluator.values(mapping, env):
            section = _read_name(value)
            if section:
                yield section, _read_name(read_from(value)), value

    def filling(self, name: Expr, env: Env) -> list[Value]:
        """The mappings that may fill the parameter that a name still is where it stands."""
        if name.kind != "name" or env.function < 0:
            return []
        bindings = env.module.bindings[env.function, -1].get(name.name, ())
        reached = reaching(env.module, env.function, bindings, name.start)
        is_parameter = any(binding.kind == "parameter" for binding in reached)
        return list(self._mappings(name.name, env)) if is_parameter else []

    def _parameters(self, expr: Expr, env: Env) -> Iterator[tuple[str, Env]]:
        """The parameters, with their activations, that an expression is, or that an attribute was set to."""
        if expr.kind == "name":
            yield expr.name, env
        elif expr.kind == "attribute":
            for owner in self.evaluator.values(expr.args[0], env):
                stored = self.evaluator.attributes.stored(owner, expr.name) if isinstance(owner, Inst) else ()
                yield from ((value.name, where) for _, value, where in stored if value.kind == "name")

    def _mappings(self, name: str, env: Env) -> Iterator[Value]:
        """The mappings out of which a parameter is filled for which nothing else is passed: those not seen whole."""
        parameters = env.facts.parameters if env.function >= 0 else ()
        parameter = next((item for item in parameters if item.name == name), None)
        if parameter is None or parameter.default is None or parameter.kind in ("args", "kwargs"):
            return
        for call, caller, passed in self._calls(env, parameter):
            for key, mapping in call.keywords if [expr for expr, _ in passed] == [parameter.default] else ():
                values = self.evaluator.values(mapping, caller) if key == "**" else ()
                yield from (value for value in values if isinstance(value, ExtInst | ExtMethod | Opaque))

    def _calls(self, env: Env, parameter: Parameter) -> Iterator[tuple[Expr, Env, list[Argument]]]:
        """The call of an activation, or those that may have made it, with what they pass for a parameter."""
        if env.call is not None and env.caller is not None:
            position = env.facts.parameters.index(parameter)
            yield env.call, env.caller, self.evaluator.arguments.passed(env, position, parameter)
            return
        yield from self.evaluator.arguments.passed_by_all(env.module, env.function, parameter.name)

    def _of_hub(self, value: Free) -> frozenset[Workers]:
        """What the calls of a function pass that has too many of them to tell its activations apart."""
        none = frozenset[Workers]()
        return self.evaluator.ask(self._hubs, value, none, self._passed, value)

    def _passed(self, value: Free) -> frozenset[Workers]:
        """The answer for a parameter: of its calls, and of the command line's option that fills it."""
        given = self.evaluator.arguments.passed_by_all(value.module, value.function, value.name)
        calls = [passed for _, _, passed in given]
        options = self.declared.parameter(value)
        defaults = frozenset[Workers]().union(*(self._alternatives(*pair) for pair in options))
        declared = self._with_demand(defaults, value, self.evaluator.generic(value.module, value.function))
        answers = (self._alternatives(*pair) for passed in calls for pair in passed)
        unknown = {Workers.UNKNOWN} if not options and (not calls or not all(calls)) else set()
        return frozenset(unknown.union(declared, *answers))

    def _arithmetic(self, expr: Expr, env: Env) -> Workers:
        left, right = (self.of_expression(arg, env) for arg in expr.args)
        if expr.name == "*" and Workers.NONE in (left, right):
            return Workers.NONE
        return Workers.SOME if expr.name in "*+//" and Workers.SOME in (left, right) else Workers.UNKNOWN

    def of_value(self, value: Value, reader: Env) -> Workers:
        """The answer for one value, for the activation that reads it."""
        match value:
            case Const(value=None):
                return Workers.UNKNOWN  # no number: whatever the code does with it
            case Const(value=number):
                if isinstance(number, str):
                    return self._from_text(number)
                return Workers.SOME if number else Workers.NONE
            case ExtInst(name=name) if name in _CPU_COUNTS:
                return Workers.SOME
            case ExtInst(name="builtins.int" | "builtins.round", call=call, env=env) if len(call.args) > 1:
                return self.of_expression(call.args[1], env)
            case ExtInst() if options := self.declared.parameter(value):
                return join(self._with_demand(self._of_all(options), value, reader))
            case ExtInst() if _is_looked_up(value):
                return self._looked_up(value, reader)
            case Opaque(expr=expr, env=env) if expr.kind == "binop":
                return self.of_expression(expr, env)
        name = _read_name(value)
        return self._named(name, value, reader) if name else Workers.UNKNOWN

    def _from_text(self, text: str) -> Workers:
        return (Workers.SOME if int(text) else Workers.NONE) if text.isdecimal() else Workers.UNKNOWN

    def _looked_up(self, got: ExtInst, reader: Env) -> Workers:
        call, name, answers = got.call, _read_name(got), []
        if name:
            answers.append(self._named(name, got, reader))
        if len(call.args) > 2:
            answers.append(self.of_expression(call.args[2], got.env))
        return Workers.SOME if Workers.SOME in answers else join(answers)

    def _named(self, name: str, read: Value, reader: Env) -> Workers:
        """An option read from a parsed command line or a configuration object: its declared default."""
        none = frozenset[Workers]()
        found = self.evaluator.ask(self._options, (name, read, reader), none, self._find_declared, name, read, reader)
        return join(found)

    def _find_declared(self, name: str, read: Value, reader: Env) -> frozenset[Workers]:
        declared = self._declared(name, read)
        if declared:
            return self._with_demand(self._of_all(declared), read, reader)
        found = self._of_all(self.declared.setting(name, read)) or self._of_all(self.declared.fields(name, read))
        # Of several files one is read, of several objects one is used.
        return self._with_demand(found, read, reader) if len(found) == 1 else frozenset()

    def _of_all(self, pairs: Iterable[Argument]) -> frozenset[Workers]:
        return frozenset(self.of_expression(*pair) for pair in pairs)

    def _declared(self, name: str, read: Value) -> list[Argument]:
        return self.declared.option(name, read) or self.declared.number(name, read)


def _is_looked_up(got: ExtInst) -> bool:
    return got.name.rpartition(".")[2] in _GETTERS and len(got.call.args) > 1


def _read_name(value: Value | None) -> str:
    """The name under which an option or a setting is read: `args.workers`, `args["workers"]`, `args.get("workers")`."""
    if isinstance(value, ExtInst) and _is_looked_up(value):
        key = value.call.args[1].value
        return key if isinstance(key, str) else ""
    return name_read(value) if value is not None else ""
