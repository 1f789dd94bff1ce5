"""JUnit XML, which CI systems show as tests: a suite a file, a failed case a finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree as ET

from dllint.finding import Finding
from dllint.fix import Fix
from dllint.report import Context, Findings, by_hand, shown

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(findings: Findings, context: Context) -> str:
    """A run without findings is one test that passes: readers take a report without tests for a broken one."""
    suites = ET.Element("testsuites", _counts(len(findings) or 1, len(findings)), name="dllint")
    ordered = sorted(findings, key=lambda item: item[0].path)
    for path, items in groupby(ordered, key=lambda item: item[0].path):
        _suite(suites, path, tuple(items), context)
    if not findings:
        suite = ET.SubElement(suites, "testsuite", _counts(1, 0), name="dllint")
        ET.SubElement(suite, "testcase", name="no findings", classname="dllint", time="0")
    ET.indent(suites)
    text: str = ET.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(suites: ET.Element, path: str, findings: Findings, context: Context) -> None:
    name = _printable(context.name(path))
    suite = ET.SubElement(suites, "testsuite", _counts(len(findings), len(findings)), name=name)
    for finding, fix in findings:
        row, column = context.location(path, finding.span.start)
        case = ET.SubElement(suite, "testcase", name=f"{finding.code}:{row}:{column}", classname=name, time="0")
        said = {"message": _printable(shown(finding.message)), "type": finding.severity.value}
        failure = ET.SubElement(case, "failure", said)
        failure.text = _printable("\n".join(_told(finding, fix, context)))


def _told(finding: Finding, fix: Fix | None, context: Context) -> Iterator[str]:
    yield f"{context.place(finding.path, finding.span.start)}: {finding.code} {shown(finding.message)}"
    for note in finding.notes:
        yield f"note: {shown(note.text)} ({context.place(note.path, note.span.start)})"
    if fix:
        yield f"help: {by_hand(fix) or fix.title}"


def _counts(tests: int, failures: int) -> dict[str, str]:
    return {"tests": str(tests), "failures": str(failures), "errors": "0", "time": "0"}


def _printable(text: str) -> str:
    """The text without the characters that no XML file may hold, written as Python writes them."""
    return _UNPRINTABLE.sub(lambda match: ascii(match.group())[1:-1], text)
