"""Command lines that a program writes itself: `parser.parse_args(["--workers", "0"])`, as notebooks do.

What a command line gives is known there. Elsewhere an option is one of its `choices`, which argparse sees to, or its
default. Other options count with their default, or with what the program puts in the default's place; so does a
parameter that an option of click or typer fills.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Value, Values
from dllint.project.evaluate.exclusion import Told
from dllint.project.program.module import Site

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_PARSER = "argparse.ArgumentParser"
_PARSED = f"{_PARSER}().parse_args"
_KNOWN = f"{_PARSER}().parse_known_args"
_PLAIN = frozenset({"type", "default", "help", "action", "dest", "required", "metavar"})
_MAX_CHOICES = 12
"""Of an option with more choices it isn't followed which of them it is."""
_FLAGS = {"store_true": (True, False), "store_false": (False, True)}
"""What an option of an action is if the command line has it, and if it doesn't."""
OPTION_SETTERS = ("setattr", "update")
"""What may set options by names that are computed."""
_CONVERTED = {"int": int, "float": float, "str": str, "bool": bool}


class CommandLines:
    """Answers what an option is of which the whole command line is known."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def option(self, parsed: ExtInst, name: str) -> Values:
        """The values of `args.name`; none where the command line, the option, or what is done with it isn't known."""
        known = parsed.name == _PARSED and isinstance(parsed.base, ExtInst)
        if not known or name in self.evaluator.index.outside_writes or not isinstance(parsed.base, ExtInst):
            return ()
        parsers = self.parsers(parsed.base)
        options = [(option, parser.env) for parser in parsers for option in self._added(parser, name)]
        if len(options) != 1:
            return ()
        words, (option, env) = self._words(parsed), options[0]
        if words is not None:
            return self._given(option, words, env)
        chosen = self._chosen(option, parsed, env)
        return chosen if chosen and not self._has_set_default(parsers, name) else ()

    def stated(self, parsed: ExtInst, name: str, told: Told) -> Values:
        """What an option is of which the program asserts what it is: a constant, or the truth of a flag."""
        if self._is_set(parsed) or not isinstance(parsed.base, ExtInst):
            return ()
        if told.constants:
            stated = sorted(told.constants, key=repr) if told.holds else ()
            return tuple(Const(value, type(value).__name__) for value in stated)
        added = [option.expr for parser in self.parsers(parsed.base) for option in self._added(parser, name)]
        actions = [option.keyword("action") for option in added]
        are_flags = bool(actions) and all(action is not None and action.value in _FLAGS for action in actions)
        return _constant(told.holds) if are_flags and told.order is None else ()

    def _words(self, parsed: ExtInst) -> list[str] | None:
        """The words of a command line that a call is given: a list of texts, also by a parameter, or a split text."""
        given = parsed.call.args[1] if len(parsed.call.args) > 1 else parsed.call.keyword("args")
        if given is None:
            return None
        if given.kind in ("list", "tuple"):
            return _texts([item.value for item in given.args])
        if given.kind == "name":
            values = self.evaluator.values(given, parsed.env)
            whole = self.evaluator.conditions.contents.at(values[0], given, parsed.env) if len(values) == 1 else None
            return _texts(whole.constants) if whole is not None and whole.kind in ("list", "tuple") else None
        callee = given.args[0] if given.kind == "call" and len(given.args) == 1 and not given.keywords else None
        if callee is not None and callee.kind == "attribute" and callee.name == "split":
            text = callee.args[0].value
            return text.split() if isinstance(text, str) else None
        return None

    def parsers(self, parser: ExtInst) -> list[ExtInst]:
        """A parser and its `parents`, whose options it has, too."""
        found = [parser]
        for known in found:
            parents = known.call.keyword("parents")
            made = self.evaluator.containers.iterated(parents, known.env) if parents is not None else ()
            found += [value for value in made if isinstance(value, ExtInst) and value not in found]
        return found

    def _added(self, parser: ExtInst, name: str) -> list[Site]:
        """The options of a parser that fill an attribute, in the function that makes it."""
        module, function = parser.env.module, parser.env.function
        calls = [call for call in module.calls.get("add_argument", ()) if call.function == function]
        return [
            Site(module, function, call.event, call.expr)
            for call in calls
            if name == next(destinations(call.expr), "")
            and parser in self.evaluator.values(call.expr.args[0].args[0], parser.env)
        ]

    def _chosen(self, option: Site, parsed: ExtInst, env: Env) -> Values:
        """The texts that an option has to be one of, and its default; none where it may be something else."""
        given = dict(option.expr.keywords)
        choices, kind, default = given.pop("choices", None), given.get("type"), given.get("default")
        if choices is None or not given.keys() <= _PLAIN - {"action"} or (kind is not None and kind.dotted != "str"):
            return ()
        if choices.kind not in ("list", "tuple", "set") or len(choices.args) > _MAX_CHOICES:
            return ()
        if not all(isinstance(part.value, str) for part in choices.args) or self._is_set(parsed):
            return ()
        if default is not None:
            others = self.evaluator.values(default, env)
        else:
            others = () if "required" in given else _constant(None)
        return tuple(dict.fromkeys((*(Const(part.value, "str") for part in choices.args), *others)))

    def _has_set_default(self, parsers: list[ExtInst], name: str) -> bool:
        """Whether one of these parsers, or perhaps one of theirs, may be given another default."""
        calls = {parser.call for parser in parsers}
        return any(
            not isinstance(value, ExtInst) or value.name != _PARSER or value.call in calls
            for site in self.evaluator.index.calls_named(("set_defaults",))
            if site.expr.args[0].args and not {name, "**"}.isdisjoint(key for key, _ in site.expr.keywords)
            for env in (self.evaluator.generic(site.module, site.function),)
            for value in self.evaluator.values(site.expr.args[0].args[0], env)
        )

    def _is_set(self, parsed: ExtInst) -> bool:
        """Whether options may be given something else, in a namespace or by names that the program computes."""
        if parsed.call.keyword("namespace") is not None:
            return True
        sites = self.evaluator.index.calls_named(OPTION_SETTERS)
        owners = ((set_by_name(site.expr), site) for site in sites)
        found = (
            value
            for owner, site in owners
            if owner is not None
            for value in self.evaluator.values(owner, self.evaluator.generic(site.module, site.function))
        )
        return any(isinstance(value, ExtInst) and value.call is parsed.call for value in found)

    def _given(self, option: Site, words: list[str], env: Env) -> Values:
        call = option.expr
        names = [str(arg.value) for arg in call.args[1:] if isinstance(arg.value, str)]
        action = call.keyword("action")
        plain = all(key in _PLAIN for key, _ in call.keywords)
        if not plain or not all(name.startswith("-") for name in names):
            return ()
        joined = [word.partition("=")[2] for word in words if word.partition("=")[0] in names and "=" in word]
        places = [place for place, word in enumerate(words) if word in names]
        given = joined + [words[place + 1] for place in places if place + 1 < len(words)]
        if action is not None:
            flag = _FLAGS.get(str(action.value))
            return _constant(flag[0] if places else flag[1]) if flag and call.keyword("default") is None else ()
        if not given:
            default = call.keyword("default")
            return self.evaluator.values(default, env) if default is not None else _constant(None)
        kind = call.keyword("type")
        return _converted(kind.dotted if kind is not None else "str", given[-1])


