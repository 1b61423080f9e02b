"""The first check that failed: the smallest case, what it shows, the worst entry."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from grader.model.report import CheckResult, Exhibit, Grids, Mismatch
from grader.reports.exhibits import exhibit_lines
from grader.reports.inert import inert
from grader.reports.page import BOUND, INDENT, listed, measure, paragraph
from grader.reports.palette import STRONG
from grader.reports.raising import raised_lines


def detail_lines(check: CheckResult, width: int, filename: str) -> Iterator[Text]:
    """Everything there is to see of one check that did not pass."""
    if check.raised is None:
        yield from _place(check, measure(width))
    if check.exhibit is not None:
        yield from (Text(), *exhibit_lines(check.exhibit, width))
    if check.mismatch is not None:
        yield from (Text(), *_mismatch(check.mismatch, check.exhibit, measure(width)))
    if check.raised is not None:
        yield from (Text(), *raised_lines(check.raised, width, filename))


def _place(check: CheckResult, width: int) -> list[Text]:
    case = check.mismatch.case if check.mismatch else next(iter(check.failing), "")
    if not (case or check.case_line):
        return []
    name = f"{inert(check.id)}, case {inert(case)}" if case else inert(check.id)
    if not check.case_line:
        return [Text(name, STRONG)]
    whole = f"{name}: {listed(inert(check.case_line))}"
    first, *more = paragraph(whole, width - INDENT)
    first.stylize(STRONG, 0, len(name))
    return [first, *(Text(" " * INDENT).append_text(t) for t in more)]


def _mismatch(mismatch: Mismatch, exhibit: Exhibit | None, width: int) -> list[Text]:
    """The worst entry in figures, and how many are wrong."""
    index = f"[{', '.join(map(str, mismatch.index))}]" if mismatch.index else ""
    worst = f"{inert(mismatch.result, 60)}{index} is {inert(mismatch.observed, 120)}"
    worst += f", expected {inert(mismatch.expected, 120)}"
    if mismatch.allowed:
        worst += f" (allowed{BOUND}{inert(mismatch.allowed, 40)})"
    count = f"{mismatch.wrong:,} of {mismatch.total:,} entries differ"
    if isinstance(exhibit, Grids) and any(p.wrong for p in exhibit.panels):
        count += " (*)"
    if mismatch.total <= 1 or not mismatch.wrong:
        return paragraph(worst, width, indent=INDENT)
    if INDENT + cell_len(worst) + 2 + len(count) <= width:
        return paragraph(f"{worst}; {count}", width, indent=INDENT)
    return [t for s in (worst, count) for t in paragraph(s, width, indent=INDENT)]
