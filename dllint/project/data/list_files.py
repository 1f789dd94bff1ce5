"""The list files of the project that code opens: which they are, by what the program says of their paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property
from itertools import product
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import (
    Const,
    Env,
    ExtInst,
    ExtMethod,
    Inst,
    Klass,
    Opaque,
    Top,
    Value,
)
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.evaluate.shapes import text_around

if TYPE_CHECKING:
    from dllint.project import Project
    from dllint.project.program.module import Module

_JOINS = frozenset({"join", "joinpath", "Path", "PurePath", "PosixPath"})
_SAME = frozenset({"str", "abspath", "realpath", "normpath", "expanduser", "resolve", "absolute", "as_posix", "fspath"})
_FOLDERS = frozenset({"dirname", "parent", "cwd", "getcwd"})
_FIELD = re.compile(r"\{[^{}]*\}|%[-+ 0-9.]*[sdif]")
_EXAMPLE = re.compile(
    r"(?:^|[\W_])(?:examples?|samples?|dummy|demos?|toy|tiny|mini|debug|small)(?:[\W_]|$)|(?:^|[/ ])tests?/",
    re.IGNORECASE,
)
"""Files with some rows to try a program with, and the command lines that do it."""
_PLAIN = re.compile(r"[\w./~@+:,][\w./~@+:,-]*")
"""A path without variables and patterns."""
ANY = "*"
_MOST, _STEPS, _VISITS = 8, 8, 400
"""So many alternatives, so many names on the way to a text, and so many expressions in all."""


class ListFiles:
    """Answers how long the files are that code opens, as far as they are in the project."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.declared = project.declared
        self.lists = project.lists
        self._visits = 0
        self._commands: _Commands | None = None
        self._choices = AtRest(self.evaluator, self._with_keys)

    def longest(self, opened: ExtInst) -> tuple[str, int, int] | None:
        """The longest file that a call may open: path, elements, bytes; None unless all are in the project."""
        if self.lists is None:
            return None
        path = opened.call.args[1] if len(opened.call.args) > 1 else opened.call.keyword("file")
        if opened.name.startswith("pathlib.") or path is None:
            path = opened.call.args[0].args[0] if opened.call.args[0].args else path
        if path is None:
            return None
        told = self._longest(self.texts(path, opened.env), opened.env)
        return told or self._longest(self.passed(path, opened.env, _reading(opened.env)), opened.env)

    def _longest(self, texts: Iterable[str], env: Env) -> tuple[str, int, int] | None:
        found = [self._near(text, env.module.path) for text in dict.fromkeys(texts)]
        known = [count for count in found if count is not None]
        return max(known, key=lambda count: (count[1], count[0])) if known and len(known) == len(found) else None

    def texts(self, path: Expr, env: Env) -> list[str]:
        """What a path may be, as far as the program says it."""
        self._visits, self._commands = 0, None
        return list(self._texts(path, env, _STEPS))

    def passed(self, path: Expr, env: Env, reader: Klass | None) -> list[str]:
        """The same for a class that reads it, of options without a default as the project's command lines say it."""
        self._visits, self._commands = 0, _Commands(reader)
        return list(self._texts(path, env, _STEPS))

    def _near(self, text: str, path: str) -> tuple[str, int, int] | None:
        """A path where programs start: at the root of the project, or in a folder on the way to a file."""
        assert self.lists is not None
        text = text[:1] + _FIELD.sub(ANY, text[1:])
        parts = path.split("/")[:-1]
        places = [normpath("/".join((*parts[:depth], text))) for depth in range(len(parts) + 1)]
        if text.startswith("{"):
            places = [text, *(f"{folder}/{text}" for folder in self._with_arguments(path))]
        for place in places:
            known = None if place.startswith(("..", "/")) else self.lists.longest(place)
            if known is not None:
                return known
        return None

    def _with_arguments(self, path: str) -> list[str]:
        """The folders of the programs with a file that read arguments from files: `@arguments.txt`."""
        programs = self.evaluator.index.importers(path)
        folders = (dirname(module.path) or "." for module in self._from_files if module.path in programs)
        return list(dict.fromkeys(folders))

    @cached_property
    def _from_files(self) -> list[Module]:
        """The files that make a parser of command lines which takes arguments from files."""
        sites = self.evaluator.index.calls_named(("ArgumentParser",))
        return [site.module for site in sites if site.expr.keyword("fromfile_prefix_chars") is not None]

    def _texts(self, expr: Expr, env: Env, steps: int) -> Iterator[str]:
        """What a path may be in words; `*` stands for what isn't known, `{key}` for what settings have."""
        self._visits += 1
        if self._visits > _VISITS:
            yield ANY
            return
        found = [text for _, text in zip(range(_MOST), self._of(expr, env, steps), strict=False)]
        yield from [text for text in found if text != ANY and not text.startswith("{")] or found or (ANY,)

    def _of(self, expr: Expr, env: Env, steps: int) -> Iterable[str]:
        if isinstance(expr.value, str) and expr.kind == "constant":
            return (expr.value,)
        if not steps:
            return (ANY,)
        if expr.kind == "fstring":
            return self._formatted(expr, env, steps)
        if expr.kind == "binop" and expr.name in "+/":
            return self._joined(expr.args, "/" if expr.name == "/" else "", env, steps)
        if expr.kind == "binop" and expr.name == "%":
            return self._filled(expr.args[0], expr.args[1], env, steps)
        if expr.kind == "ifexp":
            return (text for part in expr.args[1:] for text in self._texts(part, env, steps - 1))
        if expr.kind == "call":
            return self._called(expr, env, steps)
        if expr.kind == "attribute" and expr.name in _FOLDERS:
            return ("",)
        if expr.kind in ("name", "attribute", "subscript"):
            values = self.evaluator.values(expr, env) or (Opaque(expr, env),)
            unknown = all(isinstance(value, (Opaque, Top)) for value in values)
            passed = list(self._passed(expr, env)) if unknown else []
            if passed:
                return (text for place in passed for text in self._texts(*place, steps - 1))
            return (text for value in values for text in self._valued(value, expr, steps))
        return (ANY,)

    def _passed(self, name: Expr, env: Env) -> Iterator[tuple[Expr, Env]]:
        """What the call of a function passes for its parameter of this name."""
        for position, parameter in enumerate(env.facts.parameters) if env.call is not None and env.caller else ():
            if name.kind == "name" and parameter.name == name.name and parameter.kind not in ("args", "kwargs"):
                yield from self.evaluator.arguments.passed(env, position, parameter)

    def _joined(self, parts: Iterable[Expr], between: str, env: Env, steps: int) -> Iterator[str]:
        given = [list(self._texts(part, env, steps - 1)) for part in parts]
        for texts in product(*given):
            yield between.join(text for text in texts if text or not between)

    def _formatted(self, expr: Expr, env: Env, steps: int) -> Iterator[str]:
        around = text_around(expr)
        if around is None:
            yield ANY if expr.args else str(expr.value)
            return
        for text in self._texts(expr.args[0], env, steps - 1):
            yield f"{around[0]}{text}{around[1]}"

    def _filled(self, whole: Expr, given: Expr, env: Env, steps: int) -> Iterator[str]:
        """`"data/%s" % name`; a tuple fills one field after the other."""
        parts = given.args if given.kind == "tuple" else (given,)
        named = [list(self._texts(part, env, steps - 1)) for part in parts]
        for text, *names in product(list(self._texts(whole, env, steps - 1)), *named):
            between = _FIELD.split(text)
            filled = len(between) == len(names) + 1
            yield "".join(map("".join, zip(between, (*names, ""), strict=True))) if filled else _FIELD.sub(ANY, text)

    def _called(self, call: Expr, env: Env, steps: int) -> Iterable[str]:
        callee, given = call.args[0], call.args[1:]
        method = callee.args if callee.kind == "attribute" else ()
        if callee.name in _FOLDERS:
            return ("",)
        if callee.name in _JOINS and given:
            return self._joined((*method, *given) if callee.name == "joinpath" else given, "/", env, steps)
        if callee.name in _SAME and (given or method):
            return self._texts((given or method)[0], env, steps - 1)
        if callee.name == "format" and method:
            named = list(self._texts(given[0], env, steps - 1)) if len(given) == 1 else [ANY]
            whole = self._texts(method[0], env, steps - 1)
            return (name.join(_FIELD.split(text)) for text, name in product(whole, named))
        return (text for value in self.evaluator.values(call, env) for text in self._valued(value, call, steps))

    def _valued(self, value: Value, expr: Expr, steps: int) -> Iterable[str]:
        """The text of a value; of one that isn't followed, what the program stores under its name."""
        match value:
            case Const(value=str(text)):
                return (text,)
            case ExtInst(call=call, env=env) if call is not expr and call.kind == "call":
                return self._texts(call, env, steps - 1)
            case Opaque(expr=inner, env=env) if inner is not expr and inner.kind in (
                "binop",
                "fstring",
                "ifexp",
                "call",
            ):
                return self._texts(inner, env, steps - 1)
        name = expr.name if expr.kind in ("name", "attribute") else ""
        if expr.kind == "subscript" and isinstance(expr.args[1].value, str):
            name = expr.args[1].value
        if isinstance(value, ExtMethod):
            name = value.attribute
        stored = self.declared.text(name, value) if name else ()
        texts = (text for default, env in stored for text in self._texts(default, env, steps - 1))
        found = [text for _, text in zip(range(_MOST), texts, strict=False)]
        passed = self._on_command_lines(name, value) if name and {"", ANY}.issuperset(found) else []
        return passed or found or ((f"{{{name}}}",) if name else (ANY,))

    def _on_command_lines(self, name: str, read: Value) -> list[str]:
        """What command lines give an option, if all of them give it plain words."""
        if self._commands is None:
            return []
        given = [item for item in self.declared.passed(name, read) if self._is_for(item.words, self._commands.reader)]
        texts = list(dict.fromkeys(item.text for item in given if not _EXAMPLE.search(f"{item.path} {item.text}")))
        return texts if len(texts) <= _MOST and all(map(_PLAIN.fullmatch, texts)) else []

    def _is_for(self, words: Set[str], klass: Klass | None) -> bool:
        """Whether a command line chooses no other class: `--dataset kitti` of `{"kitti": Kitti, "coco": Coco}`."""
        choices = self._choices[klass] if klass is not None else ()
        return all(others.isdisjoint(words) or not own.isdisjoint(words) for own, others in choices)

    def _with_keys(self, klass: Klass) -> list[tuple[set[str], set[str]]]:
        """The keys of a class, and those of others, in the dictionaries that have it."""
        found = []
        for module in self.evaluator.index:
            for function, _, events in module.scopes if not module.settings else ():
                for part in (part for event in events for part in event.walk() if part.kind == "dict"):
                    if any(value.name == klass.facts.name for value in part.args[1::2]):
                        env, keys = self.evaluator.generic(module, function), (set[str](), set[str]())
                        for key, value in zip(part.args[::2], part.args[1::2], strict=True):
                            other = klass not in self.evaluator.values(value, env)
                            keys[other].update([key.value] if isinstance(key.value, str) else ())
                        if keys[0]:
                            found.append(keys)
        return found


class _Commands(NamedTuple):
    """The command lines that count: those for a class."""

    reader: Klass | None


def _reading(env: Env) -> Klass | None:
    here: Env | None = env
    while here is not None and not isinstance(here.receiver, Inst):
        here = here.caller
    return here.receiver.klass if here is not None and isinstance(here.receiver, Inst) else None
