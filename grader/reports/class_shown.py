"""What of a report a student may see, where checks or cases are hidden from them.

Neither the name of what is hidden is left, nor its inputs and numbers, nor a count or an idea that
rests on it; that something hidden does not pass is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from grader.model.report import CheckResult, Explanation, Named, Report
from grader.model.verdict import FINE, Verdict
from grader.reports import words
from grader.reports.around import Around
from grader.reports.inert import inert

HIDDEN_FAILS = "A hidden check does not pass."
_HIDDEN_CASE = "it does not pass on every case"


def without_hidden(report: Report, hidden: Sequence[str]) -> Report:
    """The report without what is hidden; as it was where nothing is."""
    if not hidden:
        return report
    names = frozenset(hidden)
    return replace(
        report,
        checks=tuple(_check(check, names) for check in report.checks if check.id not in names),
        misconceptions=tuple(filter(None, (_idea(idea, names) for idea in report.misconceptions))),
        explanations=tuple(e for e in report.explanations if _speaks(e, names)),
        message="" if _names(report.message, names) else report.message,
        note="",
        printed="",
    )


def part_lines(report: Report, number: int, hidden: Sequence[str]) -> Iterator[str]:
    """What is said of one part: what fails first and why, what else fails, what is not tried."""
    seen = without_hidden(report, hidden)
    part = report.parts[number - 1] if number <= len(report.parts) else None
    if part is not None and part.verdict is Verdict.PASS:
        yield "It passes."
        return
    if not report.checks:
        yield inert(words.about_the_file(seen) or f"the verdict is {report.verdict}")
        return
    if part is not None and part.verdict is Verdict.SKIPPED:
        yield "Not asked yet: a part before it does not pass."
        return
    failing = [check for check in words.deciding(seen) if check.part == number]
    keeps_back = words.keeps_back(seen, Around())
    if keeps_back:
        yield "This is the starter, unchanged."
    for check in failing[:1]:
        yield inert(f"{check.id}: {words.symptom(check) if keeps_back else words.finding(check)}")
        if not keeps_back and check.mismatch and not words.estimated(seen):
            yield from filter(None, [inert(words.entry(check.mismatch, check.message))])
    if failing and not keeps_back:
        for idea in words.ideas(seen):
            said = f"{idea.lead} {idea.text}".strip()
            yield inert(f"{said} {' '.join(idea.feedback.split())}".strip(), 1500)
    if len(failing) > 1:
        yield f"Also fails: {', '.join(check.id for check in failing[1:])}."
    if any(_fails(c) and c.part == number and c.id in hidden for c in report.checks):
        yield HIDDEN_FAILS
    if skipped := [c.id for c in seen.checks if c.part == number and c.verdict is Verdict.SKIPPED]:
        yield f"Not tried: {', '.join(skipped)}."


def _fails(check: CheckResult) -> bool:
    return check.verdict not in FINE and not check.stretch


def _check(check: CheckResult, hidden: Set[str]) -> CheckResult:
    """A check that is not hidden, as it is said without the hidden cases."""
    touched = hidden & {*check.cases, *check.failing} or _names(check.message, hidden)
    blocked = None if check.blocked_by in hidden else check.blocked_by
    if not touched:
        return replace(check, blocked_by=blocked)
    cases = tuple(case for case in check.cases if case not in hidden)
    failing = tuple(case for case in check.failing if case not in hidden)
    return CheckResult(
        check.id, check.kind, check.verdict, "" if check.verdict in FINE else _HIDDEN_CASE, cases,
        failing, check.part, check.stretch, blocked,
    )  # fmt: skip


def _idea(idea: Named, hidden: Set[str]) -> Named | None:
    """An idea that rests on what may be seen alone."""
    if not idea.seen or hidden & {*idea.seen, *idea.checks, *idea.results}:
        return None
    return replace(idea, cases=len(idea.seen), failing=len(idea.seen))


def _speaks(said: Explanation, hidden: Set[str]) -> bool:
    return bool(said.cases) and not hidden & {*said.cases} and not _names(said.text, hidden)


def _names(text: str, hidden: Set[str]) -> bool:
    """Whether a text has the name of something hidden in it."""
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) for name in hidden)
