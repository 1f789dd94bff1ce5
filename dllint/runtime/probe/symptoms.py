"""How a process failed, in a line, and the rule that explains it."""

from __future__ import annotations

import re

from dllint.runtime.explain.message import Role
from dllint.runtime.explain.reading import read
from dllint.runtime.probe.messages import Place
from dllint.runtime.probe.observed import Observed
from dllint.runtime.probe.report import Answer, Verdict

PLAIN = frozenset(
    (
        "DLL104",
        "DLL106",
        "DLL109",
        "DLL110",
        "DLL113",
        "DLL207",
        "DLL301",
        "DLL302",
        "DLL305",
        "DLL307",
        "DLL403",
        "DLL606",
    )
)
"""Rules whose hazards have an error message of their own; what kills a worker may be anything."""
_WORKER = re.compile(
    r"DataLoader worker \(pid(?:\(s\))? [\d, ]+\) (?:is |)((?:killed by signal: \w+|exited unexpectedly)[^.\n]*)"
)
_ERROR = re.compile(r"^(?:[A-Za-z_][\w.]*\.)?([A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration|NotSent))\b:? ?(.*)$")


def failure(question: str, observed: Observed) -> Answer:
    """The answer to a question at which the process ended."""
    text, places = _told(observed)
    printed = observed.ending.output if observed.ending else ""
    rule = "DLL301" if _respawns(observed) else _rule(text) or _rule(printed)
    if rule == "DLL113" and question != "workers start":
        rule = ""  # a recursion of another kind
    return Answer(question, Verdict.FAILS, text, rule, places=places)


def _respawns(observed: Observed) -> bool:
    """Whether it was stopped because it started processes forever, as code without a main guard does."""
    return observed.ending is not None and observed.ending.why.startswith("it started")


def _told(observed: Observed) -> tuple[str, tuple[Place, ...]]:
    ending, failed = observed.ending, observed.failed
    assert ending is not None
    if ending.why:
        return _stopped(observed)
    if failed is not None:
        message = _last_error(failed.message) or f"{failed.error}: {_first_line(failed.message)}"
        if not (match := _WORKER.search(failed.message)):
            return message, failed.places
        error = _last_error(ending.output) if match[1].startswith("exited") else ""
        found = tuple(place for name, place in observed.stacks.items() if name.startswith("worker"))
        return (
            f"a worker {'was ' * (not match[1].startswith('exited'))}{match[1]}{f': {error}' if error else ''}",
            found or failed.places,
        )
    found = tuple(observed.stacks.values())
    if ending.signal:
        return f"the process died of {ending.signal}", found
    return f"the process exited with status {ending.status}", ()


def _stopped(observed: Observed) -> tuple[str, tuple[Place, ...]]:
    """Why it was stopped, and where the workers were, or else the main process."""
    assert observed.ending is not None
    hangs = observed.ending.why.startswith("nothing happened")
    workers = [place for name, place in observed.stacks.items() if name.startswith("worker")]
    found = tuple(dict.fromkeys(workers or observed.stacks.values()))
    where = f", at {', '.join(map(str, found[:3]))}" if found else ""
    return f"{'hangs: ' if hangs else 'stopped: '}{observed.ending.why}{where}", found


def _last_error(text: str) -> str:
    """The line that names the exception of the last traceback."""
    for line in reversed(text.splitlines()):
        if (match := _ERROR.match(line.strip())) and "DataLoader worker (pid" not in line:
            return f"{match[1]}: {match[2]}".removesuffix(": ")[:300]
    return ""


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:300]


def _rule(text: str) -> str:
    """The rule that belongs to the first of the messages that `dllint explain` knows."""
    causes = [entry.message for entry in read([text.encode()]).seen if entry.message.role is Role.CAUSE]
    told = (message for message in causes if not any("killed by signal" in words for words in message.wordings))
    rules = (message.rules[0] for message in told if message.rules)
    return next((rule for rule in rules if rule in PLAIN), "")
