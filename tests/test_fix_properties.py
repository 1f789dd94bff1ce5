"""Whatever program is fixed: it parses, keeps its comments, does the same in one process, and then pickles.

150 programs by default, 10,000 with `-m slow`. `DLLINT_PROGRAMS=500 pytest -m slow tests/test_fix_properties.py` checks
so many.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import sys
import tokenize
import warnings
from collections import Counter
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from dllint import registry
from dllint.config import Config, Configs
from dllint.engine.corpus import Corpus
from dllint.engine.fixing import Fixer, Outcome, Remedies
from dllint.engine.judge import Judge
from dllint.reduce import collect_source
from dllint.source import Source
from tests.programs import Program, programs

PICKLING = {"DLL101", "DLL102", "DLL103", "DLL104", "DLL105"}
NAME = "fixed_program"
MANY = int(os.environ.get("DLLINT_PROGRAMS", "10000"))


def fixed(source: Source) -> tuple[Outcome, set[str]]:
    """What fixing comes to, and the codes that are left."""
    config = Config(root="/nowhere")
    configs, codes = Configs.only(config), [rule.code for rule in registry.rules()]
    judge = Judge(configs, lambda _: codes)
    corpus = Corpus(config.root, {source.path: collect_source(source)}, sources={source.path: source})
    outcome = Fixer(judge, Remedies(configs, unsafe=True), {source.path}).run(corpus)
    return outcome, {finding.code for finding in judge.judge(outcome.corpus).findings}


def torch() -> dict[str, ModuleType]:
    """Modules that stand in for torch's; their loader does nothing."""
    modules = {name: ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.data")}
    modules["torch.utils.data"].__dict__.update(Dataset=object, DataLoader=lambda *args, **kwargs: [])
    return modules


def loaded(text: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType | str:
    """The module, or the exception that its code raises."""
    module = ModuleType(NAME)
    monkeypatch.setitem(sys.modules, NAME, module)
    for name, stand_in in torch().items():
        monkeypatch.setitem(sys.modules, name, stand_in)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, f"{NAME}.py", "exec"), module.__dict__)
    except Exception as error:
        return type(error).__name__
    return module


def behaviour(module: ModuleType | str) -> Any:
    """What the dataset gives, made twice; exceptions by their types."""
    if isinstance(module, str):
        return module
    seen: list[Any] = []
    for a, b in ((1, 2), (0, 5)):
        try:
            data = module.Data(a, b)
        except Exception as error:
            seen.append(type(error).__name__)
            continue
        seen += items(data)
    return seen


def items(data: Any) -> list[str]:
    """Some items, without the addresses and the names of functions."""
    seen = []
    for index in (0, 3, 3):
        try:
            seen.append(re.sub(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>", "<>", repr(data[index])))
        except Exception as error:
            seen.append(type(error).__name__)
    return seen


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def check(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(f"{NAME}.py", program.text, bom=program.bom)
    before = loaded(program.text, monkeypatch)
    if before == "SyntaxError":  # `nonlocal` of a name that is not bound there, and its like
        return
    outcome, left = fixed(source)
    after = outcome.corpus.source(source.path)
    assert not outcome.corpus.problems
    if after.text == program.text:
        assert not outcome.applied
        return
    expected = behaviour(before)
    module = loaded(after.text, monkeypatch)
    assert behaviour(module) == expected, after.text
    assert not comments(program.text) - comments(after.text), after.text
    assert (after.bom, after.newline) == (program.bom, program.newline)
    assert after.text.count("\n") == after.text.count(program.newline), "newlines are mixed"
    if not left & PICKLING and isinstance(module, ModuleType) and len(expected) == 6:
        data = module.Data(1, 2)
        again = pickle.loads(pickle.dumps(data))
        assert items(again) == items(module.Data(1, 2)), after.text
    repeated, _ = fixed(after)
    assert repeated.corpus.source(source.path).text == after.text, "a second run changes it"


_LATE = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)


@settings(max_examples=150, deadline=None, suppress_health_check=_LATE)
@given(programs())
def test_a_fixed_program_does_the_same_and_pickles(monkeypatch: pytest.MonkeyPatch, program: Program) -> None:
    check(program, monkeypatch)


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None, suppress_health_check=_LATE)
@given(programs())
def test_many_fixed_programs_do_the_same_and_pickle(monkeypatch: pytest.MonkeyPatch, program: Program) -> None:
    check(program, monkeypatch)
