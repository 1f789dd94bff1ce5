"""Defaults that a project declares away from where they are read: command line options and settings.

A number in a YAML or TOML file counts where the program imports something that reads such files. Where nothing else
says which number an object has under a name, as it isn't followed, the fields of dataclasses do. Of a script that
starts workers, only what its own program sets counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, NamedTuple

from dllint.knowledge import SET_BY_LAUNCHERS, SETTINGS_READERS, TOML_READERS
from dllint.model.facts import Event, Expr, ImportedName
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.evaluate.abstract_values import (
    TOP,
    Const,
    Env,
    ExtInst,
    ExtMethod,
    Free,
    Inst,
    Klass,
    Opaque,
    Value,
    Values,
)
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.evaluate.command_lines import OPTION_SETTERS, destinations, set_by_name
from dllint.project.loaders.command_parameters import CommandParameters
from dllint.project.loaders.demanded import Asked, Demanded, named, spelled
from dllint.project.program.guards import under_main_guard
from dllint.project.program.index import Index
from dllint.project.program.module import Module, Site, Write
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.documents.demands import Demand, Passed

_READERS = {".toml": TOML_READERS, ".yaml": SETTINGS_READERS, ".yml": SETTINGS_READERS}
"""What reads settings from files whose names end so."""
_COMPUTED = "$_"
"""What a launcher's command line has where the launcher puts something (`documents/launches.py`)."""
_PLAIN = re.compile(r"[\w.-]+")
"""A text that nothing has to be put in the place of."""
_OPTION_CALLS = ("add_argument", "add_option", "option", "add_arg")


class _Option(NamedTuple):
    """An option's default, if it has one, where it stands, the parser that it is added to, where that is done."""

    default: Expr | None
    env: Env
    parser: Expr
    site: Site

    @property
    def call(self) -> Expr:
        return self.site.expr


