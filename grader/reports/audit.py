"""The audit of a question as a page: the kill matrix, the figures of each check, what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from grader.model.audit import AuditReport, CheckFacts, Twins
from grader.model.numerals import duration
from grader.reports.audit_matrix import matrix
from grader.reports.inert import inert
from grader.reports.page import Page, cut, hanging, measure, padded
from grader.reports.palette import QUIET, STRONG, WARNED, WRONG

_NAMES = 22  # cells of a check's name in the figures
_FIGURES = 60  # columns below which only the figures that matter are shown


def render_audit(report: AuditReport, *, width: int) -> RenderableType:
    """Everything that an audit found, for a window of `width` columns."""
    return Page(_lines(report, width))


def _lines(report: AuditReport, width: int) -> Iterator[Text]:
    prose = measure(width)
    count = f"{len(report.seeds)} seed{'' if len(report.seeds) == 1 else 's'}"
    right = f"{count}, {duration(report.seconds)}"
    gap = max(2, prose - len(report.question) - len(right))
    yield Text.assemble((report.question, STRONG), " " * gap, (right, QUIET))
    yield Text()
    yield from matrix(report, width)
    yield Text()
    yield from _figures(report.facts, prose)
    yield Text()
    yield from _trivial(report, prose)
    for twins in report.twins:
        yield from _twins(twins, prose)
    yield Text()
    for note in report.notes:
        yield from hanging([("  note    ", QUIET)], note, prose, style=QUIET)
    for remark in report.remarks:
        yield from hanging([("  remark  ", WARNED)], f"{remark.about}: {remark.text}", prose)
        if remark.add:
            yield from hanging([("          ", ""), ("add: ", QUIET)], remark.add, prose)
    for problem in report.problems:
        yield from hanging([("  FAULT   ", WRONG)], problem, prose)
    yield Text()
    yield from hanging([], _summary(report), prose, style=STRONG)


def _figures(facts: Sequence[CheckFacts], width: int) -> Iterator[Text]:
    """One line per check: what it stops, what it costs, and how much room its tolerance has."""
    if not facts:
        return
    wide = width >= _FIGURES
    names = min(max(len(f.id) for f in facts), _NAMES)
    head = f"  {'':{names}}  stops  first"
    if wide:
        head += "   time   right   wrong"
    yield Text(head, QUIET)
    for f in facts:
        line = f"  {padded(cut(f.id, names), names)}  {f.stops:5}  {f.first:5}"
        if wide:
            share = "" if f.share is None else f"{f.share:.0%}"
            margin = f.margin
            right = "" if margin is None else _orders(margin.right)
            wrong = "" if margin is None else _orders(margin.wrong)
            line += f"  {share:>5}  {right:>6}  {wrong:>6}"
            if margin is not None and margin.closest:
                line += "  " + cut(margin.closest, max(8, width - len(line) - 2))
        yield Text(line.rstrip())
    if wide and any(f.margin is not None for f in facts):
        words = (
            "right, wrong: orders of magnitude from the tolerance to the worst right program "
            "and to the closest wrong one, which is named"
        )
        yield from hanging([], words, width, indent=2, style=QUIET)


def _orders(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"


def _trivial(report: AuditReport, width: int) -> Iterator[Text]:
    made = [t for t in report.trivial if t.made]
    stopped = ", ".join(t.name for t in made if not t.accepted)
    if stopped:
        yield from hanging([], f"trivial answers stopped: {stopped}", width, indent=2)
    for answer in made:
        if answer.accepted:
            text = f"trivial answer accepted: {answer.name}, {answer.about}"
            yield from hanging([], text, width, indent=2, style=WRONG)


def _twins(twins: Twins, width: int) -> Iterator[Text]:
    yield Text()
    start = f"{twins.one} and {twins.other} compute the same on every case"
    if not twins.case:
        text = (
            f"{start}, and on {twins.tried} random ones: are they one idea? Then make them "
            "variants of one misconception"
        )
        yield from hanging([], text, width, indent=2, style=WARNED)
        return
    run = "" if twins.run == "main" else f" (run {twins.run})"
    text = f"{start}; this case tells them apart{run}, if the contract allows it:"
    yield from hanging([], text, width, indent=2, style=WARNED)
    for line in twins.case:
        yield Text(f"      {inert(line, width)}")


def _summary(report: AuditReport) -> str:
    if report.ok:
        ideas = {row.misconception for row in report.rows if row.misconception is not None}
        remarks = len(report.remarks)
        more = f"; {remarks} remark{'' if remarks == 1 else 's'}" if remarks else ""
        if len(ideas) == 1:
            killed = "the misconception is killed by the check that claims it and named"
        else:
            killed = (
                f"{len(ideas)} misconceptions are killed by the checks that claim them and named"
            )
        start = "the reference passes, the starter does not"
        return f"{start}, {killed}, no check is idle{more}"
    count = len(report.problems)
    return f"{count} problem{'' if count == 1 else 's'}: the question is not ready"
