"""The page of a grade for a screen reader: a fact per line, without columns, bars and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.model.numerals import number, quantity
from grader.model.report import Bars, Breakdown, CheckResult, Curve, Exhibit, Frame, Grids, Report
from grader.model.verdict import Verdict
from grader.reports import words
from grader.reports.around import Around
from grader.reports.inert import inert, inert_lines
from grader.reports.withheld import hides

_ENTRIES = 4  # wrong ones that are read out
_LONG = 4000
_NEGATIVE = re.compile(r"(?<![\w.)\]])-(?=[\d.])")


def plain_lines(report: Report, around: Around) -> Iterator[str]:
    """Every line of the page, of any length."""
    for line in _lines(report, around):
        yield _spoken(line)
    yield from ending_lines(report, around)


def _spoken(line: str) -> str:
    """A line in which signs are words."""
    return _NEGATIVE.sub(
        "minus ", inert(line.replace("\xa0", " "), _LONG).replace("+-", "plus or minus ")
    )


def _lines(report: Report, around: Around) -> Iterator[str]:
    passed = report.verdict is Verdict.PASS or around.request is not None
    tries = f", try {around.tries}" if around.tries else ""
    question = words.head(report, around.request)
    label = "PASS" if passed else report.verdict.upper()
    yield f"{label}. File {around.file}, {question}{tries}, seed {report.seed}."
    if passed:
        yield from _passed(report, around)
        return
    if report.message:
        yield words.about_the_file(report)
    quiet = words.keeps_back(report, around)
    if quiet:
        yield words.STARTER
    failing = words.deciding(report)
    for check in failing if around.full else failing[:1]:
        if quiet:
            yield f"Check {check.id}: {words.symptom(check)}"
            continue
        sentence = words.finding(check)
        yield f"Check {check.id}: {sentence}"
        yield from (f"Clause {one.number} of the contract: {one.text}" for one in check.clauses)
        if check.exhibit is not None:
            yield from _exhibit(check.exhibit, check)
        hidden = hides(check)
        if check.mismatch and not hidden and (said := words.entry(check.mismatch, sentence)):
            yield f"{said}."
    for raised in (report.raised, *(c.raised for c in failing[:1])):
        if raised is not None and not quiet:
            yield from map(_place, raised.frames[-1:])
            yield f"{raised.type}: {raised.message}"
            yield from [f"Called with {raised.called_with}."] if raised.called_with else []
    if not quiet:
        yield from idea_lines(report)
    if report.printed.strip() and not quiet:
        yield "Your code printed, at the end:"
        yield from inert_lines(report.printed, 4)[0]


def idea_lines(report: Report) -> Iterator[str]:
    """What is known of the fault."""
    for idea in words.ideas(report):
        said = " ".join(idea.feedback.split())
        yield _spoken(f"{idea.lead} {idea.text} {said}".strip())


def ending_lines(report: Report, around: Around) -> Iterator[str]:
    """What else fails, what passes, what to type next."""
    if report.verdict is not Verdict.PASS and around.request is None:
        for lead, rest in words.others(report, _LONG):
            yield inert(f"{lead} {rest}", _LONG)
    if report.isolation not in {"strong", ""}:
        yield f"Isolation is only {inert(report.isolation, 20)} on this machine: drill doctor"
    for step in around.steps:
        yield f"Next: {step}"


def _passed(report: Report, around: Around) -> Iterator[str]:
    yield from words.earned(report, around.time)
    request = around.request
    if request is None:
        ask = " ".join(report.follow_up.split())
        yield from [f"One more, without code: {ask}"] if ask else []
        return
    yield f"{request.headline} {' '.join(request.prompt.split())}"
    for at, clause in enumerate(request.clauses, request.first):
        yield f"Clause {at}. {' '.join(clause.split())}"
    yield request.in_force


def _place(frame: Frame) -> str:
    return f"Line {frame.line}: {frame.source.strip()}"


def _exhibit(exhibit: Exhibit, check: CheckResult) -> Iterator[str]:
    match exhibit:
        case Grids():
            yield from _entries(exhibit)
        case Breakdown():
            for row in exhibit.rows:
                wrong = bool(row.note) or row.observed != row.expected
                if hides(check):
                    yield f"{row.name}: yours {row.observed}, {'wrong' if wrong else 'right'}."
                else:
                    yield f"{row.name}: yours {row.observed}, expected {row.expected}."
        case Bars():
            yield from (f"{bar.label}: {bar.text}." for bar in exhibit.bars)
            yield from (f"Kept by yours: {detail}." for detail in exhibit.details)
        case Curve():
            steps = max(len(exhibit.yours), len(exhibit.expected))
            for at in dict.fromkeys((0, steps // 2, steps - 1)) if steps else ():
                texts = [
                    number(values[at]) if at < len(values) else "nothing"
                    for values in (exhibit.yours, exhibit.expected)
                ]
                yield f"Step {at}: yours {texts[0]}, a right one {texts[1]}."


def _entries(grids: Grids) -> Iterator[str]:
    """The inputs row by row, then the wrong entries one by one."""
    if not grids.panels:
        return
    *inputs, yours, expected = grids.panels if len(grids.panels) > 1 else (*grids.panels * 2,)
    for panel in inputs:
        if not panel.note:
            rows = "; ".join(f"row {r} is {', '.join(row)}" for r, row in enumerate(panel.rows))
            yield f"{panel.title}: {rows}."
    name = yours.title.removesuffix(", yours")
    wrong = sorted(
        (r, c)
        for r, c in yours.wrong
        if r < len(yours.rows) and r < len(expected.rows)
        if c < len(yours.rows[r]) and c < len(expected.rows[r])
    )
    for r, c in wrong[:_ENTRIES]:
        found, right = yours.rows[r][c], expected.rows[r][c]
        yield f"{name}, row {r}, column {c}: yours {found}, expected {right}."
    if (more := len(wrong) - _ENTRIES) > 0:
        yield f"{quantity(more, 'more entry', 'more entries')} differ."
    agree = sum(map(len, yours.rows)) - len(yours.wrong)
    if agree > 0 and wrong:
        yield f"The other {quantity(agree, 'entry agrees', 'entries agree')}."