class Declared:
    """Finds the default of an option or setting by its name, in the program that reads it."""

    def __init__(self, evaluator: Evaluator, asked: Sequence[Asked] = ()) -> None:
        self.evaluator = evaluator
        self.index: Index = evaluator.index
        self.commands = CommandParameters(evaluator)
        self.demanded = Demanded(evaluator, asked)
        self.program: Module | None = None
        """The script that runs, where only its program counts."""
        self._elsewhere: dict[tuple[Module, int], bool] = {}
        self._is_shown = OnDemand(self._find_shown)

    def option(self, name: str, read: Value) -> list[Argument]:
        """The defaults of the command line options that fill an attribute of what is read, or what replaces them."""
        options = self._read_by(self._options, name, read)
        return [pair for option in options for pair in self._in_effect(option, name, read)]

    def passed(self, name: str, read: Value) -> list[Passed]:
        """What command lines in the project's files give to options that fill an attribute and have no default."""
        options = self._read_by(self._open_options, name, read)
        given = (
            self.demanded.texts(names, option.env.module, self.program)
            for option in options
            if (names := {name for name in named(option.call) if name.startswith("-")})
        )
        return [text for texts in given for text in texts]

    def only_given(self, name: str, read: Value) -> Values:
        """All values that the project gives to an option: by default, on command lines, in code; none if more may be.

        Users choose where there is no default, where an option has `choices`, or where a page says what to fill in.
        That flags and numbers are left as they are says something only where command lines show how users call the
        program. Files of settings count, whatever reads them.
        """
        options = [item for item in self._added.get(name, ()) if self._of_one_program(item.env, read)]
        if not all(map(_has_one_value, options)) or (options and not _is_of_options(read)):
            return ()
        switches = [item for item in options if _kind(item) != "str"]
        if switches and (name in SET_BY_LAUNCHERS or not any(self._is_shown[item.env.module] for item in switches)):
            return ()
        defaults = [default for item in options for default in self._by_default(item)] or self._in_mapping(name, read)
        if not defaults or any(self._of_one_program(self._around(site), read) for site in self._setting_any):
            return ()
        calls = ((site.expr.keyword(name), site) for site in self.index.calls_named(("set_defaults",)))
        set_by = ((expr, self._around(site)) for expr, site in calls if expr is not None)
        writes = ((write, module) for module, write in self.index.outside_writes.get(name, ()))
        written = ((write.event.value, self.evaluator.generic(module, write.function)) for write, module in writes)
        in_code = (*set_by, *written, *self._settings_plain.get(name, ()))
        known = (self.evaluator.values(expr, env) if expr is not None else (TOP,) for expr, env in in_code)
        passed = self._passed(name, options)
        values = tuple(dict.fromkeys((*defaults, *passed, *chain.from_iterable(known))))
        return values if all(map(_is_plain, values)) else ()

    def _by_default(self, option: _Option) -> Values:
        """What an option is where the command line doesn't have it."""
        action = option.call.keyword("action")
        if option.default is None:
            return (Const(action is not None and action.value == "store_false", "bool"),)
        return self.evaluator.values(option.default, option.env)

    def _passed(self, name: str, options: list[_Option]) -> Iterator[Value]:
        """What command lines give to an option. A launcher has it, too, to hand on what it is given itself."""
        for names, kind in [(named(item.call), _kind(item)) for item in options] or [({f"--{name}"}, "str")]:
            for given in self.demanded.passed(word for word in names if word.startswith("-")):
                handing = [item for item in self._added.get(name, ()) if item.env.module.path == given.path]
                if given.text == _COMPUTED and handing:
                    yield from (value for item in handing for value in self._by_default(item))
                else:
                    yield _as(kind, given.text)

    def _find_shown(self, module: Module) -> bool:
        """Whether some command line gives an option of a file to a program that has the file."""
        return bool(self.demanded.texts(self._dashed[module], module, None))

    @cached_property
    def _dashed(self) -> dict[Module, set[str]]:
        """The names of all options that a file adds, as command lines have them."""
        found: dict[Module, set[str]] = defaultdict(set)
        for options in self._added.values():
            for option in options:
                found[option.env.module] |= {name for name in named(option.call) if name.startswith("-")}
        return found

    def _in_mapping(self, name: str, read: Value) -> Values:
        """What a library gets under a name, for what it returns: `args = setup(default_args=dict(mode="paired"))`."""
        made = read.base if isinstance(read, ExtMethod) else None
        if not isinstance(made, ExtInst) or made.call.kind != "call":
            return ()
        given = (*made.call.args[1:], *(expr for _, expr in made.call.keywords))
        mappings = (value for expr in given for value in self.evaluator.values(expr, made.env))
        found = (pair for mapping in mappings for pair in self.evaluator.containers.under_key(mapping, name))
        return tuple(value for pair in found for value in self.evaluator.values(*pair))

    @cached_property
    def _setting_any(self) -> list[Site]:
        """Where options are set by names that the project reads or computes."""
        filled = self.index.calls_named(("set_defaults", "Namespace"))
        unpacked = [site for site in filled if any(key == "**" for key, _ in site.expr.keywords)]
        owners = ((set_by_name(site.expr), site) for site in self.index.calls_named(OPTION_SETTERS))
        return [*unpacked, *(site for owner, site in owners if owner is not None and owner.dotted != "self")]

    def _around(self, site: Site) -> Env:
        return self.evaluator.generic(site.module, site.function)

    def _read_by(self, options: Mapping[str, list[_Option]], name: str, read: Value) -> list[_Option]:
        near = [
            option
            for option in options.get(name, ())
            if self._of_one_program(option.env, read) and self._may_be_added(option, read)
        ]
        parser = _parser_of(read)
        having = {made.call for made in self.evaluator.command_lines.parsers(parser)} if parser is not None else set()
        return [option for option in near if not having.isdisjoint(self._parsers(option))] or near

    def demand(self, name: str, read: Value, reader: Env) -> Demand | None:
        """What a file of the project gives, in place of its default, to an option or a field that options fill.

        None of an option whose default the program replaces by another number. `reader`: the activation that reads it.
        """
        options = self._read_by(self._options, name, read)
        found = (
            self.demanded.first({name, *named(option.call)}, option.env.module, self.program, reader)
            for option in options
            if self._in_effect(option, name, read) == [(option.default, option.env)]
        )
        fields = () if options else tuple(self._with_field(name))
        modules = dict.fromkeys(klass.module for klass in fields)
        near = (module for module in modules if self._of_one_program(self.evaluator.env(module, -1), read))
        more = (self.demanded.first(spelled(name), module, self.program, reader) for module in near)
        settings = () if options or fields else self.setting(name, read)
        scripts = dict.fromkeys(script for _, env in settings for script in self._naming.get(env.module.path, ()))
        set_again = (self.demanded.first((f"{name}=",), script, self.program, reader) for script in scripts)
        return next((demand for demand in (*found, *more, *set_again) if demand is not None), None)

    def demand_of_parameter(self, value: Value, reader: Env) -> Demand | None:
        """The same of an option that fills a parameter."""
        found = (
            self.demanded.first(named(option.call), option.env.module, self.program, reader)
            for option in self.commands.options(value)
        )
        return next((demand for demand in found if demand is not None), None)

    def demand_of_library(self, name: str, parsed: Value, reader: Env) -> Demand | None:
        """The same of an option that a library's class adds, whose objects a parser makes."""
        module = _module_of(parsed)
        if module is None or _parser_of(parsed) is None:
            return None
        return self.demanded.first(spelled(name), module, self.program, reader)

    def parameter(self, value: Value) -> list[Argument]:
        """The defaults of the command line options that fill a parameter."""
        return self.commands.default(value)

    def _in_effect(self, option: _Option, name: str, read: Value) -> list[Argument]:
        """A default, or what the program puts in its place: `if args.workers < 0: args.workers = 4`."""
        if option.default is None:
            return []
        default = option.default, option.env
        found: list[Argument] = []
        for module, write in self.index.outside_writes.get(name, ()):
            env = self.evaluator.generic(module, write.function)
            if write.event.value is not None and self._replaces(write, env, default):
                found += [(write.event.value, env)] if self._of_one_program(env, read) else []
        return found or [default]

    def _replaces(self, write: Write, env: Env, default: Argument) -> bool:
        """Whether a test of an option, around the place that sets it, holds for its default."""
        block = env.module.block(write.event.block) if write.event.block >= 0 else None
        if block is None or block.kind != "if" or block.test is None:
            return False
        values = self.evaluator.values(*default)
        return self.evaluator.conditions.holds_for(block.test, write.target.dotted, values, env)

    def number(self, name: str, read: Value) -> list[Argument]:
        """The whole numbers stored under a name on configuration objects."""
        return [(expr, env) for expr, env in self._numbers.get(name, ()) if self._of_one_program(env, read)]

    def fields(self, name: str, read: Value) -> list[Argument]:
        """What objects of dataclasses get as a field: the code that makes them passes it, or its default is a number.

        Tests make objects for themselves. What no code is seen to make has the default.
        """
        used = _module_of(read)
        in_tests = used is not None and used.is_test
        found: list[Argument] = []
        for klass in self._with_field(name):
            default = self._default(klass, name)
            made = [Inst(klass, *call) for call in self._made(klass, read) if in_tests or not call[1].module.is_test]
            for inst in made or [Inst(klass)]:
                for expr, env in self.evaluator.attributes.from_fields(inst, name):
                    if (expr is not default or _is_number(expr)) and self._of_one_program(env, read):
                        found.append((expr, env))
        return found

    def _with_field(self, name: str) -> Iterator[Klass]:
        """The dataclasses that have a field."""
        classes = self.evaluator.classes
        found = dict.fromkeys(klass for own in self._setting.get(name, ()) for klass in (own, *classes.subclasses(own)))
        return (klass for klass in found if name in classes.dataclass_fields(klass))

    @at_rest
    def _setting(self) -> dict[str, list[Klass]]:
        """The classes that set a name in their bodies."""
        found: dict[str, list[Klass]] = defaultdict(list)
        for klass in self.evaluator.classes.all_classes:
            for name in {event.target.name: None for event in klass.facts.events if event.target is not None}:
                found[name].append(klass)
        return found

    def _default(self, klass: Klass, name: str) -> Expr | None:
        return self.evaluator.classes.dataclass_fields(klass)[name][1]

    def _made(self, klass: Klass, read: Value) -> Iterator[Argument]:
        """The calls that make objects of a class, in the programs that read one."""
        for site in self.index.calls_named(sorted({klass.facts.name, *self.index.aliases.get(klass.facts.name, ())})):
            env = self.evaluator.generic(site.module, site.function)
            if self._of_one_program(env, read) and klass in self.evaluator.calls.callees(site.expr, env):
                yield site.expr, env

    def text(self, name: str, read: Value) -> list[Argument]:
        """The names of files stored under a name: on configuration objects, as options, in files of settings."""
        stored = [(expr, env) for expr, env in self._files.get(name, ()) if self._of_one_program(env, read)]
        return [*stored, *self.option(name, read), *self._of_settings(self._settings_files, name, read)]

    def within(self, program: Module) -> Declared:
        """The same where a file runs: without what other programs set that have the reading file, too."""
        known = copy(self)
        known.program = program
        return known

    def _of_one_program(self, declared: Env, read: Value) -> bool:
        """Whether some program has both files; a file that nobody imports may be read by its path."""
        used, module = _module_of(read), declared.module
        if used is None or self.index.together(used.path, module.path):
            return self.program is None or self.evaluator.programs.share(self.program, module)
        return not module.model.functions and len(self.index.importers(module.path)) == 1

    def _may_be_added(self, option: _Option, read: Value) -> bool:
        """Whether the program that reads something may add an option: not what a file adds as its own script only."""
        used, module = _module_of(read), option.env.module
        if used is None or self.evaluator.programs.reaches(module, used):
            return True
        return self._runs_elsewhere(module, option.site.function, option.site.event)

    def _runs_elsewhere(self, module: Module, function: int, event: Event) -> bool:
        """Whether code may run where its file is no script: the guarded part of the file isn't all that leads there."""
        if under_main_guard(module, function, event):
            return False
        return function < 0 or self.evaluator.ask(
            self._elsewhere, (module, function), False, self._is_called_elsewhere, module, function
        )

    def _is_called_elsewhere(self, module: Module, function: int) -> bool:
        sites = [site for site, _ in self.evaluator.call_sites.callers(module, function)]
        return not sites or any(
            site.module is not module or self._runs_elsewhere(module, site.function, site.event) for site in sites
        )

    def _parsers(self, option: _Option) -> set[Expr]:
        """The calls that make the parsers which may get an option."""
        made = map(_parser_of, self.evaluator.values(option.parser, option.env))
        return {parser.call for parser in made if parser is not None}

    @cached_property
    def _options(self) -> dict[str, list[_Option]]:
        """Those with a default."""
        return _those(self._added, lambda option: option.default is not None)

    @cached_property
    def _open_options(self) -> dict[str, list[_Option]]:
        """Those that are nothing, or one text, as a command line gives it."""
        return _those(self._added, _is_open)

    @cached_property
    def _added(self) -> dict[str, list[_Option]]:
        found: dict[str, list[_Option]] = defaultdict(list)
        for site in self.index.calls_named(_OPTION_CALLS):
            default, callee = site.expr.keyword("default"), site.expr.args[0]
            env = self.evaluator.generic(site.module, site.function)
            for name in destinations(site.expr):
                parser = callee.args[0] if callee.args else callee
                found[name].append(_Option(default, env, parser, site))
        return found

    @cached_property
    def _numbers(self) -> dict[str, list[Argument]]:
        """`_C.NUM_WORKERS = 4`, class fields, dictionary entries."""
        return self._stored(_is_number)

    @cached_property
    def _files(self) -> dict[str, list[Argument]]:
        """`HParams(training_files="lists/train.txt")`, and the like."""
        found = self._stored(_is_file)
        for module in self.index:
            for function, _, events in module.scopes if not module.settings else ():
                for part in (part for event in events for part in event.walk() if part.kind == "call"):
                    for name, value in part.keywords:
                        if _is_file(value):
                            found[name].append((value, self.evaluator.generic(module, function)))
        return found

    def _stored(self, wanted: Callable[[Expr], bool]) -> dict[str, list[Argument]]:
        found: dict[str, list[Argument]] = defaultdict(list)
        for module in self.index:
            env = self.evaluator.env(module, -1)
            for name, expr in _stored(module, wanted) if not module.settings else ():
                found[name].append((expr, env))
        return found

    def setting(self, name: str, read: Value) -> list[Argument]:
        """What files of settings hold under a name, where a program that reads such files reads it."""
        return self._of_settings(self._settings, name, read)

    def in_section(self, section: str, name: str, read: Value, around: str = "") -> list[Argument]:
        """The same in mappings that stand under a key, references to other settings among it.

        `around` is the key of the mapping around them, if there is one of that key.
        """
        outer = {id(value) for mapping in self._sections.get(around, ()) for value in mapping.args[1::2]}
        mappings = (item for item in self._sections.get(section, ()) if id(item) in outer or not outer)
        values = {value for mapping in mappings for value in mapping.args[1::2]}
        return [pair for pair in self._of_settings(self._settings_given, name, read) if pair[0] in values]

    def demand_in_section(self, section: str, name: str, read: Value, around: str) -> Demand | None:
        """What JSON has under a name in such mappings."""
        module = _module_of(read)
        return self.demanded.in_section(name, section, around, module) if module is not None else None

    def has_section(self, section: str) -> bool:
        """Whether a file of settings has something under a key."""
        return section in self._sections

    @cached_property
    def _sections(self) -> dict[str, list[Expr]]:
        """The mappings under a key, in any file of settings."""
        found: dict[str, list[Expr]] = defaultdict(list)
        for module in self.index:
            for _, _, events in module.scopes if module.settings else ():
                for part in (part for event in events for part in event.walk() if part.kind == "dict"):
                    for key, value in zip(part.args[::2], part.args[1::2], strict=True):
                        found[str(key.value)] += [value] if value.kind == "dict" else []
        return found

    def _of_settings(self, settings: Mapping[str, list[Argument]], name: str, read: Value) -> list[Argument]:
        used, found = _module_of(read), settings.get(name, [])
        if not found or used is None or used.settings:
            return found
        read_there = tuple(ending for ending in _READERS if self._reads_settings(used, _READERS[ending]))
        files = ((pair, pair[1].module) for pair in found)
        return [pair for pair, file in files if file.path.endswith(read_there) and self._is_for(file, used)]

    def _is_for(self, settings: Module, used: Module) -> bool:
        """Whether a program that has a file may read settings: those that scripts name are theirs."""
        scripts = self._naming.get(settings.path, ())
        return not scripts or any(self.evaluator.programs.share(script, used) for script in scripts)

    @cached_property
    def _naming(self) -> dict[str, list[Module]]:
        """The scripts that name a file of settings: `@hydra.main(config_path="conf", config_name="train")`."""
        found: dict[str, list[Module]] = defaultdict(list)
        for module in self.index:
            for call in (call for function in module.model.functions for call in function.decorators):
                folder, name = (call.keyword(key) for key in ("config_path", "config_name"))
                if name is not None and isinstance(name.value, str):
                    below = folder.value if folder is not None and isinstance(folder.value, str) else ""
                    path = normpath(f"{dirname(module.path) or '.'}/{below or '.'}/{name.value}")
                    for ending in (".yaml", ".yml", ""):
                        found[path.removesuffix(".yaml") + ending].append(module)
        return found

    def _reads_settings(self, module: Module, readers: frozenset[str]) -> bool:
        """Whether a file belongs to a program that imports a reader of settings, or is for others, which may do so."""
        importers = self.index.importers(module.path)
        return any(not importers.isdisjoint(self.index.importers(path)) for path in self._importing[readers])

    @cached_property
    def _importing(self) -> dict[frozenset[str], list[str]]:
        """The files that import some of what reads settings."""
        code = [module for module in self.index if not module.settings]
        return {
            readers: [item.path for item in code if any(_is_one_of(readers, name) for name in item.model.imports)]
            for readers in set(_READERS.values())
        }

    @cached_property
    def _settings(self) -> dict[str, list[Argument]]:
        """Numbers, under the keys of mappings and as arguments of what is made."""
        return self._set(_is_number)

    @cached_property
    def _settings_given(self) -> dict[str, list[Argument]]:
        return self._set(lambda expr: _is_number(expr) or expr.kind == "attribute")

    @cached_property
    def _settings_files(self) -> dict[str, list[Argument]]:
        return self._set(_is_file)

    @cached_property
    def _settings_plain(self) -> dict[str, list[Argument]]:
        return self._set(lambda expr: isinstance(expr.value, str | int | float))

    def _set(self, wanted: Callable[[Expr], bool]) -> dict[str, list[Argument]]:
        found: dict[str, list[Argument]] = defaultdict(list)
        for module in self.index:
            for function, _, events in module.scopes if module.settings else ():
                env = self.evaluator.generic(module, function)
                for part in (part for event in events for part in event.walk()):
                    pairs = zip(part.args[::2], part.args[1::2], strict=True) if part.kind == "dict" else ()
                    named = [(str(key.value), value) for key, value in pairs] + list(part.keywords)
                    for key, value in named:
                        if wanted(value):
                            found[key].append((value, env))
        return found


