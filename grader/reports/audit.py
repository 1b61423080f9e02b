"""The audit of a question as a page: the kill matrix, the figures of each check, what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.model.audit import AuditReport, CheckFacts, Twins
from grader.model.numerals import duration, quantity
from grader.reports.audit_matrix import matrix
from grader.reports.inert import inert
from grader.reports.page import Page, cut, hanging, heading, measure, padded
from grader.reports.palette import QUIET, STRONG, WARNED, WRONG
from grader.reports.text import Text

_NAMES = 22  # cells of a check's name in the figures
_FIGURES = 60  # columns below which only the figures that matter are shown


def render_audit(report: AuditReport, *, width: int) -> Page:
    """Everything that an audit found, for a window of `width` columns."""
    return Page(_lines(report, width))


def _lines(report: AuditReport, width: int) -> Iterator[Text]:
    prose = measure(width)
    right = f"{quantity(len(report.seeds), 'seed')}, {duration(report.seconds)}"
    yield from heading(report.question, "", right, prose)
    yield Text()
    yield from matrix(report, width)
    yield Text()
    yield from _figures(report.checks, prose)
    yield Text()
    made = [t for t in report.trivial if t.made]
    if stopped := ", ".join(t.name for t in made if not t.accepted):
        yield from hanging([], f"trivial answers stopped: {stopped}", prose, indent=2)
    for answer in made:
        if answer.accepted:
            text = f"trivial answer accepted: {answer.name}, {answer.about}"
            yield from hanging([], text, prose, indent=2, style=STRONG)
    if passed := ", ".join(a.name for a in report.accepted if a.passed == a.seeds):
        yield from hanging([], f"right solutions passed: {passed}", prose, indent=2)
    for twins in report.twins:
        yield Text()
        yield from _twins(twins, prose)
    yield Text()
    for note in report.notes:
        yield from hanging([("  note    ", QUIET)], note, prose, style=QUIET)
    for remark in report.remarks:
        yield from hanging([("  remark  ", WARNED)], f"{remark.about}: {remark.text}", prose)
    for problem in report.problems:
        yield from hanging([("  FAULT   ", WRONG)], problem, prose)
    yield Text()
    yield from hanging([], _summary(report), prose, style=STRONG)


def _figures(checks: Sequence[CheckFacts], width: int) -> Iterator[Text]:
    """One line per check: what it stops, and what it costs."""
    if not checks:
        return
    wide = width >= _FIGURES
    names = min(max(len(c.id) for c in checks), _NAMES)
    head = f"  {'':{names}}  stops  first"
    yield Text(head + "   time" if wide else head, QUIET)
    for check in checks:
        line = f"  {padded(cut(check.id, names), names)}  {check.stops:5}  {check.first:5}"
        if wide:
            line += f"  {'' if check.share is None else f'{check.share:.0%}':>5}"
        yield Text(line.rstrip())


def _twins(twins: Twins, width: int) -> list[Text]:
    text = f"{' and '.join(twins.ids)} compute the same on every case"
    if twins.case:
        run = "" if twins.run == "main" else f" (run {twins.run})"
        text += f"; this case tells them apart{run}, if the contract allows it:"
    else:
        text += (
            f", and on {twins.tried} random ones: are they one idea? Then make them "
            "variants of one misconception"
        )
    case = [Text(f"      {inert(line, width)}") for line in twins.case]
    return [*hanging([], text, width, indent=2, style=WARNED), *case]


def _summary(report: AuditReport) -> str:
    if not report.ok:
        return f"{quantity(len(report.problems), 'problem')}: the question is not ready"
    ideas = {row.misconception for row in report.programs if row.misconception is not None}
    killed = (
        "the misconception is killed by the check that claims it and named"
        if len(ideas) == 1
        else f"{len(ideas)} misconceptions are killed by the checks that claim them and named"
    )
    remarks = f"; {quantity(len(report.remarks), 'remark')}" if report.remarks else ""
    return f"the reference passes, the starter does not, {killed}, no check is idle{remarks}"
