"""Suggestions of reviewers: each is one range of UTF-8 bytes, and applying it does what `--fix` does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dllint import registry
from dllint.config import Config, Configs
from dllint.engine.corpus import Corpus
from dllint.engine.fixing import Fixer, Remedies, written_out
from dllint.engine.judge import Judge
from dllint.finding import Finding
from dllint.fix import Applicability, Edit, Fix, edited
from dllint.reduce import collect_source
from dllint.report import Context, Findings, rdjson
from dllint.source import Source, Span
from tests import reviewdog
from tests.programs import Program, programs
from tests.test_cli import check

NAME = "a.py"
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "training"
CODES = [rule.code for rule in registry.rules()]
CONFIG = Config(root="/nowhere")
CONFIGS = Configs.only(CONFIG)


def suggestions(findings: Findings, source: Source) -> list[dict[str, Any]]:
    """What rdjson suggests for each finding, unsafe fixes too."""
    context = Context(
        root="/nowhere", cwd="/nowhere", rules=registry.by_code(), source=lambda path: source, unsafe_fixes=True
    )
    told = json.loads(rdjson.render(findings, context))["diagnostics"]
    return [one for diagnostic in told for one in diagnostic.get("suggestions", ())]


TEXTS = st.lists(st.sampled_from(["a", " ", "\t", "ß", "中", "🜂", "\n", "\n", "\r\n"]), max_size=60).map("".join)


@st.composite
def fixes(draw: st.DrawFn) -> tuple[Source, Fix]:
    """A text, and a fix of it whose edits do not overlap."""
    text = draw(TEXTS)
    places = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=8, unique=True)) if text else [0, 0])
    places = [place - (text[place - 1 : place + 1] == "\r\n") for place in places]
    spans = [Span(*pair) for pair in zip(places[::2], places[1::2], strict=False)]
    edits = [Edit(NAME, span, draw(TEXTS)) for span in spans]
    assume(len({span.start for span in spans}) == len(spans))
    return Source(NAME, text, bom=draw(st.booleans())), Fix("fix", tuple(edits), Applicability.SAFE)


@given(fixes())
def test_a_suggestion_is_the_fix_in_bytes(made: tuple[Source, Fix]) -> None:
    source, fix = made
    finding = Finding("DLL101", NAME, Span(0, 0), "here")
    (suggestion,) = suggestions([(finding, fix)], source)
    after = reviewdog.applied(source.encode(), suggestion)
    assert after == edited(source, fix.edits).encode()


def corpus_of(source: Source) -> Corpus:
    return Corpus(CONFIG.root, {NAME: collect_source(source)}, sources={NAME: source})


def suggested(source: Source) -> list[dict[str, Any]]:
    """The suggestions for a file."""
    judged = Judge(CONFIGS, lambda _: CODES).judge(corpus_of(source))
    remedies = Remedies(CONFIGS)
    (project,) = judged.projects
    pairs = [(finding, remedies.fix(finding, project)) for finding in judged.findings]
    return suggestions([(finding, written_out(fix, project) if fix else None) for finding, fix in pairs], source)


_SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)


@settings(max_examples=25, deadline=None, suppress_health_check=_SLOW)
@given(programs())
def test_applying_suggestions_is_what_fix_does(program: Program) -> None:
    source = Source(NAME, program.text, bom=program.bom)
    corpus = corpus_of(source)
    assume(NAME in corpus.models)
    outcome = Fixer(Judge(CONFIGS, lambda _: CODES), Remedies(CONFIGS, unsafe=True), {NAME}).run(corpus)
    assume(outcome.applied and not outcome.refused)
    for _ in outcome.applied:
        (first, *_) = suggested(source)
        source = Source.from_bytes(NAME, reviewdog.applied(source.encode(), first))
    fixed = outcome.corpus.source(NAME)
    assert source.encode() == fixed.encode()
    assert not suggested(source)


def test_the_suggestions_for_the_example_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fixed", "suggested"):
        shutil.copytree(EXAMPLE, tmp_path / name, ignore=shutil.ignore_patterns("reviews", "__pycache__"))
    monkeypatch.chdir(tmp_path / "fixed")
    assert check("--fix", "--unsafe-fixes", "--no-cache").exit_code == 0
    monkeypatch.chdir(tmp_path / "suggested")
    for _ in range(8):
        told = json.loads(check("--output-format", "rdjson", "--unsafe-fixes").stdout)["diagnostics"]
        file = tmp_path / "suggested" / told[0]["location"]["path"]
        (suggestion,) = told[0]["suggestions"]
        file.write_bytes(reviewdog.applied(file.read_bytes(), suggestion))
    assert check().exit_code == 0
    for name in ("vocab.py", "train.py"):  # with two in one file, new functions may stand in another order
        assert (tmp_path / "suggested" / name).read_bytes() == (tmp_path / "fixed" / name).read_bytes()