def _those(options: Mapping[str, list[_Option]], wanted: Callable[[_Option], bool]) -> dict[str, list[_Option]]:
    return {name: chosen for name, found in options.items() if (chosen := [item for item in found if wanted(item)])}


def _is_open(option: _Option) -> bool:
    unset = option.default is None or (option.default.kind == "constant" and option.default.value in (None, ""))
    return unset and option.call.keyword("nargs") is None and option.call.keyword("action") is None


def _is_of_options(read: Value) -> bool:
    """Whether something may be read from options: from what a parser gives, or from what isn't known."""
    if _parser_of(read) is not None:
        return True
    base = read.base if isinstance(read, ExtMethod) else None
    return isinstance(base, Opaque | Free) or (isinstance(base, ExtInst) and base.name.endswith("parse_args"))


def _has_one_value(option: _Option) -> bool:
    """Whether an option is a flag, or one text or number, any one, with a default."""
    given = dict(option.call.keywords)
    action = given.get("action")
    if action is not None:
        return action.value in ("store_true", "store_false") and {"choices", "nargs", "const"}.isdisjoint(given)
    choices = given.get("choices")
    is_flag = choices is not None and [part.value for part in choices.args] == [0, 1]
    plain = option.default is not None and isinstance(option.default.value, str | int | float)
    return plain and "nargs" not in given and (choices is None or is_flag)