def set_by_name(call: Expr) -> Expr | None:
    """On what a call sets attributes by computed names: `setattr(args, name, value)`, `vars(args).update(settings)`."""
    callee = call.args[0]
    if callee.name == "setattr":
        return call.args[1] if len(call.args) > 2 and call.args[2].kind != "constant" else None
    base = callee.args[0] if callee.kind == "attribute" else None
    if base is not None and base.kind == "attribute" and base.name == "__dict__":
        return base.args[0]
    of_vars = base is not None and base.kind == "call" and base.args[0].name == "vars" and len(base.args) == 2
    return base.args[1] if base is not None and of_vars else None


def namespace(known: ExtInst) -> ExtInst | None:
    """The first part of what `parse_known_args` returns: what `parse_args` would, as it has the same options."""
    if known.name != _KNOWN:
        return None
    return ExtInst(_PARSED, known.call, known.env, known.base)


def destinations(call: Expr) -> Iterator[str]:
    """The attribute that an option fills: `dest`, or its first long name, or its first one, with underscores.

    Other parsers than argparse's fill all long names.
    """
    destination = call.keyword("dest")
    if destination is not None and isinstance(destination.value, str):
        yield destination.value
        return
    names = [arg.value for arg in call.args[1:] if isinstance(arg.value, str)]
    for name in [name for name in names if name.startswith("--") or not name.startswith("-")] or names[:1]:
        yield name.lstrip("-").replace("-", "_")


def _texts(words: Sequence[object] | None) -> list[str] | None:
    """Words that are all texts."""
    texts = [word for word in words or () if isinstance(word, str)]
    return texts if words is not None and len(texts) == len(words) else None


def _constant(value: bool | None) -> tuple[Value, ...]:
    return (Const(value, type(value).__name__),)


def _converted(kind: str, word: str) -> tuple[Value, ...]:
    convert = _CONVERTED.get(kind)
    try:
        value = convert(word) if convert is not None else None
    except ValueError:
        return ()
    return (Const(value, type(value).__name__),) if convert is not None else ()
