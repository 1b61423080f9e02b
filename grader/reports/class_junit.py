"""A class as JUnit XML, as far as programs that read it agree: a suite per student and question.

There is no official description.  What is written here is what the schema of Jenkins (junit-4.xsd)
and github.com/testmoapp/junitxml have in common: `skipped` holds text and has no attributes.
What ran and is wrong is a `failure`; what raised, was stopped or could not be read is an `error`,
as is a grade that came to no end, with the type `not-graded`; what needs another check that did not
pass is `skipped`.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator

from grader.model.classroom import Entry, Terms
from grader.model.report import CheckResult
from grader.model.verdict import FINE, Verdict
from grader.reports.class_rows import note, verdict
from grader.reports.inert import harmless, inert
from grader.reports.withheld import withheld

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2
_ERRORS = {Verdict.ERROR, Verdict.LIMIT}
_LONGEST = 2000  # characters of a message


def document(entries: Iterable[Entry], terms: Terms) -> Iterator[str]:
    """The whole document, piece by piece: a class is never in memory as a tree."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    root = ET.tostring(ET.Element("testsuites", name=_said(terms.title or "drill")), "unicode")
    yield root.replace(" />", ">\n")
    for entry in entries:
        suite = _suite(entry)
        ET.indent(suite)
        yield f"{ET.tostring(suite, 'unicode')}\n"
    yield "</testsuites>\n"


def _suite(entry: Entry) -> ET.Element:
    handed, report = entry.handed, entry.report
    cases = list(_cases(entry))
    counts = {
        name: str(sum(case.find(tag) is not None for case in cases))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    name = _said(f"{handed.student} / {entry.posed.id}")
    suite = ET.Element("testsuite", {"name": name, "tests": str(len(cases)), **counts})
    if report is not None:
        suite.set("time", f"{report.seconds:.3f}")
    if entry.graded is not None and entry.graded.at:
        suite.set("timestamp", entry.graded.at[:19])
    known = ET.SubElement(suite, "properties")
    values = {
        "points": "" if entry.points is None else str(entry.points), "of": str(entry.posed.of),
        "verdict": verdict(entry), "late": str(entry.late).lower(), "sha256": handed.sha256,
    }  # fmt: skip
    for key, value in values.items():
        ET.SubElement(known, "property", name=key, value=_said(value))
    for idea in report.misconceptions if report is not None else ():
        ET.SubElement(known, "property", name="misconception", value=_said(idea.id))
    suite.extend(cases)
    return suite


def _cases(entry: Entry) -> Iterator[ET.Element]:
    """A case for every check; one called `program` where what is wrong is of no check."""
    report = None if entry.report is None else withheld(entry.report)
    if entry.handed.fault or report is None:
        kind = "no-program" if entry.handed.fault else "not-graded"
        said = note(entry)
        if kind == "not-graded":
            said = f"not graded, which is not the student's fault: {said}"
        yield _case(entry, "program", "error", kind, said)
        return
    decided = False
    for check in report.checks:
        tag = _tag(check)
        decided = decided or tag in {"failure", "error"}
        yield _case(entry, check.id, tag, str(check.verdict), _message(check, tag))
    if not decided and report.verdict not in FINE:
        tag = "error" if report.verdict in _ERRORS else "failure"
        yield _case(entry, "program", tag, str(report.verdict), report.message)
    elif not report.checks:
        yield _case(entry, "program", "", "", "")


def _tag(check: CheckResult) -> str:
    if check.verdict is Verdict.SKIPPED:
        return "skipped"
    if check.verdict in FINE:
        return ""
    if check.stretch:
        return "skipped"  # it is reported and decides nothing, so it must not fail a build
    return "error" if check.verdict in _ERRORS else "failure"


def _message(check: CheckResult, tag: str) -> str:
    if check.stretch and tag == "skipped" and check.verdict is not Verdict.SKIPPED:
        return f"a goal beyond what is asked, missed: {check.message}"
    if check.blocked_by:
        return f"{check.blocked_by} did not pass"
    return check.message


def _case(entry: Entry, name: str, tag: str, kind: str, message: str) -> ET.Element:
    classname = _said(f"{entry.posed.id}.{entry.handed.student}")
    case = ET.Element("testcase", name=_said(name), classname=classname)
    if tag == "skipped":
        ET.SubElement(case, tag).text = _said(message)
    elif tag:
        ET.SubElement(case, tag, type=kind, message=_said(message)).text = _text(message)
    return case


def _said(text: str) -> str:
    return _ILLEGAL.sub("", inert(text, _LONGEST))


def _text(text: str) -> str:
    return _ILLEGAL.sub("", harmless(text[: 4 * _LONGEST]))