def _kind(option: _Option) -> str:
    """The type of an option's values."""
    return "bool" if option.default is None else type(option.default.value).__name__


def _as(kind: str, text: str) -> Value:
    """A text on a command line as a value; of a flag, and of what is no number, it isn't known."""
    if kind == "str":
        return Const(text, "str")
    try:
        return TOP if kind == "bool" else Const(float(text) if kind == "float" else int(text), kind)
    except ValueError:
        return TOP


def _is_plain(value: Value) -> bool:
    """Whether something is a number, the value of a flag, or a text that nothing has to be put in the place of."""
    known = value.value if isinstance(value, Const) else None
    return isinstance(known, int | float) or (isinstance(known, str) and _PLAIN.fullmatch(known) is not None)


def _is_one_of(readers: frozenset[str], imported: ImportedName) -> bool:
    whole = f"{imported.module}.{imported.attribute}"
    return not imported.level and (whole in readers or imported.module.partition(".")[0] in readers)


def _parser_of(value: Value) -> ExtInst | None:
    """The parser that something external comes from: its groups, its options, what it parsed."""
    while isinstance(value, ExtMethod | ExtInst):
        if isinstance(value, ExtInst) and value.name.endswith("Parser"):
            return value
        if value.base is None:
            return None
        value = value.base
    return None


def _module_of(value: Value) -> Module | None:
    """The module in which something that cannot be followed is read."""
    match value:
        case ExtMethod(base=base):
            return _module_of(base)
        case ExtInst(env=env) | Opaque(env=env):
            return env.module
        case Free(module=module):
            return module
    return None


def _stored(module: Module, wanted: Callable[[Expr], bool]) -> Iterator[tuple[str, Expr]]:
    for name, writes in module.attribute_writes.items():
        for write in writes:
            # What only a branch stores takes the place of the number that the rest of the program has.
            if write.event.value is not None and wanted(write.event.value) and not _is_conditional(module, write):
                yield name, write.event.value
    for item in module.model.classes:
        for event in item.events:
            if event.target is not None and event.value is not None and wanted(event.value):
                yield event.target.name, event.value
    for _, _, events in module.scopes:
        for event in events:
            for part in event.value.walk() if event.value is not None else ():
                if part.kind == "dict":
                    for key, value in zip(part.args[::2], part.args[1::2], strict=True):
                        if isinstance(key.value, str) and wanted(value):
                            yield key.value, value


def _is_conditional(module: Module, write: Write) -> bool:
    kinds = {module.block(index).kind for index in module.enclosing(write.event.block)}
    return not kinds.isdisjoint(("if", "else", "except", "case"))


def _is_number(expr: Expr) -> bool:
    return expr.kind == "constant" and type(expr.value) is int


def _is_file(expr: Expr) -> bool:
    """Whether an expression is the written name of a file, with a folder."""
    text = expr.value
    return expr.kind == "constant" and isinstance(text, str) and "/" in text and "." in text.rpartition("/")[2]
